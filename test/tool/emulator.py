# SPDX-License-Identifier: BSD-2-Clause
"""Imported by the tests in Python that talk to a board: how its CPUs run.

A board's time is counted in its instructions, 16 ns each, and while it idles it is the host's. So
what a board can do in a second of its own is the same on a slow or busy host, and the emulator
keeps one of the host's CPUs busy at most. KYMO_THREADS=1 gives each CPU of the board a thread, and
the host's time: `make soak` does that, on a host that has nothing else to do.

QEMU 7.2 has a fault here: when all CPUs idle, its main loop may miss that it has to wait for the
board's next timer, and then waits for the outside only; the board's time stands still, once in some
hundred idle seconds on a busy host. So begin() has a signal wake the main loop each second."""
import os
import signal
import subprocess


def cpu_arguments():
    if os.environ.get("KYMO_THREADS"):
        return []
    return ["-icount", "shift=4,sleep=on"]


def _woken():
    """Both outlive exec(): the timer, and that its signal is blocked. QEMU takes what is blocked
    from a descriptor of its main loop, and nobody handles this signal."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, 1, 1)


def begin(command, **how):
    """A board's emulator at work, as subprocess.Popen() begins it."""
    return subprocess.Popen(command, preexec_fn=_woken, **how)
