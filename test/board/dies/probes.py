#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The D programs that make the kernel panic at a trace point, for test/board/dies.py.

probes.py N    the text of program N: so many probes of all, each of which panics if t_dies (a test
               program) has chosen its number; the n-th time it fires, which t_dies also says.
There is a probe for each row of events.def that can be caused (test/dtrace/cause_rows.py knows
how), for each kernel call, and for what the other providers have.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "test/dtrace"))
import cause_rows  # noqa: E402

EACH = 10  # probes of a program: as t_dies.c has it
MAGIC = 0x6b796d6f
# A kernel with one CPU never spins; a dump that waits needs a ring of its own.
NOT_CAUSED = ("lockstat:kernel:", "sdt:PR_TH:thread_waitctx")
# These calls nobody makes, or they end the machine.
NOT_CALLED = ("nop", "thread_cancel", "system_ctl", "host_call")


def calls():
    with open(os.path.join(ROOT, "abi/kercalls.def"), encoding="utf-8") as f:
        return [c for c in re.findall(r"^KERCALL\(\d+, +\w+, +(\w+),", f.read(), re.M)
                if c not in NOT_CALLED]


def derived():
    """provider:function:name of what the compiler makes of other probes."""
    with open(os.path.join(ROOT, "trace/derived.def"), encoding="utf-8") as f:
        return {":".join(row) for row in
                re.findall(r'^DERIVED\((\w+), +"([^"]*)", +"([^"]*)"', f.read(), re.M)}


def probes():
    """provider:function:name of all, in an order that has of each kind among the first."""
    rows = {line.split()[2] for line in cause_rows.ROWS.splitlines() if line.strip()}
    rows = {r for r in rows if not r.startswith(("profile:", "syscall:", *NOT_CAUSED))}
    rows -= derived()
    kinds = [sorted(r for r in rows if r.startswith("sdt:")),
             sorted(r for r in rows if not r.startswith("sdt:")),
             [f"syscall:{c}:entry" for c in calls()]]
    found = []
    while any(kinds):
        for kind in kinds:
            if kind:
                found.append(kind.pop(0))
    return found[:len(found) // EACH * EACH]


def program(n):
    lines = ["#pragma D option destructive", "#pragma D option quiet", "int which, left;",
             f"syscall::nop:entry /arg0 == {MAGIC}/ {{ which = arg1; left = arg2; }}"]
    for i, probe in enumerate(probes()[n * EACH:(n + 1) * EACH]):
        lines.append("{}::{}:{}".format(*probe.split(":")) +
                     f" /which == {i + 1} && left-- == 0/ {{ panic(); }}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(program(int(sys.argv[1])))
