/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The views of a capture whose events are not here (levels of detail): the figures of all of it, as
 * `kymo stat --json` has them, and what the levels show over time. Proof: test/host/report/check.py.
 */

const wholeTables = () => (served.on ? served.whole : report).loaded.tables;

/* A pid and tid that have been used again have a number, as in kymo why. */
const wholeThread = (pid, tid, life) => `${pid}/${tid}${life > 1 ? "@" + life : ""}`;
const wholeName = (one) => `${one.process || "process"} (${wholeThread(one.pid, one.tid, one.life)})${one.name ? " " + one.name : ""}`;
const wholeServer = (pid, name) => `${name || "process"} (${pid})`;
const nsColumn = (title, value) => ({title, number: true, value, text: (row) => value(row) === undefined ? "-" : durationText(value(row))});
const countColumn = (title, value) => ({title, number: true, value});

/* Goes to the time at which something happened. */
const goAt = (value) => (row) => {
    if (value(row) !== undefined) {
        goTo(value(row));
    }
};

/* Use of each CPU over time, from the levels: the part that ran (but for its idle thread), and what is
 * not known. */
function wholeUse() {
    const {loaded} = served.on ? served.whole : report, {tables} = loaded, {from, width, bins} = tables.levels, to = from + width * bins;
    return Array.from({length: tables.cpus}, (_, cpu) => {
        const shares = Array.from({length: BINS}, (_, bin) => levelShares(loaded, tables.threads.length + cpu,
            from + (to - from) * bin / BINS, from + (to - from) * (bin + 1) / BINS));
        return part(`CPU ${cpu}`, stackedChart({id: `use-cpu${cpu}`, label: `Use of CPU ${cpu}`, from, to, high: 1, height: 90,
            yText: percentAxis, binText: percentBin, series: [
                {name: "busy", colour: SERIES_COLOURS[0], values: Float64Array.from(shares, (one) => one[LEVEL_RUN])},
                {name: "not known", colour: palette.hatch, stripes: true, values: Float64Array.from(shares, (one) => one[LEVEL_UNKNOWN])}]}));
    });
}

const latencyColumns = (title, of) => [["p50", "p50_ns"], ["p90", "p90_ns"], ["p99", "p99_ns"], ["max", "max_ns"]].map(([name, key]) =>
    nsColumn(`${title} ${name}`, (row) => of(row).count > 0 ? of(row)[key] : undefined));

/* Steps of several distributions as one: their edges are the same. */
function sumSteps(lists) {
    const sums = new Map();
    for (const [from, to, count] of lists.flat()) {
        sums.set(from, [from, to, count + (sums.has(from) ? sums.get(from)[2] : 0)]);
    }
    return [...sums.values()].sort((a, b) => a[0] - b[0]);
}

/* How the latencies of messages are distributed: of all, or of a pair of processes, then with its percentiles. */
function wholeDistribution({messages}) {
    const key = (row) => `${row.from} ${row.to}`, rows = messages.filter((row) => row[latency.what].count > 0);
    const one = rows.find((row) => key(row) === latency.pair), steps = sumSteps((one ? [one] : rows).map((row) => row[latency.what].steps_ns));
    const again = () => showView(true).catch(fail), name = latency.what === "wait" ? "send to receive" : "send to reply";
    return [make("div", {class: "choices"},
        chooser("pair", "pair", one ? latency.pair : "", [["", "all"], ...rows.map((row) => [key(row), `${wholeServer(row.from, row.from_name)} \u2192 ${wholeServer(row.to, row.to_name)}`])],
            (value) => { latency.pair = value; again(); }),
        chooser("what", "time", latency.what, [["latency", "send to reply"], ["wait", "send to receive"]], (value) => { latency.what = value; again(); })),
    part(`Distribution: ${name}`, steps.length ? stepsChart({id: "whole-distribution", label: `Distribution, ${name}`, steps,
        marks: one ? [50, 90, 99].map((percent) => [`p${percent}`, one[latency.what][`p${percent}_ns`]]) : []}) :
        make("p", {}, "No message was seen whole."))];
}

const wholeViews = {
    summary: (stat, summary) => [part("The whole capture, as kymo stat prints it", make("pre", {id: "whole", tabindex: 0}, summary.join("\n")))],
    cpu: (stat) => [...wholeUse(), part("CPUs", dataTable({id: "whole-cpus", sort: 0, rows: stat.cpus, columns: [
        {title: "CPU", value: (row) => row.cpu}, nsColumn("covered", (row) => row.covered_ns), nsColumn("busy", (row) => row.busy_ns),
        nsColumn("idle", (row) => row.idle_ns), nsColumn("not known", (row) => row.unknown_ns), nsColumn("interrupts", (row) => row.interrupt_ns),
        countColumn("events", (row) => row.events)]})),
    part("Threads", dataTable({id: "whole-threads", sort: 1, rows: stat.threads.filter((row) => !row.idle), columns: [
        {title: "thread", value: wholeName}, nsColumn("CPU time", (row) => row.states_ns.RUNNING || 0), nsColumn("ready", (row) => row.states_ns.READY || 0),
        nsColumn("covered", (row) => row.covered_ns), countColumn("runs", (row) => row.runs), countColumn("migrations", (row) => row.migrations),
        {title: "waits most in", value: (row) => Object.entries(row.states_ns).filter(([state]) => state !== "RUNNING" && state !== "READY")
            .reduce((most, [state, ns]) => ns > most[1] ? [state, ns] : most, ["-", 0])[0]}]}))],
    statistics: (stat) => [part("Events by class", dataTable({id: "whole-classes", sort: 1,
        rows: Object.entries(stat.classes), columns: [{title: "class", value: (row) => row[0]}, countColumn("events", (row) => row[1])]})),
    part("Kernel calls", dataTable({id: "whole-calls", sort: 1, rows: stat.kernel_calls, columns: [
        {title: "call", value: (row) => row.name || String(row.number)}, countColumn("entered", (row) => row.entered), countColumn("returned", (row) => row.returned),
        countColumn("errors", (row) => row.errors), countColumn("interrupted", (row) => row.interrupted)]}))],
    service: (stat) => [part("Threads: self and imposed", dataTable({id: "whole-service", sort: 2, rows: stat.threads.filter((row) => !row.idle), columns: [
        {title: "thread", value: wholeName}, nsColumn("self", (row) => row.states_ns.RUNNING || 0), nsColumn("imposed", (row) => row.imposed_ns)]})),
    part("Servers that ran for clients", dataTable({id: "whole-imposed", sort: 2, rows: stat.imposed, columns: [
        {title: "client", value: (row) => wholeThread(row.pid, row.tid, row.life)}, {title: "server", value: (row) => row.server_pid},
        nsColumn("ran for it", (row) => row.time_ns), nsColumn("ran in all", (row) => row.server_running_ns)]}))],
    messages: (stat) => [part("Messages from process to process", dataTable({id: "whole-messages", sort: 2, rows: stat.messages,
        go: goAt((row) => row.latency.max_at_ns), columns: [
            {title: "client", value: (row) => wholeServer(row.from, row.from_name)}, {title: "server", value: (row) => wholeServer(row.to, row.to_name)},
            countColumn("sent", (row) => row.sent), countColumn("replied", (row) => row.replied), countColumn("errors", (row) => row.errors),
            ...latencyColumns("latency", (row) => row.latency), ...latencyColumns("wait", (row) => row.wait)]})),
    ...wholeDistribution(stat),
    part("The slowest messages", dataTable({id: "whole-slowest", sort: 2, rows: stat.slowest_messages, go: goAt((row) => row.sent_at_ns), columns: [
        {title: "client", value: (row) => wholeThread(row.pid, row.tid, row.life)}, {title: "server", value: (row) => wholeThread(row.server_pid, row.server_tid, row.server_life)},
        nsColumn("latency", (row) => row.latency_ns), {title: "sent at", number: true, value: (row) => row.sent_at_ns, text: (row) => timeText(row.sent_at_ns)},
        {title: "ended by", value: (row) => row.aborted ? "no reply" : row.error ? "error" : "reply"}]}))],
    interrupts: (stat) => [part("Interrupts", dataTable({id: "whole-interrupts", sort: 1, rows: stat.interrupts, go: goAt((row) => row.max_at_ns), columns: [
        {title: "interrupt", value: (row) => row.name ? `${row.line} ${row.name}` : row.line}, countColumn("count", (row) => row.count),
        countColumn("delivered", (row) => row.delivered), nsColumn("time", (row) => row.time_ns), nsColumn("longest", (row) => row.max_ns)]}))],
};

const WHOLE_LACKS = "Of all of the capture, not of the visible part: this page has no events. It has no single messages, threads at the " +
    "cursor, call stacks, conditions, event log or D aggregations; kymo view has them, and a page of a part (kymo cut).";
