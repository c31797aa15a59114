#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""check.py [--each N | --all] [COMMAND...]: one allocation, write, flush, rename or opening of a
file to write fails in a command that reads a capture or a disk (fails.c), and the command ends with
a message and status 1, or as if nothing had failed. It does not crash or hang, and leaves no part
and no half of an output under its name.

--each N fails N random calls of each kind in each form of each command, --all every one of them.
Prints the seed; SEED=n repeats. A failure is printed with the words that run it again:
check.py --at KIND NUMBER COMMAND..., which prints the stack of the call, too."""
import glob
import hashlib
import os
import random
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ("test/tool", "test/host")]
import patience  # noqa: E402
from every_command import FORMS  # noqa: E402

KYMO = os.path.join(ROOT, "build/kymo")
TOOLS = os.path.join(ROOT, "build/tools")
PLACE = os.path.join(ROOT, "build/tmp/fails")
KINDS = ["allocation", "write", "flush", "name", "open"]
COUNTS = struct.Struct("4Q5Q")  # struct counts of fails.c
GOLDEN = "test/host/golden/virt-a64.kev"
LOSSY, DISK = os.path.join(PLACE, "lossy.kev"), os.path.join(PLACE, "disk")
# Besides those of every_command.py, each with the golden capture. OUT: see there.
MORE = [["print", "-o", "OUT", GOLDEN], ["print", "--name", "tracelogger", GOLDEN],
        ["print", "--csv", "--recover", LOSSY], ["stat", "--all", LOSSY],
        ["why", "--waits", "3", LOSSY], ["cut", "-o", "OUT", LOSSY],
        ["export", "--jsonl", LOSSY], ["export", "--ctf", "-o", "OUT", LOSSY],
        ["report", "-o", "OUT", LOSSY], ["diff", "--all", GOLDEN, LOSSY],
        ["extract", "--list", DISK], ["extract", "--scan", "--list", DISK],
        ["extract", "-n", "1", "-o", "OUT", DISK], ["extract", "-d", "FOLDER", DISK],
        ["help", "print"]]


class Failed(Exception):
    """What is wrong with a command."""


def forms():
    for name, several in FORMS.items():
        for words in several:
            words = words.split()
            yield [name, *(words[1:] if words[:1] in (["json"], ["lines"]) else words), GOLDEN]
    yield from MORE


def make_inputs():
    shutil.rmtree(PLACE, ignore_errors=True)
    os.makedirs(PLACE)
    subprocess.run([os.path.join(TOOLS, "mkcapture"), LOSSY, "2", "300", "1", "lossy"], check=True)
    subprocess.run([os.path.join(TOOLS, "mkdisk"), DISK, "40", "begin:trace.kev", "data:3", "end",
                    "begin:trace.kev@1700000000", "data:2", "end"], check=True)


def tree(path):
    """The files below `path`, and what they hold."""
    found = {}
    for name in glob.glob(glob.escape(path) + "/**", recursive=True, include_hidden=True):
        if os.path.isfile(name):
            with open(name, "rb") as file:
                found[os.path.relpath(name, path)] = hashlib.sha256(file.read()).hexdigest()
    return found


def run(words, kind=0, at=0, trace=False):
    """(process, calls of each kind, whether one failed, the files that it leaves)"""
    folder = os.path.join(PLACE, "run")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "out"))
    counts = os.path.join(PLACE, "counts")
    with open(counts, "wb") as file:
        file.write(COUNTS.pack(kind, at, *[0] * 7))
    env = dict(os.environ, LD_PRELOAD=os.path.join(TOOLS, "fails.so"), KYMO_FAIL_COUNTS=counts,
               TMPDIR=folder, **({"KYMO_FAIL_TRACE": "1"} if trace else {}))
    places = {"OUT": os.path.join(folder, "out/out"), "FOLDER": os.path.join(folder, "out")}
    words = [places.get(word, word) for word in words]
    try:
        done = subprocess.run([KYMO, *words], capture_output=True, check=False, env=env, cwd=ROOT,
                              stdin=subprocess.DEVNULL, timeout=patience.seconds(60))
    except subprocess.TimeoutExpired:
        raise Failed("hangs") from None
    with open(counts, "rb") as file:
        _, _, _, failed, *seen = COUNTS.unpack(file.read())
    return done, seen, failed != 0, tree(folder)


def is_verdict(words, done):
    """A rule that could not be judged is a verdict, with its reason, in each form of the output."""
    if words[0] != "assert" or done.returncode != 1:
        return False
    out = os.path.join(PLACE, "run/out/out")
    if os.path.exists(out):
        xml.etree.ElementTree.parse(out)
    return b"undecided" in done.stdout + done.stderr


def judge(words, sound, done, files):
    """Raises Failed unless the command has ended as it should after a failure."""
    expected, expected_files = sound
    said = done.stderr.decode(errors="replace")
    why = f"status {done.returncode}, {said[-300:].strip() or 'no message'}"
    same = (done.returncode, done.stdout, files) == \
        (expected.returncode, expected.stdout, expected_files)
    if same or is_verdict(words, done):
        return
    if done.returncode != 1:
        raise Failed(f"{why}: neither status 1 nor the same output")
    if said == expected.stderr.decode(errors="replace"):
        raise Failed(f"{why}: the message is missing")
    for name, what in files.items():
        if expected_files.get(name) != what:
            raise Failed(f"{why}: {name} is left")


def fail(words, sound, kind, at, trace=False):
    """What is wrong with the command if this call fails, or None."""
    try:
        done, _, failed, files = run(words, kind, at, trace)
        if trace:
            print(done.stderr.decode(errors="replace"))
        if failed:
            judge(words, sound, done, files)
    except Failed as why:
        return f"--at {KINDS[kind]} {at} {' '.join(words)}: {why}"
    return None


def walk(rng, words, each):
    """(how many calls have failed, what was wrong)"""
    done, seen, _, files = run(words)
    again, _, _, files_again = run(words)
    if (done.stdout, files) != (again.stdout, files_again):
        return 1, [f"{' '.join(words)}: two runs have different outputs"]
    tried, wrong = 0, []
    for kind, count in enumerate(seen):
        chosen = range(1, count + 1)
        for at in chosen if each is None else rng.sample(chosen, min(each, count)):
            tried += 1
            wrong.append(fail(words, (done, files), kind, at))
    return tried, [why for why in wrong if why]


def main(words):
    each = 5
    make_inputs()
    if words[:1] == ["--at"]:
        done, _, _, files = run(words[3:])
        why = fail(words[3:], (done, files), KINDS.index(words[1]), int(words[2]), trace=True)
        print(f"FAILED: {why}" if why else "1 passed, 0 failed")
        return 1 if why else 0
    if words[:1] == ["--all"]:
        each = None
        del words[0]
    elif words[:1] == ["--each"]:
        each = int(words[1])
        del words[:2]
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    print(f"SEED={seed}")
    rng, tried, wrong = random.Random(seed), 0, []
    for form in forms():
        if not words or form[0] in words:
            n, found = walk(rng, form, each)
            tried += n
            wrong += found
            for why in found:
                print(f"FAILED: {why}", flush=True)
    print(f"{tried - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or tried == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
