#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""No probe firing takes more instructions than `kymo dtrace -e -v` says.

firing.py BOARD [--as OTHER] [--seed N] [--programs N] [--boots N] [--keep] [--parts]
firing.py BOARD --like OTHER

Makes random D programs, and some that are known to be dear; has kymo compute the bound of each;
boots them all on the board (guest_firing.c) under the plugin count.c; and compares each firing's
instructions, from the entry of trace_port_fire() to its return, with the bound. The board refuses
each program with a limit that is 1 lower, so its own figure is the same. The seed is printed; it
repeats the run. --parts prints the programs' worst firings beside their bounds, --keep keeps the
folder with the programs.

cost.def was counted on two boards. Of others --as has the code of one: the kernel is compiled as
OTHER's board.mk has it, and boots on BOARD, which has the room for this test. --like only compares:
BOARD's kernel has, mnemonic for mnemonic, OTHER's code of a firing. Operands, which are addresses
and offsets of the board's own, are not compared.

How much a bound is above the worst firing that was counted is printed. It must be less than
RATIO_KNOWN for the programs that are made to be dear: each does often what its bound is made of. Of
others (RARE) the worst case is not met by texts and stacks that there are: a search compares long
texts that are nearly the same, and strsize is squared; a string has strsize bytes, all outside of
the machine's memory; a stack has 128 frames; an interrupted kernel's is passed by; or the clause
faults first.

What no program here has, so that only reading the code says what it costs (cost.def): retain=1,
raise(), copyout(); helpers; the providers profile, syscall and fbt, whose way to the clauses is a
part of FIRE, which has 60 instructions for it (bench: fbt_entry); keys of more than 8 bytes and the
same hash; the stack of an interrupted kernel; deep stacks; a log that finds all buffers taken;
other CPUs; a consumer that may observe itself only. system(), freopen() and stop() do nothing on a
board; chill(), panic() and breakpoint() have no bound.
"""
import argparse
import os
import random
import re
import shutil
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import patience  # noqa: E402

TOOLS = {"mps2-an386": "arm-none-eabi-", "virt-a64": "aarch64-linux-gnu-"}
ARCH = {"mps2-an386": "armv7m", "virt-a64": "aarch64"}
SHIFT = 7
SITE = 40  # from the site to trace_port_fire() and back: FIRE has it
PROBES = {"u": "user:::simple", "t": "user:::string", "s": "sdt:::comm_snd_pulse"}
LOGS, ENTRY, VARIABLE, POINTS = 1, 2, 4, 8
RATIO_KNOWN = 12
# Whose worst case no text here is, or no stack.
RARE = re.compile(r"str(str|tok|join|toll)|index|json|depth|caller|stack|copy|name|string|upper|"
                  "by_0|error|tracemem|array_keys|event's")

# ---- programs ------------------------------------------------------------------------------


class Program:
    def __init__(self, clauses, operation="u", flags=0, name="random", error="", **options):
        self.operation, self.flags, self.name, self.error = operation, flags, name, error
        self.options = {"bufsize": "4k", "aggsize": "4k", "dynvarsize": "4k", "strsize": 64,
                        "specsize": 512, "nspec": 2, **options}
        self.clauses = clauses

    def text(self):
        head = "".join(f"#pragma D option {k}={v}\n" for k, v in self.options.items())
        clauses = "".join(f"{PROBES[self.operation]}\n{c}\n" for c in self.clauses)
        return head + clauses + self.error


POINTER = "((uintptr_t)(uint32_t)arg1 | ((uintptr_t)(uint32_t)arg2 << 32))"
KEY = "((uint64_t)(uint32_t)arg1 | ((uint64_t)(uint32_t)arg2 << 32))"
STRING = "copyinstr(" + POINTER + ")"
# Each one part, often, so that its weight shows.
DEAR = {
    "nothing": ["{}"],
    "add": ["{ trace(" + " + ".join(["arg1"] * 30) + "); }"],
    "shift": ["{ trace(" + " ^ ".join(f"({KEY} << (arg1 + {i}))" for i in range(12)) + "); }"],
    "multiply": ["{ trace(" + " * ".join([KEY] * 8) + "); }"],
    "divide": ["{ trace(" + " + ".join(f"({KEY} / (arg1 + {i} | 1))" for i in range(8)) + "); }"],
    "divide_long": ["{ trace(" + " + ".join(
        f"({KEY} % ({KEY} >> {i} | 1))" for i in range(0, 40, 5)) + "); }"],
    "divide_signed": ["{ trace(" + " + ".join(
        f"((int64_t){KEY} / -(int64_t)({KEY} >> {i} | 1))" for i in range(0, 40, 5)) + "); }"],
    "by_0": ["{ trace(arg0 / (arg1 - arg1)); }"],
    "branches": ["/" + " && ".join(f"arg0 != {100 + i}" for i in range(20)) + "/ { trace(1); }"],
    "values": ["{ " + "trace(arg0); " * 20 + "}"],
    "printf": ['{ printf("%d %d %d %d", arg0, arg1, arg2, arg1); }'],
    "builtins": ["{ trace(pid + tid + ppid + uid + gid + errno + cpu + ipl + id + epid); }"],
    "times": ["{ trace(timestamp); trace(vtimestamp); trace(walltimestamp); }"],
    "curthread": ["{ trace((uintptr_t)curthread); }"],
    "arg9": ["{ trace(arg5 + arg6 + arg7 + arg8 + arg9); }"],
    "name": ["{ trace(execname); trace(probefunc); trace(probename); trace(probeprov); }"],
    "name_compared": ['/execname == "bench_firing"/ { trace(probename == "simple"); }'],
    "globals": ["{ x = arg1; y = x + 1; z = y + x; trace(z); }"],
    "locals": ["{ this->x = arg1; this->y = this->x; trace(this->y); }"],
    "self": ["{ self->a = arg1; self->b = self->a; self->c = self->b + self->a; self->d = 1; }",
             "{ self->a = 0; self->b = 0; self->c = 0; trace(self->d); }"],
    "self_string": ["{ self->s = execname; trace(self->s); self->s = NULL; }"],
    "global_string": ['{ s = execname; t = s; trace(t); }'],
    "count": ["{ @ = count(); }"],
    "sum": ["{ @ = sum(arg1); @b = min(arg1); @c = max(arg1); @d = avg(arg1); }"],
    "stddev": ["{ @ = stddev(arg1); }"],
    "quantize": ["{ @ = quantize(arg1); }"],
    "quantize_long": [f"{{ @ = quantize((int64_t){KEY}); }}"],
    "lquantize": [f"{{ @ = lquantize({KEY}, 0, 100, 3); }}"],
    "llquantize": [f"{{ @ = llquantize({KEY}, 10, 0, 18, 20); }}"],
    "llquantize_2": [f"{{ @ = llquantize({KEY} >> 1, 2, 0, 60, 2); }}"],
    "by_key": ["{ @[arg1] = count(); }"],
    "by_keys": ["{ @[arg1, arg2, pid, tid] = sum(arg0); }"],
    "by_name": ["{ @[execname, probename] = quantize(arg1); }"],
    "array": ["{ a[arg1 & 7] = arg2; trace(a[arg2 & 7]); a[arg2 & 3] = 0; }"],
    "array_keys": ["{ a[arg1 & 7, execname] = arg2; trace(a[arg2 & 7, execname]); }"],
    "array_string": ["{ a[arg1 & 7] = execname; trace(a[arg2 & 7]); }"],
    "self_array": ["{ self->a[arg1 & 7] = arg2; trace(self->a[arg2 & 7]); }"],
    "stack": ["{ stack(10); }"], "stack_key": ["{ @[stack(8)] = count(); }"],
    "ustack": ["{ ustack(10); }"], "ustack_key": ["{ @[ustack(6)] = count(); }"],
    "depth": ["{ trace(stackdepth); trace(ustackdepth); }"],
    "caller": ["{ trace(caller); trace(ucaller); }"],
    "speculate": ["{ self->s = speculation(); }", "{ speculate(self->s); trace(arg1); }",
                  "/arg1 & 1/ { discard(self->s); self->s = 0; }",
                  "/self->s/ { commit(self->s); self->s = 0; }"],
    "commit": ["{ self->s = speculation(); }"] +
              ["{ speculate(self->s); }"] * 8 + ["{ commit(self->s); self->s = 0; }"],
    "alloca": ["{ this->p = (char *)alloca(1000); this->p[3] = 1; trace(this->p[3]); }"],
    "bcopy": ["{ this->p = alloca(600); bcopy(this->p, alloca(600), 600); }"],
    "many_scratch": ["{ " + "this->p = alloca(8); " * 12 + "trace(1); }"],
    "rand": ["{ trace(rand()); trace(rand()); }"],
    "progenyof": ["{ trace(progenyof(1)); trace(progenyof(9)); }"],
    "pidname": ["{ trace(pidname(1)); trace(lwpinfo(pid, tid, 1)); }"],
    "swap": ["{ trace(htonll(arg1) + htonl(arg2) + htons(arg0)); }"],
    "lltostr": [f"{{ trace(lltostr({KEY})); trace(lltostr({KEY}, 2)); }}"],
    "memref": ["{ this->m = memref((void *)arg0, 8); }"],
    "exit": ["/arg1 == 3/ { exit(3); }", "{ trace(1); }"],
    "error": ["{ trace(*(int *)1); }"],
}
ERROR = 'ERROR { trace(arg1); trace(arg4); @failed[arg4, probename] = quantize(arg5); }\n'
ERROR_FAILS = "ERROR { trace(arg1 / (arg4 - arg4)); }\n"
# Another program, which is there all the time: what its clauses of ERROR are, and how many, costs
# the others nothing.
CROWD = ERROR * 10 + "ERROR {}\n" * 800
# With a pointer to the process's text in arg1 and arg2.
DEAR_TEXTS = {
    "load_user": ["{ trace(*(uint64_t *)copyin(" + POINTER + " & ~7, 8)); }"],
    "copyin_page": ["{ trace(copyin(" + POINTER + ", 3000) != NULL); }"],
    "copyin_odd": ["{ tracemem(copyin(" + POINTER + ", 333), 333); }"],
    "copyinto": ["{ this->p = alloca(200); copyinto(" + POINTER + ", 200, this->p); }"],
    "copyinstr": ["{ trace(" + STRING + "); }"],
    "tracemem": ["{ tracemem(" + POINTER + ", 200); }"],
    "strlen": ["{ trace(strlen(" + STRING + ")); }"],
    "strlen_far": ["{ trace(strlen((char *)" + POINTER + ")); }"],
    "strjoin": ['{ trace(strjoin("a", "b")); this->s = ' + STRING
                + '; trace(strjoin(substr(this->s, 1, 20), substr(this->s, 2, 30))); }'],
    "substr": ["{ trace(substr((char *)" + POINTER + ", 3, 40)); }"],
    "toupper": ["{ trace(toupper((char *)" + POINTER + ")); trace(tolower(" + STRING + ")); }"],
    "strchr": ["{ trace(strchr((char *)" + POINTER + ", 'b')); }"],
    "strrchr": ["{ trace(strrchr((char *)" + POINTER + ", 'x')); }"],
    "strstr": ['{ trace(strstr((char *)' + POINTER + ', "aaaaaaaaaab")); }'],
    "index": ['{ trace(index((char *)' + POINTER + ', "////////////////////x")); }'],
    "rindex": ['{ trace(rindex((char *)' + POINTER + ', "aaaaaaaaaaaab")); }'],
    "strtok": ['{ trace(strtok((char *)' + POINTER + ', ",;/ a[]{}123")); }'],
    "strtok_more": ['{ this->s = strtok(' + STRING + ', ",;/"); trace(strtok(NULL, ",; /")); }'],
    "basename": ["{ trace(basename((char *)" + POINTER + ")); }"],
    "dirname": ["{ trace(dirname((char *)" + POINTER + ")); }"],
    "cleanpath": ["{ trace(cleanpath((char *)" + POINTER + ")); }"],
    "json": ['{ trace(json((char *)' + POINTER + ', "a.b[2]")); }'],
    "strtoll": ["{ trace(strtoll((char *)" + POINTER + ")); }"],
    "inet": ["{ trace(inet_ntop(2, (void *)" + POINTER + ")); }"],
    "inet6": ["{ trace(inet_ntop(28, (void *)" + POINTER + ")); }"],
    "strtok_far": ["{ trace(strtok((char *)" + POINTER + ", (char *)(" + POINTER + " ^ 128))); }"],
    "strstr_far": ["{ trace(strstr((char *)" + POINTER + ", (char *)(" + POINTER + " ^ 64))); }"],
    "strstr_same": ["{ trace(strstr(substr((char *)" + POINTER + ", 0, 40), (char *)("
                    + POINTER + " + 20))); }"],
    "json_far": ["{ trace(json((char *)" + POINTER + ", (char *)(" + POINTER + " ^ 64))); }"],
    "compared": ["{ trace(" + STRING + ' == "////////////////////////////////////"); }'],
    "compared_same": ["{ this->s = " + STRING + "; trace(this->s == " + STRING + "); }"],
    "text_key": ["{ @[" + STRING + "] = count(); }"],
    "text_array": ["{ a[" + STRING + "] = 1; }"],
    "text_variable": ["{ s = " + STRING + "; self->t = s; trace(self->t); }"],
    "load_far": ["{ trace(*(uint64_t *)(" + POINTER + " & ~7)); }"],
}


MANY, MANY_TEXTS = 10, 4


def many(program):
    """The same statements again and again: what the clause costs once hides no wrong weight."""
    n = MANY_TEXTS if program.operation == "t" or program.flags & POINTS else MANY
    text = "{ " + program.clauses[0][2:-1] * n + "}"
    return Program([text], program.operation, program.flags, f"{program.name} x {n}",
                   **{**program.options, "bufsize": "16k", "dynvarsize": "16k", "aggsize": "16k"})


def known():
    """The programs that are known to be dear, in all forms."""
    out = []
    for name, clauses in DEAR.items():
        out.append(Program(clauses, name=name))
    for name, clauses in DEAR_TEXTS.items():
        out.append(Program(clauses, "u", POINTS, name))
        if "(char *)" + POINTER in clauses[0]: # a copy on the kernel's stack, on all boards
            out.append(Program([clauses[0].replace(POINTER, "arg1")], "t", 0, name + ", event's"))
    out += [many(p) for p in out if len(p.clauses) == 1 and p.clauses[0].startswith("{ ")]
    for name in ("by_0", "error"):
        out.append(Program(DEAR[name], name=f"{name}, reported", error=ERROR))
    for name in ("load_far", "strlen_far", "copyin_page", "tracemem"):
        out.append(Program(DEAR_TEXTS[name], "u", POINTS, f"{name}, reported", ERROR))
    for name in ("by_0", "error"):
        out.append(Program(DEAR[name], name=f"{name}, reported often", error="ERROR {}\n" * 40))
        out.append(Program(DEAR[name], name=f"{name}, its report fails", error=ERROR_FAILS * 4))
        out.append(Program(DEAR[name], "u", LOGS, f"{name}, reported and logged", ERROR))
        out.append(Program(DEAR[name] * 6, name=f"{name} in 6 clauses, reported", error=ERROR))
    for name in ("values", "name", "printf", "ustack", "commit", "nothing"):
        out.append(Program(DEAR[name], "u", LOGS, f"{name}, logged"))
    for policy in ("ring", "fill"):
        out.append(Program(DEAR["values"], name=f"{name}, {policy}", bufpolicy=policy, bufsize=400))
        out.append(Program(["{}", "{ trace(arg1); }", "{ " + "trace(arg1); " * 30 + "}"],
                           name=f"sizes, {policy}", bufpolicy=policy, bufsize=700))
    out.append(Program([f"{{ @[{KEY}] = count(); }}"], "u", ENTRY, "colliding entries",
                       aggsize="64k"))
    out.append(Program([f"{{ a[{KEY}] = 1; }}"], "u", VARIABLE, "colliding variables",
                       dynvarsize="16k"))
    out.append(Program([f"{{ @[{KEY}] = quantize(arg1); a[{KEY}] = 1; }}"], "u", ENTRY,
                       "both", aggsize="64k", dynvarsize="16k"))
    out.append(Program(["{ trace(arg0); }"], "s", 0, "pulse"))
    out.append(Program(["{ trace(stringof(arg1)); }"], "t", 0, "text of an event"))
    out.append(Program(["{ @[dirname(stringof(arg1))] = count(); }"], "t", 0, "its directory"))
    return out


class Maker:
    """Random programs of the same parts."""

    def __init__(self, rng):
        self.rng, self.pointed = rng, False

    def number(self, depth=0):
        r = self.rng
        leaf = ("arg0", "arg1", "arg2", KEY, "pid", "tid", "timestamp", "vtimestamp", "cpu", "x",
                "y", "this->n", "self->n", "arg7", str(r.randrange(1 << 20)), "errno", "id",
                "rand()", "walltimestamp", "n[arg1 & 3]", "ppid")
        if depth > 3 or r.random() < 0.4:
            return r.choice(leaf)
        a, b = self.number(depth + 1), self.number(depth + 1)
        kind = r.randrange(9)
        if kind < 5:
            return f"({a} {r.choice('+ - * / % & | ^ << >> == < >= && ||'.split())} {b})"
        if kind == 5:
            return f"({a} ? {b} : {self.number(depth + 1)})"
        if kind == 6:
            return f"strlen({self.string(depth + 1)})"
        if kind == 7:
            return f"({self.string(depth + 1)} == {self.string(depth + 1)})"
        return r.choice((f"strtoll({self.string(depth + 1)})", f"htonl({a})",
                         f"index({self.string(depth + 1)}, \"a\")", "stackdepth",
                         "(int64_t)caller"))

    def string(self, depth=0):
        r = self.rng
        leaf = ["execname", "probename", "probefunc", '"a/b/c"', "s", "self->s", "zonename"]
        leaf += [STRING, f"(string)(char *){POINTER}"] if self.pointed else []
        if depth > 2 or r.random() < 0.5:
            return r.choice(leaf)
        a, b = self.string(depth + 1), self.string(depth + 1)
        return r.choice((f"strjoin({a}, {b})", f"substr({a}, {r.randrange(9)}, {r.randrange(40)})",
                         f"dirname({a})", f"basename({a})", f"cleanpath({a})", f"toupper({a})",
                         f"strtok({a}, \"/,a\")", f"lltostr({self.number(depth + 1)})",
                         f"strstr({a}, {b})", f"strrchr({a}, '/')"))

    def statement(self):
        r, number, string = self.rng, self.number, self.string
        keys = [number(2) if r.random() < 0.6 else string(2) for _ in range(r.randrange(3))]
        if r.random() < 0.15:
            keys.append(r.choice(("stack(4)", "ustack(3)")))
        shape = "[" + ", ".join(keys) + "]" if keys else ""
        function = r.choice((f"sum({number(2)})", "count()", f"quantize({number(1)})",
                             f"avg({number(2)})", f"stddev({number(2)})", f"max({number(2)})",
                             f"lquantize({number(2)}, 0, 1000, 10)",
                             f"llquantize({number(2)}, 10, 0, 6, 20)"))
        return r.choice((
            lambda: f"trace({number()})", lambda: f"trace({string()})",
            lambda: f'printf("%d %s", {number(1)}, {string(1)})',
            lambda: f"@a{r.randrange(1000000)}{shape} = {function}",
            lambda: f"@a{r.randrange(1000000)}{shape} = {function}",
            lambda: f"{r.choice(('x', 'y', 'this->n', 'self->n'))} = {number()}",
            lambda: f"n[{number(2)} & 7] = {number(2)}",
            lambda: f"{r.choice(('s', 'self->s'))} = {string(1)}",
            lambda: r.choice(("stack(5)", "ustack(4)", "stack()", "ustack()"))))()

    def program(self):
        r = self.rng
        self.pointed = r.random() < 0.5
        clauses = []
        first = ("{ x = 1; y = 2; this->n = 3; self->n = arg1; s = execname; self->s = s; "
                 "n[0] = 1; }")
        for _ in range(r.randrange(1, 4)):
            predicate = f"/{self.number(2)}/ " if r.random() < 0.3 else ""
            statements = "; ".join(self.statement() for _ in range(r.randrange(1, 5)))
            clauses.append(f"{predicate}{{ {statements}; }}")
        flags = (POINTS if self.pointed else 0) | (LOGS if r.random() < 0.15 else 0)
        error = ERROR if r.random() < 0.2 else ""
        return Program([first] + clauses, "u", flags, "random", error,
                       strsize=r.choice((32, 64, 100)))


# ---- compiling, booting --------------------------------------------------------------------


def flags_of(board):
    """How the board's kernel is compiled: words for make."""
    return subprocess.run(["make", "-s", "--no-print-directory", "-f", "scripts/board.mk",
                           f"BOARD={board}", "list-flags"], cwd=ROOT, check=True,
                          capture_output=True, text=True).stdout.splitlines()


class Run:
    def __init__(self, board, other, folder):
        self.board, self.folder = board, folder
        self.flags = flags_of(other) if other else []
        self.name = f"{board}-as-{other}" if other else board
        self.build = os.path.join(ROOT, "build", self.name)
        self.make("app-parts", "APP_WITH=init bench_firing")  # bench_firing is in no other image

    def image(self, name, text):
        """The paths of a program's image and of its source."""
        script, image = (os.path.join(self.folder, f"{name}.{end}") for end in ("d", "dif"))
        with open(script, "w", encoding="utf-8") as f:
            f.write(text)
        subprocess.run([os.path.join(ROOT, "build/tools/mkd"), image, ARCH[self.board], script],
                       check=True)
        return image, script

    def compiled(self, n, program):
        """Its image's path and its bound in instructions; None: no bound."""
        script = os.path.join(self.folder, f"{n}.d")
        with open(script, "w", encoding="utf-8") as f:
            f.write(program.text())
        command = [os.path.join(ROOT, "build/kymo"), "dtrace", "-t",
                   f"elf:{self.build}/kernel.elf", "-e", "-v", "-s", script]
        command += ["-x", "log=1"] if program.flags & LOGS else []
        said = subprocess.run(command, capture_output=True, text=True)
        bound = re.search(rf"^Firing of {PROBES[program.operation]}: at most (\d+) instructions",
                          said.stdout, re.M)
        if said.returncode != 0 or not bound:
            raise ValueError(f"{said.stderr}{said.stdout[-300:]}")
        return self.image(n, program.text())[0], int(bound[1])

    def make(self, *goals):
        subprocess.run(["scripts/locked", "-q", "build", "make", "-s", "--no-print-directory", "-f",
                        "scripts/board.mk", f"BOARD={self.board}", f"B=build/{self.name}",
                        *self.flags, *goals],
                       check=True, cwd=ROOT)

    def boot(self, programs, images, bounds):
        """[[instructions of each firing] of each program]. The board compares its own bounds."""
        name = os.path.join(self.folder, "firing")
        with open(name + ".modes", "w", encoding="ascii") as f:
            f.write("".join(p.operation + f"{p.flags:x}" for p in programs))
        once = {bound: n for n, bound in enumerate(bounds) if bound < 1 << 32}
        with open(name + ".limits", "w", encoding="ascii") as f:
            f.writelines(f"{once[bound]} {bound}\n" for bound in sorted(once, reverse=True))
        crowd, _ = self.image("crowd", CROWD)
        files = [f"{p}={self.build}/stripped/{p}" for p in ("init", "bench_firing")]
        files += [f"crowd.dif={crowd}"]
        files += [f"start={ROOT}/test/bench/firing.start"]
        files += [f"{what}={name}.{what}" for what in ("modes", "limits")]
        files += [f"{n}.dif={image}" for n, image in enumerate(images)]
        tool = os.path.join(ROOT, "build/tools/mkcpio")
        subprocess.run([tool, name + ".cpio", *files], check=True)
        self.make("app-image", "APP_NAME=firing", f"APP_IMAGE={name}")
        with open(os.path.join(self.build, "qemu.args"), encoding="utf-8") as f:
            args = f.read().splitlines()
        if "-smp" in args:
            args[args.index("-smp") + 1] = "1"
        counter = os.path.join(ROOT, f"build/bench/count.so,out={name}.pcs")
        args += ["-icount", f"shift={SHIFT},sleep=off", "-rtc", "clock=vm", "-plugin", counter,
                 "-kernel", name + ".elf"]
        done = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=patience.seconds(900), cwd=self.folder)
        said = done.stdout.decode(errors="replace")
        rounds = [int(n) for n in re.findall(r"^firing: \d+: (\d+) rounds", said, re.M)]
        if done.returncode != 0 or "firing: all done" not in said or len(rounds) != len(programs):
            sys.exit(f"firing: {self.board}: status {done.returncode}\n{said[-1500:]}"
                     + done.stderr.decode(errors="replace")[-500:])
        firings = list(self.firings(name))
        if len(firings) != sum(rounds):
            sys.exit(f"firing: {len(firings)} of {sum(rounds)} rounds were counted")
        return [[firings.pop(0) for _ in range(n)] for n in rounds]

    def firings(self, name):
        """The instructions of each interval from the entry of trace_port_fire() to its return; 0:
        nothing fired."""
        symbols = subprocess.run([TOOLS[self.board] + "nm", name + ".elf"], check=True,
                                 capture_output=True, text=True).stdout
        entry = int(re.search(r"^(\w+) \w trace_port_fire$", symbols, re.M)[1], 16) & ~1
        with open(name + ".pcs", "rb") as f:
            while head := f.read(8):
                _, n = struct.unpack("<II", head)
                pcs = struct.unpack(f"<{n}Q", f.read(8 * n))
                first = pcs.index(entry) if entry in pcs else None
                if first is None:
                    yield 0
                    continue
                # An interrupt may have been served between the call and the entry: further back.
                last = next((i for before in range(first - 1, -1, -1) for i in range(first, n)
                             if pcs[i] in (pcs[before] + 2, pcs[before] + 4)), None)
                if last is None:
                    sys.exit(f"firing: {name}.pcs: a firing of {n} instructions has no end")
                yield last - first


# ---- boards with the same code ------------------------------------------------------------

# The objects that a firing's instructions are in; mappings, names and stacks are the kernel's.
OF_FIRING = ("trace/dtrace/", "kernel/dtrace/port.o", "kernel/arch/mmu/peek.o",
             "kernel/mem/vm_lookup.o", "kernel/observe/unwind.o")


def code_of(board):
    """{object: its instructions without operands}."""
    build, out = os.path.join(ROOT, "build", board), {}
    for folder, _, names in os.walk(build):
        for name in names:
            path = os.path.join(folder, name)
            short = os.path.relpath(path, build)
            if name.endswith(".o") and short.startswith(OF_FIRING):
                listing = subprocess.run([TOOLS["virt-a64"] + "objdump", "-d",
                                          "--no-show-raw-insn", path], check=True,
                                         capture_output=True, text=True).stdout
                out[short] = re.findall(r"^ *[0-9a-f]+:\t(\S+)", listing, re.M)
    return out


def alike(board, other):
    """How many of their objects are different, and how many are not."""
    own, others = code_of(board), code_of(other)
    for which, objects in ((board, own), (other, others)):
        if len(objects) < 20:
            sys.exit(f"firing: {which}: {len(objects)} objects: build it first")
    names = sorted({*own, *others})
    wrong = [name for name in names if own.get(name) != others.get(name)]
    for name in wrong:
        print(f"{name}: {board} has other instructions than {other}: count it there")
    return len(wrong), len(names) - len(wrong)


# ---- the comparison ------------------------------------------------------------------------


def compare(run, programs, options):
    """How many firings took more than their program's bound; the programs' ratios."""
    images, bounds, kept, dull = [], [], [], 0
    for program in programs:
        try:
            image, bound = run.compiled(len(kept), program)
        except ValueError as why:
            if program.name != "random":
                sys.exit(f"firing: {program.name} isn't compiled: {why}")
            if options.parts:
                print(why)
            dull += 1
            continue
        images.append(image)
        bounds.append(bound)
        kept.append(program)
    if dull > len(programs) / 3:
        sys.exit(f"firing: {dull} of {len(programs)} programs are none")
    wrong, ratios = 0, []
    for n, (program, bound, counts) in enumerate(zip(kept, bounds, run.boot(kept, images, bounds))):
        worst = max(counts) + SITE
        if max(counts) == 0:
            sys.exit(f"firing: {n} ({program.name}) did not fire")
        ratios.append((bound / worst, program.name))
        if options.parts:
            print(f"{n:3} {program.name:24} {worst:8} of {bound:9}  {bound / worst:7.2f}")
        if bound / worst > RATIO_KNOWN and " x " in program.name and not RARE.search(program.name):
            wrong += 1
            print(f"{run.board}: {program.name}: its bound is {bound}, its worst firing {worst}")
        if worst > bound:
            wrong += 1
            print(f"{run.board}: {program.name}: a firing took {worst} instructions, its bound is "
                  f"{bound}:\n{program.text()}")
    return wrong, ratios, sum(len(p.clauses) for p in kept)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("board")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("KYMO_SAMPLE", "1"), 0))
    parser.add_argument("--programs", type=int, default=40, help="random ones, each boot")
    parser.add_argument("--boots", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--as", dest="other")
    parser.add_argument("--like")
    options = parser.parse_args()
    if options.like:
        wrong, passed = alike(options.board, options.like)
        print(f"{passed} passed, {wrong} failed")
        return 1 if wrong else 0
    if options.board not in TOOLS:
        parser.error(f"{options.board}: only --like can be asked of it")
    folder = os.path.join(ROOT, "build/tmp", f"firing-{options.board}-{os.getpid()}")
    os.makedirs(folder)
    run = Run(options.board, options.other, folder)
    wrong, passed = 0, 0
    for boot in range(options.boots):
        seed = options.seed + boot
        maker = Maker(random.Random(seed))
        programs = known() if boot == 0 else []
        programs += [maker.program() for _ in range(options.programs)]
        over, ratios, _ = compare(run, programs, options)
        wrong += over
        passed += len(ratios) - over
        ratios.sort()
        middle = ratios[len(ratios) // 2][0]
        print(f"{run.name}, seed {seed}: {len(ratios)} programs, bound over worst firing: "
              f"{ratios[0][0]:.2f} ({ratios[0][1]}) to {ratios[-1][0]:.1f} ({ratios[-1][1]}), "
              f"median {middle:.2f}")
    if options.keep or wrong:
        print(f"the programs are in {os.path.relpath(folder, ROOT)}")
    else:
        shutil.rmtree(folder)
    print(f"{passed} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
