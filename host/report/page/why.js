/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a thread was not done earlier: the walk of host/why/path.c and ran.c over the page's columns,
 * which have whom each state waits for from there. test/host/report/why.py compares the answers with
 * those of `kymo why`. Nothing here touches the document.
 */

const WHY = {depth: 32, ran: 8, ranMost: 256, chain: 16, parts: 100000, inversions: 16};
const STATE_DEAD = 0, STATE_STOPPED = 3, STATE_SEND = 4, STATE_REPLY = 6, STATE_MUTEX = 13, STATE_CONDVAR = 14,
    STATE_SEM = 17;
const CAUSE_THREAD = 2, CAUSE_INTERRUPT = 3, CAUSE_PREEMPTED = 4, FLAG_TO = 2;

/* When row `at` of the states ends; it is `thread`'s. */
function stateEnd(thread, at) {
    const {states} = report.loaded;
    return at + 1 < states.offset[thread + 1] ? states.start[at + 1] : states.ends[thread];
}

/* The thread's first row that ends after a time; the end of its rows: none does. */
function stateBehind(thread, time) {
    const {states} = report.loaded, from = states.offset[thread], to = states.offset[thread + 1];
    const at = Math.max(from, rowAt(states.start, from, to, time));
    return at < to && stateEnd(thread, at) <= time ? at + 1 : at;
}

/* Who ran on the CPUs, the longest first, idle CPUs last; thread 0: nobody knows who. */
function whyRan(thread, from, to) {
    const {running, states, tables, idle} = report.loaded, all = [];
    const add = (who, priority, ns) => {
        const old = all.find((one) => one.thread === who && one.priority === priority);
        if (old) {
            old.ns += ns;
        } else if (all.length < WHY.ranMost) {
            all.push({thread: who, priority, ns});
        }
    };
    for (let cpu = 0; cpu < tables.cpus; cpu++) {
        const first = running.offset[cpu], last = running.offset[cpu + 1];
        let done = from;
        for (let i = Math.max(first, rowAt(running.start, first, last, from)); i < last && done < to; i++) {
            const start = running.start[i], end = i + 1 < last ? running.start[i + 1] : start;
            if (start >= to) {
                break;
            }
            if (running.thread[i] === 0 || end <= from) {
                continue;
            }
            const begin = Math.max(start, from), until = Math.min(end, to);
            if (begin > done) {
                add(0, -1, begin - done);
            }
            if (until > begin && running.thread[i] !== thread) {
                add(running.thread[i], states.priority[running.state[i]], until - begin);
            }
            done = Math.max(done, until);
        }
        if (done < to) {
            add(0, -1, to - done);
        }
    }
    all.sort((a, b) => !!idle[a.thread] - !!idle[b.thread] || b.ns - a.ns || (a.thread || Infinity) - (b.thread || Infinity));
    return all.slice(0, WHY.ran);
}

function isWait(state) {
    return state > STATE_STOPPED && state !== STATE_UNKNOWN;
}

/* The holder of a part is READY while each of `waiting` waits for the next one: was it preempted by
 * a thread of lower priority than a waiting one's? */
function whyInversions(why, part, waiting) {
    const {states, idle} = report.loaded, own = states.priority[part.at];
    if (part.depth === 0 || own < 0) {
        return;
    }
    const ran = whyRan(part.thread, part.from, part.to);
    for (const {thread: victim, at} of waiting) {
        const priority = states.priority[at], state = states.state[at];
        for (const one of ran) {
            if (one.thread === 0 || idle[one.thread] || one.priority < 0 || priority <= one.priority ||
                one.priority < own || own >= priority) {
                continue;
            }
            const old = why.inversions.find((found) => found.victim === victim && found.holder === part.thread &&
                found.middle === one.thread && found.state === state);
            if (old) {
                old.ns += one.ns;
            } else if (why.inversions.length < WHY.inversions) {
                why.inversions.push({victim, holder: part.thread, middle: one.thread, ns: one.ns, state,
                    priorities: [priority, own, one.priority]});
            }
        }
    }
}

/* Parts by time without holes; after each wait, one deeper, those of the thread waited for. */
function whyFollow(why, thread, from, to, waiting) {
    const {states} = report.loaded, last = states.offset[thread + 1], depth = waiting.length;
    let done = from;
    const add = (part) => {
        if (part.from < part.to) {
            why.full = why.full || why.parts.length === WHY.parts;
            if (!why.full) {
                why.parts.push(part);
            }
        }
    };
    for (let at = stateBehind(thread, from); at < last && done < to && !why.full; at++) {
        const part = {from: Math.max(from, states.start[at]), to: Math.min(to, stateEnd(thread, at)), thread, at, depth};
        const other = isWait(states.state[at]) ? states.waits[at] : 0;
        if (part.from >= to) {
            break;
        }
        if (part.from > done) {
            add({from: done, to: part.from, thread, at: -1, depth, cut: false});
        }
        done = Math.max(done, part.to);
        part.circle = other !== 0 && (other === thread || waiting.some((above) => above.thread === other));
        part.cut = other !== 0 && (depth + 1 === WHY.depth || part.circle);
        add(part);
        if (states.state[at] === STATE_READY) {
            whyInversions(why, part, waiting);
        }
        if (other !== 0 && !part.cut) {
            whyFollow(why, other, part.from, part.to, [...waiting, {thread, at}]);
        }
    }
    if (done < to) {
        add({from: done, to, thread, at: -1, depth, cut: false});
    }
}

/* Wake-ups back from a time, until an interrupt, a thread that is in the chain, or the unknown. */
function whyChain(thread, time) {
    const {states} = report.loaded, chain = [];
    while (chain.length < WHY.chain) {
        const first = states.offset[thread];
        let at = Math.min(stateBehind(thread, time), states.offset[thread + 1] - 1);
        const woken = (i) => states.state[i] === STATE_READY && [CAUSE_THREAD, CAUSE_INTERRUPT].includes(states.cause[i]);
        while (at >= first && (states.start[at] > time || (states.state[at] !== STATE_UNKNOWN && !woken(at)))) {
            at--;
        }
        if (at < first || states.state[at] === STATE_UNKNOWN) {
            return chain;
        }
        const link = {time: states.start[at], thread, by: states.by[at], cause: states.cause[at]};
        chain.push(link);
        if (link.cause === CAUSE_INTERRUPT || chain.some((one) => one.thread === link.by)) {
            return chain;
        }
        thread = link.by;
        time = link.time;
    }
    return chain;
}

function whyPath(thread, from, to) {
    const why = {thread, from, to, parts: [], inversions: [], chain: [], full: false};
    whyFollow(why, thread, from, to, []);
    why.chain = whyChain(thread, to > from ? to - 1 : to);
    return why;
}

/* The interval that `kymo why --at` takes: the wait that the thread was in and what came before it
 * ran, or all since it was woken. null: nothing tells what it did. */
function whyInterval(thread, time) {
    const {states} = report.loaded, first = states.offset[thread], last = states.offset[thread + 1];
    let at = stateBehind(thread, time);
    if (at >= last || states.start[at] > time) {
        return null;
    }
    let to = stateEnd(thread, at);
    if (states.state[at] === STATE_RUNNING || states.state[at] === STATE_READY) {
        while (at > first && states.cause[at] !== CAUSE_THREAD && states.cause[at] !== CAUSE_INTERRUPT &&
               states.state[at - 1] <= STATE_READY) {
            at--;
        }
    } else {
        for (let next = at + 1; states.state[at] !== STATE_UNKNOWN && next < last && states.state[next] === STATE_READY; next++) {
            to = stateEnd(thread, next);
        }
    }
    return [states.start[at], to];
}

/* The longest waits for a CPU, a server or an object, as `kymo why --waits` ranks them. */
function whyWaits(most) {
    const {states, idle} = report.loaded, found = [];
    const waits = [STATE_READY, STATE_MUTEX, STATE_CONDVAR, STATE_SEM, STATE_SEND, STATE_REPLY];
    for (let thread = 1; thread + 1 < states.offset.length; thread++) {
        for (let at = states.offset[thread]; at < states.offset[thread + 1] && !idle[thread]; at++) {
            if (waits.includes(states.state[at])) {
                const length = stateEnd(thread, at) - states.start[at];
                if (found.length < most || length > found[found.length - 1].length) {
                    found.push({thread, at, from: states.start[at], to: states.start[at] + length, length});
                    found.sort((a, b) => b.length - a.length || a.from - b.from);
                    found.length = Math.min(found.length, most);
                }
            }
        }
    }
    return found;
}

/* Of a part that none deeper follows: at each time there is one. They are the critical path. */
function whyLeaves(why) {
    return why.parts.filter((part, i) => i + 1 === why.parts.length || why.parts[i + 1].depth <= part.depth);
}

/* ---- in words, those of `kymo why` ------------------------------------------------- */

function priorityText(priority) {
    return priority >= 0 ? ` at priority ${priority}` : "";
}

function interruptText(number) {
    const name = termOf(3, number);
    return `interrupt ${number}${name === undefined ? "" : ` (${name})`}`;
}

function readyText(part) {
    const {states, idle, tables} = report.loaded;
    const lost = states.cause[part.at] === CAUSE_PREEMPTED && part.from === states.start[part.at] ? ", lost the CPU" : "";
    const ran = whyRan(part.thread, part.from, part.to).slice(0, 3).map((one) => one.thread === 0 ?
        `nobody knows who ran ${durationText(one.ns)}` :
        idle[one.thread] ? `CPU ${tables.threads[one.thread][1] - 1} was idle for ${durationText(one.ns)}` :
            `${threadText(one.thread)} ran ${durationText(one.ns)}${priorityText(one.priority)}`);
    return `READY${priorityText(states.priority[part.at])}${lost}${ran.length ? "; meanwhile " : ""}${ran.join(", ")}`;
}

function waitText(part) {
    const {states, tables} = report.loaded, {at, thread} = part, state = states.state[at], other = states.waits[at];
    const object = states.object[at] ? ` ${tables.names[states.object[at]][1]}` : "";
    const text = `${stateText(state)}${object}${priorityText(states.priority[at])}`;
    const how = state === STATE_SEND ? ", to be received by " : state === STATE_REPLY ? ", served by " : ", owned by ";
    const held = state === STATE_SEND || state === STATE_REPLY || state === STATE_MUTEX;
    const whom = held && other !== 0 ? how + threadText(other) : "";
    if (part.circle) {
        return `${text}${whom}; a circle: that thread waits for this one`;
    }
    if (part.cut) {
        return `${text}${whom}; not followed any deeper`;
    }
    if (part.to < stateEnd(thread, at)) {
        return text + whom; /* how it ended is another question */
    }
    if (!(states.flags[at] & FLAG_TO)) {
        return `${text}${whom}; ${part.to >= states.ends[thread] ? "until the capture's end" : "how it ended is unknown"}`;
    }
    if (at + 1 < states.offset[thread + 1] && states.cause[at + 1] === CAUSE_INTERRUPT) {
        return `${text}${whom}; ended by ${interruptText(states.by[at + 1])}`;
    }
    if (at + 1 < states.offset[thread + 1] && states.cause[at + 1] === CAUSE_THREAD) {
        return states.by[at + 1] !== other ? `${text}${whom}; ended by ${threadText(states.by[at + 1])}` :
            held ? text + whom : `${text}, for ${threadText(other)}`;
    }
    return text + whom;
}

function partText(part) {
    const {states} = report.loaded, state = part.at < 0 ? -1 : states.state[part.at];
    switch (state) {
    case -1:
        return "does not exist, or nothing is known of it";
    case STATE_UNKNOWN:
        return "not known: events are missing, or it is before the first one of it";
    case STATE_RUNNING:
        return `RUNNING on CPU ${states.cpu[part.at]}${priorityText(states.priority[part.at])}`;
    case STATE_READY:
        return readyText(part);
    default:
        return waitText(part);
    }
}

function inversionText(found) {
    return `${threadText(found.victim)} at ${found.priorities[0]} waited in ${stateText(found.state)} for ` +
        `${threadText(found.holder)} at ${found.priorities[1]}, while ${threadText(found.middle)} at ` +
        `${found.priorities[2]} ran ${durationText(found.ns)}`;
}
