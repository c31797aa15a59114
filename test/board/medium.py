#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The image of a PC's disk or USB stick is started by firmware. medium.py BOARD [TEST...]

BIOS is SeaBIOS, UEFI is OVMF. What is on the screen is read with the font that is on the medium,
and must be what came over the serial port. The last line is `N passed, N failed`.
"""
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import ROOT, Guest, connect, expect, image_elf, run_tests  # noqa: E402

KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))
OVMF = "/usr/share/OVMF"
FAT_AT = 2048 * 512  # boards/pc/mkimage
LOG_AT = FAT_AT + 65536 * 512
CELL_WIDTH, CELL_HEIGHT = 8, 16
os.environ["PATH"] += ":/usr/sbin:/sbin"


def folder_of(board):
    folder = os.path.join(ROOT, "build/check/medium", board)
    os.makedirs(folder, exist_ok=True)
    return folder


def mkimage(board, path, **environment):
    return subprocess.run([os.path.join(ROOT, "boards", board, "mkimage"),
                           image_elf(os.path.join(ROOT, "build", board), "shell"), path],
                          capture_output=True, text=True, env=dict(os.environ, **environment))


def medium(board, name):
    path = os.path.join(folder_of(board), name + ".img")
    made = mkimage(board, path)
    expect(made.returncode == 0 and not made.stderr, made.stderr)
    return path


def uefi(folder):
    """What QEMU needs for OVMF; the firmware's variables are written to, so they are copied."""
    variables = os.path.join(folder, "variables.fd")
    shutil.copyfile(f"{OVMF}/OVMF_VARS_4M.fd", variables)
    return ["-drive", f"if=pflash,format=raw,readonly=on,file={OVMF}/OVMF_CODE_4M.fd",
            "-drive", f"if=pflash,format=raw,file={variables}"]


AHCI = ["-drive", "format=raw,file={}"]
VIRTIO = ["-drive", "if=none,id=disk,format=raw,file={}",
          "-device", "virtio-blk-pci,drive=disk,disable-legacy=on,bootindex=0"]
USB = ["-device", "qemu-xhci", "-drive", "if=none,id=stick,format=raw,file={}",
       "-device", "usb-storage,drive=stick,bootindex=0"]


@contextlib.contextmanager
def booted(board, path, drive, *more):
    folder = folder_of(board)
    guest = Guest(board, "shell", [*more, *(word.format(path) for word in drive), "-qmp",
                                   "unix:qmp,server=on,wait=off"], folder, firmware=True)
    try:
        yield guest
    finally:
        guest.close()


def typed(guest, line, answer):
    before = len(guest.printed())
    guest.type(line + "\r")
    guest.wait_for(lambda: re.search(answer, guest.printed()[before:]), f"{line}: {answer}")


# ---- the screen ----------------------------------------------------------------------------------

def screen_dump(guest):
    """Width, height and pixels, of three bytes."""
    path = os.path.join(guest.dir, "screen.ppm")
    with connect(f"/proc/{guest.qemu.pid}/cwd/qmp") as s, s.makefile("rw") as qmp:
        qmp.readline()
        for command in ({"execute": "qmp_capabilities"},
                        {"execute": "screendump", "arguments": {"filename": path}}):
            qmp.write(json.dumps(command) + "\n")
            qmp.flush()
            answer = {"event": ""}
            while "event" in answer:
                answer = json.loads(qmp.readline())
            expect("return" in answer, str(answer))
    with open(path, "rb") as f:
        kind, size, _, pixels = f.read().split(b"\n", 3)
    expect(kind == b"P6", str(kind))
    return (*map(int, size.split()), pixels)


def screen_lines(guest, font):
    """The text, by the font; a cell that is none of its characters is a '?'."""
    width, height, pixels = screen_dump(guest)
    known = {font[c * CELL_HEIGHT:(c + 1) * CELL_HEIGHT]: chr(c) for c in range(0x20, 0x7f)}
    lines = []
    for top in range(0, height - CELL_HEIGHT + 1, CELL_HEIGHT):
        line = ""
        for left in range(0, width - CELL_WIDTH + 1, CELL_WIDTH):
            cell = bytearray(CELL_HEIGHT)
            for row in range(CELL_HEIGHT):
                at = ((top + row) * width + left) * 3
                for x in range(CELL_WIDTH):
                    cell[row] |= (pixels[at + 3 * x] >= 128) << 7 - x
            line += known.get(bytes(cell), "?")
        lines.append(line.rstrip())
    return lines


def font_of(path):
    return subprocess.run(["mcopy", "-n", "-i", f"{path}@@{FAT_AT}", "::kymo/font", "-"],
                          check=True, capture_output=True).stdout


def shows_what_is_printed(guest, path):
    """With so much text that it scrolls; the last lines of both are the same."""
    font = font_of(path)
    for _ in range(6):
        typed(guest, "pidin", r"(?s)Blocked.* pidin .*\$ $")
    typed(guest, "help", r"(?s)help.*\$ $")
    printed = [line.rstrip() for line in guest.printed().split("\n")]
    shown = screen_lines(guest, font)
    while shown and not shown[-1]:
        shown.pop()
    expect(len(shown) >= 40, f"{len(shown)} lines are on the screen")
    expect(len(printed) > len(shown) and printed[-len(shown):] == shown,
           "the screen differs: " + str([pair for pair in zip(printed[-len(shown):], shown)
                                         if pair[0] != pair[1]][:3]))


# ---- tests ---------------------------------------------------------------------------------------

def works(guest):
    typed(guest, "pidin", r"(?s)console.*RECEIVE.* pidin .*\$ ")


def memory_free(guest):
    return int(re.search(r"CPU\(s\), (\d+) KB free", guest.printed()).group(1))


def bios_starts_it_from_a_disk(board):
    path = medium(board, "bios")
    with booted(board, path, AHCI, "-vga", "std") as guest:
        works(guest)
        shows_what_is_printed(guest, path)


def uefi_starts_it_from_a_disk(board):
    path = medium(board, "uefi")
    with booted(board, path, AHCI, *uefi(folder_of(board)), "-vga", "std") as guest:
        works(guest)
        shows_what_is_printed(guest, path)


def bios_starts_it_from_a_stick_without_a_screen(board):
    with booted(board, medium(board, "stick"), USB) as guest:
        works(guest)


def sha256(path, end):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read(end)).digest()


def captures_of(path):
    """The names of the captures in the image's partition, each of which kymo reads."""
    part = path + ".part"
    with open(path, "rb") as f, open(part, "wb") as to:
        f.seek(LOG_AT)
        shutil.copyfileobj(f, to)
    made = subprocess.run([KYMO, "extract", "--list", part], capture_output=True, text=True)
    found = re.findall(r"(whole|cut) +\S*?(\w+)\.kev", made.stdout)
    for number in range(1, len(found) + 1):
        for command in (["extract", "--force", "-n", str(number), "-o", part + ".kev", part],
                        ["stat", part + ".kev"]):
            made = subprocess.run([KYMO, *command], capture_output=True, text=True)
            expect(made.returncode == 0, f"{command}: {made.stderr}")
    return found


def records_in_its_partition(board, name, drive, *more):
    """What comes before the partition stays as it was."""
    path = medium(board, name)
    before = sha256(path, LOG_AT)
    for capture, options in (("first", "--format --force"), ("second", "-w")):
        with booted(board, path, drive, *more) as guest:
            typed(guest, "diskd &", r"\[\d+\]")
            typed(guest, f"tracelogger {options} -v -n 3 -f block:{capture}.kev &",
                  f"recording to block:{capture}")
            typed(guest, "evstorm 4 3000", rf"in block:{capture}")
    expect(sha256(path, LOG_AT) == before, "something before the partition has changed")
    found = captures_of(path)
    expect(found == [("whole", "first"), ("whole", "second")], str(found))


def bios_records_on_the_disk_that_it_starts_from(board):
    records_in_its_partition(board, "virtio", VIRTIO)


def bios_records_on_a_sata_disk(board):
    records_in_its_partition(board, "sata", AHCI)


def uefi_records_on_the_disk_that_it_starts_from(board):
    records_in_its_partition(board, "uefi-virtio", VIRTIO, *uefi(folder_of(board)))


def a_disk_without_the_partition_is_left_alone(board):
    path = medium(board, "others")
    subprocess.run(["sfdisk", "-q", "--part-type", path, "2", "83"], check=True)
    before = sha256(path, -1)
    with booted(board, path, VIRTIO) as guest:
        typed(guest, "diskd", r"diskd: .*: it has partitions, but none of type da")
        typed(guest, "tracelogger --format -f block:x.kev", "diskd is not running")
    expect(sha256(path, -1) == before, "the disk has changed")


def all_memory_is_found(board):
    """As much more as the machine has; without the map it would be what board.mk says."""
    path, free = medium(board, "memory"), []
    for megabytes in 256, 640:
        with booted(board, path, AHCI, "-m", f"{megabytes}M") as guest:
            free.append(memory_free(guest))
    expect(abs(free[1] - free[0] - 384 * 1024) <= 2048, str(free))


def what_is_missing_is_named(board):
    path = os.path.join(folder_of(board), "none.img")
    for environment, said in (({"GRUB_DIR": "/none"}, "no GRUB in /none/i386-pc: "),
                              ({"GRUB_FONT": "/none.pf2"}, "no font /none.pf2: "),
                              ({"GRUB_FONT": "/bin/sh"}, "/bin/sh: it is no font of GRUB's")):
        made = mkimage(board, path, **environment)
        expect(made.returncode == 1 and said in made.stderr, made.stderr)
    left = [name for name in os.listdir(folder_of(board)) if name.startswith("none.img")]
    expect(not left, f"it leaves {left}")


TESTS = (bios_starts_it_from_a_disk, uefi_starts_it_from_a_disk,
         bios_starts_it_from_a_stick_without_a_screen,
         bios_records_on_the_disk_that_it_starts_from, bios_records_on_a_sata_disk,
         uefi_records_on_the_disk_that_it_starts_from,
         a_disk_without_the_partition_is_left_alone, all_memory_is_found,
         what_is_missing_is_named)

if __name__ == "__main__":
    sys.exit(run_tests(TESTS, sys.argv[2:], lambda test: test(sys.argv[1])))
