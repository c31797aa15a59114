/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame of the views: tabs, the interval that a view is of, tables. A view is {id, title, about,
 * show}: show(scope) gives the elements of its pane, and is called anew when the interval changes;
 * `atCursor`: also when the cursor moves; `ofCapture`: never, as it is of the whole capture, and its
 * tab stands before the timeline's. Names of a capture are text (make()).
 */

const views = [];
const pane = {active: "timeline", scope: "view", split: false, turn: 0, shown: "", sorts: new Map()};

function addView(view) {
    views.push(view);
}

/* ---- the interval ------------------------------------------------------------------ */

/* What the views are of: [from, to], in the capture. */
function scopeOf() {
    const {first, last} = report.loaded.tables;
    const [from, to] = pane.scope === "view" ? [view.from, view.to] : pane.scope === "range" && view.range ? view.range : [first, last];
    const begin = Math.floor(Math.max(first, Math.min(from, last))), end = Math.ceil(Math.min(last, Math.max(to, begin + 1)));
    return {from: begin, to: Math.max(end, begin + 1), whole: begin <= first && end >= last};
}

function scopeText(scope) {
    return `${timeText(scope.from)} to ${timeText(scope.to)} s, ${durationText(scope.to - scope.from)}` +
        (scope.whole ? ": the whole capture" : "");
}

/* Does the capture lack events of the interval? Then counts are lower bounds. */
function isLossy(scope) {
    return report.loaded.gaps.some(([from, to]) => from < scope.to && to > scope.from) || !report.loaded.tables.isKymo;
}

/* What must be said of figures, as an element; null: they hold. */
function doubtOf(scope, known) {
    const {tables} = report.loaded, parts = [], {usage} = tables, length = scope.to - scope.from;
    if (known !== undefined && tables.isKymo && known < length) {
        parts.push(`All CPUs are covered for ${percentText(Math.floor(1e4 * known / length) / 1e4)} of this interval: times of threads and messages are over that, and counts are lower bounds.`);
    } else if (isLossy(scope)) {
        parts.push(tables.isKymo ? "Events of this interval are missing: counts are lower bounds." :
            "Another kernel's capture: events may be missing unnoticed, so counts are lower bounds.");
    }
    for (const text of [usage.filters, usage.losses]) {
        if (text !== null) {
            parts.push(`${text[0].toUpperCase()}${text.slice(1)}.`);
        }
    }
    if (usage.changed >= 0) {
        parts.push(`From ${timeText(usage.changed)} s on a program changed what is recorded: times are not known after it.`);
    }
    if (usage.notCounted > 0) {
        parts.push(`${countText(usage.notCounted)} things had no room in the account and are in no figure.`);
    }
    return parts.length ? make("p", {class: "doubt"}, make("strong", {}, "\u26a0 "), parts.join(" ")) : null;
}

/* ">= 12" where events are missing. */
function boundText(count, scope) {
    return (isLossy(scope) ? "\u2265 " : "") + countText(count);
}

/* ---- the pane ---------------------------------------------------------------------- */

function currentView() {
    return views.find((one) => one.id === pane.active);
}

/* Names what a view would show: the same twice means that nothing has to be done. */
function shownKey(one) {
    const scope = scopeOf();
    return one.ofCapture ? one.id : [one.id, scope.from, scope.to, one.atCursor ? view.cursor : "", one.byRow ? view.row : ""].join(" ");
}

async function showView(force) {
    const one = currentView();
    if (!one || (!force && pane.shown === shownKey(one))) {
        return;
    }
    const turn = ++pane.turn;
    pane.shown = shownKey(one);
    const scope = scopeOf();
    $("pane").setAttribute("aria-busy", "true");
    let parts;
    try {
        parts = one.ofCapture || hasEvents(scope) ? await one.show(scope) : farParts(one);
    } catch (error) {
        if (error.message === "superseded" || turn !== pane.turn) {
            return;
        }
        throw error;
    }
    if (turn !== pane.turn) {
        return;
    }
    const isWhole = isWholeOnly() || one.ofCapture;
    const kept = document.activeElement && $("pane").contains(document.activeElement) ? document.activeElement.id : "";
    const scroll = $("pane").dataset.view === one.id ? $("pane").scrollTop : 0;
    $("pane").dataset.view = one.id;
    $("pane").replaceChildren(make("div", {class: "view-head"}, make("h2", {}, one.title), isWhole ? null : scopeChoice(),
        make("span", {class: "dim", id: "scope-text"}, isWhole ? "the whole capture" : scopeText(scope))), make("p", {class: "dim"}, one.about), ...parts.filter(Boolean));
    $("pane").scrollTop = scroll;
    $("pane").setAttribute("aria-busy", "false");
    $("pane").dataset.shown = pane.shown;
    if (kept && $(kept)) {
        $(kept).focus({preventScroll: true});
    }
    drawCharts();
}

function scopeChoice() {
    const choice = make("select", {id: "scope", "aria-label": "Interval of the figures", onchange: () => {
        pane.scope = choice.value;
        linkSoon();
        showView(true).catch(fail);
    }}, ...[["view", "Visible part"], ["whole", "Whole capture"], ["range", "Measured part"]].map(([value, text]) =>
        make("option", value === "range" && !view.range ? {value, disabled: ""} : {value}, text)));
    choice.value = pane.scope === "range" && !view.range ? "whole" : pane.scope;
    return choice;
}

/* The views need the events, which a page with levels of detail does not have. */
function hasViews() {
    return !report.loaded.levels || served.on || Boolean(report.loaded.tables.summary);
}

/* A page without events, with figures of all of the capture. */
function isWholeOnly() {
    return Boolean(report.loaded.levels) && !served.on;
}

/* The views that there are: of a page without events those of all of the capture (whole.js). */
function viewsHere() {
    return isWholeOnly() ? views.filter((one) => one.ofCapture || wholeViews[one.id]) : views;
}

/* The tabs from left to right. */
function tabsHere() {
    const here = viewsHere();
    return [...here.filter((one) => one.ofCapture), {id: "timeline", title: "Timeline"}, ...here.filter((one) => !one.ofCapture)];
}

/* Are the events of the interval here? */
function hasEvents(scope) {
    const part = servedPart();
    return !report.loaded.levels && (!part || (scope.from >= part.from && scope.to <= part.to));
}

/* What a view shows of an interval whose events are not here. */
function farParts(one) {
    const {summary, stat} = wholeTables(), figures = summary && wholeViews[one.id] ? wholeViews[one.id](stat, summary) : [];
    if (!served.on) {
        return [make("p", {id: "lacks"}, WHOLE_LACKS), ...figures];
    }
    return [make("p", {id: "far"}, pane.scope === "view" ? `The visible part has more than ${countText(servedMost())} events: zoom in to see their figures.` :
        `The interval has more events than are shown at once: zoom in, and choose the visible part.`), ...figures];
}

/* Shows a view, or the timeline; in split mode both. */
function openView(id) {
    const known = id === "timeline" || hasViews() && viewsHere().some((one) => one.id === id);
    pane.active = known ? id : "timeline";
    const isView = pane.active !== "timeline";
    $("timeline").classList.toggle("with-view", isView);
    $("timeline").classList.toggle("split", isView && pane.split);
    $("pane").hidden = !isView;
    for (const tab of document.querySelectorAll("#tabs [role=tab]")) {
        const is = tab.dataset.view === pane.active;
        tab.setAttribute("aria-selected", String(is));
        tab.tabIndex = is ? 0 : -1;
        if (is && tab.scrollIntoView) {
            tab.scrollIntoView({block: "nearest", inline: "nearest"});
        }
    }
    linkSoon();
    drawSoon();
    showView(true).catch(fail);
}

function setSplit(on) {
    pane.split = on;
    press("split", on);
    openView(pane.active);
}

/* Goes to a time on the timeline, and shows both. */
function showOnTimeline(time, thread, length) {
    if (length > 0 && (length > (view.to - view.from) / 3 || length < (view.to - view.from) / 200)) {
        showTimes(time - length, time + 2 * length);
    }
    if (!pane.split) {
        setSplit(true);
    }
    goTo(time, thread);
}

function stepView(by) {
    const ids = tabsHere().map((one) => one.id);
    openView(ids[(ids.indexOf(pane.active) + by + ids.length) % ids.length]);
}

/* Called when what is visible, the cursor or what was measured has changed: view.js. */
function viewsChanged() {
    servedAsk().catch(fail);
    showView(false).catch(fail);
}

/* The parts of a link: "v=VIEW&s=SCOPE&split=1". */
function viewsLink() {
    return pane.active === "timeline" ? [] : [`v=${pane.active}`, ...(pane.scope === "view" ? [] : [`s=${pane.scope}`]),
        ...(pane.split ? ["split=1"] : []), ...(pane.active === "log" && log.text ? [`q=${encodeURIComponent(log.text)}`] : [])];
}

function viewsFollow(found) {
    pane.scope = ["view", "whole", "range"].includes(found.get("s")) ? found.get("s") : pane.scope;
    pane.split = found.has("split") ? found.get("split") === "1" : pane.split;
    press("split", pane.split);
    try {
        log.text = found.has("q") ? decodeURIComponent(found.get("q")) : log.text;
    } catch {
        /* A link that is no link: the condition stays. */
    }
    if (found.has("v") || pane.active !== "timeline") {
        openView(found.get("v") || "timeline");
    }
}

function paneKey(event) {
    const typing = event.target.matches("input, select, textarea");
    if (typing || ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", "Enter", " "].includes(event.key)) {
        if (event.key === "Escape") {
            $("pane").focus();
        }
        event.stopPropagation();
    }
}

function tabKey(event) {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (by) {
        event.preventDefault();
        event.stopPropagation();
        stepView(by);
        document.querySelector("#tabs [aria-selected=true]").focus();
    }
}

function viewsBegin() {
    const tab = (id, title) => make("button", {role: "tab", id: `tab-${id}`, "data-view": id, "aria-controls": id === "timeline" ? "canvas" : "pane",
        onclick: () => openView(id)}, title);
    $("tabs").hidden = $("split").hidden = !hasViews();
    $("tabs").append(...tabsHere().map((one) => tab(one.id, one.tab || one.title)));
    $("tabs").addEventListener("keydown", tabKey);
    $("pane").addEventListener("keydown", paneKey);
    new ResizeObserver(() => drawCharts()).observe($("pane"));
    nameFindings();
    openView("timeline");
}

actions.split = () => setSplit(!pane.split);
Object.assign(KEY_ACTIONS, {v: () => stepView(1), V: () => stepView(-1), s: actions.split});
KEYS.push(["V Shift+V", "the next, the last view"], ["S", "view and timeline together"]);

/* ---- tables ------------------------------------------------------------------------ */

const TABLE_MOST = 400;

/*
 * A table sorted by a click on a column's head. Columns: {title, value(row), text(row), share(row):
 * of a line below it, bar(row): of a bar before it, number}. `go(row)` is what a click or Enter on a row does. A number's exact
 * value is the cell's data-value.
 */
function dataTable({id, columns, rows, sort, go, most}) {
    const body = make("tbody"), note = make("p", {class: "dim"}), limit = most || TABLE_MOST;
    const kept = pane.sorts.get(id) || {column: sort, down: columns[sort].number === true};
    const heads = columns.map((column, i) => {
        const by = make("button", {class: "sort", onclick: () => {
            const {column: was, down} = pane.sorts.get(id) || kept;
            pane.sorts.set(id, {column: i, down: was === i ? !down : columns[i].number === true});
            fill();
        }}, column.title);
        return make("th", {scope: "col", class: column.number ? "number" : ""}, by);
    });
    function cell(column, row) {
        const value = column.value(row), td = make("td", {class: column.number ? "number" : "", "data-value": String(value)},
            column.text ? column.text(row) : String(value));
        if (column.share) {
            const bar = make("span", {class: "share", "aria-hidden": "true"});
            bar.style.width = `${Math.max(0, Math.min(100, 100 * column.share(row)))}%`;
            td.append(bar);
        }
        if (column.bar) {
            const bar = make("span", {class: "bar", "aria-hidden": "true"});
            bar.style.width = `${(12 * column.bar(row)).toFixed(2)}rem`;
            td.prepend(make("span", {class: "bar-room"}, bar));
        }
        return td;
    }
    function fill() {
        const {column, down} = pane.sorts.get(id) || kept, value = columns[column].value, sign = down ? -1 : 1;
        const sorted = rows.map((row, i) => [row, i]).sort(([a, i], [b, j]) => {
            const x = value(a), y = value(b);
            return (x < y ? -sign : x > y ? sign : 0) || i - j;
        });
        heads.forEach((head, i) => head.setAttribute("aria-sort", i !== column ? "none" : down ? "descending" : "ascending"));
        body.replaceChildren(...sorted.slice(0, limit).map(([row]) => make("tr", go ? {tabindex: 0, onclick: () => go(row),
            onkeydown: (event) => event.key === "Enter" && go(row)} : {}, ...columns.map((one) => cell(one, row)))));
        note.textContent = rows.length > limit ? `The first ${limit} of ${countText(rows.length)} rows.` : rows.length ? "" : "None.";
    }
    fill();
    return make("div", {class: "table"}, make("table", {id, class: "data"}, make("thead", {}, make("tr", {}, ...heads)), body), note);
}

/* Threads and processes as columns of such tables. */
const threadColumn = (title, of) => ({title, value: (row) => threadText(of(row)), text: (row) => threadText(of(row))});

function processName(pid, at) {
    const info = report.loaded.tables.threads.find((one) => one !== null && one[0] === pid && one[4] !== null && (at === undefined || one[2] === null || one[2] <= at));
    return pid === 0 ? "not known" : `${info ? info[4] : "process"} (${pid})`;
}

const timeColumn = (title, value) => ({title, number: true, value, text: (row) => durationText(value(row))});

/* The exact percentile: the value of the nearest rank of sorted values. */
function percentile(sorted, percent) {
    return sorted.length ? sorted[Math.max(0, Math.ceil(sorted.length * percent / 100) - 1)] : NaN;
}

function tiles(pairs) {
    return make("div", {class: "tiles"}, ...pairs.map(([title, text, more]) => make("div", {class: "tile"},
        make("span", {class: "dim"}, title), make("strong", {}, text), more ? make("span", {class: "dim"}, more) : null)));
}

function part(title, ...children) {
    return make("section", {class: "part"}, make("h3", {}, title), ...children.filter(Boolean));
}
