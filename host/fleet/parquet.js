// SPDX-License-Identifier: BSD-2-Clause
//
// parquet.js MODULE FOLDER: kymo's child that makes files of Parquet of files of rows, and one file
// of many, by DuckDB. A line of standard input is a job: {csv, parquet, columns}, or {folder, files,
// parquet}; a line of output its end: "ok", or what is wrong. Lines of the form "N %" before it say how much of the job is done. See
// host/fleet/parquet.c.
'use strict';
const fs = require('fs');
const readline = require('readline');
const [, , module_, folder] = process.argv;
const PROGRESS_MS = 500;

const literal = (text) => `'${text.replace(/'/g, "''")}'`;
const plain = (text) => String(text).replace(/[^\x20-\x7e]+/g, ' ').slice(0, 1500);

async function convert(duckdb, job) {
    const types = Object.entries(job.columns);
    // A time is ns since 1970 in the rows.
    const isTime = (type) => type === 'TIMESTAMP_NS';
    const columns = types.map(([name, type]) => `"${name}": '${isTime(type) ? 'BIGINT' : type}'`);
    const values = types.map(([name, type]) =>
        isTime(type) ? `make_timestamp_ns("${name}") AS "${name}"` : `"${name}"`);
    await duckdb.run(`COPY (SELECT ${values.join(', ')} FROM read_csv(${literal(job.csv)}, header=false,
        auto_detect=false, delim=',', quote='"', escape='"', new_line='\\n', nullstr='\\N',
        allow_quoted_nulls=false, max_line_size=16777216, columns={${columns.join(', ')}}))
        TO ${literal(job.parquet)} (FORMAT parquet, COMPRESSION zstd)`);
    fs.unlinkSync(job.csv);
}

// The new file has exactly the rows of the old ones, in their order.
async function merge(duckdb, job) {
    const files = `[${job.files.map((name) => literal(`${job.folder}/${name}`)).join(', ')}]`;
    await duckdb.run(`COPY (SELECT * FROM read_parquet(${files}, union_by_name=true,
        hive_partitioning=false)) TO ${literal(job.parquet)} (FORMAT parquet, COMPRESSION zstd)`);
    const rows = await duckdb.runAndReadAll(`SELECT
        (SELECT sum(num_rows) FROM parquet_file_metadata(${files})),
        (SELECT sum(num_rows) FROM parquet_file_metadata(${literal(job.parquet)}))`);
    const [[before, after]] = rows.getRowsJson();
    if (before !== after) throw new Error(`${before} rows have become ${after}`);
}

// DuckDB counts, and prints nothing itself. It does not always know: then nothing is told.
async function progressOn(duckdb) {
    await duckdb.run('SET enable_progress_bar = true');
    await duckdb.run('SET enable_progress_bar_print = false');
    await duckdb.run('SET progress_bar_time = 0');
}
async function told(duckdb, job) {
    process.stdout.write('0 %\n');
    const timer = setInterval(() => {
        const { percentage } = duckdb.progress;
        if (percentage >= 0) process.stdout.write(`${Math.min(100, Math.floor(percentage))} %\n`);
    }, PROGRESS_MS);
    try {
        await (job.files === undefined ? convert : merge)(duckdb, job);
    } finally {
        clearInterval(timer);
    }
}

async function main() {
    process.chdir(folder); // paths are relative: a folder's name may have a pattern's characters
    const { DuckDBInstance } = require(module_);
    const instance = await DuckDBInstance.create(':memory:', {
        autoinstall_known_extensions: 'false', autoload_known_extensions: 'false',
        memory_limit: '2GB', preserve_insertion_order: 'true', temp_directory: 'spill' });
    const duckdb = await instance.connect();
    await progressOn(duckdb);
    for await (const line of readline.createInterface({ input: process.stdin })) {
        try {
            await told(duckdb, JSON.parse(line));
            process.stdout.write('ok\n');
        } catch (error) {
            process.stdout.write(`DuckDB: ${plain(error.message)}\n`);
        }
    }
}

main().catch((error) => {
    process.stdout.write(`DuckDB can't be started by node ${process.version}: ` +
        `${plain(error.message)}\n`);
    process.exit(1);
});
