/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page's program, first part: the worker, and how things are written. Names come from a capture:
 * they reach the document by textContent and the canvas by fillText only.
 */
"use strict";

const $ = (id) => document.getElementById(id);
const report = {loaded: null, faults: []};
const STATE_RUNNING = 1, STATE_READY = 2, STATE_UNKNOWN = 255;
/* Kinds of losses and scope, as in host/kev/kev.h. */
const LOSS_COUNTED = 1, SCOPE_FILTER = 64, SCOPE_GATE = 65, SCOPE_UNKNOWN = 66;

/* ---- the worker -------------------------------------------------------------------- */

let worker = null; /* of what report.loaded has */
const waiting = new Map();
let asked = 0;

/* A worker that loads these blocks: a promise of it and what it has loaded. */
function loadBlocks(blocks) {
    return new Promise((resolve, reject) => {
        const one = new Worker(URL.createObjectURL(new Blob([$("worker").textContent], {type: "text/javascript"})));
        one.onerror = (event) => reject(new Error(event.message || "the worker could not be started"));
        one.onmessage = (message) => {
            const {id, answer, failed, loaded, progress} = message.data;
            if (loaded) {
                resolve({worker: one, loaded});
            } else if (progress !== undefined) {
                say(`Reading: ${Math.round(100 * progress)} %`);
            } else if (waiting.has(id)) {
                const asker = waiting.get(id);
                waiting.delete(id);
                if (failed) {
                    asker.reject(new Error(failed));
                } else {
                    asker.resolve(answer);
                }
            } else if (failed) {
                reject(new Error(failed));
            }
        };
        one.postMessage({id: 0, what: "load", blocks}, blocks.filter((block) => block.deflated).map((block) => block.deflated.buffer));
    });
}

/* Nobody asks it any more; what it was asked for is not answered. */
function endWorker(one) {
    one.terminate();
    for (const [id, asker] of waiting) {
        if (asker.worker === one) {
            waiting.delete(id);
            asker.reject(new Error("superseded"));
        }
    }
}

function ask(what, details) {
    return new Promise((resolve, reject) => {
        waiting.set(++asked, {resolve, reject, worker});
        worker.postMessage({id: asked, what, ...details});
    });
}

/* ---- the document ------------------------------------------------------------------ */

/* An element with properties, attributes and children, which are elements or text. */
function make(tag, properties, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties || {})) {
        if (name === "class") {
            element.className = value;
        } else if (name.startsWith("on")) {
            element.addEventListener(name.slice(2), value);
        } else {
            element.setAttribute(name, value);
        }
    }
    element.append(...children.filter((child) => child !== null).map((child) =>
        child instanceof Node ? child : String(child)));
    return element;
}

/* ---- how things are written -------------------------------------------------------- */

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

/* A length of time with at most four digits that count. */
function durationText(ns) {
    const size = Math.abs(ns), [scale, unit] = UNITS.find(([least]) => size >= least) || UNITS[3];
    const value = ns / scale;
    return `${Number(value.toPrecision(size >= 1000 * scale ? 6 : 4))} ${unit}`;
}

/* A time since the capture's start, in seconds, down to the nanosecond. */
function timeText(ns) {
    const whole = Math.round(ns), sign = whole < 0 ? "-" : "", size = Math.abs(whole);
    const seconds = Math.floor(size / 1e9), rest = String(size - seconds * 1e9).padStart(9, "0");
    return `${sign}${seconds}.${rest}`;
}

/* The same for a mark of the axis, as precise as the step between marks. */
function axisText(ns, step) {
    const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(Math.max(step, 1)) + 1e-9)));
    return `${(ns / 1e9).toFixed(digits)} s`;
}

function countText(count) {
    return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function percentText(share) {
    return `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;
}

function processText(thread) {
    const info = report.loaded.tables.threads[thread];
    return info ? `${info[4] === null ? "process" : info[4]} (${info[0]})` : "not known";
}

function threadText(thread) {
    const info = report.loaded.tables.threads[thread];
    if (!info) {
        return "thread not known";
    }
    return `${info[4] === null ? "process" : info[4]} (${info[0]}/${info[1]})${info[5] === null ? "" : " " + info[5]}`;
}

function stateText(state) {
    const name = report.loaded.tables.states[state];
    return state === STATE_UNKNOWN ? "not known" : name ? name.replace(/^TH|^STATE_/, "") : `state ${state}`;
}

function spanText(name) {
    const [type, number, text] = report.loaded.tables.names[name] || [0, "", null];
    switch (type) {
    case 0:
        return text === null ? `kernel call ${number}` : text;
    case 1:
        return `interrupt ${Number(number)}${text === null ? "" : " " + text}`;
    case 3:
        return `handler of interrupt ${Number(number)}${text === null ? "" : " " + text}`;
    default:
        return text === null ? `function ${number}` : text.split(" ")[0].replace(/^.*`/, "").replace(/\+0x0$/, "");
    }
}

/* With the line of source and what was inlined there, if it is known. */
function spanDetail(name) {
    const [type, , text] = report.loaded.tables.names[name] || [0, "", null];
    return type === 2 && text !== null ? text : spanText(name);
}

const ARROW_TEXTS = ["message", "reply", "pulse", "wake-up", "wake-up by an interrupt"];

function kindText(kind) {
    const info = report.loaded.tables.kinds[kind];
    const suffix = info.class === "KER_EXIT" ? " returns" : info.class === "INT_CALL" ? " interrupted" : "";
    return info.name === null ? `${info.class} ${info.code}` : info.name + suffix;
}

const HEX_TYPES = new Set([2, 3]);
let terms = null;

function termOf(meaning, number) {
    if (!terms) {
        terms = new Map(report.loaded.tables.terms.map(([m, n, text]) => [`${m} ${n}`, text]));
    }
    return terms.get(`${meaning} ${Number(number) >>> 0}`);
}

const ADDRESS_NAMES = new Set(["FUNC_ENTER", "FUNC_EXIT", "ADDRESS"]);
let places = null;

/* The tables are others now. */
function forgetNames() {
    terms = places = null;
}

/* What an address of a thread is called: "program`function+0x12 file.c:7"; undefined: nothing says. */
function addressName(text, thread) {
    if (!places) {
        places = new Map(report.loaded.tables.names.filter((name) => name[0] === 2 && name[2] !== null)
            .map(([, number, name, of]) => [`${number} ${of}`, name]));
    }
    return thread ? places.get(`${text} ${thread}`) : undefined;
}

/* A value as `kymo print` would write it, with what it is called after it. */
function valueText(field, value, thread) {
    const [, type, meaning] = field;
    if (typeof value === "string") {
        return `"${value}"`;
    }
    const text = HEX_TYPES.has(type) ? "0x" + value.toString(16) : String(value);
    const place = addressName(text, thread);
    if (place !== undefined) {
        return `${text} (${place})`;
    }
    const term = meaning ? termOf(meaning, value) : undefined;
    return term === undefined ? text : `${text} (${term})`;
}

function fieldsText(row) {
    const fields = report.loaded.tables.kinds[row.kind].fields;
    return row.fields.map((value, i) => `${fields[i][0]}:${valueText(fields[i], value, i === 0 && ADDRESS_NAMES.has(report.loaded.tables.kinds[row.kind].name) ? row.thread : 0)}`).join("  ");
}
