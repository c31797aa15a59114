#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The static probes of the library, by what a program is known to do. sysprobes.py BOARD [TEST...]

test/board/programs/sysprobes.c passes each a known number of times. They are switched apart from a
program's own: who asks for these gets no others, live and in captures. One boot for all tests. The
last line is `N passed, N failed`.
"""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import dlog  # noqa: E402
from guest import expect, run_tests  # noqa: E402

PASSES = 3
QUIET = ("-q", "-x", "bufsize=64k", "-x", "strsize=32")
PRINT = ('{ printf("P %s %d %d %d %s\\n", probename, (int64_t)arg0, (int64_t)arg1, '
         '(int64_t)arg2, execname); }')
OWN, SYSTEM = "sysprobes:sysprobes:: ", "kymo:sysprobes:: "
# What the library has: userprobes.md has the same table.
PROBES = {
    "heap-grow": 3, "heap-full": 2, "malloc": 2, "realloc": 3, "free": 1,
    "mutex-acquire": 2, "mutex-block": 1, "mutex-blocked": 2,
    "mutex-release": 2, "cond-wait": 2, "cond-waited": 3, "cond-signal": 2, "open-entry": 2,
    "open-return": 1, "read-entry": 3, "read-return": 2, "write-entry": 3, "write-return": 2,
}


BOOTED = dlog.Kept("statics", "sysprobes")


def fired(out):
    """[(probe, arguments)] in order."""
    found = re.findall(r"^P (\S+) (-?\d+) (-?\d+) (-?\d+) (\S+)$", out, re.M)
    expect(all(f[4] == "sysprobes" for f in found), f"another program's: {out}")
    return [(f[0], tuple(int(x) for x in f[1:4])) for f in found]


def events_are_known(events):
    """Counts by probe of the program's own objects, in each pass."""
    objects = [a for name, a in events if name == "objects"]
    expect(len(objects) == 1 and all(objects[0]), f"{objects}")
    mutex, twice, cond = objects[0]
    n = collections.Counter()
    for name, a in events:
        of = {mutex: "mutex", twice: "twice", cond: "cond"}.get(a[0], "")
        # The wait's result is an errno; of a heap what there is, of a file what was done.
        rest = {"cond-waited": lambda: (bool(a[2]), a[1] == mutex),
                "cond-wait": lambda: a[1] == mutex,
                "heap-grow": lambda: a[0],
                "heap-full": lambda: a[0] in (2**31 - 1, 2**63 - 1),
                "write-return": lambda: a[1], "read-return": lambda: a[1],
                "open-return": lambda: a[0] < 0, "read-entry": lambda: a[2],
                "write-entry": lambda: a[2]}.get(name, lambda: a[1] if of else None)()
        n[name, of, rest] += 1
    p = PASSES
    wanted = {
        # The two threads, and the lock of the wait with a limit.
        ("mutex-acquire", "mutex", 0): 3 * p, ("mutex-release", "mutex", 0): 3 * p,
        ("mutex-block", "mutex", 0): p, ("mutex-blocked", "mutex", 1): p,
        ("mutex-acquire", "twice", 0): p, ("mutex-acquire", "twice", 1): p,
        ("mutex-release", "twice", 0): p, ("mutex-release", "twice", 1): p,
        ("cond-signal", "cond", 0): p, ("cond-signal", "cond", 1): p,
        ("cond-wait", "cond", True): 2 * p, ("cond-waited", "cond", (False, True)): p,
        ("cond-waited", "cond", (True, True)): p,
        ("heap-grow", "", 2416): p, ("heap-grow", "", -2416): p, ("heap-full", "", True): p,
        ("write-entry", "", 2): p, ("write-return", "", 2): p,
        ("read-entry", "", 1): p, ("read-return", "", -1): p,
        ("open-return", "", False): p, ("open-return", "", True): p,
    }
    for key, count in wanted.items():
        expect(n[key] == count, f"{key}: {n[key]} times, not {count}: {n}")


def heap_is_known(events):
    """What is freed is what was allocated, by whatever way; sizes are as asked for."""
    sizes = {}
    asked = collections.Counter()
    for name, a in events:
        if name == "malloc":
            asked[a[0] if a[1] else "none"] += 1
            if a[1]:
                expect(a[1] not in sizes, f"{a}: twice: {sizes}")
                sizes[a[1]] = a[0]
        elif name == "realloc" and a[2]:
            asked["realloc", a[1]] += 1
            expect(not a[0] or a[0] in sizes, f"{a}: of nothing: {sizes}")
            expect(a[0] or a[1] == 50, f"{a}")
            sizes.pop(a[0], None)
            sizes[a[2]] = a[1]
        elif name == "free":
            expect(a[0] in sizes, f"{a}: of nothing: {sizes}")
            asked["free", sizes.pop(a[0])] += 1
    for size in ("none", 40, 24, 21, 100, 128, 17, ("realloc", 3000), ("realloc", 50),
                 ("free", 3000), ("free", 24)):
        expect(asked[size] == PASSES, f"{size}: {asked}")
    for size in 21, 100, 128, 17, 50:
        expect(asked["free", size] == PASSES, f"{size}: {asked}")


def each_is_listed_with_its_arguments(board):
    b = BOOTED.get(board)
    found, last = {}, None
    for line in dlog.ran(b.dtrace("-lv", "-n", "kymo:sysprobes::")).splitlines():
        words = line.split()
        if words[:3] == ["-", "kymo", "sysprobes"]:
            last = words[3]
            found[last] = 0
        elif re.match(r"\s+args\[\d+\]: ", line):
            found[last] += 1
    expect(found == PROBES, f"{found} is not {PROBES}")


def each_fires_as_often_as_the_program_says(board):
    b = BOOTED.get(board)
    out = dlog.ran(b.dtrace(*QUIET, "-c", f"sysprobes {PASSES}", "-n",
                       OWN + PRINT + SYSTEM + PRINT))
    events_are_known(fired(out))
    heap_is_known(fired(out))


def a_name_is_read_and_a_stack_is_taken(board):
    b = BOOTED.get(board)
    out = dlog.ran(b.dtrace(*QUIET, "-c", "sysprobes 1", "-n",
                       'kymo:sysprobes::open-entry { printf("O %s\\n", copyinstr(arg0)); }'
                       'kymo:sysprobes::heap-full { ustack(); }'))
    expect(re.findall(r"^O (.*)$", out, re.M) == ["/dev/console", "no_such_name"], out)
    expect(re.search(r"`kymo_sbrk\+0x[0-9a-f]+\n\s+sysprobes`pass_heap\+", out) or
           re.search(r"`kymo_sbrk\+0x[0-9a-f]+\n\s+sysprobes`main\+", out), out)


def who_asks_for_his_own_gets_no_others(board):
    """Events of class USER, and D's user probes."""
    b = BOOTED.get(board)
    text = ('sysprobes:::passed { @["own"] = count(); } user:::combine { @["combine"] = count(); }'
            'END { printa("%s %@d\\n", @); }')
    out = dlog.ran(b.dtrace(*QUIET, "-c", f"sysprobes {PASSES}", "-n", text))
    expect(f"own {PASSES}" in out.splitlines() and f"combine {PASSES + 1}" in out.splitlines(), out)
    out = dlog.ran(b.dtrace(*QUIET, "-c", f"sysprobes {PASSES}", "-n",
                       'user:::system /execname == "sysprobes"/ { @[arg0] = count(); }'))
    counts = re.findall(r"^ +(\d+) +(\d+)$", out, re.M)
    expect(len(counts) == 1 and counts[0][0] == "1022" and int(counts[0][1]) > 20 * PASSES, out)


def captured(b, options):
    b.record("-c -w -F 1 -F 2 -F 6 -F 7 -k 64 " + options)
    live = dlog.ran(b.dtrace(*QUIET, "-c", f"sysprobes {PASSES}", "-n", OWN + PRINT +
                        (SYSTEM + PRINT if options else "")))
    path = b.recorded()
    return fired(live), path, dlog.ran(b.kymo("print", path))


def a_capture_has_them_if_it_is_asked(board):
    """tracelogger --probes; then kymo print names them, and -r says what was said live."""
    b = BOOTED.get(board)
    live, path, text = captured(b, "--probes")
    printed = re.findall(r"kymo:::(\S+) ", text)
    for name in PROBES:
        # Other programs have them, too.
        mine = sum(name == n for n, _ in live)
        n = printed.count(name)
        expect(n >= mine > 0, f"{name}: {n} printed, {mine} live")
    expect("sysprobes:::passed i=" in text, text[-500:])
    events_are_known(live)
    after = fired(dlog.ran(b.kymo("dtrace", "-q", "-r", path, "-n", OWN + PRINT + SYSTEM + PRINT)))
    expect(after == live, f"{after}\nis not\n{live}")


def a_capture_without_them_says_so(board):
    with dlog.Board(board, "statics", "sysprobes-without") as b:
        live, path, text = captured(b, "")
        expect("sysprobes:::passed i=" in text and "kymo:::" not in text, text[-500:])
        expect(len(live) == PASSES + 1, f"{live}")
        done = b.kymo("dtrace", "-q", "-r", path, "-n", "user:::system { }")
        expect(done.returncode == 1 and "--probes" in done.stderr, dlog.told(done))


TESTS = [each_is_listed_with_its_arguments, each_fires_as_often_as_the_program_says,
         a_name_is_read_and_a_stack_is_taken, who_asks_for_his_own_gets_no_others,
         a_capture_has_them_if_it_is_asked, a_capture_without_them_says_so]

if __name__ == "__main__":
    try:
        status = run_tests(TESTS, sys.argv[2:], lambda test: test(sys.argv[1]))
    finally:
        BOOTED.close()
    sys.exit(status)
