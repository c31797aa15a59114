/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker, second part: what the streams hold, sorted by lane. A lane's rows stand together:
 * those of lane i from offset[i] to offset[i + 1].
 */

/* Offsets of lanes from how many rows each has. */
function offsetsOf(lane, count) {
    const offset = new Uint32Array(count + 1);
    for (let i = 0; i < lane.length; i++) {
        offset[lane[i] + 1]++;
    }
    for (let i = 0; i < count; i++) {
        offset[i + 1] += offset[i];
    }
    return offset;
}

function buildEvents(blocks, total) {
    const events = {
        time: new Float64Array(total), kind: new Uint16Array(total), cpu: new Uint8Array(total),
        thread: new Uint32Array(total), blocks: [],
    };
    let row = 0;
    for (const {bytes, rows} of blocks) {
        const cursor = new Cursor(bytes);
        events.blocks.push(row);
        const unit = cursor.varint();
        for (let i = 0, ns = 0; i < rows; i++) {
            ns += cursor.signed() * (i === 0 ? 1 : unit);
            events.time[row + i] = ns;
        }
        cursor.planes(events.cpu, row, rows, 1);
        const kind = new Uint16Array(rows), thread = new Uint32Array(rows), current = new Uint32Array(256);
        cursor.planes(kind, 0, rows, 2);
        cursor.planes(thread, 0, rows, 3);
        const next = offsetsOf(events.cpu.subarray(row, row + rows), 256);
        for (let i = row; i < row + rows; i++) { /* those two are sorted by CPU */
            const cpu = events.cpu[i], at = next[cpu]++;
            events.kind[i] = kind[at];
            events.thread[i] = current[cpu] ^= thread[at];
        }
        row += rows;
    }
    return events;
}

/* What a stream of docs/reference/report-data.md has: the planes of its columns, how their values
 * are guessed, and whether a row has a length. */
const STREAMS = {
    states: {planes: [3, 1, 1, 1], guess: "bkkk"}, causes: {planes: [3, 3, 2, 2], guess: null},
    spans: {planes: [3, 2, 1, 1], guess: "bkkk", lasts: true}, arrows: {planes: [3, 3, 1, 1], guess: "bekk", lasts: true},
};
const STREAM_KINDS = 1024;

/* A stream's blocks as arrays: when each row ends, how long it was, and its columns. marks: the
 * events to which rows refer, null: they have times of their own. */
function buildStream(blocks, {planes, guess, lasts}, marks) {
    const total = blocks.reduce((sum, block) => sum + block.rows, 0);
    const stream = {count: total, time: new Float64Array(total), duration: lasts ? new Float64Array(total) : null,
        columns: planes.map((n) => new [Uint8Array, Uint8Array, Uint16Array, Uint32Array, Uint32Array][n](total))};
    let row = 0;
    for (const {bytes, rows} of blocks) {
        const cursor = new Cursor(bytes);
        if (marks && guess) {
            buildMarked(stream, cursor, row, rows, {planes, guess}, marks);
            row += rows;
            continue;
        }
        for (let i = 0, ns = 0; i < rows; i++) {
            ns += cursor.signed();
            stream.time[row + i] = ns;
            if (lasts) {
                stream.duration[row + i] = cursor.varint();
            }
        }
        planes.forEach((count, i) => cursor.planes(stream.columns[i], row, rows, count));
        row += rows;
    }
    return stream;
}

/* A block whose rows begin and end at events, but for those that say otherwise; its columns have what
 * differs from a guess. */
function buildMarked({time, duration, columns}, cursor, row, rows, {planes, guess}, marks) {
    const NONE = -1, begins = new Int32Array(rows), ends = new Int32Array(rows);
    let last = 0, ns = 0;
    for (let i = 0; i < rows; i++) {
        const away = cursor.varint();
        if (away === 0) {
            ns += cursor.signed();
            ends[i] = NONE;
        } else {
            last += away % 2 ? (away - 1) / 2 : -away / 2;
            ns = marks.time[last];
            ends[i] = last;
        }
        begins[i] = ends[i];
        time[row + i] = ns;
        if (duration) {
            const back = cursor.varint();
            if (back === 0) {
                duration[row + i] = cursor.varint();
            } else {
                begins[i] = last - back + 1;
                duration[row + i] = ns - marks.time[begins[i]];
            }
        }
    }
    planes.forEach((count, column) => {
        const values = columns[column], how = guess[column], seen = new Uint32Array(STREAM_KINDS);
        cursor.planes(values, row, rows, count);
        for (let i = 0; i < rows; i++) {
            const mark = how === "e" ? ends[i] : begins[i];
            if (how === "k") {
                const kind = mark === NONE ? 0 : marks.kind[mark] % STREAM_KINDS;
                seen[kind] = values[row + i] ^= seen[kind];
            } else if (mark !== NONE) {
                values[row + i] ^= marks.thread[mark];
            }
        }
    });
}

/* The state of a thread lasts until its next one; the last one until ends[thread]. What began it
 * (`cause`, by whom), the thread that it waits for (`waits`), priority (-1: not recorded) and object
 * are as the model of `kymo why` has them. `ran` and `ready`: how long the thread has run and been
 * READY before. */
function buildStates(rows, causes, threads, ends) {
    const [lane, state, cpu, flags] = rows.columns, [by, waits, priority, object] = causes.columns;
    const time = rows.time, offset = offsetsOf(lane, threads), next = offset.slice(), n = time.length;
    const states = {
        offset, start: new Float64Array(n), state: new Uint8Array(n), cpu: new Uint8Array(n),
        ran: new Float64Array(n), ready: new Float64Array(n), flags: new Uint8Array(n), cause: new Uint8Array(n),
        by: new Uint32Array(n), waits: new Uint32Array(n), priority: new Int16Array(n), object: new Uint16Array(n),
        ends: Float64Array.from(ends),
    };
    const running = [];
    for (let i = 0; i < n; i++) {
        const at = next[lane[i]]++;
        states.start[at] = time[i];
        states.state[at] = state[i];
        states.cpu[at] = cpu[i];
        states.flags[at] = flags[i] & 15;
        states.cause[at] = flags[i] >> 4;
        states.by[at] = by[i];
        states.waits[at] = waits[i];
        states.priority[at] = priority[i] - 1;
        states.object[at] = object[i];
        if (at > offset[lane[i]]) {
            const was = states.state[at - 1], lasted = time[i] - states.start[at - 1];
            states.ran[at] = states.ran[at - 1] + (was === 1 ? lasted : 0);
            states.ready[at] = states.ready[at - 1] + (was === 2 ? lasted : 0);
        }
        if (state[i] === 1) {
            running.push(at);
        }
    }
    return {states, running};
}

/* What each CPU runs: rows of (start, thread), thread 0: not known; `state` is the row in states. */
function buildRunning(states, rows, cpus, idle) {
    const count = new Uint32Array(cpus), lane = new Uint32Array(states.start.length);
    for (let t = 0; t + 1 < states.offset.length; t++) {
        lane.fill(t, states.offset[t], states.offset[t + 1]);
    }
    const endOf = (at) => at + 1 < states.offset[lane[at] + 1] ? states.start[at + 1] : states.ends[lane[at]];
    const known = rows.filter((at) => states.cpu[at] < cpus);
    for (const at of known) {
        count[states.cpu[at]] += 2;
    }
    const most = count.reduce((sum, c) => sum + c, 0), offset = new Uint32Array(cpus + 1);
    const running = {offset, start: new Float64Array(most), thread: new Uint32Array(most),
        busy: new Float64Array(most), state: new Uint32Array(most)};
    const byCpu = Array.from({length: cpus}, () => []);
    for (const at of known) {
        byCpu[states.cpu[at]].push(at);
    }
    let n = 0;
    const put = (start, thread, state, busy) => {
        running.start[n] = start;
        running.thread[n] = thread;
        running.state[n] = state;
        running.busy[n++] = busy;
    };
    for (let c = 0; c < cpus; c++) {
        byCpu[c].forEach((at, i) => {
            const last = n - 1, was = i > 0 ? running.busy[last] : 0, next = byCpu[c][i + 1], end = endOf(at);
            const start = i > 0 ? Math.max(states.start[at], running.start[last]) : states.start[at];
            const ran = i > 0 && running.thread[last] !== 0 && !idle[running.thread[last]] ? start - running.start[last] : 0;
            put(start, lane[at], at, was + ran);
            if (next === undefined || states.start[next] > end) {
                put(end, 0, 0, was + ran + (idle[lane[at]] ? 0 : end - start));
            }
        });
        offset[c + 1] = n;
    }
    for (const name of ["start", "thread", "busy", "state"]) {
        running[name] = running[name].slice(0, n);
    }
    return running;
}

/* Arrows by the time at which they end. */
function buildArrows(stream) {
    const {time, duration} = stream, n = time.length, order = Uint32Array.from({length: n}, (_, i) => i);
    const [source, target, type] = stream.columns;
    order.sort((a, b) => time[a] - time[b] || a - b);
    return {to: Float64Array.from(order, (i) => time[i]), duration: Float64Array.from(order, (i) => duration[i]),
        source: Uint32Array.from(order, (i) => source[i]), target: Uint32Array.from(order, (i) => target[i]),
        type: Uint8Array.from(order, (i) => type[i])};
}

/* Spans by lane, sorted by where they begin; lanes of CPUs are after those of threads. */
function buildSpans(stream, threads, cpus) {
    const [lane, name, depth, type] = stream.columns, n = lane.length;
    const key = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
        key[i] = type[i] === 1 || type[i] === 3 ? threads + lane[i] : lane[i];
    }
    const offset = offsetsOf(key, threads + cpus), next = offset.slice(), order = new Uint32Array(n);
    for (let i = 0; i < n; i++) {
        order[next[key[i]]++] = i;
    }
    const startOf = (i) => stream.time[i] - stream.duration[i];
    const spans = {
        offset, start: new Float64Array(n), end: new Float64Array(n), name: new Uint16Array(n),
        depth: new Uint8Array(n), type: new Uint8Array(n), deepest: new Uint8Array(threads + cpus),
        longest: new Float64Array(threads + cpus),
    };
    for (let l = 0; l < threads + cpus; l++) {
        const part = order.subarray(offset[l], offset[l + 1]);
        let sorted = true;
        for (let i = 1; i < part.length && sorted; i++) {
            sorted = startOf(part[i - 1]) <= startOf(part[i]);
        }
        if (!sorted) {
            part.sort((a, b) => startOf(a) - startOf(b) || depth[a] - depth[b]);
        }
        for (let i = offset[l]; i < offset[l + 1]; i++) {
            const from = order[i];
            spans.start[i] = startOf(from);
            spans.end[i] = stream.time[from];
            spans.name[i] = name[from];
            spans.depth[i] = depth[from];
            spans.type[i] = type[from];
            spans.deepest[l] = Math.max(spans.deepest[l], depth[from] + 1);
            spans.longest[l] = Math.max(spans.longest[l], stream.duration[from]);
        }
    }
    return spans;
}

/* User events, D records and lines of logs, by thread: indexes of events. */
function buildMarks(events, kinds, threads) {
    const marked = kinds.map((kind) => kind.class === "USER" || kind.class === "USREVENT" ||
        kind.id === 12 || kind.name === "SLOG" || kind.name === "ADDRESS" || kind.name === "SIGNAL");
    const offset = new Uint32Array(threads + 1);
    for (let i = 0; i < events.kind.length; i++) {
        if (marked[events.kind[i]]) {
            offset[events.thread[i] + 1]++;
        }
    }
    for (let i = 0; i < threads; i++) {
        offset[i + 1] += offset[i];
    }
    const next = offset.slice(), n = offset[threads];
    const marks = {offset, time: new Float64Array(n), event: new Uint32Array(n), kind: new Uint16Array(n)};
    for (let i = 0; i < events.kind.length; i++) {
        if (marked[events.kind[i]]) {
            const at = next[events.thread[i]]++;
            marks.time[at] = events.time[i];
            marks.event[at] = i;
            marks.kind[at] = events.kind[i];
        }
    }
    return marks;
}

function buildDensity(time, first, last, bins) {
    const density = new Uint32Array(bins), scale = last > first ? (bins - 1) / (last - first) : 0;
    for (let i = 0; i < time.length; i++) {
        density[Math.max(0, Math.min(bins - 1, Math.floor((time[i] - first) * scale)))]++;
    }
    return density;
}
