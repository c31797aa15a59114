#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""io:::start and io:::done of drivers, and interrupts. ioprobes.py BOARD [TEST...]

The disk's requests by the emulator's own count of them, the console's by the program that writes.
The last line is `N passed, N failed`.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import dlog  # noqa: E402
from guest import connect, expect, run_tests  # noqa: E402

WITH_DISK = ("virt-a64", "pc")
READ, WRITE, FLUSH = 0x40, 0x100, 0x10000
QUIET = ("-q", "-x", "bufsize=64k", "-x", "strsize=32")
COUNTS = """
io:diskd::start { @["start", args[0]->b_flags] = count(); @b["bytes", args[0]->b_flags] =
    sum(args[0]->b_bcount); self->at = args[0]->b_blkno + 1; }
io:diskd::done /self->at == args[0]->b_blkno + 1/ { @["done", args[0]->b_flags] = count(); }
io:diskd::done /args[0]->b_error || args[0]->b_resid/ { @["failed", args[0]->b_error] = count(); }
io:::start /args[1]->dev_name == "disk" && args[1]->dev_statname == "disk0"/
    { @["clients", pidname(args[2]) == "tracelogger"] = count(); }
END { printa("%s %d %@d\\n", @); printa("%s %d %@d\\n", @b); }
"""


class Emulator:
    """Its counts of what the guest's disk was asked for."""

    def __init__(self, board):
        self.socket = connect(os.path.join(board.short, "qmp"))
        self.answers = self.socket.makefile()
        self.command("qmp_capabilities")

    def command(self, name):
        self.socket.sendall((json.dumps({"execute": name}) + "\n").encode())
        for line in self.answers:
            answer = json.loads(line)
            if "return" in answer:
                return answer["return"]
        raise AssertionError(f"no answer to {name}")

    def counts(self):
        stats = [d["stats"] for d in self.command("query-blockstats") if d.get("device") == "disk"]
        expect(len(stats) == 1, f"{len(stats)} disks")
        s = stats[0]
        return {("start", READ): s["rd_operations"], ("start", WRITE): s["wr_operations"],
                ("start", FLUSH): s["flush_operations"], ("bytes", READ): s["rd_bytes"],
                ("bytes", WRITE): s["wr_bytes"]}


def said(out):
    return {(a, int(b)): int(c) for a, b, c in re.findall(r"^(\w+) (\d+) (\d+)$", out, re.M)}


def traced(b, text, typed, until):
    """What the D text prints while the shell runs what is typed."""
    out = os.path.join(b.dir, "traced.txt")
    if os.path.exists(out):
        os.remove(out)
    job = subprocess.Popen([dlog.KYMO, "dtrace", "-t", b.spec, "-o", out, *QUIET, "-n",
                            'BEGIN { printf("ready\\n"); } ' + text], env=b.env, cwd=b.dir,
                           text=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    limit = time.monotonic() + dlog.SLOW
    while not (os.path.exists(out) and "ready" in open(out, encoding="utf-8").read()):
        expect(time.monotonic() < limit and job.poll() is None, "not ready")
        time.sleep(0.05)
    b.type(typed)
    b.wait_for(until)
    job.send_signal(signal.SIGINT)
    job.wait(dlog.SLOW)
    err = job.stderr.read()
    expect(job.returncode == 0 and "drop" not in err and "error" not in err, err)
    with open(out, encoding="utf-8") as f:
        return f.read()


def waits_for_messages(b, name):
    """Returns when the process has nothing to do."""
    limit, state = time.monotonic() + dlog.SLOW, None
    while not (state and state[1] == "RECEIVE"):
        before, shown = len(b.printed()), ""
        b.type("pidin\n")
        while "\n$ " not in shown:
            expect(time.monotonic() < limit, f"{name} is {state and state[1]}")
            time.sleep(0.05)
            shown = b.printed()[before:].partition("pid tid name")[2]
        state = re.search(rf"(?m)^ *\d+ +1 {name} +\w+ (\w+)", shown)


def a_disk_has_as_many_as_the_emulator_counts(board):
    """The first capture finds the disk empty, the second one another capture."""
    if board not in WITH_DISK:
        return
    with dlog.Board(board, "statics", "ioprobes", on_disk=True) as b:
        b.start_disk()
        emulator = Emulator(b)
        for number in range(2):
            waits_for_messages(b, "diskd")  # before that it looks for partitions
            before = emulator.counts()
            found = traced(b, COUNTS, f"tracelogger -n 8 -f block:io{number}.kev\n",
                           rf"tracelogger: \d+ events, \d+ lost.*block:io{number}")
            after, out = emulator.counts(), found
            found = said(out)
            for key, n in after.items():
                expect(found.get(key, 0) == n - before[key],
                       f"{key}: {found.get(key)} is not {n - before[key]}: {out}")
            for flags in (READ, WRITE, FLUSH):
                expect(found.get(("done", flags), 0) == found.get(("start", flags), 0), out)
            expect(found["start", WRITE] > 3 and found["start", FLUSH] > 0, out)
            expect(not any(name == "failed" for name, _ in found), out)
            total = sum(n for (name, _), n in found.items() if name == "start")
            expect(found.get(("clients", 1)) == total, out)


def the_console_has_as_many_as_a_program_writes(board):
    with dlog.Board(board, "statics", "ioprobes-console") as b:
        out = dlog.ran(b.dtrace(*QUIET, "-c", "hello", "-n", """
            kymo:hello::write-entry { @["asked", arg0] = count(); @b["asked", arg0] = sum(arg2); }
            io:console::start /args[2] == $target/ { @["start", args[0]->b_flags] = count();
                @b["start", args[0]->b_flags] = sum(args[0]->b_bcount); }
            io:console::done /arg3 == $target/ { @["done", args[0]->b_flags] = count(); }
            io:console::start { @["name", args[1]->dev_pathname == "/dev/console"] = count(); }
            io:console::start /probemod != execname/ { @["name", 2] = count(); }
            END { printa("n %s %d %@d\\n", @); printa("b %s %d %@d\\n", @b); }"""))
        n = {(a, int(b)): int(c) for a, b, c in re.findall(r"^n (\w+) (\d+) (\d+)$", out, re.M)}
        size = {(a, int(b)): int(c) for a, b, c in re.findall(r"^b (\w+) (\d+) (\d+)$", out, re.M)}
        expect(n["asked", 1] == n["start", WRITE] == n["done", WRITE] > 0, out)
        expect(size["asked", 1] == size["start", WRITE] > 0, out)
        expect(n["name", 1] >= n["start", WRITE] and ("name", 2) not in n and ("name", 0) not in n,
               out)


def args_are_listed_as_solaris_has_them(board):
    with dlog.Board(board, "statics", "ioprobes-list") as b:
        out = dlog.ran(b.dtrace("-lv", "-n", "io:console::"))
        for text in ("args[0]: bufinfo_t *", "args[1]: devinfo_t *", "args[2]: pid_t"):
            expect(out.count(text) == 2, out)
        out = dlog.ran(b.dtrace("-l", "-n", "io:::start"))
        expect(("diskd" in out) == (board in WITH_DISK) and "console" in out, out)


def ipl_is_1_in_an_interrupt(board):
    """In its first part, and not in a call, in what follows at the kernel's exit, in a tick. CPUs
    are idle, in the kernel and in a program when it comes."""
    inside = ("intr:::entry", "fbt::intr_timer:entry")
    outside = ("syscall:::entry", "sched:::on-cpu", "fbt::timer_work:entry", "tick-20ms")
    text = "".join(f'{probe} {{ @["{probe}", ipl] = count(); }}' for probe in inside + outside)
    text += (' intr:::entry { n++; } intr:::entry /execname == "evstorm"/ { busy++; }'
             ' tick-100ms /n > 20 && busy > 20/ { exit(0); }'
             ' END { printa("P %s %d %@d\\n", @); }')
    with dlog.Board(board, "statics", "ioprobes-ipl") as b:
        b.type("evstorm 1 1000000000 &\n")
        out = dlog.ran(b.dtrace(*QUIET, "-n", text))
    found = set(re.findall(r"^P (\S+) (\d+) [1-9]", out, re.M))
    expect(found == {(p, "1") for p in inside} | {(p, "0") for p in outside}, out)


TESTS = [ipl_is_1_in_an_interrupt, args_are_listed_as_solaris_has_them,
         the_console_has_as_many_as_a_program_writes, a_disk_has_as_many_as_the_emulator_counts]

if __name__ == "__main__":
    sys.exit(run_tests(TESTS, sys.argv[2:], lambda test: test(sys.argv[1])))
