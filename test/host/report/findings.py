# SPDX-License-Identifier: BSD-2-Clause
"""The page's findings against those of `kymo diagnose --json`, and what a click and Enter show."""
import json
import subprocess

import plant
from plant import FIRST, MS, Plant

LIST = """return [...document.querySelectorAll('#findings-table tbody tr')].map((tr) =>
    [...tr.cells].map((td) => td.textContent))"""
PANE = "return document.getElementById('pane').textContent"
LOSS = 8  # of class CONTROL: a buffer's lost events


def deadlock(name="pair", lost=False):
    """Two threads that wait for each other's mutexes; lost: events of threads are missing, too."""
    system = Plant()
    system.process(2000, 5, name, 2)
    system.lock(FIRST, 0, 5, 1, 0x4000, 2)
    system.lock(FIRST + 1000, 0, 5, 2, 0x5000, 1)
    system.idle(FIRST + 2000)
    if lost:
        system.at(FIRST + 400 * MS, 0, plant.fabricate.CONTROL, LOSS,
                  [1 << 8 | plant.PR_TH, 7])
    system.idle(FIRST + 500 * MS)
    return system


def sound(lost=False):
    system = Plant()
    system.process(2000, 5, "any")
    if lost:
        system.at(FIRST, 0, plant.fabricate.CONTROL, LOSS, [1 << 8 | plant.PR_TH, 7])
    system.idle(FIRST + 100)
    return system


def diagnosed(kymo, path):
    rows = [json.loads(line) for line in kymo("diagnose", "--json", path).stdout.splitlines()]
    return [r for r in rows if "finding" in r], [r for r in rows if "untold" in r]


def told(row):
    """The lines of the page have what the command says."""
    more = f" (and {row['count'] - 1} more)" if row["count"] > 1 else ""
    return row["finding"], row["title"], row["text"] + more, row["confidence"]


def agree(b, kymo, ok, name, path):
    found, untold = diagnosed(kymo, path)
    got = [tuple(row[1:4]) + (row[5],) for row in b.run(LIST)]
    ok(f"findings: {name}: those of kymo diagnose, in its order",
       got == [told(row) for row in found], f"{got} {found}")
    text = b.run(PANE)
    ok(f"findings: {name}: what nobody can tell, why, and the remedy", all(
        row["untold"] in text and row["reason"] in text and row["remedy"] in text
        for row in untold) and bool(untold) == ("Can't tell" in text), text)
    return found, untold


def made(kymo, ok, folder, name, system, *words):
    path, page = f"{folder}/{name}.kev", f"{folder}/{name}.html"
    system.capture.write(path)
    done = kymo("report", "--force", *words, path, "-o", page)
    ok(f"findings: {name}: a page", done.returncode in (0, 1) and b"anitizer" not in done.stderr,
       done.stderr)
    return path, page


def goes_there(b, ok, name, press):
    """A finding's line opens the timeline at its time, with its thread and its chain."""
    press()
    b.until("pane.active === 'timeline' && view.why && document.getElementById('why')", name)
    ok(f"findings: {name}: its time with some margin", b.run("""
        const {from, to} = report.loaded.tables.findings.list[0];
        return view.from < from && view.to >= Math.min(to, report.loaded.tables.last) &&
            view.why.from === from && view.why.to === to && view.cursor === from"""))
    ok(f"findings: {name}: its thread is selected and in sight", b.run("""
        const row = view.rows[view.row], info = report.loaded.tables.threads[row.thread];
        return row.type === 'thread' && info[0] === 5 && info[1] === 1 && row.y >= view.scroll &&
            row.y + row.height <= view.scroll + view.height - AXIS && view.height > 100"""))
    ok(f"findings: {name}: the chain goes to the other thread",
       b.run("return whyLeaves(view.why).some((p) => p.thread !== view.why.thread)"))
    b.until("location.hash === viewLink()", "its link")


def a_finding(b, kymo, ok, folder, ready):
    path, page = made(kymo, ok, folder, "deadlock", deadlock())
    ready(b, page)
    b.until("pane.active === 'findings' && document.getElementById('findings-table')", "findings")
    ok("findings: the page opens on them", b.run(
        "return document.querySelector('#tabs [role=tab]').id === 'tab-findings' &&"
        "document.getElementById('tab-findings').textContent === 'Findings (1)'"))
    agree(b, kymo, ok, "deadlock", path)
    goes_there(b, ok, "a click", lambda: b.click("#findings-table tbody tr"))
    ok("findings: the keyboard is on the timeline then",
       b.run("return document.activeElement.id === 'canvas'"))
    link = b.run("return location.hash")
    b.run("clearAll(); showTimes(...wholeSpan()); view.row = -1; openView('findings')")
    b.until("document.getElementById('findings-table')", "findings again")
    b.run("document.querySelector('#findings-table tbody tr').focus()")
    goes_there(b, ok, "Enter", lambda: b.keys("Enter"))
    ready(b, page, link)
    ok("findings: a link shows what it says", b.run(
        "return pane.active === 'timeline' && view.why !== null"))
    ready(b, page, "#v=findings")
    ok("findings: they have a link", b.run("return pane.active") == "findings")
    goes_there(b, ok, "a click after a link", lambda: b.click("#findings-table tbody tr"))
    with open(path, "rb") as f:
        piped = subprocess.run(["build/kymo", "report", "--force", "-", "-o", page],
                               input=f.read(), capture_output=True, check=False)
    ready(b, page)
    ok("findings: of standard input, too", b.run(
        "return report.loaded.tables.findings.list.length") == 1, piped.stderr)


def none(b, kymo, ok, folder, ready):
    path, page = made(kymo, ok, folder, "sound", sound())
    ready(b, page)
    ok("findings: none: the page opens on the timeline", b.run("return pane.active") == "timeline")
    b.run("openView('findings')")
    b.until("document.getElementById('no-findings')", "that there is none")
    found, untold = agree(b, kymo, ok, "none", path)
    text, kinds = b.run(PANE), kymo("diagnose", "--list").stdout.decode().splitlines()
    ok("findings: none: that is said, and what was looked for", not found and not untold and
       "Nothing was found" in text and all(line.split(None, 1)[1] in text for line in kinds), text)


def untold(b, kymo, ok, folder, ready):
    path, page = made(kymo, ok, folder, "untold", sound(lost=True))
    ready(b, page)
    ok("findings: losses alone: the page opens on the timeline",
       b.run("return pane.active") == "timeline")
    b.run("openView('findings')")
    b.until("document.getElementById('untold-table')", "what nobody can tell")
    found, untold_rows = agree(b, kymo, ok, "untold", path)
    ok("findings: losses are one", [r["finding"] for r in found] == ["lost"] and untold_rows, found)
    b.click("#findings-table tbody tr")
    b.until("pane.active === 'timeline' && view.cursor !== null", "the time of a loss")
    ok("findings: a loss has a place and no why", b.run(
        "return view.why === null && view.rows[view.row].type === 'cpu'"))
    path, page = made(kymo, ok, folder, "both", deadlock(lost=True))
    ready(b, page)
    agree(b, kymo, ok, "both", path)


def hostile(b, kymo, ok, folder, ready):
    path, page = made(kymo, ok, folder, "hostile", deadlock("<img src=x onerror=hurt=1>"))
    ready(b, page)
    b.until("document.getElementById('findings-table')", "findings")
    agree(b, kymo, ok, "hostile", path)
    ok("findings: names are text", b.run(
        "return document.images.length === 0 && typeof hurt === 'undefined'"))


def without_events(b, kymo, ok, folder, ready):
    path, page = made(kymo, ok, folder, "levels", deadlock(), "--most", "0")
    ready(b, page)
    b.until("document.getElementById('findings-table')", "findings")
    agree(b, kymo, ok, "without events", path)
    b.click("#findings-table tbody tr")
    b.until("pane.active === 'timeline' && view.cursor !== null", "the timeline")
    ok("findings: without events: the thread", b.run(
        "return report.loaded.tables.threads[view.rows[view.row].thread][1]") == 1)


def shown(b, kymo, ok, folder, ready):
    for part in a_finding, none, untold, hostile, without_events:
        part(b, kymo, ok, folder, ready)
    faults = b.run("return report.faults") + b.complaints()
    ok("findings: nothing on the console", not faults, faults)
