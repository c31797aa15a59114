/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The drawing. Where rows are shorter than pixels a pixel shows shares: how much of it ran, how much
 * was READY; sums before each row give them exactly (build.js). What is not covered is hatched last.
 */

let drawing = false;

function drawSoon() {
    if (!drawing && report.loaded) {
        drawing = true;
        requestAnimationFrame(() => {
            drawing = false;
            const began = performance.now();
            draw();
            view.frames.push(performance.now() - began);
            if (view.frames.length > 1000) {
                view.frames.shift();
            }
        });
    }
}

function sized(canvas) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return {context, width, height};
}

function clipped(context, text, x, y, room) {
    if (room < 14) {
        return;
    }
    let shown = text;
    if (context.measureText(shown).width > room) {
        while (shown.length > 1 && context.measureText(shown + "\u2026").width > room) {
            shown = shown.slice(0, Math.max(1, Math.floor(shown.length * 0.8)));
        }
        shown += "\u2026";
    }
    if (context.measureText(shown).width <= room) {
        context.fillText(shown, x, y);
    }
}

function font(size, weight) {
    return `${weight || ""} ${size}px system-ui, "Noto Sans", "DejaVu Sans", sans-serif`;
}

/* ---- the parts of rows ------------------------------------------------------------- */

/* Few enough rows to draw each? */
const MANY = 2;

function bar(context, x0, x1, y, height, style) {
    if (style.height === 0) {
        return;
    }
    const tall = Math.max(2, Math.round(height * style.height));
    context.fillStyle = fillOf(context, style);
    context.fillRect(x0, y + height - tall, Math.max(1, x1 - x0), tall);
}

function drawStates(context, row, y, hatched) {
    if (report.loaded.levels) {
        drawLevels(context, levelLane(row), y, ROW.thread - 4, report.loaded.idle[row.lane]);
        return;
    }
    const {states, idle} = report.loaded, from = states.offset[row.lane], to = states.offset[row.lane + 1];
    const height = ROW.thread - 4, first = Math.max(from, rowAt(states.start, from, to, view.from));
    const last = rowAt(states.start, from, to, view.to);
    if (last < from) {
        return;
    }
    if (last - first > MANY * plotWidth()) {
        drawStateShares(context, row, y, from, to);
        return;
    }
    for (let i = first; i <= last; i++) {
        const end = i + 1 < to ? states.start[i + 1] : states.ends[row.lane];
        const x0 = Math.max(GUTTER, placeOf(states.start[i])), x1 = Math.min(view.width, placeOf(end));
        if (states.state[i] !== 0 && x1 >= GUTTER) {
            const style = idle[row.lane] ? idleStyle(states.state[i]) : styleOf(states.state[i]);
            bar(context, x0, x1, y, height, style);
            if (x1 - x0 > 46 && style.height >= 0.6 && !style.hatch) {
                label(context, stateText(states.state[i]), x0, x1, y + height - 4, style, hatched);
            }
        }
    }
}

/* The widest part of [x0, x1] that is not hatched; nobody reads a text on red stripes. */
function widestClear(x0, x1, hatched) {
    let from = x0, best = [x0, x0];
    for (const [left, right] of [...hatched, [x1, x1]]) {
        const to = Math.min(left, x1);
        if (to - from > best[1] - best[0]) {
            best = [from, to];
        }
        from = Math.max(from, right);
    }
    return best;
}

/* A text on a coloured bar, in black or white, whichever reads better. */
function label(context, text, x0, x1, y, style, hatched) {
    const [from, to] = widestClear(x0, x1, hatched);
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(style.colour.slice(at, at + 2), 16));
    context.fillStyle = 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#101418" : "#ffffff";
    context.font = font(11);
    clipped(context, text, from + 4, y, to - from - 8);
}

function drawStateShares(context, row, y, from, to) {
    const {states} = report.loaded, height = ROW.thread - 4, step = (view.to - view.from) / plotWidth();
    const isIdle = report.loaded.idle[row.lane];
    const run = isIdle ? idleStyle(STATE_RUNNING) : styleOf(STATE_RUNNING), ready = styleOf(STATE_READY);
    let at = rowAt(states.start, from, to, view.from);
    let ran = spentUntil(states.ran, states, from, at, view.from, STATE_RUNNING);
    let waited = spentUntil(states.ready, states, from, at, view.from, STATE_READY);
    for (let x = 0; x < plotWidth(); x++) {
        const end = view.from + (x + 1) * step, next = rowAt(states.start, Math.max(from, at), to, end);
        const middle = rowAt(states.start, Math.max(from, at), Math.max(from, next) + 1, end - step / 2);
        const ranNow = spentUntil(states.ran, states, from, next, end, STATE_RUNNING);
        const waitedNow = spentUntil(states.ready, states, from, next, end, STATE_READY);
        const runShare = (ranNow - ran) / step, readyShare = (waitedNow - waited) / step;
        const other = middle >= from ? states.state[middle] : 0;
        if (other > STATE_READY) {
            bar(context, GUTTER + x, GUTTER + x + 1, y, height, styleOf(other));
        }
        const tall = runShare > 0 ? Math.max(1, runShare * height * run.height) : 0;
        if (readyShare > 0 && !isIdle) {
            context.fillStyle = ready.colour;
            const rise = Math.max(1, readyShare * height);
            context.fillRect(GUTTER + x, y + height - tall - rise, 1, rise);
        }
        if (tall > 0) {
            context.fillStyle = run.colour;
            context.fillRect(GUTTER + x, y + height - tall, 1, tall);
        }
        at = next;
        ran = ranNow;
        waited = waitedNow;
    }
}

function drawRunning(context, row, y, hatched) {
    if (report.loaded.levels) {
        drawLevels(context, levelLane(row), y, ROW.cpu - 6, true);
        return;
    }
    const {running, idle} = report.loaded, from = running.offset[row.cpu], to = running.offset[row.cpu + 1];
    const height = ROW.cpu - 6, first = Math.max(from, rowAt(running.start, from, to, view.from));
    const last = rowAt(running.start, from, to, view.to);
    if (last < from) {
        return;
    }
    if (last - first > MANY * plotWidth()) {
        const step = (view.to - view.from) / plotWidth();
        let at = rowAt(running.start, from, to, view.from), was = busyUntil(running, idle, from, at, view.from);
        context.fillStyle = styleOf(STATE_RUNNING).colour;
        for (let x = 0; x < plotWidth(); x++) {
            const end = view.from + (x + 1) * step;
            at = rowAt(running.start, Math.max(from, at), to, end);
            const now = busyUntil(running, idle, from, at, end), tall = (now - was) / step * height;
            if (tall > 0) {
                context.fillRect(GUTTER + x, y + height - Math.max(1, tall), 1, Math.max(1, tall));
            }
            was = now;
        }
        return;
    }
    for (let i = first; i <= last; i++) {
        const end = i + 1 < to ? running.start[i + 1] : running.start[i], who = running.thread[i];
        const x0 = Math.max(GUTTER, placeOf(running.start[i])), x1 = Math.min(view.width, placeOf(end));
        if (who !== 0 && x1 >= GUTTER) {
            const style = idle[who] ? IDLE_STYLE : {colour: processColour(who), height: 1};
            bar(context, x0, x1, y, height, style);
            if (!idle[who] && x1 - x0 > 30) {
                label(context, threadText(who), x0, x1, y + height - 6, style, hatched);
            }
        }
    }
}

const SPAN_COLOURS = {0: "#7f8c99", 1: "#c13c00", 2: "#3a86b8", 3: "#d98a00"};

/* Kernel calls, functions, interrupts: bars below, by depth. Bars within one pixel are drawn once. */
function drawSpans(context, row, y, step, most, hatched) {
    const {spans} = report.loaded, from = spans.offset[row.lane], to = spans.offset[row.lane + 1];
    const filled = new Float64Array(most).fill(-1);
    const pixel = (view.to - view.from) / plotWidth();
    let i = Math.max(from, rowAt(spans.start, from, to, view.from - Math.min(spans.longest[row.lane], 50 * (view.to - view.from))));
    const end = rowAt(spans.start, from, to, view.to), stride = Math.max(1, Math.floor((end - i) / 40000));
    for (; i <= end; i += stride) {
        const depth = spans.depth[i];
        if (spans.end[i] < view.from || depth >= most) {
            continue;
        }
        const x0 = Math.max(GUTTER, placeOf(spans.start[i])), x1 = Math.min(view.width, placeOf(spans.end[i]));
        if (x1 <= filled[depth] && spans.end[i] - spans.start[i] < pixel) {
            continue;
        }
        const style = {colour: SPAN_COLOURS[spans.type[i]] || SPAN_COLOURS[0], height: 1};
        bar(context, x0, Math.max(x0 + 1, x1 - 0.5), y + depth * step, step - 2, style);
        filled[depth] = Math.max(x1, x0 + 1);
        if (x1 - x0 > 34) {
            label(context, spanText(spans.name[i]), x0, x1, y + depth * step + step - 4, style, hatched);
        }
    }
}

function drawMarks(context, row, y) {
    const {marks} = report.loaded, from = marks.offset[row.lane], to = marks.offset[row.lane + 1];
    let last = -9;
    context.fillStyle = palette.text;
    for (let i = Math.max(from, rowAt(marks.time, from, to, view.from)); i < to && marks.time[i] <= view.to; i++) {
        const x = placeOf(marks.time[i]);
        if (x < GUTTER) {
            continue;
        }
        if (x - last < 1) { /* the first one at the next pixel */
            i = Math.max(i, rowAt(marks.time, i, to, timeAt(last + 1)));
            continue;
        }
        last = x;
        context.beginPath();
        context.moveTo(x, y + 6);
        context.lineTo(x - 3.5, y);
        context.lineTo(x + 3.5, y);
        context.fill();
    }
}

/* Where the gaps in sight are drawn, from left to right. At least three pixels wide: a loss is never
 * too short to be seen. */
function placesOfGaps(gaps) {
    return gaps.filter(([from, to]) => from <= view.to && to >= view.from).map(([from, to]) => {
        const x0 = Math.max(GUTTER, placeOf(from));
        return [x0, Math.max(x0 + 3, Math.min(view.width, placeOf(to)))];
    });
}

function drawGaps(context, places, y, height) {
    context.fillStyle = patternOf(context, "hatch", palette.hatch, "", 8);
    for (const [x0, x1] of places) {
        context.fillRect(x0, y, x1 - x0, height);
    }
}

/* ---- arrows ------------------------------------------------------------------------ */

const ARROWS_MOST = 200, ARROWS_ASKED = 20000;

/* All arrows of the view that are in sight, or none: some of them would be taken for all. */
function arrowsInSight() {
    const {arrows} = report.loaded, n = arrows.to.length;
    const place = new Map(view.rows.map((row) => [row.key, row])), found = [];
    const first = Math.max(0, rowAt(arrows.to, 0, n, view.from)), last = Math.min(n - 1, rowAt(arrows.to, 0, n, view.to) + 500);
    const middle = (row) => AXIS - view.scroll + row.y + 8;
    if (last - first > ARROWS_ASKED) {
        return null;
    }
    for (let i = first; i <= last; i++) {
        const begin = arrows.to[i] - arrows.duration[i];
        const source = place.get(arrows.type[i] === 4 ? `cpu${arrows.source[i]}` : `t${arrows.source[i]}`);
        const target = place.get(`t${arrows.target[i]}`);
        if (begin > view.to || arrows.to[i] < view.from || !source || !target) {
            continue;
        }
        const y0 = middle(source), y1 = middle(target);
        if (Math.max(y0, y1) >= AXIS && Math.min(y0, y1) <= view.height) {
            found.push([placeOf(begin), y0, placeOf(arrows.to[i]), y1, ARROW_COLOURS[arrows.type[i]]]);
        }
        if (found.length > ARROWS_MOST) {
            return null;
        }
    }
    return found;
}

function drawArrows(context) {
    const found = arrowsInSight();
    view.arrowsHidden = found === null;
    for (const arrow of found || []) {
        drawArrow(context, ...arrow);
    }
}

/* Left of the axis, where it hides neither what was recorded nor a time. */
function drawArrowsHint(context) {
    context.font = font(11);
    context.fillStyle = palette.dim;
    clipped(context, "zoom in for arrows", 10, AXIS - 8, GUTTER - 20);
}

function drawArrow(context, x0, y0, x1, y1, colour) {
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 1.4;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
    const angle = Math.atan2(y1 - y0, x1 - x0);
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x1 - 7 * Math.cos(angle - 0.4), y1 - 7 * Math.sin(angle - 0.4));
    context.lineTo(x1 - 7 * Math.cos(angle + 0.4), y1 - 7 * Math.sin(angle + 0.4));
    context.fill();
}

/* ---- the whole --------------------------------------------------------------------- */

function axisStep() {
    const least = (view.to - view.from) / Math.max(1, plotWidth() / 110);
    const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least) || 10 * power;
}

function drawAxis(context) {
    const step = axisStep();
    context.fillStyle = palette.panel;
    context.fillRect(0, 0, view.width, AXIS);
    context.font = font(11);
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
        const x = Math.round(placeOf(t)) + 0.5;
        context.fillStyle = palette.line;
        context.fillRect(x, AXIS - 5, 1, view.height);
        context.fillStyle = palette.dim;
        clipped(context, axisText(t, step), x + 3, AXIS - 8, Math.min(104, view.width - x - 4));
    }
}

function drawName(context, row, y, selected) {
    context.fillStyle = selected ? palette.line : row.type === "thread" ? palette.back : palette.panel;
    context.fillRect(0, y, GUTTER - 1, row.height);
    context.fillStyle = palette.text;
    const info = report.loaded.tables.threads[row.thread];
    if (row.type === "cpu") {
        context.font = font(12, "600");
        clipped(context, `CPU ${row.cpu}`, 10, y + 17, GUTTER - 20);
    } else if (row.type === "process") {
        context.font = font(12, "600");
        context.fillStyle = processColour(row.thread);
        context.fillRect(4, y + 5, 4, row.height - 9);
        context.fillStyle = palette.text;
        const sign = view.closed.has(row.key) ? "\u25b8" : "\u25be";
        clipped(context, `${sign} ${processText(row.thread)}`, 12, y + 15, GUTTER - 20);
    } else {
        context.font = font(11.5);
        clipped(context, `${info[1]}  ${info[5] === null ? "thread" : info[5]}`, 24, y + 14, GUTTER - 32);
    }
}

function drawRow(context, row, y, selected) {
    context.save();
    context.beginPath();
    context.rect(GUTTER, y, plotWidth(), row.height);
    context.clip();
    if (selected) {
        context.fillStyle = palette.row;
        context.fillRect(GUTTER, y, plotWidth(), row.height);
    }
    const hatched = placesOfGaps(row.gaps);
    if (row.type === "cpu") {
        drawRunning(context, row, y + 3, hatched);
        drawSpans(context, row, y + ROW.cpu - 2, ROW.interrupts, 4, hatched);
    } else if (row.type === "thread") {
        drawStates(context, row, y + 2, hatched);
        drawSpans(context, row, y + ROW.thread, ROW.nested, 6, hatched);
        drawMarks(context, row, y + 1);
    }
    drawGaps(context, hatched, y, row.height);
    context.restore();
    drawName(context, row, y, selected);
    context.fillStyle = palette.line;
    context.fillRect(0, y + row.height - 1, view.width, 0.5);
}

function drawMarksOfView(context) {
    if (view.range) {
        const x0 = Math.max(GUTTER, placeOf(view.range[0])), x1 = placeOf(view.range[1]);
        if (x1 >= GUTTER && x0 <= view.width) {
            context.globalAlpha = 0.16;
            context.fillStyle = palette.select;
            context.fillRect(x0, 0, x1 - x0, view.height);
            context.globalAlpha = 1;
            context.fillRect(x0, 0, 1, view.height);
            context.fillRect(x1, 0, 1, view.height);
            context.font = font(12, "600");
            clipped(context, durationText(view.range[1] - view.range[0]), x0 + 4, view.height - 8, Math.max(80, x1 - x0 - 8));
        }
    }
    if (view.cursor !== null && view.cursor >= view.from && view.cursor <= view.to) {
        context.fillStyle = palette.select;
        context.fillRect(placeOf(view.cursor) - 0.5, 0, 1.5, view.height);
    }
}

function draw() {
    servedChoose();
    const {context, width, height} = sized($("canvas"));
    view.width = width;
    view.height = height;
    context.fillStyle = palette.back;
    context.fillRect(0, 0, width, height);
    drawAxis(context);
    context.save();
    context.beginPath();
    context.rect(0, AXIS, width, height - AXIS);
    context.clip();
    view.rows.forEach((row, index) => {
        const y = AXIS - view.scroll + row.y;
        if (y + row.height > AXIS && y < height) {
            drawRow(context, row, y, index === view.row);
        }
    });
    context.beginPath();
    context.rect(GUTTER, AXIS, plotWidth(), height - AXIS);
    context.clip();
    if (view.showArrows && !view.why) { /* they would hide the path */
        drawArrows(context);
    }
    if (view.why) {
        drawWhy(context);
    }
    context.restore();
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, plotWidth(), height);
    context.clip();
    drawMarksOfView(context);
    context.restore();
    if (view.showArrows && !view.why && view.arrowsHidden) {
        drawArrowsHint(context);
    }
    drawScroll(context);
    drawOverview();
}

function drawScroll(context) {
    const room = view.height - AXIS;
    if (view.total > room) {
        context.fillStyle = palette.dim;
        context.globalAlpha = 0.5;
        context.fillRect(view.width - 6, AXIS + view.scroll / view.total * room, 4, Math.max(16, room / view.total * room));
        context.globalAlpha = 1;
    }
}

/* All of the capture: how many events when, what is not covered, what is shown. */
function drawOverview() {
    const {context, width, height} = sized($("overview")), {density, gaps} = report.loaded;
    const [begin, end] = wholeSpan(), plot = Math.max(1, width - GUTTER);
    const x = (time) => GUTTER + (time - begin) / (end - begin) * plot;
    const {first, last} = report.loaded.tables, most = density.reduce((a, b) => Math.max(a, b), 1);
    context.fillStyle = palette.panel;
    context.fillRect(0, 0, width, height);
    context.fillStyle = palette.dim;
    context.font = font(11);
    clipped(context, report.loaded.levels || servedPart() ? "all of it, CPUs that ran" : "all of it, events over time", 10, 26, GUTTER - 16);
    const step = (x(last) - x(first)) / density.length;
    density.forEach((count, i) => {
        const tall = count ? Math.max(1, Math.sqrt(count / most) * (height - 8)) : 0;
        context.fillRect(x(first) + i * step, height - tall, Math.max(step, 0.6), tall);
    });
    context.fillStyle = patternOf(context, "hatch", palette.hatch, "", 8);
    for (const [from, to] of gaps) {
        context.fillRect(x(from), 0, Math.max(3, x(to) - x(from)), height);
    }
    context.fillStyle = palette.select;
    context.globalAlpha = 0.2;
    const x0 = x(view.from), x1 = Math.max(x0 + 3, x(view.to));
    context.fillRect(x0, 0, x1 - x0, height);
    context.globalAlpha = 1;
    context.strokeStyle = palette.select;
    context.lineWidth = 1.5;
    context.strokeRect(x0 + 0.75, 0.75, Math.max(1.5, x1 - x0 - 1.5), height - 1.5);
}
