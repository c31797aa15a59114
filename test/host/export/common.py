# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of `kymo export` share: the command, captures, and what an export has to hold,
from `kymo print --json` (events) and `kymo export --jsonl` (losses)."""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(1, os.path.join(ROOT, "test/tool"))
import patience  # noqa: E402

SLOW = patience.seconds(120)  # a hang detector
KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))
MK = os.path.join(ROOT, "build/tools/mkcapture")
MKSCRIPT = os.path.join(ROOT, "build/tools/mkscript")


STATUS = {"gap.kev": 1}  # buffers are missing from it


class Failed(Exception):
    pass


def want(condition, text):
    if not condition:
        raise Failed(text)


def same(ours, theirs, what):
    if ours != theirs:
        raise Failed(f"{what}: {str(ours)[:400]}\n  is not {str(theirs)[:400]}")


def run(*arguments, status=0, stdin=None, timeout=SLOW):
    done = subprocess.run([KYMO, *arguments], capture_output=True, timeout=timeout, check=False,
                          input=stdin)
    if done.returncode != status:
        raise Failed(f"kymo {' '.join(arguments)}: status {done.returncode}, not {status}: "
                     f"{done.stderr.decode()[:300]}")
    return done.stdout, done.stderr.decode()


def run_any(*arguments):
    """Its status, which is 0 or 1."""
    done = subprocess.run([KYMO, *arguments], capture_output=True, timeout=SLOW, check=False)
    want(done.returncode in (0, 1), f"status {done.returncode}: {done.stderr.decode()[:300]}")
    return done.returncode


def export(form, capture, *options, status=0):
    return run("export", "--" + form, *options, capture, status=STATUS.get(capture, status))[0]


def printed(capture, *options, status=0):
    """The events as `kymo print --json` has them: the second opinion."""
    out = run("print", "--json", *options, capture, status=STATUS.get(capture, status))[0]
    return [json.loads(line) for line in out.splitlines()]


def lines(capture, *options, status=0):
    """The lines of --jsonl."""
    return [json.loads(line) for line in export("jsonl", capture, *options,
                                                status=status).splitlines()]


def drawn_name(event):
    """What an event is called where it is drawn, and its own name if that is another one."""
    own, args = event["event"] or str(event["number"]), event["args"]
    if event["class"] == "SYSTEM" and own.startswith("FUNC_"):
        return args["thisfn"], own
    if event["class"] == "INT" and "interrupt" in args:
        return f"{own} {args['interrupt']}", own
    return own, None


def printable(text):
    """Texts, as jsonl has them, are as host/escape.h writes them in every format."""
    return text
