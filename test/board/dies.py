#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A kernel that panics at each kind of trace point, or is reset in the middle of writing an event:
everything up to the last complete slot is in what kymo extract --core makes of its memory.

dies.py [--deaths N] [--cuts N] [--multi] [--damage] [--into FOLDER] BOARD

Deaths: the image `dies`, over and over: each boot panics at the next probe of test/board/dies/
probes.py and resets; the emulator stops there, and the retained memory is dumped. Cuts: the image
`goeson` is stopped at random instructions of the log's functions by the emulator's gdb stub, some
steps further dumped, and reset. KYMO_SEED repeats the cuts. Each capture must have

* all numbered events whose insertion had come back, without a gap, by a count of the program's own;
* each complete slot that window.py finds in the memory, in order;
* the panic's reason and registers, and what kymo print accepts.

What the next boot's tracelogger --recover saves has the same slots. A kernel that jumps to nowhere,
and a program that hangs under a watchdog, leave the registers that they had. So does a panic in
which the panic itself goes wrong (dies/panics.py).

Windows: a kernel boots with the last of these dumps in its memory, with noise and with worse there,
and can be told to give it up (dies/windows.py).

Damage: the last of these dumps is cut, damaged and disguised (damage.py; --damage: thousandfold).

The last line is `N passed, N failed`.
"""
import argparse
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "dies")]
import damage  # noqa: E402
import gdb  # noqa: E402
import kev  # noqa: E402
import lived  # noqa: E402
import merged  # noqa: E402
import panics  # noqa: E402
import probes  # noqa: E402
import windows  # noqa: E402
from guest import image_elf  # noqa: E402
from machine import ROOT, WINDOWS, Machine  # noqa: E402
from window import Window  # noqa: E402

KYMO = os.path.join(ROOT, "build/kymo")
SEED = int(os.environ.get("KYMO_SEED", random.SystemRandom().randrange(1 << 30)))
USER_EVENT = 7
RING_BYTES = 0x180000  # of the window that are dumped: its names, four buffers of each CPU
WHOLE_EVERY = 8        # times it is dumped whole


def extract(machine, dump, partly):
    """The capture's path and what was said."""
    path = dump + ".kev"
    done = subprocess.run([KYMO, "extract", "--force", "--core", dump, "--base",
                           hex(machine.window), "-o", path], capture_output=True, text=True,
                           errors="replace")
    said = done.stderr.strip()
    allowed = partly and re.fullmatch(r"kymo: .*the image ends inside of the retained memory: .*",
                                      said)
    if done.returncode != 0 or (said and not allowed):
        raise AssertionError(f"kymo extract: {done.returncode}: {said[:300]}")
    printed = subprocess.run([KYMO, "print", path], capture_output=True, text=True,
                             errors="replace")
    if printed.returncode != 0 or printed.stderr:
        raise AssertionError(f"kymo print: {printed.returncode}: {printed.stderr[:300]}")
    return path, done.stdout


def numbers(path):
    return [d1 for cls, event, d1, d2 in kev.slots(path)
            if cls == kev.CLASSES["USER"] and event == USER_EVENT and d2 == d1 ^ 0xffffffff]


def check_numbers(path, inserted):
    found = numbers(path)
    if not found or found != list(range(found[0], found[0] + len(found))):
        raise AssertionError(f"the numbered events have gaps: {found[:3]}...{found[-3:]}")
    if found[-1] not in (inserted, inserted + 1):
        raise AssertionError(f"{inserted} were inserted, the last one found is {found[-1]}")


def last_words(machine):
    """Of a machine that stands still, without a look at what it had recorded: what extract said."""
    return extract(machine, machine.save(machine.window, RING_BYTES, "panic.core"), True)[1]


def check_slots(path, dump):
    """By CPU: the window's slots stand in the capture, first and in this order."""
    with open(dump, "rb") as f:
        window = Window(f.read())
    captured = {}
    for slot in kev.raw_slots(path):
        captured.setdefault(slot[0] >> 24 & 0x3f, []).append(slot)
    total = 0
    for cpu in range(window.ncpu):
        want = [struct.unpack("<IIII", s) for s in window.slots_of(cpu)]
        got = captured.get(cpu, [])
        # Of a buffer that was about to be used again, what it had had may be there, too.
        at = got.index(want[0]) if want and want[0] in got else 0
        got = got[at:at + len(want)]
        total += len(want)
        # An open buffer has no count in its first slot yet; the capture has.
        for a, b in zip(want, got):
            if a != b and not (a[:3] == b[:3] and a[0] & 0x7fff == 0x402 and a[3] == 0):
                raise AssertionError(f"CPU {cpu}: slot {a} of the memory is {b} in the capture")
        if len(got) != len(want):
            raise AssertionError(f"CPU {cpu}: {len(got)} slots of {len(want)}")
    if total < 100:
        raise AssertionError(f"only {total} slots: that proves little")
    return total


def inserted(machine, place):
    with open(machine.save(place, 8, "truth"), "rb") as f:
        magic, count = struct.unpack("<II", f.read())
    if magic != probes.MAGIC:
        raise AssertionError("the program's count is not where it said")
    return count


def check_named(path):
    """Who inserted the events; no switch to it need be among them."""
    printed = subprocess.run([KYMO, "print", path], capture_output=True, text=True,
                             errors="replace").stdout
    if "name:t_dies" not in printed:
        raise AssertionError("nothing names t_dies")


def check_memory(machine, place, whole, name):
    """Of a machine that stands still: dump, extract, compare. What extract said."""
    dump = machine.save(machine.window, machine.window_bytes if whole else RING_BYTES, name)
    path, said = extract(machine, dump, not whole)
    check_numbers(path, inserted(machine, place))
    check_slots(path, dump)
    lived.check(path, ())
    check_named(path)
    os.replace(dump, os.path.join(machine.dir, "last.core"))
    os.replace(path, os.path.join(machine.dir, "last.kev"))
    return said


def check_recovered(machine):
    """The boot that follows has saved what kymo extract has found."""
    slots = [list(kev.raw_slots(path)) for path in (os.path.join(machine.dir, "last.kev"),
                                                    machine.captures.take("recovered.kev"))]
    if slots[0] != slots[1]:
        same = next((i for i, (a, b) in enumerate(zip(*slots)) if a != b), min(map(len, slots)))
        raise AssertionError(f"the tracelogger has saved other slots: {len(slots[1])}, not "
                             f"{len(slots[0])}; the first {same} are the same")


def check_core(machine):
    """What the emulator itself calls a core gives the same capture."""
    core = machine.core("core")
    path = core + ".kev"
    done = subprocess.run([KYMO, "extract", "--force", "--core", core, "-o", path],
                          capture_output=True, text=True, errors="replace")
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"of an ELF core: {done.returncode}: {done.stderr[:300]}")
    if list(kev.raw_slots(path)) != list(kev.raw_slots(os.path.join(machine.dir, "last.kev"))):
        raise AssertionError("an ELF core gives another capture")
    merged.check(path, ring=True)
    os.unlink(core)


def place_of(machine, boot):
    """Where the program of this boot keeps its count."""
    found = re.search(rf"boot {boot}\ntruth at 0x([0-9a-f]+)\ngoes \n", machine.printed())
    if not found:
        raise AssertionError("the program doesn't begin")
    return int(found[1], 16)


def check_panic(machine, boot, said, registers):
    text = machine.printed().split(f"\nboot {boot}\n")[-1]
    if "not reached" in text:
        raise AssertionError("the probe doesn't fire")
    reason = re.search(r"^kernel panic on CPU \d: (.*)$", text, re.M)
    if not reason or "panic() of a D program" not in reason[1]:
        raise AssertionError(f"another panic: {reason and reason[1]}")
    if f"PANIC_REASON {reason[1]}\n" not in said or registers not in said:
        raise AssertionError(f"reason or registers are not told: {said[:300]}")


def deaths(board, folder, count, multi, report):
    """A boot for each probe, at once one after the other."""
    machine = Machine(board, "dies", folder, multi=multi)
    names, known = probes.probes(), False  # known: what the boot before has left
    try:
        for boot in range(1, count + 1):
            name = names[(boot - 1) % len(names)]
            try:
                machine.wait_paused()
                place, before, known = place_of(machine, boot), known, False
                if before:
                    check_recovered(machine)
                said = check_memory(machine, place, boot % WHOLE_EVERY == 1, f"{boot}.core")
                known = True
                check_panic(machine, boot, said, "PANIC_REGISTERS_1 ")
                if boot % WHOLE_EVERY == 1:
                    check_core(machine)
                report(f"panic at {name}", None)
            except AssertionError as e:
                report(f"panic at {name} (boot {boot})", str(e))
                if machine.qemu.poll() is not None:
                    return
            machine.reset()
    finally:
        machine.close()


WRITER = re.compile(r"(trace_emit_|trace_log_|log_|trace_ring_|trace_clock_|trace_loss_|"
                    r"trace_kercall|trace_retain|trace_user|trace_insert|log_and_probe)")
AHEAD_SECONDS = 0.4
SKIPS, STEPS = 3, 40  # at most: hits before the last one, instructions after it


def cut(stub, places, size):
    """Stops somewhere in the log's functions; where. Every other time after the ring has wrapped
    and processes have come and gone."""
    if places.random.randrange(2):
        stub.go_on()
        time.sleep(places.random.random() * AHEAD_SECONDS)
        stub.stop()
    for _ in range(200):
        name, code = places.choose()
        hit = stub.run_to(code, size, gdb.REACH)
        places.reached(name, hit)
        if not hit:
            continue
        for _ in range(places.random.randrange(SKIPS)):
            stub.step()
            if not stub.run_to(code, size, gdb.REACH):
                break
        steps = places.random.randrange(STEPS)
        for _ in range(steps):
            stub.step()
        return f"{name} and {steps} steps"
    raise AssertionError("no function of the log is ever reached")


def cuts(board, folder, count, report):
    elf = image_elf(os.path.join(ROOT, "build", board), "goeson")
    places = gdb.Places(gdb.instructions(board, elf, WRITER), SEED)
    size = gdb.SIZES[board]
    # Stepping a CPU that idles stops virtual time, and with it the emulator.
    machine = Machine(board, "goeson", folder, gdb.STUB, multi=board != "mps2-an386")
    try:
        for boot in range(1, count + 1):
            machine.wait_for(rf"boot {boot}\n.*\ngoes \n")
            stub = gdb.Stub(machine) if boot == 1 else stub
            where = "?"
            try:
                if boot == 1:
                    stub.ask("?")
                    stub.ask("Qqemu.sstep=1")  # interrupts come between the steps, too
                else:
                    stub.stop()
                where = cut(stub, places, size)
                check_memory(machine, place_of(machine, boot), False, f"{boot}.core")
                report(f"cut in {where}", None)
            except AssertionError as e:
                report(f"cut {boot} in {where}", str(e))
                if machine.qemu.poll() is not None:
                    return
            machine.reset()
    finally:
        machine.close()
    print(f"cut in {len(places.hits)} functions: {' '.join(sorted(places.hits))}")


# By board: numbers of the gdb stub for a register and the program counter, how wide they are, what
# the record calls them, and a jump to where nothing is.
REGISTERS = {"mps2-an386": (4, 15, 4, "r4", "pc", 0x60000001),
             "virt-a64": (19, 32, 8, "x19", "pc", 0xffffff9000000004),
             "pc": (1, 16, 8, "rbx", "rip", 0xffffff9000000004)}


def fault(board, folder, report):
    """The kernel, in the middle of the log, jumps to nowhere: the record has its registers."""
    register, pc, size, name, pc_name, nowhere = REGISTERS[board]
    mark = 0x5eadbee0 if size == 4 else 0x123456789abcdef0
    elf = image_elf(os.path.join(ROOT, "build", board), "goeson")
    places = gdb.Places(gdb.instructions(board, elf, re.compile("trace_ring_begin$")), SEED)
    machine = Machine(board, "goeson", folder, gdb.STUB, multi=board != "mps2-an386")
    try:
        machine.wait_for(r"boot 1\n.*\ngoes \n")
        stub = gdb.Stub(machine)
        stub.ask("?")
        if not stub.run_to(places.choose()[1], gdb.SIZES[board], gdb.SLOW):
            raise AssertionError("the log turns to no buffer")
        stub.set_register(register, mark, size)
        stub.set_register(pc, nowhere, size)
        machine.events = []
        stub.go_on()
        machine.wait_for("kernel panic on CPU")
        machine.wait_paused()
        said = last_words(machine)
        for text in ("PANIC fault in the kernel\n", f"{name}={mark:0{2 * size}x}",
                     f"{pc_name}={nowhere & ~1 if size == 4 else nowhere:0{2 * size}x}"):
            if text not in said:
                raise AssertionError(f"no {text!r} in {said[:1500]}")
        report("a fault in the kernel", None)
    except (AssertionError, OSError) as e:
        report("a fault in the kernel", str(e))
    finally:
        machine.close()


def watchdog(folder, report):
    """A program that hangs above all others: the watchdog says where."""
    machine = Machine("mps2-an386", "hangs", folder)
    try:
        machine.wait_paused()
        said = check_memory(machine, place_of(machine, 1), False, "watchdog.core")
        if "PANIC watchdog\n" not in said or "(t_dies), thread 1, call 255\n" not in said:
            raise AssertionError(f"extract says {said[:300]}")
        report("the watchdog bites", None)
    except (AssertionError, OSError) as e:
        report("the watchdog bites", str(e))
    finally:
        machine.close()


def main():
    parser = argparse.ArgumentParser(description="machines that die, and what is left of them")
    parser.add_argument("--deaths", type=int, default=50)
    parser.add_argument("--cuts", type=int, default=16)
    parser.add_argument("--multi", action="store_true")
    parser.add_argument("--damage", action="store_true")
    parser.add_argument("--into", metavar="FOLDER")
    parser.add_argument("board")
    args = parser.parse_args()
    folder = os.path.join(ROOT, args.into or "build/check/dies/" + args.board +
                          (".multi" if args.multi else ""))
    results = []

    def report(name, error):
        results.append(error is None)
        if error is not None:
            print(f"FAIL {name}: {error}", flush=True)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # no emulator is left behind
    print(f"KYMO_SEED={SEED}")
    deaths(args.board, folder, args.deaths, args.multi, report)
    print(f"{args.deaths} panics")
    if args.cuts:  # without: practice, for which build/kymo is enough
        damage.run(folder, os.path.join(folder, "last.core"), WINDOWS[args.board][0], args.damage,
                   SEED, report)
        fault(args.board, folder + ".fault", report)
        panics.run(args.board, folder + ".panics", last_words, report)
        windows.run(args.board, folder + ".windows", os.path.join(folder, "last.core"), SEED,
                    report)
        if args.board == "mps2-an386":
            watchdog(folder + ".watchdog", report)
        cuts(args.board, folder + ".cuts", args.cuts, report)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
