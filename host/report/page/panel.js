/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is below the pointer, the side panel with the events around, bookmarks, help.
 */

/* ---- what is there ----------------------------------------------------------------- */

function stateAt(thread, time) {
    const {states} = report.loaded, from = states.offset[thread], to = states.offset[thread + 1];
    const at = rowAt(states.start, from, to, time);
    if (at < from || time >= states.ends[thread]) {
        return null;
    }
    return {state: states.state[at], cpu: states.cpu[at], from: states.start[at],
        to: at + 1 < to ? states.start[at + 1] : states.ends[thread], at};
}

function runningAt(cpu, time) {
    const {running} = report.loaded, from = running.offset[cpu], to = running.offset[cpu + 1];
    const at = rowAt(running.start, from, to, time);
    return at < from ? null : {thread: running.thread[at], from: running.start[at],
        to: at + 1 < to ? running.start[at + 1] : running.start[at]};
}

/* The spans of a lane that hold a time, outermost first. */
function spansAt(lane, time) {
    const {spans} = report.loaded, from = spans.offset[lane], to = spans.offset[lane + 1], found = [];
    for (let i = rowAt(spans.start, from, to, time), left = 3000; i >= from && left > 0; i--, left--) {
        if (spans.end[i] >= time) {
            found.unshift({name: spans.name[i], from: spans.start[i], to: spans.end[i], depth: spans.depth[i]});
        }
        if (spans.start[i] + spans.longest[lane] < time) {
            break;
        }
    }
    return found;
}

function spanLine(span) {
    return `${spanDetail(span.name)}: ${durationText(span.to - span.from)}`;
}

/* Of the stretch of a page without events that a time is in. */
function levelLines(row, time) {
    const {tables} = report.loaded, {from, width} = tables.levels, begin = from + Math.floor((time - from) / width) * width;
    const [run, ready, unknown, state] = levelShares(report.loaded, levelLane(row), begin, begin + width);
    const lines = [`in ${durationText(width)} around: ran ${percentText(run)}, ${row.type === "cpu" ? "idle" : "READY"} ${percentText(ready)}`];
    if (state > STATE_READY) {
        lines.push(`longest other state: ${stateText(state)}`);
    }
    if (unknown > 0) {
        lines.push(`not known: ${percentText(unknown)}`);
    }
    return lines;
}

/* What the pointer, or the keyboard's row, is on: lines of text. */
function describe(row, time) {
    const {tables} = report.loaded, lines = [];
    if (report.loaded.levels && row.type !== "process") {
        lines.push(row.type === "cpu" ? `CPU ${row.cpu}` : threadText(row.thread), ...levelLines(row, time));
    } else if (row.type === "cpu") {
        const run = runningAt(row.cpu, time);
        lines.push(`CPU ${row.cpu}`);
        lines.push(run && run.thread ? `runs ${threadText(run.thread)} for ${durationText(run.to - run.from)}` : "what runs is not known");
    } else if (row.type === "thread") {
        const now = stateAt(row.thread, time);
        lines.push(threadText(row.thread));
        if (now) {
            const on = now.state === STATE_RUNNING ? ` on CPU ${now.cpu}` : "";
            lines.push(`${stateText(now.state)}${on} for ${durationText(now.to - now.from)}`);
        } else {
            lines.push(now === null && time < report.loaded.states.ends[row.thread] ? "before its first event" : "nothing is known of it any more");
        }
    } else {
        lines.push(processText(row.thread), `${row.members.length} thread${row.members.length === 1 ? "" : "s"}`);
    }
    if (row.lane !== undefined) {
        lines.push(...spansAt(row.lane, time).map(spanLine));
    }
    if (row.gaps.some(([from, to]) => from <= time && time <= to)) {
        const losses = lossesAt(tables, time, row.type === "cpu" ? row.cpu : -1);
        lines.push(losses.length ? `Missing: ${losses[0].text}` : "Not covered: events of this time are not in the capture");
    }
    return lines;
}

/* ---- the panel --------------------------------------------------------------------- */

const AROUND = 14;
let panelTurn = 0;

function definitions(pairs) {
    return make("dl", {}, ...pairs.flatMap(([term, text]) => [make("dt", {}, term), make("dd", {}, text)]));
}

function eventRow(row, time) {
    const go = () => goTo(row.time, row.thread);
    return make("tr", {tabindex: 0, class: row.time === time ? "here" : "", onclick: go,
        onkeydown: (event) => event.key === "Enter" && go()},
        make("td", {class: "time"}, timeText(row.time)), make("td", {}, row.cpu),
        make("td", {}, kindText(row.kind), make("br"), make("span", {class: "dim"}, fieldsText(row))));
}

/* ---- why --------------------------------------------------------------------------- */

/* Of the whole, as `kymo why` folds; lines; lines of the summary. */
const FOLD_SHARE = 0.005, WHY_SHOWN = 400, WAITS_SHOWN = 5;

/* Answers for a thread's interval: on the timeline, in the panel, and in the link. */
function setWhy(thread, from, to) {
    view.why = whyPath(thread, from, to);
    if (to < view.from || from > view.to || to - from < (view.to - view.from) / 50) {
        showTimes(from - (to - from) * 0.15, to + (to - from) * 0.15);
    }
    const index = revealThread(thread);
    view.row = index >= 0 ? index : view.row;
    setCursor(view.cursor !== null && view.cursor >= from && view.cursor < to ? view.cursor : from);
}

/* Of the selected thread: of what was measured, else of the state at the cursor. */
function askWhy() {
    const row = view.rows[view.row], time = view.cursor === null ? middleTime() : view.cursor;
    if (report.loaded.levels) {
        say(served.on ? "Why: zoom in first" : "Why: this page has no events; kymo why has the answer");
        return;
    }
    if (!row || row.type !== "thread") {
        say("Why: select a thread's row first");
        return;
    }
    const interval = view.range || whyInterval(row.thread, time);
    if (!interval) {
        say(`Why: nothing tells what ${threadText(row.thread)} did at ${timeText(time)} s`);
        return;
    }
    setWhy(row.thread, Math.round(interval[0]), Math.round(interval[1]));
}

function closeWhy() {
    view.why = null;
    linkSoon();
    drawSoon();
    showPanel().catch(fail);
}

function stepLine(cells, className, go) {
    return make("tr", {tabindex: 0, class: className, onclick: go, onkeydown: (event) => event.key === "Enter" && go()}, ...cells);
}

/* The path's lines; stretches that are too short to matter become one. */
function whyLines(why) {
    const least = (why.to - why.from) * FOLD_SHARE, lines = [], leaves = new Set(whyLeaves(why));
    let count = 0, ns = 0;
    const fold = () => {
        if (count) {
            lines.push(make("tr", {class: "folded"}, make("td", {}), make("td", {class: "length"}, durationText(ns)),
                make("td", {}, `${count} shorter stretch${count === 1 ? "" : "es"}`)));
        }
        count = ns = 0;
    };
    for (const part of why.parts) {
        if (part.to - part.from < least) {
            count++;
            ns += part.to - part.from;
            continue;
        }
        fold();
        if (lines.length >= WHY_SHOWN) {
            lines.push(make("tr", {class: "folded"}, make("td", {}), make("td", {}), make("td", {}, "\u2026 measure a shorter time for the rest")));
            return lines;
        }
        const what = make("td", {}, make("strong", {}, threadText(part.thread)), make("br"), partText(part));
        what.style.paddingLeft = `${0.7 * Math.min(part.depth, 10)}rem`;
        lines.push(stepLine([make("td", {class: "time"}, timeText(part.from)), make("td", {class: "length"}, durationText(part.to - part.from)), what],
            leaves.has(part) ? "leaf" : "", () => goTo(part.from, part.thread)));
    }
    fold();
    return lines;
}

function whyParts() {
    const {why} = view, {tables} = report.loaded;
    const begun = why.chain.map((link) => make("li", {}, make("button", {onclick: () => goTo(link.time, link.thread)},
        `${timeText(link.time)} s: ${link.cause === CAUSE_INTERRUPT ? interruptText(link.by) : threadText(link.by)} woke ${threadText(link.thread)}`)));
    const command = `kymo why ${quoted(tables.file)} --thread ${tables.threads[why.thread][0]}:${tables.threads[why.thread][1]} ` +
        `--from ${why.from}ns --to ${why.to}ns`;
    return [make("h2", {id: "why"}, `Why: ${threadText(why.thread)}`),
        make("p", {}, `${timeText(why.from)} to ${timeText(why.to)} s, ${durationText(why.to - why.from)}. ` +
            "A line one step to the right is of the thread that was waited for; the path on the timeline goes through the lines with a coloured time."),
        ...why.inversions.map((found) => make("p", {class: "inversion"}, make("strong", {}, "Priority inversion: "), inversionText(found))),
        make("table", {class: "why"}, make("tbody", {}, ...whyLines(why))),
        ...(why.full ? [make("p", {class: "dim"}, "There is more than can be shown: measure a shorter time.")] : []),
        ...(begun.length ? [make("h2", {}, "Begun by"), make("ul", {class: "plain", id: "begun"}, ...begun)] : []),
        make("p", {class: "tools"}, make("button", {id: "why-close", onclick: closeWhy}, "Close"),
            make("button", {onclick: () => showTimes(why.from, why.to)}, "Show it all")),
        make("code", {class: "command"}, command)];
}

/* Moves the view to a time, and the keyboard to its thread. */
function goTo(time, thread) {
    const span = view.to - view.from;
    if (time < view.from || time > view.to) {
        showTimes(time - span / 2, time + span / 2);
    }
    if (thread) {
        const index = revealThread(thread);
        view.row = index >= 0 ? index : view.row;
    }
    setCursor(time);
}

async function showPanel() {
    const turn = ++panelTurn, time = view.cursor, row = view.rows[view.row], parts = [];
    if (time === null) {
        showSummary();
        return;
    }
    if (view.why) {
        parts.push(...whyParts());
    }
    parts.push(make("h2", {}, `At ${timeText(time)} s`));
    if (row) {
        const [title, ...lines] = describe(row, time);
        parts.push(make("p", {}, make("strong", {}, title), ...lines.flatMap((line) => [make("br"), line])));
        if (row.type === "thread" && !view.why && stateAt(row.thread, time)) {
            parts.push(make("p", {class: "tools"}, make("button", {id: "ask-why", title: "W", onclick: askWhy}, "Why?")));
        }
    }
    if (view.range) {
        parts.push(...rangeParts());
    }
    if (report.loaded.levels) {
        parts.push(...closerParts());
        $("details").replaceChildren(...parts);
        announce(row, time);
        return;
    }
    const filter = row && row.type === "thread" ? {thread: row.thread} : row && row.type === "cpu" ? {cpu: row.cpu} : {};
    const {rows} = await ask("around", {time: Math.floor(time), filter, before: AROUND, after: AROUND});
    if (turn !== panelTurn) {
        return;
    }
    const whose = filter.thread ? "of this thread" : filter.cpu !== undefined ? "of this CPU" : "of all";
    parts.push(make("h2", {}, `Events around, ${whose}`), make("table", {id: "events"},
        make("thead", {}, make("tr", {}, make("th", {}, "time"), make("th", {}, "CPU"), make("th", {}, "event"))),
        make("tbody", {}, ...rows.map((event) => eventRow(event, time)))));
    $("details").replaceChildren(...parts);
    announce(row, time);
}

function quoted(name) {
    return /^[\w.\/+-]+$/.test(name) ? name : `'${name.replace(/'/g, "'\\''")}'`;
}

/* How to get the events of what is shown, on a page without them. */
function closerParts() {
    const {tables} = report.loaded, from = Math.max(0, Math.floor(view.from)), to = Math.ceil(view.to);
    if (served.on) {
        return [make("h2", {}, "Closer"), make("p", {class: "dim", id: "closer"}, `Zoom in: up to ${countText(servedMost())} events are shown at once.`)];
    }
    return [make("h2", {}, "Closer"), make("p", {class: "dim"}, "This page has no events. What is shown, with all of them:"),
        make("code", {class: "command", id: "closer"}, `kymo cut ${quoted(tables.file)} --from ${from}ns --to ${to}ns -o part.kev && kymo report part.kev`)];
}

function rangeParts() {
    const [from, to] = view.range, {tables} = report.loaded;
    const command = `kymo cut ${quoted(tables.file)} --from ${Math.floor(from)}ns --to ${Math.ceil(to)}ns -o part.kev`;
    return [make("h2", {}, "Measured"), definitions([["from", `${timeText(from)} s`], ["to", `${timeText(to)} s`],
        ["length", durationText(to - from)]]), make("p", {class: "dim"}, "As a capture of its own:"),
    make("code", {class: "command", id: "cut"}, command)];
}

/* How many events are missing: exact if the kernel or tracelogger counted each of them. */
function lostText(tables) {
    const places = tables.lossCount === 1 ? "in 1 place" : `in ${countText(tables.lossCount)} places`;
    const losses = tables.losses.filter((loss) => !loss.scope);
    const exact = losses.length === tables.lossCount && losses.every((loss) => loss.kind === LOSS_COUNTED);
    if (tables.lostEvents === 0) {
        return `not known how many, ${places}`;
    }
    return `${countText(tables.lostEvents)}${exact ? "" : " or more"}, ${places}`;
}

function showSummary() {
    panelTurn++; /* the answer to what was asked for before is not shown any more */
    const {tables} = report.loaded, pairs = [["events", countText(tables.events)],
        ["length", durationText(tables.last - tables.first)], ["CPUs", tables.cpus]];
    for (const [name, key] of [["board", "board"], ["processor", "processor"], ["image", "image"], ["release", "release"],
        ["build id", "build"]]) {
        if (tables[key]) {
            pairs.push([name, tables[key]]);
        }
    }
    pairs.push(["lost", tables.lossCount ? lostText(tables) :
        tables.isKymo ? "none" : "not known: this kernel counts no losses"]);
    const parts = [make("h2", {}, "The capture"), definitions(pairs)];
    const scope = tables.losses.filter((loss) => loss.scope);
    if (scope.length) {
        parts.push(make("h2", {}, "What was recorded"), make("ul", {}, ...scope.map((s) => make("li", {}, s.text))));
    }
    const losses = tables.losses.filter((loss) => !loss.scope);
    if (losses.length) {
        parts.push(make("h2", {}, "What is missing"), make("ul", {id: "losses", class: "plain"}, ...losses.slice(0, 200).map((loss) =>
            make("li", {}, make("button", {onclick: () => goTo(Math.max(tables.first, loss.from === null ? loss.at : loss.from), 0)},
                loss.text)))));
    }
    if (report.loaded.levels) {
        parts.push(...closerParts());
    }
    const waits = whyWaits(WAITS_SHOWN);
    if (waits.length) {
        parts.push(make("h2", {}, `Longest waits for a CPU, a mutex or a server${servedPart() ? ", of what is loaded" : ""}`), make("ul", {class: "plain", id: "waits"}, ...waits.map((wait) =>
            make("li", {}, make("button", {onclick: () => setWhy(wait.thread, wait.from, wait.to)},
                `${durationText(wait.length)}: ${threadText(wait.thread)}, ${stateText(report.loaded.states.state[wait.at])} at ${timeText(wait.from)} s`)))));
    }
    parts.push(make("h2", {}, "Bookmarks"), make("ul", {class: "plain", id: "bookmarks"}), make("h2", {}, "Attributes"),
        definitions(tables.attributes.filter(([, value]) => value !== "")));
    $("details").replaceChildren(...parts);
    showBookmarks();
}

/* ---- bookmarks: kept by the browser for this file ---------------------------------- */

let bookmarks = [];

function bookmarksKey() {
    const {tables} = report.loaded;
    return `kymo ${tables.file} ${tables.events} ${tables.last}`;
}

function loadBookmarks() {
    try {
        const kept = JSON.parse(localStorage.getItem(bookmarksKey()) || "[]");
        bookmarks = Array.isArray(kept) ? kept.filter((b) => typeof b.link === "string" && typeof b.name === "string") : [];
    } catch {
        bookmarks = []; /* a browser that keeps nothing for files */
    }
}

function keepBookmarks() {
    try {
        localStorage.setItem(bookmarksKey(), JSON.stringify(bookmarks));
    } catch {
        /* They live as long as the page. */
    }
    showBookmarks();
}

function addBookmark() {
    const what = view.rows[view.row] && view.rows[view.row].thread ? `, ${threadText(view.rows[view.row].thread)}` : "";
    bookmarks.push({link: viewLink(), name: `${timeText(view.cursor === null ? view.from : view.cursor)} s${what}`});
    view.cursor = null;
    showSummary();
    keepBookmarks();
    say(`Bookmark ${bookmarks.length}`);
}

function showBookmarks() {
    const list = $("bookmarks");
    if (!list) {
        return;
    }
    list.replaceChildren(...bookmarks.map((mark, index) => make("li", {},
        make("button", {onclick: () => { followLink(mark.link); showPanel(); drawSoon(); }}, mark.name),
        make("button", {"aria-label": `Remove bookmark ${index + 1}`, onclick: () => {
            bookmarks.splice(index, 1);
            keepBookmarks();
        }}, "\u00d7"))));
    if (!bookmarks.length) {
        list.append(make("li", {class: "dim"}, "none: B keeps the view that is shown"));
    }
}

/* ---- status, search, help ---------------------------------------------------------- */

function say(text) {
    $("status").textContent = text;
}

function announce(row, time) {
    say(`${timeText(time)} s` + (row ? ": " + describe(row, time).join(", ") : ""));
}

function setCursor(time) {
    view.cursor = Math.round(time);
    linkSoon();
    drawSoon();
    showPanel().catch(fail);
}

let searchTurn = 0, searchAt = null;

/* From the last find, or from the cursor, to the next event with the text. */
async function find(step) {
    const text = $("search").value.trim(), turn = ++searchTurn, {tables} = report.loaded;
    if (text === "") {
        return;
    }
    if (tables.levels) {
        $("found").textContent = served.on ? "zoom in to search" : "this page has no events";
        return;
    }
    const wanted = text.toLowerCase(), has = (name) => name.toLowerCase().includes(wanted);
    const kinds = tables.kinds.map((kind, i) => has(kindText(i)) || has(kind.class));
    const threads = tables.threads.map((info, i) => info !== null && has(threadText(i)));
    let index = searchAt && searchAt.text === text ? searchAt.index + step : null;
    if (index === null) {
        index = (await ask("first", {time: view.cursor === null ? view.from : view.cursor})).index;
    }
    $("found").textContent = "searching\u2026";
    const {row} = await ask("search", {text, index, step, kinds, threads});
    if (turn !== searchTurn) {
        return;
    }
    if (row === null) {
        $("found").textContent = (step > 0 ? "none after here" : "none before here") + (servedPart() ? ", in what is loaded" : "");
        searchAt = null;
        return;
    }
    searchAt = {text, index: row.index};
    $("found").textContent = `${kindText(row.kind)} at ${timeText(row.time)} s`;
    goTo(row.time, row.thread);
}

const KEYS = [["\u2190 \u2192", "move in time"], ["\u2191 \u2193", "select a row"], ["+ -", "zoom in, out (also wheel, pinch)"],
    ["F", "show everything"], ["Z", "show what was measured"], ["[ ]", "the row's last, next change"],
    ["Enter", "open or close a process; details of a row"], ["W", "why: what the selected thread waited for, then or while measured"], ["M", "measure: M at one end, M at the other; or drag with Shift"],
    ["/", "search, then Enter or N, Shift+N"], ["B", "bookmark the view"], ["A", "arrows on, off"], ["T", "dark or light"],
    ["Home End", "the beginning, the end"], ["Esc", "nothing selected"], ["wheel", "zoom; with Shift move; over names scroll"]];

function showHelp() {
    $("keys").replaceChildren(make("h2", {}, "Keys"), make("table", {}, make("tbody", {}, ...KEYS.map(([keys, text]) =>
        make("tr", {}, make("td", {}, make("kbd", {}, keys)), make("td", {}, text))))),
    make("p", {}, "What is hatched in red is not covered by the capture: events of that time are missing, or were not recorded."),
    make("form", {method: "dialog"}, make("button", {}, "Close")));
    $("keys").showModal();
}

function showBanner() {
    const {tables} = report.loaded, parts = [];
    if (tables.lossCount) {
        const first = tables.losses.find((loss) => !loss.scope);
        parts.push(`Events are missing: ${lostText(tables)}, hatched below.` +
            (first ? ` The first: ${first.text}.` : ""));
    }
    if (tables.levels) {
        parts.push(served.on ? "" : `The capture has ${countText(tables.events)} events, too many for a page: this one has, for each ${durationText(tables.levels.width)}, ` +
            "how long each thread and CPU ran, but no events. kymo view shows all of them; kymo cut takes a part whose page has them.");
    }
    if (tables.doubt !== null) {
        parts.push(`${tables.doubt[0].toUpperCase()}${tables.doubt.slice(1)}.`);
    }
    const isSaid = (text) => tables.doubt !== null && tables.doubt.startsWith(text);
    const texts = (...kinds) => tables.losses.filter((loss) => loss.scope && kinds.includes(loss.kind)).map((loss) => loss.text);
    const filters = texts(SCOPE_FILTER, SCOPE_GATE).join("; "), unknown = texts(SCOPE_UNKNOWN).filter((text) => !isSaid(text)).join("; ");
    parts.push(filters ? `Not everything was recorded: ${filters}.` : "", unknown ? `What was recorded is not known: ${unknown}.` : "");
    $("banner").hidden = !parts.some(Boolean);
    $("banner").textContent = parts.filter(Boolean).join(" ");
}

function fail(error) {
    if (error && error.message === "superseded") {
        return; /* what it was of is not shown any more */
    }
    report.faults.push(String(error && error.message || error));
    $("banner").hidden = false;
    $("banner").textContent = `The page could not go on: ${report.faults[0]}`;
}
