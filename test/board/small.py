# SPDX-License-Identifier: BSD-2-Clause
"""Captures of a kernel whose buffers have 64 slots: what each of kymo's commands makes of one."""
import json
import os
import re
import subprocess

import kev

KYMO = os.path.join(kev.ROOT, "build/kymo")
SLOTS = 64


def run(*command):
    done = subprocess.run([KYMO, *command], capture_output=True, text=True, errors="replace")
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"kymo {command[0]}: {done.returncode}: {done.stderr.strip()[:200]}")
    return done.stdout


def sizes(path):
    """The slots of each buffer."""
    return [int(n) for n in re.findall(r"CONTROL ?: ?BUFFER\b.*num_events = (\d+)",
                                       run("print", "-n", path))]


def stat(path):
    return json.loads(run("stat", "--json", path))


def user_events(path):
    return re.findall(r"(?m)^.*\bUSREVENT:.*$", run("print", "-n", path))


def each_command_reads_them(boot):
    """print and stat have the same buffers, none larger than the kernel's; cut makes as small ones,
    with all of the selected events."""
    cut = os.path.join(boot.dir, "cut.kev.part")  # other_readers_agree takes *.kev
    made = sizes(boot.trace)
    if max(made) > SLOTS or sum(n > SLOTS // 2 for n in made) < 2:
        return f"buffers of {made} slots"
    if stat(boot.trace)["buffers"] != len(made):
        return f"kymo stat has {stat(boot.trace)['buffers']} buffers, kymo print {len(made)}"
    run("cut", "--force", "--class", "user", boot.trace, "-o", cut)
    if max(sizes(cut)) > SLOTS:
        return f"kymo cut makes buffers of {sizes(cut)} slots"
    if stat(cut)["classes"]["USER"] != stat(boot.trace)["classes"]["USER"]:
        return "kymo cut lacks events"
    return None if user_events(cut) == user_events(boot.trace) != [] else "cut and whole differ"
