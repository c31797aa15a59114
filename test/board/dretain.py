#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""D's own buffers in retained memory. dretain.py [--cuts N] BOARD

* Programs of a live consumer (-x retain), beside the event log's ring and without: after a reset
  from outside `tracelogger --recover` saves them, and `kymo dtrace -r` prints, of each CPU, records
  without a gap up to the newest, and aggregations that agree with them. One that has ended leaves
  nothing. What is refused is told.
* One that works from the boot on (image `kept`): stopped at random instructions of what writes its
  buffers, and panicking there, `kymo extract --core` finds the same; the next boot's tracelogger
  saves the same slots, and only then the program begins anew. KYMO_SEED repeats it.

The last line is `N passed, N failed`.
"""
import argparse
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlog  # noqa: E402
import gdb  # noqa: E402
import kev  # noqa: E402
from dlog import KYMO, ROOT, SLOW, expect, told  # noqa: E402
from dies import REGISTERS  # noqa: E402
from guest import image_elf  # noqa: E402
from machine import Machine  # noqa: E402

SEED = int(os.environ.get("KYMO_SEED", random.SystemRandom().randrange(1 << 30)))
# What writes a program's buffers: static functions of trace/dtrace, too.
WRITER = re.compile(r"(dtrace_kept_|mark_records|mark_of|new_entry|dtrace_agg_|dtrace_buffer_|"
                    r"dtrace_log_fire|insert$|dtrace_act_aggregate|aggregate_value|run_actions|"
                    r"run_others|reserve_ring|forget|"
                    r"kernel_sample$)")  # in the middle of an interrupt, too
STEPS = 60


def triangle(n):
    return n * (n + 1) // 2


def newest_of(cpu, out):
    """The records of one CPU have no gap: the last one's number, and how many."""
    numbers = [int(n) for n in re.findall(rf"^record {cpu} (\d+)$", out, re.M)]
    expect(numbers == list(range(numbers[0], numbers[-1] + 1)) if numbers else True,
           f"CPU {cpu}: a gap: {numbers[:3]}...{numbers[-3:]}")
    return (numbers[-1] if numbers else 0), len(numbers)


def value(name, cpu, out):
    found = re.search(rf"^ *{name} +{cpu} +(\d+)$", out, re.M)
    return int(found.group(1)) if found else 0


def check_printed(out, cpus, least):
    """Each record comes with one of each aggregation, in the clause's order: the record counts
    last, so at most the firing that was cut off is ahead of it."""
    total = 0
    for cpu in range(cpus):
        last, many = newest_of(cpu, out)
        total += many
        if last == 0:
            continue
        count, added = value("count", cpu, out), value("sum", cpu, out)
        expect(count in (last, last + 1), f"CPU {cpu}: {last} records, counted {count}")
        expect(added in (triangle(last), triangle(last + 1)), f"CPU {cpu}: {last}, sum {added}")
        expect(added <= triangle(count), f"CPU {cpu}: the sum is ahead of the count")
        average = value("average", cpu, out)
        expect(average in (triangle(n) // n for n in (last, last + 1)), f"CPU {cpu}: {average}")
    expect(total >= least, f"only {total} records: that proves little")
    return total


def replayed(path, cwd):
    done = subprocess.run([KYMO, "dtrace", "-r", path], cwd=cwd, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", timeout=SLOW)
    expect(done.returncode == 0, told(done))
    expect("drop" not in done.stderr and "damaged" not in done.stderr, told(done))
    return done


# ---- of a live consumer --------------------------------------------------------------------------

TEXT = """#pragma D option quiet
    int n[int];
    profile-499 { n[cpu]++; printf("record %d %d\\n", cpu, n[cpu]); @["count", cpu] = count();
                  @s["sum", cpu] = sum(n[cpu]); @a["average", cpu] = avg(n[cpu]); }"""
ONLY = 'profile-97 { @only["only", cpu] = count(); @name[execname] = max(pid); }'


def refusals(b):
    done = b.dtrace("-x", "retain", "-n", "BEGIN { trace(1); }")
    expect(done.returncode == 1 and "needs bufpolicy=ring" in done.stderr, told(done))
    done = b.dtrace("-x", "retain", "-x", "bufpolicy=ring", "-x", "bufresize=manual", "-b", "16m",
                    "-n", "BEGIN { trace(1); }")
    expect(done.returncode == 1 and "Not enough space" in done.stderr, told(done))


def ended(b):
    """It prints as always, and leaves nothing."""
    done = b.dtrace("-x", "retain", "-x", "bufpolicy=ring", "-b", "4k", "-x", "aggsize=4k", "-qn",
                    'BEGIN { printf("over %d\\n", 1); @["k"] = sum(7); exit(4); }')
    expect(done.returncode == 4 and "over 1\n" in done.stdout and
           re.search(r"^ +k +7$", done.stdout, re.M), told(done))


def taken(b):
    """Until what is there is saved nothing new may be in the window."""
    done = b.dtrace("-x", "retain", "-x", "bufpolicy=ring", "-n", "BEGIN { trace(1); }")
    expect(done.returncode == 1 and "is not saved yet" in done.stderr, told(done))


def what_live_programs_had_comes_back(board, ring):
    cpus = 4 if board == "virt-a64" else 1
    with dlog.Board(board, "live", f"retain-{ring}") as b:
        refusals(b)
        ended(b)
        if ring:
            b.record("-c --retain -k 4", "never.kev")
        with dlog.at_work(b, 3, ["-x", "retain", "-x", "bufpolicy=ring", "-b", "8k", "-x",
                                 "aggsize=8k", "-n", TEXT],
                          ["-x", "retain", "-x", "aggsize=8k", "-qn", ONLY]):
            dlog.reset(b)
        b.wait_for(r"boot 2: boot 1 ended with: a reset without a panic\n(?s:.*)\$ ")
        taken(b)
        dlog.recover(b)
        expect(re.search(r"2 D programs had \d+ records and \d+ keys", b.printed()) and
               "damaged" not in b.printed() and "description is missing" not in b.printed(),
               "a loss")
        done = replayed("reset.kev", b.dir)
        records = check_printed(done.stdout, cpus, 100)
        expect("over 1" not in done.stdout, "a program that had ended is there")
        expect(re.search(r"^ +only +0 +[1-9]\d*$", done.stdout, re.M), told(done))
        print(f"  {records} records", flush=True)
        ended(b)


# ---- from the boot on, cut anywhere --------------------------------------------------------------

def extracted(machine, name):
    dump = machine.save(machine.window, machine.window_bytes, name)
    path = dump + ".kev"
    done = subprocess.run([KYMO, "extract", "--force", "--core", dump, "--base",
                           hex(machine.window), "-o", path], capture_output=True, text=True,
                           errors="replace")
    expect(done.returncode == 0 and not done.stderr, f"kymo extract: {done.stderr[:300]}")
    os.unlink(dump)
    return path, done.stdout


def check_recovered(machine, path, printed):
    """The boot that follows saves the same, and lets the program begin anew."""
    at = len(machine.printed())
    machine.reset()
    machine.wait_for(r"tracelogger: boot \d+ ended with: .* in recovered.kev\n(?s:.*)goes \n", at)
    expect("boot.dif: waits until" in machine.printed()[at:], "the program didn't wait")
    saved = os.path.join(machine.dir, "recovered.kev")
    expect(list(kev.raw_slots(saved)) == list(kev.raw_slots(path)), "it has saved other slots")
    expect(replayed(saved, machine.dir).stdout == printed.stdout, "it prints other records")


def cut(stub, places, size):
    """Stops somewhere in these functions; where."""
    for _ in range(200):
        name, code = places.choose()
        hit = stub.run_to(code, size, gdb.REACH)
        places.reached(name, hit)
        if hit:
            steps = places.random.randrange(STEPS)
            for _ in range(steps):
                stub.step()
            return f"{name} and {steps} steps"
    raise AssertionError("none of these functions is ever reached")


def look(machine, boot, cpus):
    """Of a machine that stands still: what extract makes of it, printed."""
    path, said = extracted(machine, f"{boot}.core")
    printed = replayed(path, machine.dir)
    return path, printed, check_printed(printed.stdout, cpus, 20), said


def panics(stub, places, machine, board):
    """A jump to nowhere in the middle of it."""
    register, pc, size, _, _, nowhere = REGISTERS[board]
    where = cut(stub, places, 2 if size == 4 else 4)
    stub.set_register(pc, nowhere, size)
    at = len(machine.printed())
    stub.go_on()
    machine.wait_for("kernel panic on CPU", at)
    # A stop of the stub's would be an event, too.
    until = time.monotonic() + SLOW
    while machine.ask("query-status")["running"]:
        expect(time.monotonic() < until, "it doesn't reset")
        time.sleep(0.05)
    return "a panic in " + where


def cuts(board, folder, count, report):
    cpus = 4 if board == "virt-a64" else 1
    elf = image_elf(os.path.join(ROOT, "build", board), "kept")
    places = gdb.Places(gdb.instructions(board, elf, WRITER), SEED)
    machine = Machine(board, "kept", folder, gdb.STUB, multi=board != "mps2-an386")
    stub = None
    try:
        for boot in range(1, count + 1):
            machine.wait_for(rf"boot {boot}\n(?s:.*)\ngoes \n")
            where = "?"
            try:
                if stub is None:
                    stub = gdb.Stub(machine)
                    stub.ask("?")
                    stub.ask("Qqemu.sstep=1")  # interrupts come between the steps, too
                else:
                    stub.stop()
                dies = boot == count  # the stub is of no use after that
                where = (panics(stub, places, machine, board) if dies
                         else cut(stub, places, 2 if board == "mps2-an386" else 4))
                path, printed, records, said = look(machine, boot, cpus)
                expect(not dies or "PANIC fault in the kernel\n" in said, said[:300])
                check_recovered(machine, path, printed)
                report(f"cut in {where}: {records} records", None)
            except AssertionError as e:
                report(f"cut {boot} in {where}", str(e))
                return
    finally:
        machine.close()
    print(f"  cut in {len(places.hits)} functions: {' '.join(sorted(places.hits))}")


def main():
    parser = argparse.ArgumentParser(description="D's own buffers after a crash")
    parser.add_argument("--cuts", type=int, default=6)
    parser.add_argument("board")
    args = parser.parse_args()
    results = []

    def report(name, error):
        results.append(error is None)
        print(f"FAIL {name}: {error}" if error is not None else f"ok {name}", flush=True)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # no emulator is left behind
    print(f"KYMO_SEED={SEED}")
    for ring in False, True:
        try:
            what_live_programs_had_comes_back(args.board, ring)
            report(f"live programs{', beside a ring' if ring else ''}", None)
        except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as e:
            report("live programs", f"{type(e).__name__}: {e}")
    cuts(args.board, os.path.join(ROOT, "build/check/dretain", args.board), args.cuts, report)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
