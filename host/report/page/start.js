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

function begin(loaded) {
    const {tables} = loaded;
    report.loaded = loaded;
    loaded.gaps = uncoveredOf(tables, -1);
    loaded.density = loaded.levels ? levelLoad(loaded) : loaded.density;
    document.title = `${tables.file} - Kymo report`;
    $("title").textContent = tables.file;
    $("facts").textContent = [tables.board, `${tables.cpus} CPU${tables.cpus === 1 ? "" : "s"}`,
        `${countText(tables.events)} events`, durationText(tables.last - tables.first)].filter(Boolean).join(" \u00b7 ");
    $("search").disabled = false;
    say("");
    view.width = $("canvas").clientWidth;
    view.height = $("canvas").clientHeight;
    readPalette();
    layout();
    loadBookmarks();
    showBanner();
    drawLegend();
    viewsBegin();
    if (!followLink(location.hash)) {
        showTimes(...wholeSpan());
    }
    showPanel().catch(fail);
    new ResizeObserver(() => { scrollTo(view.scroll); drawSoon(); }).observe($("canvas"));
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

worker.onerror = (event) => fail(event.message || "the worker could not be started");
worker.onmessage = (message) => {
    const {id, answer, failed, loaded, progress} = message.data;
    try {
        if (loaded) {
            begin(loaded);
            listen();
        } else if (progress !== undefined) {
            say(`Reading: ${Math.round(100 * progress)} %`);
        } else if (waiting.has(id)) {
            const {resolve, reject} = waiting.get(id);
            waiting.delete(id);
            if (failed) {
                reject(new Error(failed));
            } else {
                resolve(answer);
            }
        } else if (failed) {
            fail(failed);
        }
    } catch (error) {
        fail(error);
    }
};

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
        return {stream: element.dataset.stream, rows: Number(element.dataset.rows), length: Number(element.dataset.bytes), text};
    });
    worker.postMessage({id: 0, what: "load", blocks});
})();
