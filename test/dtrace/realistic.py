#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Scripts of the kind that users have lose nothing with the sizes that a board has by default.

realistic.py [--seconds N] [--all] BOARD [NAME...]

Boots the image `work`, the demo workload over and over, and runs one script after the other for N
seconds (2). Fails for a script that ends with an error, prints nothing, or drops an entry of an
aggregation, a dynamic variable or a speculation. A record that finds its buffer full because the
host read it late is counted and printed, and fails only with --all, on a machine that is idle.
The last line is `N passed, N failed`.
"""
import argparse
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "test/tool")]
import scripts  # noqa: E402

SCRIPTS = {
    "calls by program": "syscall:::entry { @[execname, probefunc] = count(); }",
    "latency of calls": """
        syscall:::entry { self->since = timestamp; }
        syscall:::return /self->since/
        { @[execname, probefunc] = quantize(timestamp - self->since); self->since = 0; }""",
    "time in calls by thread": """
        syscall:::entry { since[pid, tid] = timestamp; }
        syscall:::return /since[pid, tid]/
        { @total[pid, tid, probefunc] = sum(timestamp - since[pid, tid]);
          @longest[pid, tid, probefunc] = max(timestamp - since[pid, tid]);
          since[pid, tid] = 0; }""",
    "stacks by samples": "profile-97 /arg1/ { @[execname, ustack()] = count(); }",
    "who sends to whom": """
        msg:::send { @[execname, pidname(args[1])] = count(); sent[args[0]] = timestamp; }
        msg:::receive /sent[args[0]]/
        { @us[execname, pidname(args[1])] = quantize((timestamp - sent[args[0]]) / 1000);
          sent[args[0]] = 0; }""",
    "time on the CPU": """
        sched:::on-cpu { self->since = timestamp; }
        sched:::off-cpu /self->since/
        { @[execname, pid, tid] = sum(timestamp - self->since);
          @slices[execname] = quantize(timestamp - self->since); self->since = 0; }""",
    "time off the CPU by stack": """
        sched:::sleep { self->left = timestamp; }
        sched:::on-cpu /self->left/
        { @[execname, ustack(8)] = sum(timestamp - self->left); self->left = 0; }""",
    "stacks of calls": "syscall::msg_sendv:entry { @[execname, stack(), ustack()] = count(); }",
    "time in kernel functions": """
        fbt::msg_*:entry, fbt::ker_*:entry { self->in[probefunc] = timestamp; }
        fbt::msg_*:return, fbt::ker_*:return /self->in[probefunc]/
        { @[probefunc] = quantize(timestamp - self->in[probefunc]); self->in[probefunc] = 0; }""",
    "a line a millisecond": """
        profile-997 { printf("%d %s %d/%d\\n", timestamp, execname, pid, tid); }""",
    "calls that fail": """
        syscall:::entry { self->spec = speculation(); }
        syscall:::entry /self->spec/
        { speculate(self->spec); printf("%s %s %x %x", execname, probefunc, arg0, arg1); }
        syscall:::return /self->spec && errno/
        { commit(self->spec); self->spec = 0; }
        syscall:::return /self->spec/ { discard(self->spec); self->spec = 0; }""",
    "every wakeup": """
        sched:::wakeup { printf("%s woke %s, %s", execname, args[1]->pr_fname, args[3]); }""",
}

DROPS = re.compile(r"^dtrace: (\d+) (.*?drops?)\b(.*)$", re.M)


def judge(board, text, seconds, everything):
    """What is wrong or None, and what was dropped."""
    end = f"\ntick-1s /++seconds_ == {seconds}/ {{ exit(0); }}\n"
    status, out, err = board.dtrace("-n", text + end)
    drops = [f"{n} {what}{rest}" for n, what, rest in DROPS.findall(err)]
    bad = [d for d in drops if everything or not re.match(r"\d+ drops? on CPU", d)]
    if status != 0:
        return f"status {status}: {err}", drops
    if out.count("\n") < 3:
        return f"prints nothing: {out}{err}", drops
    return ("; ".join(bad) + " " + err if bad else None), drops


def main():
    parser = argparse.ArgumentParser(description="scripts of the kind that users have")
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--all", action="store_true", help="records may not be dropped either")
    parser.add_argument("board", choices=sorted(scripts.LINES))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    os.chdir(ROOT)
    names = [n for n in SCRIPTS if not options.names or n in options.names]
    failed = 0
    with scripts.Board(options.board, "work", "d-realistic") as board:
        os.environ["XDG_RUNTIME_DIR"] = board.dir  # a link's broker of its own
        for name in names:
            error, drops = judge(board, SCRIPTS[name], options.seconds, options.all)
            failed += error is not None
            print(f"{'FAIL' if error else 'ok'} {options.board} {name}: "
                  f"{error or ', '.join(drops) or 'nothing lost'}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
