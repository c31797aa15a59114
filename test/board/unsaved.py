#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a reset has left stays until it is saved whole, and what of it is elsewhere is told.
unsaved.py BOARD [TEST...]

A ring in retained memory, a reset from outside; then `tracelogger --recover` to places where it
can't be saved (a disk without a log, one that becomes full, one whose driver is gone, too little
memory, a host that has no room or isn't there), at last to a disk, and after another reset over the
link. Each time the same slots come as `kymo extract --core` finds in an image of the memory, and
what could not be saved whole passes for no capture. The last line is `N passed, N failed`.
"""
import os
import re
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kev  # noqa: E402
from disk import KYMO, Disk, extract, kymo, listed, suite_name  # noqa: E402
from guest import ROOT, expect, patience, run_tests  # noqa: E402

PROMPT = "`help` lists"
WINDOW = (0x40200000, 0x800000)


class Machine(Disk):
    """With a disk of a full log, and its link's other end."""

    def __init__(self, board, name, frames, options=""):
        folder = os.path.join(ROOT, "build/check", suite_name(), board)
        shutil.rmtree(os.path.join(folder, "kymo"), ignore_errors=True)
        with open(os.path.join(ROOT, "build", board, "qemu.link")) as link:
            line = ["-chardev", "socket,id=link,path=link,server=on,wait=off", *link.read().split()]
        super().__init__(board, name, frames=frames, image="live", more=line,
                         options=options)
        self.short = f"/proc/{self.qemu.pid}/cwd"
        self.boots = 1

    def host(self, *args):
        """A `kymo capture` on the link."""
        return subprocess.Popen(
            [KYMO, "capture", "-t", f"unix:{self.short}/link", *args], cwd=self.dir, text=True,
            env=dict(os.environ, XDG_RUNTIME_DIR=self.short), stderr=subprocess.PIPE)

    def die(self):
        """A ring of some seconds, then the reset; the slots that it leaves."""
        self.run("tracelogger --retain -w -v -k 6 -f none &", "recording to")
        self.run("evstorm 4 3000", "total 12000 of")
        image = os.path.join(self.dir, "window.img")
        self.monitor("stop")
        self.monitor("pmemsave 0x%x 0x%x window.img" % WINDOW)
        self.reset()
        done = kymo("extract", "--force", "--core", image, "-o", image + ".kev")
        expect(done.returncode == 0, done.stderr)
        return slots_of(image + ".kev")

    def reset(self):
        self.monitor("system_reset")
        self.monitor("cont")
        self.boots += 1
        self.wait_for(lambda: self.printed().count(PROMPT) == self.boots, "the next boot")
        expect(self.printed().count("its recording is retained") == self.boots - 1,
               "nothing is retained")

    def recover(self, options, answer):
        """It fails, says why, and that nothing is lost."""
        said = self.run(f"tracelogger --recover {options}",
                        rf"(?s){answer}.* is INCOMPLETE: (\d+) of (\d+) slots; all of it stays")
        self.run("pidin", "pidin")
        return int(said.group(1)), int(said.group(2))


def slots_of(path):
    return kev.slot_bytes(path)


def whole(path, slots):
    expect(slots_of(path) == slots, f"{path}: other slots than the memory's image has")
    done = kymo("stat", path)
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    expect(b"TRACE_RETAINED::" in open(path, "rb").read(4096), "it does not say what it is")


def nowhere_to_go(machine, slots):
    """Nothing is written, or nothing but a header."""
    count = len(slots) // 16
    expect(machine.recover("-f block:a.kev", "the disk has no block log") == (0, count), "block")
    expect(machine.recover("-S 30k -f small.kev", "-S 30720 is too small") == (0, count), "file")
    expect(os.path.getsize(os.path.join(machine.dir, "small.kev")) == 0, "a header passes for it")
    machine.recover("-M -S 30k -f memory:small", "-S 30720 is too small")
    machine.run("tracelogger --remove small", "small: No such")


def a_host_without_room(machine, slots):
    with machine.host("-o", "/dev/full") as host:
        done, count = machine.recover("-f link:full.kev", "No space left")
        expect(host.wait(patience.seconds(30)) == 1 and "No space left" in host.stderr.read(),
               "the host's word")
    expect(done < count == len(slots) // 16, f"{done} of {count}")


def a_disk_that_gets_full(machine, slots):
    # Bounded in bytes: what a busy machine's ring holds when the logger ends would fill the disk.
    machine.record("--format -S 240k", "first.kev")
    done, count = machine.recover("-f block:full.kev", "No space left")
    expect(0 < done < count == len(slots) // 16, f"{done} of {count}: the disk is too large")
    machine.recover("-f block:fuller.kev", "--reclaim deletes the oldest")


def a_driver_that_is_gone(machine):
    table = machine.run("pidin", r"(?s)diskd.* pidin .*\$ ") and machine.printed()
    pid = re.findall(r"^ *(\d+) +1 diskd", table, re.M)[-1]
    machine.run(f"kill -9 {pid}", r"\$ ")
    machine.recover("-f block:gone.kev", "diskd is not running")
    machine.run("diskd &", r"\[\d+\]")


def saved_on_the_disk(machine, slots):
    machine.run("tracelogger --recover --reclaim -f block:crash.kev",
                rf"{len(slots) // 16} slots in block:crash.kev\n")
    machine.logger_is_gone()
    machine.run("tracelogger --recover -f none.kev", "no earlier boot has left a recording")
    found = listed(machine.image)
    expect([c[3:] for c in found][-1] == ("whole", "crash.kev"), str(found))
    expect(all(c[3] == "cut" for c in found if c[4] == "full.kev"), str(found))
    done = extract(machine.image, len(found), machine.image + ".kev")
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    whole(machine.image + ".kev", slots)


def saved_over_the_link(machine, slots):
    path = os.path.join(machine.dir, "link.kev")
    with machine.host("--force", "-o", path) as host:
        machine.run("tracelogger --recover -f link:crash.kev",
                    rf"{len(slots) // 16} slots in link:crash.kev\n")
        expect(host.wait(patience.seconds(30)) == 0, "the host says that it isn't whole")
    whole(path, slots)
    machine.run("tracelogger --recover -f none.kev", "no earlier boot has left a recording")


def buffers(path):
    """The sequences of each CPU's buffers, without those of names, which are injected."""
    slots, found, at = slots_of(path), {}, 0
    while at + 16 <= len(slots):
        header, _, d1, d2 = struct.unpack_from("<4I", slots, at)
        if header >> 10 & 31 == 1 and header & 1023 == 2:
            injected = d2 > 2 and struct.unpack_from("<I", slots, at + 32)[0] >> 16 & 1
            found.setdefault(header >> 24 & 63, []).extend([] if injected else [d1])
            at += 16 * d2
        else:
            at += 16  # DROPPED, after the last
    return found


def what_was_taken_is_told(board):
    """A reset while a slow disk gets the ring: the recovered capture has all, and says up to which
    buffer the other one may have it, too."""
    machine = Machine(board, "taken", 200, options=",throttling.iops-total=40")
    try:
        machine.run("tracelogger --format --retain -w -v -k 8 -f block:cut.kev &", "recording to")
        machine.run("evstorm 4 9000", "total 36000 of")
        machine.type("tracestop\r")
        machine.wait_for(lambda: listed(machine.image)[0][1] > 3000, "some of it on the disk")
        machine.reset()
        machine.run("tracelogger --recover -f taken.kev", r"slots in taken.kev\n(?s:.*)taken them")
    finally:
        machine.close()
    path = os.path.join(machine.dir, "taken.kev")
    done = extract(machine.image, 1, path + ".disk")
    expect(done.returncode == 0 and "no end" in done.stderr, done.stderr)
    there, disk = buffers(path), buffers(path + ".disk")
    with open(path, "rb") as f:
        told = {int(cpu): (int(last), int(here)) for cpu, last, here in re.findall(
            rb"TRACE_RETAINED_TAKEN_\d::CPU (\d): buffers up to (\d+), (\d+) of them here",
            f.read(8192))}
    in_hand = 0
    for cpu, sequences in there.items():
        last, here = told.get(cpu, (0, 0))
        expect(here == sum(s <= last for s in sequences), f"CPU {cpu}: not {here} of {sequences}")
        # Those that had no seal yet are on the disk only.
        both = set(disk.get(cpu, [])) & set(sequences)
        expect(max(both, default=0) <= last, f"CPU {cpu}: {both} twice, but told {last}")
        all_of_them = sorted(set(sequences + disk.get(cpu, [])))
        expect(all_of_them == list(range(all_of_them[0], all_of_them[-1] + 1)), f"{all_of_them}")
        in_hand += sum(s <= last and s not in disk.get(cpu, []) for s in sequences)
    expect(0 <= in_hand <= 8 and sum(map(len, disk.values())) > 3, f"{in_hand} in hand; {disk}")
    print(f"  {sum(map(len, disk.values()))} on the disk, {in_hand} in hand, {told}")


def what_is_not_saved_is_retained(board):
    machine = Machine(board, "unsaved", 45)
    try:
        slots = machine.die()
        machine.run("diskd &", r"\[\d+\]")
        nowhere_to_go(machine, slots)
        a_host_without_room(machine, slots)
        a_disk_that_gets_full(machine, slots)
        a_driver_that_is_gone(machine)
        saved_on_the_disk(machine, slots)
        slots = machine.die()
        saved_over_the_link(machine, slots)
    finally:
        machine.close()


TESTS = [what_is_not_saved_is_retained, what_was_taken_is_told]

if __name__ == "__main__":
    sys.exit(run_tests(TESTS, sys.argv[2:], lambda test: test(sys.argv[1])))
