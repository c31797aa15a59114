# SPDX-License-Identifier: BSD-2-Clause
"""What is asked of the report of each kind of crash (apps/crash/kinds.h): reason, address,
registers, a backtrace whose functions are those of the program's ELF, and that nobody else died."""
import os
import re
import subprocess

import kev

SIGNALS = {"SIGILL": 4, "SIGABRT": 6, "SIGFPE": 8, "SIGBUS": 10, "SIGSEGV": 11}
ROW = re.compile(r'KIND\((\w+),\s*"([^"]+)"\)')

# kind: (signal, reason, address, whether it dies in its own function). The address: a number, `ip`
# (where it died) or None (anything). By board where the CPUs differ; () is no crash at all.
M4 = {
    "null_read": ("SIGSEGV", "read from", 0, True),
    "null_write": ("SIGSEGV", "write to", 0, True),
    "null_jump": ("SIGSEGV", "jump to", 0, False),
    "wild_jump": ("SIGSEGV", "jump to", 0x70000000, False),
    "kernel_read": ("SIGSEGV", "read from", 0x20000000, True),
    "kernel_write": ("SIGSEGV", "write to", 0x20000000, True),
    "kernel_jump": ("SIGSEGV", "jump to", 0x400, False),
    "text_write": ("SIGSEGV", "write to", None, True),
    "const_write": ("SIGSEGV", "write to", None, True),
    "data_jump": ("SIGSEGV", "jump to", "ip", False),
    "stack_jump": ("SIGSEGV", "jump to", "ip", False),
    "stack_overflow": ("SIGSEGV", "stack pointer at", None, False),
    "undefined": ("SIGILL", "undefined instruction", "ip", True),
    "breakpoint": ("SIGILL", "breakpoint", "ip", True),
    "semihost": ("SIGILL", "breakpoint", "ip", True),
    "privileged": ("SIGBUS", "write to", 0xe000ed94, True),
    "device": ("SIGSEGV", "write to", 0x40005000, True),
    "misaligned": ("SIGBUS", "unaligned access", "ip", True),
    "divide": ("SIGFPE", "division by zero", "ip", True),
    "abort": ("SIGABRT",),
    "bad_stack": ("SIGSEGV", "stack pointer at", None, False),
}
A64 = dict(M4, **{
    "wild_jump": ("SIGSEGV", "jump to", 0xe8000000, False),
    "kernel_read": ("SIGSEGV", "read from", 0xffffff8040400000, True),
    "kernel_write": ("SIGSEGV", "write to", 0xffffff8040400000, True),
    "kernel_jump": ("SIGSEGV", "jump to", 0xffffff8040200400, False),
    "stack_overflow": ("SIGSEGV", "write to", None, False),
    "breakpoint": ("SIGILL", "breakpoint instruction", "ip", True),
    "semihost": ("SIGILL", "undefined instruction", "ip", True),
    "privileged": ("SIGILL", "privileged instruction", "ip", True),
    "device": ("SIGSEGV", "write to", 0x09000000, True),
    "misaligned": ("SIGBUS", "unaligned read from", None, True),
    "divide": (),
    "bad_stack": ("SIGSEGV", "write to", 0xe8000000, True),
})
PI = dict(A64, **{
    "kernel_read": ("SIGSEGV", "read from", 0xffffff8000480000, True),
    "kernel_write": ("SIGSEGV", "write to", 0xffffff8000480000, True),
    "kernel_jump": ("SIGSEGV", "jump to", 0xffffff8000080400, False),
    "device": ("SIGSEGV", "write to", 0x3f201000, True),
})
X86 = dict(A64, **{
    "kernel_read": ("SIGSEGV", "read from", 0xffffffff80e80000, True),
    "kernel_write": ("SIGSEGV", "write to", 0xffffffff80e80000, True),
    "kernel_jump": ("SIGSEGV", "jump to", 0xffffffff80a00400, False),
    "device": ("SIGSEGV", "write to", 0xfec00000, True),
    "misaligned": ("SIGSEGV", "access to an impossible address near", "ip", True),
    "divide": ("SIGFPE", "integer division", "ip", True),
    "bad_stack": ("SIGSEGV", "write to", 0xe7fffff8, True),
})
EXPECTED = {"mps2-an386": M4, "virt-a64": A64, "raspi3": PI, "pc": X86}
NO_FRAMES = {"mps2-an386": ("bad_stack",), "virt-a64": (), "raspi3": (),
             "pc": ("bad_stack",)}  # its stack is gone
REGISTERS = {"mps2-an386": ("r0", "r12", "lr", "pc", "xpsr", "r4", "r11", "sp"),
             "virt-a64": ("x0", "x8", "x19", "x29", "x30", "sp", "pc", "psr")}
REGISTERS["raspi3"] = REGISTERS["virt-a64"]
REGISTERS["pc"] = ("rax", "rcx", "rbx", "rsp", "rbp", "rdi", "r8", "r15", "rip", "rflags")


def kinds():
    with open(os.path.join(kev.ROOT, "apps/crash/kinds.h")) as f:
        return ROW.findall(f.read().split("#define KIND_LIST")[1])


def functions(boot):
    """name -> address of the program, as readelf tells."""
    elf = os.path.join(boot.build, "programs/crash")
    out = subprocess.run(["readelf", "-sW", elf], capture_output=True, text=True, check=True).stdout
    return {m[1]: int(m[0], 16) & ~1 for m in
            re.findall(r"\d+: ([0-9a-f]+)\s+\d+ FUNC\s+\w+\s+\w+\s+\w+ (\w+)", out)}


def frames(text, where):
    """(function, address where it begins) of each line that names one."""
    return [(name, int(ip, 16) - int(offset, 16)) for ip, name, offset in
            re.findall(where + r"0x([0-9a-f]+) (\w+)\+0x([0-9a-f]+)$", text, re.M)]


def misplaced(found, symbols):
    """A function whose begin isn't where the ELF has it, wherever the program was loaded."""
    base = {begin - symbols.get(name, 0) for name, begin in found}
    return None if len(base) <= 1 else f"functions and addresses don't fit: {found}"


def report_wrong(boot, kind, pid, text, want, symbols):
    """One crash's report: `text` begins after "Process <pid>"."""
    signal, what, address, own = want
    head = re.match(r" \(crash\) terminated: (\w+), (.*) 0x([0-9a-f]+), thread 1$", text, re.M)
    ip = re.search(r"^  ip 0x([0-9a-f]+)", text, re.M)
    if not head or not ip:
        return "no report"
    if head[1] != signal or head[2] != what:
        return f"{head[1]}, {head[2]}: not {signal}, {what}"
    wanted = int(ip[1], 16) if address == "ip" else address
    if wanted is not None and int(head[3], 16) != wanted:
        return f"address {head[3]}, not {wanted:x}"
    for register in REGISTERS[boot.board]:
        if not re.search(rf"(?<!\w){register}\b", text) and "  the others are lost: " not in text:
            return f"register {register} isn't told"
    at, trace = frames(text, "^  ip "), frames(text.split("backtrace:")[-1], "^    ")
    names = [name for name, _ in at + trace]
    if kind in NO_FRAMES[boot.board]:
        return None
    if own and names[:1] != ["kind_" + kind]:
        return f"it died in {names[:1]}"
    if kind == "stack_overflow":
        return None if names.count("crash_recurse_deeper") >= 4 else f"backtrace {names}"
    return misplaced(at + trace, symbols) if names[-2:] == ["main", "_start"] else \
        f"backtrace {names}"


def kind_wrong(boot, kind, end, reports, symbols):
    """end: pid and signal, as init says."""
    want, (pid, signal) = EXPECTED[boot.board][kind], end
    if int(signal) != SIGNALS[want[0]]:
        return f"signal {signal}, not {want[0]}"
    if len(want) > 1:
        return report_wrong(boot, kind, pid, reports.pop(pid, ""), want, symbols)
    return "an unexpected report" if pid in reports else None


def every_crash_is_reported(boot):
    """On several CPUs init may start the next one, or pidin, before the last one's report is
    printed."""
    symbols, wrong = functions(boot), []
    console = re.sub(r"(?m)^ +(?:pid|\d+) +(?:tid|\d+) \S.*\n", "", boot.console)
    pieces = re.split(r"^Process (\d+)", console, flags=re.M)
    reports = dict(zip(pieces[1::2], pieces[2::2]))
    ends = re.findall(r"^init: crash \(pid (\d+)\) was ended by signal (\d+)$", console, re.M)
    died = [kind for kind, _ in kinds() if kind != "other" and EXPECTED[boot.board][kind]]
    for kind, text in kinds():
        if kind != "other" and f"crash: {text}\n" not in console:
            return f"{kind}: didn't run"
    if len(ends) != len(died) or "went through" in console:
        return f"{len(ends)} ended, not {len(died)}"
    for kind, end in zip(died, ends):
        error = kind_wrong(boot, kind, end, reports, symbols)
        if error:
            wrong.append(f"{kind}: {error}")
    wrong += [f"process {pid} should not have died" for pid in reports]
    return "; ".join(wrong) or None


REPORTED = re.compile(r"  (ip 0x|others are lost|backtrace)|    0x[0-9a-f]{8}|"
                      r"(  \w+ +[0-9a-f]{8,16}){1,4}$")
NOISE = re.compile(r"a line of (noise|server), number (\d+)\.0*\2\.")


def reports_are_whole(boot):
    """Whatever others print meanwhile: a report is one piece, and each of their lines another."""
    lines, ends, noise = boot.console.split("\n"), 0, 0
    for n, line in enumerate(lines):
        if " terminated: " in line and line.startswith("Process "):
            at = n + 1
            while at < len(lines) and REPORTED.match(lines[at]):
                at += 1
            if not re.search(r" _start\+0x\w+$", lines[at - 1]):
                return f"line {at + 1} is amid a report: {lines[at]!r}"
            ends += 1
        elif "number" in line:
            noise += 1
            if not NOISE.fullmatch(line):
                return f"line {n + 1} is no whole line: {line!r}"
    return None if ends >= 5 and noise == 600 else f"{ends} reports, {noise} lines beside them"


def nobody_else_died(boot):
    """pidin at the end: the others are there, and no crash is left."""
    listing = boot.console.split("   pid tid name")[-1]
    names = re.findall(r"^ +\d+ +\d+ (\S+)", listing, re.M)
    left = sorted(set(names) - {"kymo/idle", "kymo/crash"})
    return None if left == ["console", "init", "pidin"] else f"there are {left}"
