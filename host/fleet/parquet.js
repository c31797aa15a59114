// SPDX-License-Identifier: BSD-2-Clause
//
// parquet.js MODULE FOLDER: kymo's child that makes files of Parquet of files of rows, by DuckDB.
// A line of standard input is a job: {csv, parquet, columns}; a line of output its end: "ok", or
// what is wrong. Lines of the form "N %" before it say how much of the job is done. See
// host/fleet/parquet.c.
'use strict';
const fs = require('fs');
const readline = require('readline');
const [, , module_, folder] = process.argv;
const PROGRESS_MS = 500;

const literal = (text) => `'${text.replace(/'/g, "''")}'`;
const plain = (text) => String(text).replace(/[^\x20-\x7e]+/g, ' ').slice(0, 1500);

async function convert(duckdb, job) {
    const columns = Object.entries(job.columns).map(([name, type]) => `"${name}": '${type}'`);
    await duckdb.run(`COPY (SELECT * FROM read_csv(${literal(job.csv)}, header=false,
        auto_detect=false, delim=',', quote='"', escape='"', new_line='\\n', nullstr='\\N',
        allow_quoted_nulls=false, max_line_size=16777216, columns={${columns.join(', ')}}))
        TO ${literal(job.parquet)} (FORMAT parquet, COMPRESSION zstd)`);
    fs.unlinkSync(job.csv);
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
        await convert(duckdb, job);
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
