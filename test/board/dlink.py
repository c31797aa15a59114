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
import errno
import fcntl
import os
import random
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import grab  # noqa: E402
import link  # noqa: E402
from guest import expect, patience, run_tests  # noqa: E402

CPUS = {"virt-a64": 4, "mps2-an386": 1, "pc": 4}
CALLS = {"virt-a64": 20000, "mps2-an386": 4000, "pc": 4000}  # of each producer
CHANCE = {"virt-a64": 1 / 30000, "mps2-an386": 1 / 3000, "pc": 1 / 10000}
LARGE = {"virt-a64": "256k", "mps2-an386": "64k", "pc": "64k"}  # half of the calls find room
PRINTS = ('syscall::trace_event:entry /execname == "evstorm"/ '
          '{ printf("%d %d %d\\n", cpu, (int)arg1, (int)arg2); }')
ON = 'BEGIN { printf("on\\n"); } '
COUNTS = 'syscall::trace_event:entry /execname == "evstorm"/ { @ = count(); }'
# It ends after some events: the link's own calls are enough.
COMES = """int n; syscall:::entry { @[probefunc] = count(); }
           syscall:::entry /n++ >= 20/ { exit(0); }"""
STAYS = "syscall:::entry { @[probefunc] = count(); trace(arg0); } sched:::on-cpu { @on = count(); }"
WALL = 'BEGIN { printf("%d\\n%Y", walltimestamp, walltimestamp); exit(0); }'
SOAK = False


class Consumer:
    """A `kymo dtrace`, and what it says."""

    def __init__(self, bench, spec, program, *options):
        self.bench = bench
        self.process = bench.start("dtrace", "-t", spec, *options, "-qn", program)

    def wait_until_on(self):
        """Its program begins with ON: from that word on it traces."""
        said, out = b"", self.process.stdout.fileno()
        while said != b"on\n":
            ready = select.select([out], [], [], patience.seconds(60))[0]
            byte = os.read(out, 1) if ready else b""
            if not byte or not b"on\n".startswith(said + byte):
                self.end(signal.SIGKILL)
                expect(False, f"{said + byte}, not on: {self.err}")
            said += byte

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
        return  # it takes its time; test/board's suite life has it on all boards
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


# ---- the time of day -----------------------------------------------------------------------------

def walltimestamp_is_the_hosts(bench):
    """A board without a clock has the host's time of its first connection, and counts from there:
    it is never before that time. The clock of virt-a64 has the second in which the emulator began,
    and goes on with the board, which begins when all is loaded: on a busy machine later."""
    expect(bench.wall.returncode == 0, bench.wall.stderr)
    ns, date = bench.wall.stdout.split("\n")[:2]
    met = bench.met if bench.board == "mps2-an386" else bench.begun - bench.begun % 10**9
    expect(met <= int(ns) < met + 86400 * 10**9, f"{ns}, not {met} or later")
    expect(date.split()[0] == str(time.localtime(int(ns) / 1e9).tm_year), date)


# ---- more than the line takes --------------------------------------------------------------------

def storm(bench, spec, *options):
    """What a consumer prints of all calls, and what another one counts."""
    n, producers = CALLS[bench.board] * (10 if SOAK else 1), CPUS[bench.board]
    counts = Consumer(bench, "unix:" + bench.raw if spec is None else spec, ON + COUNTS)
    prints = Consumer(bench, spec or "unix:" + bench.raw, ON + PRINTS, *options)
    for one in counts, prints:
        one.wait_until_on()
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
    expect(text.count("") <= 2, "empty lines")  # at ^C, and after the last record
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


# ---- -c: programs of the target -----------------------------------------------------------------

CALLS_OF_TARGET = 'syscall:::entry /pid == $target/ { printf("%s\\n", probefunc); }'
CALLS_OF_HELLO = ('syscall:::entry /execname == "hello"/ { printf("%s\\n", probefunc); } '
                  'syscall::proc_exit:entry /execname == "hello"/ { exit(0); }')


def processes(bench, name, what="pidin"):
    """Lines of pidin about programs of this name: one a thread; with info also of zombies."""
    before = len(bench.printed())
    bench.type(what + "\r")
    bench.wait_for(lambda: "\n$ " in bench.printed()[before:].partition("pid ")[2], "pidin's end")
    lines = bench.printed()[before:].splitlines()
    return [line for line in lines if re.search(rf" {name}[ /]", line)]


def a_program_from_its_first_instruction(bench):
    """What -c sees of a program is what is seen of one that the shell starts under tracing."""
    before = memory(bench)
    watch = Consumer(bench, "unix:" + bench.raw, CALLS_OF_HELLO)
    enabled_memory(bench, before, 1)
    bench.type("hello one\r")
    expect(watch.end(None) == 0, watch.err)
    calls = watch.out.split()
    expect(len(calls) > 5 and calls[-1] == "proc_exit", calls)
    done = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-c", 'hello "one"', "-n",
                      CALLS_OF_TARGET, "-x", "quiet")
    expect(done.returncode == 0 and done.stdout.split() == calls, f"{done.stdout} {done.stderr}")


def the_end_of_a_program_is_told(bench):
    dies = 'syscall::msg_sendv:entry /pid == $target/ { raise(9); } END { trace(7); }'
    done = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-w", "-c", "hello", "-n", dies)
    expect(done.returncode == 0 and "terminated by SIGKILL\n" in done.stderr and
           re.search(r":END +7$", done.stdout, re.M), done.stdout + done.stderr)
    for run, said in [("hello", r"pid \d+ has exited"), ("crash nosuch", r"pid \d+ exited with "
                                                         "status 2"),
                      ("[pri=12 heap=32k] crash list", r"pid \d+ has exited")]:
        done = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-c", run, "-n",
                          "BEGIN { printf(\"%d\", $target); } END { trace(7); }")
        expect(done.returncode == 0 and re.search(r"^dtrace: " + said + "$", done.stderr, re.M) and
               re.search(r":END +7$", done.stdout, re.M), f"{run}: {done.stdout} {done.stderr}")
        pid = re.search(r"pid (\d+)", done.stderr).group(1)
        expect(re.search(rf":BEGIN +{pid}$", done.stdout, re.M), done.stdout)


def a_raised_signal_is_sent(bench):
    """By the kernel, once, and not by a clause of signal-send itself, which would never end."""
    send = 'proc:::signal-send /args[1]->pr_pid == $target && !args[4]/ { printf("%s %d %d\\n", ' \
        'args[1]->pr_fname, args[2], args[3]); raise(25); }'
    logged = 'sdt:::comm_signal /arg3 == $target && !arg4/ { printf("logged %d\\n", arg0); }'
    for way in "entry", "return":
        for signal in 15, 25:  # 25: the program goes on
            raises = f"syscall::msg_sendv:{way} /pid == $target && !n++/ {{ raise({signal}); }}"
            done = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-wq", "-c", "hello", "-n",
                              f"{raises} {send} {logged}")
            expect(done.returncode == 0 and sorted(done.stdout.split("\n")) ==
                   ["", "", f"hello {signal} 0", f"logged {signal}"],
                   f"{way} {signal}: {done.stdout} {done.stderr}")


def a_jump_to_0_has_callers(bench):
    """The frame of 0 is the stack's first, not its end: the commonest wild jump."""
    done = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-c", "crash null_jump", "-qn",
                      "proc:::fault { ustack(); @[ustack()] = count(); }")
    stack = r"\s+0x0\n\s+crash`main\+0x\w+\n\s+crash`_start\+0x\w+\n"
    expect(done.returncode == 0 and re.fullmatch(rf"{stack}\s+{stack}\s+1\s+", done.stdout),
           done.stdout + done.stderr)


def programs_that_do_not_start(bench):
    for run, said in [
            ("nosuch one", "No such program in the boot image, which has: init .* hello .*"),
            ("start", "(Exec format error|No such program).*"), ("", "no program"),
            ("hello &", "& has no meaning here"), ('hello "x', '" without its end'),
            ("[pri=1000] hello", "pri is 1 to 255"), ("x" * 100, "File name too long"),
            ("[ability=host] hello", "linkd may not start it: .*ability=spawn.*"),
            ("hello " + "y" * 800, "the command is too long")]:
        done = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-c", run, "-n", "BEGIN { }")
        expect(done.returncode == 1 and not done.stdout and
               re.fullmatch(r"dtrace: failed to execute .*: " + said + "\n", done.stderr),
               f"{run!r}: {done.returncode} {done.stdout} {done.stderr}")


def opened_when_read(fifo):
    """On a slow machine a dtrace whose program is held may not have come to its script yet."""
    until = time.monotonic() + link.SLOW
    while True:
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as e:
            if e.errno != errno.ENXIO or time.monotonic() > until:
                raise
        time.sleep(0.05)


def a_held_program_does_not_stay(bench):
    """Its host is killed, or its line cut, when it is held and the script does not come."""
    fifo = os.path.join(bench.dir, "script")
    if os.path.exists(fifo):
        os.unlink(fifo)
    os.mkfifo(fifo)
    for way in ("killed", "cut", "wrong program", "nothing matches"):
        line = bench.line()
        ones = [bench.start("dtrace", "-t", "unix:" + line.path, "-c", "hello one", "-s", fifo)
                for _ in range(2 if way in ("killed", "cut") else 1)]
        bench.wait_for(lambda: len(processes(bench, "hello")) == len(ones), "held programs")
        expect(all("STOPPED" in one for one in processes(bench, "hello")), "they are not held")
        if way == "killed":
            for one in ones:
                one.kill()
        elif way == "cut":
            line.pull()
        else:
            with open(opened_when_read(fifo), "w") as script:
                script.write("BEGIN { nosuch(); }" if way[0] == "w" else "a:b:c:d { }")
        bench.wait_for(lambda: not processes(bench, "hello"), f"their end, {way}")
        if way == "cut":  # whoever waits for the script now reads nothing
            for one in ones:
                one.kill()
        for one in ones:
            one.communicate(timeout=link.SLOW)
        if way == "cut":
            line.close()
        else:
            bench.unplug(line)
    os.unlink(fifo)


def a_program_that_runs_goes_on(bench):
    """Two at once, each with its own $target; what goes on leaves no zombie."""
    say = "BEGIN { printf(\"%d\\n\", $target); exit(0); }"
    ones = [bench.start("dtrace", "-t", "unix:" + bench.raw, "-c",
                        "[heap=32k] spinner 500", "-qn", say) for _ in range(2)]
    pids = set()
    for one in ones:
        out, err = one.communicate(timeout=link.SLOW)
        expect(one.returncode == 0 and not err, err)
        pids.add(int(out.split()[0]))
    expect(len(pids) == 2, pids)
    bench.wait_for(lambda: not processes(bench, "spinner"), "the programs' end")
    expect(not processes(bench, "spinner", "pidin info"), "zombies")
    done = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-c", "hello", "-qn", say)
    expect(done.returncode == 0, done.stderr)


TESTS = [walltimestamp_is_the_hosts,
         a_program_from_its_first_instruction, the_end_of_a_program_is_told,
         a_raised_signal_is_sent,
         a_jump_to_0_has_callers,
         programs_that_do_not_start, a_held_program_does_not_stay, a_program_that_runs_goes_on,
         *grab.TESTS,
         many_in_a_row, eight_at_once_killed_at_random, overload_of_a_good_line,
         overload_of_a_slow_line, interrupted_amid_output, output_over_a_bad_line,
         a_plug_pulled_from_consumers,
         silent_consumers_end]


def run_even(bench, test):
    """The board goes on after it, with as much memory as before."""
    before = memory(bench)
    test(bench)
    wait_for_memory(bench, before)
    expect(bench.qemu.poll() is None, "the board has ended")
    expect("panic" not in bench.printed(), "the kernel panicked")


def all_on(board, image, warm, tests, words, kernel=None):
    """Runs the tests on one boot. warm: makes the target keep what it keeps. kernel: see Bench."""
    print(f"{board}: KYMO_SEED={link.SEED}")
    bench = link.Bench(board, image=image, kernel=kernel)
    try:
        warm_up(bench)
        warm(bench)
        return run_tests(tests, words, lambda test: run_even(bench, test))
    finally:
        bench.close()


def run(bench, test):
    run_even(bench, test)
    died = re.search(r"\((?!crash\))\S+\) terminated", bench.printed())
    expect(not died, "a process died")


def warm_up(bench):
    """The target makes all probes, and keeps them, when one is asked for that no probe has."""
    bench.met = time.time_ns()
    bench.wall = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-qn", WALL)
    comes(bench)
    done = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-n", "no:such:probe:here")
    expect(done.returncode == 1, done.stdout)


def main():
    global SOAK
    words = [w for w in sys.argv[1:] if w != "--soak"]
    SOAK = len(words) < len(sys.argv) - 1
    print(f"{words[0]}: KYMO_SEED={link.SEED}")
    bench = link.Bench(words[0])
    try:
        warm_up(bench)
        return run_tests(TESTS, words[1:], lambda test: run(bench, test))
    finally:
        bench.close()


if __name__ == "__main__":
    sys.exit(main())
