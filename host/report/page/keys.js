/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pointer, wheel, touch and keys.
 */

const pointers = new Map();
let drag = null, hovered = false;

function pointOf(event) {
    const box = $("canvas").getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
}

/* ---- pointers ---------------------------------------------------------------------- */

function pointerDown(event) {
    servedStay();
    const at = pointOf(event);
    hideTip();
    $("canvas").setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) {
        const [a, b] = [...pointers.values()];
        drag = {pinch: true, distance: Math.max(10, Math.abs(a.x - b.x)), from: view.from, to: view.to, middle: timeAt((a.x + b.x) / 2)};
        return;
    }
    drag = {at, from: view.from, to: view.to, scroll: view.scroll, moved: false,
        measure: (event.shiftKey || view.measuring) && at.x > GUTTER, time: timeAt(at.x)};
}

function pointerMove(event) {
    const at = pointOf(event);
    if (!pointers.has(event.pointerId)) {
        hover(event, at);
        return;
    }
    pointers.set(event.pointerId, at);
    if (drag.pinch) {
        const [a, b] = [...pointers.values()];
        if (a && b) {
            const factor = drag.distance / Math.max(10, Math.abs(a.x - b.x)), span = (drag.to - drag.from) * factor;
            const share = ((a.x + b.x) / 2 - GUTTER) / plotWidth();
            showTimes(drag.middle - share * span, drag.middle + (1 - share) * span);
        }
        return;
    }
    drag.moved = drag.moved || Math.hypot(at.x - drag.at.x, at.y - drag.at.y) > 4;
    if (!drag.moved) {
        return;
    }
    if (drag.measure) {
        const now = timeAt(Math.max(GUTTER, Math.min(view.width, at.x)));
        view.range = [Math.min(drag.time, now), Math.max(drag.time, now)];
        say(`Measured: ${durationText(view.range[1] - view.range[0])}`);
        drawSoon();
        return;
    }
    const by = (drag.at.x - at.x) / plotWidth() * (drag.to - drag.from), [begin, end] = wholeSpan();
    const held = Math.max(begin - drag.from, Math.min(end - drag.to, by));
    showTimes(drag.from + held, drag.to + held);
    scrollTo(drag.scroll + drag.at.y - at.y);
}

function pointerUp(event) {
    const at = pointOf(event), was = drag;
    pointers.delete(event.pointerId);
    drag = pointers.size ? {...was, pinch: true} : null;
    if (!was || was.pinch || event.type === "pointercancel") {
        return;
    }
    if (was.measure && was.moved) {
        setCursor(view.range[0]);
    } else if (!was.moved) {
        click(at);
    }
}

function click(at) {
    const index = rowBelow(at.y);
    if (index >= 0) {
        view.row = index;
        if (at.x < GUTTER && view.rows[index].type === "process") {
            toggle(view.rows[index]);
            return;
        }
    }
    if (at.x >= GUTTER) {
        setCursor(timeAt(at.x));
    } else {
        drawSoon();
    }
}

function toggle(row) {
    if (!view.closed.delete(row.key)) {
        view.closed.add(row.key);
    }
    layout();
}

function hover(event, at) {
    const index = rowBelow(at.y), row = view.rows[index];
    hovered = true;
    if (!row || at.x < GUTTER) {
        hideTip();
        return;
    }
    const time = timeAt(at.x), tip = $("tip");
    tip.textContent = [`${timeText(time)} s`, ...describe(row, time)].join("\n");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(0, Math.min(event.clientX + 14, window.innerWidth - box.width - 8))}px`;
    tip.style.top = `${event.clientY + 18 + box.height > window.innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
}

function hideTip() {
    $("tip").hidden = true;
}

function wheel(event) {
    const at = pointOf(event);
    event.preventDefault();
    const scale = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 200 : 1;
    if (at.x < GUTTER) {
        scrollTo(view.scroll + event.deltaY * scale);
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        pan((event.deltaX || event.deltaY) * scale / plotWidth());
    } else {
        zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY * scale * 0.002))), timeAt(at.x));
    }
}

function overviewPoint(event) {
    if (event.buttons === 0 && event.type === "pointermove") {
        return;
    }
    servedStay();
    const box = $("overview").getBoundingClientRect(), [begin, end] = wholeSpan();
    const time = begin + (event.clientX - box.left - GUTTER) / Math.max(1, box.width - GUTTER) * (end - begin);
    const half = (view.to - view.from) / 2;
    showTimes(time - half, time + half);
}

/* ---- keys -------------------------------------------------------------------------- */

const middleTime = () => view.cursor !== null && view.cursor >= view.from && view.cursor <= view.to ?
    view.cursor : (view.from + view.to) / 2;

function selectRow(by) {
    view.row = Math.max(0, Math.min(view.rows.length - 1, view.row + by));
    revealRow(view.row);
    setCursor(middleTime());
}

/* To the next or last change of the row: of a thread's state, of what a CPU runs. */
function stepRow(by) {
    const row = view.rows[view.row], {states, running} = report.loaded;
    if (!row || row.lane === undefined) {
        return;
    }
    const start = row.type === "cpu" ? running.start : states.start;
    const offset = row.type === "cpu" ? running.offset : states.offset, lane = row.type === "cpu" ? row.cpu : row.lane;
    const time = middleTime(), at = rowAt(start, offset[lane], offset[lane + 1], by > 0 ? time : time - 1);
    const next = by > 0 ? at + 1 : at;
    if (next >= offset[lane] && next < offset[lane + 1]) {
        goTo(start[next], 0);
    }
}

let measureFrom = null;

function measureKey() {
    const time = middleTime();
    if (measureFrom === null) {
        measureFrom = time;
        say(`Measuring from ${timeText(time)} s: move, then M again`);
        return;
    }
    view.range = [Math.min(measureFrom, time), Math.max(measureFrom, time)];
    measureFrom = null;
    say(`Measured: ${durationText(view.range[1] - view.range[0])}`);
    setCursor(time);
}

function clearAll() {
    view.cursor = view.range = view.why = measureFrom = null;
    view.row = -1;
    hideTip();
    showSummary();
    linkSoon();
    drawSoon();
}

function setTheme(name) {
    document.documentElement.dataset.theme = name;
    try {
        localStorage.setItem("kymo theme", name);
    } catch {
        /* It holds as long as the page. */
    }
    readPalette();
    drawLegend();
    drawSoon();
    showView(true).catch(fail);
}

function press(id, on) {
    $(id).setAttribute("aria-pressed", String(on));
}

const actions = {
    fit: () => servedStay() || showTimes(...wholeSpan()),
    in: () => zoom(0.5, middleTime()),
    out: () => zoom(2, middleTime()),
    measure: () => {
        view.measuring = !view.measuring;
        press("measure", view.measuring);
    },
    arrows: () => {
        view.showArrows = !view.showArrows;
        press("arrows", view.showArrows);
        drawSoon();
    },
    bookmark: () => addBookmark(),
    theme: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
    help: () => showHelp(),
};

const KEY_ACTIONS = {
    ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), ArrowUp: () => selectRow(-1), ArrowDown: () => selectRow(1),
    "+": actions.in, "=": actions.in, "-": actions.out, f: actions.fit, "0": actions.fit, a: actions.arrows, t: actions.theme,
    b: actions.bookmark, w: askWhy, "?": actions.help, m: measureKey, "[": () => stepRow(-1), "]": () => stepRow(1),
    n: () => find(1), N: () => find(-1), Escape: clearAll,
    z: () => view.range && showTimes(...view.range),
    Home: () => servedStay() || showTimes(wholeSpan()[0], wholeSpan()[0] + view.to - view.from),
    End: () => showTimes(wholeSpan()[1] - (view.to - view.from), wholeSpan()[1]),
    Enter: () => {
        const row = view.rows[view.row];
        if (row && row.type === "process") {
            toggle(row);
        } else {
            setCursor(middleTime());
        }
    },
    "/": () => $("search").focus(),
};

function keyDown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) {
        return;
    }
    const typing = event.target instanceof HTMLInputElement;
    if (typing) {
        if (event.key === "Enter") {
            find(event.shiftKey ? -1 : 1).catch(fail);
        } else if (event.key === "Escape") {
            $("canvas").focus();
        }
        return;
    }
    const inPlace = event.target.closest && event.target.closest("button, tr, #panel");
    if (inPlace && ["Enter", " ", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) {
        return;
    }
    const action = KEY_ACTIONS[event.key];
    if (action) {
        event.preventDefault();
        const done = action();
        if (done instanceof Promise) {
            done.catch(fail);
        }
    }
}
