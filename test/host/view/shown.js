/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that a page shows of [from, to]: a function's body, for test/host/view/check.py. Names are texts, as
 * indexes of names differ from part to part.
 */
const [from, to] = arguments, {states, spans, arrows, tables, marks} = report.loaded;
const name = (n) => tables.names[n].slice(0, 2).join(" "), found = {states: [], spans: [], arrows: [], marks: 0};
for (let t = 0; t + 1 < states.offset.length; t++) {
    for (let i = states.offset[t]; i < states.offset[t + 1]; i++) {
        const end = i + 1 < states.offset[t + 1] ? states.start[i + 1] : states.ends[t];
        if (states.start[i] <= to && end > from) {
            found.states.push([t, states.start[i], end > to ? 0 : end, states.state[i], states.cpu[i], states.cause[i],
                states.by[i], states.waits[i], states.priority[i], states.flags[i], name(states.object[i])].join());
        }
    }
}
for (let l = 0; l + 1 < spans.offset.length; l++) {
    for (let i = spans.offset[l]; i < spans.offset[l + 1]; i++) {
        if (spans.start[i] <= to && spans.end[i] >= from) {
            found.spans.push([l, spans.start[i], spans.end[i], spans.depth[i], spans.type[i], name(spans.name[i])].join());
        }
    }
}
for (let i = 0; i < arrows.to.length; i++) {
    if (arrows.to[i] >= from && arrows.to[i] <= to) {
        found.arrows.push([arrows.to[i], arrows.duration[i], arrows.source[i], arrows.target[i], arrows.type[i]].join());
    }
}
found.marks = marks.time.filter((time) => time >= from && time <= to).length;
found.states.sort();
found.spans.sort();
found.arrows.sort();
return found;
