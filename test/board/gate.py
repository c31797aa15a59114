# SPDX-License-Identifier: BSD-2-Clause
"""What is asked of tracelogger -x: test/board/images/gate.start runs the cases, each after a line
`hello NAME`. shell.d says what its captures may hold."""
import os
import re

import kev
import logger

CONTROL, KER_CALL, PR_TH, USER, COMM = (kev.CLASSES[name] for name in
                                        ("CONTROL", "KER_CALL", "PR_TH", "USER", "COMM"))
MSG_SENDV = kev.call_rows()["MSG_SENDV"]
RUNNING, READY, SND_MESSAGE = 1, 2, 0
PROCCREATE_NAME, PROCTHREAD_NAME = NAMES = 192, 320
USERS = 100  # evstorm's
TRIGGER, STORM = 400, 2000

REFUSED = {
    "text": ("the boot image has no file sdt:::thread_running /pid == 1/", "kymo dtrace --compile"),
    "nowhere": ("the boot image has no file nowhere.dif", "make image IMAGE_D="),
    "acts": ("acts.dif: clause 2: a clause with actions other than logstop()", "log=1"),
    "ticks": ("ticks.dif: clause 1: a clause on probes that are neither sdt's nor syscall's",
              "sdt's probes are those of the events"),
    "writes": ("writes.dif: clause 1: a predicate that writes to a process's memory",
               "leave out copyout()"),
    "absent": ("absent.dif is refused: No probe matches description", "kymo dtrace -l -t TARGET"),
    "start": ("start is refused: no program of this version", "compile it again for this kernel"),
    "foreign": (re.compile(r"foreign\.dif is refused: compiled for the kernel "
                           r"6e6f626f6479[0-9a-f]{28}, this one is [0-9a-f]{40}"),
                "compile it again for this kernel: make image IMAGE_D="),
    "vast": ("vast.dif is refused: Not enough space", "#pragma D option dynvarsize"),
}


def refusals_say_why(boot):
    said, wrong = logger.cases(boot), []
    for name, (message, remedy) in REFUSED.items():
        error = logger.message_wrong(
            said[name], re.escape(message) if isinstance(message, str) else message.pattern, 1)
        wrong += [f"{name}: {error}"] if error else []
        if remedy not in said[name]:
            wrong.append(f"{name}: what to do isn't said: {said[name]!r}")
    return "; ".join(wrong) or None


def may_pass(cls, event, d1, d2):
    if cls == KER_CALL:
        return event & ~512 == MSG_SENDV
    if cls == COMM:
        return event == SND_MESSAGE and d2 == 2
    if cls == PR_TH:
        return event in NAMES or event & 0x1ff in (RUNNING, READY) and d1 > 2
    return cls in (USER, kev.CLASSES["INT"])


def wrong_in(path, events, stopped):
    """The dump of the state, before the first user event and after the last, may hold others."""
    found = [(h >> 10 & 0x1f, h & 0x3ff, time, d1, d2) for h, time, d1, d2 in kev.raw_slots(path)
             if h >> 30 < 2]
    times = [time for cls, event, time, _, _ in found if cls == USER and event == 0]
    if len(times) != USERS:
        return f"{len(times)} user events"
    made = [e for e in found if e[0] != CONTROL]
    if len(made) != events or len(made) == len(found):
        return f"{len(made)} events of {len(found)} slots, not {events}"
    first, last = times[0], times[-1]
    for cls, event, time, d1, d2 in made:
        during = (time - first) & 0xffffffff <= (last - first) & 0xffffffff
        if (during or cls != PR_TH and cls != kev.CLASSES["SYSTEM"]) and \
                not may_pass(cls, event, d1, d2):
            return f"class {cls} event {event} ({d1:#x}, {d2:#x}) has passed"
    ran = {d1 for cls, event, _, d1, _ in made if cls == PR_TH and event & 0x1ff == RUNNING}
    named = {d2 for cls, event, _, _, d2 in made if cls == PR_TH and event == PROCCREATE_NAME}
    if not ran <= named:
        return f"processes {sorted(ran - named)} ran and have no names"
    kinds = {cls for cls, *_ in made}
    if not {KER_CALL, PR_TH} <= kinds:
        return f"only the classes {kinds}"
    return None if stopped > len(made) else f"only {stopped} events were stopped"


def only_what_may_pass_is_there(boot):
    said, wrong = logger.cases(boot), []
    for name in "shell", "ring":
        text = "".join(said[key] for key in (name, "one", "two") if key in said)
        summary = re.search(rf"(\d+) events, 0 lost; .* in {name}\.kev$", boot.console, re.M)
        stopped = re.search(rf"in {name}\.kev\n(?:tracelogger: .*\n)*?"
                            r"tracelogger: (\d+) events stopped by shell\.dif\n"
                            r"((?:  stopped \d+ of class \w+\n)+)", boot.console)
        if not summary or not stopped:
            wrong.append(f"{name}: no summary: {text[-300:]!r}")
            continue
        parts = sum(int(n) for n in re.findall(r"stopped (\d+)", stopped[2]))
        error = wrong_in(os.path.join(boot.dir, f"{name}.kev"), int(summary[1]), int(stopped[1]))
        if parts != int(stopped[1]):
            error = f"{parts} by class, not {stopped[1]}"
        wrong += [f"{name}: {error}"] if error else []
    return "; ".join(wrong) or None


def users(boot, name):
    """The numbers of evstorm's events in a capture."""
    return [d1 for cls, event, d1, _ in kev.slots(os.path.join(boot.dir, name))
            if cls == USER and event == 0]


def a_trigger_stops_it(boot):
    """What was before, the trigger itself and what came until it was stopped are there."""
    said = logger.cases(boot)
    if "tracelogger: stopped by a D trigger\n" not in said["at-once"] or \
            "tracestop: no tracelogger is running" not in said["stopped"]:
        return "at-once: it doesn't say that it stopped"
    numbers = users(boot, "at-once.kev")
    if numbers != list(range(len(numbers))) or not TRIGGER <= len(numbers) < STORM:
        return f"at-once: {len(numbers)} numbers, {numbers[:3]} to {numbers[-3:]}"
    calls = sum(kev.is_call(cls) for cls, *_ in kev.slots(os.path.join(boot.dir, "at-once.kev")))
    return None if calls > TRIGGER else f"at-once: {calls} calls"


def it_goes_on_after_a_trigger(boot):
    said = logger.cases(boot)
    if "tracelogger: a D trigger: the recording stops in 1 s\n" not in said["after"] or \
            "tracelogger: stopped by a D trigger\n" not in said["after"] or \
            "tracestop: no tracelogger is running" not in said["too-late"]:
        return "it doesn't say so"
    want = [*range(500), *range(300)]
    return None if users(boot, "after.kev") == want else "its events are not those of both storms"


def a_daemon_hears_of_it_after_the_run(boot):
    """The trigger is the call by which the application ends its run."""
    said = logger.cases(boot)
    if "tracelogger: stopped by a D trigger\n" not in said["daemon"] + said["daemon-over"] or \
            "tracestop: no tracelogger is running" not in said["daemon-over"]:
        return "it waits for another run"
    events = [d1 for cls, event, d1, _ in kev.slots(os.path.join(boot.dir, "daemon.kev"))
              if cls == USER and event == 100]
    return None if events == list(range(200)) else f"{len(events)} of its 200 events"


CHECKS = [refusals_say_why, only_what_may_pass_is_there, a_trigger_stops_it,
          it_goes_on_after_a_trigger, a_daemon_hears_of_it_after_the_run]
