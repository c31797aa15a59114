# SPDX-License-Identifier: BSD-2-Clause
"""A board under the emulator's control: stopped when it resets, its memory dumped, let go on."""
import json
import os
import re
import select
import shutil
import subprocess
import time

import captures
import cpus
import guest

ROOT = guest.ROOT
WINDOWS = {"mps2-an386": (0x20200000, 0x200000), "virt-a64": (0x40200000, 0x800000),
           "pc": (0x200000, 0x800000), "raspi3": (0x800000, 0x800000),
           "stm32f4": (0x2000e200, 0x5e00)}


class Host:
    """At the socket `link` of an emulator's folder: takes the captures that one boot sends, into
    `captures`."""

    def __init__(self, qemu, folder):
        self.captures = os.path.join(folder, "collected/guest")
        shutil.rmtree(os.path.dirname(self.captures), ignore_errors=True)
        with open(os.path.join(folder, "link.txt"), "ab") as said:
            self.kymo = subprocess.Popen([os.path.join(ROOT, "build/kymo"), "collect", "collected",
                                          f"guest=unix:/proc/{qemu.pid}/cwd/link"], cwd=folder,
                                         stdin=subprocess.DEVNULL, stdout=said,
                                         stderr=subprocess.STDOUT)

    def end(self):
        self.kymo.terminate()
        self.kymo.wait()


class Machine:
    """QEMU with an image; a reset of the guest's pauses it, so that the memory can be looked at."""

    def __init__(self, board, image, folder, extra=(), multi=False, deadline=60):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.board, self.dir = board, folder
        self.quiet, self.deadline = deadline, guest.patience.seconds(deadline)
        self.window, self.window_bytes = WINDOWS[board]
        build = os.path.join(ROOT, "build", board)
        with open(os.path.join(build, "qemu.args")) as f:
            command = f.read().splitlines()
        self.captures = captures.Captures(board, folder)
        if multi:
            command += ["-accel", "tcg,thread=multi"]
        else:  # a disk is the host's: virtual time must wait for it
            command += ["-icount", f"shift=2,sleep={'on' if self.captures.image else 'off'}"]
        command += self.captures.arguments()
        command += ["-qmp", "unix:qmp,server=on,wait=off", "-action",
                    "reboot=shutdown,shutdown=pause", *extra,
                    "-kernel", guest.image_elf(build, image)]
        self.console = open(os.path.join(folder, "console.txt"), "wb")
        self.cpus = cpus.given(command)
        self.qemu = guest.emulator.begin(command, cwd=folder, stdin=subprocess.DEVNULL,
                                         stdout=self.console, stderr=subprocess.STDOUT)
        self.events = []
        try:
            self.connect()
        except OSError:
            self.close()
            raise

    def connect(self):
        self.qmp = guest.connect(f"/proc/{self.qemu.pid}/cwd/qmp",
                                 lambda: self.qemu.poll() is None, self.deadline)
        self.buffer = b""
        self.line()
        self.ask("qmp_capabilities")

    def line(self):
        until = time.monotonic() + self.deadline
        while b"\n" not in self.buffer:
            if not select.select([self.qmp], [], [], 1)[0]:
                self.all_cpus_started()
                if time.monotonic() < until:
                    continue
                raise AssertionError(f"nothing from the emulator in {self.deadline:.0f} s")
            got = self.qmp.recv(65536)
            if not got:
                raise AssertionError("the emulator has ended")
            self.buffer += got
        line, _, self.buffer = self.buffer.partition(b"\n")
        return json.loads(line)

    def all_cpus_started(self):
        why = cpus.missing(self.printed(), self.cpus)
        if why:
            raise AssertionError(why)

    def ask(self, command, **arguments):
        self.qmp.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while True:
            answer = self.line()
            if "event" in answer:
                self.events.append(answer["event"])
            elif "error" in answer:
                raise AssertionError(f"{command}: {answer['error']}")
            else:
                return answer["return"]

    def wait_paused(self):
        """Until the guest has asked for a reset (or power off). A debugger stops it, too."""
        while not ("SHUTDOWN" in self.events and
                   "STOP" in self.events[self.events.index("SHUTDOWN"):]):
            answer = self.line()
            if "event" in answer:
                self.events.append(answer["event"])
        self.events = []

    def save(self, address, size, name):
        path = os.path.join(self.dir, name)
        self.ask("pmemsave", val=address, size=size, filename=path)
        return path

    def core(self, name):
        """The retained memory as an ELF core."""
        path = os.path.join(self.dir, name)
        self.ask("dump-guest-memory", paging=False, protocol="file:" + path, begin=self.window,
                 length=self.window_bytes)
        return path

    def reset(self):
        """It begins anew, as it would have without us."""
        self.events = []
        self.ask("set-action", reboot="reset")
        self.ask("system_reset")
        if self.board == "pc":  # its firmware, which finds itself running, resets once more
            self.ask("cont")
            while self.events.count("RESET") < 2:
                answer = self.line()
                self.events += [answer["event"]] if "event" in answer else []
        self.ask("set-action", reboot="shutdown")
        if self.board != "pc":
            self.ask("cont")
        self.events = []

    def printed(self):
        with open(self.console.name, errors="replace", newline="") as f:
            return f.read().replace("\r\n", "\n")

    def wait_for(self, pattern, after=0):
        began = time.monotonic()
        while True:
            found = re.compile(pattern).search(self.printed(), after)
            if found:
                return found
            self.all_cpus_started()
            if guest.patience.is_over(began, self.quiet):
                raise AssertionError(f"never printed: {pattern}")
            time.sleep(0.01)

    def close(self):
        self.qemu.kill()
        self.qemu.wait()
        self.console.close()
