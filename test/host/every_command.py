#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every command and program that reads a capture gets damaged ones.

every_command.py KYMO MKCAPTURE FOLDER [ROUNDS]

Made and golden captures, damaged at random as cut_damage.py damages them. Each round takes one and
runs one form of each command on it, with and without --recover; the first one takes a sound capture
and runs all forms, of which each command has to take it in one. A command ends with status 0 or 1,
reports why it ends with 1, and does not crash or hang (KYMO is the one with the sanitizers); what
it calls JSON is JSON. other_readers.py has libkev, the babeltrace2 plugin, and the commands that
are more than one process. A command of `kymo --help` that is in no list fails the suite, so a new
one can't be left out. Prints the seed; SEED=n repeats."""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, folder) for folder in ("../tool", "cut", "fabricate")]
import fetched  # noqa: E402
import patience  # noqa: E402
from cut_damage import DAMAGES  # noqa: E402
from kev_file import Capture  # noqa: E402
from other_readers import READERS, Failed, check_json  # noqa: E402

# FILE is the capture, OUT a file that is not there. A form whose first word is "json" prints one
# JSON value, "lines" one a line; "" is text. --recover is added where the command has it.
FORMS = {
    "print": ["", "-n", "--names --time s", "--style 7 -v", "lines --json", "--csv"],
    "stat": ["", "--all", "json --json"],
    "why": ["--slowest 3", "--waits 3", "lines --json --slowest 3", "lines --json --waits 2 --all"],
    "dtrace": ["-qn sched:::on-cpu{@[execname,cpu]=count();} -r", "-ln sched::: -r", "-r",
               "-qn msg:::send{self->t=timestamp;}msg:::reply{@=max(timestamp-self->t);} -r"],
    "cut": ["-o OUT", "--from 1ms -o OUT", "--class thread,comm -o OUT"],
    "export": ["--csv", "lines --jsonl", "--csv --class comm", "lines --jsonl --from 1ms",
               "json --chrome", "--perfetto -o OUT", "json --speedscope", "--trace-dat -o OUT",
               "--ctf -o OUT", "json --chrome --to 2ms"],
    "symbols": ["", "lines --json"],
    "verify": ["", "lines --json"],
    "assert": ["--no-loss", "--message 1ms --inversion 1us", "lines --json --no-loss --message 1us",
               "--junit OUT --deadline 1 2 1ms"],
    "diagnose": ["", "lines --json", "--strict --only deadlock,lost"],
    "report": ["-o OUT", "--most 0 -o OUT"],
    "diff": ["test/host/golden/virt-a64.kev", "lines --all --json test/host/golden/mps2-an386.kev",
             "--all --accept loss --max rate=5% test/host/golden/virt-a64.kev"],
}
NO_CAPTURE = {"run", "top", "console", "capture", "collect", "extract", "link", "help"}
FINDS = {"assert", "diagnose", "symbols"}  # these end with 1 for what they have found
WITHOUT_RECOVER = {"dtrace", "assert", "verify"}


def commands(kymo):
    shown = subprocess.run([kymo, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^  ([a-z]+) {2,}\S", shown, re.M))


def made(rng, mkcapture, path):
    kinds = [kind for kind in ("old", "swapped", "lossy") if rng.random() < 0.3]
    command = [mkcapture, path, str(rng.choice([1, 2, 4, 8])), str(rng.choice([0, 40, 1500])),
               str(rng.randrange(1 << 30)), *kinds]
    subprocess.run(command, check=True, timeout=patience.seconds(60))
    return path


def damaged(rng, capture):
    data = bytearray(capture.data)
    for damage in rng.sample(DAMAGES, rng.choice([0, 1, 1, 2])):
        if capture.groups and len(data) > capture.slots + 64:
            data = damage(rng, capture, data)
    return data


def remove(out):
    if os.path.isdir(out):
        shutil.rmtree(out)
    elif os.path.exists(out):
        os.unlink(out)


def one(kymo, rng, name, words, path, out):
    words = words.split()
    form = words.pop(0) if words and words[0] in ("json", "lines") else ""
    command = [kymo, name, *(out if word == "OUT" else word for word in words)]
    if name not in WITHOUT_RECOVER and rng.random() < 0.6:
        command.insert(2, "--recover")
    try:
        done = subprocess.run([*command, path], capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=patience.seconds(60))
    except subprocess.TimeoutExpired:
        raise Failed(" ".join(command) + " hangs") from None
    said = done.stderr.decode(errors="replace")
    try:
        if done.returncode not in (0, 1) or "Sanitizer" in said or "runtime error" in said:
            raise Failed(f"status {done.returncode}")
        if done.returncode == 1 and not said and name not in FINDS | {"diff"}:
            raise Failed("status 1 and no message")
        if form and done.returncode == 0:
            check_json(form, done.stdout.decode())
    except Failed as why:
        raise Failed(f"{' '.join(command)} {path}: {why}: {said[:2000]}") from None
    return done.returncode == 0 or (name in FINDS and done.stdout != b"")


def main(kymo, mkcapture, folder, rounds="30"):
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    rng = random.Random(seed)
    print(f"SEED={seed}")
    others = {reader.__name__: reader for reader in READERS}
    unknown = commands(kymo) - NO_CAPTURE - set(FORMS) - set(others)
    if unknown:
        print(f"FAILED: kymo {min(unknown)}: say here whether it reads a capture, and how")
        return 1
    fetched.duckdb()
    folder = os.path.join(folder, "every-command")
    os.makedirs(folder, exist_ok=True)
    bad, out = os.path.join(folder, "bad.kev"), os.path.join(folder, "out")
    golden = sorted(glob.glob("test/host/golden/*.kev"))
    good = dict.fromkeys([*FORMS, *others], 0)
    for i in range(int(rounds)):
        path = rng.choice(golden)
        if i > 0 and rng.random() < 0.7:
            path = made(rng, mkcapture, f"{folder}/sound.kev")
        with open(bad, "wb") as file:
            file.write(damaged(rng, Capture(path)) if i > 0 else Capture(path).data)
        for name in good:
            try:
                if name not in FORMS and i % READERS[others[name]] == 0:
                    remove(out)
                    good[name] += others[name](kymo, rng, bad, out)
                forms = FORMS.get(name, [])
                for words in forms if i == 0 else rng.sample(forms, min(1, len(forms))):
                    remove(out)
                    good[name] += one(kymo, rng, name, words, bad, out)
            except Failed as why:
                print(f"FAILED: {why}\nround {i}; {bad} stays")
                return 1
        if sys.stderr.isatty():
            print(f"\r{i + 1} of {rounds}", end="", file=sys.stderr)
    never = [name for name, count in good.items() if count == 0]
    if never:
        print(f"FAILED: {never[0]} has taken no capture: {rounds} rounds")
        return 1
    print(f"{len(good)} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
