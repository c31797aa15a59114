/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event log: all events of the interval of which a condition holds (condition.js). Only the rows
 * in sight are in the document; above TALL_MOST pixels the scroll bar is proportional.
 */

const LOG_ROW = 24, TALL_MOST = 8000000, LOG_KEPT = 2000;
const log = {text: "", indexes: new Uint32Array(0), selected: -1, sort: "time", rows: new Map(), key: "", turn: 0};

function openLog(text) {
    log.text = text;
    log.selected = -1;
    openView("log");
}

/* ---- conditions that are kept ------------------------------------------------------ */

let conditions = null;

function keptConditions() {
    if (conditions === null) {
        try {
            const kept = JSON.parse(localStorage.getItem("kymo conditions"));
            conditions = Array.isArray(kept) ? kept.filter((one) => one && typeof one.name === "string" && typeof one.text === "string") : [];
        } catch {
            conditions = [];
        }
    }
    return conditions;
}

function keepConditions(list) {
    conditions = list;
    try {
        localStorage.setItem("kymo conditions", JSON.stringify(list));
    } catch {
        /* They hold as long as the page. */
    }
}

function keepCondition(name, text) {
    keepConditions([...keptConditions().filter((one) => one.name !== name), {name, text}]);
}

/* ---- the log ----------------------------------------------------------------------- */

const visibleRows = () => Math.max(1, Math.floor($("log").clientHeight / LOG_ROW));
const tall = () => Math.min(TALL_MOST, log.indexes.length * LOG_ROW);

/* The row on top of the log, from where it is scrolled to. */
function topRow() {
    const box = $("log"), room = tall() - box.clientHeight;
    const share = room > 0 ? Math.min(1, box.scrollTop / room) : 0;
    return Math.round(share * Math.max(0, log.indexes.length - visibleRows()));
}

function scrollToRow(row) {
    const box = $("log"), free = Math.max(1, log.indexes.length - visibleRows());
    box.scrollTop = Math.max(0, Math.min(free, row)) / free * Math.max(0, tall() - box.clientHeight);
}

function logCells(row) {
    return [make("span", {}, timeText(row.time)), make("span", {}, row.cpu), make("span", {}, row.thread ? threadText(row.thread) : ""),
        make("span", {}, report.loaded.tables.kinds[row.kind].class), make("span", {}, kindText(row.kind)), make("span", {}, fieldsText(row))];
}

async function fillLog() {
    const box = $("log");
    if (!box) {
        return;
    }
    const top = topRow(), count = Math.min(visibleRows() + 2, log.indexes.length - top), turn = ++log.turn;
    const indexes = Array.from(log.indexes.subarray(top, top + Math.max(0, count))), missing = indexes.filter((index) => !log.rows.has(index));
    if (missing.length) {
        if (log.rows.size > LOG_KEPT) {
            log.rows.clear();
        }
        const {rows} = await ask("rows", {indexes: log.rows.size ? missing : indexes});
        rows.forEach((row) => log.rows.set(row.index, row));
    }
    if (turn !== log.turn || !box.isConnected) {
        return;
    }
    const place = Math.max(0, Math.min(box.scrollTop, tall() - count * LOG_ROW));
    $("log-rows").replaceChildren(...indexes.map((index, i) => {
        const at = top + i, element = make("div", {role: "row", class: at === log.selected ? "log-row here" : "log-row", "aria-rowindex": at + 2, id: `log-${at}`,
            "aria-selected": String(at === log.selected), onclick: () => selectLog(at)}, ...logCells(log.rows.get(index)).map((cell) => {
            cell.setAttribute("role", "gridcell");
            return cell;
        }));
        element.style.top = `${(log.indexes.length * LOG_ROW > TALL_MOST ? place : top * LOG_ROW) + i * LOG_ROW}px`;
        return element;
    }));
    box.dataset.top = String(top);
}

async function selectLog(at) {
    log.selected = Math.max(0, Math.min(log.indexes.length - 1, at));
    const top = topRow();
    if (log.selected < top || log.selected >= top + visibleRows() - 1) {
        scrollToRow(log.selected - Math.floor(visibleRows() / 2));
    }
    await fillLog();
    const {rows: [row]} = await ask("rows", {indexes: [log.indexes[log.selected]]});
    $("log").setAttribute("aria-activedescendant", `log-${log.selected}`);
    $("log-detail").replaceChildren(rawEvent(row));
    goTo(row.time, row.thread);
}

/* An event with all of it: what its numbers are called, and as they stand. */
function rawEvent(row) {
    const kind = report.loaded.tables.kinds[row.kind];
    return make("div", {}, make("h3", {}, `${kind.class} ${kindText(row.kind)}`), definitions([["time", `${timeText(row.time)} s`], ["CPU", row.cpu],
        ["thread", row.thread ? threadText(row.thread) : "not known"], ["class, event", `${kind.id}, ${kind.number}`],
        ...row.fields.map((value, i) => [kind.fields[i][0], typeof value === "string" ? valueText(kind.fields[i], value) :
            `${valueText(kind.fields[i], value)}, 0x${(value < 0 ? BigInt.asUintN(kind.fields[i][3] || 32, BigInt(value)) : value).toString(16)}, ${kind.fields[i][3]} bits`])]));
}

function logKey(event) {
    const page = visibleRows() - 1, steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    if (event.key in steps && log.indexes.length) {
        event.preventDefault();
        const to = (log.selected < 0 ? topRow() - (steps[event.key] > 0 ? 1 : 0) : log.selected) + steps[event.key];
        selectLog(to).catch(fail);
    }
}

/* The first event of the log that is not before a time; by time only. */
async function logToCursor() {
    const {index} = await ask("first", {time: view.cursor === null ? view.from : view.cursor});
    const at = log.indexes.findIndex((one) => one >= index);
    await selectLog(at < 0 ? log.indexes.length - 1 : at);
}

function logHead() {
    const sorts = [["time", "time"], ["cpu", "CPU"], ["thread", "thread"], ["class", "class"], ["event", "event"]];
    return make("div", {role: "row", class: "log-row log-head"}, ...sorts.map(([key, title]) => make("span", {role: "columnheader",
        "aria-sort": log.sort === key ? "ascending" : "none"}, make("button", {class: "sort", onclick: () => {
        log.sort = key;
        log.selected = -1;
        showView(true).catch(fail);
    }}, title))), make("span", {role: "columnheader"}, "values"));
}

function filterInput() {
    const input = make("input", {id: "log-filter", type: "search", list: "log-words", value: log.text, placeholder: "event=THRUNNING process=init ret_val<0 text",
        "aria-label": "Condition: words that all hold", "aria-describedby": "log-help", onchange: () => {
            log.text = input.value;
            log.selected = -1;
            linkSoon();
            showView(true).catch(fail);
        }});
    const names = [...new Set(report.loaded.tables.kinds.flatMap((kind) => [`class=${kind.class}`, ...(kind.name === null ? [] : [`event=${kind.name}`])]))];
    return make("span", {class: "filter"}, input, make("datalist", {id: "log-words"}, ...names.sort().map((name) => make("option", {value: name}))));
}

function conditionButtons() {
    const name = make("input", {id: "condition-name", placeholder: "name", "aria-label": "Name of the condition"});
    return make("span", {class: "choices"}, ...keptConditions().map((one) => make("button", {class: "saved", title: one.text, onclick: () => openLog(one.text)}, one.name)),
        name, make("button", {id: "condition-keep", onclick: () => {
            const text = $("log-filter").value.trim();
            if (text !== "") {
                keepCondition(name.value.trim() || text, text);
                showView(true).catch(fail);
            }
        }}, "Keep this condition"));
}

addView({id: "log", title: "Event log", tab: "Events", about: "Every event of the interval, with its values. A click or the arrow keys select one and move the cursor.",
    show: async (scope) => {
        const whole = await ask("statistics", {from: scope.from, to: scope.to, bins: 1});
        let fault = null;
        try {
            const {indexes} = await ask("filter", {text: log.text, from: scope.from, to: scope.to, sort: log.sort});
            log.indexes = indexes;
        } catch (error) {
            if (error.message === "superseded") {
                throw error;
            }
            fault = error.message;
            log.indexes = new Uint32Array(0);
        }
        const key = `${scope.from} ${scope.to} ${log.text} ${log.sort}`;
        if (log.key !== key) {
            log.key = key;
            log.selected = -1;
        }
        const box = make("div", {id: "log", class: "log", tabindex: 0, role: "grid", "aria-label": "Events", "aria-rowcount": log.indexes.length + 1, onkeydown: logKey,
            onscroll: () => fillLog().catch(fail)});
        const rows = make("div", {id: "log-rows"}), space = make("div", {class: "log-space"});
        space.style.height = `${tall()}px`;
        box.append(space, rows);
        setTimeout(() => {
            if (box.isConnected) {
                scrollToRow(Math.max(0, log.selected));
                fillLog().catch(fail);
            }
        });
        return [doubtOf(scope), make("div", {class: "choices"}, filterInput(), make("button", {onclick: () => logToCursor().catch(fail)}, "To the cursor"),
            make("span", {id: "log-count"}, `${countText(log.indexes.length)} of ${countText(whole.total)} events`)), conditionButtons(),
        make("p", {id: "log-help", class: "dim"}, "class= event= process= thread= cpu= or the name of a value, with = != < <= > >= or ~ (contains); * stands for anything, a comma for or, ! before a word for not; other words: text in names and values."),
        fault === null ? null : make("p", {class: "doubt", role: "alert", id: "log-fault"}, fault), logHead(), box, make("div", {id: "log-detail"})];
    }});
