/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker, first part: blocks of a page (docs/reference/report-data.md) to typed arrays.
 */
"use strict";

/* Two characters of a block's text are 13 bits (host/report/pack.c). */
function textBytes(text, length) {
    const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%()*+,-./:;=>?@[]^_`{|}~\"'";
    const values = new Uint8Array(128), bytes = new Uint8Array(length);
    for (let i = 0; i < digits.length; i++) {
        values[digits.charCodeAt(i)] = i;
    }
    for (let i = 0, at = 0, bits = 0, n = 0; at < length && i + 1 < text.length; i += 2) {
        bits |= values[text.charCodeAt(i)] + 91 * values[text.charCodeAt(i + 1)] << n;
        for (n += 13; n >= 8 && at < length; n -= 8, bits >>>= 8) {
            bytes[at++] = bits;
        }
    }
    return bytes;
}

async function inflated(deflated, length) {
    const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
    const reader = stream.getReader(), bytes = new Uint8Array(length);
    let used = 0;
    for (;;) {
        const part = await reader.read();
        if (part.done) {
            break;
        }
        if (used + part.value.length > length) {
            throw new Error("a block is longer than it says");
        }
        bytes.set(part.value, used);
        used += part.value.length;
    }
    if (used !== length) {
        throw new Error("a block is shorter than it says");
    }
    return bytes;
}

/* Reads a block's bytes from the front. */
class Cursor {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }
    varint() {
        let value = 0, scale = 1, byte;
        do {
            byte = this.bytes[this.at++];
            value += (byte & 127) * scale;
            scale *= 128;
        } while (byte >= 128);
        return value;
    }
    signed() {
        const value = this.varint();
        return value % 2 ? -(value + 1) / 2 : value / 2;
    }
    /* One value a row, its bytes in planes, into `to` from row `first`. */
    planes(to, first, rows, planes) {
        const bytes = this.bytes;
        let scale = 1;
        for (let plane = 0; plane < planes; plane++, scale *= 256) {
            for (let i = 0, at = this.at; i < rows; i++) {
                to[first + i] += bytes[at++] * scale;
            }
            this.at += rows;
        }
    }
}

const GUESSES = 16;

/* The values of a block of events, those from `first` to `end`: for each kind its rows' columns of
 * words, and the texts. Columns have what differs from the last value of the thread in such an event. */
function decodeValues(bytes, kinds, events, first, end) {
    const cursor = new Cursor(bytes), heapLength = cursor.varint();
    const heap = bytes.subarray(cursor.at, cursor.at + heapLength), columns = new Map();
    cursor.at += heapLength;
    for (let kind; (kind = cursor.varint()) !== 0;) {
        const rows = cursor.varint(), words = [];
        for (const field of kinds[kind - 1].fields) {
            for (let n = field[1] < 4 && field[3] === 64 ? 2 : 1; n > 0; n--) {
                const column = new Uint32Array(rows);
                cursor.planes(column, 0, rows, 4);
                words.push(column);
            }
        }
        columns.set(kind - 1, words);
    }
    const guesses = new Map();
    for (const [kind, words] of columns) {
        guesses.set(kind, {row: 0, words, last: words.map(() => new Uint32Array(GUESSES))});
    }
    for (let i = first; i < end; i++) {
        const guess = guesses.get(events.kind[i]), row = guess.row++, thread = events.thread[i] % GUESSES;
        for (let word = 0; word < guess.words.length; word++) {
            guess.last[word][thread] = guess.words[word][row] ^= guess.last[word][thread];
        }
    }
    return {heap, columns};
}

const decoder = new TextDecoder();

function heapText(heap, offset) {
    let end = offset;
    while (end < heap.length && heap[end] !== 0) {
        end++;
    }
    return decoder.decode(heap.subarray(offset, end));
}
