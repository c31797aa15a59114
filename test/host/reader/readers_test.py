#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""readers_test.py KYMO MKCAPTURE FOLDER

merge.py and readers.py themselves: fabricated captures of one to many CPUs, of both byte orders and
formats, with losses, of another kernel, are read alike in all styles; and each thing that they are
to notice is noticed in a capture that has it. SEED=n repeats."""
import os
import random
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import merge
import readers

HEAD = (b"TRACE_HEADER_BEGIN::TRACE_VER_MAJOR::1TRACE_VER_MINOR::02TRACE_LITTLE_ENDIAN::TRUE"
        b"TRACE_CPU_NUM::%dTRACE_SYSPAGE_LEN::0TRACE_TRACELOGGER_ARGS::tracelogger%s"
        b"TRACE_HEADER_END::")
THRUNNING, PROCCREATE_NAME = 0x1001, 0x10c0


def slot(cpu, code, time, d1=0, d2=0):
    return struct.pack("<4I", code | cpu << 24, time & 0xffffffff, d1, d2 & 0xffffffff)


def buffer(cpu, sequence, time, *events):
    """BUFFER, TIME, events as (code, time), CHECK and BUFFER_END."""
    rows = [slot(cpu, code, at) for code, at in events]
    last = events[-1][1] if events else time
    return (slot(cpu, 0x402, time, sequence, 2 + len(rows)) +
            slot(cpu, 0x401, time, time >> 32, time) + b"".join(rows) + slot(cpu, 0x410, last) +
            slot(cpu, 0x404, last, 0xe6e6e6e6, 0xe6e6e6e6))


def outcome(data):
    """What each style makes of it: its events, or why it doesn't read it."""
    head, found = merge.Head(data), {}
    for style, read in (6, merge.style6), (7, lambda d, h: merge.style7(d, h)[0]), \
            (8, lambda d, h: merge.style8(d, h)[0]):
        try:
            found[style] = read(data, head)
        except merge.NotRead as why:
            found[style] = str(why)
    return found


def refused(what, data, *styles):
    found = outcome(data)
    got = tuple(style for style in found if isinstance(found[style], str))
    if got != styles:
        raise AssertionError(f"{what}: refused by the styles {got}, not {styles}: {found}")


def expect(what, condition):
    if not condition:
        raise AssertionError(what)


def faults_are_noticed():
    two = HEAD % (2, b"")
    # Over a rollover of CPU 1's clock: the same events in all styles.
    good = two + buffer(0, 1, 100, (THRUNNING, 110)) + buffer(1, 1, 105, (THRUNNING, 120)) + \
        buffer(1, 2, (1 << 32) + 7, (THRUNNING, (1 << 32) + 8)) + buffer(0, 2, 130)
    found = outcome(good)
    expect("all read it alike", found[6] == found[7] == found[8] and len(found[6]) == 11)
    expect("by time", [e[0] for e in found[8]] == sorted(e[0] for e in found[8]))
    expect("with its high word", found[8][-1][0] == (1 << 32) + 8)

    stray = slot(1, 0x401, 112, 5, 112)  # TIME of CPU 1 among CPU 0's slots
    begin = buffer(0, 1, 100, (THRUNNING, 110), (THRUNNING, 111), (THRUNNING, 115))
    refused("another CPU's TIME", two + buffer(1, 1, 50) + begin[:48] + stray + begin[64:], 8)
    refused("BUFFER_END of another CPU", two + begin[:-16] +
            slot(1, 0x404, 115, 0xe6e6e6e6, 0xe6e6e6e6), 8)
    refused("no BUFFER_END", two + begin[:-16], 8)
    refused("a wrong count", two + slot(0, 0x402, 100, 1, 4) + begin[16:], 8)
    refused("no TIME", two + begin[:16] + begin[32:], 6, 7, 8)
    names = ((PROCCREATE_NAME | 1 << 30, 120), (PROCCREATE_NAME | 3 << 30, 120))
    refused("a whole combine event", two + buffer(0, 1, 100, *names))
    refused("without its end", two + buffer(0, 1, 100, names[0]), 6, 7, 8)
    refused("over two buffers", two + buffer(0, 1, 100, names[0]) + buffer(0, 2, 119, names[1]), 8)
    refused("two of one stamp at once",
            two + buffer(0, 1, 100, names[0], (THRUNNING | 1 << 30, 120), names[1],
                         (THRUNNING | 3 << 30, 120)), 6)

    rows = list(merge.buffers(good, merge.Head(good)))
    expect("both CPUs first", readers.first_buffers(rows, 2) is None)
    expect("a third CPU is missing", readers.first_buffers(rows, 3) is not None)
    expect("CPU 0 twice", readers.first_buffers([rows[0], rows[3], rows[1]], 2) is not None)
    expect("in order", readers.in_order(rows[:3]) is None)
    expect("out of order", readers.in_order(rows) is not None)
    for args, ring in (b" -r", True), (b" -vr -k 5", True), (b" --retain", True), \
            (b" -k 5 -f r.kev", False), (b" --recover", False), (b" --reclaim", False):
        expect(f"{args} is a ring", merge.Head(HEAD % (2, args)).ring == ring)

    late = two + b"".join(buffer(0, n, 100 * n, (THRUNNING, 100 * n + 1)) for n in range(1, 9)) + \
        buffer(1, 1, 1000)
    held = merge.style7(late, merge.Head(late))[1]
    expect(f"{held.held_most} bytes held", held.begun > 8 * 64 and held.held_most >= 8 * 48)
    early = two + buffer(1, 1, 1) + late[len(two):]
    held = merge.style7(early, merge.Head(early))[1]
    expect(f"begun after {held.begun} bytes", held.begun < 2 * 64 + 32)


def fabricated_ones_are_read_alike(kymo, mkcapture, folder):
    path, count = os.path.join(folder, "readers.kev"), 0
    for kinds in (), ("lossy",), ("swapped",), ("old",), ("foreign",), ("swapped", "foreign"), \
            ("lossy", "swapped", "old"):
        for cpus in 1, 2, random.randrange(3, 17), random.randrange(17, 64):
            subprocess.run([mkcapture, path, str(cpus), str(random.randrange(10, 6000)),
                            str(random.randrange(1 << 30)), *kinds], check=True)
            seen = readers.Seen(kymo, path, started=False, ring=False)
            expect(f"{cpus} CPUs, {kinds}: {seen.wrong}", seen.whole and not seen.wrong)
            count += seen.events
    expect(f"{count} events", count > 10000)


def main(*paths):
    seed = int(os.environ.get("SEED", random.SystemRandom().randrange(1 << 30)))
    random.seed(seed)
    try:
        faults_are_noticed()
        fabricated_ones_are_read_alike(*paths)
    except AssertionError as why:
        print(f"FAIL SEED={seed}: {why}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
