#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Probes of programs (the provider pid) on a booted board. pid.py [--soak] BOARD [TEST...]

The program stepper (test/board/programs/stepper.c) calls functions with known arguments, and prints
a sum of all that it has computed and a sum of its own text at the end: both have to be those of a
run without any probe. KYMO_SEED=n repeats what is random. KYMO_THREADS=1: the CPUs are real
threads. The last line is `N passed, N failed`.
"""
import collections
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dlink  # noqa: E402
import grab  # noqa: E402
import link  # noqa: E402
from guest import ROOT, expect  # noqa: E402

SOAK = False
SAID = re.compile(r"stepper (\d+) (\d+): sum (\w+), atomic (\d+), text (\w+)")
FUNCTIONS = ("step_known", "step_tail", "step_switch", "step_recurses", "step_float",
             "step_branches", "step_moved", "step_registers", "step_atomic")
# Of a board's CPU: the tools' prefix, more functions; how many instructions step_moved has, the
# places of step_atomic, and those that are refused, with the reasons.
Cpu = collections.namedtuple("Cpu", "tools functions moved atomic refused")
EXCLUSIVE = {"4": "an exclusive access", "8": "between an exclusive load and its store",
             "c": "an exclusive access"}
CPUS = {"virt-a64": Cpu("aarch64-linux-gnu-", (), 60, "0 10 14 18", EXCLUSIVE),
        "mps2-an386": Cpu("arm-none-eabi-", ("step_blocks",), 91, "0 10 14 18 1c", EXCLUSIVE),
        "pc": Cpu("", (), 74, "0 10 14 5 f", {"a": "a NOP, which a static probe may be",
                                              "12": "a repeated instruction"})}


# The registers that a function keeps, and those of step_known's arguments; the stack pointer from a
# function's entry to step_registers_set; one that a kernel call doesn't keep, and one that an
# interrupt hasn't stored.
Registers = collections.namedtuple("Registers", "kept arguments frame lost_call lost_interrupt")
REGISTERS = {
    "virt-a64": Registers({f"R_X{n}": n for n in range(19, 29)}, [f"R_X{n}" for n in range(5)],
                          112, "R_X0", None),
    "mps2-an386": Registers({f"R_R{n}": n for n in range(4, 12)}, [f"R_R{n}" for n in range(4)],
                            40, None, "R_R4"),
    "pc": Registers({"R_RBX": 3, "R_R12": 12, "R_R13": 13, "R_R14": 14, "R_R15": 15},
                    ["R_RDI", "R_RSI", "R_RDX", "R_RCX", "R_R8"], 56, "R_RAX", None)}


def spec(bench):
    return "unix:" + bench.raw


def trace(bench, program, command, *options, status=0):
    """Runs a program with probes; what dtrace printed, and what the program did."""
    said = len(bench.printed())
    done = bench.kymo("dtrace", "-t", spec(bench), *options, "-qn", program, "-c", command)
    expect(done.returncode == status,
           f"{done.returncode}: {done.stdout[-300:]}{done.stderr[-600:]}")
    return done, bench.printed()[said:]


def stepped(bench, text, rounds):
    """What the program said at its end, as (rounds, threads, sum, atomic, text)."""
    def said():
        return next((m for m in SAID.findall(text()) if m[0] == str(rounds)), None)
    bench.wait_for(said, "stepper's end", 120)
    return said()


def plain(bench, rounds, threads=1):
    """The same without probes."""
    key = rounds, threads
    if key not in bench.plain:
        said = len(bench.printed())
        trace(bench, "BEGIN { }", f"[heap=256k] stepper {rounds} {threads}")
        bench.plain[key] = stepped(bench, lambda: bench.printed()[said:], rounds)
    return bench.plain[key]


def same(bench, program, rounds, threads=1, *options):
    """Runs stepper with probes: its results are those without. What dtrace printed."""
    wanted = plain(bench, rounds, threads)
    said = len(bench.printed())
    done, _ = trace(bench, program, f"[heap=256k] stepper {rounds} {threads}", *options)
    found = stepped(bench, lambda: bench.printed()[said:], rounds)
    # The sum of the text is taken while the probes are there.
    expect(found[:4] == wanted[:4], f"{found}, without probes {wanted}\n{done.stderr[-300:]}")
    return done


# ---- what a probe says ---------------------------------------------------------------------------

def arguments_and_results_are_known(bench):
    n = 50
    done = same(bench, """
        pid$target::step_known:entry /arg1 == 2 && arg2 == 3/ {
            @known = count(); @first = sum(arg0); @last = sum(arg4);
            @typed = sum(args[1] + args[0]); }
        pid$target::step_known:entry { @called = count(); self->a = arg0; self->in = 1;
            self->sum = arg0 + 2 * arg1 + 3 * arg2 + 4 * arg3 + 5 * arg4; }
        pid$target::step_known:return /self->in/ {
            @right = sum(arg1 == self->sum); @returned = count(); @typed2 = sum(args[1] == arg1);
            self->in = 0; }
        END { printa("known %@d %@d %@d %@d\\n", @known, @first, @last, @typed);
              printa("calls %@d %@d %@d %@d\\n", @called, @returned, @right, @typed2); }""", n)
    total = sum(range(n))
    expect(f"known {n} {total} {5 * n} {total + 2 * n}\n" in done.stdout, done.stdout)
    # Each round: itself, by two tail calls, and by two of the eight cases.
    calls = 3 * n + sum(i % 8 in (1, 5) for i in range(n))
    expect(f"calls {calls} {calls} {calls} {calls}\n" in done.stdout, f"{calls}: {done.stdout}")


def a_tail_call_returns_before_the_other_is_entered(bench):
    done = same(bench, """
        pid$target::step_jumps:return { printf("tail %d %d\\n", arg1, arg2); self->t = 1; }
        pid$target::step_recurses:entry /self->t/ { printf("entered %d\\n", arg0); self->t = 0; }
        """, 3)
    expect(done.stdout.split("\n")[:6] == ["tail 0 1", "entered 5", "tail 0 1", "entered 6"] +
           ["tail 0 1", "entered 7"], done.stdout)


def offsets_are_passed_in_order(bench):
    """Each instruction of a function without jumps, once a call, the first one as entry, too."""
    done = same(bench, """
        pid$target:a.out:step_moved: { printf("%s\\n", probename); }""", 1)
    names = done.stdout.split()
    listing = subprocess.run(
        [CPUS[bench.board].tools + "objdump", "-dw", "--disassemble=step_moved",
         f"{ROOT}/build/{bench.board}/programs/stepper"], capture_output=True, text=True).stdout
    refused = r"\t\.(?:word|short)\t" + ("" if bench.board == "pc" else r"|\tnop")
    at = [int(a, 16) for a in
          re.findall(rf"(?m)^ +([0-9a-f]+):\t(?!.*(?:{refused}))", listing)]
    expect(len(at) == CPUS[bench.board].moved, f"{len(at)} in {listing}")
    wanted = ["entry"] + [f"{a - at[0]:x}" for a in at]
    wanted.insert(len(wanted) - 1, "return")
    expect(sorted(names) == sorted(wanted), f"{names}\nnot {wanted}")
    order = [n for n in names if n not in ("entry", "return")]
    expect(order == [n for n in wanted if n not in ("entry", "return")], names)


def a_thread_is_in_no_call(bench):
    """Whatever it has called before."""
    done = same(bench, """
        pid$target::step_known:, pid$target::sleep_ms:return
        { @[curlwpsinfo->pr_syscall] = count(); }
        syscall:::entry /pid == $target && curlwpsinfo->pr_syscall/ { in_call = 1; }
        END { printf("in %d", in_call); }""", 3, 1)
    expect(re.fullmatch(r"in 1\s+0 +\d+\s*", done.stdout), done.stdout)


def stacks_are_whole(bench):
    done = same(bench, """
        pid$target::step_known:entry /!done/ { ustack(); done = 1; }
        pid$target::step_recurses:return /arg1 == 3 && !over/ { ustack(); over = 1; }""", 6)
    stack = re.sub(r"\+0x[0-9a-f]+", "", done.stdout).split()
    expect(stack[:2] == ["stepper`step_known", "stepper`works"], stack)
    at = stack.index("stepper`step_recurses")
    expect(stack[at + 1] in ("stepper`step_recurses", "stepper`works"), stack)


def a_stack_begins_at_the_place(bench):
    """At a function's first instruction, whatever that one does to the stack."""
    for name in "main", "step_tail", "step_recurses":
        done = same(bench, f"pid$target::{name}:entry /!done/ {{ ustack(2); done = 1; }}", 1)
        expect(re.search(rf"\n +stepper`{name}\n +stepper`\w+\+0x[0-9a-f]+\n", done.stdout),
               f"{name}: {done.stdout}")


def stacks_lead_through_calls_that_are_probed(bench):
    """The call before a return address is a trap then."""
    stack = "pid$target::step_known:entry /!done/ { ustack(); done = 1; }"
    alone = same(bench, stack, 6).stdout
    among = same(bench, stack + " pid$target::works: { @ = count(); }", 6).stdout
    expect(alone.split() == among.split()[:len(alone.split())], f"{among}\nalone {alone}")


def flow_is_indented_from_kernel_to_program(bench):
    done, _ = trace(bench, "pid$target::step_atomic:,pid$target::step_known:entry,"
                    "pid$target::step_known:return {}", "[heap=256k] stepper 1", "-F")
    expect("-> step_known" in done.stdout and "<- step_known" in done.stdout, done.stdout)


# ---- which process -------------------------------------------------------------------------------

NAMED = """pid:stepper:step_known:entry { self->in = 1; }
           pid:stepper:step_known:return /self->in/
           { printf("%s %d %s\\n", probeprov, pid, probemod); exit(0); }"""


def a_process_is_named(bench):
    """In a description, and by -p, whose $target it is."""
    pid = grab.begun(bench, "stepper 100000 1 20")
    for words in (["-qn", NAMED], ["-p", "stepper", "-qn", NAMED.replace("pid:", "pid$target:")],
                  ["-p", str(pid), "-qn", NAMED]):
        done = bench.kymo("dtrace", "-t", spec(bench), *words)
        expect(done.returncode == 0 and done.stdout.strip() == f"pid{pid} {pid} stepper",
               f"{pid}: {done}")
    done = bench.kymo("dtrace", "-t", spec(bench), "-n", "pid:stepper:step_knwon:entry")
    expect("no function step_knwon in stepper; step_known?" in done.stderr, done)
    grab.ended(bench, pid)


ALL = """pid:stepper:step_known:entry { @[probeprov, pid] = count(); }
         tick-1s { exit(0); } END { printa("%s %d\\n", @); }"""


def all_processes_of_a_name_are_meant(bench):
    """By a description, and by -p with $target in it; a process that comes later is not."""
    pids = [grab.begun(bench, "stepper 100000 1 20") for _ in range(3)]
    each = sorted(f"pid{pid} {pid}" for pid in pids)
    for words in (["-qn", ALL], ["-p", "stepper", "-qn", ALL.replace("pid:", "pid$target:")],
                  ["-p", "stepper", "-qn", ALL.replace("pid:", "pid$target:")
                   .replace("entry {", "entry /pid == $target/ {")]):
        done = bench.kymo("dtrace", "-t", spec(bench), *words)
        expect(done.returncode == 0 and sorted(done.stdout.split("\n")[:-2]) == each,
               f"{each}: {done}")
    done = bench.kymo("dtrace", "-t", spec(bench), "-ln", "pid:stepper:step_known:entry")
    expect(all(f"pid{pid} " in done.stdout for pid in pids), done)
    grab.ended(bench, *pids)


def a_description_waits_for_its_program(bench):
    """All descriptions mean the one process."""
    one = grab.waiting(bench, None, "stepper", ["-n", NAMED])
    pid = grab.begun(bench, "stepper 100000 1 20")
    out, err = one.communicate(timeout=link.SLOW)
    expect(one.returncode == 0 and f"pid{pid} {pid} stepper\n" in out and "waiting" not in err,
           f"{pid}: {out}{err}")
    grab.ended(bench, pid)


# ---- what there is not ---------------------------------------------------------------------------

def unknown_names_are_told(bench):
    for field, said in [
            ("pid$target::step_knwon:entry", "no function step_knwon in stepper; step_known?"),
            ("pid$target:libc:step_known:entry", r"process \d+ runs stepper"),
            ("pid99999::main:entry", "there is no process 99999"),
            ("pid$target::step_known:1", "does not match any probes"),
            *((f"pid$target::step_atomic:{at}", why)
              for at, why in CPUS[bench.board].refused.items())]:
        done, _ = trace(bench, field, "stepper 1", status=1)
        expect(re.search(said, done.stderr), f"{field}: {done.stderr}")


def what_can_not_be_probed_is_listed(bench):
    done = bench.kymo("dtrace", "-t", spec(bench), "-ln", "pid$target:a.out:step_atomic:", "-c",
                      "stepper 1")
    found = re.findall(r"(?m)^ *\d+ +pid\d+ +stepper +step_atomic (\w+)$", done.stdout)
    cpu = CPUS[bench.board]
    expect(sorted(found) == sorted(cpu.atomic.split() + ["entry", "return"]),
           done.stdout + done.stderr)
    names = re.findall(r"no probe pid\d+:stepper:step_atomic:(\w+): ", done.stderr)
    expect(sorted(names) == sorted(cpu.refused), done.stderr)


def a_fault_is_at_its_own_address(bench):
    """Of an instruction that is executed elsewhere."""
    report = re.compile(r"terminated: (SIG\w+), (read from \w+), .*\n +(ip \w+ step_faults\+0x0)\n")
    reports = []
    for probes in ("pid$target::step_faults: { @ = count(); }", "BEGIN { }"):
        said = len(bench.printed())
        trace(bench, probes, "stepper fault")
        bench.wait_for(lambda: report.search(bench.printed()[said:]), "the report")
        reports.append(report.search(bench.printed()[said:]).groups())
    expect(reports[0] == reports[1], reports)


def a_probe_writes_to_the_programs_own_memory_only(bench):
    """Where an exception after the instruction would have no room for its frame, neither has a
    probe of it: only Cortex-M has frames."""
    if bench.board != "mps2-an386":
        return
    for probes, ends in (
            ("BEGIN { }", "drops: 0 bytes changed"),
            ("pid$target::step_drops:a { @ = count(); }", "SIGSEGV, stack pointer at")):
        said = len(bench.printed())
        trace(bench, probes, "stepper drops")
        bench.wait_for(lambda: re.search("drops: |terminated: ", bench.printed()[said:]), "its end")
        expect(re.search(ends, bench.printed()[said:]), bench.printed()[said:])


# Registers that after a kernel call are what they were when the thread was last interrupted
# (kernel/arch/aarch64/vectors.S), and an interrupt comes when it comes.
LEFT = {"virt-a64": re.compile(r"\bx(?:[2-9]|1[0-8]) +[0-9a-f]{16}")}
LEFT_TRIES = 8


def crashes_are_reported_as_without_probes(bench):
    """Registers, addresses and stacks; a probe at each instruction of the way to crash. What only
    an interrupt may have left is compared again. Not of bad_stack: of the registers that its kernel
    call may change, a report has older values."""
    with open(os.path.join(ROOT, "apps/crash/kinds.h")) as f:
        kinds = re.findall(r"KIND\((\w+),", f.read().split("#define KIND_LIST")[1])
    kinds.remove("bad_stack")
    rand = random.Random(link.SEED + 2)
    for kind in kinds if SOAK else rand.sample(kinds, 5):
        for _ in range(LEFT_TRIES):
            probed = report_of(bench, kind, f"pid$target:a.out:kind_{kind}:,pid$target:a.out:main: "
                               "{ @ = count(); }")
            plain_one = report_of(bench, kind, "BEGIN { }")
            expect("crash: " in probed, probed)
            if probed == plain_one or bench.board not in LEFT or \
                    LEFT[bench.board].sub("", probed) != LEFT[bench.board].sub("", plain_one):
                break
        expect(probed == plain_one, f"{kind}: {probed}\nwithout probes {plain_one}")


def report_of(bench, kind, probes):
    said = len(bench.printed())
    trace(bench, probes, f"[heap=64k] crash {kind}", "-Z")
    expect(not dlink.processes(bench, "crash"), "it is still there")
    text = bench.printed()[said:].partition("pidin")[0]
    return re.sub(r"(?m)(^\W*Process|pid) \d+", r"\1 N", text)


# ---- any instruction -----------------------------------------------------------------------------

def set_offset(bench):
    """Of step_registers_set in its function."""
    names = subprocess.run([CPUS[bench.board].tools + "nm",
                            f"{ROOT}/build/{bench.board}/programs/stepper"],
                           capture_output=True, text=True, check=True).stdout
    at = {name: int(value, 16) for value, name in re.findall(r"(?m)^(\w+) . (step_reg\w+)$", names)}
    return at["step_registers_set"] - at["step_registers"]


def kept(bench):
    """(An action that prints the registers that functions keep, what it prints.)"""
    registers = REGISTERS[bench.board].kept
    return (f"""printf("{'%x ' * len(registers)}\\n", """ +
            ", ".join(f"uregs[{name}]" for name in registers) + ");",
            "".join(f"{0xa00 + n:x} " for n in registers.values()) + "\n")


def registers_are_the_programs_at_the_place(bench):
    """By an entry, an offset and a return; of the arguments and the value, too."""
    r, at = REGISTERS[bench.board], set_offset(bench)
    action, wanted = kept(bench)
    done = same(bench, f"""
        pid$target::step_registers:entry {{ self->pc = uregs[R_PC]; self->sp = uregs[R_SP];
            usym(uregs[R_PC]); printf(" entry %d\\n", uregs[{r.arguments[0]}] == arg0); }}
        pid$target::step_registers:{at:x} {{ {action}
            printf("set %d %d\\n", self->sp - uregs[R_SP], uregs[R_PC] - self->pc); }}
        pid$target::step_registers:return {{
            printf("return %d %d %d\\n", uregs[R_SP] == self->sp, uregs[R_PC] - self->pc - arg0,
                   uregs[R_R0] == arg1); }}
        pid$target::step_known:entry {{ @ = sum({" && ".join(
            f"uregs[{name}] == arg{n}" for n, name in enumerate(r.arguments))}); @n = count();
            @pc[ufunc(uregs[R_PC])] = count(); }}
        END {{ printa("same %@d\\n", @); printa("of %@d\\n", @n); printa("at %A\\n", @pc); }}
        """, 2)
    once = f"stepper`step_registers entry 1\n{wanted}set {r.frame} {at}\nreturn 1 0 1\n"
    count = re.search(r"same (\d+)\nof (\d+)\n", done.stdout)
    printed = re.sub(" +", " ", re.sub("(?m)^ +", "", done.stdout))
    expect(printed.startswith(once + once) and count and count.group(1) == count.group(2) and
           "at stepper`step_known\n" in done.stdout and not done.stderr, done.stdout + done.stderr)


def link_registers_lead_back(bench):
    """Where calls have one; elsewhere R_LR is no name."""
    if bench.board == "pc":
        done = bench.kymo("dtrace", "-t", spec(bench), "-n", "BEGIN { trace(R_LR); }")
        expect(done.returncode == 1 and "Unknown variable name" in done.stderr, done.stderr)
        return
    done = same(bench, """pid$target::step_registers:entry {
        printf("%d %d\\n", (uregs[R_LR] & ~1) == ucaller, uregs[R_FP] != 0); }""", 1)
    expect(done.stdout.startswith("1 "), done.stdout)


def registers_of_a_thread_in_the_kernel(bench):
    """That has called it, was sampled, or has faulted; and those that are not known there."""
    r, at = REGISTERS[bench.board], set_offset(bench)
    action, wanted = kept(bench)
    done, _ = trace(bench, f"""
        pid$target::step_registers:entry {{ pc = uregs[R_PC]; sp = uregs[R_SP]; }}
        syscall::sched_yield:entry,syscall::sched_yield:return /pid == $target/ {{ {action}
            usym(uregs[R_PC]); printf(" %s %d\\n", probename, sp - uregs[R_SP] >= {r.frame}); }}
        profile-997 /pid == $target && pc && !in && uregs[R_PC] - pc - {at} < 12/ {{
            in = 1; printf("in "); {action} printf("in %d\\n", sp - uregs[R_SP]); }}
        proc:::fault /args[0] == $target/ {{ {action}
            printf("fault %d %d\\n", sp - uregs[R_SP], args[4] == uregs[R_PC]); }}
        """, "[runmask=1] stepper registers 20000000")
    expect(done.stdout.count(wanted) == 4 and not done.stderr, done.stdout + done.stderr)
    called = r"(\w*SCHED_YIELD|SchedYield)"  # a stub, or in line
    for line in (rf" +stepper`{called} +entry 1$", rf" +stepper`{called} +return 1$",
                 f"in {wanted}in {r.frame}", f"fault {r.frame} 1"):
        expect(re.search(rf"(?m)^{line}", done.stdout), f"{line}\n{done.stdout}")
    if r.lost_call:
        done, _ = trace(bench, f"syscall::sched_yield:entry /pid == $target/ "
                        f"{{ trace(uregs[{r.lost_call}]); }}", "stepper registers 1")
        expect(f"illegal operation (uregs[{r.lost_call}]) in action #1" in done.stderr,
               done.stdout + done.stderr)


def registers_in_an_interrupt(bench):
    """Of the thread that it has interrupted, as far as they are stored."""
    r, at = REGISTERS[bench.board], set_offset(bench)
    action, wanted = kept(bench)
    name = r.lost_interrupt
    what = f"trace(uregs[{name}]);" if name else action
    done, _ = trace(bench, f"""
        pid$target::step_registers:entry {{ pc = uregs[R_PC]; sp = uregs[R_SP]; }}
        intr:::entry /pid == $target && pc && uregs[R_PC] - pc - {at} < 12 && !done/ {{
            printf("in %d\\n", sp - uregs[R_SP]); done = 1; }}
        intr:::entry /pid == $target && done == 1 && uregs[R_PC] - pc - {at} < 12/ {{
            done = 2; {what} }}
        tick-1ms {{ }}""", "[runmask=1] stepper registers 20000000")
    expect(done.stdout.startswith(f"in {r.frame}\n"), done.stdout + done.stderr)
    expect(f"illegal operation (uregs[{name}])" in done.stderr if name else
           wanted in done.stdout and not done.stderr, done.stdout + done.stderr)


def registers_that_are_not_there(bench):
    """Beyond the last one, of the kernel, of a thread that has no program."""
    done, _ = trace(bench, """
        pid$target::step_known:entry /!a/ { a = 1; trace(uregs[99]); }
        pid$target::step_known:entry /!b/ { b = 1; trace(uregs[-1]); }
        pid$target::step_known:entry /!c/ { c = 1; trace(regs[R_SP]); }
        sched:::off-cpu /pid == 1 && !d/ { d = 1; trace(uregs[R_PC]); }""", "stepper 1")
    index = {"virt-a64": "PC", "mps2-an386": "PC", "pc": "RIP"}[bench.board]
    for text in "uregs[99]", "uregs[-1]", "regs[", f"uregs[R_{index}]":
        expect(f"illegal operation ({text}" in done.stderr, f"{text}: {done.stderr}")


def registers_at_a_static_probe(bench):
    """Those with which the library has called the kernel."""
    done, _ = trace(bench, """
        kymo:stepper::heap-grow /!done/ { done = 1; ustack(1); uaddr(uregs[R_PC]); }""",
                    "[heap=256k] stepper 1")
    found = done.stdout.split()
    expect(len(found) == 2 and found[0] == found[1] and found[0].startswith("stepper`"),
           done.stdout + done.stderr)


def every_instruction_of_known_functions(bench):
    for function in FUNCTIONS + CPUS[bench.board].functions:
        done = same(bench, f"pid$target::{function}: {{ @[probename] = count(); }}", 40)
        expect(len(done.stdout.split()) > 8, done.stdout)


def all_functions_at_once(bench):
    done = same(bench, "pid$target:::entry,pid$target:::return { @[probename] = count(); }", 20)
    counts = dict(re.findall(r"(entry|return) +(\d+)", done.stdout))
    expect(int(counts["entry"]) > 500 and int(counts["return"]) > 500, done.stdout)


def functions_of(bench, program):
    out = subprocess.run([CPUS[bench.board].tools + "nm", "-S",
                          f"{ROOT}/build/{bench.board}/programs/{program}"],
                         capture_output=True, text=True).stdout
    return sorted({m[2] for m in re.finditer(r"(?m)^\w+ (\w+) [tT] (\S+)$", out)
                   if "." not in m[2]})


def random_functions_all_instructions(bench):
    rand = random.Random(link.SEED)
    functions = functions_of(bench, "stepper")
    for _ in range(60 if SOAK else 4):
        some = rand.sample(functions, 8)
        same(bench, "".join(f"pid$target::{f}: {{ @ = count(); }}" for f in some), 8, 2, "-Z")


def random_functions_of_other_programs(bench):
    rand = random.Random(link.SEED + 1)
    for program in ("hello", "crash", "pidin"):
        functions = functions_of(bench, program)
        some = rand.sample(functions, 12)
        results = []
        for probes in ("".join(f"pid$target::{f}: {{ @ = count(); }}" for f in some), "BEGIN { }"):
            said = len(bench.printed())
            words = {"crash": "crash list", "pidin": "pidin info"}.get(program, program)
            done, _ = trace(bench, probes, f"[heap=256k status=any ability=spawn] {words}", "-Z")
            text = ""
            if program == "hello":
                bench.wait_for(lambda: "hello from hello\n" in bench.printed()[said:], "its words")
                text = re.sub(r"\d+", "N", bench.printed()[said:])
            results.append((re.search(r"pid \d+ (.*)", done.stderr + "pid 0 -").group(1), text))
        expect(results[0] == results[1], f"{program}: {results} with {some}")


# ---- ends ----------------------------------------------------------------------------------------

STORM = "pid$target::step_*:entry,pid$target::step_*:return { @ = count(); }"


def threads_on_all_cpus(bench):
    done = same(bench, STORM, 200 if bench.board == "virt-a64" else 40, 4)
    expect(int(done.stdout.split()[-1]) > 1000, done.stdout)


def consumer_killed(bench):
    """While four threads are in what it probes: the program goes on, with its text as it was."""
    rand = random.Random(link.SEED)
    rounds = 60
    wanted = plain(bench, rounds, 4)
    for _ in range(40 if SOAK else 5):
        said = len(bench.printed())
        one = bench.start("dtrace", "-t", spec(bench), "-c", f"[heap=256k] stepper {rounds} 4 5",
                          "-qn", STORM + 'BEGIN { printf("on\\n"); }', "-x", "switchrate=10hz")
        time.sleep(rand.random() * 0.6)
        one.send_signal(signal.SIGKILL)
        one.communicate(timeout=link.SLOW)
        # One that is held when its consumer goes ends without having run.
        bench.wait_for(lambda: not any("STOPPED" in line for line in
                                       dlink.processes(bench, "stepper")), "a held program's end")
        if not (dlink.processes(bench, "stepper") or SAID.search(bench.printed()[said:])):
            continue
        found = stepped(bench, lambda: bench.printed()[said:], rounds)
        expect(found == wanted, f"{found}, without probes {wanted}")


def process_killed(bench):
    rand = random.Random(link.SEED)
    for _ in range(40 if SOAK else 5):
        one = bench.start("dtrace", "-t", spec(bench), "-c", "[heap=256k] stepper 100000 4", "-qn",
                          STORM + 'pid$target::step_*:entry /!told/ '
                          '{ told = 1; printf("%d\\n", $target); }', "-x", "switchrate=10hz")
        pid = one.stdout.readline().strip()  # a probe has fired
        time.sleep(rand.random() * 0.3)
        bench.type(f"kill {pid}\r")
        out, err = one.communicate(timeout=link.SLOW)
        expect(one.returncode == 0 and not err and int(out.split()[-1]) > 0, f"{out} {err}")
        expect(not dlink.processes(bench, "stepper"), "it is still there")


def another_consumer_has_no_clause_on_what_is_made_later(bench):
    """Its patterns match the names of probes that are free, too. On real threads not every run
    waits for mutexes: then only the calls of stepper.c count."""
    names = r"step_\w+" if os.environ.get("KYMO_THREADS") else r"\S+"

    def counts(done):
        return sorted(re.findall(rf"(?m)^ *({names}) +(\d+)$", done.stdout))
    entries = "pid$target:::entry { @[probefunc] = count(); }"
    alone = counts(same(bench, entries, 6))
    expect(len(alone) > 5, alone)
    with bench.start("dtrace", "-t", spec(bench), "-qn",
                     'BEGIN { printf("on\\n"); } :::f* { @[probeprov] = count(); }') as other:
        expect(other.stdout.readline() == "on\n", "it does not begin")
        beside = counts(same(bench, entries, 6))
        other.send_signal(signal.SIGINT)
        out, err = other.communicate(timeout=link.SLOW)
    expect(beside == alone, f"{beside} beside another consumer, {alone} alone")
    expect("pid" not in out, out + err)


def two_programs_of_one_file(bench):
    said = len(bench.printed())
    bench.type("stepper 1500 1 2 &\r")
    done = same(bench, """
        pid$target::step_known:entry /pid == $target/ { @mine = count(); }
        pid$target::step_known:entry /pid != $target/ { @others = count(); }
        END { printa("mine %@d\\n", @mine); printa("others %@d\\n", @others); }""", 50)
    expect(re.search(r"mine \d+\n", done.stdout) and "others" not in done.stdout, done.stdout)
    bench.wait_for(lambda: "stepper 1500 1: " in bench.printed()[said:], "the other one's end", 120)


def text_is_as_before(bench):
    """With the probes taken away while the program runs: one that ends before dtrace has done so
    says nothing, and a longer one is tried."""
    for rounds in 40, 200, 1000, 5000:
        wanted = plain(bench, rounds)
        said = len(bench.printed())
        done, _ = trace(bench, "pid$target:::entry { @ = count(); } "
                        "pid$target::step_recurses:return /n++ > 30/ { exit(0); }",
                        f"[heap=256k] stepper {rounds} 1 10")
        # The sum of the text is begun when the second thread has ended.
        still_runs = len(dlink.processes(bench, "stepper")) > 1
        found = stepped(bench, lambda: bench.printed()[said:], rounds)
        expect(found[:4] == wanted[:4], f"{found}, without probes {wanted}")
        expect(int(done.stdout.split()[-1]) > 30, done.stdout)
        if still_runs:
            expect(found == wanted, f"{found}, without probes {wanted}")
            return
    expect(False, "the program always ends first")


REGISTER_TESTS = [registers_are_the_programs_at_the_place, link_registers_lead_back,
                  registers_of_a_thread_in_the_kernel, registers_in_an_interrupt,
                  registers_that_are_not_there, registers_at_a_static_probe]
TESTS = [arguments_and_results_are_known, a_tail_call_returns_before_the_other_is_entered,
         offsets_are_passed_in_order, a_thread_is_in_no_call, stacks_are_whole,
         stacks_lead_through_calls_that_are_probed, a_stack_begins_at_the_place,
         flow_is_indented_from_kernel_to_program, a_process_is_named,
         all_processes_of_a_name_are_meant,
         a_description_waits_for_its_program, unknown_names_are_told,
         what_can_not_be_probed_is_listed, a_fault_is_at_its_own_address,
         a_probe_writes_to_the_programs_own_memory_only,
         crashes_are_reported_as_without_probes, every_instruction_of_known_functions,
         all_functions_at_once,
         random_functions_all_instructions, random_functions_of_other_programs,
         threads_on_all_cpus, consumer_killed, process_killed,
         another_consumer_has_no_clause_on_what_is_made_later, two_programs_of_one_file,
         text_is_as_before] + REGISTER_TESTS


def warm(bench):
    """The target keeps its tables and the names of as many probes as they have room for."""
    bench.plain = {}
    bench.kymo("dtrace", "-t", spec(bench), "-Zln", "pid$target::vfprintf:,"
               "pid$target::test_files:,pid$target::__dtoa_engine:,pid$target:::entry,"
               "pid$target::_vfprintf_r:,pid$target::_svfprintf_r:,pid$target::_dtoa_r:,"
               "pid$target:::return", "-c", "libtest")


def main():
    global SOAK
    words = [w for w in sys.argv[1:] if w != "--soak"]
    SOAK = len(words) < len(sys.argv) - 1
    return dlink.all_on(words[0], "pid", warm, TESTS, words[1:])


if __name__ == "__main__":
    sys.exit(main())
