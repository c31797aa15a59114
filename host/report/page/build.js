/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker, second part: what the streams hold, sorted by lane. A lane's rows stand together:
 * those of lane i from offset[i] to offset[i + 1].
 */

const UNKNOWN = 255, NO_THREAD = 0xffffffff;

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
        for (let i = 0, ns = 0; i < rows; i++) {
            ns += cursor.signed();
            events.time[row + i] = ns;
        }
        cursor.planes(events.kind, row, rows, 2);
        cursor.planes(events.cpu, row, rows, 1);
        cursor.planes(events.thread, row, rows, 3);
        row += rows;
    }
    return events;
}

/* A stream whose rows are a time, perhaps how long, and four columns. */
function buildStream(blocks, planes, lasts) {
    const total = blocks.reduce((sum, block) => sum + block.rows, 0);
    const stream = {time: new Float64Array(total), columns: planes.map(() => new Uint32Array(total))};
    if (lasts) {
        stream.duration = new Float64Array(total);
    }
    let row = 0;
    for (const {bytes, rows} of blocks) {
        const cursor = new Cursor(bytes);
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

/* A row of no thread says that nothing is known from then on: it becomes a row of each thread that
 * has had one. */
function spreadLosses(stream, threads) {
    const [thread, state] = stream.columns, seen = new Uint8Array(threads);
    const time = [], lane = [], to = [], on = [];
    const put = (t, l, s, c) => { time.push(t); lane.push(l); to.push(s); on.push(c); };
    let losses = 0;
    for (let i = 0; i < thread.length; i++) {
        losses += thread[i] === 0 ? 1 : 0;
    }
    if (losses === 0) {
        return {time: stream.time, lane: thread, state, cpu: stream.columns[2]};
    }
    for (let i = 0; i < thread.length; i++) {
        if (thread[i] !== 0) {
            seen[thread[i]] = state[i] === 0 ? 0 : 1;
            put(stream.time[i], thread[i], state[i], stream.columns[2][i]);
            continue;
        }
        for (let t = 1; t < threads; t++) {
            if (seen[t] === 1) {
                seen[t] = 2;
                put(stream.time[i], t, UNKNOWN, 255);
            }
        }
    }
    return {time: Float64Array.from(time), lane: Uint32Array.from(lane),
        state: Uint32Array.from(to), cpu: Uint32Array.from(on)};
}

/* States by thread, with how long a thread has run and been READY before each. */
function buildStates(rows, threads, end) {
    const {time, lane, state, cpu} = rows, offset = offsetsOf(lane, threads);
    const next = offset.slice(), n = time.length;
    const states = {
        offset, start: new Float64Array(n), state: new Uint8Array(n), cpu: new Uint8Array(n),
        ran: new Float64Array(n), ready: new Float64Array(n),
    };
    for (let i = 0; i < n; i++) {
        const at = next[lane[i]]++;
        const start = at > offset[lane[i]] ? Math.max(time[i], states.start[at - 1]) : time[i];
        states.start[at] = start;
        states.state[at] = state[i];
        states.cpu[at] = cpu[i];
        if (at > offset[lane[i]]) {
            const was = states.state[at - 1], lasted = start - states.start[at - 1];
            states.ran[at] = states.ran[at - 1] + (was === 1 ? lasted : 0);
            states.ready[at] = states.ready[at - 1] + (was === 2 ? lasted : 0);
        }
    }
    states.end = end;
    return states;
}

/* What each CPU runs: rows of (start, thread), thread 0: not known. */
function buildRunning(rows, cpus, losses, idle) {
    const {time, lane, state, cpu} = rows, on = new Uint32Array(cpus);
    const start = Array.from({length: cpus}, () => []), thread = Array.from({length: cpus}, () => []);
    const put = (c, t, who) => {
        if (on[c] !== who) {
            const last = start[c].length - 1;
            start[c].push(last >= 0 ? Math.max(t, start[c][last]) : t);
            thread[c].push(who);
            on[c] = who;
        }
    };
    const runs = new Uint8Array(idle.length).fill(255);
    for (let i = 0; i < time.length; i++) {
        const who = lane[i], was = runs[who];
        if (state[i] === 1 && cpu[i] < cpus) {
            if (was !== 255 && was !== cpu[i] && on[was] === who) {
                put(was, time[i], 0);
            }
            put(cpu[i], time[i], who);
            runs[who] = cpu[i];
        } else if (was !== 255 && state[i] === UNKNOWN) {
            if (on[was] === who) {
                put(was, time[i], 0);
            }
            runs[who] = 255;
        }
    }
    const total = start.reduce((sum, list) => sum + list.length, 0), offset = new Uint32Array(cpus + 1);
    const running = {offset, start: new Float64Array(total), thread: new Uint32Array(total),
        busy: new Float64Array(total)};
    for (let c = 0, at = 0; c < cpus; c++) {
        for (let i = 0; i < start[c].length; i++, at++) {
            running.start[at] = start[c][i];
            running.thread[at] = thread[c][i];
            if (i > 0) {
                const was = thread[c][i - 1];
                running.busy[at] = running.busy[at - 1] +
                    (was !== 0 && !idle[was] ? start[c][i] - start[c][i - 1] : 0);
            }
        }
        offset[c + 1] = at;
    }
    return running;
}

/* Spans by lane, sorted by where they begin; lanes of CPUs are behind those of threads. */
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
