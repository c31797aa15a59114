#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Helpers, by which programs name the frames of jstack(), on a booted board. helper.py [--soak]
[--none] BOARD [TEST...]

The program stackvm (apps/stackvm) interprets functions whose calls are known, so each stack of it
is known, too; t_helper (test/board/programs) has frames whose names can't be read, or are hostile.
--none: on the board's kernel without helpers, where that is said, and stacks are as without.
KYMO_SEED=n repeats what is random. The last line is `N passed, N failed`.
"""
import os
import random
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlink  # noqa: E402
import dlog  # noqa: E402
import link  # noqa: E402
from guest import ROOT, expect, image_elf  # noqa: E402

SOAK = False
NONE = "dtrace: this target runs no helpers: jstack() has no names of %s's own\n"
ROUND = ["vm_pause", "sample+0", "sum+6", "average+2", "main+2", "stackvm`main", "stackvm`_start"]


def dtrace(bench, program, *options, says=""):
    """What a consumer printed, which had no other message than this one."""
    done = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-qn", program, *options)
    expect(done.returncode == 0 and re.fullmatch(says, done.stderr),
           f"{done.returncode}: {done.stdout[-300:]}{done.stderr[-600:]}")
    return done.stdout


def stacks(text):
    """The stacks of a text, as lists of frames, without the offsets in the program's functions."""
    found = [[]]
    for line in text.split("\n"):
        frame = line.strip()
        if line.startswith(" " * 10) and not frame.isdigit():
            found[-1].append(re.sub(r"(`\w+)\+0x[0-9a-f]+$", r"\1", frame))
        elif found[-1]:
            found.append([])
    return [s for s in found if s]


def fibonacci(n, below, to):
    """The callers of each call of vm_run(), in order, as the interpreter makes them."""
    to.append(below)
    if n >= 2:
        fibonacci(n - 1, ["fibonacci+18", *below], to)
        fibonacci(n - 2, ["fibonacci+26", *below], to)


def calls_of_a_round():
    end = ["stackvm`main", "stackvm`_start"]
    calls = [end, ["main+2", *end], ["average+2", "main+2", *end]]
    calls += [["sum+6", "average+2", "main+2", *end]] * 4
    fibonacci(14, ["main+6", *end], calls)
    return calls


# ---- what the frames are called ------------------------------------------------------------------

def every_stack_is_known(bench):
    out = dtrace(bench, "pid$target::vm_run:entry { jstack(30, 300); }", "-c", "stackvm 1",
                 "-x", "bufsize=1m")
    found, wanted = stacks(out), calls_of_a_round()
    expect(len(found) == len(wanted), f"{len(found)} stacks, not {len(wanted)}")
    for got, want in zip(found, wanted):
        expect(got == ["stackvm`vm_run", *want], f"{got}\nnot {want}")


def only_where_it_is_asked_for(bench):
    plain = ["stackvm`vm_pause", *["stackvm`vm_run"] * 4, "stackvm`main", "stackvm`_start"]
    named = ["stackvm`vm_pause", *ROUND[1:]]
    for action, want in (("jstack()", named), ("jstack(20)", named), ("ustack(20, 200)", named),
                         ("ustack()", plain), ("ustack(20)", plain), ("jstack(20, 0)", plain),
                         ("jstack(3)", named[:3]), ("ustack(3, 99)", named[:3])):
        out = dtrace(bench, f"pid$target::vm_pause:entry {{ {action}; exit(0); }}", "-c",
                     "stackvm 1")
        expect(stacks(out) == [want], f"{action}: {out}")


def beside_a_kernel_stack_and_in_keys(bench):
    out = dtrace(bench, """pid$target::vm_pause:entry { @[jstack(4)] = count();
        @n[probefunc, ustack(2)] = count(); }""", "-c", "stackvm 3")
    found = stacks(out)
    expect(sorted(found) == sorted([["stackvm`vm_pause", *ROUND[1:4]],
                                    ["stackvm`vm_pause", "stackvm`vm_run"]]), out)
    expect(len(re.findall(r"\b12$", out, re.M)) == 2, out)


def samples_are_named(bench):
    """But for the few in which vm_run() has no frame yet, or none any more."""
    out = dtrace(bench, "profile-997 /pid == $target && arg1/ { jstack(); }", "-c", "stackvm 40",
                 "-x", "bufsize=512k")
    found = stacks(out)
    named = sum(bool(re.fullmatch(r"\w+\+\d+", s[0])) for s in found)
    expect(named > len(found) / 2, f"{named} of {len(found)}")
    for s in found:
        expect("stackvm`vm_run" not in s[1:], s)


def names_that_find_no_room_are_told(bench):
    said = (r"dtrace: 1 jstack\(\)/ustack\(\) string table overflow\n"
            r"dtrace: jstackstrsize is 512: -x jstackstrsize=1k drops less\n")
    out = dtrace(bench, "pid$target::vm_pause:entry { jstack(50, 20); exit(0); }", "-c",
                 "stackvm 1", says=said)
    expect(stacks(out) == [["stackvm`vm_pause", "sample+0", "sum+6", "stackvm`vm_run",
                            "stackvm`vm_run", "stackvm`main", "stackvm`_start"]], out)


def names_are_in_a_capture(bench):
    with dlog.Board(bench.board, "helper", "helper") as b:
        b.record(dlog.ONLY_D + " -k 32")
        done = b.logged("-qn", "pid$target::vm_pause:entry { @[jstack()] = count(); jstack(4); }",
                        "-c", "stackvm 1")
        expect(done.returncode == 0 and not done.stdout, f"{done}")
        path = b.recorded()
        done = b.kymo("dtrace", "-r", path)
    whole = ["stackvm`vm_pause", *ROUND[1:]]
    expect(stacks(done.stdout) == [whole[:4]] * 4 + [whole], f"{done}")


# ---- hostile programs ----------------------------------------------------------------------------

def hostile(tag="none"):
    """By kind: how t_helper's frame is called."""
    plain = ["t_helper`helped"]
    names = {0: ["plain"], 1: [tag], 10: ["x" * 255], 11: [r"two lines\033[2J\001"],
             12: ["t_helper`helped", "[ beside ]"], 100: ["walks 3"], 101: ["rings and rings"]}
    return {kind: names.get(kind, plain) for kind in (*range(17), 100, 101, 102)}


KINDS = 'pid$target::helped_probe:entry { printf("kind %d", arg0); jstack(2, 600); }'


def hostile_frames_are_as_without(bench):
    rounds = 20 if SOAK else 3
    out = dtrace(bench, KINDS, "-c", f"t_helper tag {rounds}", "-x", "bufsize=1m", "-x",
                 "strsize=256")
    kinds = [int(k) for k in re.findall(r"kind (\d+)", out)]
    wanted = hostile("tag")
    expect(kinds == list(wanted) * rounds, kinds)
    for kind, got in zip(kinds, stacks(out)):
        expect(got == ["t_helper`helped_probe", *wanted[kind]], f"{kind}: {got}")


def a_clause_goes_on_behind_it(bench):
    """Whatever a helper did: what the user's clause has is right, and nothing of it is an error."""
    out = dtrace(bench, """pid$target::helped_probe:entry { this->x = arg0 + 7;
        this->s = strjoin("a", lltostr(arg0)); jstack(4, 2000);
        printf("%d %s %d", this->x, this->s, arg0); }
        ERROR { errors++; } END { printf("errors %d", errors); }""", "-c", "t_helper tag 2", "-x",
                 "bufsize=512k")
    told = re.findall(r"(\d+) a(\d+) (\d+)", out)
    expect([int(a) for _, _, a in told] == list(hostile()) * 2, out)
    expect(all(int(x) == int(a) + 7 and s == a for x, s, a in told) and "errors 0" in out, out)


def processes_of_one_program_are_told_apart(bench):
    pids = {}
    for tag in "one", "two", "three":
        said = len(bench.printed())
        bench.type(f"t_helper {tag} 0 &\r")
        bench.wait_for(lambda: re.search(r"\[(\d+)\]", bench.printed()[said:]), "the shell")
        pids[int(re.search(r"\[(\d+)\]", bench.printed()[said:]).group(1))] = tag
    probes = ", ".join(f"pid{pid}::helped_probe:entry" for pid in pids)
    all_seen = " && ".join(f"seen[{pid}]" for pid in pids)
    out = dtrace(bench, probes + " /arg0 == 1/ { @[pid, jstack(2)] = count(); seen[pid] = 1; } "
                 f"tick-10ms /{all_seen}/ {{ exit(0); }}")
    found = re.findall(r"(?m)^ +(\d+) *\n +t_helper`helped_probe\S*\n +(\S+)\n", out)
    for pid in pids:
        bench.type(f"kill {pid}\r")
    expect({int(pid): name for pid, name in found} == pids and len(found) == 3, out)


# ---- ends at any time ----------------------------------------------------------------------------

STORM = """pid$target::helped_probe:entry, pid$target::vm_run:entry { @[jstack(6)] = count(); }
           profile-1999 /pid == $target/ { @s[jstack(6)] = count(); }"""


def processes_are_killed(bench):
    """The first one when a probe has fired, the others at any time."""
    rand = random.Random(link.SEED)
    for n in range(200 if SOAK else 2 if bench.board == "mps2-an386" else 8):
        program = rand.choice(("t_helper kill 0", "stackvm"))
        begun = "BEGIN" if n else "pid$target::helped_probe:entry, pid$target::vm_run:entry"
        one = bench.start("dtrace", "-t", "unix:" + bench.raw, "-Z", "-c", program, "-qn",
                          begun + ' /!told/ { told = 1; printf("%d\\n", $target); } ' + STORM,
                          "-x", "switchrate=10hz", "-x", "aggsize=1m")
        pid = one.stdout.readline().strip()
        time.sleep(rand.random() * 0.2)
        bench.type(f"kill {pid}\r")
        out, err = one.communicate(timeout=link.SLOW)
        expect(one.returncode == 0 and not err, f"{n}: {one.returncode}: {out[-300:]} {err}")
        expect("walks" in out or "fibonacci" in out or n, out[-300:])


def consumers_are_killed(bench):
    rand = random.Random(link.SEED)
    for _ in range(100 if SOAK else 5):
        one = bench.start("dtrace", "-t", "unix:" + bench.raw, "-Z", "-c", "stackvm 200", "-qn",
                          'BEGIN { printf("%d\\n", $target); } ' + STORM)
        pid = one.stdout.readline().strip()
        time.sleep(rand.random() * 0.2)
        one.send_signal(signal.SIGKILL)
        one.communicate(timeout=link.SLOW)
        bench.type(f"kill {pid}\r")
        bench.wait_for(lambda: not dlink.processes(bench, "stackvm"), "its end")


# ---- without helpers -----------------------------------------------------------------------------

def a_board_without_says_so(bench):
    plain = ["stackvm`vm_pause", *["stackvm`vm_run"] * 4, "stackvm`main", "stackvm`_start"]
    for action, says in (("jstack()", True), ("ustack(20, 200)", True), ("ustack()", False)):
        done = bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-qn",
                          f"pid$target::vm_pause:entry {{ {action}; exit(0); }}", "-c", "stackvm 1")
        told = sorted(done.stderr.splitlines(True))
        expect(done.returncode == 0 and stacks(done.stdout) == [plain] and
               told == [NONE % p for p in ("stackvm", "t_helper") if says], f"{action}: {done}")


HELPED = [every_stack_is_known, only_where_it_is_asked_for, beside_a_kernel_stack_and_in_keys,
          samples_are_named, names_are_in_a_capture, names_that_find_no_room_are_told,
          hostile_frames_are_as_without, a_clause_goes_on_behind_it,
          processes_of_one_program_are_told_apart, processes_are_killed, consumers_are_killed]
# Over an emulated PC's UART the storm is in `make soak` only, where CPUs are threads. Under -icount
# a busy board's time outruns the host's, measured in the storm: 10.5 s in 1.6 s of the emulator's
# CPU and 3.8 s of a busy host. So a request and its answer may take longer than the 10 s of the
# board after which D gives up, over virtio never in the runs that were tried. Not all is explained:
# with -icount's align=on D gave up, too. jstack(6) takes 45,000 instructions with stackvm's helper,
# 40,000 on virt-a64, 7,000 a frame on both.
HELPED_SHORT = [t for t in HELPED if t not in (processes_are_killed, consumers_are_killed)]
# What depends on the CPU; the rest is in soak.
HELPED_M4 = [every_stack_is_known, samples_are_named, hostile_frames_are_as_without,
             processes_of_one_program_are_told_apart, processes_are_killed]
TESTS = {"virt-a64": HELPED, "pc": HELPED if link.DEVICES else HELPED_SHORT,
         "mps2-an386": HELPED_M4}


def warm(bench):
    """The target keeps its tables, and the names of as many probes as they have room for."""
    for program, function in (("stackvm", "vm_*:entry"), ("t_helper", "helped*:entry"),
                              ("stackvm", ":entry"), ("stackvm", ":return")):
        bench.kymo("dtrace", "-t", "unix:" + bench.raw, "-Zqn", f"pid$target::{function} {{ }}",
                   "-c", program + " 1")


def main():
    global SOAK
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    SOAK = "--soak" in sys.argv
    if "--none" in sys.argv:
        kernel = image_elf(os.path.join(ROOT, "build", words[0] + "-without-helpers"), "helper")
        return dlink.all_on(words[0], "helper", warm, [a_board_without_says_so], words[1:], kernel)
    tests = HELPED if SOAK else TESTS[words[0]]
    return dlink.all_on(words[0], "helper", warm, tests, words[1:])


if __name__ == "__main__":
    sys.exit(main())
