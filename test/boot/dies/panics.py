# SPDX-License-Identifier: BSD-2-Clause
"""Panics that go wrong themselves, made with the emulator's gdb stub: a jump to nowhere in the
middle of a panic; two CPUs at once; a watchdog that bites in a panic, or whose first bite comes to
nothing, so that the second one resets. Each time the machine resets, and the retained memory says
as much as can be known. For dies.py."""
import functools
import os
import re

import gdb
from guest import image_elf
from machine import ROOT, Machine

SECONDS = 40
KERNEL = 0xffffff8000000000  # virt-a64: from here on
# By board: numbers of the gdb stub for the program counter, how wide it is, an instruction's size,
# and where nothing is.
PC = {"mps2-an386": (15, 4, 2, 0x60000001), "virt-a64": (32, 8, 4, 0xffffff9000000004)}

AGAIN = "\nin the kernel's panic: "


@functools.lru_cache(maxsize=None)
def places(board, image):
    """function -> its instructions, of those where a machine is stopped or sent to."""
    elf = image_elf(os.path.join(ROOT, "build", board), image)
    return gdb.instructions(board, elf, re.compile(
        "(panic_record_(begin|seal|print)|ktext|trace_ring_begin|arch_reset|arch_watchdog_set|"
        "armv7m_watchdog)$"))


class Victim:
    """A machine that is stopped at places of its kernel."""

    def __init__(self, board, image, folder):
        self.board, self.image = board, image
        # -S: it begins when we say so. Several CPUs, of which some idle, would stop virtual time.
        self.machine = Machine(board, image, folder, [*gdb.STUB, "-S"], multi=board == "virt-a64")
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
    says(extract(victim.machine), "PANIC fault in the kernel\n", f"pc={PC[victim.board][3]:016x}")
    if victim.machine.printed().count("kernel panic on CPU") != 1:
        raise AssertionError("not one panic is told")


# ---- the watchdog, which image hangs has armed ---------------------------------------------------

def bites_in_the_panic(victim, extract):
    """The panic hangs, before it has sealed what it knows: the first bite does it."""
    victim.to("panic_record_begin")
    victim.to("panic_record_seal")
    victim.hang_under_a_watchdog(50)
    victim.dies()
    says(extract(victim.machine), "PANIC panic\n", "PANIC_REASON panic() of a D program")
    victim.machine.wait_for(AGAIN + "watchdog: nobody has set it back")


def bites_twice(victim, extract):
    """The first bite has written down why, and hangs: the second one resets."""
    victim.to("arch_reset")
    victim.hang()
    victim.dies()
    says(extract(victim.machine), "PANIC watchdog\n", "PANIC_REASON watchdog: nobody has set")
    victim.machine.reset()
    victim.machine.wait_for("boot 2: boot 1 ended with: watchdog: nobody has set it back")


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
    ("goeson", "virt-a64", "panics of two CPUs", of_two_cpus),
    ("dies", "mps2-an386", "the watchdog bites in a panic", bites_in_the_panic),
    ("hangs", "mps2-an386", "the watchdog bites twice", bites_twice),
    ("hangs", "mps2-an386", "the watchdog bites for nothing", bites_for_nothing),
]


def run(board, folder, extract, report):
    for image, only, name, case in CASES:
        if only not in (None, board):
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
