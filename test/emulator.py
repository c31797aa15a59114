# SPDX-License-Identifier: BSD-2-Clause
"""Imported by the tests in Python that talk to a board: how its CPUs run.

A board's time is counted in its instructions, 16 ns each, and while it idles it is the host's. So
what a board can do in a second of its own is the same on a slow or busy host, and the emulator
keeps one of the host's CPUs busy at most. KYMO_THREADS=1 gives each CPU of the board a thread, and
the host's time: `make soak` does that, on a host that has nothing else to do."""
import os


def cpu_arguments():
    if os.environ.get("KYMO_THREADS"):
        return []
    return ["-icount", "shift=4,sleep=on"]
