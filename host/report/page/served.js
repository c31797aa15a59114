/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of `kymo view`: asks the server for what it shows. `whole` is all of the capture, or of a
 * large one its levels of detail; `part` then the blocks of events around what is visible. A growing
 * capture is asked for anew when there is more (a generation); while it is followed the view moves
 * with its end.
 */

const FOLLOW_SPAN = 10e9; /* ns */

const served = {on: false, generation: 0, version: 0, whole: null, part: null, asking: "", live: false,
    follow: false, gone: false, renewing: false, move: 0};

/* ---- the server -------------------------------------------------------------------- */

async function servedFetch(path) {
    const answer = await fetch(path, {cache: "no-store", credentials: "omit"});
    if (!answer.ok) {
        throw Object.assign(new Error(`the server: ${(await answer.text()).trim()}`), {status: answer.status});
    }
    return answer;
}

/* The blocks of an answer: a line "NAME ROWS BYTES LENGTH", then the deflated bytes. */
function servedBlocks(buffer) {
    const bytes = new Uint8Array(buffer), blocks = [], text = new TextDecoder();
    for (let at = 0; at < bytes.length;) {
        const end = bytes.indexOf(10, at), [stream, rows, length, deflated] = text.decode(bytes.subarray(at, end)).split(" ");
        at = end + 1 + Number(deflated);
        blocks.push({stream, rows: Number(rows), length: Number(length), deflated: bytes.slice(end + 1, at)});
    }
    return blocks;
}

async function servedLoad(path) {
    return loadBlocks(servedBlocks(await (await servedFetch(path)).arrayBuffer()));
}

/* ---- which part -------------------------------------------------------------------- */

/* The part of a large capture that is loaded and shown; null: there is none, or it is the whole. */
function servedPart() {
    return served.on && served.part && report.loaded === served.part.loaded ? served.part.loaded.tables.served : null;
}

function servedMost() {
    return 65536 * served.whole.loaded.tables.served.most;
}

function visible() {
    const {first, last} = report.loaded.tables;
    return [Math.max(first, Math.min(last, view.from)), Math.min(last, Math.max(first, view.to))];
}

/* Shows the part if it has all that is visible, else the levels. */
function servedChoose() {
    if (!served.on || !served.whole.loaded.levels) {
        return;
    }
    const [from, to] = visible(), part = served.part && served.part.loaded.tables.served;
    const one = part && from >= part.from && to <= part.to ? served.part : served.whole;
    if (one.loaded !== report.loaded) {
        adopt(one);
        showPanel().catch(fail);
        showView(true).catch(fail);
    }
}

/* The window to ask for: what is visible, and as much on both sides, in blocks; null: it is too long. */
function servedWindow() {
    const {blocks, most} = served.whole.loaded.tables.served, [from, to] = visible();
    let low = 0, high = blocks.length - 1;
    while (low < high && blocks[low + 1] <= from) {
        low++;
    }
    while (high > low && blocks[high] > to) {
        high--;
    }
    const count = high - low + 1, more = Math.floor(Math.min(count, most - count) / 2);
    if (count > most) {
        return null;
    }
    return [blocks[Math.max(0, low - more)], high + more + 1 < blocks.length ? blocks[high + more + 1] - 1 : report.loaded.tables.last];
}

/* Asks for the part that is needed; called when the view has come to rest. */
async function servedAsk() {
    if (!served.on || served.gone || !served.whole.loaded.levels || servedPart()) {
        return;
    }
    const window = servedWindow(), {generation} = served;
    if (window === null) {
        return;
    }
    const path = `part?from=${Math.floor(window[0])}&to=${Math.ceil(window[1])}&generation=${generation}`;
    if (served.asking === path) {
        return;
    }
    served.asking = path;
    say("Reading the events\u2026");
    let one;
    try {
        one = await servedLoad(path);
    } catch (error) {
        if (served.asking === path) {
            served.asking = "";
            say("");
        }
        if (error.status === undefined) {
            servedGone();
        } else if (error.status === 503) {
            setTimeout(linkSoon, 500);
        } else if (error.status !== 409 && error.status !== 413) {
            throw error;
        }
        return;
    }
    if (served.asking !== path || served.generation !== generation) {
        endWorker(one.worker);
        return;
    }
    served.asking = "";
    say("");
    one.loaded.density = served.whole.loaded.density;
    one.loaded.gaps = served.whole.loaded.gaps;
    const old = served.part;
    served.part = one;
    if (old) {
        if (report.loaded === old.loaded) {
            adopt(served.whole);
        }
        endWorker(old.worker);
    }
    servedChoose();
    drawSoon();
}

/* ---- growth ------------------------------------------------------------------------ */

function servedNews(text, share) {
    $("news").hidden = text === "";
    $("news").textContent = text + (share >= 0 ? `: ${Math.floor(100 * share)} %` : "");
}

function servedGone() {
    served.gone = true;
    setFollow(false);
    $("follow").hidden = true;
    servedNews("kymo view has ended: what is here stays, nothing more comes", -1);
}

function setFollow(on) {
    served.follow = on;
    press("follow", on);
    cancelAnimationFrame(served.move);
    if (on && report.loaded) {
        const {last} = report.loaded.tables, span = Math.min(FOLLOW_SPAN, view.to - view.from);
        servedMove(last - span, last);
    }
}

/* The user goes elsewhere. */
function servedStay() {
    if (served.follow) {
        setFollow(false);
    }
}

/* Moves the view there, not at once. */
function servedMove(from, to) {
    const begin = [view.from, view.to], started = performance.now(), calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    cancelAnimationFrame(served.move);
    const step = (now) => {
        const share = calm ? 1 : Math.min(1, Math.max(0, (now - started) / 700));
        showTimes(begin[0] + (from - begin[0]) * share, begin[1] + (to - begin[1]) * share);
        served.move = share < 1 ? requestAnimationFrame(step) : 0;
    };
    served.move = requestAnimationFrame(step);
}

/* A newer generation: all that is shown is of it from now on. */
async function servedRenew(generation) {
    const one = await servedLoad("whole"), {whole, part} = served, was = wholeSpan();
    const all = view.from <= was[0] && view.to >= was[1];
    served.generation = one.loaded.tables.served.generation;
    served.whole = one;
    served.part = null;
    served.asking = "";
    adopt(one);
    endWorker(whole.worker);
    if (part) {
        endWorker(part.worker);
    }
    view.why = null;
    if (served.follow) {
        const {first, last} = one.loaded.tables;
        servedMove(Math.max(first, last - Math.min(FOLLOW_SPAN, Math.max(view.to - view.from, FOLLOW_SPAN / 100))), last);
    } else if (all && !served.live) {
        showTimes(...wholeSpan());
    }
    linkSoon();
    drawSoon();
    showPanel().catch(fail);
    await showView(true);
    document.documentElement.dataset.generation = String(served.generation);
    return generation;
}

/* Waits for news, and shows them. */
async function servedListen() {
    for (;;) {
        let state;
        try {
            state = await (await servedFetch(`state?after=${served.version}`)).json();
        } catch {
            servedGone();
            return;
        }
        served.version = state.version;
        servedNews(state.said, state.share);
        if (state.generation !== served.generation) {
            try {
                await servedRenew(state.generation);
            } catch (error) {
                if (error.status === undefined) {
                    throw error;
                }
                await new Promise((go) => setTimeout(go, 500)); /* busy, or a newer one already */
            }
        }
        $("follow").hidden = !served.live || !state.grows;
    }
}

async function servedBegin() {
    let state = await (await servedFetch("state")).json();
    while (state.generation === 0) {
        servedNews(state.said, state.share);
        state = await (await servedFetch(`state?after=${state.version}`)).json();
    }
    served.version = state.version;
    served.live = state.live;
    served.whole = await servedLoad("whole");
    served.generation = served.whole.loaded.tables.served.generation;
    served.on = true;
    servedNews(state.said, state.share);
    begin(served.whole);
    document.documentElement.dataset.generation = String(served.generation);
    $("follow").hidden = !served.live || !state.grows;
    if (served.live && state.grows && !location.hash.includes("t=")) {
        setFollow(true);
    }
    await servedListen();
}

actions.follow = () => setFollow(!served.follow);
KEY_ACTIONS.l = () => $("follow").hidden || actions.follow();
KEYS.push(["L", "follow a recording"]);
