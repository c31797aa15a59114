/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The drawing of an answer to "why": a path over the rows of the threads that counted; and of lanes
 * of which the page has levels of detail only.
 */

/* The critical path: at each time the thread that counts, from one to the next. */
function drawWhy(context) {
    const rows = new Map(view.rows.flatMap((row) => row.type === "process" ? row.members.map((t) => [t, row]) : []));
    view.rows.filter((row) => row.type === "thread").forEach((row) => rows.set(row.thread, row));
    const middle = (part) => rows.has(part.thread) ? AXIS - view.scroll + rows.get(part.thread).y + ROW.thread : null;
    const leaves = whyLeaves(view.why).filter((part) => part.to >= view.from && part.from <= view.to);
    const line = () => {
        let last = middle(view.why), drawn = -9;
        const home = last, ends = placeOf(view.why.to);
        context.beginPath();
        if (home !== null) {
            context.moveTo(placeOf(view.why.from), home);
        }
        for (const part of leaves) {
            const y = middle(part), x0 = placeOf(part.from), x1 = placeOf(part.to);
            if (y === null || (x1 - drawn < 0.5 && y === last)) {
                continue;
            }
            if (last === null) {
                context.moveTo(x0, y);
            } else {
                context.lineTo(x0, last);
                context.lineTo(x0, y);
            }
            context.lineTo(x1, y);
            last = y;
            drawn = x1;
        }
        if (home !== null && drawn >= ends - 1) { /* back to the thread that could go on */
            context.lineTo(ends, home);
        }
        context.stroke();
    };
    context.save();
    context.lineJoin = "round";
    context.strokeStyle = palette.back;
    context.lineWidth = 6;
    line();
    context.strokeStyle = palette.path;
    context.lineWidth = 3;
    line();
    context.restore();
}

/* For each pixel the shares of its time, from below: ran, READY (quiet: an idle thread's is not
 * drawn), above all of them what is not known, hatched and never less than a pixel high. */
function drawLevels(context, lane, y, height, quiet) {
    const {loaded} = report, step = (view.to - view.from) / plotWidth(), {first, last} = loaded.tables;
    for (let x = 0; x < plotWidth(); x++) {
        const from = view.from + x * step;
        if (from + step < first || from > last) {
            continue;
        }
        const [run, ready, unknown, state] = levelShares(loaded, lane, from, from + step), left = GUTTER + x;
        if (state > STATE_READY) {
            bar(context, left, left + 1, y, height, styleOf(state));
        }
        const tall = run > 0 ? Math.max(1, run * height) : 0, rise = ready > 0 && !quiet ? Math.max(1, ready * height) : 0;
        context.fillStyle = loaded.idle[lane] ? IDLE_STYLE.colour : styleOf(STATE_RUNNING).colour;
        context.fillRect(left, y + height - tall * (loaded.idle[lane] ? IDLE_STYLE.height : 1), 1, tall);
        context.fillStyle = styleOf(STATE_READY).colour;
        context.fillRect(left, y + height - tall - rise, 1, rise);
        if (unknown > 0) {
            context.fillStyle = patternOf(context, "hatch", palette.hatch, palette.back, 8);
            context.fillRect(left, y, 1, Math.max(2, unknown * height));
        }
    }
}
