/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A moment: the state of each thread and the calls that it is in, at the cursor.
 */

function callText(thread, time) {
    return spansAt(thread, time).map((span) => spanText(span.name));
}

addView({id: "threads", title: "Threads at the cursor", tab: "At the cursor", atCursor: true, byRow: true,
    about: "What each thread did at the cursor, since when, and the functions and the kernel call that it was in. Without a cursor: in the middle of the interval.",
    show: async (scope) => {
        const {tables} = report.loaded, {first, last} = tables, time = Math.max(first, Math.min(last, view.cursor === null ? Math.floor((scope.from + scope.to) / 2) : view.cursor));
        const now = await ask("moment", {time}), rows = [];
        tables.threads.forEach((info, thread) => {
            if (info !== null && (info[2] === null || info[2] <= time) && (info[3] === null || info[3] > time)) {
                rows.push({thread, state: now.state[thread], cpu: now.cpu[thread], since: now.since[thread], until: now.until[thread], calls: callText(thread, time)});
            }
        });
        const isKnown = (row) => row.state !== STATE_UNKNOWN, counts = new Map();
        for (const row of rows) {
            counts.set(row.state, (counts.get(row.state) || 0) + 1);
        }
        const selected = view.rows[view.row], chosen = rows.filter(({thread, calls}) => calls.length && (!selected || selected.type !== "thread" || selected.thread === thread));
        return [now.known ? null : make("p", {class: "doubt"}, "\u26a0 Not all CPUs are covered at this time: what a thread that did not run was in is not known."),
            tiles([["at", `${timeText(time)} s`], ...[...counts].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([state, count]) => [stateText(state), count])]),
            part("Threads", dataTable({id: "moment-table", sort: 0, rows, most: 2000, go: (row) => showRow(row.thread, time, time), columns: [
                threadColumn("thread", (row) => row.thread),
                {title: "state", value: (row) => stateText(row.state) + (row.state === STATE_RUNNING ? ` on CPU ${row.cpu}` : "")},
                {...timeColumn("for", (row) => isKnown(row) ? time - row.since : -1), text: (row) => isKnown(row) ? durationText(time - row.since) : "-"},
                {...timeColumn("in all", (row) => isKnown(row) ? row.until - row.since : -1), text: (row) => isKnown(row) ? durationText(row.until - row.since) : "-"},
                {title: "in", value: (row) => row.calls.length ? row.calls[row.calls.length - 1] : ""}]})),
            part("Call stacks", ...chosen.map(({thread, calls}) => make("div", {class: "stack"}, make("strong", {}, threadText(thread)),
                make("ol", {}, ...calls.map((name) => make("li", {}, name))))),
            chosen.length ? null : make("p", {class: "dim"}, "None: no thread is in a kernel call or function here. Functions are recorded for programs built with -finstrument-functions."))];
    }});
