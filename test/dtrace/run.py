#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The conformance suite of D: runs the rows of test/dtrace/rows/*.rows against `kymo dtrace`.

run.py [--kymo PROGRAM] [--jobs N] [--target SPEC] [--set OPTION=VALUE]...
       [--kind KIND]... [--every N] [NAME...]

NAME: only rows whose names contain one of them. --target: against this target instead of self; with
--set a board's smaller defaults are set to those that the rows count on. --kind: what it is, below.
--every: only each Nth row, beginning with one that KYMO_SAMPLE=n says. A target that does not
answer any more ends the run, which has failed then, and so has every row that was left.

A row:

    === name
    args: -q -s %              what dtrace is called with; % is the script. This is the default
    status: 3                  the exit status; 0 is the default
    tag: D_SYNTAX              the script must not compile, for this reason: status 1
    expect: part               output only has to contain these lines, in order
    script, up to the first ---
    self: why                  it can't be run against another target than self, because …
    here: why                  nor against one on another machine
    lp64: why                  nor against one whose pointers have 32 bits
    ilp32: why                 only against one whose pointers have 32 bits
    alone: why                 no other row runs meanwhile
    --- out
    standard output; newlines at its end don't count (with `raw:` all lines up to the next part do)
    --- err
    standard error; not looked at if there is no such part
    --- out KIND: why
    --- err KIND: why
    the same of other targets, where it differs, and why it does. KIND: ilp32, a target whose
    pointers have 32 bits; uchar, one whose char has no sign; board, any on another machine. If a
    row has several that apply, the first of these counts
    --- file NAME
    another file, in the folder where dtrace runs
    --- program NAME
    the C source of a program in that folder, compiled with -g
    --- after NAME
    what that file must hold when dtrace has ended; newlines at its end don't count

Each row runs in a session of its own, without a terminal: $sid and $pgid are its $pid.
In expected text, \\N stands for any number and \\X for any text within a line.

Error tags have tables, test/dtrace/rows/*.tags, a row a line: what must come of compiling a script:

    D_SYNTAX | BEGIN { x = ; }
    ok -C | BEGIN { } ~~ END { }    more options before the bar; ~~ is a new line of the script
    D_SYNTAX | BEGIN { ==> words    what the message must hold, each blank of it being any white
                                    space: its words, then its place, script.d:LINE:COLUMN:
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import patience  # noqa: E402
import temporary  # noqa: E402,F401
KINDS = ("ilp32", "uchar", "board")
KEYS = ("args", "status", "tag", "expect", "raw", "self", "here", "lp64", "ilp32", "alone")


class Row:
    def __init__(self, name, where):
        self.name, self.where = name, where
        self.args, self.status, self.tag = "-q -s %", 0, None
        self.part = self.raw = False
        self.only_self = self.only_here = self.only_lp64 = self.only_ilp32 = None
        self.alone = False
        self.said = ""  # of the message of a tag
        self.others = {}  # ("out", "ilp32"): lines
        self.script, self.out, self.err = [], None, None
        self.files, self.after, self.programs = {}, {}, {}


def add_key(row, key, value):
    if key == "status":
        row.status = int(value)
    elif key == "expect":
        row.part = True
    elif key == "raw":
        row.raw = True
    elif key in ("self", "here", "lp64", "ilp32"):
        if not value:
            sys.exit(f"{row.where}: {key}: without a reason")
        setattr(row, "only_" + key, value)
    elif key == "alone":
        row.alone = True
    else:
        setattr(row, key, value)


def parse(path):
    rows, row, into, head = [], None, None, False
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if line.startswith("=== "):
            row = Row(line[4:].strip(), f"{os.path.basename(path)}:{number}")
            rows.append(row)
            into, head = row.script, True
            continue
        if row is None:
            if line and not line.startswith("#"):
                sys.exit(f"{path}:{number}: text before the first row")
            continue
        key, _, value = line.partition(":")
        if head and key in KEYS:
            add_key(row, key, value.strip())
        elif line.startswith("--- "):
            head = False
            heading, _, why = line[4:].partition(":")
            words = heading.split()
            into = []
            if words[0] in ("out", "err") and len(words) == 1:
                setattr(row, words[0], into)
            elif words[0] in ("out", "err") and words[1] in KINDS and why.strip():
                row.others[words[0], words[1]] = into
            elif words[0] in ("file", "after", "program"):
                getattr(row, "files" if words[0] == "file" else
                        "after" if words[0] == "after" else "programs")[words[1]] = into
            else:
                sys.exit(f"{path}:{number}: no such part: {words[0]}")
        else:
            head = False
            into.append(line)
    return rows


def parse_tags(path):
    """Rows of a table of tags; each only compiles."""
    rows = []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.startswith("#") or not line.strip():
            continue
        head, bar, script = line.rstrip("\n").partition(" | ")
        script, _, said = script.partition(" ==> ")
        words = head.split()
        if not bar or not (words[0] == "ok" or words[0].startswith("D_")):
            sys.exit(f"{path}:{number}: no row: {line}")
        row = Row(" ".join(words) + " | " + script, f"{os.path.basename(path)}:{number}")
        row.args = " ".join(["-e", *words[1:]] + ([] if "%" in words else ["-s", "%"]))
        row.tag = None if words[0] == "ok" else words[0]
        row.script, row.said = script.split(" ~~ "), said
        rows.append(row)
    return rows


def text(lines, raw=False):
    while not raw and lines and not lines[-1]:
        lines.pop()
    return "".join(line + "\n" for line in lines)


def matches(expected, got, part, raw=True):
    if not raw:
        expected, got = expected.rstrip("\n"), got.rstrip("\n")
    pattern = re.escape(expected).replace(r"\\N", r"-?[0-9]+").replace(r"\\X", r"[^\n]*")
    if part:
        pattern = ".*".join(p for p in pattern.split(re.escape("\n")))
        return re.search(pattern, got, re.S) is not None
    return re.fullmatch(pattern, got, re.S) is not None


def wrong_file(row, folder):
    for name, lines in row.after.items():
        try:
            got = open(os.path.join(folder, name), encoding="utf-8", errors="replace").read()
        except OSError as error:
            return f"{name}: {error}"
        if not matches(text(lines), got, row.part, False):
            return f"{name} holds:\n{got}\nwanted:\n{text(lines)}"
    return None


def problem(row, done, folder):
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if "AddressSanitizer" in err or "runtime error:" in err or "LeakSanitizer" in err:
        return "sanitizer:\n" + err
    if row.tag:
        if done.returncode != 1 or f"[{row.tag}]" not in err:
            return f"tag {row.tag} wanted; status {done.returncode}\n{err}{out}"
        if row.said not in " ".join(err.split()):
            return f"standard error:\n{err}\nwanted: {row.said}"
        return None
    if done.returncode != row.status:
        return f"status {done.returncode}, not {row.status}\n{err}{out}"
    if row.out is not None:
        wanted = text(row.out, row.raw)
        if not matches(wanted, out, row.part, row.raw):
            return f"output:\n{out}\nwanted:\n{wanted}\n{err}"
    if row.err is not None and not matches(text(row.err), err, row.part):
        return f"standard error:\n{err}\nwanted:\n{text(row.err)}"
    return wrong_file(row, folder)


def arguments(row, script):
    """What is said for all rows comes first, so that a row may say otherwise."""
    words = re.findall(r"'[^']*'|\S+", row.args)
    words = [w[1:-1] if w.startswith("'") else w for w in words]
    return [script if w == "%" else w for w in words] + (["-xerrtags"] if row.tag else [])


def compile_programs(row, folder):
    for name, lines in row.programs.items():
        with open(os.path.join(folder, name + ".c"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        subprocess.run([os.environ.get("HOST_CC", "gcc"), "-g", "-O0", "-o", name, name + ".c"],
                       cwd=folder, check=True, stdin=subprocess.DEVNULL)


LOST = threading.Event()  # the target does not answer any more
LOST_WORDS = (b"no answer from the target", b"the target went silent", b"the line was closed")


def run(row, kymo, common):
    if LOST.is_set():
        return row, "not run, for the target was lost"
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "script.d")
        with open(script, "w", encoding="utf-8") as f:
            f.write("\n".join(row.script) + "\n")
        for name, lines in row.files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write("\n".join(lines) + "\n")
        compile_programs(row, folder)
        try:
            words = [w.replace(script, "script.d") for w in arguments(row, "script.d")]
            done = subprocess.run([kymo, "dtrace"] + (common if words else []) + words, cwd=folder,
                                  stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=patience.seconds(60),
                                  start_new_session=True,
                                  env=dict(os.environ, TZ="UTC", LC_ALL="C", TERM="xterm"))
        except subprocess.TimeoutExpired:
            return row, "hangs"
        bad = problem(row, done, folder)
        if bad and any(words in done.stderr for words in LOST_WORDS):
            LOST.set()
        return row, bad


# What a row has that doesn't make sense against another machine, and why.
ONLY_HERE = [
    (r"(^|\s)-[qwFCZeS]*[cp](\s|$)", None, "-c and -p are of processes of this machine"),
    (None, r"\b(raise|stop|panic|breakpoint)\(", "it would be done to the link's own process"),
    (r"--elf", None, "--elf names programs of this machine"),
    (r"-lv|-l -v", None, "what is listed of a board begins with what it is"),
    (None, r"(?s)alloca\(.*copy(in|out)", "a program's memory is not the user's there"),
    (None, r"(tick|profile)-.*(args\[0\]|arg1)", "a timer's arguments hang on what runs"),
    (None, r"^profile:::tick-\* \{ \}", "who else traces has made more timers"),
    (None, r"tick-1ms.*trace\(arg", "a timer's arguments hang on what runs"),
    (None, r"\$(pid|ppid|uid|gid|euid|egid|sid|pgid)\b", "it means a process of this machine"),
]


def left_out(row, target, kinds):
    """Why this row doesn't apply to the target; None: it does."""
    if "ilp32" in kinds and row.only_lp64:
        return row.only_lp64
    if "ilp32" not in kinds and row.only_ilp32:
        return row.only_ilp32
    if target == "self" or row.only_self:
        return row.only_self if target != "self" else None
    if target == "loop":
        return "--elf is for self or a board" if "--elf" in row.args else None
    for args, script, why in ONLY_HERE:
        text = "\n".join([row.args] + row.script)
        if args and re.search(args, row.args) or script and re.search(script, text, re.M):
            return why
    return row.only_here


def sample(rows, every):
    """Each Nth row; which is the first changes with each commit (scripts/check)."""
    return rows[int(os.environ.get("KYMO_SAMPLE", 0)) % every::every]


def choose(options):
    rows = []
    for name in sorted(os.listdir(os.path.join(HERE, "rows"))):
        path = os.path.join(HERE, "rows", name)
        if name.endswith(".tags"):
            rows += sample(parse_tags(path), options.every_tag) if options.every_tag else []
        elif not options.only_tags:
            rows += parse(path)
    rows = [r for r in rows if not options.names or any(n in r.name for n in options.names)]
    rows = sample(rows, options.every)
    for row in rows:
        for kind in [k for k in reversed(KINDS) if k in options.kind]:
            row.out = row.others.get(("out", kind), row.out)
            row.err = row.others.get(("err", kind), row.err)
    left = [r for r in rows if left_out(r, options.target, options.kind)]
    for row in left:
        print(f"left out {row.where}: {row.name}: {left_out(row, options.target, options.kind)}")
    return [r for r in rows if r not in left], len(left)


def main():
    parser = argparse.ArgumentParser(description="The conformance suite of D.")
    parser.add_argument("--kymo", default=os.path.join(ROOT, "build/kymo"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--target", default="self")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--kind", action="append", default=[], choices=KINDS)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--every-tag", type=int, default=1, metavar="N",
                        help="only each Nth row of the tables of tags; 0: none")
    parser.add_argument("--only-tags", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    rows, left = choose(options)
    common = ["-t", options.target]
    common += [f"-x{setting}" for setting in options.set]
    kymo = os.path.abspath(options.kymo)
    failed = 0
    for jobs, some in ((options.jobs, [r for r in rows if not r.alone]),
                       (1, [r for r in rows if r.alone])):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for row, bad in pool.map(lambda r: run(r, kymo, common), some):
                if bad:
                    failed += 1
                    print(f"FAIL {row.where}: {row.name}: {bad}", flush=True)
    print(f"{len(rows) - failed} passed, {failed} failed" + (f", {left} skipped" if left else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
