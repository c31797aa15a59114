#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""D and the boot: what BOOT_D traces is claimed over the link. dlog.py BOARD [TEST...]

Each test boots the image that it needs. The last line is `N passed, N failed`.
"""
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))
SLOW = 120  # seconds: a hang detector


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


class Board:
    """A booted board with its link, and a broker of its own."""

    def __init__(self, board, image, test):
        self.dir = os.path.join(ROOT, "build/check/dlog", f"{board}.{test}")
        os.makedirs(self.dir, exist_ok=True)
        # Sockets have short paths, wherever the tree is.
        short = f"/proc/{os.getpid()}/fd/{os.open(self.dir, os.O_PATH)}"
        self.spec = f"unix:{short}/link"
        self.env = dict(os.environ, XDG_RUNTIME_DIR=short)
        build = os.path.join(ROOT, "build", board)
        with open(f"{build}/qemu.args") as args, open(f"{build}/qemu.link") as link:
            command = args.read().split() + [
                "-chardev", f"socket,id=link,path={short}/link,server=on,wait=off"
            ] + link.read().split() + ["-kernel", f"{build}/{image}.elf"]
        with open(os.path.join(self.dir, "console.txt"), "wb") as console:
            self.qemu = subprocess.Popen(command, cwd=self.dir, stdin=subprocess.DEVNULL,
                                         stdout=console, stderr=subprocess.STDOUT)

    def __enter__(self):
        until = time.monotonic() + SLOW
        while self.kymo("link", "-t", self.spec).returncode:
            expect(time.monotonic() < until, "the board doesn't answer")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.qemu.kill()
        self.qemu.wait()

    def kymo(self, *words):
        return subprocess.run([KYMO, *words], env=self.env, cwd=self.dir, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, errors="replace",
                              timeout=SLOW)

    def dtrace(self, *words):
        return self.kymo("dtrace", "-t", self.spec, *words)


def told(done):
    return f"status {done.returncode}: {done.stdout[-600:]}{done.stderr[-600:]}"


# ---- BOOT_D --------------------------------------------------------------------------------------

def boot_d_is_claimed_once_and_only_by_who_can_read_it(board):
    """test/boot/boot_d/boot.d was at work before the first process."""
    with Board(board, "bootd", "claim") as b:
        for words in (["-n", "BEGIN { trace(1); }"], ["-n", "BEGIN { no_such_thing(); }"],
                      ["-s", "/dev/null"]):
            done = b.dtrace("-a", *words)
            expect(done.returncode == 1 and not done.stdout, told(done))
        done = b.dtrace("-a", "-n", "BEGIN { trace(1); }")
        expect("is another program" in done.stderr, told(done))
        done = b.dtrace("-ae")
        expect(done.returncode == 0, told(done))
        lines = done.stdout.split("\n")
        expect(lines[0] == "armed", f"not BEGIN first: {lines[:3]}")
        made = [line.split() for line in lines if re.match(r"\d+ [a-z]\w*$", line)]
        expect(made[0] == ["2", "init"], f"the first process is not there: {made[:3]}")
        expect({"console", "linkd", "demo"} <= {m[1] for m in made}, f"{made}")
        ran = dict(line.split() for line in lines if re.match(r" +\w+ +\d+$", line))
        expect(int(ran.get("init", 0)) > 0 and int(ran.get("linkd", 0)) > 0, f"{ran}")
        done = b.dtrace("-a")
        expect(done.returncode == 1 and "no anonymous tracing state" in done.stderr, told(done))


TESTS = [boot_d_is_claimed_once_and_only_by_who_can_read_it]


def main():
    board, only = sys.argv[1], sys.argv[2:]
    failed = 0
    tests = [t for t in TESTS if not only or t.__name__ in only]
    for test in tests:
        try:
            test(board)
        except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError, IndexError) as e:
            failed += 1
            print(f"FAIL {board} {test.__name__}: {type(e).__name__}: {e}", flush=True)
        else:
            print(f"ok {test.__name__}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
