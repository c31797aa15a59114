/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker's part of conditions: what the event log shows, searches find and statistics count.
 * A condition is words that all hold, each perhaps with ! before it (docs/guide/report.md):
 *
 *   class=COMM  event=THRUN*  process=init  thread=4/1  cpu=0,1  FIELD=VALUE  FIELD>=10  text
 *
 * Proof: test/host/report/views.py, which evaluates conditions over `kymo print --json` in Python.
 */

const OWNERS = new Set(["class", "event", "process", "thread", "cpu"]);
let conditionTerms = null;

/* "a*b" anywhere in upper or lower case; commas separate alternatives. */
function patternTest(text) {
    const any = text.split(",").map((part) => new RegExp("^" +
        part.split("*").map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*") + "$", "i"));
    return (name) => any.some((one) => one.test(name));
}

function conditionWords(text) {
    const words = [];
    for (const [, not, name, op, quoted, plain, text1, text2] of text.matchAll(
        /(!?)(?:([A-Za-z_]\w*)(!=|<=|>=|=|<|>|~)(?:"([^"]*)"|(\S*))|"([^"]*)"|(\S+))/g)) {
        words.push(name === undefined ? {not: not === "!", text: text1 === undefined ? text2 : text1} :
            {not: not === "!", name, op, value: quoted === undefined ? plain : quoted});
    }
    return words;
}

function kindNames(kind) {
    return [kind.name === null ? String(kind.code) : kind.name, kind.class];
}

function threadNames(info) {
    return info === null ? [] : [`${info[0]}/${info[1]}`, ...info.slice(4).filter((name) => name !== null)];
}

/* A number of a condition, as BigInt; null: it is none. */
function numberOf(text) {
    return /^-?(0x[0-9a-f]+|\d+)$/i.test(text) ? text[0] === "-" ? -BigInt(text.slice(1)) : BigInt(text) : null;
}

function compares(op, a, b) {
    return op === "=" ? a === b : op === "!=" ? a !== b : op === "<" ? a < b : op === ">" ? a > b : op === "<=" ? a <= b : a >= b;
}

/* A test of one field: of its number, of what the number is called, or of its text. */
function fieldTest({name, op, value}) {
    const named = patternTest(value), part = value.toLowerCase();
    const numbers = value.split(",").map(numberOf), isNumber = numbers.every((number) => number !== null);
    return (field, is) => {
        if (typeof is === "string") {
            return op === "~" ? is.toLowerCase().includes(part) : op === "=" ? named(is) : op === "!=" ? !named(is) : compares(op, is, value);
        }
        const term = field[2] ? conditionTerms.get(`${field[2]} ${Number(is) >>> 0}`) : undefined;
        if (op === "~") {
            return term !== undefined && term.toLowerCase().includes(part);
        }
        if (isNumber) {
            const equal = numbers.some((number) => number === BigInt(is));
            return op === "=" ? equal : op === "!=" ? !equal : compares(op, BigInt(is), numbers[0]);
        }
        return term !== undefined && (op === "=" ? named(term) : op === "!=" && !named(term));
    };
}

/* Makes a condition ready: what holds of kinds and threads is found once. Throws for one that can't
 * hold of anything, naming the word. */
function conditionMake(text) {
    conditionTerms = conditionTerms || new Map(tables.terms.map(([m, n, t]) => [`${m} ${n}`, t]));
    const kinds = new Uint8Array(tables.kinds.length).fill(1), threads = new Uint8Array(tables.threads.length).fill(1);
    const cpus = new Uint8Array(256).fill(1), tests = [];
    const only = (mask, not, holds) => mask.forEach((was, i) => { mask[i] = was && holds(i) !== not ? 1 : 0; });
    for (const word of conditionWords(text)) {
        if (word.name === undefined) {
            const part = word.text.toLowerCase(), has = (name) => name.toLowerCase().includes(part);
            tests.push({not: word.not, kinds: tables.kinds.map((kind) => kindNames(kind).some(has)),
                threads: tables.threads.map((info) => threadNames(info).some(has)), has});
            continue;
        }
        if (!OWNERS.has(word.name)) {
            const fields = tables.kinds.map((kind) => kind.fields.findIndex(([field]) => field === word.name));
            if (fields.every((at) => at < 0)) {
                throw new Error(`no event has a value "${word.name}": class, event, process, thread, cpu and the names that the log shows are known`);
            }
            const test = fieldTest(word), numbers = word.value.split(",").map(numberOf);
            if (/[<>]/.test(word.op) && numbers.some((number) => number === null)) {
                throw new Error(`${word.name}${word.op} needs a number, not "${word.value}"`);
            }
            tests.push({not: word.not, fields, test});
            continue;
        }
        if (word.op !== "=" && word.op !== "!=") {
            throw new Error(`${word.name} is compared by = or !=, not ${word.op}`);
        }
        const not = word.not !== (word.op === "!="), fits = patternTest(word.value);
        if (word.name === "cpu") {
            only(cpus, not, (cpu) => fits(String(cpu)));
        } else if (word.name === "class" || word.name === "event") {
            only(kinds, not, (i) => fits(kindNames(tables.kinds[i])[word.name === "class" ? 1 : 0]));
        } else {
            only(threads, not, (i) => {
                const info = tables.threads[i];
                const names = info === null ? [] : word.name === "process" ? [String(info[0]), info[4]] : [`${info[0]}/${info[1]}`, info[5]];
                return names.some((name) => name !== null && fits(name));
            });
        }
    }
    return {kinds, threads, cpus, tests, needsValues: tests.length > 0};
}

function testsHold(condition, index, values) {
    const kind = events.kind[index];
    let fields = null;
    return condition.tests.every((test) => {
        let holds;
        if (test.has) {
            holds = test.kinds[kind] || test.threads[events.thread[index]];
            if (!holds && tables.kinds[kind].fields.some((field) => field[1] >= 4)) {
                fields = fields || values();
                holds = fields.some((value) => typeof value === "string" && test.has(value));
            }
        } else {
            const at = test.fields[kind];
            if (at < 0) {
                return test.not;
            }
            fields = fields || values();
            holds = test.test(tables.kinds[kind].fields[at], fields[at]);
        }
        return holds !== test.not;
    });
}

/* ---- scans ------------------------------------------------------------------------- */

const scanTurns = new Map();

/* Calls `take(index)` for each event of [from, to] of which a condition holds; `take` returns false
 * to end it. A newer scan of the same name ends an older one. */
async function scan(name, condition, from, to, take) {
    const turn = (scanTurns.get(name) || 0) + 1, end = lastAt(to);
    scanTurns.set(name, turn);
    let index = firstAt(from);
    while (index < end) {
        const block = blockOf(index), first = events.blocks[block];
        const last = Math.min(end, block + 1 < events.blocks.length ? events.blocks[block + 1] : events.time.length);
        const decoded = condition.needsValues ? await valuesOf(block) : null;
        const ranks = new Uint32Array(decoded ? tables.kinds.length : 0);
        for (let i = first; decoded && i < index; i++) {
            ranks[events.kind[i]]++;
        }
        for (; index < last; index++) {
            const kind = events.kind[index], rank = decoded ? ranks[kind]++ : 0;
            if (condition.kinds[kind] && condition.threads[events.thread[index]] && condition.cpus[events.cpu[index]] &&
                (!decoded || testsHold(condition, index, () => fieldsAt(decoded, kind, rank))) && take(index) === false) {
                return true;
            }
        }
        await new Promise((go) => setTimeout(go));
        if (scanTurns.get(name) !== turn) {
            throw new Error("superseded");
        }
    }
    return true;
}

/* The events of which a condition holds: their indexes. */
async function conditionEvents({text, from, to, sort}) {
    let indexes = new Uint32Array(1024);
    let count = 0;
    await scan("log", conditionMake(text), from, to, (index) => {
        if (count === indexes.length) {
            const more = new Uint32Array(2 * count);
            more.set(indexes);
            indexes = more;
        }
        indexes[count++] = index;
    });
    return {indexes: sortedBy(indexes.slice(0, count), sort)};
}

/* Events by CPU, thread, class or event, of equal ones the earlier first: a counting sort. */
function sortedBy(indexes, by) {
    const names = tables.kinds.map((kind) => kindNames(kind)[by === "class" ? 1 : 0]), order = [...new Set(names)].sort();
    const rank = names.map((name) => order.indexOf(name));
    const keyOf = {cpu: (i) => events.cpu[i], thread: (i) => events.thread[i], class: (i) => rank[events.kind[i]], event: (i) => rank[events.kind[i]]}[by];
    if (!keyOf) {
        return indexes;
    }
    const offset = offsetsOf(indexes.map(keyOf), Math.max(256, tables.threads.length, order.length)), sorted = new Uint32Array(indexes.length);
    for (const index of indexes) {
        sorted[offset[keyOf(index)]++] = index;
    }
    return sorted;
}

async function conditionRows({indexes}) {
    const rows = [];
    for (const index of indexes) {
        rows.push(await rowOf(index));
    }
    return {rows};
}

/* How often a condition held, and the times between: longest, shortest, mean; by CPU and owner. */
async function conditionCount({name, text, from, to}) {
    const byCpu = new Uint32Array(Math.max(1, tables.cpus)), byThread = new Map();
    const result = {count: 0, first: null, last: null, shortest: null, longest: null, longestAt: null, byCpu, owners: []};
    await scan(`count ${name}`, conditionMake(text), from, to, (index) => {
        const time = events.time[index], thread = events.thread[index];
        if (result.count++ === 0) {
            result.first = time;
        } else {
            const gap = time - result.last;
            result.shortest = result.shortest === null ? gap : Math.min(result.shortest, gap);
            if (result.longest === null || gap > result.longest) {
                result.longest = gap;
                result.longestAt = result.last;
            }
        }
        result.last = time;
        byCpu[Math.min(byCpu.length - 1, events.cpu[index])]++;
        byThread.set(thread, (byThread.get(thread) || 0) + 1);
    });
    result.owners = [...byThread].sort((a, b) => b[1] - a[1]).slice(0, 5);
    return result;
}

Object.assign(questions, {figures: accountFigures, usage: accountUsage, modes: accountModes, statistics: accountEvents,
    messages: accountMessages, interrupts: accountInterrupts, served: accountServed, moment: accountMoment, aggregations: accountAggregations,
    filter: conditionEvents, rows: conditionRows, count: conditionCount,
    check: ({text}) => { conditionMake(text); return {}; }});
