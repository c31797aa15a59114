# SPDX-License-Identifier: BSD-2-Clause
"""Log text (docs/guide/log.md): what t_log printed with printf() is what each reader has as text,
found by the build id in the board's folder of programs, and a program of another build is
refused."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import kev

sys.path.insert(0, os.path.join(kev.ROOT, "test/tool"))
import temporary  # noqa: E402,F401

KYMO = os.path.join(kev.ROOT, "build/kymo")


def kymo(*words, elf=None):
    env = dict(os.environ)
    env.pop("KYMO_ELF", None)
    if elf:
        env["KYMO_ELF"] = elf
    done = subprocess.run([KYMO, *words], capture_output=True, text=True, errors="replace",
                          check=False, env=env)
    return done.returncode, done.stdout, done.stderr


def told(boot):
    return re.findall(r"^LOG (.*?)\r?$", boot.console, re.M)


def texts(out):
    return [e["args"]["str"] for e in map(json.loads, out.splitlines()) if "str" in e["args"]]


def the_text_is_what_the_program_says(boot):
    want = told(boot)
    status, out, err = kymo("print", "--json", "--class", "user", boot.trace)
    if status or err or len(want) < 40 or texts(out) != want:
        wrong = [f"{a!r} is not {b!r}" for a, b in zip(texts(out), want) if a != b]
        return f"{status} {err[:300]} {len(want)} told, {len(texts(out))} printed: {wrong[:3]}"
    status, out, err = kymo("print", "-n", "--class", "user", boot.trace)
    if status or out.count("STR:\"") != len(want) or "STR:\"warning: four\"" not in out:
        return f"as lines: {status} {err[:300]}"
    return None


def the_others_have_the_text(boot):
    want = told(boot)
    status, out, err = kymo("dtrace", "-q", "-r", boot.trace, "-n",
                            'user:::string { printf("%s\\n", args[1]); }')
    said = [line for line in out.splitlines() if line]
    # Static probes have names of their own there: test/board/statics.py.
    want = [w for w in want if ":::" not in w]
    # dtrace's strings have strsize: 64 on the smaller board.
    if status or [w[:63] for w in said] != [w[:63] for w in want]:
        return f"dtrace -r: {status} {err[:200]} {said[:3]}"
    status, out, err = kymo("assert", boot.trace, "-n",
                            'user:::string /strstr(args[1], "error: ") == args[1]/ '
                            '{ printf("%s", args[1]); }')
    if status != 1 or out.count("error: two") != want.count("error: two"):
        return f"assert: {status} {out[:300]} {err[:300]}"
    status, out, err = kymo("export", "--jsonl", "--class", "user", boot.trace)
    if status or sum(json.dumps(w)[1:-1] in out for w in set(want)) < len(set(want)):
        return f"export: {status} {err[:300]}"
    return None


def a_cut_has_it_too(boot):
    with tempfile.TemporaryDirectory() as folder:
        part = os.path.join(folder, "part.kev")
        status, _, err = kymo("cut", "--class", "user", boot.trace, "-o", part)
        out = kymo("print", "--json", "--class", "user", part)[1] if status == 0 else ""
    return None if texts(out) == told(boot) else f"kymo cut: {status} {err[:200]} {texts(out)[:3]}"


def another_build_is_refused(boot):
    """Only another program is at hand: numbers stay numbers, and both ids are named."""
    with tempfile.TemporaryDirectory() as folder:
        trace = shutil.copy(boot.trace, os.path.join(folder, "trace.kev"))
        own = os.path.join(boot.build.removesuffix("-debug"), "programs/t_log")
        other = os.path.join(folder, "t_log")
        with open(own, "rb") as f:
            data = f.read()
        note = data.find(b"GNU\0", data.find(b"\x14\0\0\0\x03\0\0\0GNU\0") + 1)
        with open(other, "wb") as f:
            f.write(data[:note + 4] + b"\xaa\xbb\xcc\xdd" + data[note + 8:])
        bare = os.path.join(folder, "kymo")
        shutil.copy(KYMO, bare)  # has no boards beside it
        done = subprocess.run([bare, "print", "--json", "--class", "user", trace],
                              capture_output=True, text=True, errors="replace", check=False)
        first = data[note + 4:note + 8].hex()
    if done.returncode or texts(done.stdout) or f"build id {first}..." not in done.stderr or \
            "is of aabbccdd" not in done.stderr or done.stderr.count("\n") != 1:
        return f"{done.returncode} {texts(done.stdout)[:2]} {done.stderr[:400]}"
    return None


CHECKS = [the_text_is_what_the_program_says, the_others_have_the_text, a_cut_has_it_too,
          another_build_is_refused]
