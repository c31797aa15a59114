# SPDX-License-Identifier: BSD-2-Clause
"""Whether a board has all CPUs that its emulator was given. A boot without one has failed, and says
so at once: what its programs do on fewer CPUs is not what was to be tested."""
import re

LEFT_OUT = re.compile(r"CPU \d+ does not start.*")
BANNER = re.compile(r"kymo on \S+, (\d+) CPU\(s\)")


def given(command):
    """The CPUs of an emulator's command line."""
    at = [i for i, word in enumerate(command) if word == "-smp"]
    return int(command[at[-1] + 1].split(",")[0]) if at else 1


def booted(console):
    """Whether the kernel has said how many CPUs it has."""
    return BANNER.search(console) is not None


def missing(console, cpus):
    """The reason why a board with so many CPUs has fewer by what it printed, or None."""
    left_out, banner = LEFT_OUT.search(console), BANNER.search(console)
    if left_out:
        return left_out.group().strip()
    if banner and int(banner[1]) < cpus:
        return f"{banner.group()}, of {cpus} that the emulator has"
    return None
