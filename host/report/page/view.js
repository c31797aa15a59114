/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What part of the capture is shown: times, rows, colours, the link to the view.
 */

const GUTTER = 190, AXIS = 24, LEAST_SPAN = 20; /* pixels, pixels, ns */

const view = {
    from: 0, to: 1, scroll: 0, width: 1, height: 1, ratio: 1,
    rows: [], total: 0, closed: new Set(), row: -1, /* of the keyboard */
    cursor: null, range: null, why: null, showArrows: true, measuring: false, frames: [],
};

/* ---- colours ----------------------------------------------------------------------- */

/*
 * Okabe and Ito's colours and neighbours of theirs; test/host/report/colours.py measures how far apart
 * they are for people who do not see red, green or blue. What waits for work is thin and grey:
 * shape and height tell it too.
 */
const STATE_STYLES = {
    1: {colour: "#009e73", height: 1},                      /* RUNNING */
    2: {colour: "#f0c800", height: 1, stripes: true},       /* READY */
    4: {colour: "#0b4fa0", height: 0.6},                    /* SEND */
    6: {colour: "#56b4e9", height: 0.6},                    /* REPLY */
    5: {colour: "#a9b4c0", height: 0.25},                   /* RECEIVE */
    13: {colour: "#c13c00", height: 0.6},                   /* MUTEX */
    14: {colour: "#cc79a7", height: 0.4},                   /* CONDVAR */
    17: {colour: "#7a2a5c", height: 0.6},                   /* SEM */
    12: {colour: "#8a94a0", height: 0.15},                  /* NANOSLEEP */
    16: {colour: "#6b5fb5", height: 0.25},                  /* INTR */
    3: {colour: "#333a42", height: 0.15},                   /* STOPPED */
    255: {colour: "#b3261e", height: 1, hatch: true},       /* not known */
};
/* An idle thread that runs does no work, and one that could run waits for none. */
const IDLE_STYLE = {colour: "#a9b4c0", height: 0.15};
const OTHER_STATE = {colour: "#7f6a55", height: 0.25};
const LEGEND = [1, 2, 4, 6, 5, 13, 14, 17, 12, 16, 255];
const PROCESS_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#3a86b8", "#7a2a5c", "#5f6b78"];
const ARROW_COLOURS = ["#0b4fa0", "#2f8fc7", "#b0478a", "#7d8792", "#c13c00"];

function styleOf(state) {
    return STATE_STYLES[state] || OTHER_STATE;
}

function idleStyle(state) {
    return state === STATE_RUNNING ? IDLE_STYLE : state === STATE_READY ? {...IDLE_STYLE, height: 0} : styleOf(state);
}

function processColour(thread) {
    const info = report.loaded.tables.threads[thread];
    return PROCESS_COLOURS[info ? info[0] % PROCESS_COLOURS.length : 7];
}

let palette = {};

function readPalette() {
    const style = getComputedStyle(document.documentElement);
    palette = {};
    for (const name of ["back", "panel", "text", "dim", "line", "row", "accent", "hatch", "select", "path"]) {
        palette[name] = style.getPropertyValue(`--${name}`).trim();
    }
    patterns.clear();
}

/* ---- patterns ---------------------------------------------------------------------- */

const patterns = new Map();

function patternOf(context, name, front, back, step) {
    const key = `${name} ${front} ${back}`;
    if (!patterns.has(key)) {
        const tile = document.createElement("canvas"), pen = tile.getContext("2d");
        tile.width = tile.height = step;
        if (back) {
            pen.fillStyle = back;
            pen.fillRect(0, 0, step, step);
        }
        pen.strokeStyle = front;
        pen.lineWidth = name === "hatch" ? 2 : 1.5;
        pen.beginPath();
        for (const shift of [-step, 0, step]) {
            pen.moveTo(shift - 1, step + 1);
            pen.lineTo(shift + step + 1, -1);
        }
        pen.stroke();
        patterns.set(key, context.createPattern(tile, "repeat"));
    }
    return patterns.get(key);
}

function fillOf(context, style) {
    if (style.hatch) {
        return patternOf(context, "hatch", palette.hatch, palette.back, 8);
    }
    return style.stripes ? patternOf(context, "stripes", "#a37c00", style.colour, 6) : style.colour;
}

/* ---- times and places -------------------------------------------------------------- */

const plotWidth = () => Math.max(1, view.width - GUTTER);
const timeAt = (x) => view.from + (x - GUTTER) / plotWidth() * (view.to - view.from);
const placeOf = (time) => GUTTER + (time - view.from) / (view.to - view.from) * plotWidth();

function wholeSpan() {
    const {first, last} = report.loaded.tables, margin = Math.max(10, (last - first) * 0.01);
    return [first - margin, last + margin];
}

/* Shows these times, as far as there are any. */
function showTimes(from, to) {
    const [begin, end] = wholeSpan();
    const span = Math.min(end - begin, Math.max(LEAST_SPAN, to - from));
    view.from = Math.max(begin, Math.min(end - span, (from + to - span) / 2));
    view.to = view.from + span;
    linkSoon();
    drawSoon();
}

function zoom(factor, around) {
    const span = Math.max(LEAST_SPAN, (view.to - view.from) * factor);
    const share = (around - view.from) / (view.to - view.from);
    showTimes(around - share * span, around - share * span + span);
}

function pan(share) {
    servedStay();
    const by = share * (view.to - view.from);
    const [begin, end] = wholeSpan();
    const held = Math.max(begin - view.from, Math.min(end - view.to, by));
    showTimes(view.from + held, view.to + held);
}

function scrollTo(y) {
    view.scroll = Math.max(0, Math.min(Math.max(0, view.total - (view.height - AXIS)), y));
    drawSoon();
}

function layout() {
    const result = layoutRows(report.loaded, view.closed);
    view.rows = result.rows;
    view.total = result.height;
    scrollTo(view.scroll);
}

/* The row below a point of the canvas, -1: none. */
function rowBelow(y) {
    const place = y - AXIS + view.scroll;
    return y < AXIS ? -1 : view.rows.findIndex((row) => place >= row.y && place < row.y + row.height);
}

function rowIndex(key) {
    return view.rows.findIndex((row) => row.key === key);
}

/* Makes a thread's row visible, and returns its index; -1: it has none. */
function revealThread(thread) {
    const group = view.rows.find((row) => row.type === "process" && row.members.includes(thread));
    if (group && view.closed.delete(group.key)) {
        layout();
    }
    const index = rowIndex(`t${thread}`);
    if (index >= 0) {
        revealRow(index);
    }
    return index;
}

function revealRow(index) {
    const row = view.rows[index], room = view.height - AXIS;
    if (row.y < view.scroll || row.y + row.height > view.scroll + room) {
        scrollTo(row.y - room / 3);
    }
}

/* ---- links ------------------------------------------------------------------------- */

let linkTimer = 0;

/* "#t=FROM,TO&c=CURSOR&m=FROM,TO&w=THREAD,FROM,TO&r=ROW": nanoseconds since the capture's start. */
function viewLink() {
    const parts = [`t=${Math.round(view.from)},${Math.round(view.to)}`];
    if (view.cursor !== null) {
        parts.push(`c=${Math.round(view.cursor)}`);
    }
    if (view.range) {
        parts.push(`m=${Math.round(view.range[0])},${Math.round(view.range[1])}`);
    }
    if (view.why) {
        parts.push(`w=${view.why.thread},${view.why.from},${view.why.to}`);
    }
    if (view.row >= 0 && view.rows[view.row]) {
        parts.push(`r=${view.rows[view.row].key}`);
    }
    return "#" + [...parts, ...viewsLink()].join("&");
}

function linkSoon() {
    clearTimeout(linkTimer);
    linkTimer = setTimeout(() => {
        if (location.hash !== viewLink()) {
            history.replaceState(null, "", viewLink());
        }
        viewsChanged();
    }, 150);
}

/* Takes what of a link can be understood. Returns whether it had a view. */
function followLink(hash) {
    const found = new Map(hash.replace(/^#/, "").split("&").map((part) => part.split("=")));
    const numbers = (name) => (found.get(name) || "").split(",").map(Number);
    const [from, to] = numbers("t");
    const has = Number.isFinite(from) && Number.isFinite(to) && to > from && found.has("t");
    if (found.has("c") && Number.isFinite(numbers("c")[0])) {
        view.cursor = numbers("c")[0];
    }
    const range = numbers("m");
    if (found.has("m") && range.length === 2 && range.every(Number.isFinite) && range[0] < range[1]) {
        view.range = range;
    }
    const [thread, begin, end] = numbers("w"), {threads} = report.loaded.tables;
    view.why = found.has("w") && threads[thread] && Number.isFinite(begin) && begin < end ? whyPath(thread, begin, end) : null;
    const row = found.has("r") ? rowIndex(found.get("r")) : -1;
    if (row >= 0) {
        view.row = row;
        revealRow(row);
    }
    if (has) {
        showTimes(from, to);
    }
    viewsFollow(found);
    return has;
}
