/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the page asks of the capture's columns: which state when, how much of a stretch ran, what
 * is not covered. All searches are binary; nothing here touches the document.
 */

/* The last row of [from, to) that is not after `time`; from - 1: there is none. */
function rowAt(start, from, to, time) {
    let low = from - 1, high = to - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (start[middle] <= time) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* How long a thread has run (or been READY) up to a time; `at` is the row of that time. */
function spentUntil(sums, states, from, at, time, state) {
    if (at < from) {
        return 0;
    }
    return sums[at] + (states.state[at] === state ? time - states.start[at] : 0);
}

function busyUntil(running, idle, from, at, time) {
    if (at < from) {
        return 0;
    }
    const who = running.thread[at];
    return running.busy[at] + (who !== 0 && !idle[who] ? time - running.start[at] : 0);
}

/* Stretches of a CPU, or of any (cpu -1), that are not covered: [from, to] sorted, merged. */
function uncoveredOf(tables, cpu) {
    const gaps = [], begin = tables.first, end = tables.last;
    if (tables.isKymo) {
        tables.covered.forEach((spans, index) => {
            if (cpu >= 0 && cpu !== index) {
                return;
            }
            let at = begin;
            for (const [from, to] of spans) {
                if (from > at) {
                    gaps.push([at, from]);
                }
                at = Math.max(at, to);
            }
            if (at < end) {
                gaps.push([at, end]);
            }
        });
    }
    for (const loss of tables.losses) {
        if (!loss.scope && (cpu < 0 || loss.cpu < 0 || loss.cpu === cpu)) {
            const from = loss.from === null ? begin : Math.max(begin, loss.from);
            gaps.push([from, Math.max(from, loss.to === null ? end : Math.min(end, loss.to))]);
        }
    }
    gaps.sort((a, b) => a[0] - b[0]);
    const merged = [];
    for (const gap of gaps) {
        const last = merged[merged.length - 1];
        if (last && gap[0] <= last[1]) {
            last[1] = Math.max(last[1], gap[1]);
        } else {
            merged.push([...gap]);
        }
    }
    return merged;
}

/* The losses that touch a time. */
function lossesAt(tables, time, cpu) {
    return tables.losses.filter((loss) => !loss.scope && (loss.from === null || loss.from <= time) &&
        (loss.to === null || loss.to >= time) && (cpu < 0 || loss.cpu < 0 || loss.cpu === cpu));
}

/* ---- levels of detail: of a page without events ------------------------------------ */

const LEVEL_RUN = 0, LEVEL_READY = 1, LEVEL_UNKNOWN = 2, LEVEL_STATE = 3;

/* Shares of a stretch of time (of 1) in which a lane ran, was READY, was not known, and another state
 * of it; lanes are threads, then CPUs. What is only partly in a stretch counts by its part. */
function levelShares(loaded, lane, from, to) {
    const {bins, width, from: begin} = loaded.tables.levels, cells = loaded.levels[lane], sums = [0, 0, 0, 0];
    const first = Math.max(0, Math.floor((from - begin) / width)), last = Math.min(bins - 1, Math.floor((to - begin) / width));
    for (let bin = first; bin <= last; bin++) {
        const part = Math.min(to, begin + (bin + 1) * width) - Math.max(from, begin + bin * width);
        for (let plane = 0; plane < LEVEL_STATE; plane++) {
            sums[plane] += cells[plane * bins + bin] / 255 * part / (to - from);
        }
        sums[LEVEL_STATE] = sums[LEVEL_STATE] || cells[LEVEL_STATE * bins + bin];
    }
    return sums;
}

/* How much all CPUs ran in each stretch, for the overview. */
function levelLoad(loaded) {
    const {tables, levels} = loaded, load = new Uint32Array(tables.levels.bins);
    for (let cpu = 0; cpu < tables.cpus; cpu++) {
        const cells = levels[tables.threads.length + cpu];
        load.forEach((_, bin) => { load[bin] += cells[bin]; });
    }
    return load;
}

/* The states that are drawn. */
function levelStates(loaded) {
    const {bins} = loaded.tables.levels, found = new Set([STATE_RUNNING, STATE_READY]);
    for (const cells of loaded.levels.slice(1)) {
        cells.subarray(LEVEL_STATE * bins).forEach((state) => found.add(state));
        if (cells.subarray(LEVEL_UNKNOWN * bins, LEVEL_STATE * bins).some((share) => share > 0)) {
            found.add(STATE_UNKNOWN);
        }
    }
    return found;
}

function levelLane(row) {
    return row.type === "cpu" ? report.loaded.tables.threads.length + row.cpu : row.thread;
}

/* ---- rows of the picture ----------------------------------------------------------- */

const ROW = {cpu: 26, interrupts: 12, process: 22, thread: 20, nested: 13};

/* The rows from top to bottom: CPUs, then processes with their threads. */
function layoutRows(loaded, closed) {
    const {tables, spans, states, marks} = loaded, rows = [], threads = tables.threads.length;
    let y = 0;
    const put = (row) => {
        rows.push({...row, y});
        y += row.height;
    };
    for (let cpu = 0; cpu < tables.cpus; cpu++) {
        const nested = loaded.levels ? 0 : spans.deepest[threads + cpu];
        put({type: "cpu", cpu, key: `cpu${cpu}`, height: ROW.cpu + (nested ? Math.min(nested, 4) * ROW.interrupts : 0),
            gaps: uncoveredOf(tables, cpu), lane: threads + cpu});
    }
    const groups = new Map(), named = new Map();
    tables.threads.forEach((info, thread) => {
        const has = info && (loaded.levels || states.offset[thread + 1] > states.offset[thread] ||
            marks.offset[thread + 1] > marks.offset[thread]);
        const key = info ? `${info[0]} ${info[4]}` : "";
        if (!named.has(key)) {
            named.set(key, thread); /* the same whichever threads a part has */
        }
        if (has) {
            groups.set(key, [...(groups.get(key) || []), thread]);
        }
    });
    const gaps = uncoveredOf(tables, -1);
    const order = (members) => (members.every((t) => loaded.idle[t]) ? 1e12 : 0) + tables.threads[members[0]][0];
    for (const members of [...groups.values()].sort((a, b) => order(a) - order(b))) {
        const {[members[0]]: info} = tables.threads, key = `p${named.get(`${info[0]} ${info[4]}`)}`;
        put({type: "process", key, thread: members[0], members, height: ROW.process, gaps: []});
        if (!closed.has(key)) {
            for (const thread of members) {
                const nested = Math.min(spans.deepest[thread], 6);
                put({type: "thread", key: `t${thread}`, thread, lane: thread,
                    height: ROW.thread + nested * ROW.nested + 4, gaps});
            }
        }
    }
    return {rows, height: y};
}
