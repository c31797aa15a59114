/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The charts of the views, each a canvas in a figure: shares over time, points over time, and
 * distributions. A chart takes the keyboard's focus: left and right move its cursor, which is read
 * out, Enter goes there. Why no library draws them: docs/inside/design.md, "The page of a report".
 */

/* Okabe and Ito's, ordered so that neighbours differ in lightness, too (test/host/report/colours.py). */
const SERIES_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#773311"];
const OTHERS_COLOUR = "#b9c0c8";
const CHART_LEFT = 64, CHART_BOTTOM = 22, CHART_TOP = 8, CHART_RIGHT = 10;
let charts = [];

function drawCharts() {
    charts = charts.filter(({canvas}) => canvas.isConnected);
    for (const chart of charts) {
        if (chart.canvas.clientWidth > 0) {
            chart.draw();
        }
    }
}

/* Marks of an axis: about `count` round values of [low, high]. */
function roundMarks(low, high, count) {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough || 1));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) || power, marks = [];
    for (let mark = Math.ceil(low / step) * step; mark <= high + step * 1e-9; mark += step) {
        marks.push(mark);
    }
    return {marks, step};
}

/* A figure with a canvas. `paint(context, box)`; `at(x, y, box)` -> index of what is there or -1;
 * `text(index)`; `place(index, box)` -> x; `go(index)`; `count()` of what the cursor steps over. */
function chartFigure({id, label, height, paint, at, text, place, go, count, legend}) {
    const canvas = make("canvas", {id, class: "chart", tabindex: 0, role: "img", "aria-label": `${label}. Left and right move, Enter goes there.`});
    const chart = {canvas, cursor: -1, texts: () => Array.from({length: count()}, (_, n) => text(n))};
    canvas.style.height = `${height}px`;
    const boxOf = () => ({x: CHART_LEFT, y: CHART_TOP, width: Math.max(1, canvas.clientWidth - CHART_LEFT - CHART_RIGHT),
        height: height - CHART_TOP - CHART_BOTTOM});
    chart.draw = () => {
        const {context, width} = sized(canvas), box = boxOf();
        context.clearRect(0, 0, width, height);
        paint(context, box);
        if (chart.cursor >= 0) {
            const x = place(chart.cursor, box);
            context.strokeStyle = palette.text;
            context.lineWidth = 1;
            context.setLineDash([3, 3]);
            context.beginPath();
            context.moveTo(x, box.y);
            context.lineTo(x, box.y + box.height);
            context.stroke();
            context.setLineDash([]);
        }
    };
    const pointAt = (event) => {
        const bounds = canvas.getBoundingClientRect();
        return at(event.clientX - bounds.left, event.clientY - bounds.top, boxOf());
    };
    canvas.addEventListener("pointermove", (event) => {
        const index = pointAt(event), tip = $("tip");
        tip.hidden = index < 0;
        if (index >= 0) {
            tip.textContent = text(index);
            const bounds = tip.getBoundingClientRect();
            tip.style.left = `${Math.max(0, Math.min(event.clientX + 14, window.innerWidth - bounds.width - 8))}px`;
            tip.style.top = `${event.clientY + 18 + bounds.height > window.innerHeight ? event.clientY - bounds.height - 10 : event.clientY + 18}px`;
        }
        canvas.style.cursor = index >= 0 && go ? "pointer" : "default";
    });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("click", (event) => {
        const index = pointAt(event);
        hideTip();
        if (index >= 0) {
            chart.cursor = index;
            chart.draw();
            if (go) {
                go(index);
            }
        }
    });
    canvas.addEventListener("keydown", (event) => {
        const step = {ArrowRight: 1, ArrowLeft: -1, PageUp: -10, PageDown: 10}[event.key];
        if (event.key === "Enter" && chart.cursor >= 0 && go) {
            go(chart.cursor);
        } else if (count() && (step || event.key === "Home" || event.key === "End")) {
            chart.cursor = event.key === "Home" ? 0 : event.key === "End" ? count() - 1 :
                Math.max(0, Math.min(count() - 1, chart.cursor < 0 ? 0 : chart.cursor + step));
            say(text(chart.cursor).replaceAll("\n", ", "));
            chart.draw();
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    });
    charts.push(chart);
    return make("figure", {"aria-label": label}, canvas, legend && legend.length ? legendList(legend) : null);
}

function legendList(entries) {
    return make("figcaption", {class: "legend"}, ...entries.map(({name, colour, stripes}) => {
        const swatch = make("span", {class: stripes ? "swatch hatched" : "swatch", "aria-hidden": "true"});
        if (!stripes) {
            swatch.style.background = colour;
        }
        return make("span", {}, swatch, name);
    }));
}

function axes(context, box, {from, to, low, high, yText, log}) {
    context.font = font(11);
    context.lineWidth = 1;
    context.strokeStyle = palette.line;
    context.fillStyle = palette.dim;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const yMarks = log ? logMarks(low, high) : roundMarks(low, high, 4).marks;
    for (const mark of yMarks) {
        const y = Math.round(yOf(box, low, high, log, mark)) + 0.5;
        context.beginPath();
        context.moveTo(box.x, y);
        context.lineTo(box.x + box.width, y);
        context.stroke();
        context.fillText(yText(mark), box.x - 6, y);
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    const {marks, step} = roundMarks(from, to, Math.max(2, box.width / 130));
    for (const mark of marks) {
        const x = box.x + (mark - from) / (to - from) * box.width;
        if (x > box.x + 30 && x < box.x + box.width - 25) {
            context.fillText(axisText(mark, step), x, box.y + box.height + 6);
        }
        context.fillRect(Math.round(x), box.y + box.height, 1, 4);
    }
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
}

function logMarks(low, high) {
    const marks = [];
    for (let power = Math.ceil(Math.log10(low) - 1e-9); 10 ** power <= high * 1.0001; power++) {
        marks.push(10 ** power);
    }
    return marks.length > 1 ? marks : [low, high];
}

function yOf(box, low, high, log, value) {
    const share = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return box.y + box.height - share * box.height;
}

/* Hatches the stretches that are not covered, over what is drawn. */
function hatchGaps(context, box, from, to) {
    context.fillStyle = patternOf(context, "hatch", palette.hatch, null, 8);
    context.globalAlpha = 0.55;
    for (const [begin, end] of report.loaded.gaps) {
        if (end >= from && begin <= to) {
            const a = box.x + (Math.max(begin, from) - from) / (to - from) * box.width;
            const b = box.x + (Math.min(end, to) - from) / (to - from) * box.width;
            context.fillRect(a, box.y, Math.max(3, b - a), box.height);
        }
    }
    context.globalAlpha = 1;
}

/* Series of bins of [from, to], stacked from below. `high`: of the axis, else the largest sum. */
function stackedChart({id, label, height, from, to, series, high, yText, binText}) {
    const bins = series.length ? series[0].values.length : 0, top = new Float64Array(bins);
    for (const {values} of series) {
        values.forEach((value, bin) => { top[bin] += value; });
    }
    const most = high || Math.max(1e-9, top.reduce((a, b) => Math.max(a, b), 0)), step = (to - from) / Math.max(1, bins);
    const shown = series.filter(({values}) => values.some((value) => value > 0));
    return chartFigure({id, label, height: height || 190, count: () => bins, legend: shown,
        paint: (context, box) => {
            const sums = new Float64Array(bins);
            axes(context, box, {from, to, low: 0, high: most, yText});
            for (const {values, colour, stripes} of shown) {
                context.fillStyle = stripes ? patternOf(context, "stripes", palette.hatch, palette.back, 6) : colour;
                for (let bin = 0; bin < bins; bin++) {
                    if (values[bin] > 0) {
                        const x0 = box.x + Math.round(bin / bins * box.width), x1 = box.x + Math.round((bin + 1) / bins * box.width);
                        const y1 = yOf(box, 0, most, false, sums[bin]), y0 = yOf(box, 0, most, false, Math.min(most, sums[bin] + values[bin]));
                        context.fillRect(x0, y0, Math.max(1, x1 - x0), Math.max(y1 - y0, 0.5));
                        sums[bin] += values[bin];
                    }
                }
            }
            hatchGaps(context, box, from, to);
        },
        at: (x, y, box) => x < box.x || x > box.x + box.width || y > box.y + box.height || !bins ? -1 :
            Math.min(bins - 1, Math.floor((x - box.x) / box.width * bins)),
        place: (bin, box) => box.x + (bin + 0.5) / bins * box.width,
        text: (bin) => [`${timeText(from + bin * step)} s to ${timeText(from + (bin + 1) * step)} s`,
            ...shown.filter(({values}) => values[bin] > 0).map(({name, values}) => `${name}: ${(binText || yText)(values[bin])}`).reverse()].join("\n"),
        go: (bin) => showOnTimeline(from + (bin + 0.5) * step, 0, 0)});
}

/* Points over time on a logarithmic axis; `time`, `value`: arrays; `colourOf`, `textOf`, `go`: of an
 * index. */
function pointChart({id, label, from, to, time, value, colourOf, textOf, go, legend, height}) {
    const order = Array.from(time.keys()).sort((a, b) => time[a] - time[b]);
    let low = Infinity, high = 0;
    for (const v of value) {
        low = v > 0 ? Math.min(low, v) : low;
        high = Math.max(high, v);
    }
    low = Number.isFinite(low) ? 10 ** Math.floor(Math.log10(low)) : 1;
    high = Math.max(low * 10, 10 ** Math.ceil(Math.log10(Math.max(high, 1))));
    const xOf = (i, box) => box.x + (time[i] - from) / (to - from) * box.width;
    const yFor = (i, box) => yOf(box, low, high, true, Math.max(low, value[i]));
    return chartFigure({id, label, height: height || 230, count: () => order.length, legend,
        paint: (context, box) => {
            axes(context, box, {from, to, low, high, yText: durationText, log: true});
            hatchGaps(context, box, from, to);
            const size = order.length > 20000 ? 2 : order.length > 2000 ? 3 : 5;
            for (const i of order) {
                context.fillStyle = colourOf(i);
                context.fillRect(xOf(i, box) - size / 2, yFor(i, box) - size / 2, size, size);
            }
        },
        at: (x, y, box) => {
            let best = -1, nearest = 81;
            order.forEach((i, n) => {
                const dx = xOf(i, box) - x, dy = yFor(i, box) - y, far = dx * dx + dy * dy;
                if (far < nearest) {
                    best = n;
                    nearest = far;
                }
            });
            return best;
        },
        place: (n, box) => xOf(order[n], box), text: (n) => textOf(order[n]), go: (n) => go(order[n])});
}

/* Bars with a name each: entries of {name, value}. */
function barChart({id, label, entries}) {
    const most = Math.max(1, ...entries.map(({value}) => value)), least = Math.min(0, ...entries.map(({value}) => value));
    const at = (n, box) => box.x + n / entries.length * box.width;
    return chartFigure({id, label, height: 170, count: () => entries.length,
        paint: (context, box) => {
            const zero = yOf(box, least, most, false, 0);
            context.font = font(11);
            context.textAlign = "right";
            for (const mark of roundMarks(least, most, 3).marks) {
                const y = Math.round(yOf(box, least, most, false, mark)) + 0.5;
                context.fillStyle = palette.line;
                context.fillRect(box.x, y, box.width, 1);
                context.fillStyle = palette.dim;
                context.fillText(countText(mark), box.x - 6, y + 4);
            }
            context.textAlign = "center";
            let free = -Infinity;
            entries.forEach(({name, value}, n) => {
                const y = yOf(box, least, most, false, value), wide = Math.max(1, at(n + 1, box) - at(n, box) - 2);
                context.fillStyle = SERIES_COLOURS[0];
                context.fillRect(at(n, box) + 1, Math.min(y, zero), wide, Math.max(1, Math.abs(zero - y)));
                context.fillStyle = palette.dim;
                const middle = (at(n, box) + at(n + 1, box)) / 2, half = context.measureText(name).width / 2;
                if (middle - half > free) {
                    context.fillText(name, middle, box.y + box.height + 15);
                    free = middle + half + 6;
                }
            });
            context.textAlign = "left";
        },
        at: (x, y, box) => x < box.x || x >= box.x + box.width || !entries.length ? -1 : Math.floor((x - box.x) / box.width * entries.length),
        place: (n, box) => (at(n, box) + at(n + 1, box)) / 2,
        text: (n) => `${entries[n].name}: ${countText(entries[n].value)}`});
}

/* How values are distributed, over steps of a quarter octave. `sorted` ascending. */
function distributionChart({id, label, sorted}) {
    const PER_OCTAVE = 4, stepOf = (value) => Math.floor(Math.log2(Math.max(1, value)) * PER_OCTAVE);
    const first = sorted.length ? stepOf(sorted[0]) : 0, last = sorted.length ? stepOf(sorted[sorted.length - 1]) : 0;
    const edge = (n) => 2 ** ((first + n) / PER_OCTAVE);
    const steps = Array.from({length: last - first + 1}, (_, n) => [edge(n), edge(n + 1), 0]);
    for (const value of sorted) {
        steps[stepOf(value) - first][2]++;
    }
    return stepsChart({id, label, steps, marks: [50, 90, 99].map((percent) => [`p${percent}`, percentile(sorted, percent)])});
}

/* Bars over a logarithmic axis. steps: of [from, to, count], ascending, at least one; marks: of [name, value]. */
function stepsChart({id, label, steps, marks}) {
    const log = (value) => Math.log2(Math.max(1, value)), most = Math.max(1, ...steps.map(([, , count]) => count));
    const from = log(steps[0][0]), to = Math.max(from + 0.25, log(steps[steps.length - 1][1]));
    const xOf = (value, box) => box.x + (log(value) - from) / (to - from) * box.width;
    const edges = [...new Set(steps.flatMap(([begin, end]) => [begin, end]))];
    return chartFigure({id, label, height: 190, count: () => steps.length,
        paint: (context, box) => {
            context.font = font(11);
            context.strokeStyle = palette.line;
            for (const mark of roundMarks(0, most, 4).marks.filter(Number.isInteger)) {
                const y = Math.round(yOf(box, 0, most, false, mark)) + 0.5;
                context.beginPath();
                context.moveTo(box.x, y);
                context.lineTo(box.x + box.width, y);
                context.stroke();
                context.fillStyle = palette.dim;
                context.textAlign = "right";
                context.fillText(countText(mark), box.x - 6, y + 4);
            }
            context.fillStyle = SERIES_COLOURS[0];
            for (const [begin, end, count] of steps.filter((step) => step[2] > 0)) {
                const x0 = xOf(begin, box), x1 = xOf(end, box), y = yOf(box, 0, most, false, count);
                context.fillRect(x0 + 0.5, y, Math.max(1, x1 - x0 - 1), box.y + box.height - y);
            }
            context.textAlign = "center";
            let free = -Infinity;
            for (const edge of edges) {
                const x = xOf(edge, box);
                if (x - free > 70) {
                    context.fillStyle = palette.dim;
                    context.fillText(durationText(Number(edge.toPrecision(3))), Math.min(x, box.x + box.width - 20), box.y + box.height + 16);
                    free = x;
                }
            }
            context.textAlign = "left";
            let below = 0;
            for (const [name, value] of marks) {
                const x = xOf(value, box);
                context.fillStyle = palette.text;
                context.fillRect(Math.round(x), box.y, 1, box.height);
                context.fillText(name, Math.min(x + 3, box.x + box.width - 26), box.y + 10 + below);
                below += 13;
            }
        },
        at: (x, y, box) => y > box.y + box.height ? -1 : steps.findIndex(([begin, end]) => x >= xOf(begin, box) && x < xOf(end, box)),
        place: (n, box) => (xOf(steps[n][0], box) + xOf(steps[n][1], box)) / 2,
        text: (n) => `${durationText(Math.round(steps[n][0]))} to ${durationText(Math.round(steps[n][1]))}: ${countText(steps[n][2])}`});
}
