#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""progress.py KYMO MKCAPTURE FOLDER: every command that reads or writes a whole capture, or many
of them, shows how far it is while standard error is a terminal, clears that line in the end, and
writes none of it where standard error is no terminal. The last line is `N passed, N failed`."""
import os
import pty
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tool"))
import empty_server  # noqa: E402
import fetched  # noqa: E402
import temporary  # noqa: E402,F401

EVENTS = "800000"  # a call of kymo_progress() is made each 65,536 events
EXPORTS = "csv", "jsonl", "chrome", "ctf", "perfetto", "speedscope", "trace-dat"
HOLE = 1 << 29  # bytes of a file whose sum takes a while
SLOW_SQL = "SELECT max(sha256(repeat(args || n, 40))) FROM events"
COMMANDS = [
    ["print", "big.kev"],
    ["print", "--json", "big.kev"],
    ["print", "--csv", "big.kev"],
    ["stat", "big.kev"],
    ["verify", "big.kev"],
    ["cut", "big.kev", "--from", "0.01", "-o", "cut.kev"],
    ["diff", "big.kev", "big.kev"],
    ["why", "--slowest", "3", "big.kev"],
    ["assert", "--no-loss", "big.kev"],
    ["assert", "--message", "1s", "big.kev"],
    ["assert", "-n", "sched:::on-cpu /0/ { trace(1); }", "big.kev"],
    ["report", "big.kev", "-o", "all.html"],
    ["report", "--most", "0", "big.kev", "-o", "levels.html"],
    ["dtrace", "-r", "big.kev"],
    ["dtrace", "-r", "big.kev", "-qn", "sched:::on-cpu { @ = count(); }"],
    *[["export", f"--{name}", "-o", name, "big.kev"] for name in EXPORTS],
    ["symbols", "big.kev"],
    ["symbols", "--json", "big.kev", "100"],
    ["export", "--parquet", "fleet", "big.kev"],
    ["load", "SERVER", "big.kev"],
    *[["query", *form, "fleet", SLOW_SQL] for form in ([], ["--json"])],
    # It has an id, which is all that is asked of it.
    ["export", "--parquet", "fleet", "hole.kev"],
    ["load", "SERVER", "hole.kev"],
]


def on_terminal(words, folder, env=None, until=None, gate=None):
    """(what it wrote to the terminal); a reader of `gate` goes on when it has written `until`"""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=theirs, cwd=folder, env=env)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 65536):
            said += chunk
            if gate and re.search(until, said):
                open(gate, "w", encoding="ascii").close()
                gate = None
    except OSError:  # the terminal is closed
        pass
    os.close(ours)
    process.wait()
    return said


# In node's place: says at once how far its first job was at several times, then waits to be let go;
# of the first job of another table it says how far that is, and fails.
FAKE_NODE = """#!{python}
import json
import sys
first = None
for line in iter(sys.stdin.readline, ""):
    table = json.loads(line)["parquet"].rsplit("-", 1)[0]
    if first is None:
        first = table
        sys.stdout.write("".join(f"{{n}} %\\n" for n in range(7, 43)))
        sys.stdout.flush()
        open("{gate}").close()
    elif table != first:
        print("63 %\\nthat was all", flush=True)
        continue
    print("ok", flush=True)
"""


def freshest(kymo, folder):
    """What the terminal has of percentages that have all come before the first of them is read, and
    of another table's right after them."""
    gate, node = os.path.join(folder, "gate"), os.path.join(folder, "bin/node")
    os.mkfifo(gate)
    os.mkdir(os.path.dirname(node))
    with open(node, "w", encoding="utf-8") as f:
        f.write(FAKE_NODE.format(python=sys.executable, gate=gate))
    os.chmod(node, 0o755)
    path = os.path.dirname(node) + os.pathsep + os.environ["PATH"]
    return on_terminal([kymo, "export", "--parquet", "slow", "big.kev"], folder,
                       dict(os.environ, PATH=path), rb"converting [^%]*%", gate)


def main():
    kymo, mkcapture, place = (os.path.abspath(path) for path in sys.argv[1:4])
    passed = failed = 0

    def ok(good, name, said):
        nonlocal passed, failed
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"FAIL {name}: {said[-300:]}")

    fetched.duckdb()
    server = empty_server.address()
    with tempfile.TemporaryDirectory(dir=place) as folder:
        subprocess.run([mkcapture, "big.kev", "4", EVENTS, "7", "full-id"], cwd=folder, check=True)
        with open(os.path.join(folder, "hole.kev"), "wb") as hole:
            hole.truncate(HOLE)
        for words in COMMANDS:
            name = " ".join(words)
            words = [server if word == "SERVER" else word for word in words]
            said = on_terminal([kymo, *words], folder)
            ok(bool(re.search(rb"\r[a-z -]+: +\d+ %", said)), f"{name}: no progress", said)
            if "--parquet" in words and "hole.kev" not in words:
                # It ends with rows that only DuckDB is still at.
                ok(b"\rconverting " in said, f"{name}: DuckDB's part", said)
            if words[0] == "query":
                ok(b"\ropening:   0 %" in said, f"{name}: the folder's files", said)
                ok(b"\rquerying:" in said, f"{name}: DuckDB's part", said)
            # A name that is shorter than the one before leaves nothing of that one.
            ok(not re.search(rb"\d %(?!\x1b\[K)", said), f"{name}: the line's rest stays", said)
            ok(b"\r\x1b[K" in said and not re.search(rb"\d %(\x1b\[K)?$", said),
               f"{name}: its line stays", said)
            quiet = subprocess.run([kymo, *words, *(["--force"] if "-o" in words else [])],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, cwd=folder, check=False).stderr
            ok(b"%" not in quiet and b"\r" not in quiet, f"{name}: not to a terminal", quiet)
        said = freshest(kymo, folder)
        shown = re.findall(rb"converting ([^:%]*): +(\d+) %", said)
        ok([number for _, number in shown] == [b"42", b"63"] and b"that was all" in said,
           "what was shown of 7 to 42 %, then 63 %", said)
        ok(len({table for table, _ in shown}) == 2, "whose it was", said)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
