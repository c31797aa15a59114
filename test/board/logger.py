# SPDX-License-Identifier: BSD-2-Clause
"""What is asked of each option of tracelogger: test/board/images/options.start runs the cases, each
after a line `hello NAME`; every capture goes to NAME.kev."""
import os
import re
import subprocess

import kev
import options

KYMO = os.path.join(kev.ROOT, "build/kymo")
SUMMARY = re.compile(r"^tracelogger: (\d+) events, (\d+) lost; (\d+) buffers, (\d+) written with "
                     r"(\d+) slots; (\d+) bytes in (\S+)$", re.M)

PAIR = ("KEY=VALUE: a key of at most 24 letters, digits and _, and a value of at most 72 "
        "printable characters")
SEPARATORS = ("-A: KEY=VALUE may not contain :: or TRACE_, which separate the attributes in "
              "the header")
# Usage errors: status 2, this message, and the way to the help.
WRONG = {
    "unknown": "unknown option -z", "unknown-among": "unknown option -z in -cz",
    "unknown-long": "unknown option --frobnicate", "missing": "-n takes a number of buffers",
    "no-number": "-n takes a number of buffers",
    "negative": "-s takes a number of seconds, at most 1000000",
    "k-small": "-k takes 2 to 1024 buffers", "k-large": "-k takes 2 to 1024 buffers",
    "F-large": "-F takes a number from 0 to 8", "empty-file": "-f takes the name of a file",
    "word": "unexpected argument word", "dash": "unexpected argument -",
    "long-value": "--reclaim takes no argument",
    "d-large": "-d takes 1, daemon mode, or 0", "n-long": "-n takes a number of buffers",
    "S-unit": "-S takes bytes, or a number with k or M",
    "S-zero": "-S takes bytes, or a number with k or M",
    "S-long": "-S takes bytes, or a number with k or M",
    "A-bare": f"-A takes {PAIR}", "A-empty": f"-A takes {PAIR}", "A-key": f"-A takes {PAIR}",
    "A-long": f"-A takes {PAIR}",
}
# Refused with status 2: what to do instead is in the message.
REFUSED = {
    "A-equals": "-A: KEY=VALUE may not contain a second =: use another character",
    "A-colons": SEPARATORS,
    "A-trace": SEPARATORS,
    "A-own": "-A: the tracelogger writes an attribute of this name itself: use another key",
    "A-panic": "-A: the tracelogger writes an attribute of this name itself: use another key",
    "A-many": "-A: at most 16 attributes are possible: put several values into one",
    "b-many": r"-k and -b together are \d+ buffers per CPU: give at most 1024",
    "D-ring": "-D can't flush a ring, which is written only when it stops: leave out -D or -r",
    "f-dash": "-f -: a target has no pipe on standard output: use -f link:NAME, and on the host "
              "`kymo capture -o -`, which writes to a pipe while the target records",
    "p": "-p: the kernel places its buffers, so that it can keep other programs out of them: "
         "leave out -p",
    "u": "-u: its meaning in QNX 8.0 is not known: leave out -u",
}
# Failures: status 1 and this message.
FAILED = {
    "no-ability": "start it with the abilities trace, interrupt and host",
    "no-file": "nowhere/trace.kev: No such file or directory",
    "long-name": "x+: File or path name too long",
    "two": r"tracelogger \(process \d+\) is recording already: `tracestop` ends it",
}
NO_SUMMARY = {*WRONG, *REFUSED, *FAILED, "help", "others", "small", "nothing-to-stop", "no-memory",
              "c", "end"}
# Slots of a capture are told apart as -F does. PR_TH has threads' events below 32.
NUMBERS = {1: "KER_CALL", 2: "INT", 3: "PROCESS", 4: "THREAD", 6: "COMM", 7: "SYSTEM"}


class Capture:
    def __init__(self, path):
        self.slots = list(kev.slots(path))
        self.kinds = {self.kind(cls, event) for cls, event, _, _ in self.slots}
        self.buffers = sum(cls == kev.CLASSES["CONTROL"] and event == 2
                           for cls, event, _, _ in self.slots)
        self.numbers = [d1 for cls, event, d1, _ in self.slots
                        if cls == kev.CLASSES["USER"] and event == 0]  # evstorm's

    @staticmethod
    def kind(cls, event):
        if kev.is_call(cls):
            return "KER_CALL"
        name = {number: name for name, number in kev.CLASSES.items()}.get(cls, "?")
        return name if name != "PR_TH" else "THREAD" if event & 0x1ff < 32 else "PROCESS"


def seconds(path):
    done = subprocess.run([KYMO, "stat", path], capture_output=True, text=True)
    found = re.search(r"^  ([0-9.]+) s, \d+ events", done.stdout, re.M)
    return float(found[1]) if done.returncode == 0 and found else -1.0


def cases(boot):
    """name -> what the console says until the next one."""
    parts = re.split(r"^hello from hello\n  argument 1: (\S+)\n", boot.console, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def message_wrong(text, message, status):
    if not re.search(f"^(tracelogger|tracestop): {message}$", text, re.M):
        return f"it doesn't say {message!r} but {text[:100]!r}"
    return None if f"exited with status {status}\n" in text else f"its status isn't {status}"


def bad_options_are_refused(boot):
    said, wrong = cases(boot), []
    for name, message in WRONG.items():
        error = message_wrong(said[name], re.escape(message), 2)
        if not error and "\nTry: tracelogger --help\n" not in said[name]:
            error = "no way to the help"
        wrong += [f"{name}: {error}"] if error else []
    for name, message in REFUSED.items():
        error = message_wrong(said[name], message, 2)
        wrong += [f"{name}: {error}"] if error else []
    return "; ".join(wrong) or None


def failures_are_told(boot):
    said, wrong = cases(boot), []
    failed = dict(FAILED)
    if boot.board == "mps2-an386":  # the other has so much memory
        failed["no-memory"] = ("not enough contiguous memory for -k 1024, 1024 buffers of "
                               "16384 bytes: give a smaller -k")
    for name, message in failed.items():
        error = message_wrong(said[name], message, 1)
        wrong += [f"{name}: {error}"] if error else []
    if "tracestop: no tracelogger is running\n" not in said["nothing-to-stop"]:
        wrong.append("tracestop with nothing to stop")
    return "; ".join(wrong) or None


def every_option_is_in_the_help(boot):
    """With its argument, and the first line that tells of it."""
    text = cases(boot)["help"]
    if "exited with status" in text:
        return "--help has a status"
    missing = [row.word for row in options.rows()
               if f"\n  {row.shown()}" not in text or row.help[0] not in text]
    return f"without {missing}" if missing else None


def summaries_fit_the_captures(boot):
    """Of each capture: bytes, buffers and slots as the logger said; nothing lost; readable."""
    wrong = []
    for name, text in cases(boot).items():
        found = SUMMARY.search(text)
        if not found or "INCOMPLETE" in text:
            if name not in NO_SUMMARY:
                wrong.append(f"{name}: no summary")
            continue
        events, lost, _, written, slots, size, file = found.groups()
        path = os.path.join(boot.dir, file)
        capture = Capture(path)
        there = len(kev.slot_bytes(path))
        told = subprocess.run([KYMO, "print", "-v", path], capture_output=True, text=True)
        if (os.path.getsize(path) != int(size) or capture.buffers != int(written) or
                there != 16 * int(slots) or int(lost) != 0 or int(events) == 0 or
                told.returncode != 0):
            wrong.append(f"{name}: {found[0]} {capture.buffers} {there} {told.stderr[:200]}")
    return "; ".join(wrong) or None


def limits_hold(boot):
    """-n and its default, -s, -c."""
    said, wrong = cases(boot), []
    cpus = boot.cpus()
    for name, least, in_kernel in ("defaults", 32, 32 if cpus == 1 else 8), ("n", 3, 8):
        written = int(SUMMARY.search(said[name])[4])
        if not least <= written <= least + cpus * in_kernel:
            wrong.append(f"{name}: {written} buffers")
        if said[name].find("tracelogger: ") > said[name].find("evstorm: "):
            wrong.append(f"{name}: it didn't stop by itself")
    for name in "s", "r-s":
        recorded = seconds(os.path.join(boot.dir, name + ".kev"))
        if recorded < 1.0 or "evstorm" in said[name]:
            wrong.append(f"{name}: {recorded} s")
    if Capture(os.path.join(boot.dir, "c.kev")).numbers != list(range(40000)):
        wrong.append("c: not all events")
    return "; ".join(wrong) or None


def buffers_are_as_asked_for(boot):
    said, wrong = cases(boot), []
    default = 32 if boot.cpus() == 1 else 8
    for name, text in (("defaults", f"to defaults.kev, {default} kernel buffers per CPU"),
                       ("c", "to c.kev, 5 kernel buffers per CPU")):
        if f"tracelogger: recording {text}\n" not in said[name]:
            wrong.append(f"{name}: {said[name][:100]!r}")
    rounded = re.search(r"^tracelogger: (\d+) buffers were made of 33$", said["round"], re.M)
    if boot.board == "mps2-an386" and (not rounded or not 33 < int(rounded[1]) <= 64):
        wrong.append("round: not reported")
    lines = len(re.findall(r"^tracelogger: CPU \d+ buffer \d+: \d+ slots$", said["verbose"], re.M))
    if lines != int(SUMMARY.search(said["verbose"])[4]):
        wrong.append(f"verbose: {lines} lines")
    return "; ".join(wrong) or None


def filters_leave_out_what_they_name(boot):
    wrong = []
    everything = set(NUMBERS.values()) | {"CONTROL", "USER"}
    for numbers in (0,), (1,), (2,), (3,), (4,), (6,), (7,), (1, 2, 3, 4, 6, 7):
        name = "F1-7" if len(numbers) > 1 else f"F{numbers[0]}"
        kinds = Capture(os.path.join(boot.dir, name + ".kev")).kinds
        want = everything - {NUMBERS[n] for n in numbers if n}
        if kinds != want:
            wrong.append(f"{name}: {sorted(kinds ^ want)}")
    return "; ".join(wrong) or None


def wide_tells_more(boot):
    """Wide: kernel calls of more than a slot. Fast: none."""
    combined = {}
    for name in "w", "verbose":
        done = subprocess.run([KYMO, "print", "-n", "--class", "kercallenter", f"{name}.kev"],
                              capture_output=True, text=True, cwd=boot.dir)
        combined[name] = [len(re.findall(r"\w+:", line)) for line in done.stdout.splitlines()
                          if "MSG_SENDV" in line or "TRACE_EVENT" in line]
    return None if max(combined["w"]) > max(combined["verbose"]) else f"{combined}"[:200]


def the_ring_keeps_the_newest(boot):
    """All up to the last event, none of the first; names of processes at the end, too."""
    capture = Capture(os.path.join(boot.dir, "r.kev"))
    numbers = capture.numbers
    if numbers != list(range(9000 - len(numbers), 9000)) or not 0 < len(numbers) < 9000:
        return f"{len(numbers)} events, {numbers[:1]} to {numbers[-1:]}"
    if "older events were overwritten" not in cases(boot)["r"]:
        return "it doesn't say that older ones are gone"
    return None if "PROCESS" in capture.kinds else "no names"


def recording_is_said_when_it_is_so(boot):
    """The line is printed while the kernel records already: its own call is in the capture."""
    if "tracelogger: recording to round.kev" not in cases(boot)["round"]:
        return "not said"
    done = subprocess.run([KYMO, "print", os.path.join(boot.dir, "round.kev")],
                          capture_output=True, text=True)
    return None if "KER_CALL:CONSOLE_WRITE" in done.stdout else "the capture begins later"


def own_slots(path):
    """(slots that are not the storm's own, buffers) between the storm's first event and its last.
    The storm's are its user events and its thread's kernel calls; everything else, down to its
    preemption, happens because there is a logger."""
    rows = list(kev.raw_slots(path))
    user = [time for header, time, _, _ in rows if header >> 10 & 0x1f == kev.CLASSES["USER"]]
    running, storm, own, buffers = {}, None, 0, 0
    for header, time, d1, d2 in rows:
        cls, event, cpu = header >> 10 & 0x1f, header & 0x3ff, header >> 24 & 0x3f
        if cls == kev.CLASSES["PR_TH"] and event == 1 and header >> 30 < 2:  # THRUNNING
            running[cpu] = d1, d2
        storm = running.get(cpu) if cls == kev.CLASSES["USER"] else storm
        if user[0] <= time <= user[-1]:
            buffers += cls == kev.CLASSES["CONTROL"] and event == 2
            own += not (cls == kev.CLASSES["USER"] or
                        kev.is_call(cls) and running.get(cpu) == storm)
    return own, buffers, len(user)


def it_adds_less_than_a_tenth_of_a_buffer_per_buffer(boot):
    found = {name: own_slots(os.path.join(boot.dir, name + ".kev")) for name in ("fast", "wide")}
    with open(os.path.join(boot.dir, "own.txt"), "w") as f:
        f.write("".join(f"{name}: {own} slots of the logger in {buffers} buffers, "
                        f"{own / buffers / 715:.4f} of a buffer per buffer\n"
                        for name, (own, buffers, _) in found.items()))
    return None if all(0 < own < 71.5 * buffers and buffers > 50 and events == 30000
                       for own, buffers, events in found.values()) else f"{found}"


def other_programs_say_what_they_need(boot):
    """Of wrong words and missing abilities; and the logger of a heap that is too small."""
    text = cases(boot)["others"]
    said = [re.search(pattern, text, re.M) for pattern in (
        "^usage: tracestop$", "^usage: evstorm", "^usage: demo",
        "^console: .*: it needs the abilities device and interrupt$",
        "^demo: filter: it needs the ability spawn$",
        "^watchdog: (it needs the ability reset|this board has none)$")]
    status = re.findall(r"exited with status (\d)$", text, re.M)
    if not all(said) or status != ["2", "2", "2", "1", "1", "2", "1"]:
        return f"{text[:600]!r}"
    # Memory comes in pages on an MMU: one of them is enough for one CPU.
    enough = boot.board == "virt-a64" and boot.cpus() == 1
    short = "the control thread can't be created|not enough heap .*"
    heap = re.search(r"^tracelogger: \d+ events, 0 lost" if enough else
                     rf"^tracelogger: ({short}): start it with .*heap=",
                     cases(boot)["small"], re.M)
    return None if heap else repr(cases(boot)["small"][:300])


CHECKS = [other_programs_say_what_they_need, bad_options_are_refused, failures_are_told,
          every_option_is_in_the_help, summaries_fit_the_captures, limits_hold,
          buffers_are_as_asked_for, filters_leave_out_what_they_name, wide_tells_more,
          the_ring_keeps_the_newest, recording_is_said_when_it_is_so]
