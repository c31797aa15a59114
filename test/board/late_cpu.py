#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A CPU that begins late is waited for: on a busy host the emulator's thread may not run for a
while. late_cpu.py BOARD

The thread of CPU 1 is stopped (ptrace), before the board begins or when the kernel does, and goes
on some time later: soon enough, or so late that its CPU is left out, for good. The CPUs are real
threads. The last line is `N passed, N failed`.
"""
import contextlib
import ctypes
import dataclasses
import json
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ["KYMO_THREADS"] = "1"
import gdb  # noqa: E402
import run  # noqa: E402
import suites  # noqa: E402
from guest import ROOT, Guest, connect, expect, image_elf, run_tests  # noqa: E402

ATTACH, DETACH = 16, 17  # of ptrace()
LATE = 1.5  # seconds: a kernel that counts its looks gives up before, on any host
TOO_LATE = 8  # kernel/arch/cpu.h promises 5
TOOLS = {"pc": "", "virt-a64": "aarch64-linux-gnu-", "raspi3": "aarch64-linux-gnu-"}
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, thread):
    expect(LIBC.ptrace(request, thread, None, None) == 0,
           f"ptrace: {os.strerror(ctypes.get_errno())}")


def may_trace():
    """Some containers allow no ptrace()."""
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    try:
        with stopped(child):
            return True
    except AssertionError as e:
        print(f"skipped: {e}")
        return False
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


@contextlib.contextmanager
def stopped(thread):
    ptrace(ATTACH, thread)
    os.waitpid(thread, 0x40000000)  # __WALL: it stands
    try:
        yield
    finally:
        ptrace(DETACH, thread)


class Monitor:
    def __init__(self, path):
        self.socket = connect(path)
        self.qmp = self.socket.makefile("rw")
        self.qmp.readline()
        self.ask("qmp_capabilities")

    def ask(self, command, arguments=()):
        self.qmp.write(json.dumps({"execute": command, "arguments": dict(arguments)}) + "\n")
        self.qmp.flush()
        answer = {"event": ""}
        while "event" in answer:
            answer = json.loads(self.qmp.readline())
        return answer["return"]


class Late(Guest):
    """CPU 1's thread stands still from when the board begins, or kernel_main() does (`kernel`)."""

    def __init__(self, board, kernel, late, cpus_left_out=True):
        self.kernel, self.late, self.cpus_left_out = kernel, late, cpus_left_out
        super().__init__(board, "shell",
                         ["-S", "-qmp", "unix:qmp,server=on,wait=off", *gdb.STUB],
                         os.path.join(ROOT, "build/check/late", board))

    def symbol(self, name):
        elf = image_elf(os.path.join(ROOT, "build", self.board), "shell")
        lines = subprocess.run([TOOLS[self.board] + "nm", elf], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        return next(int(line.split()[0], 16) for line in lines if line.split()[-1] == name)

    def run_to_kernel(self):
        stub = gdb.Stub(self)
        expect(stub.run_to([self.symbol("kernel_main")], 1 if self.board == "pc" else 4, gdb.SLOW),
               "kernel_main() is not reached")
        return stub

    def wait_for(self, condition, what, seconds=60):
        if what != "the board boots":
            super().wait_for(condition, what, seconds)
            return
        self.monitor = monitor = Monitor(f"/proc/{self.qemu.pid}/cwd/qmp")
        threads = {cpu["cpu-index"]: cpu["thread-id"] for cpu in monitor.ask("query-cpus-fast")}
        stub = self.run_to_kernel() if self.kernel else None
        with stopped(threads[1]):
            if stub:
                stub.ask("D")
            else:
                monitor.qmp.write('{"execute": "cont"}\n')
                monitor.qmp.flush()
            time.sleep(self.late)
        super().wait_for(condition, what, seconds)


def all_cpus_are_there(board, kernel):
    guest = Late(board, kernel, LATE)
    try:
        said = guest.printed()
        expect(f"kymo on {board}, 4 CPU(s)" in said and "does not start" not in said, said)
    finally:
        guest.close()


def a_late_machine_has_all_cpus(board):
    all_cpus_are_there(board, False)


def a_late_start_has_all_cpus(board):
    all_cpus_are_there(board, True)


def a_cpu_left_out_stays_out(board):
    """It takes no part when it comes; the others do, whatever their numbers."""
    guest = Late(board, True, TOO_LATE)
    try:
        said = guest.printed()
        expect("CPU 1 does not start" in said and f"kymo on {board}, 3 CPU(s)" in said, said)
        guest.type("pidin\n")
        guest.wait_for(lambda: re.search(r"Blocked(.|\n)* pidin ", guest.printed()),
                       "a program runs")
        shown = guest.monitor.ask("human-monitor-command",
                                  {"command-line": f"x /1wx {guest.symbol('cpus_online'):#x}"})
        expect(int(shown.split()[-1], 16) == 0b1101, f"CPUs that take part: {shown}")
    finally:
        guest.close()


def a_boot_without_a_cpu_fails_at_once(board):
    """run.py's, of an image that never ends, and a board that is typed at. In the first the device
    tree names a CPU that isn't there (dead_cpu.py)."""
    began = time.monotonic()
    try:
        Late(board, True, TOO_LATE, False).close()
        expect(False, "a board that is typed at may lack a CPU")
    except AssertionError as e:
        expect(str(e).startswith("CPU 1 does not start"), e)
    if board == "virt-a64":
        suite = next(s for s in suites.SUITES if s.name == "dead-cpu")
        run.Boot.top = os.path.join(ROOT, "build/check/late/boot")
        boot = run.Boot(board, dataclasses.replace(suite, name="shell", image="shell",
                                                  cpus_left_out=False))
        results = run.judge(boot.run())
        expect(len(results) == 1 and results[0][1].startswith("CPU 1 does not start"), results)
    expect(time.monotonic() - began < suites.Suite.timeout, "it takes as long as a hang")


if __name__ == "__main__":
    if not may_trace():
        print("0 passed, 0 failed, 1 skipped")
        sys.exit(0)
    sys.exit(run_tests([a_late_machine_has_all_cpus, a_late_start_has_all_cpus,
                        a_cpu_left_out_stays_out, a_boot_without_a_cpu_fails_at_once],
                       sys.argv[2:], lambda test: test(sys.argv[1])))
