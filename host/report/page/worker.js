/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker, last part: loads the page's blocks and answers questions about events.
 */

let tables = null, events = null;
const valueBlocks = [], openBlocks = new Map();
const OPEN_MOST = 8; /* blocks of values that are kept decoded */

function transferables(object, list) {
    for (const value of Object.values(object)) {
        if (ArrayBuffer.isView(value)) {
            list.push(value.buffer);
        }
    }
    return list;
}

async function load(blocks) {
    const streams = {events: [], levels: [], states: [], causes: [], spans: [], arrows: []};
    const stretches = Object.fromEntries(Object.keys(ACCOUNT_STREAMS).map((name) => [name, []]));
    let done = 0;
    for (const block of blocks) {
        const deflated = block.deflated || textBytes(block.text, block.deflatedLength);
        block.text = null;
        if (block.stream === "values") {
            valueBlocks.push({deflated, length: block.length});
        } else {
            const bytes = await inflated(deflated, block.length);
            if (block.stream === "aggregations") {
                aggregationLines = decoder.decode(bytes).split("\n");
            } else if (block.stream === "tables") {
                tables = JSON.parse(decoder.decode(bytes));
            } else if (streams[block.stream] || stretches[block.stream]) {
                (streams[block.stream] || stretches[block.stream]).push({bytes, rows: block.rows});
            }
        }
        if (++done % 16 === 0) {
            postMessage({progress: done / blocks.length});
        }
    }
    if (!tables || tables.version !== 3) {
        throw new Error("the page's tables are missing or of another version");
    }
    const threads = tables.threads.length, cpus = tables.cpus;
    const idle = tables.threads.map((t) => t !== null && t[0] === 1 && t[1] <= cpus);
    if (streams.levels.length === 0) {
        tables.levels = null; /* a part of a capture whose whole has them */
    }
    events = buildEvents(streams.events, streams.events.reduce((sum, block) => sum + block.rows, 0));
    const rowsAt = tables.hasMarks ? events : null, built = (name) => buildStream(streams[name], STREAMS[name], rowsAt);
    const {states, running: runs} = buildStates(built("states"), built("causes"), threads, tables.ends || new Array(threads).fill(tables.last));
    const running = buildRunning(states, runs, cpus, idle);
    const spans = buildSpans(built("spans"), threads, cpus);
    const arrows = buildArrows(built("arrows"));
    const marks = buildMarks(events, tables.kinds, threads);
    const density = buildDensity(events.time, tables.first, tables.last, 2048);
    const levels = tables.levels ? [null, ...streams.levels.map((block) => block.bytes)] : null;
    const message = {loaded: {tables, idle, levels, states, running, spans, arrows, marks, density}};
    const list = [states, running, spans, arrows, marks].reduce((all, o) => transferables(o, all), []);
    accountLoad(stretches, rowsAt, tables.threads.map((t) => t !== null && t[0] === 1 && t[1] >= 1 && t[1] <= cpus));
    postMessage(message, list);
}

/* ---- questions --------------------------------------------------------------------- */

async function valuesOf(block) {
    if (!openBlocks.has(block)) {
        const {deflated, length} = valueBlocks[block];
        const first = events.blocks[block], end = block + 1 < events.blocks.length ? events.blocks[block + 1] : events.time.length;
        openBlocks.set(block, decodeValues(await inflated(deflated, length), tables.kinds, events, first, end));
        if (openBlocks.size > OPEN_MOST) {
            openBlocks.delete(openBlocks.keys().next().value);
        }
    }
    return openBlocks.get(block);
}

function blockOf(index) {
    let low = 0, high = events.blocks.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (events.blocks[middle] <= index) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* How many events of its kind an event has before it in its block. */
function rankOf(index, block) {
    const kind = events.kind[index];
    let rank = 0;
    for (let i = events.blocks[block]; i < index; i++) {
        rank += events.kind[i] === kind ? 1 : 0;
    }
    return rank;
}

/* An event's values, of the row `rank` of its kind: texts as strings, numbers as numbers, or BigInt
 * where they need it. */
function fieldsAt({heap, columns}, kind, rank) {
    const words = columns.get(kind), fields = [];
    let word = 0;
    for (const [, type, , bits] of tables.kinds[kind].fields) {
        const low = words[word++][rank];
        if (type >= 4) {
            fields.push(heapText(heap, low));
        } else if (bits === 64) {
            const value = BigInt(words[word++][rank]) << 32n | BigInt(low);
            fields.push(type === 1 ? BigInt.asIntN(64, value) : value);
        } else {
            fields.push(type === 1 ? low | 0 : low);
        }
    }
    return fields;
}

async function fieldsOf(index) {
    const block = blockOf(index), opened = await valuesOf(block);
    return fieldsAt(opened, events.kind[index], rankOf(index, block));
}

async function rowOf(index) {
    return {index, time: events.time[index], cpu: events.cpu[index], thread: events.thread[index],
        kind: events.kind[index], fields: await fieldsOf(index)};
}

/* The first event that is not before `time`. */
function firstAt(time) {
    let low = 0, high = events.time.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (events.time[middle] < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

function accepts(filter, index) {
    return (filter.thread === undefined || events.thread[index] === filter.thread) &&
        (filter.cpu === undefined || events.cpu[index] === filter.cpu) &&
        (!filter.kinds || filter.kinds[events.kind[index]]);
}

const SCAN_MOST = 4000000;

/* Events around a time, those of a thread or CPU: `before` and `after` of them. */
async function around({time, filter, before, after}) {
    const middle = firstAt(time), found = [];
    for (let i = middle - 1, left = before, scan = SCAN_MOST; i >= 0 && left > 0 && scan > 0; i--, scan--) {
        if (accepts(filter, i)) {
            found.unshift(i);
            left--;
        }
    }
    for (let i = middle, left = after, scan = SCAN_MOST; i < events.time.length && left > 0 && scan > 0; i++, scan--) {
        if (accepts(filter, i)) {
            found.push(i);
            left--;
        }
    }
    const rows = [];
    for (const index of found) {
        rows.push(await rowOf(index));
    }
    return {rows};
}

/* The next event whose kind, thread or values have the text, from `index` in a direction. */
async function search({text, index, step, kinds, threads}) {
    const wanted = text.toLowerCase();
    for (let i = index, n = 0; i >= 0 && i < events.time.length; i += step) {
        if (kinds[events.kind[i]] || threads[events.thread[i]]) {
            return {row: await rowOf(i)};
        }
        if (tables.kinds[events.kind[i]].fields.some((field) => field[1] >= 4)) {
            const fields = await fieldsOf(i);
            if (fields.some((field) => typeof field === "string" && field.toLowerCase().includes(wanted))) {
                return {row: await rowOf(i)};
            }
        }
        if (++n % 1000000 === 0) {
            await new Promise((go) => setTimeout(go));
        }
    }
    return {row: null};
}

const questions = {around, search, event: async ({index}) => ({row: await rowOf(index)}),
    first: async ({time}) => ({index: firstAt(time)})};

onmessage = async (message) => {
    const {id, what, blocks} = message.data;
    try {
        if (what === "load") {
            await load(blocks);
        } else {
            postMessage({id, answer: await questions[what](message.data)});
        }
    } catch (error) {
        postMessage({id, failed: String(error && error.message || error)});
    }
};
