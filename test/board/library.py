# SPDX-License-Identifier: BSD-2-Clause
"""What is asked of programs that record by themselves (sys/tracelog.h): the cases of t_tracelog in
test/board/images/modes.start, each capture in NAME.kev."""
import os
import re
import subprocess

import kev
import logger
import merged
import modes

ACCOUNT = re.compile(r"library (\S+): made (\d+) lost (\d+) recycled (\d+) unwritten (\d+)$", re.M)
EVENTS = list(range(9000))
# Which of them are there, in order; None: it depends.
ALL = ("library", "library-stopped")
WHOLE = (*ALL, "library-ring", "library-starved", "library-none", "library-itself",
         "library-waits")
CUT = ("library-part", "library-full")
OTHER_READERS_AGREE = merged.other_readers_agree_but_of(*CUT, "library-killed")


def accounts(boot):
    return {found[0]: tuple(map(int, found[1:])) for found in ACCOUNT.findall(boot.console)}


def a_programs_own_captures_are_exact(boot):
    """made = in the file + lost + recycled + unwritten; of a whole one, lost = DROPPED."""
    said, wrong = accounts(boot), []
    for name in (*WHOLE, *CUT):
        if name not in said:
            wrong.append(f"{name}: no account")
            continue
        made, lost, recycled, unwritten = said[name]
        capture = modes.Events(boot, name)
        dropped = sum(capture.dropped.values())
        if made != len(capture.events) + lost + recycled + unwritten:
            wrong.append(f"{name}: made {made}, but {len(capture.events)} + {lost} + {recycled} + "
                         f"{unwritten}")
        if (name in WHOLE and dropped != lost) or (unwritten == 0) == (name in CUT):
            wrong.append(f"{name}: lost {lost}, {dropped} counted, {unwritten} unwritten")
    return "; ".join(wrong) or None


def a_programs_own_captures_have_their_events(boot):
    said, wrong = accounts(boot), []
    for name in ALL:
        if modes.Events(boot, name).user(0) != EVENTS or modes.Events(boot, name).user(1):
            wrong.append(f"{name}: not all, or others")
    ring = modes.Events(boot, "library-ring").user(0)
    if not ring or ring != EVENTS[-len(ring):] or not 0 < said["library-ring"][2]:
        wrong.append(f"ring: {len(ring)} events, {said['library-ring']}")
    if said["library-starved"][1] == 0:
        wrong.append("nothing was lost")
    names = kev.CLASSES["PR_TH"]
    for name in ("library", "library-ring", "library-waits"):
        if names not in modes.Events(boot, name).classes():
            wrong.append(f"{name}: no names of processes")
    if names in modes.Events(boot, "library-starved").classes():
        wrong.append("starved: a state that wasn't asked for")
    return "; ".join(wrong) or None


def kymo_reads_a_programs_own_captures(boot):
    wrong = []
    for name in (*WHOLE, *CUT):
        path = os.path.join(boot.dir, name + ".kev")
        done = subprocess.run([logger.KYMO, "print", path], capture_output=True, text=True)
        ring = " -r" if name == "library-ring" else ""
        if f"TRACE_TRACELOGGER_ARGS:: t_tracelog{ring} (sys/tracelog.h)" not in done.stdout:
            wrong.append(f"{name}: header")
        if "TRACE_FILTER_1:: set by applications\n" not in done.stdout:
            wrong.append(f"{name}: filters")
        cut = name in CUT  # what its writer refused, the end mark too, is not in the file
        if done.returncode != cut or cut != ("cut short" in done.stderr):
            wrong.append(f"{name}: {done.returncode} {done.stderr}")
    return "; ".join(wrong) or None


def there_is_one_recorder(boot):
    text = logger.cases(boot)["library-waits"]
    if not re.search(r"^tracelogger: t_tracelog \(process \d+\) is recording already: `tracestop` "
                     "ends it$", text, re.M):
        return f"tracelogger beside a program: {text[:300]}"
    if "library-waits: ok" not in text or "tracestop:" in text:
        return f"tracestop doesn't end it: {text[:300]}"
    return None


CHECKS = [a_programs_own_captures_are_exact, a_programs_own_captures_have_their_events,
          kymo_reads_a_programs_own_captures, there_is_one_recorder]
