#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A PC other than QEMU's: Bochs starts the image of a disk. bochs.py [--soak] BOARD [TEST...]

Bochs 2.7 has what QEMU 7.2 lacks: PCID, x2APIC, an invariant time-stamp counter, the TSC deadline;
and CPUs without them, which is why it has several models. Its BIOS is its own, and its chip set is
older than q35. Time is counted in instructions, so every run is the same. Without a screen: Bochs'
text window can't show pixels; what it shows is thrown away.

A machine ends where the kernel calls arch_shutdown(), which Bochs' debugger finds; the status and
each CPU's registers are in its log. --soak: long boots, by hand. Bochs has been seen to pass that
breakpoint by after one of them, whose CPUs then stood still: that one fails, after its time is up.
The last line is `N passed, N failed`.
"""
import contextlib
import dataclasses
import os
import pty
import re
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import ROOT, expect, image_elf, patience, run_tests  # noqa: E402

BIOS = "/usr/share/bochs/BIOS-bochs-latest"
VGA_BIOS = "/usr/share/vgabios/vgabios.bin"
GRUB = "/usr/lib/grub/i386-pc"
FAT_AT = 2048 * 512  # boards/pc/mkimage
TEST_LINE = re.compile(r"\bTEST ([^:]+): (ok|FAIL)\b ?(.*)$", re.M)
SECONDS = 300  # of a quiet machine, in which each of these ends: a hang detector
# Instructions in a second of the machine's time: few where it mostly waits, for BIOS and GRUB. At
# some speeds, the same ones each time, Bochs' debugger misses the breakpoint of the shutdown, in a
# machine that has said all and halted. Then the machine is started at the next speed; what it says
# is looked at as always.
SPEEDS, SOAK_SPEEDS = (4000000, 20000000, 6000000), (20000000, 4000000, 6000000)
MISSED = 15  # seconds after the last word
CR4_SMEP, CR4_SMAP, CR4_PCIDE = 1 << 20, 1 << 21, 1 << 17
os.environ["PATH"] += ":/usr/sbin:/sbin"

SETTINGS = """\
display_library: term
config_interface: textconfig
memory: guest=256, host=256
romimage: file={bios}
vgaromimage: file={vga_bios}
vga: extension=none, update_freq=1
cpu: model={model}, count={cpus}, ips={ips}, reset_on_triple_fault=0
clock: sync=none, time0=1767323045
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path=disk.img, mode=flat
boot: disk
com1: enabled=1, mode=file, dev=console.txt
sound: waveoutdrv=dummy
log: log.txt
panic: action=fatal
error: action=report
info: action=report
"""
# GRUB, before it loads the kernel: firmware that leaves an x2APIC.
X2APIC_ON = "insmod wrmsr\nwrmsr 0x1b 0xfee00d00\n"


def symbol(elf, name):
    for line in subprocess.run(["nm", elf], check=True, capture_output=True,
                               text=True).stdout.splitlines():
        if line.endswith(" " + name):
            return int(line.split()[0], 16)
    raise AssertionError(f"no {name} in {elf}")


def image_make(board, elf, folder, grub):
    """The disk's image in the folder; grub: what GRUB does first."""
    path = os.path.join(folder, "disk.img")
    subprocess.run([os.path.join(ROOT, "boards", board, "mkimage"), elf, path], check=True)
    if grub:
        with open(os.path.join(ROOT, "boards", board, "grub.cfg")) as f:
            script = grub + f.read()
        with open(os.path.join(folder, "grub.cfg"), "w") as f:
            f.write(script)
        fat = f"{path}@@{FAT_AT}"
        for command in (["mmd", "-i", fat, "::kymo/i386-pc"],
                        ["mcopy", "-i", fat, f"{GRUB}/wrmsr.mod", "::kymo/i386-pc"],
                        ["mcopy", "-o", "-i", fat, f"{folder}/grub.cfg", "::kymo/grub.cfg"]):
            subprocess.run(command, check=True)


def drain(terminal):
    """Reads until the other end is closed, which Linux reports as an error."""
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass


class Machine:
    """Bochs from its start until the kernel shuts it down."""

    def __init__(self, board, folder, image, model, cpus, grub, speeds):
        self.folder, self.said_all = folder, image == "hello"
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        elf = image_elf(os.path.join(ROOT, "build", board), image)
        image_make(board, elf, folder, grub)
        self.end = symbol(elf, "arch_shutdown")
        with open(os.path.join(folder, "commands"), "w") as f:
            f.write(f"lb {self.end:#x}\nc\nq\n")
        settings = {"bios": BIOS, "vga_bios": VGA_BIOS, "model": model, "cpus": cpus}
        expect(any(self.run(SETTINGS.format(**settings, ips=ips)) for ips in speeds),
               f"Bochs stops at the shutdown at none of the speeds {speeds}")
        self.console = self.printed()
        with open(os.path.join(folder, "log.txt"), errors="replace") as f:
            self.log = f.read()
        os.unlink(os.path.join(folder, "disk.img"))

    def run(self, settings):
        """Starts it. Returns False if it has to be started again."""
        with open(os.path.join(self.folder, "settings"), "w") as f:
            f.write(settings)
        for left in "disk.img.lock", "console.txt":  # of a start that was ended
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.folder, left))
        ours, theirs = pty.openpty()
        with open(os.path.join(self.folder, "errors"), "wb") as errors:
            bochs = subprocess.Popen(
                ["bochs-bin", "-q", "-f", "settings", "-rc", "commands"], cwd=self.folder,
                stdin=theirs, stdout=theirs, stderr=errors, env=dict(os.environ, TERM="xterm"))
        os.close(theirs)
        reader = threading.Thread(target=drain, args=(ours,))
        reader.start()
        try:
            return self.wait(bochs)
        finally:
            bochs.kill()
            bochs.wait()
            reader.join()
            os.close(ours)

    def printed(self):
        path = os.path.join(self.folder, "console.txt")
        if not os.path.exists(path):
            return ""
        with open(path, errors="replace", newline="") as f:
            return f.read().replace("\r\n", "\n")

    def wait(self, bochs):
        """Returns False if its debugger has missed the end."""
        begun, whole = time.monotonic(), None
        while bochs.poll() is None:
            expect(not patience.is_over(begun, SECONDS),
                   f"it does not end; it says {self.printed()[-300:]!r}")
            if self.said_all and whole is None and self.printed().endswith(LAST_WORDS):
                whole = time.monotonic()
            if whole is not None and patience.is_over(whole, MISSED):
                return False
            time.sleep(0.1)
        return True

    def registers(self, cpu):
        """Of a CPU, at the end."""
        lines = re.findall(rf"\[CPU{cpu} *\] \| (.*)", self.log)
        return {name: int(value, 16) for line in lines
                for name, value in re.findall(r"(R\w\w|CR\d)=(?:0x)?([0-9a-f]+)", line)}

    def status(self, cpus):
        for cpu in range(cpus):
            registers = self.registers(cpu)
            if registers.get("RIP") == self.end:
                return registers["RDI"] & 0xffffffff
        raise AssertionError(f"it has not shut down; it says {self.console[-300:]!r}")

    def expect_control(self, cpus, bits, wanted):
        """Of these bits of each CPU's CR4 just those that are wanted."""
        for cpu in range(cpus):
            has = self.registers(cpu)["CR4"]
            expect(has & bits == wanted, f"CPU {cpu} has CR4 {has:#x}")


# ---- what is booted ------------------------------------------------------------------------------

@dataclasses.dataclass
class Boot:
    name: str
    image: str
    model: str
    cpus: int
    grub: str = ""
    tests: int = 0  # at least so many TEST lines
    soak: bool = False


HASWELL, PENRYN, SKYLAKE = "corei7_haswell_4770", "core2_penryn_t9600", "corei7_skylake_x"
CONTROL = {HASWELL: CR4_SMEP | CR4_PCIDE, PENRYN: 0, SKYLAKE: CR4_SMEP | CR4_SMAP | CR4_PCIDE}
LAST_WORDS = "  argument 2: two words\n"  # of hello
HELLO = r"""(?:kymo on pc: [^\n]*\n)?kymo on pc, {cpus} CPU\(s\), 23\d{{4}} KB free
hello from hello
  argument 1: one
  argument 2: two words
"""
BOOTS = [
    Boot("a new CPU, four of them", "hello", HASWELL, 4),
    Boot("an old CPU, four of them", "hello", PENRYN, 4),
    Boot("an x2APIC that the firmware has left on", "hello", HASWELL, 4, grub=X2APIC_ON),
]
BOOTS += [Boot(f"{image} on {cpus} of {model}{' with x2APIC' if grub else ''}", image, model, cpus,
               grub, tests, soak=True)
          for image, tests, machines in (
              ("test", 165, ((HASWELL, 4, ""), (PENRYN, 1, ""), (SKYLAKE, 4, X2APIC_ON))),
              ("torture-few", 1, ((HASWELL, 4, ""), (SKYLAKE, 4, X2APIC_ON))),
              ("kill", 1, ((HASWELL, 4, ""), (SKYLAKE, 4, X2APIC_ON))),
              ("map", 1, ((HASWELL, 4, ""), (SKYLAKE, 4, X2APIC_ON))))
          for model, cpus, grub in machines]


def boot_check(board, boot):
    folder = os.path.join(ROOT, "build/check/bochs", f"{board}.{boot.name.replace(' ', '-')}")
    machine = Machine(board, folder, boot.image, boot.model, boot.cpus, boot.grub,
                      SOAK_SPEEDS if boot.soak or boot.grub else SPEEDS)
    status = machine.status(boot.cpus)
    expect(status == 0, f"status {status}: {machine.console[-300:]!r}")
    results = TEST_LINE.findall(machine.console)
    bad = [result for result in results if result[1] != "ok"]
    expect(not bad and len(results) >= boot.tests, f"{len(results)} tests, {bad}")
    varies = "the time-stamp counter is not invariant" in machine.console
    expect(varies == (boot.model == PENRYN), "what it says of the time-stamp counter is wrong")
    if boot.image == "hello":
        expect(re.search(HELLO.format(cpus=boot.cpus) + r"\Z", machine.console),
               f"the console says {machine.console!r}")
    machine.expect_control(boot.cpus, CR4_SMEP | CR4_SMAP | CR4_PCIDE, CONTROL[boot.model])
    x2 = set(re.findall(r"\[CPU(\d+) *\] WRMSR: wrote 00000000:fee00[cd]00", machine.log))
    expect(len(x2) == (boot.cpus if boot.grub else 0), f"an x2APIC of CPUs {x2}")


def main():
    words = sys.argv[1:]
    soak = words[:1] == ["--soak"]
    board, *wanted = words[soak:]

    def test_of(boot):
        def test():
            boot_check(board, boot)
        test.__name__ = boot.name
        return test
    tests = [test_of(boot) for boot in BOOTS if boot.soak == soak or boot.name in wanted]
    return run_tests(tests, wanted, lambda test: test())


if __name__ == "__main__":
    sys.exit(main())
