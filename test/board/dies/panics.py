# SPDX-License-Identifier: BSD-2-Clause
"""Panics that go wrong themselves, made with the emulator's gdb stub: a jump to nowhere in the
middle of a panic; two CPUs at once; a kernel that calls itself until its stack is used up; a
watchdog that bites in a panic, or whose first bite comes to nothing, so that the second one resets.
Each time the machine resets, and the retained memory says as much as can be known. For dies.py."""
import functools
import os
import re
import subprocess

import gdb
from guest import image_elf, patience
from machine import ROOT, Machine

SECONDS = patience.seconds(40)  # a hang detector
KERNEL = 0xffffff8000000000  # virt-a64, pc: from here on
# By board: numbers of the gdb stub for the program counter, how wide it is, an instruction's size,
# and where nothing is.
PC = {"mps2-an386": (15, 4, 2, 0x60000001), "virt-a64": (32, 8, 4, 0xffffff9000000004),
      "pc": (16, 8, 1, 0xffffff9000000004)}

FATAL_FRAME = 40 + 16 + 160  # pc: what the CPU and entry.S push of a fatal exception
AGAIN = "\nin the kernel's panic: "


@functools.lru_cache(maxsize=None)
def places(board, image):
    """function -> its instructions, of those where a machine is stopped or sent to."""
    elf = image_elf(os.path.join(ROOT, "build", board), image)
    return gdb.instructions(board, elf, re.compile(
        "(panic_record_(begin|seal|print)|ktext|trace_ring_begin|arch_reset|arch_watchdog_set|"
        "armv7m_watchdog|kernel_call|kernel_exit)$"))


# A function that saves its return address and calls itself.
ENDLESS = {"mps2-an386": bytes.fromhex("f0b5fff7fdff"),  # push {r4-r7, lr}; bl .-2
           "virt-a64": bytes.fromhex("fd7bbfa9ffffff97"),  # stp x29, x30, [sp, #-16]!; bl .-4
           "pc": bytes.fromhex("50e8faffffff")}  # push %rax; call .-1


def symbol(board, image, name):
    elf = image_elf(os.path.join(ROOT, "build", board), image)
    listing = subprocess.run([gdb.TOOLS[board] + "nm", elf], check=True, capture_output=True,
                             text=True).stdout
    return int(re.search(rf"^([0-9a-f]+) \w {name}$", listing, re.M)[1], 16)


class Victim:
    """A machine that is stopped at places of its kernel."""

    def __init__(self, board, image, folder):
        self.board, self.image = board, image
        # -S: it begins when we say so. Several CPUs, of which some idle, would stop virtual time.
        self.machine = Machine(board, image, folder, [*gdb.STUB, "-S"], multi=board != "mps2-an386")
        self.stub = gdb.Stub(self.machine)
        self.stub.ask("?")

    def code(self, function):
        return places(self.board, self.image)[function]

    def to(self, function):
        if not self.stub.run_to([self.code(function)[0]], PC[self.board][2], SECONDS):
            raise AssertionError(f"{function} is never reached")

    def jump(self, at):
        register, width, _, _ = PC[self.board]
        self.stub.set_register(register, at, width)

    def jump_to_nowhere(self):
        self.jump(PC[self.board][3])

    def loop(self):
        """arch_reset() ends with one: a jump backwards."""
        for at in self.code("arch_reset"):
            if int.from_bytes(self.stub.memory(at, 2), "little") & 0xfc00 == 0xe400:
                return at
        raise AssertionError("arch_reset() has no loop")

    def hang(self):
        self.jump(self.loop())

    def hang_under_a_watchdog(self, ms):
        """As if arch_watchdog_set(ms) had been called from the loop."""
        self.stub.set_register(0, ms, 4)
        self.stub.set_register(14, self.loop() | 1, 4)
        self.jump(self.code("arch_watchdog_set")[0])

    def dies(self):
        """It goes on, and resets."""
        self.machine.events = []
        self.stub.go_on()
        self.machine.wait_paused()

    def close(self):
        self.machine.close()


def says(text, *parts):
    for part in parts:
        if part not in text:
            raise AssertionError(f"no {part!r} in {text[-1500:]}")


def in_the_panic(victim, extract, function, again):
    """The panic of image dies goes wrong when it comes to a function for the first or second time:
    the record is the first one's."""
    victim.to("panic_record_begin")
    victim.to(function)
    if again:
        victim.stub.step()
        victim.to(function)
    victim.jump_to_nowhere()
    victim.dies()
    said = extract(victim.machine)
    # Before it is sealed for the first time the reason may be missing: then the second one is told.
    says(said, "PANIC panic\n", "PANIC_REGISTERS_1 ", "PANIC_REASON panic() of a D program")
    victim.machine.wait_for(AGAIN)
    if again:
        says(said, "PANIC_STACK")


def before_the_reason(victim, extract):
    victim.to("panic_record_begin")
    victim.to("ktext")
    victim.jump_to_nowhere()
    victim.dies()
    reason = victim.machine.wait_for(AGAIN + "(.*)\n")
    says(extract(victim.machine), "PANIC panic\n", f"PANIC_REASON {reason[1][:60]}")


def of_two_cpus(victim, extract):
    """Every CPU that is in the kernel jumps to nowhere, all at once: one tells of it."""
    victim.to("trace_ring_begin")
    jumped = 0
    for thread in range(1, 5):
        victim.stub.ask(f"Hg{thread}")
        if victim.stub.register(PC[victim.board][0], 8) >= KERNEL:
            victim.jump_to_nowhere()
            jumped += 1
    if jumped < 2:
        raise AssertionError(f"only {jumped} CPUs are in the kernel")
    victim.dies()
    name = "rip" if victim.board == "pc" else "pc"
    says(extract(victim.machine), "PANIC fault in the kernel\n",
         f"{name}={PC[victim.board][3]:016x}")
    if victim.machine.printed().count("kernel panic on CPU") != 1:
        raise AssertionError("not one panic is told")


# ---- the kernel's stack --------------------------------------------------------------------------

def stack_used(said):
    """CPU -> (bytes used, bytes in all)."""
    return {int(cpu): (int(used), int(size)) for cpu, used, size in
            re.findall(r"^ *PANIC_STACK_USED_\d+ CPU (\d+): (\d+) of (\d+) bytes$", said, re.M)}


def marks_of_a_panic(victim, extract):
    """An ordinary panic says how deep each CPU's stack has been: not all of it."""
    victim.to("panic_record_begin")
    victim.dies()
    said = extract(victim.machine)
    used = stack_used(said)
    if len(used) != (1 if victim.board == "mps2-an386" else 4) or \
            not all(200 < n < size * 3 // 4 for n, size in used.values()):
        raise AssertionError(f"{used} of {said[-800:]}")
    says(victim.machine.printed(), "stack used, of ", f" CPU 0 {used[0][0]}")


def stack_overflows(victim, extract):
    """A kernel call recurses for ever: the guard ends it, and the panic says so."""
    at = victim.code("kernel_call")[0]
    victim.to("trace_ring_begin")
    victim.stub.write(at, ENDLESS[victim.board])
    victim.dies()
    said = extract(victim.machine)
    says(said, "PANIC fault in the kernel\n", "PANIC_REASON kernel stack overflow")
    says(victim.machine.printed(), "kernel panic on CPU")
    if not any(size - n <= 32 for n, size in stack_used(said).values()):
        raise AssertionError(f"no stack is used up: {said[-800:]}")
    if victim.board == "mps2-an386":
        says(said, f"near pc {at + 6:08x}", f" pc={at + 6:08x}")


def nmi_in_the_panic(victim, extract):
    """A sample's NMI comes while the panic of a double fault is at work on a stack of its own: the
    NMI has another one, so that the fault's frame stays as it was."""
    victim.to("trace_ring_begin")
    victim.stub.write(victim.code("kernel_call")[0], ENDLESS[victim.board])
    victim.to("panic_record_begin")
    top = (victim.stub.register(7, 8) | 0xfff) + 1
    frame = victim.stub.memory(top - FATAL_FRAME, FATAL_FRAME)
    victim.stub.write(symbol(victim.board, victim.image, "sampling"), b"\1")
    victim.machine.ask("inject-nmi")
    victim.to("panic_record_seal")
    if victim.stub.memory(top - FATAL_FRAME, FATAL_FRAME) != frame:
        raise AssertionError("the NMI has overwritten the double fault's frame")
    victim.dies()
    says(extract(victim.machine), "PANIC fault in the kernel\n",
         "PANIC_REASON kernel stack overflow", f"vector={8:016x}", "PANIC_STACK")
    if AGAIN in victim.machine.printed():
        raise AssertionError(victim.machine.printed()[-1500:])


def stack_used_up(victim, extract):
    """Where a process has all regions there is no guard: the stack's last word is looked at."""
    victim.to("trace_ring_begin")
    victim.stub.write(symbol(victim.board, victim.image, "kernel_stack_low"), bytes(4))
    victim.dies()
    says(extract(victim.machine), "PANIC panic\n", "PANIC_REASON kernel stack overflow on CPU 0: ")


# ---- the watchdog, which image hangs has armed ---------------------------------------------------

def bites_in_the_panic(victim, extract):
    """The panic hangs, before it has sealed what it knows: the first bite does it."""
    victim.to("panic_record_begin")
    victim.to("panic_record_seal")
    victim.hang_under_a_watchdog(50)
    victim.dies()
    says(extract(victim.machine), "PANIC panic\n", "PANIC_REASON panic() of a D program")
    victim.machine.wait_for(AGAIN + "watchdog: not armed again in time")


def bites_twice(victim, extract):
    """The first bite has written down why, and hangs: the second one resets."""
    victim.to("arch_reset")
    victim.hang()
    victim.dies()
    says(extract(victim.machine), "PANIC watchdog\n",
         "PANIC_REASON watchdog: not armed again in time")
    victim.machine.reset()
    victim.machine.wait_for("boot 2: boot 1 ended with: watchdog: not armed again in time")


def bites_for_nothing(victim, extract):
    """The first bite comes to nothing: the second one resets, and the recording is there."""
    victim.to("armv7m_watchdog")
    victim.hang()
    victim.dies()
    says(extract(victim.machine), "PANIC none")
    victim.machine.reset()
    victim.machine.wait_for("boot 2: boot 1 ended with: a reset without a panic\n"
                            "its recording is retained")


CASES = [
    ("dies", None, "a panic that has no reason yet", before_the_reason),
    ("dies", None, "a panic before it is sealed",
     lambda v, e: in_the_panic(v, e, "panic_record_seal", False)),
    ("dies", None, "a panic before it is sealed again",
     lambda v, e: in_the_panic(v, e, "panic_record_seal", True)),
    ("dies", None, "a panic as it is printed",
     lambda v, e: in_the_panic(v, e, "panic_record_print", False)),
    ("goeson", ("virt-a64", "pc"), "panics of two CPUs", of_two_cpus),
    ("dies", None, "how deep the kernel's stacks have been", marks_of_a_panic),
    ("dies", None, "the kernel's stack overflows", stack_overflows),
    ("dies", ("pc",), "an NMI in a double fault's panic", nmi_in_the_panic),
    ("dies", ("mps2-an386",), "the kernel's stack is used up", stack_used_up),
    ("dies", ("mps2-an386",), "the watchdog bites in a panic", bites_in_the_panic),
    ("hangs", ("mps2-an386",), "the watchdog bites twice", bites_twice),
    ("hangs", ("mps2-an386",), "the watchdog bites for nothing", bites_for_nothing),
]


def run(board, folder, extract, report):
    for image, only, name, case in CASES:
        if only is not None and board not in only:
            continue
        victim = None
        try:
            victim = Victim(board, image, folder)
            case(victim, extract)
            report(name, None)
        except (AssertionError, OSError) as e:
            report(name, str(e))
        finally:
            if victim:
                victim.close()
