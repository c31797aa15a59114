#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""readers.py KYMO CAPTURE...

What merge.py, which reads as QNX's readers do, makes of captures, in each of its three styles, is
what `kymo print` prints: the same events in the same order at the same times, so the same duration
and counts. And what those readers need is there:

* no slot of one CPU is in a buffer of another;
* if tracing was started on several CPUs, a buffer of each comes before the second one of any;
* the buffers of a ring are in the order of their times.

A capture that `kymo print` calls damaged or cut short is left out. Used by test/board, too."""
import collections
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../tool")]
import merge  # noqa: E402
import patience  # noqa: E402

CALLS = 128  # numbers of kernel calls; then exits, then interruptions
WIDE = 512
KERNEL_CALLS = {2, 13}  # classes
NAMES = {1: "CONTROL", 3: "INT", 5: "SYSTEM", 6: "USER", 7: "COMM", 12: "D"}


def named(event):
    """As `kymo print --csv` names it: (time, CPU, class, number)."""
    time, cpu, cls, number = event
    if cls != 6:
        number &= ~WIDE
    if cls in KERNEL_CALLS:
        return time, cpu, ("KER_CALL", "KER_EXIT", "INT_CALL")[number // CALLS], number % CALLS
    if cls == 4:
        name = "THREAD" if number < 26 else "VTHREAD" if number < 64 else "PROCESS"
        return time, cpu, name, number - 26 if name == "VTHREAD" else number
    return time, cpu, NAMES.get(cls, str(cls)), number


def printed(kymo, path):
    """What `kymo print` has; None: it isn't whole."""
    done = subprocess.run([kymo, "print", "--csv", path], capture_output=True,
                          timeout=patience.seconds(600),
                          check=False)
    if done.returncode != 0:
        return None
    events = []
    for line in done.stdout.split(b"\r\n")[1:-1]:
        _, cycles, cpu, cls, rest = line.split(b",", 4)
        number = int(rest[rest.index(b",") + 1:].split(b",", 1)[0])
        if cls != b'"USER"':
            number &= ~WIDE
        events.append((int(cycles, 16), int(cpu), cls.decode().strip('"'), number))
    return events


def differs(style, got, want):
    if got == want:
        return None
    pair = next((p for p in zip(got, want) if p[0] != p[1]), None)
    counts = collections.Counter(e[2] for e in got), collections.Counter(e[2] for e in want)
    return (f"style {style}: {len(got)} events, kymo print has {len(want)}; first other one: "
            f"{pair}; by class {dict(counts[0] - counts[1])}, {dict(counts[1] - counts[0])}")


def first_buffers(rows, cpus):
    """Of every CPU one, before the second of any."""
    seen = []
    for cpu, *_ in rows:
        if cpu in seen:
            break
        seen.append(cpu)
    return None if sorted(seen) == list(range(cpus)) else \
        f"the first buffers are of CPUs {seen}, of {cpus}"


def in_order(rows):
    for before, after in zip(rows, rows[1:]):
        if after[2] < before[2]:
            return f"CPU {after[0]}'s buffer {after[1]} begins at {after[2]:#x}, behind " \
                f"CPU {before[0]}'s {before[1]} of {before[2]:#x}"
    return None


class Seen:
    """Of a capture: what is wrong (None: nothing), and how much a reader had to hold."""

    def __init__(self, kymo, path, started=True, ring=None):
        self.wrong = self.merge = None
        self.buffers = []
        with open(path, "rb") as file:
            data = file.read()
        want = printed(kymo, path)
        self.whole = want is not None
        if self.whole:
            try:
                self.wrong = self.compare(data, want, started, ring)
            except merge.NotRead as why:
                self.wrong = str(why)

    def compare(self, data, want, started, ring):
        head = merge.Head(data)
        self.cpus, self.events = head.cpus, len(want)
        wrong = differs(6, [named(e) for e in merge.style6(data, head)], want)
        events, self.merge = merge.style7(data, head)
        wrong = wrong or differs(7, [named(e) for e in events], want)
        if wrong or not head.checked:
            return wrong
        events, _ = merge.style8(data, head)
        self.buffers = list(merge.buffers(data, head))
        wrong = differs(8, [named(e) for e in events], want)
        if not wrong and (head.ring if ring is None else ring):
            wrong = in_order(self.buffers)
        elif not wrong and started and self.buffers:
            wrong = first_buffers(self.buffers, head.cpus)
        return wrong


def main(kymo, *paths):
    bad = compared = 0
    for path in paths:
        seen = Seen(kymo, path)
        compared += seen.whole
        bad += seen.wrong is not None
        if seen.wrong:
            print(f"FAIL {path}: {seen.wrong}")
        elif os.environ.get("VERBOSE") and seen.whole and seen.merge:
            print(f"{path}: {seen.cpus} CPUs, {seen.events} events, {len(seen.buffers)} buffers, "
                  f"begun after {seen.merge.begun} bytes, held {seen.merge.held_most}")
    print(f"{compared - bad} captures read alike, {bad} not, {len(paths) - compared} not whole")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
