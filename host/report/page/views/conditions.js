/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics of conditions: how often each held, and the times between. Those of the user are kept
 * in the browser; the first ones are there for every capture.
 */

const CONDITIONS = [["context switches", "event=THRUNNING"], ["messages sent", "event=SND_MESSAGE"], ["pulses sent", "event=SND_PULSE*"],
    ["interrupts", "event=INT_ENTR"], ["kernel calls that failed", "class=KER_EXIT errno>0"], ["user events", "class=USER"]];

async function conditionRow(name, text, own, scope) {
    try {
        return {name, text, own, ...await ask("count", {name, text, from: scope.from, to: scope.to})};
    } catch (error) {
        if (error.message === "superseded") {
            throw error;
        }
        return {name, text, own, fault: error.message, count: -1, byCpu: [], owners: []};
    }
}

function conditionForm() {
    const name = make("input", {id: "own-name", placeholder: "name", "aria-label": "Name"});
    const text = make("input", {id: "own-text", placeholder: "event=MSG_SENDV process=init", "aria-label": "Condition"}), fault = make("span", {class: "doubt", role: "alert"});
    const add = async () => {
        try {
            await ask("check", {text: text.value});
        } catch (error) {
            fault.textContent = error.message;
            return;
        }
        if (text.value.trim() !== "") {
            keepCondition(name.value.trim() || text.value.trim(), text.value.trim());
            await showView(true);
        }
    };
    return make("div", {class: "choices"}, name, text, make("button", {id: "own-add", onclick: () => add().catch(fail)}, "Add"), fault);
}

addView({id: "conditions", title: "Conditions", about: "How often conditions held in the interval, and how far apart. Words are as in the event log; own conditions stay in this browser. A click shows the events.",
    show: async (scope) => {
        const {tables} = report.loaded, seconds = (scope.to - scope.from) / 1e9, rows = [];
        for (const [name, text] of CONDITIONS) {
            rows.push(await conditionRow(name, text, false, scope));
        }
        for (const {name, text} of keptConditions()) {
            rows.push(await conditionRow(name, text, true, scope));
        }
        const known = rows.filter((row) => row.own || (!row.fault && row.count > 0));
        const between = (title, value) => ({...timeColumn(title, (row) => value(row) === null ? -1 : value(row)), text: (row) => value(row) === null || value(row) === undefined ? "-" : durationText(value(row))});
        const mean = (row) => row.count > 1 ? (row.last - row.first) / (row.count - 1) : null;
        return [doubtOf(scope), conditionForm(), dataTable({id: "condition-table", sort: 2, rows: known, go: (row) => openLog(row.text), columns: [
            {title: "name", value: (row) => row.name}, {title: "condition", value: (row) => row.text, text: (row) => row.fault ? `${row.text}: ${row.fault}` : row.text},
            {title: "count", number: true, value: (row) => row.count, text: (row) => row.fault ? "-" : boundText(row.count, scope)},
            {title: "a second", number: true, value: (row) => row.count / seconds, text: (row) => row.fault ? "-" : countText(Math.round(row.count / seconds))},
            between("shortest between", (row) => row.shortest), between("mean", mean), between("longest", (row) => row.longest),
            {title: "first at s", number: true, value: (row) => row.first === null ? -1 : row.first, text: (row) => row.count > 0 ? timeText(row.first) : "-"},
            {title: "last at s", number: true, value: (row) => row.last === null ? -1 : row.last, text: (row) => row.count > 0 ? timeText(row.last) : "-"},
            {title: "most by", value: (row) => row.owners.length ? threadText(row.owners[0][0]) : "-"},
            ...(tables.cpus > 1 && tables.cpus <= 8 ? Array.from({length: tables.cpus}, (_, cpu) => ({title: `CPU ${cpu}`, number: true, value: (row) => row.byCpu[cpu] || 0})) : [])]}),
        keptConditions().length ? part("Own conditions", make("ul", {class: "plain", id: "own-conditions"}, ...keptConditions().map((one) => make("li", {},
            make("button", {onclick: () => openLog(one.text)}, `${one.name}: ${one.text}`), make("button", {"aria-label": `Remove ${one.name}`, onclick: () => {
                keepConditions(keptConditions().filter((other) => other !== one));
                showView(true).catch(fail);
            }}, "\u00d7"))))) : null];
    }});
