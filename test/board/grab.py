# SPDX-License-Identifier: BSD-2-Clause
"""Processes by name, for test/board/dlink.py and pid.py: -p NAME, -p PID, and -Z, which waits for a
program."""
import random
import re
import signal
import time

import link
from guest import expect

TARGET = 'BEGIN { printf("%d\\n", $target); exit(0); }'
STAYS = 'BEGIN { printf("on %d\\n", $target); }'


def dtrace(bench, *words):
    return bench.kymo("dtrace", "-t", "unix:" + bench.raw, *words)


def begun(bench, command="spinner 600000"):
    """A program that stays; its pid."""
    said = len(bench.printed())
    bench.type(command + " &\r")
    bench.wait_for(lambda: re.search(r"\[(\d+)\]", bench.printed()[said:]), "the shell's answer")
    return int(re.search(r"\[(\d+)\]", bench.printed()[said:]).group(1))


def ended(bench, *pids):
    for pid in pids:
        bench.type(f"kill {pid}\r")
    bench.wait_for(lambda: all(dtrace(bench, "-p", str(pid), "-qn", TARGET).returncode == 1
                               for pid in pids), "the programs' end")


def by_name_and_by_number(bench):
    pid = begun(bench)
    for what in "spinner", str(pid):
        done = dtrace(bench, "-p", what, "-qn", TARGET)
        expect(done.returncode == 0 and done.stdout.strip() == str(pid) and not done.stderr,
               f"{pid}: {done}")
    ended(bench, pid)


def what_is_not_there_is_told(bench):
    runs = "there are: kymo, init, console, linkd, shell"
    for what, said in (("spiner", rf"failed to grab spiner: no process is called spiner; {runs}"),
                       ("x" * 60, "failed to grab x+: no process has so long a name"),
                       ("99999", "failed to grab pid 99999: no such process"),
                       ("0", "invalid pid: 0"), ("-3", "invalid pid: -3"), ("", "invalid pid: "),
                       ("4x", "invalid pid: 4x"), ("*", r"invalid pid: \*")):
        done = dtrace(bench, "-p", what, "-n", TARGET)
        expect(done.returncode == 1 and not done.stdout and
               re.fullmatch(f"dtrace: {said}\n", done.stderr), f"{what}: {done}")
    done = dtrace(bench, "-n", "pid:spiner:main:entry")
    expect(done.returncode == 1 and
           f"does not match any probes: no process is called spiner; {runs}\n" in done.stderr, done)
    # A listing waits for nothing.
    done = dtrace(bench, "-ln", "pid:spiner:main:entry")
    expect(done.returncode == 1 and "no process is called spiner" in done.stderr, done)
    done = dtrace(bench, "-n", "pid::main:entry")
    expect(done.returncode == 1 and "pidN::…, pid:NAME:…" in done.stderr, done)


EACH = """BEGIN { printf("%d ", $target); } BEGIN { printf("all\\n"); }
          sched:::on-cpu /pid == $target/ { @[pid] = count(); }
          tick-500ms { exit(0); } END { printa("%d ", @); }"""


def all_of_one_name_are_meant(bench):
    """A clause that names $target is of each; tracing ends with the last."""
    pids = sorted((begun(bench), begun(bench)))  # a number that is free again may come first
    for words in (["-p", "spinner"], ["-Z", "-p", "spinner"]):
        done = dtrace(bench, *words, "-qn", EACH)
        begin, ran = done.stdout.split("all")
        expect(done.returncode == 0 and not done.stderr and [int(w) for w in begin.split()] == pids
               and sorted(int(w) for w in ran.split()) == pids, f"{words}: {done}")
    one = bench.start("dtrace", "-t", "unix:" + bench.raw, "-p", "spinner", "-n", STAYS, "-x",
                      "switchrate=20hz")
    while f"on {pids[1]}" not in (line := one.stdout.readline()):
        expect(line, "it is not on")
    ended(bench, pids[0])
    expect(one.stderr.readline().startswith("dtrace: description") and
           one.stderr.readline() == f"dtrace: pid {pids[0]} has exited\n", "the first's end")
    done = dtrace(bench, "-p", "spinner", "-qn", TARGET)
    expect(done.stdout.strip() == str(pids[1]) and one.poll() is None, done)
    ended(bench, pids[1])
    out, err = one.communicate(timeout=link.SLOW)
    expect(one.returncode == 0 and err == f"dtrace: pid {pids[1]} has exited\n", out + err)


def its_end_ends_tracing(bench):
    pid = begun(bench)
    one = bench.start("dtrace", "-t", "unix:" + bench.raw, "-p", "spinner", "-n", STAYS, "-x",
                      "switchrate=20hz")
    while f"on {pid}" not in (line := one.stdout.readline()):
        expect(line, "it is not on")
    bench.type(f"kill {pid}\r")
    out, err = one.communicate(timeout=link.SLOW)
    expect(one.returncode == 0 and f"dtrace: pid {pid} has exited\n" in err, out + err)


def waiting(bench, spec=None, name="spinner", words=()):
    one = bench.start("dtrace", "-t", spec or "unix:" + bench.raw, "-Z",
                      *(words or ("-p", name, "-n", TARGET)))
    line = one.stderr.readline()
    expect(line == f"dtrace: waiting for {name}\n", line)
    return one


def a_program_is_waited_for(bench):
    rand = random.Random(link.SEED)
    for _ in range(3):
        one = waiting(bench)
        time.sleep(rand.random() / 4)
        pid = begun(bench)
        out, err = one.communicate(timeout=link.SLOW)
        expect(one.returncode == 0 and re.search(rf"BEGIN {pid}\n", out), f"{pid}: {out}{err}")
        ended(bench, pid)


def a_wait_ends(bench):
    """By ^C, and with its link; a killed one leaves nothing either."""
    for sign in signal.SIGINT, signal.SIGTERM:
        one = waiting(bench)
        one.send_signal(sign)
        out, err = one.communicate(timeout=link.SLOW)
        expect(one.returncode == 1 and not out and
               err == "dtrace: failed to grab spinner: interrupted while waiting for it\n", err)
    one = waiting(bench)
    one.kill()
    one.communicate(timeout=link.SLOW)
    line = bench.line()
    one = waiting(bench, "unix:" + line.path)
    line.pull()
    out, err = one.communicate(timeout=link.SLOW)
    expect(one.returncode == 1 and not out and "spinner" in err, err)
    line.close()


TESTS = [by_name_and_by_number, what_is_not_there_is_told, all_of_one_name_are_meant,
         its_end_ends_tracing, a_program_is_waited_for, a_wait_ends]
