#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""gate_random.py SEED: a D program for the event log's gate, for the control fuzz (t_control): any
probes, any predicates, some that fault, keep variables, or stop the log."""
import random
import sys

PROBES = ["sdt:::thread_*", "sdt:::thread_running", "sdt:::comm_*", "sdt:::int_*", "sdt:::proc_*",
          "syscall:::", "syscall:::entry", "syscall:::return", "syscall::msg_*:entry",
          "syscall::trace_event:entry", "syscall::signal_kill:", "syscall::sched_*:return"]
LEAVES = ["arg0", "arg1", "arg2", "arg5", "pid", "tid", "errno", "cpu", "timestamp", "self->a",
          "self->b", "seen[arg0 % 7]", "seen[cpu]", "all", "strlen(execname)", "stackdepth", "1"]
FAULTS = ["*(int *)0", "1 / (arg0 - arg0)", "*(long *)arg1", "strlen((string)arg2)"]
OPERATORS = ["+", "-", "*", "&", "|", "^", "<", ">=", "==", "!=", "&&", "||"]


def expression(r, depth):
    kind = r.random()
    if depth == 0 or kind < 0.2:
        return str(r.randrange(100)) if r.random() < 0.2 else r.choice(LEAVES)
    if kind < 0.25:
        return r.choice(FAULTS)
    if kind < 0.35:
        to = r.choice(["self->a", "self->b", "seen[arg0 % 7]", "seen[cpu]", "all"])
        return f"({to} = (long)({expression(r, depth - 1)}))"
    if kind < 0.42:
        return f"({expression(r, depth - 1)} {r.choice('%/')} {r.randrange(1, 9)})"
    if kind < 0.5:
        return f"({r.choice(['self->a', 'self->b'])} = 0)"
    return f"((long)({expression(r, depth - 1)}) {r.choice(OPERATORS)} " \
           f"(long)({expression(r, depth - 1)}))"


def main():
    r = random.Random(int(sys.argv[1]))
    print("#pragma D option dynvarsize=2k\nlong all;\nlong seen[long];\nself long a;\nself long b;")
    for _ in range(r.randrange(1, 7)):
        predicate = f" /0 + {expression(r, 3)}/" if r.random() < 0.9 else ""
        print(f"{r.choice(PROBES)}{predicate} {{{' logstop(); ' if r.random() < 0.15 else ''}}}")


if __name__ == "__main__":
    main()
