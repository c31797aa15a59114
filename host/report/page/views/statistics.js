/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many events there were: by class, event and CPU, and by the thread and process that ran.
 */

addView({id: "statistics", title: "Statistics", about: "How often each event occurred. A click on an event opens the log of it; one on a thread its row.",
    show: async (scope) => {
        const {tables} = report.loaded, {from, to} = scope, seconds = (to - from) / 1e9;
        const counted = await ask("statistics", {from, to, bins: 1}), cpus = Math.max(1, tables.cpus), rows = new Map();
        tables.kinds.forEach((kind, i) => {
            const key = `${kind.class} ${kindText(i)}`, row = rows.get(key) || {kind: i, count: 0, byCpu: new Float64Array(cpus), first: Infinity, last: -Infinity};
            for (let cpu = 0; cpu < cpus; cpu++) {
                row.count += counted.byKind[i * cpus + cpu];
                row.byCpu[cpu] += counted.byKind[i * cpus + cpu];
            }
            row.first = Math.min(row.first, Number.isNaN(counted.firsts[i]) ? Infinity : counted.firsts[i]);
            row.last = Math.max(row.last, Number.isNaN(counted.lasts[i]) ? -Infinity : counted.lasts[i]);
            rows.set(key, row);
        });
        const kinds = [...rows.values()].filter(({count}) => count > 0), most = Math.max(1, ...kinds.map(({count}) => count));
        const classes = counted.names.map((name, i) => ({name, count: sum([...counted.density[i]])})).filter(({count}) => count > 0);
        const rate = (row) => row.count / seconds, n = counted.names.length;
        const rateColumn = {title: "a second", number: true, value: rate, text: (row) => countText(Math.round(rate(row)))};
        const countColumn = {title: "count", number: true, value: (row) => row.count, text: (row) => boundText(row.count, scope), share: (row) => row.count / most};
        const owners = tables.threads.map((info, thread) => ({thread, count: sum([...counted.byThread.subarray(thread * n, (thread + 1) * n)]),
            classes: counted.byThread.subarray(thread * n, (thread + 1) * n)})).filter(({count}) => count > 0);
        const processes = new Map();
        for (const owner of owners) {
            const key = processText(owner.thread), row = processes.get(key) || {name: key, count: 0, classes: new Float64Array(n)};
            row.count += owner.count;
            owner.classes.forEach((value, i) => { row.classes[i] += value; });
            processes.set(key, row);
        }
        const perClass = counted.names.map((name, i) => ({name, i})).filter(({i}) => owners.some((row) => row.classes[i] > 0))
            .map(({name, i}) => ({title: name, number: true, value: (row) => row.classes[i], text: (row) => row.classes[i] ? countText(row.classes[i]) : "\u00b7"}));
        return [doubtOf(scope), tiles([["events", boundText(counted.total, scope)], ["a second", countText(Math.round(counted.total / seconds))],
            ["kinds of events", kinds.length], ["threads with events", owners.filter(({thread}) => thread > 0).length]]),
        part("By class", dataTable({id: "class-table", sort: 1, rows: classes, columns: [{title: "class", value: (row) => row.name},
            {...countColumn, share: (row) => row.count / (counted.total || 1)}, rateColumn]})),
        part("By event", dataTable({id: "event-table", sort: 2, rows: kinds, go: (row) => openLog(conditionOfKind(row.kind)), columns: [
            {title: "class", value: (row) => tables.kinds[row.kind].class}, {title: "event", value: (row) => kindText(row.kind)}, countColumn, rateColumn,
            ...(cpus > 1 && cpus <= 16 ? Array.from({length: cpus}, (_, cpu) => ({title: `CPU ${cpu}`, number: true, value: (row) => row.byCpu[cpu],
                text: (row) => row.byCpu[cpu] ? countText(row.byCpu[cpu]) : "\u00b7"})) : []),
            {title: "first at", number: true, value: (row) => row.first, text: (row) => timeText(row.first)},
            {title: "last at", number: true, value: (row) => row.last, text: (row) => timeText(row.last)}]})),
        part("By process: who ran when they occurred", dataTable({id: "process-events", sort: 1, rows: [...processes.values()], columns: [
            {title: "process", value: (row) => row.name}, {...countColumn, share: (row) => row.count / (counted.total || 1)}, ...perClass]})),
        part("By thread", dataTable({id: "owner-table", sort: 1, rows: owners, go: (row) => row.thread && showRow(row.thread, from, to), columns: [
            threadColumn("thread", (row) => row.thread), {...countColumn, share: (row) => row.count / (counted.total || 1)}, ...perClass]}))];
    }});

/* The condition (condition.js) that holds of a kind's events. */
function conditionOfKind(kind) {
    const info = report.loaded.tables.kinds[kind];
    return `class=${info.class} event=${info.name === null ? info.code : info.name}`;
}
