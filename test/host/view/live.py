#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""live.py [CASE...]: kymo view -t with a board: the page grows in chromium while tracelogger sends,
and ends with all of the capture; an interrupt and a link that is pulled lose nothing that came."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "test/board"), os.path.join(ROOT, "test/host/report"),
                os.path.join(ROOT, "test/tool")]
import link  # noqa: E402
import browser  # noqa: E402
import patience  # noqa: E402
from guest import expect, run_tests  # noqa: E402

BOARD = "mps2-an386"
RECORD = "tracelogger -c -F 1 -F 2 -f link:x.kev &\r"


class Work:
    """What a board has to record: pidin, again when it has answered. Typed faster than it prints,
    it would keep the board busy after a test has what it waits for, and lines would be lost."""
    board, answers, until = None, 0, 0.0

    @classmethod
    def go_on(cls, board):
        answers = len(re.findall(r" pidin +\d+\w +RUNNING", board.printed()))
        if board is not cls.board or answers > cls.answers or time.monotonic() > cls.until:
            cls.board, cls.answers = board, answers
            cls.until = time.monotonic() + patience.seconds(1)
            board.type("pidin\r")


class View:
    def __init__(self, board, target, *words):
        self.board = board
        self.process = board.start("view", *words, "-t", target)
        self.url = self.process.stdout.readline().strip()
        expect(self.url.startswith("http://127.0.0.1:"), self.url or self.process.stderr.read())

    def state(self):
        with urllib.request.urlopen(self.url + "state") as answer:
            return json.load(answer)

    def until(self, condition, what, busy=True):
        """Meanwhile the board has something to record."""
        def holds():
            if self.process.poll() is not None:
                expect(False, f"ended: {self.process.returncode}: {self.process.stderr.read()}")
            if busy:
                Work.go_on(self.board)
            return condition(self.state())
        self.board.wait_for(holds, what)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=link.SLOW)
        return self.process.returncode, said


def events(path):
    done = subprocess.run([link.KYMO, "print", "--json", path], capture_output=True, text=True)
    expect(done.returncode in (0, 1), done.stderr)
    return len([line for line in done.stdout.splitlines()
                if '"class"' in line and '"CONTROL"' not in line and '"injected":true' not in line])


def a_page_grows_to_the_end(board):
    view = View(board, f"unix:{board.raw}", "-o", "grown.kev", "--force")
    expect(view.state()["generation"] == 0 and view.state()["live"], view.state())
    with browser.opened() as b:
        b.ask("POST", "/url", {"url": view.url})
        b.until("!document.getElementById('news').hidden", "a word about waiting")
        board.type(RECORD)
        view.until(lambda s: s["generation"] >= 1, "the first events")
        b.until("document.documentElement.dataset.ready", "the page")
        first = b.run("return [report.loaded.tables.events, report.loaded.tables.last]")
        view.until(lambda s: s["generation"] >= 3, "more events")
        b.until("served.generation >= 3", "growth of the page")
        more = b.run("return [report.loaded.tables.events, report.loaded.tables.last]")
        expect(more[0] > first[0] and more[1] > first[1], f"{first} {more}")
        expect(b.run("return served.follow && !document.getElementById('follow').hidden"),
               "it does not follow")
        b.until("Math.abs(view.to - report.loaded.tables.last) < 1e9", "the view at the end")
        expect(b.run("return report.loaded.tables.lossCount") == 0, "a loss that is none")
        b.keys("ArrowLeft")
        expect(not b.run("return served.follow"), "it follows who has gone elsewhere")
        b.picture("live.png")
        board.type("tracestop\r")
        view.until(lambda s: not s["grows"], "the end", busy=False)
        b.until("document.getElementById('news').textContent.includes('complete')",
                "the word that it is complete")
        b.until(f"served.generation === {view.state()['generation']}", "the last generation")
        shown = b.run("return report.loaded.tables.events")
        complaints = b.complaints()
        status, said = view.end()
        b.until("served.gone", "the word that the command has ended")
        faults = b.run("return report.faults")
        expect(not complaints and not faults, f"{complaints} {faults}")
    expect(status == 0 and "grown.kev" in said, f"{status} {said}")
    expect(shown == events("grown.kev"), f"{shown} shown, {events('grown.kev')} kept")


def an_interrupt_keeps_what_came(board):
    for path in glob.glob("cut*.kev*"):
        os.unlink(path)
    view = View(board, f"unix:{board.raw}", "-o", "cut.kev")
    board.type(RECORD)
    view.until(lambda s: s["generation"] >= 2, "events")
    status, said = view.end()
    board.type("tracestop\r")
    kept = glob.glob("cut*.kev*")
    expect("INCOMPLETE" in said and len(kept) == 1, f"{status} {said} {kept}")
    expect(events(kept[0]) > 0, "nothing is in it")


def without_a_file_nothing_is_left(board):
    place = os.path.join(board.dir, "tmp")
    os.makedirs(place, exist_ok=True)
    board.env["TMPDIR"] = place
    view = View(board, f"unix:{board.raw}")
    board.type(RECORD)
    view.until(lambda s: s["generation"] >= 1, "events")
    status, said = view.end()
    del board.env["TMPDIR"]
    board.type("tracestop\r")
    expect(not os.listdir(place), f"{status} {said} {os.listdir(place)}")


def an_end_that_is_not_shown_is_said(board):
    """The folder of temporary files is gone: the file is whole, and the page does not wait on."""
    place = os.path.join(board.dir, "gone")
    os.makedirs(place)
    board.env["TMPDIR"] = place
    view = View(board, f"unix:{board.raw}", "-o", "unshown.kev", "--force")
    del board.env["TMPDIR"]
    board.type(RECORD)
    view.until(lambda s: s["generation"] >= 1, "events")
    shutil.rmtree(place)
    board.type("tracestop\r")
    view.until(lambda s: not s["grows"], "the end", busy=False)
    state = view.state()
    status, said = view.end()
    expect("cannot be shown" in state["said"] and "cannot be shown" in said, f"{state} {said}")
    expect(status == 0 and events("unshown.kev") > 0, f"{status} {said}")


def aggregations_grow(board):
    """A D program that logs while the page grows: its counts are shown before it has ended, and at
    the end they are what `kymo dtrace -r` prints."""
    shown = "return [...document.querySelectorAll('#aggregation-0 tbody tr')]" \
        ".reduce((sum, row) => sum + Number(row.cells[1].dataset.value), 0)"
    view = View(board, f"unix:{board.raw}", "-o", "counts.kev", "--force")
    board.type("tracelogger -c -F 1 -F 2 -F 3 -F 4 -F 5 -F 6 -f link:x.kev &\r")
    view.until(lambda s: s["generation"] >= 1, "the first events")
    job = board.start("dtrace", "-t", f"unix:{board.raw}", "-x", "log=1", "-x", "aggrate=4hz",
                      "-qn", "syscall:::entry { @calls[probefunc] = count(); }")
    try:
        with browser.opened() as b:
            b.ask("POST", "/url", {"url": view.url})
            b.until("document.documentElement.dataset.ready", "the page")
            b.run("openView('aggregations')")

            def count():
                view.until(lambda s: True, "life")
                return b.run(shown)

            board.wait_for(lambda: count() > 0, "a count")
            first = count()
            board.wait_for(lambda: count() > first, "a greater count")
            expect(b.run("return report.loaded.tables.aggregations.said") == "", "it complains")
            b.picture("aggregations.png")
            job.send_signal(signal.SIGINT)
            job.communicate(timeout=link.SLOW)
            board.type("tracestop\r")
            view.until(lambda s: not s["grows"], "the end", busy=False)
            b.until(f"served.generation === {view.state()['generation']}", "the last generation")
            b.until("$('pane').getAttribute('aria-busy') === 'false'", "the last table")
            last = b.run(shown)
            faults = b.complaints() + b.run("return report.faults")
    finally:
        job.kill()
    status, said = view.end()
    printed = subprocess.run([link.KYMO, "dtrace", "--json", "-r", "counts.kev"],
                             capture_output=True, text=True).stdout
    counts = [row["value"] for line in printed.splitlines() if line.startswith('{"aggregation"')
              for row in json.loads(line)["rows"]]
    expect(last == sum(counts) > first, f"{last} shown, {printed}")
    expect(status == 0 and not faults, f"{status} {said} {faults}")


def an_interrupt_amid_aggregations(board):
    """What is being made of the capture is given up, and so is the process that prints them: here
    that one is stopped, so who waited for it would never end."""
    view = View(board, f"unix:{board.raw}", "-o", "stopped.kev", "--force")
    board.type("tracelogger -c -F 1 -F 2 -F 3 -F 4 -F 5 -F 6 -f link:x.kev &\r")
    job = board.start("dtrace", "-t", f"unix:{board.raw}", "-x", "log=1", "-qn",
                      "syscall:::entry { @calls[probefunc] = count(); }")
    view.until(lambda s: s["generation"] >= 1, "events")
    stopped = []

    def child():
        Work.go_on(board)
        path = f"/proc/{view.process.pid}/task/{view.process.pid}/children"
        with open(path, encoding="ascii") as f:
            for pid in f.read().split():
                os.kill(int(pid), signal.SIGSTOP)
                stopped.append(int(pid))
        return stopped

    board.wait_for(child, "a process that prints aggregations")
    status, said = view.end()
    job.send_signal(signal.SIGINT)
    job.communicate(timeout=link.SLOW)
    board.type("tracestop\r")
    expect(status == 0, f"{status} {said}")
    expect(not any(os.path.exists(f"/proc/{pid}") for pid in stopped), "it has left a process")


def named(board, symbols, generations):
    """(status, what it said) of a view with --symbols whose page grew so often."""
    view = View(board, f"unix:{board.raw}", "-o", "named.kev", "--force", "--symbols", symbols)
    board.type(RECORD)
    view.until(lambda s: s["generation"] >= generations, "events")
    board.type("tracestop\r")
    view.until(lambda s: not s["grows"], "its end", busy=False)
    return view.end()


def symbols_name_functions(board):
    """--symbols is taken with -t; files of another build are refused once, and the page grows on
    without names."""
    other = os.path.join(ROOT, "build/virt-a64/live.elf")
    status, said = named(board, other, 2)
    expect(status == 0 and said.count(os.path.basename(other)) == 1, f"{status} {said}")
    status, said = named(board, os.path.join(ROOT, "build", BOARD, "live.elf"), 1)
    expect(status == 0 and "build" not in said, f"{status} {said}")


def a_link_that_is_pulled(board):
    line = board.line()
    view = View(board, f"unix:{line.path}", "-o", "pulled.kev", "--force")
    board.type(RECORD)
    view.until(lambda s: s["generation"] >= 1, "events")
    before = view.state()["generation"]
    line.pull()
    view.until(lambda s: "lost" in s["said"], "the word that the link is lost")
    board.type("tracestop\r")
    board.type(RECORD)
    view.until(lambda s: s["generation"] > before and s["said"].endswith("recording"),
               "the next capture")
    board.type("tracestop\r")
    view.until(lambda s: not s["grows"], "its end", busy=False)
    status, said = view.end()
    line.close()
    expect("INCOMPLETE" in said and status == 0, f"{status} {said}")
    expect(events("pulled.kev") > 0, "nothing is in it")


def what_is_not_there_is_said(board):
    done = board.kymo("view", "-t", "unix:/nonexistent")
    expect(done.returncode == 1 and "/nonexistent" in done.stderr, done)


def main():
    tests = [a_page_grows_to_the_end, an_interrupt_keeps_what_came, without_a_file_nothing_is_left,
             an_end_that_is_not_shown_is_said, aggregations_grow, an_interrupt_amid_aggregations,
             symbols_name_functions, a_link_that_is_pulled, what_is_not_there_is_said]
    board = link.Bench(BOARD)
    try:
        return run_tests(tests, sys.argv[1:], lambda test: test(board))
    finally:
        board.close()


if __name__ == "__main__":
    sys.exit(main())
