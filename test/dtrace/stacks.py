#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every recorded stack is a path of the true call graph.

stacks.py BOARD [--seconds N] [--each-instruction]

Boots the image `stacks` (test/board/programs/t_stacks.c and the demo) and samples ustack() and
stack() by a timer, at interrupts, kernel calls, switches and function probes. Each two neighbours
of each stack are held against the disassembly of the program or kernel, which objdump has made: the
return address stands after a call, and what is called is the inner function, or one that jumps to
it (a tail call leaves no frame). The outermost function must be one that nothing calls: so no stack
is cut short. Then the stacks that t_stacks must have shown are looked for, so that the test can't
pass by seeing nothing. --each-instruction: the emulator may be interrupted at every instruction,
not only at branches: prologues and epilogues, too.
"""
import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from board import ROOT, Booted, patience  # noqa: E402

TOOLS = {"mps2-an386": "arm-none-eabi-", "virt-a64": "aarch64-linux-gnu-", "pc": ""}
FRAME = re.compile(r"^\s+(?:(\S+?)`)?(\S+?)(?:\+(0x[0-9a-f]+))?$")
CALL = re.compile(r"^(call|blx?|blr|bl(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le))"
                  r"(?:\.[nw])?$")
JUMP = re.compile(r"^(j[a-z]+|b|cbn?z|tbn?z|b\.?[a-z]{2})(?:\.[nw])?$")
AWAY = ("b", "bx", "br", "ret", "udf", "jmp", "ud2")  # does not fall through
TARGET = re.compile(r"\b([0-9a-f]{3,16}) <")
# Where a stack begins: entered by the kernel or the CPU, not called.
OUTERMOST = {
    "user": {"_start", "thread_run_entry"},  # the latter: lib/thread.c
    "kernel": {"armv7m_svc", "svc_arguments",
               # after the call of kernel_call(): to the program
               "armv7m_resume", "result_value", "result_error",
               # what interrupts a program
               "intr_entry", "intr_timer", "intr_entry_traced", "armv7m_systick_entered",
               "intr_sample",
               "armv7m_pendsv", "armv7m_irq", "armv7m_fault", "armv7m_systick",
               "a64_vectors", "a64_entry_irq", "a64_entry_fault", "a64_entry_other",
               "a64_entry_fiq",
               "x86_syscall", "x86_call_any", "x86_call_send", "x86_call_receive", "x86_call_reply",
               "x86_resume", "x86_entry",
               # a long call, on a stack of its own
               "long_call_main"},
}
# Of interrupts: what they have interrupted may be anything.
HANDLERS = {"intr_entry", "intr_timer", "intr_entry_traced", "armv7m_systick_entered",
            "intr_sample"}
# Each is run for a while. A firing takes a few thousand instructions for its stack: not each event.
SCRIPTS = ["""
profile-997 /execname == "t_stacks" && arg1/ {{ @["timer", execname, ustack(40)] = count(); }}
intr:::entry /execname == "t_stacks"/ {{ @["intr", execname, ustack(40)] = count(); }}
syscall:::entry, syscall:::return /calls++ % 16 == 0/
{{ @["call", execname, ustack(40)] = count(); }}
tick-{seconds}s {{ exit(0); }}
""", """
profile-1997 /arg0/ {{ @["left", execname, ustack(40)] = count(); }}
sched:::on-cpu /execname != "idle" && ons++ % 16 == 0/
{{ @["on-cpu", execname, ustack(40)] = count(); }}
tick-{seconds}s {{ exit(0); }}
""", """
profile-499 /arg0/ {{ @["sample", "kernel", stack(40)] = count(); }}
intr:::entry /interrupts++ % 4 == 0/ {{ @["intr", "kernel", stack(40)] = count(); }}
syscall:::entry /calls++ % 64 == 0/ {{ @["call", "kernel", stack(40)] = count(); }}
sched:::on-cpu, sched:::off-cpu, sched:::wakeup /switches++ % 16 == 0/
{{ @["sched", "kernel", stack(40)] = count(); }}
tick-{seconds}s {{ exit(0); }}
""", """
fbt::msg_*:entry, fbt::sched_*:entry, fbt::thread_*:entry, fbt::timer_*:entry
/entries++ % 64 == 0/ {{ @["fbt-entry", "kernel", stack(40)] = count(); }}
fbt::msg_*:return, fbt::sched_*:return, fbt::thread_*:return, fbt::timer_*:return
/returns++ % 64 == 0/ {{ @["fbt-return", "kernel", stack(40)] = count(); }}
tick-{seconds}s {{ exit(0); }}
"""]
AGAIN = 8  # times at most
# Chains that must be seen, innermost first; "…" is any number of frames.
CHAINS = [text.split() for text in (
    "leaf fall fall fall", "leaf tail|by_pointer|even", "even odd even", "fall … computed",
    "computed array large", "leaf compare … library", "early by_pointer|many",
    "… library work main", "… work other", "leaf array large by_pointer work")]


class Code:
    """A program's or kernel's disassembly."""

    def __init__(self, board, path):
        text = subprocess.run([TOOLS[board] + "objdump", "-dw", path],
                              capture_output=True, check=True, encoding="utf-8").stdout
        self.starts, self.functions = {}, []  # by address; (address, name)
        self.calls = {}   # address after a call: (where it goes or None)
        self.jumps = {}   # function: functions that it jumps to; None: it knows by itself where
        current, falls = None, None
        for line in text.split("\n"):
            head = re.match(r"^([0-9a-f]+) <(.+)>:$", line)
            if head:
                if falls:  # into the next function
                    self.jumps.setdefault(current, set()).add(int(head[1], 16))
                current = head[2]
                self.starts.setdefault(int(head[1], 16), current)
                self.functions.append((int(head[1], 16), current))
                continue
            found = re.match(r"^ *([0-9a-f]+):\t([0-9a-f ]+)\t(\S+)\s*(.*)$", line)
            if not found or current is None:
                continue
            op, rest = found[3], found[4]
            target = None if rest.startswith("*") else TARGET.search(rest)  # through memory
            falls = not (op.split(".")[0] in AWAY or "pc}" in rest or rest.startswith("pc,"))
            if CALL.match(op):
                size = len(found[2].replace(" ", "")) // 2
                self.calls[int(found[1], 16) + size] = int(target[1], 16) if target else None
            elif JUMP.match(op) and target:
                self.jumps.setdefault(current, set()).add(int(target[1], 16))
            elif op in ("br", "bx", "jmp") and "lr" not in rest:
                self.jumps.setdefault(current, set()).add(None)
        self.functions.sort()
        self.address = {name: at for at, name in reversed(self.functions)}

    def name_at(self, address):
        low, high = 0, len(self.functions)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.functions[middle][0] <= address else (low, middle)
        return self.functions[low][1]

    def aliases(self, name):
        return {n for at, n in self.functions if at == self.address.get(name)} | {name}

    def leads(self, start, to):
        """Does a call of `start` end up in `to`, by jumps only?"""
        seen, todo = set(), [start]
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            if whole(name) == whole(to):
                return True
            for target in self.jumps.get(name, ()):
                if target is None:
                    return True
                other = self.name_at(target)
                todo.append(other)
        return False


def whole(name):
    return re.sub(r"\.(cold|part|isra|constprop|\d)[.\w]*$", "", name)


class Checker:
    def __init__(self, board):
        self.board, self.codes, self.wrong = board, {}, []

    def code(self, module):
        if module not in self.codes:
            build = os.path.join(ROOT, "build", self.board)
            path = f"{build}/kernel.elf" if module == "kernel" else f"{build}/programs/{module}"
            self.codes[module] = Code(self.board, path)
        return self.codes[module]

    def check(self, probe, who, frames):
        kind = "kernel" if who == "kernel" else "user"
        code = self.code("kernel" if kind == "kernel" else frames[0][0] or who)
        inner = None
        for i, (module, name, offset) in enumerate(frames):
            if name.startswith("0x"):  # after the last call of a function that ends with it
                at = int(name, 16)
                name = code.name_at(at - 1)
                offset = at - code.address[name]
            if name not in code.address:
                return self.tell(probe, frames, f"no function {name} in {module}")
            places = [start + offset for start, n in code.functions if n == name]
            at = next((place for place in places if place in code.calls), places[0])
            live = i == 0 and (kind == "user" or probe == "sample")
            if not live and at not in code.calls and not self.interrupted(kind, i):
                return self.tell(probe, frames, f"{name}+{offset:#x} is not behind a call")
            called = code.calls.get(at)
            if inner and called is not None and inner not in HANDLERS:
                start = code.name_at(called)
                if not code.leads(start, inner):
                    return self.tell(probe, frames,
                                     f"{name}+{offset:#x} calls {start}, not {inner}")
            inner = name
        if not OUTERMOST[kind] & code.aliases(inner) and probe != "sample":  # its copy may end
            self.tell(probe, frames, f"ends in {inner}")

    def interrupted(self, kind, i):
        """The kernel itself was interrupted: that frame is no return address."""
        return kind == "kernel" and self.board in ("mps2-an386", "pc") and i > 0

    def tell(self, probe, frames, what):
        self.wrong.append(f"{probe}: {what}: " +
                          " < ".join(f"{n}+{o:#x}" for _, n, o in frames))


def stacks_of(output):
    """[(probe, who, [(module, function, offset)])] of printed aggregations."""
    found, frames, head = [], [], None
    for line in output.split("\n"):
        words = line.split()
        if len(words) == 2 and re.match(r"^[a-z-]+$", words[0]) and "`" not in line:
            head, frames = words, []
        elif len(words) == 1 and words[0].isdigit():
            if head and frames:
                found.append((head[0], head[1], frames))
            head, frames = None, []
        elif len(words) == 1 and head:
            match = FRAME.match(line)
            frames.append((match[1], match[2], int(match[3] or "0", 16)))
    return found


def has(chain, names):
    def fits(pattern, at):
        if not pattern:
            return True
        if pattern[0] == "…":
            return any(fits(pattern[1:], i) for i in range(at, len(names) + 1))
        return at < len(names) and names[at] in pattern[0].split("|") and fits(pattern[1:], at + 1)
    return any(fits(chain, i) for i in range(len(names)))


def chains_missing(stacks):
    names = [[name for _, name, _ in frames] for _, who, frames in stacks if who == "t_stacks"]
    return [chain for chain in CHAINS if not any(has(chain, n) for n in names)]


def main():
    parser = argparse.ArgumentParser(description="Recorded stacks against the call graph.")
    parser.add_argument("board", choices=sorted(TOOLS))
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--each-instruction", action="store_true")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    booted = Booted(options.board, "stacks")
    if options.each_instruction:
        plain = booted.command
        booted.command = lambda: [*plain(), "-singlestep"]
    output, status = "", 0
    with booted as spec:
        # A slow host's clock interrupts few places of the guest in those seconds: what a chain of
        # these needs is looked for again.
        for script in SCRIPTS + SCRIPTS[:1] * AGAIN:
            if script is SCRIPTS[0] and output and not chains_missing(stacks_of(output)):
                break
            done = subprocess.run([f"{ROOT}/build/kymo", "dtrace", "-t", spec, "-q", "-x",
                                   "aggsize=512k", "-n", script.format(seconds=options.seconds)],
                                  capture_output=True, encoding="utf-8", check=False,
                                  timeout=patience.seconds(200))
            output += done.stdout
            status |= done.returncode
            print(done.stderr, end="")
    if options.print:
        print(output)
    checker = Checker(options.board)
    stacks = stacks_of(output)
    for probe, who, frames in stacks:
        checker.check(probe, who, frames)
    missing = chains_missing(stacks)
    count = {}
    for probe, _, _ in stacks:
        count[probe] = count.get(probe, 0) + 1
    print(f"{options.board}: {len(stacks)} stacks: {count}")
    for line in checker.wrong[:20]:
        print("wrong: " + line)
    for chain in missing:
        print("not seen: " + " < ".join(chain))
    failed = len(checker.wrong) + len(missing) + (status != 0)
    print(f"{len(stacks)} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
