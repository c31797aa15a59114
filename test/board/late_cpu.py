#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A CPU that begins late is waited for: on a busy host the emulator's thread may not run for a
while. late_cpu.py BOARD

The thread of CPU 1 is stopped (ptrace) before the board begins, and goes on some time later. The
CPUs are real threads. The last line is `N passed, N failed`.
"""
import contextlib
import ctypes
import json
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ["KYMO_THREADS"] = "1"
from guest import ROOT, Guest, connect, expect, run_tests  # noqa: E402

ATTACH, DETACH = 16, 17  # of ptrace()
LATE = 1.5  # seconds: a kernel that counts its looks gives up before, on any host
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
        print(f"all cpus are there: skipped: {e}")
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

    def ask(self, command):
        self.qmp.write(json.dumps({"execute": command}) + "\n")
        self.qmp.flush()
        answer = {"event": ""}
        while "event" in answer:
            answer = json.loads(self.qmp.readline())
        return answer["return"]


class Late(Guest):
    """The board begins when CPU 1's thread stands still."""

    def wait_for(self, condition, what, seconds=60):
        if what != "the board boots":
            super().wait_for(condition, what, seconds)
            return
        monitor = Monitor(f"/proc/{self.qemu.pid}/cwd/qmp")
        threads = {cpu["cpu-index"]: cpu["thread-id"] for cpu in monitor.ask("query-cpus-fast")}
        with stopped(threads[1]):
            monitor.qmp.write('{"execute": "cont"}\n')
            monitor.qmp.flush()
            time.sleep(LATE)
        super().wait_for(condition, what, seconds)


def all_cpus_are_there(board):
    folder = os.path.join(ROOT, "build/check/late", board)
    guest = Late(board, "shell", ["-S", "-qmp", "unix:qmp,server=on,wait=off"], folder)
    try:
        said = guest.printed()
        expect(f"kymo on {board}, 4 CPU(s)" in said and "does not start" not in said, said)
    finally:
        guest.close()


if __name__ == "__main__":
    if not may_trace():
        print("0 passed, 0 failed, 1 skipped")
        sys.exit(0)
    sys.exit(run_tests([all_cpus_are_there], sys.argv[2:], lambda test: test(sys.argv[1])))
