/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The findings of `kymo diagnose`, which are of the whole capture. A line leads to its
 * place on the timeline, with the path of `kymo why` if a thread waits there. Proof:
 * test/host/report/findings.py.
 */

const LOST_KIND = "lost", FINDING_MARGIN = 0.15, MOMENT_SHARE = 1 / 20;

/* null: the recording has not ended, or its end has not been read. */
const findingsOf = () => wholeTables().findings || null;

/* Is anything wrong but that events are missing, which the banner says? The page opens here then. */
function hasFaults() {
    const found = findingsOf();
    return found !== null && found.list.some((one) => found.kinds[one.kind][0] !== LOST_KIND);
}

/* The tab says how many there are. */
function nameFindings() {
    const tab = $("tab-findings"), found = findingsOf();
    if (tab) {
        tab.textContent = found && found.list.length ? `Findings (${found.list.length})` : "Findings";
    }
}

/* The life of the thread, or of the process, that had these ids then; 0: none is known. */
function findingThread({pid, tid, from, to}) {
    const {threads} = report.loaded.tables, begun = (info) => info[2] === null ? -Infinity : info[2];
    let best = 0;
    threads.forEach((info, thread) => {
        if (info && pid >= 0 && info[0] === pid && (tid < 0 || info[1] === tid) && begun(info) <= to &&
            (info[3] === null || info[3] >= from) && (best === 0 || (tid >= 0 && begun(info) > begun(threads[best])))) {
            best = thread;
        }
    });
    return best;
}

/* Shows the time of a finding with a margin, and selects whom it is of. */
function goFinding(one) {
    const {first, last} = report.loaded.tables, thread = findingThread(one), length = one.to - one.from;
    const margin = length > 0 ? FINDING_MARGIN * length : (last - first) * MOMENT_SHARE;
    if (!pane.split) {
        openView("timeline");
        view.width = $("canvas").clientWidth;
        view.height = $("canvas").clientHeight;
        $("canvas").focus({preventScroll: true});
    }
    view.why = view.range = null;
    view.cursor = one.from;
    showTimes(one.from - margin, one.to + margin);
    const cpu = view.rows.findIndex((row) => row.type === "cpu" && row.cpu === one.cpu);
    const row = thread ? revealThread(thread) : cpu;
    view.row = thread && one.tid < 0 ? view.rows.findIndex((it) => it.type === "process" && it.members.includes(thread)) : row;
    if (view.row >= 0) {
        revealRow(view.row);
    }
    if (thread && one.tid >= 0 && length > 0 && !report.loaded.levels) {
        setWhy(thread, one.from, one.to);
    } else {
        setCursor(one.from);
    }
}

function findingTable({kinds, list}) {
    const rows = list.map((one, rank) => ({...one, rank: rank + 1}));
    return dataTable({id: "findings-table", sort: 0, rows, go: goFinding, columns: [
        {title: "#", value: (row) => row.rank},
        {title: "kind", value: (row) => kinds[row.kind][0]},
        {title: "what is wrong", value: (row) => kinds[row.kind][1]},
        {title: "evidence", value: (row) => row.text + (row.count > 1 ? ` (and ${row.count - 1} more)` : "")},
        {title: "at", number: true, value: (row) => row.from, text: (row) => axisText(row.from, 1e3)},
        {title: "confidence", value: (row) => kinds[row.kind][2]}]});
}

/* Kinds of one reason and remedy are in one row. */
function untoldTable({kinds, untold}) {
    const rows = new Map();
    for (const {kind, reason, remedy} of untold) {
        const key = `${reason}\n${remedy}`;
        rows.set(key, {reason, remedy, kinds: [...(rows.get(key) || {kinds: []}).kinds, kinds[kind][0]]});
    }
    return dataTable({id: "untold-table", sort: 1, rows: [...rows.values()], columns: [
        {title: "kinds", value: (row) => row.kinds.join(", ")}, {title: "reason", value: (row) => row.reason},
        {title: "remedy", value: (row) => row.remedy}]});
}

addView({id: "findings", title: "Findings", ofCapture: true, about: "What kymo diagnose says of the system, the worst kinds first. A finding has happened: " +
    "the events that it rests on are in the capture. One that is a sign may be meant so." +
    " A click on a line, or Enter, shows its place on the timeline, and what its thread waited for.",
    show: async () => {
        const found = findingsOf();
        if (!found) {
            return [make("p", {}, "There are no findings before the end of the capture has come.")];
        }
        const {kinds, list, untold, fault} = found, there = new Set([...list, ...untold].map((one) => one.kind));
        const others = kinds.filter((_, kind) => !there.has(kind)).map(([, title]) => title);
        const lookedFor = others.length ? [make("p", {class: "dim"}, list.length ? "Looked for as well, and not there:" : "Looked for:"),
            make("ul", {id: "looked-for", class: "dim"}, ...others.map((title) => make("li", {}, title)))] : [];
        return [fault ? make("p", {class: "doubt"}, make("strong", {}, "\u26a0 "), fault) : null,
            list.length ? findingTable(found) : make("p", {id: "no-findings"}, make("strong", {}, "Nothing was found"),
                untold.length ? " of what could be looked for." : " that is wrong."),
            untold.length ? part("Can't tell", make("p", {class: "dim"}, "Of these kinds there may be more than was found."), untoldTable(found)) : null, ...lookedFor];
    }});
