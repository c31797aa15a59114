/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where CPU time went: the summary, CPU use over time by process, thread or CPU, and migrations.
 * The figures are those of `kymo stat` (account.js).
 */

const BINS = 240, SERIES_MOST = SERIES_COLOURS.length;
const use = {by: "process", cpu: -1};

const stateTime = (figures, thread, state) => figures.states[thread * 64 + state];

/* Time of which a thread's state is known. */
function knownTime(figures, thread) {
    let sum = 0;
    for (let state = 0; state < 64; state++) {
        sum += stateTime(figures, thread, state);
    }
    return sum;
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
const shareText = (part, whole) => whole > 0 ? percentText(part / whole) : "-";

/* The threads, the most used first, and into which series each goes: [group of threads, names]. */
function seriesOf(figures, by) {
    const {tables, idle} = report.loaded, keys = new Map();
    tables.threads.forEach((info, thread) => {
        if (info !== null && !idle[thread]) {
            const key = by === "thread" ? String(thread) : `${info[0]} ${info[4]}`, was = keys.get(key) || {time: 0, threads: []};
            was.time += stateTime(figures, thread, STATE_RUNNING);
            was.threads.push(thread);
            keys.set(key, was);
        }
    });
    const sorted = [...keys.values()].filter(({time}) => time > 0).sort((a, b) => b.time - a.time);
    const group = new Int32Array(tables.threads.length).fill(-1), names = [];
    sorted.forEach(({threads}, i) => {
        const into = Math.min(i, SERIES_MOST);
        threads.forEach((thread) => { group[thread] = into; });
        names[into] = into === SERIES_MOST ? `${sorted.length - SERIES_MOST} others` : by === "thread" ? threadText(threads[0]) : processText(threads[0]);
    });
    return {group, names};
}

const percentAxis = (value) => `${Math.round(100 * value)} %`;
const percentBin = (value) => percentText(value);

function modeBars(modes, cpus) {
    const kinds = [["user", modes.calls ? "programs" : "busy", SERIES_COLOURS[0]], ["system", "kernel calls", SERIES_COLOURS[1]],
        ["interrupt", "interrupts", SERIES_COLOURS[5]], ["idle", "idle", palette.line], ["unknown", "not known", null]];
    const bars = Array.from({length: cpus}, (_, cpu) => {
        const whole = sum(kinds.map(([kind]) => modes[kind][cpu])), bar = make("div", {class: "mode-bar", role: "img",
            "aria-label": `CPU ${cpu}: ` + kinds.map(([kind, name]) => `${name} ${shareText(modes[kind][cpu], whole)}`).join(", ")});
        for (const [kind, , colour] of kinds) {
            const piece = make("span", {class: colour ? "" : "hatched", title: ""});
            piece.style.width = `${whole > 0 ? 100 * modes[kind][cpu] / whole : 0}%`;
            if (colour) {
                piece.style.background = colour;
            }
            bar.append(piece);
        }
        return make("div", {class: "mode-row"}, make("span", {}, `CPU ${cpu}`), bar);
    });
    return make("div", {class: "modes"}, ...bars, legendList(kinds.map(([, name, colour]) => ({name, colour, stripes: colour === null}))));
}

addView({id: "summary", title: "Summary", about: "Where the time of each CPU went, and how many events there were.",
    show: async (scope) => {
        const {tables} = report.loaded, {from, to} = scope, length = to - from;
        const [figures, modes, counted] = await Promise.all([ask("figures", scope), ask("modes", scope), ask("statistics", {from, to, bins: BINS})]);
        const cpus = Array.from({length: tables.cpus}, (_, cpu) => cpu), covered = (cpu) => figures.busy[cpu] + figures.idle[cpu] + figures.unknown[cpu];
        const all = sum(cpus.map(covered)), seconds = length / 1e9;
        const runs = sum([...figures.runs]), column = (title, values) => ({title, number: true, value: (cpu) => values[cpu],
            text: (cpu) => shareText(values[cpu], covered(cpu)), share: (cpu) => values[cpu] / (covered(cpu) || 1)});
        const sizes = counted.density.map((bins) => sum([...bins])), most = [...sizes.keys()].filter((i) => sizes[i] > 0).sort((a, b) => sizes[b] - sizes[a]);
        const classes = most.slice(0, SERIES_MOST).map((i, n) => ({name: counted.names[i], colour: SERIES_COLOURS[n], values: Float64Array.from(counted.density[i])}));
        if (most.length > SERIES_MOST) {
            classes.push({name: "others", colour: OTHERS_COLOUR, values: Float64Array.from({length: BINS}, (_, bin) =>
                sum(most.slice(SERIES_MOST).map((i) => counted.density[i][bin])))});
        }
        return [doubtOf(scope, figures.known),
            tiles([["idle", shareText(sum([...figures.idle]), all)], ["programs", modes.calls ? shareText(sum([...modes.user]), all) : "-"],
                ["kernel calls", modes.calls ? shareText(sum([...modes.system]), all) : "not recorded"], ["interrupts", shareText(sum([...modes.interrupt]), all)],
                ["events", boundText(counted.total, scope), `${countText(Math.round(counted.total / seconds))} a second`],
                ["context switches", boundText(runs, scope), `${countText(Math.round(runs / seconds))} a second`]]),
            part("Where time went", modeBars(modes, tables.cpus), dataTable({id: "cpu-table", sort: 0, rows: cpus, columns: [
                {title: "CPU", value: (cpu) => cpu}, {title: "covered", number: true, value: covered, text: (cpu) => shareText(covered(cpu), length)},
                column("busy", figures.busy), column("programs", modes.user), column("kernel calls", modes.system), column("interrupts", figures.interrupt),
                column("idle", figures.idle), column("not known", figures.unknown)]})),
            part("Events over time", stackedChart({id: "density", label: "Events over time by class", from, to, series: classes,
                yText: (value) => countText(Math.round(value * 10) / 10), binText: (value) => `${countText(value)} events`}))];
    }});

function chooser(id, label, value, options, change) {
    const choice = make("select", {id, onchange: () => change(choice.value)}, ...options.map(([is, text]) => make("option", {value: is}, text)));
    choice.value = String(value);
    return make("label", {class: "choice"}, label, choice);
}

function threadUse(figures, thread) {
    const known = knownTime(figures, thread), running = stateTime(figures, thread, STATE_RUNNING);
    let blocked = 0, where = 0;
    for (let state = 3; state < 64; state++) {
        if (stateTime(figures, thread, state) > blocked) {
            blocked = stateTime(figures, thread, state);
            where = state;
        }
    }
    return {thread, known, running, ready: stateTime(figures, thread, STATE_READY), runs: figures.runs[thread], migrations: figures.migrations[thread], blocked, where};
}

function migrationTable(figures, cpus) {
    const rows = Array.from({length: cpus}, (_, cpu) => cpu);
    return dataTable({id: "migration-table", sort: 0, rows, columns: [{title: "from CPU", value: (cpu) => cpu},
        ...rows.map((cpu) => ({title: `to ${cpu}`, number: true, value: (was) => figures.moved[was * cpus + cpu]}))]});
}

addView({id: "cpu", title: "CPU use", about: "Which process or thread used the CPUs when, and which thread moved from one CPU to another. A click on a chart or row goes there on the timeline.",
    show: async (scope) => {
        const {tables} = report.loaded, {from, to} = scope, figures = await ask("figures", scope), byCpu = use.by === "cpu";
        const {group, names} = byCpu ? {group: new Int32Array(tables.threads.length).fill(0), names: []} : seriesOf(figures, use.by);
        const perCpu = Array.from({length: tables.cpus}, (_, cpu) => cpu), {idle} = report.loaded;
        const answers = byCpu ? await Promise.all(perCpu.map((cpu) => ask("usage", {from, to, bins: BINS, cpu, groups: 1,
            group: Int32Array.from(idle, (is) => is ? -1 : 0)}))) :
            [await ask("usage", {from, to, bins: BINS, group, groups: Math.max(1, names.length), cpu: use.cpu})];
        const step = (to - from) / BINS, shares = (values, of) => values.map((value) => value / of), whole = use.cpu >= 0 || byCpu ? step : step * tables.cpus;
        const parts = byCpu ? perCpu.map((cpu) => part(`CPU ${cpu}`, stackedChart({id: `use-cpu${cpu}`, label: `Use of CPU ${cpu}`, from, to, high: 1, height: 90,
            yText: percentAxis, binText: percentBin, series: [{name: "busy", colour: SERIES_COLOURS[0], values: shares(answers[cpu].series[0], step)},
                {name: "not known", colour: palette.hatch, stripes: true, values: shares(answers[cpu].unknown, step)}]}))) :
            [part("CPU use over time", stackedChart({id: "use", label: `CPU use over time by ${use.by}`, from, to, high: 1, yText: percentAxis, binText: percentBin,
                series: [...names.map((name, i) => ({name, colour: i < SERIES_MOST ? SERIES_COLOURS[i] : OTHERS_COLOUR, values: shares(answers[0].series[i], whole)})),
                    {name: "not known", colour: palette.hatch, stripes: true, values: shares(answers[0].unknown, whole)}]}))];
        const moves = answers.map(({migrations}) => migrations).reduce((a, b) => a.map((value, i) => value + b[i]));
        const rows = tables.threads.map((info, thread) => info === null ? null : threadUse(figures, thread)).filter((row) => row !== null && (row.known > 0 || row.runs > 0));
        const again = (change) => (value) => { change(value); showView(true).catch(fail); };
        return [doubtOf(scope, figures.known), make("div", {class: "choices"},
            chooser("use-by", "by", use.by, [["process", "process"], ["thread", "thread"], ["cpu", "CPU"]], again((value) => { use.by = value; })),
            byCpu ? null : chooser("use-cpu", "of", use.cpu, [[-1, "all CPUs"], ...perCpu.map((cpu) => [cpu, `CPU ${cpu}`])], again((value) => { use.cpu = Number(value); }))),
        ...parts, part("Threads", dataTable({id: "thread-table", sort: 1, rows, go: (row) => showRow(row.thread, from, to), columns: [
            {title: "thread", value: (row) => idle[row.thread] ? `(idle, CPU ${tables.threads[row.thread][1] - 1})` : threadText(row.thread)}, {...timeColumn("CPU time", (row) => row.running), share: (row) => idle[row.thread] ? 0 : row.running / (figures.known || 1)},
            {title: "covered", number: true, value: (row) => row.known, text: (row) => shareText(row.known, to - from)},
            {title: "running", number: true, value: (row) => row.running / (row.known || 1), text: (row) => shareText(row.running, row.known)},
            {title: "ready", number: true, value: (row) => row.ready, text: (row) => shareText(row.ready, row.known)},
            {title: "runs", number: true, value: (row) => row.runs}, {title: "migrations", number: true, value: (row) => row.migrations},
            {title: "waits most in", value: (row) => row.blocked > 0 ? `${stateText(row.where)} ${shareText(row.blocked, row.known)}` : "-"}]})),
        tables.cpus > 1 ? part("Migrations over time", stackedChart({id: "migrations", label: "Migrations over time", from, to, height: 110,
            series: [{name: "migrations", colour: SERIES_COLOURS[0], values: moves}], yText: (value) => countText(Math.round(value * 10) / 10)})) : null,
        tables.cpus > 1 ? part("Migrations from CPU to CPU", migrationTable(figures, tables.cpus)) : null];
    }});

/* The first time in an interval at which a thread ran is not looked for: its row is. */
function showRow(thread, from, to) {
    const index = revealThread(thread);
    if (!pane.split) {
        setSplit(true);
    }
    view.row = index >= 0 ? index : view.row;
    setCursor(Math.max(from, Math.min(to, view.cursor === null ? (from + to) / 2 : view.cursor)));
}
