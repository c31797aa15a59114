#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""D's counters on a booted board: cpc, `cycles`, `instructions`. counters.py BOARD [TEST...]

The program counted (test/board/programs/counted.c) executes loops of known lengths between events
of its own. Under -icount an instruction counts one, exactly, on the CPU that executes it as well as
on all others of the emulator; so what one thread counts is compared on one CPU. The boards without
counters refuse them by name. The last line is `N passed, N failed`.
"""
import collections
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlink  # noqa: E402
import gdb  # noqa: E402
import link  # noqa: E402
from guest import expect, run_tests  # noqa: E402

HAVE = {"virt-a64": 4}  # boards that count, and their CPUs
COUNTERS = 6  # of events, of a Cortex-A53
MARK = 'user:::simple /execname == "counted" && arg0 == '
# What the marks of a piece of work add: the second half of one and the first half of the next.
OVERHEAD = 30000
LEAST, MANY = 5000, 400000


def spec(bench):
    return "unix:" + bench.raw


def trace(bench, program, command=None, *options, status=0):
    """What a program prints, with a program of the board's if there is a command."""
    run = ("-c", command) if command else ()
    done = bench.kymo("dtrace", "-t", spec(bench), *options, "-qn", program, *run)
    expect(done.returncode == status,
           f"{done.returncode}: {done.stdout[-300:]}{done.stderr[-600:]}")
    return done.stderr if status else [list(map(int, line.split()))
                                       for line in done.stdout.splitlines() if line.strip()]


def refused(bench, program, words):
    """The program is refused, and the message says why."""
    said = trace(bench, program, status=1)
    expect(words in said, f"{program}: {said!r} doesn't say {words!r}")


def between(name):
    """Of each piece of work: the thread, its turns, and what it has counted of this."""
    return (f"{MARK}1/ {{ self->from = {name}; self->on = 1; }} "
            f"{MARK}2 && self->on/ {{ printf(\"%d %d %d\\n\", arg1, arg2, {name} - self->from); }}")


def least(rows):
    """Of each number of turns the least that was counted: interrupts only add."""
    found = {}
    for _, turns, counted in rows:
        found[turns] = min(found.get(turns, counted), counted)
    return found


# ---- the variables -------------------------------------------------------------------


def one_instruction_counts_one(bench):
    """The loop's length is what the counts of two lengths differ by, to the instruction."""
    lengths = [1, 2, 3, 10, 100, 1001, 10000]
    words = " ".join(map(str, lengths))
    found = least(trace(bench, between("instructions"), f"counted 1 6 {words}"))
    expect(sorted(found) == lengths, found)
    for turns in lengths:
        more = found[turns] - found[1]
        expect(more == 2 * (turns - 1), f"{turns} turns: {more} instructions more than one turn")
    expect(found[1] < OVERHEAD, f"{found[1]} instructions between two marks")


def cycles_are_the_emulators_time(bench):
    """QEMU has 10^9 cycles a second of the time that its instructions take."""
    found = least(trace(bench, between("cycles"), "counted 1 6 1 10000 20000"))
    short, long = found[10000] - found[1], found[20000] - found[1]
    expect(short > 0 and abs(long / short - 19999 / 9999) < 0.001, found)
    expect(short % 9999 < 64 or short % 9999 > 9999 - 64, f"{short} cycles of 9999 turns")


def both_at_once_and_only_the_threads_own(bench):
    """Two threads take turns on a CPU: each has its own loops, and together they have all."""
    rounds = 200
    program = (f"{MARK}3/ {{ self->i = instructions; self->c = cycles; self->t = vtimestamp; }} "
               f"{MARK}4/ {{ printf(\"%d %d %d %d\\n\", arg1, instructions - self->i, "
               "cycles - self->c, vtimestamp - self->t); }")
    rows = {r[0]: r[1:] for r in trace(bench, program, f"counted switch {rounds}")}
    expect(sorted(rows) == [1, 2], rows)
    loops = {1: 2 * 1000 * rounds, 2: 2 * 3000 * rounds}
    for number, (instructions, cycles, ns) in rows.items():
        expect(loops[number] <= instructions < loops[number] + rounds * OVERHEAD,
               f"thread {number}: {instructions} instructions, its loops have {loops[number]}")
        # The thread's time is taken at another place of the same switch.
        expect(abs(cycles - ns) < 0.05 * ns, f"thread {number}: {cycles} cycles in {ns} ns")
    difference = rows[2][0] - rows[1][0] - (loops[2] - loops[1])
    expect(abs(difference) < rounds * OVERHEAD / 10, f"{rows}: {difference} apart")


def a_clause_sees_one_value(bench):
    rows = trace(bench, 'BEGIN { a = cycles; b = instructions; printf("%d %d\\n", '
                 'cycles == a, instructions == b); exit(0); }')
    expect(rows == [[1, 1]], rows)


def threads_on_all_cpus(bench):
    """Each counts its own: under -icount the emulator's instructions are all CPUs', so no less."""
    cpus = HAVE[bench.board]
    rows = trace(bench, between("instructions"), f"counted {cpus} 1 20000 30000")
    expect(sorted(row[:2] for row in rows) == sorted([n, t] for n in range(cpus)
                                                     for t in (20000, 30000)), rows)
    expect(all(counted >= 2 * turns for _, turns, counted in rows), rows)


# ---- the provider --------------------------------------------------------------------


def sums(*names):
    """A program that prints, of each of these probes, fires and what they stand for."""
    clauses = "".join(f"cpc:::{name} {{ n{i}++; m{i} += arg3; }} " for i, name in enumerate(names))
    counts = "".join(f' printf("%d %d\\n", n{i}, m{i});' for i in range(len(names)))
    return clauses + "END {" + counts + " }"


def every_overflow_counts(bench):
    """Two counters of one event, on one CPU: their overflows stand for the same number."""
    counts = [5000, 7001, 20000]
    rows = trace(bench, sums(*(f"instructions-user-{n}" for n in counts)), f"counted 1 1 {MANY}",
                 "-x", "cpu=0")
    total = [(fires + missed) * n for (fires, missed), n in zip(rows, counts)]
    expect(min(total) > 2 * MANY - max(counts), f"{rows}: {total}")
    # Each begins when its probe is enabled, in the kernel, and the last overflow isn't complete.
    expect(max(total) - min(total) < 2 * max(counts), f"{rows}: {total}")
    expect(sum(row[0] for row in rows) > 20, rows)


def modes_count_apart(bench):
    """The loop is the program's: the kernel's counter doesn't see it."""
    found = {}
    for mode in ("user", "kernel", "all"):
        short, long = (trace(bench, sums(f"instructions-{mode}-20000"), f"counted 1 1 {turns}",
                             "-x", "cpu=0")[0] for turns in (1, 20 * MANY))
        found[mode] = [20000 * (sum(long) - sum(short)), 20 * 2 * MANY]
    for mode in ("user", "all"):
        got, want = found[mode]
        expect(0.95 * want < got, f"{mode}: {found}")
    expect(found["user"][0] < 1.05 * found["user"][1], found)
    # Firing is the kernel's work: more of it in the mode "all".
    expect(found["kernel"][0] < 0.5 * found["kernel"][1], found)


def where_the_cpu_was(bench):
    """
    The samples of a loop are in it, with its process; one of the two addresses is 0. Of cycles: the
    emulator looks one event before the overflow, and under -icount exactly then, so it notices that
    of instructions only where the program enters the kernel.
    """
    program = ('cpc:::cycles-user-320007 { both += arg0 && arg1; all++; late += arg2; } '
               'cpc:::cycles-user-320007 /execname == "counted" && arg1/ '
               '{ @[umod(arg1), ufunc(arg1)] = count(); } '
               'END { printf("%d %d\\n", both, all); }')
    done = bench.kymo("dtrace", "-t", spec(bench), "-x", "cpu=0", "-qn", program, "-c",
                      f"counted 1 1 {10 * MANY}")
    expect(done.returncode == 0, done.stderr)
    both, fires = map(int, done.stdout.splitlines()[0].split())
    in_loop = re.search(r"counted`counted_loop +(\d+)", done.stdout)
    expect(both == 0 and in_loop and int(in_loop[1]) > fires / 2, done.stdout)


def two_consumers(bench):
    """Both count all of it, with counters of their own."""
    first = dlink.Consumer(bench, spec(bench), 'BEGIN { printf("on\\n"); } '
                           + sums("instructions-user-5000"), "-x", "cpu=0")
    first.wait_until_on()
    rows = trace(bench, sums("instructions-user-9000"), f"counted 1 1 {MANY}", "-x", "cpu=0")
    first.end()
    expect(first.process.returncode == 0, first.err)
    numbers = [list(map(int, line.split())) for line in first.out.splitlines() if line.strip()]
    expect(5000 * sum(numbers[-1]) > 2 * MANY - 5000 and 9000 * sum(rows[0]) > 2 * MANY - 9000,
           f"{numbers} {rows}")


def all_cpus_fire(bench):
    """Each CPU has a counter of its own."""
    cpus = HAVE[bench.board]
    program = ('cpc:::cycles-user-320007 /execname == "counted"/ { @[cpu] = count(); } '
               'END { printa("%d %@d\\n", @); }')
    rows = trace(bench, program, f"counted {cpus} 1 {10 * MANY}")
    expect([cpu for cpu, _ in sorted(rows)] == list(range(cpus)), rows)


# ---- refusals, and the end -----------------------------------------------------------


def refused_by_name(bench):
    """What isn't there says what is."""
    refused(bench, "cpc:::branches-user-5000 { }", "doesn't count these events, or the counter "
            "reads 0; it counts cycles, instructions")
    refused(bench, "cpc:::instructions-user-4999 { }", "COUNT from 5000 to 4294967295")
    refused(bench, "cpc:::instructions-user-4294967296 { }", "COUNT from 5000")
    refused(bench, "cpc:::instructions-user-05000 { }", "COUNT from 5000")
    refused(bench, "cpc:::instructions-both-5000 { }", "MODE user, kernel or all")
    refused(bench, "cpc:::instructions-user { }", "EVENT-MODE-COUNT")


def as_many_as_counters(bench):
    names = [f"instructions-user-{5000 + n}" for n in range(COUNTERS + 1)]
    trace(bench, "".join(f"cpc:::{n} {{ }} " for n in names[:COUNTERS]) + "tick-10ms { exit(0); }")
    refused(bench, "".join(f"cpc:::{n} {{ }} " for n in names), "counters are in use")
    refused(bench, "".join(f"cpc:::{n} {{ }} " for n in names[:COUNTERS])
            + "BEGIN { trace(instructions); }", "counters are in use")
    # A refusal takes none.
    trace(bench, "".join(f"cpc:::{n} {{ }} " for n in names[1:]) + "tick-10ms { exit(0); }")


def registers(bench, name):
    """A system register's value on each CPU, as the emulator's stub has it."""
    stub = gdb.Stub(bench)
    try:
        stub.stop()
        stub.know_registers()
        text, page = "", "l"
        while not text or page[0] == "m":
            page = stub.ask(f"qXfer:features:read:system-registers.xml:{len(text):x},7f0")
            text += page[1:]
        number = int(re.search(rf'name="{name}"[^>]*regnum="(\d+)"', text)[1])
        found, threads = [], stub.ask("qfThreadInfo")
        while (more := stub.ask("qsThreadInfo"))[0] == "m":
            threads += "," + more[1:]
        for thread in threads[1:].split(","):
            stub.ask(f"Hg{thread}")
            found.append(stub.register(number, 4))
        return found
    finally:
        stub.go_on()
        stub.socket.close()


def counters_are_off_again(bench):
    """After a consumer that ended and one that was killed: memory and counters can be had again."""
    free = 0
    for sign in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
        one = dlink.Consumer(bench, spec(bench), 'BEGIN { printf("on\\n"); trace(cycles); '
                             'trace(instructions); } cpc:::instructions-all-50000 { n++; } '
                             'cpc:::cycles-user-50000 { n++; }')
        one.wait_until_on()
        one.end(sign)
        if free:
            dlink.wait_for_memory(bench, free)
        names = [f"cycles-user-{6000 + n}" for n in range(COUNTERS)]
        trace(bench, "".join(f"cpc:::{n} {{ }} " for n in names) + "tick-10ms { exit(0); }")
        free = dlink.memory(bench)  # the target keeps what it makes of new probes


def after(bench):
    """The registers themselves, at the end of all tests."""
    for name in ("PMCNTENSET_EL0", "PMINTENSET_EL1"):
        found = registers(bench, name)
        expect(found == [0] * HAVE[bench.board], f"{name}: {found}")


TESTS = (one_instruction_counts_one, cycles_are_the_emulators_time,
         both_at_once_and_only_the_threads_own, a_clause_sees_one_value, threads_on_all_cpus,
         every_overflow_counts, modes_count_apart, where_the_cpu_was, two_consumers, all_cpus_fire,
         refused_by_name, as_many_as_counters, counters_are_off_again, after)


def no_counters(bench):
    """A machine without: each use is refused by name."""
    refused(bench, "BEGIN { trace(cycles); }", "cycles is not available: this machine has no ")
    refused(bench, "BEGIN { trace(instructions); }", "instructions is not available: this machine ")
    refused(bench, "cpc:::cycles-user-5000 { }", "this machine has no counters of events")


def main():
    board = sys.argv[1]
    image = "counted" if board in HAVE else "live"
    bench = link.Bench(board, image=image, more=gdb.STUB)
    try:
        dlink.warm_up(bench)
        return run_tests(TESTS if board in HAVE else (no_counters,), sys.argv[2:],
                         lambda test: test(bench))
    finally:
        bench.close()


if __name__ == "__main__":
    sys.exit(main())
