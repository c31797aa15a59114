#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Static probes of programs as probes of D. statics.py BOARD [TEST...]

The image `statics` has two programs of one provider whose places are at the same addresses, both
made at random (test/board/statics/make.py), which also says what each pass must record. One boot
for all tests. The last line is `N passed, N failed`.
"""
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "statics")]
import dlog  # noqa: E402
import make  # noqa: E402
import many  # noqa: E402
from guest import ROOT, expect, image_elf, run_tests  # noqa: E402

PROGRAMS = ("statics_one", "statics_two")
MADE = {program: make.probes(program) for program in PROGRAMS}
BITS = {"mps2-an386": 32}
ALL = ("probeprov, probemod, probefunc, probename, pid, execname, arg0, arg1, arg2, arg3, arg4, "
       "arg5, arg6")
GENERIC = (f'{make.PROVIDER}::: {{ printf("F %s %s [%s] %s %d %s %x %x %x %x %x %x %x\\n", '
           f"{ALL}); }}")
QUIET = ("-q", "-x", "bufsize=20k", "-x", "strsize=32")


BOOTED = dlog.Kept("statics", "statics")


def firings(program, passes, bits):
    """What GENERIC prints of a run, without the pid."""
    lines = []
    for n in range(passes):
        for p in MADE[program]:
            words = [p.said(i, bits, n) & (1 << 64) - 1 for i, _ in enumerate(p.types)]
            words += [0] * (7 - len(words))
            lines.append(f"F {make.PROVIDER} {program} [] {p.d_name()} {program} " +
                         " ".join(f"{w:x}" for w in words))
    return lines


def without_pid(out):
    return [re.sub(r"^(F \S+ \S+ \[\] \S+) \d+ ", r"\1 ", line) for line in out.splitlines()
            if line.startswith("F ")]


def each_probe_is_listed_with_its_types(board):
    b = BOOTED.get(board)
    bits = BITS.get(board, 64)
    found, last = {}, None
    for line in dlog.ran(b.dtrace("-lv", "-n", f"{make.PROVIDER}:::")).splitlines():
        words = line.split()
        if words[:2] == ["-", make.PROVIDER]:
            last = (words[2], words[3])
            expect(last not in found, f"{last} is listed twice")
            found[last] = []
        argument = re.match(r"\s+args\[\d+\]: (.+)$", line)
        if argument:
            found[last].append(argument.group(1))
    wanted = {(program, p.d_name()): [make.d_type(t, bits) for t in p.types]
              for program in PROGRAMS for p in MADE[program]}
    expect(found == wanted, f"{found} is not {wanted}")


def each_firing_has_its_names_and_arguments(board):
    """Of the program that -c starts: the other one has places at the same addresses."""
    b = BOOTED.get(board)
    for program in PROGRAMS:
        out = dlog.ran(b.dtrace(*QUIET, "-c", f"{program} {make.PASSES}", "-n", GENERIC))
        wanted = firings(program, make.PASSES, BITS.get(board, 64))
        expect(without_pid(out) == wanted, f"{out}\nis not\n" + "\n".join(wanted))
        pids = {line.split()[5] for line in out.splitlines() if line.startswith("F ")}
        expect(len(pids) == 1 and pids != {"0"}, f"pids {pids}")


def args_have_the_types_that_are_listed(board):
    """A clause for each probe, which prints args[] as their types are."""
    b, program, bits = BOOTED.get(board), PROGRAMS[1], BITS.get(board, 64)
    text, wanted = "", []
    for p in MADE[program]:
        signed = [make.TYPES[t][2] for t in p.types]
        formats = " ".join("%d" if s else "%u" for s in signed)
        values = "".join(f", {'(uintptr_t)' if t == 'void *' else ''}args[{i}]"
                         for i, t in enumerate(p.types))
        text += (f'{make.PROVIDER}:{program}::{p.d_name()}\n'
                 f'{{ printf("T {p.d_name()} {formats}\\n"{values}); }}\n')
        wanted.append(" ".join(["T", p.d_name(), *(str(p.said(i, bits, 0))
                                                   for i, _ in enumerate(p.types))]))
    out = dlog.ran(b.dtrace(*QUIET, "-c", f"{program} 1", "-n", text))
    lines = [line.rstrip() for line in out.splitlines() if line.startswith("T ")]
    expect(lines == wanted, f"{lines} is not {wanted}")
    p = max(MADE[program], key=lambda p: len(p.types))
    done = b.dtrace("-n", f"{make.PROVIDER}:{program}::{p.d_name()} "
                          f"{{ trace(args[{len(p.types)}]); }}")
    expect(done.returncode == 1 and "is out of range for args[ ]" in done.stderr, dlog.told(done))


def predicates_conditions_and_patterns(board):
    b = BOOTED.get(board)
    text = """
        *:::in-bot? /probemod == execname && ++n[probename] != 2/ { @first[probename] = count(); }
        my*:statics_one::in-* {
            if (probename == "in-both") { @if["yes"] = count(); } else { @if["no"] = count(); }
        }
        proc:::exit, myapp:statics_one::in-both { @mixed[probename] = count(); }
        END { printa("first %s %@d\\n", @first); printa("if %s %@d\\n", @if);
              printa("mixed %s %@d\\n", @mixed); }"""
    out = dlog.ran(b.dtrace(*QUIET, "-c", "statics_one 5", "-n", text))
    for line in ("first in-both 4", "if yes 5", "if no 5", "mixed in-both 5", "mixed exit 1"):
        expect(line in out.splitlines(), f"no {line!r} in {out}")


def the_default_action_names_the_probe(board):
    """The ID is that of the probe which the target knows."""
    b = BOOTED.get(board)
    out = dlog.ran(b.dtrace("-x", "bufsize=16k", "-c", "statics_two 1", "-n",
                       "myapp:statics_two::in-both"))
    expect(len(re.findall(r"^ +\d+ +\d+ +:in-both $", out, re.M)) == 1, out)
    out = dlog.ran(b.dtrace("--json", "-x", "bufsize=16k", "-c", "statics_two 1", "-n",
                       "myapp:::in-both { trace(pid == $target); }"))
    expect('"statics_two"' in out or ":statics_two:" in out, out)


def a_stack_has_the_function_with_the_probe(board):
    b = BOOTED.get(board)
    last = len(MADE["statics_one"]) - 2  # in-both
    out = dlog.ran(b.dtrace(*QUIET, "-c", "statics_one 1", "-n", "myapp:::in-both { ustack(); }"))
    expect(re.search(rf"statics_one`f{last}\+0x[0-9a-f]+\n\s+statics_one`main\+", out), out)


def an_unknown_name_is_answered_with_the_nearest(board):
    b = BOOTED.get(board)
    for wrong, right in (("myapp:::in-booth", "myapp:::in-both"),
                         ("myap:::in-both", "myapp:::in-both"),
                         ("myapp:statics_oen::in-both", "myapp:statics_one::in-both")):
        done = b.dtrace("-n", wrong)
        expect(done.returncode == 1 and f"did you mean {right}?" in done.stderr, dlog.told(done))


def a_program_that_starts_later_is_traced(board):
    """The description is known from the ELF file. Off again, a run records nothing."""
    b = BOOTED.get(board)
    out = os.path.join(b.dir, "later.txt")
    if os.path.exists(out):
        os.remove(out)
    words = ["dtrace", "-t", b.spec, "-o", out, *QUIET, "-x", "switchrate=20hz", "-n",
             'BEGIN { printf("ready\\n"); } ' + GENERIC +
             ' myapp:statics_two::in-both-2 /++m == 4/ { exit(0); }']
    job = subprocess.Popen([dlog.KYMO, *words], env=b.env, cwd=b.dir, text=True,
                           stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    until = time.monotonic() + dlog.SLOW
    while not (os.path.exists(out) and "ready" in open(out, encoding="utf-8").read()):
        expect(time.monotonic() < until and job.poll() is None, "not ready")
        time.sleep(0.05)
    b.type("statics_one 2\nstatics_two 4\n")
    job.wait(dlog.SLOW)
    err = job.stderr.read()
    expect(job.returncode == 0 and "drop" not in err, err)
    with open(out, encoding="utf-8") as f:
        lines = without_pid(f.read())
    bits = BITS.get(board, 64)
    expect(lines == firings("statics_one", 2, bits) + firings("statics_two", 4, bits),
           "\n".join(lines))


def a_capture_says_the_same(board):
    """To the nanosecond, by the ELF files of the build; and what D logged into it."""
    b = BOOTED.get(board)
    text = f"{make.PROVIDER}::: {{ printf(\"%d \", timestamp); }} {GENERIC}"
    b.record("-c -w -F 1 -F 2 -F 6 -F 7 -k 64")
    live = dlog.ran(b.dtrace(*QUIET, "-c", "statics_two 2", "-n", text))
    logged = b.logged(*QUIET, "-c", "statics_one 1", "-n", GENERIC)
    path = b.recorded()
    after = dlog.ran(b.kymo("dtrace", "-q", "-r", path, "-n",
                            text.replace(":::", ":statics_two::")))
    expect(after == live and live.count("F ") == 2 * len(MADE["statics_two"]), f"{after}\n{live}")
    dlog.ran(logged)
    lines = without_pid(dlog.ran(b.kymo("dtrace", "-r", path)))
    expect(lines == firings("statics_one", 1, BITS.get(board, 64)), "\n".join(lines))
    done = b.kymo("dtrace", "-r", path, "-l", "-n", "myapp:statics_one::")
    expect(done.returncode == 0 and done.stdout.count("\n") == 1 + len(MADE["statics_one"]),
           dlog.told(done))
    # What it lacks is said of the base.
    done = b.kymo("dtrace", "-r", path, "-n", "myapp:::in-both { stack(); }")
    expect(done.returncode == 1 and "stack()" in done.stderr, dlog.told(done))


def compiled(run, *words):
    """The instructions of each object."""
    done = run("-e", "-S", *words)
    expect(done.returncode == 0, dlog.told(done))
    return re.sub(r"DIFO 0x[0-9a-f]+", "DIFO", done.stderr)


def a_kernel_that_is_not_running_has_the_same(board):
    """-t elf: with the types, from the image's programs; of an ELF without an image from --elf."""
    b = BOOTED.get(board)
    build = os.path.join(ROOT, "build", board)
    programs = [os.path.join(build, "programs", name) for name in PROGRAMS]

    def offline(elf):
        return lambda *words: b.kymo("dtrace", "-t", f"elf:{elf}", *words)

    text = GENERIC + "".join(
        f"{make.PROVIDER}:{program}::{p.d_name()} {{ trace((uintptr_t)args[{len(p.types) - 1}]); }}"
        for program in PROGRAMS for p in MADE[program] if p.types)
    live = compiled(b.dtrace, "-n", text)
    image, kernel = image_elf(build, "statics"), os.path.join(build, "kernel.elf")
    named = [word for path in programs for word in ("--elf", path)]
    expect(live.count("DIFO") > len(MADE["statics_one"]), live)
    expect(compiled(offline(image), "-n", text) == live, f"{image}: other instructions")
    expect(compiled(offline(kernel), *named, "-n", text) == live, f"{kernel}: other instructions")
    for elf, more, error in (
            (image, [], "did you mean myapp:::in-both?"),
            (kernel, [], "does not match any probes"),
            (kernel, ["--elf", __file__], "statics.py: no ELF file"),
            (kernel, ["--elf", "nowhere.elf"], "--elf nowhere.elf: No such file or directory"),
            ("nowhere.elf", [], "nowhere.elf: No such file or directory"),
            (kernel, ["--elf", dlog.KYMO], "it is no program of that kernel's CPU"),
            (image, ["--elf", kernel], "kernel.elf is not what that kernel runs")):
        if dlog.KYMO in more and board == "pc":
            continue
        done = offline(elf)(*more, "-e", "-n", "myapp:::in-booth")
        expect(done.returncode == 1 and error in done.stderr, dlog.told(done))


def a_program_with_2000_places(board):
    """Those of one name are in 400 pieces; none fires for another."""
    b = BOOTED.get(board)
    clause = '{ @n[probeprov, probename] = count(); @sum[probeprov, probename] = sum(arg0); }'
    text = (f"many:statics_many:: {clause} others:statics_many::p5* {clause}"
            ' END { printa("M %s %s %@d %@d\\n", @n, @sum); }')
    out = dlog.ran(b.dtrace(*QUIET, "-c", "statics_many", "-n", text))
    wanted = {f"M {provider} {name} {n} {total}"
              for (provider, name), (n, total) in many.counts().items()
              if provider == "many" or name.startswith("p5")}
    expect({line for line in out.splitlines() if line} == wanted and len(wanted) == 25,
           f"{out}\nis not\n{wanted}")
    # What the linker holds them against (test/lib/probe/check.py) is the kernel's limit.
    program = os.path.join(ROOT, "build", board, "programs/statics_many")
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    room = int(re.search(r"^(\w+) A kymo_probes_room$", symbols, re.M).group(1), 16)
    with open(os.path.join(ROOT, "abi/sys/trace.h"), encoding="utf-8") as f:
        most = int(re.search(r"define KYMO_TRACE_SITES_MOST (\d+)", f.read()).group(1))
    expect(room == most * 2 * BITS.get(board, 64) // 8, f"room {room:x} for {most}")


def threads_on_all_cpus_lose_no_pass(board):
    """Their own probe, and two of the library's of a mutex each."""
    threads, passes = 4, 2000  # test/board/programs/statics_storm.c
    text = """storm:::passed { @n[args[0]] = count(); @sum[args[0]] = sum(args[1]); }
              kymo:statics_storm::mutex-acquire { @taken[arg0] = count(); }
              kymo:statics_storm::mutex-release { @given[arg0] = count(); }
              END { printa("N %d %@d %@d\\n", @n, @sum); }
              END { printa("M %d %@d %@d\\n", @taken, @given); }"""
    out = dlog.ran(BOOTED.get(board).dtrace(*QUIET, "-c", "statics_storm", "-n", text))
    wanted = {f"N {n} {passes} {passes * (passes - 1) // 2}" for n in range(threads)}
    expect({line for line in out.splitlines() if line.startswith("N")} == wanted, out)
    mutexes = re.findall(rf"^M \d+ {passes} {passes}$", out, re.M)
    expect(len(mutexes) == threads, out)


TESTS = [each_probe_is_listed_with_its_types, each_firing_has_its_names_and_arguments,
         args_have_the_types_that_are_listed, predicates_conditions_and_patterns,
         the_default_action_names_the_probe, a_stack_has_the_function_with_the_probe,
         an_unknown_name_is_answered_with_the_nearest, a_program_that_starts_later_is_traced,
         a_program_with_2000_places, threads_on_all_cpus_lose_no_pass, a_capture_says_the_same,
         a_kernel_that_is_not_running_has_the_same]

if __name__ == "__main__":
    try:
        status = run_tests(TESTS, sys.argv[2:], lambda test: test(sys.argv[1]))
    finally:
        BOOTED.close()
    sys.exit(status)
