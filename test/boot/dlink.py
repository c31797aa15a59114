#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""D over the link of a booted board, with everything against it. dlink.py [--soak] BOARD [TEST...]

Consumers come and go and are killed, the line is too slow, harms bytes, or is cut, a consumer falls
silent. What fires is known: the program evstorm makes so many kernel calls, each with the number of
its producer, which is bound to the CPU of that number, and its own number. So every line that a
consumer prints is right or wrong by itself, and for each CPU calls = lines + drops told, exactly.
The target's free memory is the same after each test. KYMO_SEED=n repeats what is random. The last
line is `N passed, N failed`.
"""
import fcntl
import os
import random
import re
import signal
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import link  # noqa: E402
from guest import expect, patience, run_tests  # noqa: E402

CPUS = {"virt-a64": 4, "mps2-an386": 1}
CALLS = {"virt-a64": 20000, "mps2-an386": 4000}  # of each producer
CHANCE = {"virt-a64": 1 / 30000, "mps2-an386": 1 / 3000}
LARGE = {"virt-a64": "256k", "mps2-an386": "64k"}  # half of the calls find room
PRINTS = ('syscall::trace_event:entry /execname == "evstorm"/ '
          '{ printf("%d %d %d\\n", cpu, (int)arg1, (int)arg2); }')
COUNTS = 'syscall::trace_event:entry /execname == "evstorm"/ { @ = count(); }'
# It ends after some events: the link's own calls are enough.
COMES = """int n; syscall:::entry { @[probefunc] = count(); }
           syscall:::entry /n++ >= 20/ { exit(0); }"""
STAYS = "syscall:::entry { @[probefunc] = count(); trace(arg0); } sched:::on-cpu { @on = count(); }"
SOAK = False


class Consumer:
    """A `kymo dtrace`, and what it says."""

    def __init__(self, bench, spec, program, *options):
        self.bench = bench
        self.process = bench.start("dtrace", "-t", spec, *options, "-qn", program)

    def end(self, sign=signal.SIGINT, seconds=90):
        if sign:
            self.process.send_signal(sign)
        self.out, self.err = self.process.communicate(timeout=patience.seconds(seconds))
        return self.process.returncode


def memory(bench, spec=None):
    """Bytes that are free for consumers; the one that asks has none."""
    done = bench.kymo("dtrace", "-t", spec or "unix:" + bench.raw, "-lv", "-n", "dtrace:::BEGIN")
    found = re.search(r"Memory for consumers: (\d+)([kmg]?)\n", done.stdout)
    expect(done.returncode == 0 and found, f"{done.returncode}: {done.stdout[:200]}{done.stderr}")
    return int(found.group(1)) << 10 * " kmg".index(found.group(2) or " ")


def comes(bench, spec=None):
    """One short consumer, from its first word to its last."""
    done = bench.kymo("dtrace", "-t", spec or "unix:" + bench.raw, "-qn", COMES)
    expect(done.returncode == 0 and re.search(r"^ +\w+ +\d+$", done.stdout, re.M) and
           not done.stderr, f"{done.returncode}: {done.stdout[:200]} {done.stderr}")


def wait_for_memory(bench, before):
    """As before: at once, or when linkd has found that its host is gone."""
    until = time.monotonic() + patience.seconds(30)
    while (now := memory(bench)) != before:
        expect(time.monotonic() < until, f"{now} bytes free, not {before}")
        time.sleep(0.5)


def enabled_memory(bench, before, consumers, spec=None):
    """When so many consumers are in the target; each takes more than 10 KB."""
    until = time.monotonic() + patience.seconds(60)
    while before - memory(bench, spec) < consumers * 10000:
        expect(time.monotonic() < until, "the consumers don't come to be")
        time.sleep(0.2)


# ---- they come and go ----------------------------------------------------------------------------

def many_in_a_row(bench):
    for _ in range(200 if SOAK else 4):
        comes(bench)


def eight_at_once_killed_at_random(bench):
    rand = random.Random(link.SEED)
    spec = "unix:" + bench.raw
    running = [Consumer(bench, spec, STAYS) for _ in range(8)]
    for _ in range(100 if SOAK else 12):
        time.sleep(rand.random() / 4)
        i = rand.randrange(8)
        running[i].end(signal.SIGKILL)
        running[i] = Consumer(bench, spec, STAYS)
    for one in running:
        one.end(signal.SIGKILL)
    comes(bench)


def silent_consumers_end(bench):
    """One that is stopped is ended by the target, and says so when it goes on; others stay."""
    if bench.board != "mps2-an386" and not SOAK:
        return  # it takes its time; test/boot's suite life has it on all boards
    before = memory(bench)
    silent, talks = (Consumer(bench, "unix:" + bench.raw, COUNTS) for _ in range(2))
    enabled_memory(bench, before, 2)
    both = before - memory(bench)
    silent.process.send_signal(signal.SIGSTOP)
    until = time.monotonic() + patience.seconds(60)
    while before - memory(bench) > both * 3 // 4:
        expect(time.monotonic() < until, "the target doesn't end it")
        time.sleep(0.5)
    silent.process.send_signal(signal.SIGCONT)
    status = silent.end(None)
    expect(status == 1 and "unresponsive" in silent.err, f"{status}: {silent.err}")
    expect(talks.end() == 0 and not talks.err, talks.err)


# ---- more than the line takes --------------------------------------------------------------------

def storm(bench, spec, *options):
    """What a consumer prints of all calls, and what another one counts."""
    n, producers = CALLS[bench.board] * (10 if SOAK else 1), CPUS[bench.board]
    before = memory(bench)
    counts = Consumer(bench, "unix:" + bench.raw if spec is None else spec, COUNTS)
    prints = Consumer(bench, spec or "unix:" + bench.raw, PRINTS, *options)
    enabled_memory(bench, before, 2, spec)
    said = len(bench.printed())
    bench.type(f"evstorm {producers} {n}\r")
    bench.wait_for(lambda: "evstorm: total" in bench.printed()[said:], "evstorm's end", 120)
    expect(f"evstorm: total {n * producers} " in bench.printed()[said:], bench.printed()[said:])
    time.sleep(1)
    return n, prints, counts


def lines_of(bench, n, consumer):
    """How many lines each producer has, all of them right."""
    lines, last = [0] * CPUS[bench.board], [-1] * CPUS[bench.board]
    text = consumer.out.splitlines()
    expect(text.count("") <= 2, "empty lines")  # at ^C, and behind the last record
    for line in filter(None, text):
        found = re.fullmatch(r"(\d+) (\d+) (\d+)", line)
        expect(found, f"a wrong line {line!r}")
        cpu, producer, number = (int(x) for x in found.groups())
        expect(cpu == producer < len(lines) and last[cpu] < number < n, f"a wrong record {line!r}")
        last[cpu] = number
        lines[cpu] += 1
    return lines


def drops_of(bench, consumer):
    drops = [0] * CPUS[bench.board]
    for line in consumer.err.splitlines():
        if re.fullmatch(r"dtrace: bufsize is \w+: -x bufsize=\w+ drops less", line):
            continue
        found = re.fullmatch(r"dtrace: (\d+) drops? on CPU (\d+)", line)
        expect(found, f"on stderr: {line}")
        drops[int(found.group(2))] += int(found.group(1))
    return drops


def account(bench, n, prints, counts):
    status = prints.end()
    expect(status == 0, f"status {status}: {prints.err}")
    expect(counts.end() == 0 and counts.out.split() == [str(n * CPUS[bench.board])],
           f"counted {counts.out} {counts.err}")
    lines, drops = lines_of(bench, n, prints), drops_of(bench, prints)
    for cpu, (printed, lost) in enumerate(zip(lines, drops)):
        expect(printed + lost == n, f"CPU {cpu}: {printed} lines and {lost} drops of {n} calls")
    print(f"  {n * len(lines)} calls: {sum(lines)} lines, {sum(drops)} drops")
    return sum(drops)


def overload_of_a_good_line(bench):
    account(bench, *storm(bench, None, "-x", "bufsize=4k"))


def overload_of_a_slow_line(bench):
    """Two buffers of 4 KB are soon full at 115200 baud."""
    line = bench.line(pace=link.BAUD_BYTES)
    drops = account(bench, *storm(bench, "unix:" + line.path, "-x", "bufsize=4k"))
    bench.unplug(line)
    expect(drops > 100, f"only {drops} drops: this proves nothing")


PIPE_BYTES = 65536


def waiting_bytes(one):
    """What it has printed and nobody has read."""
    room = fcntl.ioctl(one.process.stdout, termios.FIONREAD, bytes(4))
    return struct.unpack("i", room)[0]


def interrupted_amid_output(bench):
    """^C while it waits for its reader: nothing of what it has taken is lost."""
    program = 'int n; tick-2000hz { printf("%d %0200d\\n", n, n); n++; }'
    one = Consumer(bench, "self", program)
    bench.wait_for(lambda: waiting_bytes(one) >= PIPE_BYTES - 4096, "a full pipe")
    one.process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    expect(one.end(None) == 0, one.err)
    lines = [line for line in one.out.splitlines() if line]
    wrong = [(n, line) for n, line in enumerate(lines) if line != f"{n} {n:0200d}"]
    expect(len(lines) > 300 and not wrong, f"{len(lines)} lines; wrong: {wrong[:1]}")


# ---- bad lines -----------------------------------------------------------------------------------

def output_over_a_bad_line(bench):
    """Bytes are lost, changed, doubled: the account is exact all the same, or the end is told."""
    line = bench.line(chance=CHANCE[bench.board])
    try:
        storms = storm(bench, "unix:" + line.path, "-x", "bufsize=" + LARGE[bench.board])
        account(bench, *storms)
        bench.unplug(line)
    finally:
        line.close()  # else the tests that follow reach nobody
    print(f"  {line.faults} faults of the line")
    expect(line.faults > 5, f"only {line.faults} faults: this proves nothing")


def a_plug_pulled_from_consumers(bench):
    """Each says so and has status 1; what it printed is right; the target is as before."""
    rand = random.Random(link.SEED)
    for _ in range(20 if SOAK else 1):
        before = memory(bench)
        line = bench.line()
        spec = "unix:" + line.path
        ones = [Consumer(bench, spec, PRINTS), Consumer(bench, spec, COUNTS),
                Consumer(bench, spec, STAYS), Consumer(bench, spec, STAYS, "-x", "bufpolicy=ring")]
        enabled_memory(bench, before, 4, spec)
        bench.type(f"evstorm {CPUS[bench.board]} {CALLS[bench.board]} &\r")
        time.sleep(rand.random())
        line.pull()
        for one in ones:
            status = one.end(None)
            expect(status == 1 and "the line was closed" in one.err, f"{status}: {one.err}")
        lines_of(bench, CALLS[bench.board], ones[0])
        line.close()
        wait_for_memory(bench, before)


TESTS = [many_in_a_row, eight_at_once_killed_at_random, overload_of_a_good_line,
         overload_of_a_slow_line, interrupted_amid_output, output_over_a_bad_line,
         a_plug_pulled_from_consumers,
         silent_consumers_end]


def run(bench, test):
    before = memory(bench)
    test(bench)
    wait_for_memory(bench, before)
    expect(bench.qemu.poll() is None, "the board has ended")
    expect("terminated" not in bench.printed(), "a process died")


def main():
    global SOAK
    words = [w for w in sys.argv[1:] if w != "--soak"]
    SOAK = len(words) < len(sys.argv) - 1
    print(f"{words[0]}: KYMO_SEED={link.SEED}")
    bench = link.Bench(words[0])
    try:
        comes(bench)
        return run_tests(TESTS, words[1:], lambda test: run(bench, test))
    finally:
        bench.close()


if __name__ == "__main__":
    sys.exit(main())
