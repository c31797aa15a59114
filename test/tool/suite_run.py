# SPDX-License-Identifier: BSD-2-Clause
"""Runs suites of scripts/suites, as many at once as the machine has CPUs for, and counts what they
say. A suite begins when what it needs has been built; what it leaves running is ended."""
import collections
import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import time

import patience
import suite_list

LOGS = "build/check"
# Seconds: a hang detector, not a target. Suites of make soak are long by design.
HANG = {"soak": 3600, "once": 3600}
HANG_OTHERS = 300
# A suite keeps fewer CPUs busy than it says while it waits for files, pipes and emulators, so this
# many times the machine's CPUs are given away. No test is decided by time.
GIVEN_AWAY = 2
# The environment of a suite's processes has this: the suites that began them, the inner ones last.
MARK = "KYMO_SUITE"
COUNTS = re.compile(r"^.*\b(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
BAD = re.compile(r"FAIL|Failed|rror|ERROR: |not in the house|breach|differs|not built")
# make's own words, in the C locale: a goal whose recipe failed, and one that lacks such a goal.
NOT_MADE = re.compile(r"\*\*\* (?:\[[^\]]*?: ([^\]\s]+)\] Error|No rule to make target '([^']+)')|"
                      r"Target '([^']+)' not remade")
Result = collections.namedtuple("Result", "suite passed failed skipped wall cpu")


class Interrupted(Exception):
    """Somebody ended the run by ^C or a signal."""


def die_with_parent():
    """make and scripts/locked stand above this process: without them it would go on unseen."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None, use_errno=True).prctl(pr_set_pdeathsig, signal.SIGTERM, 0, 0, 0)


def processes_with(mark):
    """Those whose environment has the mark, wherever they are in the tree of processes."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as f:
            marks = [v for v in f.read().split(b"\0") if v.startswith(MARK.encode() + b"=")]
            if any(mark.encode() in v.partition(b"=")[2].split(b":") for v in marks):
                found.append(int(pid))
    return found


class Running:
    """A suite at work, in a process group of its own."""

    def __init__(self, suite, cpus):
        self.suite, self.cpus, self.began = suite, cpus, time.monotonic()
        self.log = os.path.join(LOGS, suite.name + ".log")
        self.late = False
        self.mark = f"{suite.name}.{os.getpid()}.{time.monotonic_ns()}"
        marks = ":".join(filter(None, [os.environ.get(MARK), self.mark]))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["sh", "-c", suite.command], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=subprocess.STDOUT,
                                            env={**os.environ, MARK: marks},
                                            start_new_session=True)

    def end(self, sign):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, sign)

    def end_all(self):
        """Ends the suite and what it has begun, in whatever process group. A child that is born
        while its parent ends has the mark, too, so this looks until there is none."""
        self.end(signal.SIGKILL)
        for _ in range(100):
            left = processes_with(self.mark)
            if not left:
                break
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def poll(self):
        """The result when it has ended, else None."""
        wall = time.monotonic() - self.began
        pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
        if not pid:
            if wall > patience.seconds(HANG.get(self.suite.tier, HANG_OTHERS)):
                self.end(signal.SIGKILL if self.late else signal.SIGTERM)
                self.late = True
            return None
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.end_all()  # what it has left running
        if self.late:
            with open(self.log, "a", encoding="utf-8") as log:
                log.write("FAILED: hangs\n")
        return self.result(wall, used.ru_utime + used.ru_stime)

    def result(self, wall, cpu):
        good = self.process.returncode == 0
        with open(self.log, encoding="utf-8", errors="replace") as log:
            counts = COUNTS.findall(log.read())
        if counts:
            passed, failed, skipped = (int(n or 0) for n in counts[-1])
            # A suite that dies after its last good word has failed.
            failed = failed or int(not good)
        else:
            passed, failed, skipped = int(good), int(not good), 0
        return Result(self.suite, passed, failed, skipped, wall, cpu)


def bad_lines(result):
    """What a failed suite has said of its failures, or how its log ends if it has named none."""
    with open(f"{LOGS}/{result.suite.name}.log", encoding="utf-8", errors="replace") as log:
        lines = log.readlines()
    bad, below = [], False  # below: what is indented below `FAIL what is wanted:` is what is wrong
    for line in lines:
        below = below and line.startswith("  ")
        if below or BAD.search(line) and "FAILED  ] 0" not in line:
            bad.append(line)
        below = below or line.startswith("FAIL ") and line.endswith(":\n")
    return ["    " + line.rstrip("\n")[:2000] for line in bad[:12] or lines[-12:]]


def report(result):
    skipped = f"{result.skipped} skipped " if result.skipped else ""
    print(f"{result.suite.name:22} {result.passed:5} passed {result.failed:3} failed {skipped}"
          f"({result.wall:.0f} s, {result.cpu:.0f} s of CPU)", flush=True)
    if result.failed:
        print("\n".join([*bad_lines(result), f"    log: {LOGS}/{result.suite.name}.log"]),
              flush=True)


# ---- building ------------------------------------------------------------------------------------

class Build:
    """What some suites need, made by one make. It is a suite itself: it has a log and counts."""

    def __init__(self, name, suites, whole):
        goals, variables, self.of_suite = suite_list.goals_of(suites)
        # The lock is taken here: the Makefile's own way to it makes all goals one.
        command = " ".join(["LC_ALL=C", "scripts/locked", "-q", "build", "make", "-k",
                            f"-j{os.cpu_count()}", "MEDIUM=no",
                            *([] if whole else ["CHECKED=1"]), *(f"'{v}'" for v in variables),
                            *goals])
        self.suite = suite_list.Suite("once", float(os.cpu_count()), 0.0, "build", name, (),
                                      command) if goals else None
        self.names = {s.name for s in suites}

    def lacking(self, suite):
        """The goals of a suite that make could not make, after this build has failed."""
        with open(f"{LOGS}/{self.suite.name}.log", encoding="utf-8", errors="replace") as log:
            failed = {name for found in NOT_MADE.findall(log.read()) for name in found if name}
        mine = self.of_suite[suite.name]
        return sorted(mine & failed if failed else mine)


def not_built(suite, build):
    """The result of a suite that lacks something: it has failed without having run."""
    why = " ".join(build.lacking(suite))
    with open(f"{LOGS}/{suite.name}.log", "w", encoding="utf-8") as log:
        log.write(f"FAILED: not built: {why}: {LOGS}/{build.suite.name}.log\n")
    return Result(suite, 0, 1, 0, 0.0, 0.0)


def builds_of(suites, whole=False):
    """Boards first: their suites wait for emulators and lines, while the units' are being built.
    whole: what only `make soak` runs is built, too."""
    boards = suite_list.boards_here()

    def is_of_a_board(suite):
        return any(suite_list.folder_of(need, boards) or
                   need.startswith(("boot", "board", "without")) for need in suite.needs)
    groups = [("build", [s for s in suites if is_of_a_board(s)]),
              ("build-rest", [s for s in suites if not is_of_a_board(s)])]
    return [build for build in (Build(name, group, whole) for name, group in groups if group)
            if build.suite]


# ---- many ----------------------------------------------------------------------------------------

class Run:
    """Builds, and suites that wait for them, in their order if they fit."""

    def __init__(self, suites, machine, finished=report, builds=()):
        self.whole, self.machine, self.finished = machine * GIVEN_AWAY, machine, finished
        self.builds, self.waiting = list(builds), list(suites)
        self.running, self.results = [], []

    def is_built(self, suite):
        return all(suite.name not in build.names for build in self.builds)

    def begin_what_fits(self):
        """Begins each suite that the free CPUs suffice for. One that needs more waits, and later
        ones go ahead of it: the list ends, so its turn comes."""
        busy = {r.suite.name for r in self.running}
        if self.builds and self.builds[0].suite.name not in busy and not self.alone():
            self.running.append(Running(self.builds[0].suite, self.builds[0].suite.cpus))
        free = self.whole - sum(r.cpus for r in self.running)
        for suite in list(self.waiting):
            cpus = min(suite.cpus, self.machine) if suite.cpus else self.whole
            if cpus <= free and self.is_built(suite):
                self.waiting.remove(suite)
                self.running.append(Running(suite, cpus))
                free -= cpus

    def alone(self):
        """Whether a suite that keeps all CPUs busy is at work."""
        return any(r.cpus >= self.whole for r in self.running)

    def ended(self, one, result):
        self.running.remove(one)
        self.took(result)
        if self.builds and one.suite is self.builds[0].suite:
            build = self.builds.pop(0)
            if result.failed:
                for suite in [s for s in self.waiting if s.name in build.names]:
                    if build.lacking(suite):
                        self.waiting.remove(suite)
                        self.took(not_built(suite, build))

    def took(self, result):
        self.results.append(result)
        self.finished(result)

    def to_the_end(self):
        try:
            while self.waiting or self.running or self.builds:
                self.begin_what_fits()
                time.sleep(0.05)
                for one in list(self.running):
                    result = one.poll()
                    if result:
                        self.ended(one, result)
        finally:
            for one in self.running:
                one.end(signal.SIGTERM)
            if self.running:
                time.sleep(0.3)
            for one in self.running:
                one.end_all()
        return self.results


def interruptible():
    """From now on ^C and SIGTERM, SIGHUP raise Interrupted, once."""
    def interrupted(number, _):
        for one in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            signal.signal(one, signal.SIG_IGN)
        raise Interrupted(signal.Signals(number).name)
    for one in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(one, interrupted)
    die_with_parent()
    sys.stdout.reconfigure(line_buffering=True)
