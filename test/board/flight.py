#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The flight recorder on a board: flight.py BOARD [ROUNDS] [SEED] [gated]

Records numbered events into retained memory on all CPUs (test/board/images/flight.start), resets
the machine at a random time (each second boot panics by itself), and looks at what the next boot
has saved: of each CPU every event without a gap, up to at least the last one that a mark on the
console had told of before the reset. Again and again on one machine. gated: of the rest only what
the D program of tracelogger -x lets pass may be there."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from guest import ROOT, connect, emulator, expect, image_elf, patience
import kev
import lived
from machine import Host
import merged

KYMO = os.path.join(ROOT, "build/kymo")
SAVED = (r"tracelogger: boot %d ended with: (.*); (\d+) buffers with (\d+) slots in "
         r"(?:link:)?flight.kev\n")
REASON = r"SystemCtl\(\) by process \d+ \(marks\)"
USER, SIMPLE, BEGIN, CONTINUE, END = 6, 0, 1, 2, 3
EXIT = kev.CLASSES["KER_CALL"], 128 + kev.call_rows()["TRACE_EVENT"]  # gated.d's


LINKED = ("pc",)  # boards without semihosting


class Machine:
    def __init__(self, board, folder, image):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        build = os.path.join(ROOT, "build", board)
        with open(f"{build}/qemu.args") as args:
            command = args.read().split() + emulator.cpu_arguments()
        # A guest that panics stands still, so that the next boot's capture does not replace the
        # one that is being looked at.
        command += ["-qmp", "unix:qmp,server=on,wait=off", "-action",
                    "reboot=shutdown,shutdown=pause", "-kernel", image_elf(build, image)]
        self.host = None  # takes a boot's captures off its link
        self.folder, self.linked = folder, board in LINKED
        self.captures = folder
        if self.linked:
            with open(f"{build}/qemu.link") as link:
                command += ["-chardev", "socket,id=link,path=link,server=on,wait=off",
                            *link.read().split()]
        self.path = os.path.join(folder, "console.txt")
        self.console = open(self.path, "wb")
        self.qemu = emulator.begin(command, cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=self.console, stderr=subprocess.STDOUT)
        try:
            self.qmp = connect(f"/proc/{self.qemu.pid}/cwd/qmp", lambda: self.qemu.poll() is None)
        except OSError:
            self.qemu.kill()
            raise
        self.answers = self.qmp.makefile()
        self.answers.readline()
        self.command("qmp_capabilities")
        self.take_captures()

    def take_captures(self):
        """From here on, those of one boot. Each boot writes files of the same names."""
        if self.linked:
            self.end_captures()
            self.host = Host(self.qemu, self.folder)
            self.captures = self.host.captures

    def end_captures(self):
        if self.host:
            self.host.end()

    def command(self, name, **arguments):
        self.qmp.sendall(json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")
        while True:
            answer = json.loads(self.answers.readline())
            expect("error" not in answer, f"{name}: {answer}")
            if "return" in answer:
                return answer["return"]

    def reset(self):
        boots = self.printed().count("kymo on ")
        self.command("set-action", reboot="reset")
        self.command("system_reset")
        self.take_captures()
        if not self.linked:
            self.command("set-action", reboot="shutdown")
            self.command("cont")
            return
        # A PC's firmware that finds itself running asks for a second reset.
        self.command("cont")
        self.wait(lambda text: text.count("kymo on ") > boots, "the next boot")
        self.command("set-action", reboot="shutdown")

    def printed(self):
        with open(self.path, errors="replace", newline="") as f:
            return f.read().replace("\r\n", "\n")

    def wait(self, condition, what, seconds=60):
        began = time.monotonic()
        while not condition(self.printed()):
            expect(self.qemu.poll() is None, f"the emulator has ended: {what}")
            expect(not patience.is_over(began, seconds), f"never: {what}")
            time.sleep(0.02)

    def close(self):
        self.end_captures()
        self.qmp.close()
        self.qemu.kill()
        self.qemu.wait()
        self.console.close()


def marks(text):
    """The last mark of each producer."""
    return {int(p): int(n) for p, n in re.findall(r"^mark (\d+) (\d+)$", text, re.M)}


def events(path):
    """The numbers of each producer's events; every slot is looked at."""
    found, words = {}, None
    data = kev.slot_bytes(path)
    for header, _, d1, d2 in struct.iter_unpack("<4I", data):
        kind, cpu, number = header >> 30, header >> 24 & 63, header & 1023
        if header >> 10 & 31 != USER:
            continue
        expect(cpu == number, f"producer {number} on CPU {cpu}")
        if kind in (SIMPLE, BEGIN):
            found.setdefault(cpu, []).append(d1)
        n = found[cpu][-1]
        if kind == SIMPLE and n % 7:
            expect(d2 == ~n & 0xffffffff, f"event {n}: {d2:#x}")
            continue
        words = [d1, d2] if kind in (SIMPLE, BEGIN) else words + [d1, d2]
        if kind in (SIMPLE, END):
            count = 3 + n % 38
            expect(words == [n] * count + [0] * (count % 2), f"event {n}: {words}")
    return found


def check(path, before, cpus):
    found = events(path)
    for p in range(cpus):
        numbers = found.get(p, [])
        expect(numbers or p not in before, f"nothing of CPU {p}")
        if not numbers:
            continue
        expect(numbers == list(range(numbers[0], numbers[-1] + 1)), f"CPU {p}: a gap")
        expect(numbers[-1] >= before.get(p, 0),
               f"CPU {p}: up to {numbers[-1]}, but {before.get(p)} was recorded")
    for tool in "print", "stat":
        done = subprocess.run([KYMO, tool, path], capture_output=True, text=True, errors="replace")
        expect(done.returncode == 0 and not done.stderr,
               f"kymo {tool}: {done.returncode}: {done.stderr[:200]}")
    return sum(len(numbers) for numbers in found.values())


def reset(machine, begun, rng):
    wanted = rng.randrange(1, 60)
    machine.wait(lambda text: text[begun:].count("\nmark ") >= wanted, f"{wanted} marks")
    time.sleep(rng.random() / 50)
    machine.command("stop")
    machine.reset()


def said_at(said, text, begun):
    match = said.search(text[begun:])
    return match.end() if match else len(text)


def tells_of_the_panic(path, reason):
    """The reason and registers in the header, the reason as the last event and in `kymo stat`."""
    printed = subprocess.run([KYMO, "print", "-v", path], capture_output=True, text=True).stdout
    for what in (f"TRACE_PANIC_REASON:: {reason}\n", "TRACE_PANIC_REGISTERS_1::",
                 "TRACE_PANIC_WHERE::", "TRACE_FILTER_1:: unknown"):
        expect(what in printed, f"no {what}")
    expect(printed.count(reason) >= 2, "the reason is no event")
    stat = subprocess.run([KYMO, "stat", path], capture_output=True, text=True).stdout
    expect(f"ended with panic: {reason}\n" in stat, stat[:300])


def only_what_may_pass(path):
    """Of calls the exits that test/board/boot_d/gated.d names; no message, no interrupt."""
    passed = 0
    for header, _, _, _ in kev.raw_slots(path):
        cls, event = header >> 10 & 31, header & 511
        if kev.is_call(cls) or cls in (kev.CLASSES["COMM"], kev.CLASSES["INT"]):
            expect((cls, event) == EXIT, f"class {cls} event {event} has passed")
            passed += 1
    expect(passed > 400, f"only {passed} calls have passed")  # a mark is after 499


def round_of(machine, number, begun, rng, cpus):
    said = re.compile(SAVED % number)
    if number % 2:
        reset(machine, begun, rng)
    else:
        machine.wait(lambda _: machine.command("query-status")["status"] == "shutdown", "a panic")
        machine.reset()
    machine.wait(lambda text: text[begun:].find("no earlier boot", said_at(said, text, begun)) >= 0,
                 "what was retained is saved")
    text = machine.printed()
    at = text.index(f"boot {number + 1}: boot {number} ended with: ", begun)
    before = marks(text[begun:at])
    reason, buffers, slots = said.search(text[at:]).groups()
    expect(re.fullmatch("a reset without a panic" if number % 2 else REASON, reason), reason)
    path = os.path.join(machine.captures, "flight.kev")
    size = len(kev.slot_bytes(path))
    expect(size == 16 * int(slots), f"{size} bytes for {slots} slots")
    expect("damaged" not in text[at:], "a damaged buffer")
    expect("save it with --recover, or free it with --discard" in text[at:],
           "a recording over one that is unclaimed")
    expect(re.search(r"-S 20480 is too small .*: give at least \d+\n", text[at:]), "saved in less")
    if number % 2 == 0:
        before[0] = 5000  # marks.c: PANIC_AT
        tells_of_the_panic(path, reason)
    # The ring has wrapped long ago: their names come from beside it.
    injected = lived.check(path, {"marks", "kymo"}, {f"producer {p}" for p in before})
    expect(injected >= 4 or number % 2, f"{injected} events are injected")
    merged.check(path, ring=True)
    return check(path, before, cpus), int(buffers), at


def main(board, rounds="4", seed="1", image="flight"):
    folder = os.path.join(ROOT, "build/check/boot", f"{image}-{board}")
    rng, cpus = random.Random(f"{board} {seed}"), 1 if board == "mps2-an386" else 4
    machine, passed = Machine(board, folder, image), 0
    try:
        machine.wait(lambda text: "no earlier boot" in text, "the first boot finds nothing")
        begun = 0
        for number in range(1, int(rounds) + 1):
            saved, buffers, begun = round_of(machine, number, begun, rng, cpus)
            if image == "gated":
                only_what_may_pass(os.path.join(machine.captures, "flight.kev"))
            print(f"boot {number}: {saved} events in {buffers} buffers, without a gap", flush=True)
            passed += 1
    except AssertionError as e:
        print(f"FAIL boot {passed + 1}, seed {seed}: {e}; console: {machine.path}")
    finally:
        machine.close()
    print(f"{passed} passed, {int(passed < int(rounds))} failed")
    return 0 if passed == int(rounds) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
