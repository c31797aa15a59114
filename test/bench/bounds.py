# SPDX-License-Identifier: BSD-2-Clause
"""docs/reference/bounds.md: the longest stretch without a preemption point of each kernel call,
each command of TraceEvent() and DtraceControl(), each operation of guest_latency.c.

The page's figures are bounds: what `bench` counts must not exceed them. It must not be much less
either, so that a bound that nobody needs any more doesn't stay. `bench --page` writes anew those
that are exceeded or too far above.
"""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs/reference/bounds.md")
LIMIT = 5000  # of each row; bench's latency_worst
STEP = 50  # a bound is a multiple of this
ROW = re.compile(r"^\| `([\w ]+)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| (.*) \|$", re.M)
COLUMNS = ("Cortex-M4", "Cortex-M4, masked", "AArch64")
SAME = re.compile(r"^bound: (\w+) as ([\w ]+): (.*?)\r?$", re.M)
# What a timer ends, or is: a timer's interrupt is a part of it. Elsewhere it only comes amid.
TIMED = ("timers_due", "call_INTERRUPT_WAIT", "call_TIMER_TIMEOUT", "call_SYNC_MUTEX_LOCK",
         "call_SYNC_CONDVAR_WAIT", "call_SYNC_SEM_WAIT")
KINDS = {"call_": "calls", "TraceEvent_": "TraceEvent", "Dtrace_": "DtraceControl"}


def wanted():
    """The names that must have a row: of the commands, as the headers declare them. The calls are
    complete by construction (guest_bounds.c), and are looked for, too."""
    def read(name):
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            return f.read()
    calls = re.findall(r"^KERCALL\(\d+, +(\w+),", read("abi/kercalls.def"), re.M)
    commands = re.findall(r"^#define (?:_NTO|KYMO)_TRACE_(\w+)\s*(?:\\\n\s*)?_NTO_TRACE_CMD\(\d",
                          read("abi/sys/trace.h"), re.M)
    enum = re.search(r"enum kymo_d_command \{(.*?)\n\};", read("abi/sys/dtrace.h"), re.S)[1]
    enum = re.sub(r"/\*.*?\*/", "", enum, flags=re.S)
    return ([f"call_{name}" for name in calls] + [f"TraceEvent_{name}" for name in commands]
            + [f"Dtrace_{name}" for name in re.findall(r"KYMO_D_(\w+)", enum)])


def rows_of(lengths, said):
    """{row: (counts, what it is)} of one board. lengths: {name: counts} in the order of the run,
    counts a list of instructions: without a preemption point and, where the kernel masks interrupts
    by instructions, with these masked. said: what the board printed."""
    rows = {name: (n, "") for name, n in lengths.items()}
    for name, other, why in SAME.findall(said):
        of = [n for key, n in lengths.items() if key == other]
        if other == "its commands":  # TraceEvent(), DtraceControl(): the longest of these
            prefix = "TraceEvent_" if name == "call_TRACE_EVENT" else "Dtrace_"
            of = [n for key, n in lengths.items() if key.startswith(prefix)]
        if not of:
            raise SystemExit(f"bounds: {name} is to be as {other}, which was not measured")
        what = f"`{other}`: {why}" if why else "the longest of its commands"
        rows[name] = ([max(n) for n in zip(*of)], what)
    missing = [name for name in (*wanted(), *TIMED) if name not in rows]
    if missing:
        raise SystemExit("bounds: no row for " + ", ".join(missing)
                         + ": add them to test/bench/guest_bounds.c or guest_bounds_trace.c")
    return rows


def section_of(name):
    return next((section for prefix, section in KINDS.items() if name.startswith(prefix)),
                "operations")


def short(name):
    for prefix in KINDS:
        name = name.removeprefix(prefix)
    return name.replace("_of_", " of ").replace(" of a_", " of a ").replace(" of an_", " of an ")


def accepted(n, most):
    """Whether the bound of a row is right: not exceeded, not far above what is counted."""
    return most is not None and n <= most <= max(n * 1.4, n + 4 * STEP)


def bound(n, most=None):
    """The page's bound of what counts n: the one that stands there, as long as it is right."""
    return most if accepted(n, most) else -(-int(n * 1.06) // STEP) * STEP


def counted(boards, name):
    """A row's counts, one for each of COLUMNS. boards: [rows of Cortex-M4, rows of AArch64]."""
    return [*boards[0][name][0], *boards[1][name][0]]


def page_bounds(text):
    """{(section, name): its three bounds} of the page."""
    said, section = {}, None
    for line in text.splitlines():
        if match := re.match(r"<!-- (\w+) -->", line):
            section = match[1]
        elif match := ROW.match(line):
            said[section, match[1]] = [int(match[i].replace(",", "")) for i in (2, 3, 4)]
    return said


def tables(boards, said):
    """{section: lines of its table}. said: the page's bounds."""
    out = {}
    order = {name: i for i, name in enumerate(wanted())}
    for name in sorted(boards[0], key=lambda n: order.get(n, len(order))):
        old = said.get((section_of(name), short(name)), [None] * 3)
        figures = " | ".join(f"{bound(n, most):,}" for n, most in zip(counted(boards, name), old))
        out.setdefault(section_of(name), []).append(
            f"| `{short(name)}` | {figures} | {boards[0][name][1]} |")
    return out


def page_write(boards):
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    for section, lines in tables(boards, page_bounds(text)).items():
        begin, end = f"<!-- {section} -->\n", f"<!-- end of {section} -->\n"
        if begin not in text or end not in text:
            raise SystemExit(f"bounds: docs/reference/bounds.md has no place for {section}")
        head = f"| | {' | '.join(COLUMNS)} | |\n|---|--:|--:|--:|---|\n"
        text = (text[:text.index(begin)] + begin + head + "\n".join(lines) + "\n"
                + text[text.index(end):])
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(text)


def page_check(boards):
    """How many rows of the page are wrong: exceeded, far above what is counted, missing, none."""
    with open(PAGE, encoding="utf-8") as f:
        said = page_bounds(f.read())
    wrong = 0
    for name in boards[0]:
        key = section_of(name), short(name)
        for column, n, most in zip(COLUMNS, counted(boards, name), said.pop(key, [None] * 3)):
            if not accepted(n, most):
                wrong += 1
                print(f"docs/reference/bounds.md: {key[1]}, {column}: {most}; counted: {n}. "
                      "test/bench/bench --page mends the page")
    for key in said:
        wrong += 1
        print(f"docs/reference/bounds.md: {key[1]} is not measured")
    return wrong
