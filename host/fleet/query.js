// SPDX-License-Identifier: BSD-2-Clause
//
// query.js MODULE FOLDER VIEWS FORMAT MEMORY SQL: what kymo query becomes (host/fleet/query.c). The
// dataset is the current folder; FOLDER is what messages call it. SQL can read the dataset's files
// and nothing else: DuckDB is told these paths and locked before any statement of the user's runs,
// and statements that could write to a file are refused.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const tty = require('tty');
const [, , module_, folder, views, format, memory, sql] = process.argv;

const TABLES = ['captures', 'events', 'states', 'messages', 'losses'];
const ID = /^([0-9a-f]{64})-[0-9]+\.parquet$/; // of one capture
const PACK = /^pack-([0-9a-f]{16})-[0-9]+\.parquet$/; // of several, which are all there
// More than reading may go to tables and views in memory, which end with the command.
const ALLOWED = ['SELECT', 'EXPLAIN', 'CREATE', 'DROP', 'INSERT', 'UPDATE', 'DELETE', 'ALTER'];
const WIDTH_ROWS = 1000; // a table's columns are as wide as these rows need
const PROGRESS_MS = 500;
const literal = (text) => `'${text.replace(/'/g, "''")}'`;
const escape = (text) => text.replace(/[^\x20-\x7e]/gu, (c) =>
    [...Buffer.from(c)].map((b) => `\\x${b.toString(16).padStart(2, '0')}`).join(''));
const visible = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escape);

class Failure extends Error {}

// ---- the dataset ----------------------------------------------------------------------

// Regular files of a table; symbolic links are not followed.
function files(table) {
    const found = [];
    const walk = (at) => {
        for (const entry of fs.readdirSync(at, { withFileTypes: true })) {
            const name = `${at}/${entry.name}`;
            if (entry.isDirectory()) walk(name);
            else if (entry.isFile() && (ID.test(entry.name) || PACK.test(entry.name))) found.push(name);
        }
    };
    if (fs.existsSync(table)) walk(table);
    return found.sort();
}

// The ids of the captures of a file: its name has one, a list beside it those of a pack.
function idsOf(name) {
    const [, pack] = PACK.exec(path.basename(name)) || [];
    if (pack === undefined) return [ID.exec(path.basename(name))[1]];
    const list = `${path.dirname(name)}/_ids-${pack}`;
    try {
        return fs.readFileSync(list, 'latin1').split('\n').slice(0, -1);
    } catch (error) {
        throw new Failure(`${folder}/${list}: ${error.code}: copy that file, too, or export all ` +
            'captures again into a new folder');
    }
}

// A capture is there if `captures` has it; files of others are remains of a run that was killed.
function dataset() {
    const ids = new Set(files('captures').flatMap(idsOf));
    const there = (name) => PACK.test(path.basename(name)) || ids.has(idsOf(name)[0]);
    if (ids.size === 0) {
        throw new Failure(`${folder}: there are no captures; kymo export --parquet adds some`);
    }
    return Object.fromEntries(TABLES.map((table) =>
        [table, files(table).filter(there)]));
}

function viewsRead() {
    const found = [];
    for (const part of fs.readFileSync(views, 'utf8').split(/^-- (?=[a-z_]+: )/m).slice(1)) {
        const [, name, what, text] = /^([a-z_]+): (.*)\n([^]*?);/.exec(part);
        found.push({ name, what, text });
    }
    return found;
}

async function open(spill) {
    const { DuckDBInstance, StatementType } = require(module_);
    const there = dataset();
    const instance = await DuckDBInstance.create(':memory:', {
        autoinstall_known_extensions: 'false', autoload_known_extensions: 'false',
        memory_limit: `${Math.max(1, Math.floor(Number(memory) / 1024))}KiB`,
        temp_directory: spill });
    const duckdb = await instance.connect();
    // DuckDB counts, and prints nothing itself.
    await duckdb.run('SET enable_progress_bar = true');
    await duckdb.run('SET enable_progress_bar_print = false');
    await duckdb.run('SET progress_bar_time = 0');
    // Each view of a table looks at all of its files again.
    await duckdb.run('SET parquet_metadata_cache = true');
    const list = (names) => `[${names.map(literal).join(', ')}]`;
    await duckdb.run(`SET allowed_paths = ${list(Object.values(there).flat())}`);
    await duckdb.run('SET enable_external_access = false');
    await duckdb.run('SET lock_configuration = true');
    const ready = viewsRead();
    let done = 0;
    const step = () => progressAt('opening', 100 * done++ / (TABLES.length + ready.length));
    for (const table of TABLES) {
        step();
        await duckdb.run(`CREATE VIEW ${table} AS SELECT * FROM read_parquet(
            ${list(there[table])}, hive_partitioning = true, union_by_name = true, hive_types = {'device': VARCHAR, 'firmware': VARCHAR, 'date': DATE})`);
    }
    for (const n of [50, 90, 99]) {
        await duckdb.run(`CREATE MACRO percentile_${n}(x) AS quantile_disc(x, 0.${n})`);
    }
    for (const { name, text } of ready) {
        step();
        await duckdb.run(`CREATE VIEW ${name} AS ${text}`);
    }
    progressEnd();
    return { duckdb, StatementType };
}

// ---- progress, as kymo_progress() shows it ---------------------------------------------

let progressLine = '';
let progressTimer = null;
function progressShow(line) {
    try {
        fs.writeSync(2, line);
        progressLine = line;
    } catch { // the terminal has gone
        clearInterval(progressTimer);
    }
}
function progressAt(what, percentage) {
    const line = `\r${what}: ${String(Math.floor(percentage)).padStart(3)} %\x1b[K`;
    if (tty.isatty(2) && percentage >= 0 && line !== progressLine) progressShow(line);
}
function progressBegin(duckdb) {
    if (!tty.isatty(2)) return;
    progressTimer = setInterval(() => { // -1: DuckDB does not know
        progressAt('querying', duckdb.progress.percentage);
    }, PROGRESS_MS);
}
function progressEnd() {
    clearInterval(progressTimer);
    if (progressLine !== '') progressShow('\r\x1b[K');
    progressLine = '';
}

// ---- output ---------------------------------------------------------------------------

let pending = '';
function put(text) {
    pending += text;
    if (pending.length > 65536) flush();
}
function flush() {
    let bytes = Buffer.from(pending);
    if (tty.isatty(1)) progressEnd(); // rows are seen, and a line among them would not be erased
    pending = '';
    while (bytes.length > 0) {
        try {
            bytes = bytes.subarray(fs.writeSync(1, bytes));
        } catch (error) {
            if (error.code === 'EAGAIN') { // a pipe that is full, and does not block
                Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
            } else if (error.code === 'EPIPE') {
                finish(0);
            } else {
                throw new Failure(`can't write to standard output: ${error.message}`);
            }
        }
    }
}

const NUMBERS = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL.*|FLOAT|DOUBLE)$/;

// A number that a double does not hold is a string, as everywhere in kymo's JSON.
function json(value, isNumber) {
    if (value === null) return 'null';
    if (!isNumber) return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) =>
        `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const text = String(value);
    if (!/^-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/i.test(text)) return JSON.stringify(text); // "NaN"
    return Math.abs(Number(text)) > Number.MAX_SAFE_INTEGER ? `"${text}"` : text;
}

function plain(value) {
    if (value === null) return '';
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// As kymo export --csv: a text is quoted, and no spreadsheet takes one for a formula.
function csv(value, isNumber) {
    if (value === null) return '';
    if (isNumber) return plain(value);
    const text = plain(value).replace(/^[=+@-]/, (c) => `\\x${c.charCodeAt(0).toString(16)}`);
    return `"${visible(text).replace(/"/g, '""')}"`;
}

const writers = {
    json: (names, numbers) => ({
        rows: (rows) => rows.forEach((row) => put(`{${row.map((value, i) =>
            `${json(names[i])}:${json(value, numbers[i])}`).join(',')}}\n`)),
        end: () => {},
    }),
    csv: (names, numbers) => {
        put(`${names.map((name) => csv(name)).join(',')}\r\n`);
        return {
            rows: (rows) => rows.forEach((row) =>
                put(`${row.map((value, i) => csv(value, numbers[i])).join(',')}\r\n`)),
            end: () => {},
        };
    },
    table: (names, numbers) => {
        let first = [];
        let widths = null;
        const cellPad = (cell, i) => numbers[i] ? cell.padStart(widths[i]) :
            i === names.length - 1 ? cell : cell.padEnd(widths[i]);
        const line = (cells) => put(`${cells.map(cellPad).join('  ')}\n`);
        const begin = () => {
            widths = names.map((name, i) =>
                Math.max(name.length, ...first.map((row) => row[i].length)));
            [names, ...first].forEach(line);
            first = [];
        };
        return {
            rows: (rows) => {
                const cells = rows.map((row) =>
                    row.map((value) => value === null ? '-' : visible(plain(value))));
                if (widths !== null) cells.forEach(line);
                else if ((first = first.concat(cells)).length > WIDTH_ROWS) begin();
            },
            end: () => { if (widths === null) begin(); },
        };
    },
};

// ---- statements -----------------------------------------------------------------------

// What EXPLAIN ANALYZE explains is run, whatever it is.
function statementCheck(type, text) {
    if (!ALLOWED.includes(type) || (type === 'EXPLAIN' && /analy[sz]e/i.test(text))) {
        throw new Failure(`${type === 'EXPLAIN' ? 'EXPLAIN ANALYZE' : type} is not for datasets: ` +
            'kymo query reads; SELECT and what needs memory only is allowed');
    }
}

async function statementsRun({ duckdb, StatementType }, text) {
    const statements = await duckdb.extractStatements(text).catch((error) => {
        // All that the module says of a text without a statement: blanks, comments.
        throw /native callback/.test(error.message) ? new Failure('there is no SQL statement') : error;
    });
    for (let i = 0; i < statements.count; i++) {
        const prepared = await statements.prepare(i);
        const type = StatementType[prepared.statementType];
        statementCheck(type, text);
        progressBegin(duckdb);
        const result = await prepared.stream();
        const names = result.columnNames();
        const numbers = result.columnTypes().map((column) => NUMBERS.test(String(column)));
        const quiet = type !== 'SELECT' && type !== 'EXPLAIN';
        const writer = quiet ? null : writers[format](names, numbers);
        for await (const rows of result.yieldRowsJson()) if (!quiet) writer.rows(rows);
        progressEnd();
        if (!quiet) writer.end();
    }
}

async function listPrint({ duckdb }) {
    const columns = await duckdb.runAndReadAll(`SELECT table_name, column_name FROM duckdb_columns()
        WHERE NOT internal ORDER BY table_name, column_index`);
    const of = {};
    for (const [table, column] of columns.getRowsJson()) (of[table] ||= []).push(column);
    const rows = [...TABLES.map((name) => [name, 'table', '', of[name].join(', ')]),
        ...viewsRead().map(({ name, what }) => [name, 'view', what, of[name].join(', ')])];
    const writer = writers[format](['name', 'kind', 'what', 'columns'], []);
    if (format !== 'table') {
        writer.rows(rows);
    } else {
        for (const [name, kind, what, list] of rows) {
            put(`${name}${what ? `: ${what}` : ` (${kind})`}\n    ${list}\n`);
        }
    }
}

// ---- the process ----------------------------------------------------------------------

const spill = path.join(os.tmpdir(), `kymo-query-${process.pid}`);
function finish(status) {
    progressEnd();
    fs.rmSync(spill, { recursive: true, force: true });
    process.exit(status);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
        progressEnd();
        fs.rmSync(spill, { recursive: true, force: true });
        process.kill(process.pid, signal);
    });
}

async function main() {
    const session = await open(spill);
    if (sql === undefined) await listPrint(session);
    else await statementsRun(session, sql);
    flush();
    finish(0);
}

main().catch((error) => {
    progressEnd();
    try { flush(); } catch { /* it is said below */ }
    const text = String(error.message).replace(/^Error: /, '').trim();
    process.stderr.write(`kymo: query: ${text.split('\n').map(visible).join('\n')}\n`);
    finish(1);
});
