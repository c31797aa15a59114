/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The aggregations of D programs that logged into the capture (log=1), as of their last snapshots:
 * what `kymo dtrace -r --json` prints. They are of the whole capture.
 */

const DISTRIBUTIONS_MOST = 40;

/* A key: texts, numbers, stacks. */
function keyText(part) {
    return Array.isArray(part) ? part.join(" \u2190 ") : typeof part === "object" ? JSON.stringify(part) : String(part);
}

function scalarTable(one, n) {
    const width = Math.max(0, ...one.rows.map(({key}) => key.length)), valueOf = (row) => Number(row.value);
    const most = Math.max(1, ...one.rows.map((row) => Math.abs(valueOf(row))));
    return dataTable({id: `aggregation-${n}`, sort: width, rows: one.rows, columns: [
        ...Array.from({length: width}, (_, i) => ({title: width === 1 ? "key" : `key ${i + 1}`,
            value: (row) => typeof row.key[i] === "number" ? row.key[i] : keyText(row.key[i]), text: (row) => keyText(row.key[i])})),
        {title: one.function, number: true, value: valueOf, text: (row) => countText(row.value), bar: (row) => Math.abs(valueOf(row)) / most}]});
}

function distributionParts(one, n) {
    return one.rows.slice(0, DISTRIBUTIONS_MOST).map((row, i) => make("div", {class: "distribution"},
        make("strong", {}, row.key.length ? row.key.map(keyText).join(", ") : "all"),
        barChart({id: `aggregation-${n}-${i}`, label: `@${one.aggregation} of ${row.key.map(keyText).join(", ") || "all"}`,
            entries: row.value.map(({bucket, count}) => ({name: String(bucket), value: Number(count)}))})));
}

addView({id: "aggregations", title: "D aggregations", tab: "D", about: "What D programs with log=1 aggregated, as of their last snapshots: kymo dtrace -r prints it, too. It is of the whole capture, whatever part is shown.",
    show: async () => {
        const facts = report.loaded.tables.aggregations, {list} = facts ? await ask("aggregations", {}) : {list: []};
        if (!facts) {
            return [make("p", {}, "No D program has logged into this capture: kymo dtrace -x log=1 does, while tracelogger records.")];
        }
        return [facts.said || facts.left ? make("p", {class: "doubt"}, "\u26a0 ", facts.left ? `${countText(facts.left)} aggregations have no room in this page. ` : "",
            facts.said ? `kymo dtrace -r said: ${facts.said.trim()}` : "") : null,
        ...list.map((one, n) => {
            const spread = one.rows.some(({value}) => Array.isArray(value)), more = spread ? one.rows.length - DISTRIBUTIONS_MOST : 0;
            return part(`@${one.aggregation}: ${one.function}`, ...(spread ? distributionParts(one, n) : [scalarTable(one, n)]),
                more > 0 ? make("p", {class: "dim"}, `The first ${DISTRIBUTIONS_MOST} of ${countText(one.rows.length)} keys.`) : null);
        }), list.length ? null : make("p", {}, facts.said ? "No aggregation is known of the programs that logged." :
            "The programs that logged have no aggregations.")];
    }});
