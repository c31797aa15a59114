/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Latencies: of messages by client and server, of interrupts and of the threads that they wake.
 * Each instance is a point over time.
 */

const latency = {pair: "", line: "", what: "latency"};

/* Rows of a table of distributions: the values of each key, sorted. */
function distributions(keys, values) {
    const groups = new Map();
    keys.forEach((key, i) => {
        if (!groups.has(key)) {
            groups.set(key, []);
        }
        groups.get(key).push(values[i]);
    });
    return new Map([...groups].map(([key, list]) => [key, Float64Array.from(list).sort()]));
}

const distributionColumns = [["p50", 50], ["p90", 90], ["p99", 99]].map(([title, percent]) =>
    timeColumn(title, (row) => row.sorted.length ? percentile(row.sorted, percent) : -1))
    .concat([timeColumn("max", (row) => row.sorted.length ? row.sorted[row.sorted.length - 1] : -1)])
    .map((column) => ({...column, text: (row) => row.sorted.length ? column.text(row) : "-"}));

addView({id: "messages", title: "Message latency", tab: "Messages", about: "From send to reply, and from send to receive. Only messages whose whole way is covered have a latency. " +
    "A point is a message: a click goes to it on the timeline.",
    show: async (scope) => {
        const {tables} = report.loaded, {sent, replied, received} = await ask("messages", scope), figures = await ask("figures", scope);
        const pid = (thread) => tables.threads[thread] ? tables.threads[thread][0] : 0, key = (client, server) => `${pid(client)} ${server}`;
        const waitOnly = latency.what === "wait", all = waitOnly ? received : replied, values = waitOnly ? received.wait : replied.latency;
        const keys = Array.from(all.client, (client, i) => key(client, all.server[i]));
        const lists = distributions(Array.from(replied.client, (c, i) => key(c, replied.server[i])), replied.latency);
        const waits = distributions(Array.from(received.client, (c, i) => key(c, received.server[i])), received.wait);
        const errors = new Map();
        replied.client.forEach((client, i) => {
            const one = key(client, replied.server[i]);
            errors.set(one, (errors.get(one) || 0) + replied.error[i]);
        });
        const rows = [...new Set([...sent.map(([one]) => one), ...lists.keys()])].map((one) => {
            const [from, to] = one.split(" ").map(Number);
            return {key: one, from, to, sent: new Map(sent).get(one) || 0, errors: errors.get(one) || 0, sorted: lists.get(one) || new Float64Array(0), waits: waits.get(one) || new Float64Array(0)};
        });
        const chosen = rows.some((row) => row.key === latency.pair) ? latency.pair : "", again = () => showView(true).catch(fail);
        const indexes = [...keys.keys()].filter((i) => chosen === "" || keys[i] === chosen);
        const byPair = [...rows].sort((a, b) => b.sorted.length - a.sorted.length).map((row) => row.key), colour = (one) => {
            const at = byPair.indexOf(one);
            return at >= 0 && at < SERIES_MOST ? SERIES_COLOURS[at] : OTHERS_COLOUR;
        };
        const nameOf = (one) => one.split(" ").map((id) => processName(Number(id))).join(" \u2192 ");
        const sorted = Float64Array.from(indexes, (i) => values[i]).sort(), name = waitOnly ? "send to receive" : "send to reply";
        const slow = [...replied.latency.keys()].filter((i) => chosen === "" || key(replied.client[i], replied.server[i]) === chosen)
            .sort((a, b) => replied.latency[b] - replied.latency[a] || replied.sent[a] - replied.sent[b]).slice(0, 20);
        const goMessage = (i) => showOnTimeline(replied.sent[i], replied.client[i], replied.latency[i]);
        return [doubtOf(scope, figures.known), make("div", {class: "choices"},
            chooser("pair", "pair", chosen, [["", "all"], ...rows.map((row) => [row.key, nameOf(row.key)])], (value) => { latency.pair = value; again(); }),
            chooser("what", "time", latency.what, [["latency", "send to reply"], ["wait", "send to receive"]], (value) => { latency.what = value; again(); })),
        part("By client and server", dataTable({id: "message-table", sort: 2, rows, go: (row) => { latency.pair = latency.pair === row.key ? "" : row.key; again(); }, columns: [
            {title: "client", value: (row) => processName(row.from)}, {title: "server", value: (row) => processName(row.to)},
            {title: "sent", number: true, value: (row) => row.sent, text: (row) => boundText(row.sent, scope)},
            {title: "replied", number: true, value: (row) => row.sorted.length - row.errors}, {title: "errors", number: true, value: (row) => row.errors},
            ...distributionColumns, {...timeColumn("p99 to receive", (row) => row.waits.length ? percentile(row.waits, 99) : -1),
                text: (row) => row.waits.length ? durationText(percentile(row.waits, 99)) : "-"}]})),
        part(`Each message: ${name}`, pointChart({id: "message-points", label: `Messages over time, ${name}`, from: scope.from, to: scope.to,
            time: Array.from(indexes, (i) => all.sent[i]), value: Array.from(indexes, (i) => values[i]), colourOf: (n) => colour(keys[indexes[n]]),
            legend: byPair.slice(0, SERIES_MOST).map((one) => ({name: nameOf(one), colour: colour(one)})),
            textOf: (n) => [`${nameOf(keys[indexes[n]])}`, `sent at ${timeText(all.sent[indexes[n]])} s`, `${name}: ${durationText(values[indexes[n]])}`,
                `client ${threadText(all.client[indexes[n]])}`].join("\n"),
            go: (n) => showOnTimeline(all.sent[indexes[n]], all.client[indexes[n]], values[indexes[n]])})),
        part("Distribution", distributionChart({id: "message-distribution", label: `Distribution, ${name}`, sorted})),
        part("Slowest", dataTable({id: "slow-table", sort: 5, rows: slow, go: goMessage, columns: [
            threadColumn("client", (i) => replied.client[i]),
            {title: "server", value: (i) => replied.thread[i] ? threadText(replied.thread[i]) : processName(replied.server[i])},
            {title: "sent at s", number: true, value: (i) => replied.sent[i], text: (i) => timeText(replied.sent[i])},
            {...timeColumn("to receive", (i) => replied.wait[i]), text: (i) => replied.wait[i] < 0 ? "not seen" : durationText(replied.wait[i])},
            {...timeColumn("to reply", (i) => replied.wait[i] < 0 ? -1 : replied.latency[i] - replied.wait[i]),
                text: (i) => replied.wait[i] < 0 ? "-" : durationText(replied.latency[i] - replied.wait[i])},
            timeColumn("in all", (i) => replied.latency[i]), {title: "end", value: (i) => replied.error[i] ? "error" : "reply"}]}))];
    }});

function lineName(line) {
    const found = report.loaded.tables.usage.lines.find(([number]) => number === line);
    return `${line}${found ? " " + found[1] : ""}`;
}

addView({id: "interrupts", title: "Interrupt latency", tab: "Interrupts", about: "How long each interrupt was handled, and how long it took from its begin until the thread that it woke ran. " +
    "A thread counts if it waited and became READY while its CPU handled the interrupt.",
    show: async (scope) => {
        const {entered, handled, woken} = await ask("interrupts", scope), figures = await ask("figures", scope), counts = new Map(entered);
        const times = distributions(Array.from(handled.line), handled.time), wakes = distributions(Array.from(woken.line, (line, i) => `${line} ${woken.thread[i]}`), woken.time);
        const lines = [...new Set([...counts.keys(), ...times.keys()])].sort((a, b) => a - b), again = () => showView(true).catch(fail);
        const chosen = lines.map(String).includes(latency.line) ? latency.line : "", fits = (line) => chosen === "" || String(line) === chosen;
        const colour = (line) => lines.indexOf(line) < SERIES_MOST ? SERIES_COLOURS[lines.indexOf(line)] : OTHERS_COLOUR;
        const legend = lines.slice(0, SERIES_MOST).map((line) => ({name: lineName(line), colour: colour(line)}));
        const points = (id, label, list, text) => {
            const indexes = [...list.line.keys()].filter((i) => fits(list.line[i]));
            return indexes.length === 0 ? make("p", {class: "dim"}, "None.") : pointChart({id, label, from: scope.from, to: scope.to, legend, time: indexes.map((i) => list.from[i]), value: indexes.map((i) => list.time[i]),
                colourOf: (n) => colour(list.line[indexes[n]]), textOf: (n) => text(indexes[n]),
                go: (n) => showOnTimeline(list.from[indexes[n]], list.thread ? list.thread[indexes[n]] : 0, list.time[indexes[n]])});
        };
        const wakeRows = [...wakes].map(([key, sorted]) => ({line: Number(key.split(" ")[0]), thread: Number(key.split(" ")[1]), sorted})).filter((row) => fits(row.line));
        const rows = lines.map((line) => ({line, count: counts.get(line) || 0, sorted: times.get(line) || new Float64Array(0)}));
        const wokenTimes = Float64Array.from([...woken.line.keys()].filter((i) => fits(woken.line[i])), (i) => woken.time[i]).sort();
        if (lines.length === 0) {
            return [doubtOf(scope, figures.known), make("p", {}, "No interrupt is in this interval. Were events of class INT recorded?")];
        }
        return [doubtOf(scope, figures.known), make("div", {class: "choices"}, chooser("line", "interrupt", chosen, [["", "all"], ...lines.map((line) => [line, lineName(line)])],
            (value) => { latency.line = value; again(); })),
        part("Handling", dataTable({id: "interrupt-table", sort: 1, rows, go: (row) => { latency.line = latency.line === String(row.line) ? "" : String(row.line); again(); }, columns: [
            {title: "interrupt", value: (row) => row.line, text: (row) => lineName(row.line)},
            {title: "count", number: true, value: (row) => row.count, text: (row) => boundText(row.count, scope)},
            {title: "timed", number: true, value: (row) => row.sorted.length}, timeColumn("in all", (row) => sum([...row.sorted])), ...distributionColumns]}),
        points("interrupt-points", "Interrupts over time: how long each was handled", handled, (i) => [`interrupt ${lineName(handled.line[i])} on CPU ${handled.cpu[i]}`,
            `at ${timeText(handled.from[i])} s`, `handled for ${durationText(handled.time[i])}`].join("\n"))),
        part("Until the thread ran", dataTable({id: "woken-table", sort: 2, rows: wakeRows, go: (row) => showRow(row.thread, scope.from, scope.to), columns: [
            {title: "interrupt", value: (row) => row.line, text: (row) => lineName(row.line)}, threadColumn("thread", (row) => row.thread),
            {title: "count", number: true, value: (row) => row.sorted.length}, ...distributionColumns]}),
        points("woken-points", "From an interrupt until its thread ran", woken, (i) => [`${threadText(woken.thread[i])} on CPU ${woken.cpu[i]}`,
            `interrupt ${lineName(woken.line[i])} at ${timeText(woken.from[i])} s`, `ran ${durationText(woken.time[i])} later`].join("\n")),
        wokenTimes.length ? distributionChart({id: "woken-distribution", label: "Distribution, from an interrupt until its thread ran", sorted: wokenTimes}) : null)];
    }});
