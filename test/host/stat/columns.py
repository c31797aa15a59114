#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""columns.py: on a terminal with 80 columns no line of `kymo stat` is longer, and all columns of
all tables are there; without a terminal, and on a wide one, each row is one line."""
import fcntl
import glob
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import temporary  # noqa: E402

KYMO, MKCAPTURE = "build/kymo", "build/tools/mkcapture"
failed = []


def on_terminal(columns, capture):
    child, fd = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        os.environ["NO_COLOR"] = "1"
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # its progress, on a busy machine
        os.execv(KYMO, [KYMO, "stat", capture])
    shown = b""
    while True:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(fd)
    os.waitpid(child, 0)
    return shown.decode().replace("\r\n", "\n")


def piped(capture):
    return subprocess.run([KYMO, "stat", capture], stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.DEVNULL).stdout.decode()


def words_of(text):
    """Without the states of threads, of which a short line has fewer."""
    return re.sub(r" [A-Z_]+ \d+\.\d %", "", text).split()


def check(capture):
    text, narrow = piped(capture), on_terminal(80, capture)
    wide = [line for line in narrow.splitlines() if len(line) > 80]
    if wide:
        failed.append(f"{capture}: more than 80 columns: {wide[0]!r}")
    if words_of(narrow) != words_of(text):
        failed.append(f"{capture}: a terminal with 80 columns shows other words")
    if on_terminal(400, capture) != text:
        failed.append(f"{capture}: a wide terminal shows another text")
    return 3


def check_words(capture):
    """Lines of words: each is as long as words fit in, counted in characters, and a word that fits
    nowhere stays whole, which keeps none of the others from being folded."""
    for columns in 40, 41, 80:
        head = on_terminal(columns, capture).split("\n\n", maxsplit=1)[0].splitlines()
        for line, following in zip(head, head[1:] + ["  "]):
            if len(line) > columns and len(line.split()) > 1:
                failed.append(f"more than {columns} columns: {line!r}")
            if following.startswith(6 * " ") and \
                    len(line) + 1 + len(following.split()[0]) <= columns:
                failed.append(f"{columns} columns: a word would have fitted below: {line!r}")
        if " ".join(" ".join(head).split()) != " ".join(
                piped(capture).split("\n\n", maxsplit=1)[0].split()):
            failed.append(f"a terminal with {columns} columns shows other words in the head")
    return 3


def main():
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        captures = sorted(glob.glob("test/host/golden/**/*.kev", recursive=True))
        for seed in range(1, 9):
            captures.append(f"{folder}/{seed}.kev")
            loss = ["--loss"] if seed % 2 else []
            subprocess.run([MKCAPTURE, "simulate", "--seed", str(seed), "--cpus", "4", *loss,
                            captures[-1]], check=True, stdout=subprocess.DEVNULL)
        done = sum(check(capture) for capture in captures)
        for name in "Größe " * 30, "x" * 90 + " and" * 30, "a " + "ä" * 45 + " and" * 30:
            named = f"{folder}/{name}.kev"
            shutil.copy(captures[-1], named)
            done += check_words(named)
    for line in failed[:20]:
        print("FAIL", line)
    print(f"{done - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
