/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page's program, last part: loads the blocks and begins.
 */

function drawLegend() {
    const {tables, levels} = report.loaded, seen = new Set(levels ? levelStates(report.loaded) : report.loaded.states.state);
    $("legend").replaceChildren(...LEGEND.filter((state) => seen.has(state)).map((state) => {
        const swatch = make("canvas", {width: 36, height: 28, "aria-hidden": "true"}), pen = swatch.getContext("2d");
        pen.scale(2, 2);
        bar(pen, 0, 18, 0, 14, styleOf(state));
        return make("span", {}, swatch, stateText(state));
    }), levels ? "" : make("span", {}, "\u25bc user events, D records, logs"), tables.lossCount || report.loaded.gaps.length ?
        make("span", {}, "hatched: not covered") : null || "");
}

/* Makes this what is shown: of a page the only one, of a served one each part and growth. */
function adopt({loaded, worker: its}) {
    const {tables} = loaded, row = view.rows[view.row];
    report.loaded = loaded;
    worker = its;
    forgetNames();
    loaded.gaps = loaded.gaps || uncoveredOf(tables, -1);
    if (loaded.levels) {
        loaded.density = levelLoad(loaded);
    }
    document.title = `${tables.file} - Kymo report`;
    $("title").textContent = tables.file;
    $("facts").textContent = [tables.board, `${tables.cpus} CPU${tables.cpus === 1 ? "" : "s"}`,
        `${countText(tables.events)} events`, durationText(tables.last - tables.first)].filter(Boolean).join(" \u00b7 ");
    layout();
    view.row = row ? rowIndex(row.key) : view.row;
    showBanner();
    drawLegend();
    nameFindings();
}

function begin(one) {
    view.width = $("canvas").clientWidth;
    view.height = $("canvas").clientHeight;
    readPalette();
    adopt(one);
    $("search").disabled = false;
    say("");
    loadBookmarks();
    viewsBegin();
    if (!followLink(location.hash)) {
        showTimes(...wholeSpan());
        if (!location.hash && hasFaults()) {
            openView("findings");
        }
    }
    showPanel().catch(fail);
    new ResizeObserver(() => { scrollTo(view.scroll); drawSoon(); }).observe($("canvas"));
    listen();
    document.documentElement.dataset.ready = "true";
}

function listen() {
    const canvas = $("canvas");
    canvas.addEventListener("pointerdown", pointerDown);
    canvas.addEventListener("pointermove", pointerMove);
    canvas.addEventListener("pointerup", pointerUp);
    canvas.addEventListener("pointercancel", pointerUp);
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("wheel", wheel, {passive: false});
    $("overview").addEventListener("pointerdown", overviewPoint);
    $("overview").addEventListener("pointermove", overviewPoint);
    for (const [id, action] of Object.entries(actions)) {
        $(id).addEventListener("click", action);
    }
    $("search").addEventListener("input", () => { searchAt = null; $("found").textContent = ""; });
    document.addEventListener("keydown", keyDown);
    window.addEventListener("hashchange", () => { followLink(location.hash); showPanel().catch(fail); drawSoon(); });
}

window.addEventListener("error", (event) => report.faults.push(event.message));
window.addEventListener("unhandledrejection", (event) => fail(event.reason));

(function start() {
    let kept = null;
    try {
        kept = localStorage.getItem("kymo theme");
    } catch {
        /* A browser that keeps nothing for files. */
    }
    document.documentElement.dataset.theme = kept === "dark" || kept === "light" ? kept :
        matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const blocks = [...document.querySelectorAll("script[data-stream]")].map((element) => {
        const text = element.textContent;
        element.remove();
        return {stream: element.dataset.stream, rows: Number(element.dataset.rows), length: Number(element.dataset.bytes),
            deflatedLength: Number(element.dataset.deflated), text};
    });
    ($("served") ? servedBegin() : loadBlocks(blocks).then(begin)).catch(fail);
})();
