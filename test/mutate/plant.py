#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plants the faults of test/mutate/faults.list, one at a time, and says which suite catches each.

plant.py               every row: builds what its suites need, runs them until one is red
plant.py --row N       only this row (may be given several times)
plant.py --file GLOB   only rows whose file this matches
plant.py --round N --of M   of the rows each M-th, beginning with the N-th: for `make soak`
plant.py --resume      leaves out rows that build/plant/result.txt has a result of
plant.py --list        the rows
plant.py --check       only whether each row fits the sources exactly once; builds nothing

The faults are planted in a copy of the tree, build/plant/tree, never in the tree itself. Before the
first of them each suite has run without one; what is red then catches nothing. A row is "caught by
SUITE", "explained" (the list has a reason why nothing notices it), or one of these, and then the
exit status is 1: NOT CAUGHT, DOES NOT BUILD, or CAUGHT THOUGH EXPLAINED. A suite that takes 20
times as long as without a fault hangs: that is caught, too. faults.py has the form of the list.
"""
import argparse
import collections
import contextlib
import fcntl
import filecmp
import fnmatch
import os
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import faults  # noqa: E402
import patience  # noqa: E402

WORK = os.path.join(ROOT, "build/plant")
TREE = os.path.join(WORK, "tree")
RESULT = os.path.join(WORK, "result.txt")
BUILD_LIMIT = 1800  # seconds: hang detectors, not targets
SUITE_LIMIT = 900
HANGS = 20  # times as long as without a fault, and then as many seconds
Suite = collections.namedtuple("Suite", "name goals command")


# ---- the copy ------------------------------------------------------------------------------------

def copy_file(name):
    source, copy = os.path.join(ROOT, name), os.path.join(TREE, name)
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    if os.path.islink(source):
        if not os.path.islink(copy) or os.readlink(copy) != os.readlink(source):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(copy)
            os.symlink(os.readlink(source), copy)
    elif not os.path.isfile(copy) or not filecmp.cmp(source, copy, shallow=False):
        shutil.copy(source, copy)  # its time is now: make sees the change


def copy_tree():
    """build/plant/tree is the tree as it stands, without what git ignores; its build/ stays."""
    out = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout
    names = {n for n in out.split("\0") if n and os.path.lexists(os.path.join(ROOT, n))}
    for name in names:
        copy_file(name)
    for folder, folders, files in os.walk(TREE):
        if folder == TREE:
            folders[:] = [f for f in folders if f != "build"]
        for name in files:
            path = os.path.join(folder, name)
            if os.path.relpath(path, TREE) not in names:
                os.unlink(path)


@contextlib.contextmanager
def planted(row):
    path = os.path.join(TREE, row.file)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    faulty = faults.plant(row, text)
    try:
        with open(path, "w", encoding="utf-8") as f:
            f.write(faulty)
        yield
    finally:
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


# ---- suites --------------------------------------------------------------------------------------

def known_suites():
    """The commands of the suites of `make check`, by name."""
    out = subprocess.run(["scripts/check", "--list"], cwd=ROOT, check=True, capture_output=True,
                         text=True).stdout
    rows = [line.split(None, 3) for line in out.splitlines()]
    return {name: command for runs, _, name, command in rows if runs == "check"}


def find_suite(name, commands):
    """The suite with what has to be built for it."""
    base, _, boots = name.partition(":")
    command = " ".join([commands[base], *filter(None, boots.split(","))])
    if base.startswith("unit-"):  # at its length, of which `make check` may have a part
        goals = ["build/unit/" + base.removeprefix("unit-")]
        command = f"scripts/run-unit {goals[0]}"
    elif base in ("host-check", "kev-check", "extract-check", "golden-check"):
        goals = ["host", "tools"]
    elif base in ("d-conformance", "d-messages", "d-c-values", "d-c-layouts", "d-tags"):
        goals = ["host", "build/kymo-asan"]
    elif base.startswith("boot-") and base != "boot-threads":
        goals = ["host", "tools", base.replace("boot-", "board-")]
    else:
        goals = ["all", "tools", "build/kymo-asan"]
    return Suite(name, goals, command)


def run(command, limit, log):
    """Exit status of a command in the copy; None if it hangs. What it writes goes to log."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "KYMO_LOCKS")}
    env.update(TMPDIR=os.path.join(TREE, "build/tmp"), KYMO_SAMPLE=env.get("KYMO_SAMPLE", "0"),
               KYMO_PATIENCE=f"{patience.FACTOR:.2f}")
    os.makedirs(env["TMPDIR"], exist_ok=True)
    with open(log, "ab") as out:
        process = subprocess.Popen(command, cwd=TREE, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            for sign in signal.SIGTERM, signal.SIGKILL:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, sign)
            process.wait()


def build(goals, log):
    return run(["make", "-j", str(os.cpu_count()), *goals], patience.seconds(BUILD_LIMIT), log) == 0


def is_green(suite, limit, log):
    return run(["sh", "-c", suite.command], limit, log) == 0


def check_green(suites):
    """Every suite without a fault: what is red then catches nothing. How long each took that is
    green, by name."""
    spent = {}
    log = os.path.join(WORK, "no-fault.log")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(log)
    goals = sorted({goal for suite in suites for goal in suite.goals})
    if not build(goals, log):
        sys.exit(f"plant: the tree without a fault does not build: {log}")
    for suite in suites:
        began = time.monotonic()
        if is_green(suite, patience.seconds(SUITE_LIMIT), log):
            spent[suite.name] = time.monotonic() - began
    return spent


# ---- rows ----------------------------------------------------------------------------------------

def try_row(row, suites, spent):
    """Verdict and whether it is good. A suite that hangs has noticed the fault, too."""
    log = os.path.join(WORK, f"row-{faults.identity(row)}.log")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(log)
    began = time.monotonic()
    with planted(row):
        for suite in suites:
            if not build(suite.goals, log):
                return f"DOES NOT BUILD: {log}", False
            if not is_green(suite, HANGS * (1 + spent[suite.name]), log):
                caught = f"{suite.name} in {time.monotonic() - began:.0f} s"
                if row.reason:
                    return f"CAUGHT THOUGH EXPLAINED by {caught}", False
                return f"caught by {caught}", True
    if row.reason:
        return f"explained: {row.reason}", True
    return f"NOT CAUGHT: {log}", False


def name_of(row):
    return f"{row.number:3} {row.file} {row.function}: {row.kind}"


def old_results():
    """Verdicts of rows as they stand, by identity."""
    with contextlib.suppress(FileNotFoundError), open(RESULT, encoding="utf-8") as f:
        return dict(line.rstrip("\n").split("\t", 1) for line in f if "\t" in line)
    return {}


def keep_result(results, row, verdict):
    results[faults.identity(row)] = f"{row.file} {row.function}: {row.kind}\t{verdict}"
    with open(RESULT + ".new", "w", encoding="utf-8") as f:
        f.writelines(f"{key}\t{value}\n" for key, value in results.items())
    os.replace(RESULT + ".new", RESULT)


def run_rows(rows, commands):
    names = list(dict.fromkeys(name for row in rows for name in row.suites))
    suites = {name: find_suite(name, commands) for name in names}
    spent = check_green(suites.values())
    red = [name for name in suites if name not in spent]
    for name in red:
        print(f"FAILED: {name} is red without a fault: {WORK}/no-fault.log", flush=True)
    results, good = old_results(), 0
    for row in rows:
        print(name_of(row), end=": ", flush=True)
        verdict, is_good = try_row(row, [suites[n] for n in row.suites if n in spent], spent)
        print(("" if is_good else "FAILED: ") + verdict, flush=True)
        keep_result(results, row, verdict)
        good += is_good
    failed = len(rows) - good + len(red)
    print(f"{good} passed, {failed} failed")
    return 1 if failed else 0


def chosen(rows, options):
    rows = [r for r in rows if not options.row or r.number in options.row]
    rows = [r for r in rows if not options.file or fnmatch.fnmatch(r.file, options.file)]
    rows = rows[(options.round - 1) % options.of::options.of]
    if options.resume:
        done = old_results()
        rows = [r for r in rows if faults.identity(r) not in done]
    return rows


def main():
    parser = argparse.ArgumentParser(description="plants faults and says which suite catches each")
    parser.add_argument("--faults", metavar="LIST", default=os.path.join(HERE, "faults.list"))
    parser.add_argument("--row", type=int, action="append")
    parser.add_argument("--file", metavar="GLOB")
    parser.add_argument("--round", type=int, default=1)
    parser.add_argument("--of", type=int, default=1)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    commands = known_suites()
    try:
        rows = faults.read_list(options.faults)
    except (faults.ListError, OSError) as error:
        print(f"FAILED: {error}\n0 passed, 1 failed")
        return 1
    wrong = faults.check_rows(rows, ROOT, commands)
    if wrong or options.check:
        print("".join(f"FAILED: {line}\n" for line in wrong), end="")
        print(f"{max(len(rows) - len(wrong), 0)} passed, {len(wrong)} failed")
        return 1 if wrong else 0
    rows = chosen(rows, options)
    if options.list:
        print("\n".join(f"{name_of(r)} ({' '.join(r.suites)})" for r in rows))
        return 0
    if not rows:
        print("no row is left to try")
        return 0
    os.makedirs(WORK, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with open(os.path.join(WORK, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        copy_tree()
        return run_rows(rows, commands)


if __name__ == "__main__":
    sys.exit(main())
