#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The ready scripts that look into programs (docs/guide/follow.md), as users run them, on a booted
board. inside.py [--soak] BOARD [TEST...]

The program controller (test/board/programs/controller.c) makes known calls in each of its steps, so
every figure of a script about it is known: also when other scripts run at the same time, after a
consumer or the program was killed, and of programs that know nothing of all that. KYMO_SEED=n
repeats what is random. The last line is `N passed, N failed`.
"""
import collections
import os
import random
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlink  # noqa: E402
import link  # noqa: E402
from guest import ROOT, expect  # noqa: E402

SOAK = False
KEPT = {"mps2-an386": 48}  # bytes of a block that it keeps, with pointers of 32 bits
TOLD = re.compile(r"(?m)^dtrace: (script .* matched \d+ probes|pid \d+ has exited)\n")
MANUAL = {"follow": "step", "slowloop": "step"}  # the function that a script is about


def words(bench, name, *arguments):
    return ("dtrace", "-t", "unix:" + bench.raw, *arguments, "-s",
            f"{ROOT}/host/scripts/{name}.d", *MANUAL.get(name, "").split())


def controller(steps):
    return "-c", f"[heap=256k] controller {steps}"


def script(bench, name, *arguments):
    """What it printed, all of it: nothing was dropped, and no message came."""
    done = bench.kymo(*words(bench, name, *arguments))
    err = TOLD.sub("", done.stderr)
    expect(done.returncode == 0 and not err,
           f"{name}: {done.returncode}: {done.stdout[-300:]}{err}")
    return done.stdout


def shows(bench, name, out, steps):
    """A script's output is the one of so many steps."""
    kept, each = (steps + 3) // 4, KEPT.get(bench.board, 56)
    wanted = {
        "malloc": [rf"^of {steps + kept} calls$",
                   rf"^controller`keep\n.*\n(.*\n)? +32 .* {kept} *$",
                   r"^ +controller`keep\+.*\n +controller`step\+.*\n +controller`main\+"],
        "heap": [rf"^ +end +[1-9]\d* +{kept * each}$", rf"^controller`keep +{kept * each}$",
                 r"^controller`read_input +0$"],
        "slowloop": [rf"^mean of {steps} passes: [1-9]\d* us$"],
    }
    for pattern in wanted[name]:
        expect(re.search(pattern, out, re.M), f"{name}: no {pattern}: {out[-1500:]}")


# ---- what they show ------------------------------------------------------------------------------

def of_a_known_program(bench):
    for name in "malloc", "heap", "slowloop":
        shows(bench, name, script(bench, name, *controller(40)), 40)


def of_another_user(bench):
    """By its name, while it runs, and for so many seconds."""
    said = len(bench.printed())
    bench.type("controller 100000 &\r")
    bench.wait_for(lambda: re.search(r"\[(\d+)\]", bench.printed()[said:]), "the shell")
    pid = re.search(r"\[(\d+)\]", bench.printed()[said:]).group(1)
    try:
        for name, pattern in (("malloc", r"^of [1-9]\d* calls$"), ("slowloop", "^mean of [1-9]"),
                              ("heap", r"^ +end +\d+ +\d+$")):
            done = bench.kymo(*words(bench, name, "-p", "controller"), "1")
            expect(done.returncode == 0 and re.search(pattern, done.stdout, re.M) and
                   not TOLD.sub("", done.stderr), f"{name}: {done}")
    finally:
        bench.type(f"kill {pid}\r")


ENDS = {"malloc": "Most bytes, by path\n", "heap": "NOT FREED, ALLOCATED BY"}
OTHERS = ("workers 20", "inversion", "pipeline", "evstorm 100 1 0", "hello")


def of_other_programs(bench):
    """Right, or one message that says what the program has not."""
    for program in random.Random(link.SEED).sample(OTHERS, len(OTHERS) if SOAK else 2):
        for name in "malloc", "heap":
            done = bench.kymo(*words(bench, name, "-c", program))
            err = TOLD.sub("", done.stderr)
            if done.returncode == 0:
                expect(not err and ENDS[name] in done.stdout, f"{name} {program}: {done}")
            else:
                expect("no function malloc in" in err and "^" in err.splitlines()[-1],
                       f"{name} {program}: {done}")


FLOW = re.compile(r" +(\d+) ( *)(->|<-|\|) (\S+) *([UK-]?) *$")


def one_call_is_followed(bench):
    """Every line of the program's own functions, in order, and what the kernel does in between."""
    out = script(bench, "follow", *controller(1))
    lines = [m.groups() for m in map(FLOW.match, out.splitlines()) if m]
    expect(len(lines) == len([s for s in out.splitlines() if s.strip()]) - 1, out[-1000:])
    own = [(arrow, name) for _, _, arrow, name, who in lines
           if name in ("step", "read_input", "keep", "ClockTime", "snprintf", "step:return")]
    expect(own == [("->", "step"), ("->", "read_input"), ("->", "ClockTime"), ("<-", "ClockTime"),
                   ("<-", "read_input"), ("->", "keep"), ("->", "snprintf"), ("<-", "snprintf"),
                   ("<-", "keep"), ("|", "step:return"), ("<-", "step")], own)
    names = [(arrow, name) for _, _, arrow, name, _ in lines]
    call = names[names.index(("->", "ClockTime")):names.index(("<-", "ClockTime"))]
    expect(("->", "ker_clock_time") in call and ("<-", "ker_clock_time") in call, call)
    kernel = {name for _, _, _, name, who in lines if who in ("K", "-")}
    expect(not kernel & {"ClockTime", "step"} and "ker_clock_time" in kernel, kernel)
    # What the kernel does for a probe of a program is in none of it.
    trap = [n for n in kernel if re.search(r"_step_|fault|_boot|x86_trap|_user_probe", n)]
    expect(not trap, trap)
    entered, left = (collections.Counter(name for _, _, a, name, who in lines
                                         if a == arrow and who == "U") for arrow in ("->", "<-"))
    entered["step"] -= 1  # whose return is the last line
    expect(+entered == left and len(left) > 10, f"{entered - left} {left - entered}")


def what_D_calls_has_no_probe(bench):
    """A function that D calls while it fires is none that a script can see: nothing is dropped."""
    out = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-qwn", """
        fbt::process_*:, fbt::arch_*: { @ = count(); }
        pid$target::step:entry, pid$target::step:return {
            this->a = progenyof(1) + curlwpsinfo->pr_syscall + (pid == $target);
            this->b = stringof(curpsinfo->pr_fname); @b[arg0, arg1, arg5] = count();
            this->c = args[0]; calls++; }
        END { printf("calls %d", calls); trunc(@); trunc(@b); }""", *controller(40))
    expect(out.returncode == 0 and "calls 80" in out.stdout and not out.stderr, f"{out}")


# ---- at the same time, and ends ------------------------------------------------------------------

def two_at_once(bench):
    """Of two processes of one program, and with two scripts: each has its own figures."""
    rand = random.Random(link.SEED)
    for _ in range(20 if SOAK else 1):
        jobs = [(name, rand.randrange(20, 60)) for name in rand.sample(("malloc", "heap",
                                                                        "slowloop"), 2)]
        begun = [bench.start(*words(bench, name, *controller(steps))) for name, steps in jobs]
        for (name, steps), one in zip(jobs, begun):
            out, err = one.communicate(timeout=link.SLOW)
            expect(one.returncode == 0 and not TOLD.sub("", err), f"{name}: {out[-300:]}{err}")
            shows(bench, name, out, steps)


def killed_half_way(bench):
    """Its consumer, or the program: the next one has the right figures."""
    rand = random.Random(link.SEED)
    for n in range(100 if SOAK else 4):
        name = rand.choice(("malloc", "heap", "slowloop", "follow"))
        said = len(bench.printed())
        one = bench.start(*words(bench, name, *controller(100000)))
        bench.wait_for(lambda: one.poll() is not None or
                       dlink.processes(bench, "controller"), "its program")
        pid = re.findall(r"(?m)^ *(\d+)[ /].* controller[ /]|^.*\[(\d+)\]", "\n".join(
            dlink.processes(bench, "controller")))
        time.sleep(rand.random() * 0.5)
        if n % 2:
            one.send_signal(signal.SIGKILL)
            one.communicate(timeout=link.SLOW)
        for number, _ in pid:
            bench.type(f"kill {number}\r")
        if not n % 2:
            out, err = one.communicate(timeout=link.SLOW)
            expect(one.returncode == 0 or "No such process" in err,  # so soon
                   f"{name}: {one.returncode}: {out[-300:]} {err}")
        bench.wait_for(lambda: not dlink.processes(bench, "controller"),
                       f"controller's end {bench.printed()[said:]}")
    shows(bench, "malloc", script(bench, "malloc", *controller(20)), 20)


TESTS = [of_a_known_program, one_call_is_followed, what_D_calls_has_no_probe, of_another_user,
         of_other_programs, two_at_once, killed_half_way]


def warm(bench):
    """The target keeps its tables, and the names of as many probes as they have room for."""
    for name in "follow", "heap", "malloc":
        bench.kymo(*words(bench, name, *controller(1)))


def main():
    global SOAK
    names = [w for w in sys.argv[1:] if w != "--soak"]
    SOAK = len(names) < len(sys.argv) - 1
    return dlink.all_on(names[0], "helper", warm, TESTS, names[1:])


if __name__ == "__main__":
    sys.exit(main())
