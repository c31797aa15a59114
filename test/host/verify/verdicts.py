#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""All commands say the same of a capture as kymo verify: verdicts.py KYMO MKCAPTURE FOLDER [FILES]

Mutants (mutants.py) of made and golden captures. For each, every command that reads a capture ends
with kymo verify's status, and prints its message once; of some kinds of mutants the right verdict
is known, too. With --recover, which every third one gets, all end with 0 if a buffer of events can
be read, and no other capture follows. A command may end with 1 on a whole capture for a reason of
its own (BESIDES). Prints the seed; SEED=n repeats, and SEED=n FIRST=i begins with file i."""
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tool")]
import mutants  # noqa: E402
import patience  # noqa: E402

GOLDEN = [f"test/host/golden/{name}.kev" for name in ("virt-a64", "mps2-an386")]
MADE = ["", "old", "swapped", "lossy", "refused", "foreign", "old lossy"]
# FILE is the mutant, OUT a file that is not there.
FORMS = ["print FILE", "print --json FILE", "print --csv FILE", "stat FILE", "stat --json FILE",
         "why --slowest 1 FILE", "report -o OUT FILE", "cut -o OUT FILE", "symbols FILE",
         "export --csv FILE", "export --jsonl FILE", "export --chrome FILE",
         "export --perfetto -o OUT FILE", "export --speedscope FILE",
         "export --trace-dat -o OUT FILE", "export --ctf -o OUT FILE",
         f"diff FILE {GOLDEN[0]}", "assert --message 100s FILE", "assert --no-loss FILE",
         "dtrace -qn BEGIN{} -r FILE", "dtrace -r FILE"]
WITHOUT_RECOVER = ("assert", "dtrace")
# What else ends them with status 1: what they were asked for is not in the capture.
BESIDES = {
    "why": r"no message of which|no thread", "assert": r"can't tell|breached|undecided",
    "symbols": r"has no build id|not found|none", "cut": r"of another kernel|can't be cut",
    "dtrace": r"no program of D has records|the capture lacks|another kernel's|byte order|"
              r"no function|(events|buffers) ",
}
# These may refuse a capture for that before they read it.
UNREAD = ("symbols", "cut", "dtrace", "assert")
BROKEN = {"group_away", "cut_anywhere", "cut_between", "cut_slot", "cut_head", "cut_tail",
          "bytes_changed"}


class Failed(Exception):
    """A command that disagrees."""


def run(kymo, words):
    try:
        done = subprocess.run([kymo, *words], capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=patience.seconds(60))
    except subprocess.TimeoutExpired:
        raise Failed(f"kymo {' '.join(words)} hangs") from None
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def core(message):
    """What a message says, without the remedy, which depends on the command's options."""
    return re.sub(r"; `(--recover|kymo cut)[^;]*$", "", message)


def verify(kymo, path):
    status, out, said = run(kymo, ["verify", "--json", path])
    result = json.loads(out)
    if status != (result["verdict"] != "whole") or result["file"] != path:
        raise Failed(f"kymo verify: status {status}: {out}")
    if status and said.count(core(result["message"])) != 1:
        raise Failed(f"kymo verify: {said} is not {result['message']}")
    return status, result


def truth(name, capture, data, verdict):
    """Kinds of mutants whose verdict is known."""
    status, result = verdict
    if name != "follow" and result.get("next_capture"):
        raise Failed("there is one capture")
    if name in ("head_changed", "cut_head") and capture.checked and result.get("damage") and \
            len(data) == len(capture.data) and not result["buffers"]:
        raise Failed("a damaged head does not cost the buffers")
    if name in ("sound", "again_sound") and status:
        raise Failed("it is whole")
    if name in BROKEN and capture.checked and data != bytes(capture.data) and not status:
        raise Failed("it is not whole")
    if name == "follow" and data[len(capture.data):].startswith(b"TRACE_HEADER_BEGIN::") and \
            not status:
        raise Failed("two captures are not one")


def besides(command, text):
    return command in BESIDES and re.search(BESIDES[command], text)


def one(kymo, form, path, out, verdict, recover):
    """A command's status and message against the verdict."""
    status, result = verdict
    words = [{"FILE": path, "OUT": out}.get(word, word) for word in form.split()]
    if recover:
        if words[0] in WITHOUT_RECOVER:
            return
        words.insert(1, "--recover")
    shutil.rmtree(out) if os.path.isdir(out) else os.path.exists(out) and os.unlink(out)
    its, printed, said = run(kymo, words)
    wanted = status
    if recover and status:
        wanted = 0 if result.get("buffers") and not result["next_capture"] else 1
    told = f"kymo {' '.join(words)}: status {its}, kymo verify's is {wanted}: {said[:1500]}"
    if its != wanted and not (its == 1 and besides(words[0], said + printed.decode("latin-1"))):
        raise Failed(told)
    count = said.count(core(result["message"] or ""))
    if status and not recover and words[:2] != ["assert", "--no-loss"] and count != 1 and \
            not (count == 0 and words[0] in UNREAD and besides(words[0], said)):
        raise Failed(f"{told} is not once {result['message']}")
    if status and recover and path not in said:
        raise Failed(f"{told}: nothing is said")


def sources(mkcapture, folder, seed):
    all_of_them = []
    for i, kinds in enumerate(MADE):
        path = f"{folder}/sound{i}.kev"
        subprocess.run([mkcapture, path, str(1 + (seed + i) % 3), "300", str(seed + i),
                        *kinds.split()], check=True, timeout=patience.seconds(60))
        all_of_them.append(mutants.load(path))
    return all_of_them + [mutants.load(path) for path in GOLDEN]


def main(kymo, mkcapture, folder, files="50"):
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    folder = os.path.join(folder, "verdicts")
    os.makedirs(folder, exist_ok=True)
    print(f"SEED={seed}")
    path, out = f"{folder}/mutant.kev", f"{folder}/out"
    sound = sources(mkcapture, folder, seed)
    broken, first = 0, int(os.environ.get("FIRST", "0"))
    for i in range(first, int(files)):
        rng = random.Random(seed * 1000003 + i)
        name, capture, data = mutants.mutant(rng, sound)
        with open(path, "wb") as file:
            file.write(data)
        try:
            verdict = verify(kymo, path)
            truth(name, capture, data, verdict)
            for form in FORMS:
                one(kymo, form, path, out, verdict, False)
                if i % 3 == 0:
                    one(kymo, form, path, out, verdict, True)
        except Failed as why:
            print(f"FAILED: {name}: {why}\nSEED={seed} FIRST={i}; {path} stays")
            return 1
        broken += verdict[0]
        if sys.stderr.isatty():
            print(f"\r{i + 1} of {files}", end="", file=sys.stderr)
    print(f"{int(files) - first} files, of which {broken} are not whole: no command disagrees")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
