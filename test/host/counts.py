#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""counts.py: the number of events of a capture is the same in every command: of the golden
captures and of fabricated ones with losses and with events that were added afterwards. An event is
one that was recorded: CONTROL, the format's own marks, and what was added afterwards are counted
apart."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "test/tool"), os.path.join(ROOT, "test/host/report")]
import temporary  # noqa: E402
from page_blocks import blocks  # noqa: E402

KYMO, MKCAPTURE = "build/kymo", "build/tools/mkcapture"
PRINTED = re.compile(r": (\d+) events(?: and (\d+) of class CONTROL)?"
                     r"(?:, (\d+) added afterwards)?$", re.M)
failed = []


def kymo(*arguments):
    done = subprocess.run([KYMO, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    return done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def printed(capture):
    """The events of kymo print: those that were recorded, CONTROL, those that were added."""
    events = [json.loads(line) for line in kymo("print", "--json", capture)[0].splitlines()]
    added = sum(bool(event.get("injected")) for event in events)
    control = sum(event["class"] == "CONTROL" and not event.get("injected") for event in events)
    return len(events) - control - added, control, added


def counts(capture, folder):
    """The events of a capture by each command."""
    stat = json.loads(kymo("stat", "--json", capture)[0])
    yield "stat --json", (stat["events"], stat["classes"].get("CONTROL", 0), stat["injected"])
    yield "stat --json, by kind", sum(
        kind["count"] for kind in stat["event_counts"] if kind["class"] != "CONTROL")
    yield "stat --json, by CPU", sum(cpu["events"] for cpu in stat["cpus"])
    yield "stat", int(re.search(r" s, (\d+) events", kymo("stat", capture)[0])[1])
    found = PRINTED.search(kymo("print", "-v", capture)[1])
    yield "print -v", found and tuple(int(n or 0) for n in found.groups())
    end = json.loads(kymo("export", "--jsonl", capture)[0].splitlines()[-1])
    yield "export --jsonl", (end["events"], end.get("control"), end.get("added"))
    for form in "--chrome", "--speedscope":
        yield f"export {form}", json.loads(kymo("export", form, capture)[0])["kymo"]["events"]
    page = f"{folder}/page.html"
    kymo("report", "--force", "-o", page, capture)
    tables = [json.loads(data) for name, _, data in blocks(page) if name == "tables"]
    yield "report", tables[0]["events"]


def captures(folder):
    yield from sorted(glob.glob("test/host/golden/*.kev"))
    yield from sorted(glob.glob("test/host/golden/old/*.kev"))
    for number, kinds in enumerate((["lossy"], ["refused"], ["foreign"], ["old", "lossy"])):
        path = f"{folder}/{number}.kev"
        subprocess.run([MKCAPTURE, path, "2", "3000", str(number), *kinds], check=True)
        yield path
    for seed in "3", "4":
        path = f"{folder}/s{seed}.kev"
        subprocess.run([MKCAPTURE, "simulate", "--seed", seed, "--loss", path], check=True,
                       stdout=subprocess.DEVNULL)
        yield path
        cut = f"{folder}/c{seed}.kev"  # it says which threads ran when it begins
        kymo("cut", "--from", "100ms", "-o", cut, path)
        yield cut


def main():
    compared, marks = 0, [0, 0, 0]
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        for capture in captures(folder):
            wanted = printed(capture)
            marks = [a + b for a, b in zip(marks, wanted)]
            for what, found in counts(capture, folder):
                compared += 1
                if found not in (wanted, wanted[0]):
                    failed.append(f"{capture}: {what} has {found} events, print {wanted}")
    if 0 in marks:
        failed.append(f"nothing of a kind was counted: {marks}")
    for line in failed[:20]:
        print("FAIL", line)
    print(f"{compared - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
