/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's part of the views: the stretches of kymo stat's account (host/report/usage.c,
 * docs/reference/report-data.md), and their sums over any interval. A figure over a whole capture
 * is that of `kymo stat`. All scans are linear; what a view shows is bounded. Proof:
 * test/host/report/views.py.
 */

const ACCOUNT_STREAMS = {
    known: {planes: [], guess: null, lasts: true}, ran: {planes: [3, 1], guess: "bk", lasts: true},
    moves: {planes: [3, 1, 1], guess: "bkk"}, waited: {planes: [3, 1], guess: "bk", lasts: true},
    woken: {planes: [3, 2, 1], guess: "ekk", lasts: true}, messages: {planes: [3, 4, 1, 3], guess: "bkkk", lasts: true},
    served: {planes: [3, 3], guess: "bk", lasts: true}, interrupts: {planes: [2, 1, 1, 1], guess: "kkkk", lasts: true},
};
const MESSAGE_SENT = 0, MESSAGE_RECEIVED = 1, MESSAGE_ERROR = 3, INTERRUPT_HANDLED = 1, NO_CPU = 255;
const STATES = 64, RUNNING = 1, STATE_NOT_KNOWN = 255;

const account = {};
let idleThreads = [], aggregationLines = [];

/* Of each stream when its stretches end, how long they were, and their columns. */
function accountLoad(blocks, marks, idle) {
    for (const [name, shape] of Object.entries(ACCOUNT_STREAMS)) {
        const {count, time, duration, columns} = buildStream(blocks[name], shape, marks);
        account[name] = {count, to: time, length: duration, columns};
    }
    idleThreads = idle;
}

/* ---- the time that is known -------------------------------------------------------- */

/* How much of [from, to] all CPUs are covered. */
function knownWithin(from, to) {
    const {to: ends, length, count} = account.known;
    let low = 0, high = count;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (ends[middle] <= from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let sum = 0;
    for (let i = low; i < count && ends[i] - length[i] < to; i++) {
        sum += Math.min(to, ends[i]) - Math.max(from, ends[i] - length[i]);
    }
    return sum;
}

/* Calls `take(row, from, to)` for what of each stretch is within. */
function eachWithin(stream, from, to, take) {
    for (let i = 0; i < stream.count; i++) {
        const end = Math.min(stream.to[i], to), begin = Math.max(stream.to[i] - stream.length[i], from);
        if (begin < end) {
            take(i, begin, end);
        }
    }
}

function* momentsWithin(stream, from, to) {
    for (let i = 0; i < stream.count; i++) {
        if (stream.to[i] >= from && stream.to[i] <= to) {
            yield i;
        }
    }
}

/* ---- questions --------------------------------------------------------------------- */

/* What kymo stat says of CPUs and threads, of [from, to]. */
function accountFigures({from, to}) {
    const threads = tables.threads.length, cpus = tables.cpus;
    const figures = {known: knownWithin(from, to), busy: new Float64Array(cpus), idle: new Float64Array(cpus),
        unknown: new Float64Array(cpus), interrupt: new Float64Array(cpus), states: new Float64Array(threads * STATES),
        onCpu: new Float64Array(threads * cpus), runs: new Uint32Array(threads), migrations: new Uint32Array(threads),
        imposed: new Float64Array(threads), moved: new Uint32Array(cpus * cpus)};
    const {ran, waited, moves, served, interrupts} = account;
    eachWithin(ran, from, to, (i, begin, end) => {
        const thread = ran.columns[0][i], cpu = ran.columns[1][i], idle = idleThreads[thread];
        if (cpu >= cpus) {
            return;
        }
        figures[thread === 0 ? "unknown" : idle ? "idle" : "busy"][cpu] += end - begin;
        const counted = thread === 0 ? 0 : idle ? end - begin : knownWithin(begin, end);
        figures.states[thread * STATES + RUNNING] += counted;
        figures.onCpu[thread * cpus + cpu] += counted;
    });
    eachWithin(waited, from, to, (i, begin, end) => {
        figures.states[waited.columns[0][i] * STATES + waited.columns[1][i] % STATES] += end - begin;
    });
    for (const i of momentsWithin(moves, from, to)) {
        const [thread, was, cpu] = moves.columns.map((column) => column[i]);
        figures.runs[thread]++;
        if (was !== NO_CPU && was !== cpu) {
            figures.migrations[thread]++;
            if (was < cpus && cpu < cpus && !idleThreads[thread]) {
                figures.moved[was * cpus + cpu]++;
            }
        }
    }
    eachWithin(served, from, to, (i, begin, end) => {
        figures.imposed[served.columns[0][i]] += end - begin;
    });
    eachWithin(interrupts, from, to, (i, begin, end) => {
        const [, cpu, depth, what] = interrupts.columns.map((column) => column[i]);
        if (what === INTERRUPT_HANDLED && depth === 0 && cpu < cpus) {
            figures.interrupt[cpu] += end - begin;
        }
    });
    return figures;
}

/* Adds what of a stretch is in each of the bins of [from, to]. */
function spread(bins, at, from, step, begin, end) {
    const last = Math.min(bins - 1, Math.floor((end - from) / step));
    for (let bin = Math.max(0, Math.floor((begin - from) / step)); bin <= last; bin++) {
        const low = from + bin * step;
        at(bin, Math.min(end, low + step) - Math.max(begin, low));
    }
}

/* CPU time over time: `group[thread]` says into which of `groups` series a thread's goes, -1: into
 * none. With `cpu` of one CPU. */
function accountUsage({from, to, bins, group, groups, cpu}) {
    const {ran, interrupts, moves} = account, step = (to - from) / bins;
    const series = Array.from({length: groups}, () => new Float64Array(bins));
    const unknown = new Float64Array(bins), interrupt = new Float64Array(bins), migrations = new Float64Array(bins);
    const covered = new Float64Array(bins);
    eachWithin(ran, from, to, (i, begin, end) => {
        const thread = ran.columns[0][i], on = ran.columns[1][i];
        if (cpu >= 0 && on !== cpu) {
            return;
        }
        const into = thread === 0 ? unknown : group[thread] >= 0 ? series[group[thread]] : null;
        spread(bins, (bin, time) => {
            covered[bin] += time;
            if (into) {
                into[bin] += time;
            }
        }, from, step, begin, end);
    });
    eachWithin(interrupts, from, to, (i, begin, end) => {
        if (interrupts.columns[3][i] === INTERRUPT_HANDLED && interrupts.columns[2][i] === 0 &&
            (cpu < 0 || interrupts.columns[1][i] === cpu)) {
            spread(bins, (bin, time) => { interrupt[bin] += time; }, from, step, begin, end);
        }
    });
    for (const i of momentsWithin(moves, from, to)) {
        const [thread, was, on] = moves.columns.map((column) => column[i]);
        if (was !== NO_CPU && was !== on && !idleThreads[thread] && (cpu < 0 || on === cpu)) {
            migrations[Math.max(0, Math.min(bins - 1, Math.floor((moves.to[i] - from) / step)))]++;
        }
    }
    return {series, unknown, interrupt, migrations, covered};
}

/* Events of [from, to] by class and bin, by kind and CPU, by thread and class. */
function accountEvents({from, to, bins}) {
    const kinds = tables.kinds.length, cpus = Math.max(1, tables.cpus), threads = tables.threads.length;
    const names = [...new Set(tables.kinds.map((kind) => kind.class))];
    const classOf = Uint8Array.from(tables.kinds, (kind) => names.indexOf(kind.class));
    const density = names.map(() => new Uint32Array(bins)), byKind = new Uint32Array(kinds * cpus);
    const byThread = new Uint32Array(threads * names.length), step = (to - from) / bins;
    const firsts = new Float64Array(kinds).fill(NaN), lasts = new Float64Array(kinds).fill(NaN);
    const end = lastAt(to);
    let total = 0;
    for (let i = firstAt(from); i < end; i++) {
        const kind = events.kind[i], time = events.time[i];
        total++;
        byKind[kind * cpus + Math.min(cpus - 1, events.cpu[i])]++;
        byThread[events.thread[i] * names.length + classOf[kind]]++;
        density[classOf[kind]][Math.max(0, Math.min(bins - 1, Math.floor((time - from) / step)))]++;
        if (!(firsts[kind] <= time)) {
            firsts[kind] = time;
        }
        lasts[kind] = time;
    }
    return {total, names, density, byKind, byThread, firsts, lasts};
}

/* After the last event that is not after `time`. */
function lastAt(time) {
    let low = 0, high = events.time.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (events.time[middle] <= time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The messages that were replied to in [from, to]; how many were sent, and received, by pair of
 * processes: clients by their thread, servers by pid. */
function accountMessages({from, to}) {
    const {messages} = account, [client, server, what, thread] = messages.columns;
    const sent = new Map(), rows = [], waits = [], waiting = new Float64Array(tables.threads.length).fill(-1);
    const key = (i) => `${pidOf(client[i])} ${server[i]}`;
    for (let i = 0; i < messages.count; i++) {
        const inside = messages.to[i] >= from && messages.to[i] <= to;
        if (what[i] === MESSAGE_SENT) {
            waiting[client[i]] = -1;
            if (inside) {
                sent.set(key(i), (sent.get(key(i)) || 0) + 1);
            }
        } else if (what[i] === MESSAGE_RECEIVED) {
            waiting[client[i]] = messages.length[i];
            if (inside) {
                waits.push(i);
            }
        } else {
            if (inside) {
                rows.push([i, waiting[client[i]]]);
            }
            waiting[client[i]] = -1;
        }
    }
    const pick = (make, list, value) => make.from(list, value);
    return {sent: [...sent], replied: {
        sent: pick(Float64Array, rows, ([i]) => messages.to[i] - messages.length[i]),
        latency: pick(Float64Array, rows, ([i]) => messages.length[i]), wait: pick(Float64Array, rows, ([, wait]) => wait),
        client: pick(Uint32Array, rows, ([i]) => client[i]), server: pick(Uint32Array, rows, ([i]) => server[i]),
        thread: pick(Uint32Array, rows, ([i]) => thread[i]), error: pick(Uint8Array, rows, ([i]) => what[i] === MESSAGE_ERROR)},
    received: {sent: pick(Float64Array, waits, (i) => messages.to[i] - messages.length[i]),
        wait: pick(Float64Array, waits, (i) => messages.length[i]), client: pick(Uint32Array, waits, (i) => client[i]),
        server: pick(Uint32Array, waits, (i) => server[i])}};
}

function pidOf(thread) {
    return tables.threads[thread] ? tables.threads[thread][0] : 0;
}

/* The interrupts that ended in [from, to], and the threads that ran then as one had woken them. */
function accountInterrupts({from, to}) {
    const {interrupts, woken} = account, handled = [], entered = new Map();
    for (const i of momentsWithin(interrupts, from, to)) {
        if (interrupts.columns[3][i] === INTERRUPT_HANDLED) {
            handled.push(i);
        } else {
            const line = interrupts.columns[0][i];
            entered.set(line, (entered.get(line) || 0) + 1);
        }
    }
    const wakes = [...momentsWithin(woken, from, to)];
    const picked = (stream, list, names) => ({
        from: Float64Array.from(list, (i) => stream.to[i] - stream.length[i]), time: Float64Array.from(list, (i) => stream.length[i]),
        ...Object.fromEntries(names.map((name, n) => [name, Uint32Array.from(list, (i) => stream.columns[n][i])]))});
    return {entered: [...entered], handled: picked(interrupts, handled, ["line", "cpu", "depth"]),
        woken: picked(woken, wakes, ["thread", "line", "cpu"])};
}

/* How long each server's process ran for each client. */
function accountServed({from, to}) {
    const {served} = account, sums = new Map();
    eachWithin(served, from, to, (i, begin, end) => {
        const key = `${served.columns[0][i]} ${pidOf(served.columns[1][i])}`;
        sums.set(key, (sums.get(key) || 0) + end - begin);
    });
    return {rows: [...sums].map(([key, time]) => [...key.split(" ").map(Number), time])};
}

/* What each thread is in at a time: [state, since, until, CPU]; state 255: not known. */
function accountMoment({time}) {
    const {ran, waited} = account, threads = tables.threads.length;
    const state = new Uint8Array(threads).fill(STATE_NOT_KNOWN), since = new Float64Array(threads);
    const until = new Float64Array(threads), cpu = new Uint8Array(threads).fill(NO_CPU);
    const take = (stream, stateOf, cpuOf) => {
        for (let i = 0; i < stream.count; i++) {
            const end = stream.to[i], begin = end - stream.length[i], thread = stream.columns[0][i];
            if (thread !== 0 && begin <= time && (time < end || (time === end && end === tables.last))) {
                state[thread] = stateOf(i);
                since[thread] = begin;
                until[thread] = end;
                cpu[thread] = cpuOf(i);
            }
        }
    };
    take(waited, (i) => waited.columns[1][i], () => NO_CPU);
    take(ran, () => RUNNING, (i) => ran.columns[1][i]);
    return {state, since, until, cpu, known: knownWithin(time, time + 1) > 0 || knownWithin(time - 1, time) > 0};
}

/* What D programs aggregated; a line that is none is not one of the capture's. */
function accountAggregations() {
    return {list: aggregationLines.flatMap((line) => {
        try {
            const one = JSON.parse(line);
            return Array.isArray(one.rows) ? [one] : [];
        } catch {
            return [];
        }
    })};
}

/* ---- time in the kernel ------------------------------------------------------------ */

let callsOf = null, handledOf = null;

/* The kernel calls of each thread whose entry and exit are both known, by time. */
function callsFind() {
    const threads = tables.threads.length, open = new Float64Array(threads).fill(NaN);
    const kind = tables.kinds.map((info) => info.id !== 2 && info.id !== 13 ? 0 : (info.number & 511) < 128 ? 1 : (info.number & 511) < 256 ? 2 : 0);
    const from = [], to = [], who = [];
    for (let i = 0; i < events.kind.length; i++) {
        const what = kind[events.kind[i]], thread = events.thread[i];
        if (what === 0 || thread === 0) {
            continue;
        }
        if (what === 1) {
            open[thread] = events.time[i];
        } else if (open[thread] <= events.time[i]) {
            const begin = open[thread], end = events.time[i];
            if (knownWithin(begin, end) === end - begin) {
                from.push(begin);
                to.push(end);
                who.push(thread);
            }
            open[thread] = NaN;
        }
    }
    const offset = offsetsOf(Uint32Array.from(who), threads), next = offset.slice();
    const calls = {offset, from: new Float64Array(from.length), to: new Float64Array(from.length)};
    for (let i = 0; i < from.length; i++) {
        const at = next[who[i]]++;
        calls.from[at] = from[i];
        calls.to[at] = to[i];
    }
    return calls;
}

/* The interrupts of each CPU that interrupted no other one, with their time up to each. */
function handledFind() {
    const {interrupts} = account, perCpu = Array.from({length: tables.cpus}, () => ({from: [], to: [], before: []}));
    for (let i = 0; i < interrupts.count; i++) {
        const [, cpu, depth, what] = interrupts.columns.map((column) => column[i]);
        if (what === INTERRUPT_HANDLED && depth === 0 && cpu < tables.cpus) {
            const list = perCpu[cpu], last = list.to.length - 1;
            list.before.push(last < 0 ? 0 : list.before[last] + list.to[last] - list.from[last]);
            list.from.push(interrupts.to[i] - interrupts.length[i]);
            list.to.push(interrupts.to[i]);
        }
    }
    return perCpu;
}

function handledUntil({from, to, before}, time) {
    let low = -1, high = from.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (from[middle] <= time) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low < 0 ? 0 : before[low] + Math.min(to[low], time) - from[low];
}

/*
 * Where the time of each CPU went in [from, to]: idle, in programs, in kernel calls, in interrupts,
 * not known. An interrupt's time is its own, not that of what it interrupted. `calls`: the capture
 * has kernel calls.
 */
function accountModes({from, to}) {
    callsOf = callsOf || callsFind();
    handledOf = handledOf || handledFind();
    const {ran} = account, cpus = tables.cpus, threads = tables.threads.length;
    const modes = {idle: new Float64Array(cpus), user: new Float64Array(cpus), system: new Float64Array(cpus),
        interrupt: new Float64Array(cpus), unknown: new Float64Array(cpus), byThread: new Float64Array(threads),
        calls: callsOf.from.length > 0};
    eachWithin(ran, from, to, (i, begin, end) => {
        const thread = ran.columns[0][i], cpu = ran.columns[1][i];
        if (cpu >= cpus) {
            return;
        }
        const handled = (a, b) => handledUntil(handledOf[cpu], b) - handledUntil(handledOf[cpu], a);
        const interrupted = handled(begin, end);
        modes.interrupt[cpu] += interrupted;
        if (thread === 0) {
            modes.unknown[cpu] += end - begin - interrupted;
            return;
        }
        if (idleThreads[thread]) {
            modes.idle[cpu] += end - begin - interrupted;
            return;
        }
        let low = callsOf.offset[thread], high = callsOf.offset[thread + 1], system = 0;
        const last = high;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (callsOf.to[middle] <= begin) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        for (; low < last && callsOf.from[low] < end; low++) {
            const a = Math.max(begin, callsOf.from[low]), b = Math.min(end, callsOf.to[low]);
            system += b - a - handled(a, b);
        }
        modes.system[cpu] += system;
        modes.user[cpu] += end - begin - interrupted - system;
        modes.byThread[thread] += system;
    });
    return modes;
}
