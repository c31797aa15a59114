#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Boots images under QEMU and judges what they print and record.

run.py [--jobs N] [--list | --needs | --debug-images | --left-out] [--variant=V]
       [--icount | --threads] [--soak] [--into FOLDER] BOARD [SUITE...]

A suite (suites.py) is an image, a way to run the CPUs, and checks of the console and the capture.
Guest programs print `TEST name: ok` or `TEST name: FAIL reason`; every such line is one test, and
so is every check. Everything of one boot is in build/check/boot/BOARD.SUITE/: console.txt,
trace.kev, the command; another run.py that wants the same folder is refused. --threads: only the
boots whose CPUs are real threads; --icount: only the others. Without names, the suites of `make
check` boot, of which EVERY=n takes a sample (sample.py), with --soak those of `make soak`. The last
line is `N passed, N failed`.
"""
import argparse
import concurrent.futures
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tool"))
import cpus  # noqa: E402
import patience  # noqa: E402
import sample  # noqa: E402
import suites  # noqa: E402
from guest import emulator, image_elf  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Not only where a line begins: what a program prints without a newline may stand before it.
TEST_LINE = re.compile(r"\bTEST ([^:]+): (ok|FAIL)\b ?(.*)$")

POLL = 0.5  # seconds between two looks at a running board's console

# How the CPUs run. icount: one host thread, virtual time, every run the same. multi: one host
# thread per CPU, real time: that is where races show.
FIXED_CLOCK = ["-rtc", "base=2026-01-02T03:04:05,clock=vm"]  # the board's clock of the day
MODES = {
    "icount": ["-icount", "shift=2,sleep=off"] + FIXED_CLOCK,
    # The same, waiting for the host's disk: else virtual time runs past it.
    "sleep": ["-icount", "shift=2,sleep=on"],
    "multi": ["-accel", "tcg,thread=multi"],
}


class Boot:
    """One boot: how it was asked for and what came of it."""

    variant = ""  # of all boots, instead of their suites'
    top = os.path.join(ROOT, "build/check/boot")

    def __init__(self, board, suite):
        self.board, self.suite = board, suite
        self.dir = os.path.join(self.top, f"{board}.{suite.name}")
        self.build = os.path.join(ROOT, "build", board + (self.variant or suite.build_variant()))
        self.console, self.status, self.seconds = "", None, 0.0
        self.cpus_missing = None  # why this boot was ended: not all CPUs started
        self.trace = os.path.join(self.dir, "trace.kev")

    def arguments(self):
        """The board's QEMU line, with the CPUs of the suite."""
        with open(os.path.join(self.build, "qemu.args")) as f:
            args = f.read().splitlines()
        if self.suite.cpus and "-smp" in args:
            args[args.index("-smp") + 1] = str(self.suite.cpus)
        return args

    def cpus(self):
        return cpus.given(self.arguments())

    def command(self):
        args = self.arguments()
        image = image_elf(self.build, self.suite.image)
        if self.suite.kernel:
            image = self.suite.kernel(self, image)
        args += MODES[self.suite.mode] + self.suite.qemu
        if self.suite.link:
            with open(os.path.join(self.build, "qemu.link")) as f:
                args += ["-chardev", "socket,id=link,path=link,server=on,wait=off"]
                args += f.read().split()
        return self.suite.wrap + args + ["-kernel", image]

    def prepare(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.dir, exist_ok=True)
        if self.suite.prepare:
            self.suite.prepare(self)

    def run(self):
        self.prepare()
        command = self.command()
        with open(os.path.join(self.dir, "command"), "w") as f:
            f.write(" ".join(command) + "\n")
        path = os.path.join(self.dir, "console.txt")
        began = time.monotonic()
        with open(path, "wb") as out, self.suite.beside(self):
            begin = emulator.begin if self.suite.mode == "sleep" else subprocess.Popen
            qemu = begin(command, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=out,
                         stderr=subprocess.STDOUT)
            self.wait(qemu, path)
        self.seconds = time.monotonic() - began
        if self.status and self.status > 1 and any("isa-debug-exit" in a for a in command):
            self.status >>= 1  # which made 2n + 1 of the guest's n
        self.read_console(path)
        return self

    def wait(self, qemu, path):
        """Till the emulator ends; or ends it, since it hangs or not all of its CPUs started."""
        until = time.monotonic() + patience.seconds(self.suite.timeout)
        while self.status is None and not self.cpus_missing and time.monotonic() < until:
            try:
                self.status = qemu.wait(POLL)
            except subprocess.TimeoutExpired:
                if not cpus.booted(self.console):
                    self.read_console(path)
        if self.status is None:
            qemu.kill()
            qemu.wait()

    def read_console(self, path):
        with open(path, errors="replace", newline="") as f:
            self.console = f.read().replace("\r\n", "\n")
        if not self.suite.cpus_left_out:
            self.cpus_missing = cpus.missing(self.console, self.cpus())


def judge(boot):
    """All (name, error or None) of one boot."""
    suite, results = boot.suite, []
    if boot.cpus_missing:
        return [("all CPUs start", boot.cpus_missing)]
    for line in boot.console.splitlines():
        found = TEST_LINE.search(line)
        if found:
            name, verdict, reason = found.groups()
            results.append((name, None if verdict == "ok" else reason or "failed"))
    if boot.status is None:
        results.append(("ends", f"still running after {boot.seconds:.0f} s"))
    elif boot.status != suite.status:
        results.append(("ends", f"status {boot.status}, not {suite.status}"))
    else:
        results.append(("ends", None))
    if len(results) - 1 < suite.tests:
        results.append(("all tests ran", f"{len(results) - 1} of at least {suite.tests}"))
    died = re.search(r"^Process \d+ \(t_\w+\) terminated.*", boot.console, re.M)
    if died and suite.image == "test":  # others let their own children die
        results.append(("no test program dies", died.group()))
    if "kernel panic" in boot.console and not suite.panics:
        results.append(("no panic", "the kernel panicked"))
    for check in suite.checks:
        name = check.__name__.replace("_", " ")
        try:
            results.append((name, check(boot)))
        except Exception as e:  # a check that can't do its work has failed
            results.append((name, f"{type(e).__name__}: {e}"))
    return results


def work(board, suite):
    try:
        boot = Boot(board, suite).run()
    except OSError as e:
        return suite, None, [("boots", str(e))]
    return suite, boot, judge(boot)


def report(board, suite, boot, results):
    bad = [r for r in results if r[1] is not None]
    seconds = f"{boot.seconds:.1f} s" if boot else "-"
    print(f"{board} {suite.name} ({suite.image}, {suite.mode}): {len(results) - len(bad)} ok, "
          f"{len(bad)} failed, {seconds}", flush=True)
    for name, error in bad:
        print(f"  FAIL {name}: {error}")
    if bad and boot:
        print(f"  console: {os.path.relpath(boot.dir, ROOT)}/console.txt", flush=True)
    return len(results) - len(bad), len(bad)


def hold(path):
    """Locks the folder's lock file until the returned file is closed. Ends this process if another
    one has it, and names that one. The text is that of scripts/locked."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    lock = open(path + ".lock", "a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read().strip() or "another process"
        sys.exit(f"run.py: {os.path.relpath(path, ROOT)} is in use by {holder}: let it end first")
    lock.truncate(0)
    lock.write(f"process {os.getpid()} ({' '.join(sys.argv)})\n")
    lock.flush()
    return lock


def unknown(args):
    """What the command line asks for that isn't there, or None."""
    if not any(args.board in s.boards for s in suites.SUITES):
        return f"no board {args.board}; there are: " + \
            " ".join(sorted({board for s in suites.SUITES for board in s.boards}))
    for name in args.suites:
        boards = [board for s in suites.SUITES if s.name == name for board in s.boards]
        if not boards:
            return f"no suite {name}; --list {args.board} names them"
        if args.board not in boards:
            return f"suite {name} is not for {args.board}, but for {' '.join(boards)}"
    return None


def left_out(board):
    """What `make check` need not build of a board's test images, as make's variables: those that
    nothing boots there, and those of which it boots the kernel with assertions only."""
    here = [s for s in suites.SUITES if board in s.boards]
    now = [s for s in here if not s.when(board)]
    asserted = {s.image for s in now if s.build_variant() == suites.DEBUG}
    booted = {s.image for s in now if not s.build_variant()} | suites.READ_BY_OTHERS
    nobody = {s.image for s in here} - asserted - booted
    return f"NO_KERNEL='{' '.join(sorted(asserted - booted))}' " \
        f"NO_IMAGE='{' '.join(sorted(nobody))}'"


def needs(args, chosen):
    """The images that these boots start, each with its folder below build/; those of another C
    library have a goal of make that builds all of them."""
    booted = {(args.variant or s.build_variant(), s.image) for s in chosen}
    return sorted({f"other-libc-{args.board}" if variant.endswith("libc") else
                   f"{args.board}{variant}/{image}" for variant, image in booted})


def sampled(board, chosen):
    """EVERY=n: each n-th of the boots; of those of a PC that virt-a64 does not have in `make check`
    each, as its kind of memory is an MMU, too (elsewhere.py)."""
    others = {s.name for s in suites.SUITES if set(suites.A64) & set(s.boards)
              and not s.when(*suites.A64)}
    kept = [s for s in chosen if board in suites.PC and s.name not in others]
    shared = sample.of([s for s in chosen if s not in kept])
    return [s for s in chosen if s in kept or s in shared]


def main():
    parser = argparse.ArgumentParser(description="boots images under QEMU and judges the outcome")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--needs", action="store_true",
                        help="print what must be built for these boots, as scripts/suites says it")
    parser.add_argument("--debug-images", action="store_true",
                        help="list the images that boot with assertions; with --soak all of them")
    parser.add_argument("--into", default="build/check/boot", metavar="FOLDER",
                        help="where the boots have their folders")
    parser.add_argument("--left-out", action="store_true",
                        help="print what make check need not build, as make's variables")
    parser.add_argument("--variant", default="", help="boot from build/BOARD<variant>")
    parser.add_argument("--icount", action="store_true", help="no boots on real threads")
    parser.add_argument("--threads", action="store_true", help="only boots on real threads")
    parser.add_argument("--soak", action="store_true", help="the suites of `make soak`")
    parser.add_argument("board")
    parser.add_argument("suites", nargs="*")
    args = parser.parse_args()
    if args.left_out:
        print(left_out(args.board))
        return 0
    wrong = unknown(args)
    if wrong:
        print(f"run.py: {wrong}", file=sys.stderr)
        return 2
    if args.debug_images:
        print(*sorted({s.image for s in suites.SUITES
                       if args.board in s.boards and s.build_variant() == suites.DEBUG
                       and (args.soak or not s.when(args.board))}))
        return 0
    chosen = [s for s in suites.SUITES if args.board in s.boards
              and (s.name in args.suites if args.suites else s.when(args.board) == args.soak)
              and not (args.icount and s.mode == "multi")
              and not (args.threads and s.mode != "multi")]
    if not (args.suites or args.soak or args.list):
        taken = sampled(args.board, chosen)
        if not args.needs:
            sample.tell(chosen, taken)
        chosen = taken
    if args.needs:
        print(*needs(args, chosen))
        return 0
    Boot.variant, Boot.top = args.variant, os.path.join(ROOT, args.into)
    if args.list:
        for s in chosen:
            print(f"{s.name:16} {s.image:10} {s.mode:8} {s.doc}")
        return 0
    missing = [t for t in (suites.KYMO, suites.COUNT)
               if not os.path.exists(t) and any(s.checks for s in chosen)]
    if missing:
        print(f"run.py: no {os.path.relpath(missing[0], ROOT)}: first run `make all tools`",
              file=sys.stderr)
        return 2
    for s in chosen:
        image_elf(Boot(args.board, s).build, s.image)  # ends here with a remedy if it is not built
    with contextlib.ExitStack() as locks:
        for s in chosen:
            locks.enter_context(hold(Boot(args.board, s).dir))
        return boot_all(args, chosen)


def boot_all(args, chosen):
    passed = failed = 0
    # A multi-threaded emulator wants the machine's CPUs: those boots run one at a time.
    single = [s for s in chosen if s.mode != "multi"]
    multi = [s for s in chosen if s.mode == "multi"]
    with concurrent.futures.ThreadPoolExecutor(max(1, args.jobs)) as pool:
        for done in pool.map(lambda s: work(args.board, s), single):
            p, f = report(args.board, *done)
            passed, failed = passed + p, failed + f
    for s in multi:
        p, f = report(args.board, *work(args.board, s))
        passed, failed = passed + p, failed + f
    whole = not (args.suites or args.threads or args.soak or sample.EVERY > 1)
    if whole and args.board in suites.BOTH:
        missing = suites.missing_rows(args.board)
        print(f"{args.board}: every event row fires: " + ("ok" if not missing else "FAIL, never: " +
                                                          ", ".join(missing)))
        passed, failed = passed + (not missing), failed + bool(missing)
    skipped = suites.SKIPPED.get(args.board, {}) if args.soak and not args.suites else {}
    for name, why in skipped.items():
        print(f"{args.board} {name}: skipped, {why}")
    print(f"{passed} passed, {failed} failed" + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
