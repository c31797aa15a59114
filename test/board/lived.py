# SPDX-License-Identifier: BSD-2-Clause
"""Who lived, of a capture that was saved from retained memory: everybody in it has a name, however
long ago it was born, and the events that say so are in no count of those that were made."""
import collections
import json
import os
import subprocess

import kev

KYMO = os.path.join(kev.ROOT, "build/kymo")
INJECTED, CONTROL = 1 << 16, kev.CLASSES["CONTROL"]


def counted(path):
    """(events made by class's number, injected ones), by the slots."""
    made, injected = collections.Counter(), 0
    for header, _, _, _ in kev.raw_slots(path):
        if header >> 30 < 2:
            injected += bool(header & INJECTED)
            made[header >> 10 & 0x1f] += not header & INJECTED
    del made[CONTROL]
    return made, injected


def check(path, processes, threads=()):
    """These are among those that did something; returns how many events were injected."""
    done = subprocess.run([KYMO, "stat", "--json", path], capture_output=True, text=True,
                          errors="replace")
    stat = json.loads(done.stdout)
    made, injected = counted(path)
    if (stat["events"], stat["injected"]) != (sum(made.values()), injected):
        raise AssertionError(f"{sum(made.values())} events and {injected} injected ones are "
                             f"{stat['events']} and {stat['injected']} to kymo stat")
    bare = [f"{t['pid']}:{t['tid']}" for t in stat["threads"] if t["process"] in ("", "?")]
    if bare:
        raise AssertionError(f"without a name: {', '.join(bare)}")
    for key, wanted in ("process", processes), ("name", threads):
        missing = set(wanted) - {t[key] for t in stat["threads"]}
        if missing:
            raise AssertionError(f"not there by name: {', '.join(sorted(missing))}")
    return injected
