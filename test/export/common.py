# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of `kymo export` share: the command, captures, and what an export has to hold,
from `kymo print --json` (events) and `kymo export --jsonl` (losses)."""
import json
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))
MK = os.path.join(ROOT, "build/tools/mkcapture")


class Failed(Exception):
    pass


def want(condition, text):
    if not condition:
        raise Failed(text)


def same(ours, theirs, what):
    if ours != theirs:
        raise Failed(f"{what}: {str(ours)[:400]}\n  is not {str(theirs)[:400]}")


def run(*arguments, status=0, stdin=None):
    done = subprocess.run([KYMO, *arguments], capture_output=True, timeout=120, check=False,
                          input=stdin)
    if done.returncode != status:
        raise Failed(f"kymo {' '.join(arguments)}: status {done.returncode}, not {status}: "
                     f"{done.stderr.decode()[:300]}")
    return done.stdout, done.stderr.decode()


def export(form, capture, *options, status=0):
    return run("export", "--" + form, *options, capture, status=status)[0]


def printed(capture, *options, status=0):
    """The events as `kymo print --json` has them: the second opinion."""
    out = run("print", "--json", *options, capture, status=status)[0]
    return [json.loads(line) for line in out.splitlines()]


def lines(capture, *options, status=0):
    """The lines of --jsonl."""
    return [json.loads(line) for line in export("jsonl", capture, *options,
                                                status=status).splitlines()]
