# SPDX-License-Identifier: BSD-2-Clause
"""What programs told of their events (test/board/programs/truth.h), compared with the capture's
print, value for value; and of the kernel calls' table, that nothing is left out."""
import io
import re
import struct
import subprocess

import kev
import shapes

KYMO = kev.ROOT + "/build/kymo"
MARK = r"USREVENT:EVENT:999, d0:(0x\w+)"
# A call's words where the facts about QNX name them: enter fast and wide, exit fast and wide.
INFO = "nd srcnd pid tid chid scoid coid msglen srcmsglen dstmsglen priority flags reserved"
FACTS = {
    "MSG_SENDV": ("coid m0", "coid sparts rparts m0 m1 m2", "r0", "r0 r1 r2"),
    "MSG_RECEIVEV": ("chid rparts", "chid rparts", "r0", "r0 r1 r2 " + INFO),
    "MSG_REPLYV": ("rcvid status", "rcvid sparts status m0 m1 m2", "", ""),
    "MSG_SEND_PULSE": ("coid code", "coid priority code value", "", ""),
    "CONNECT_ATTACH": ("nd pid", "nd pid chid index flags", "", ""),
    "THREAD_CREATE": ("func arg", None, "owner", "owner"),
    "SYNC_MUTEX_LOCK": ("sync owner", "sync count owner", "", ""),
    "TIMER_SETTIME": ("id nsec", None, None, None),
    "SCHED_GET": ("pid tid", None, "sched_priority", None),
}


# ---- the capture's print ------------------------------------------------------------------------

def steps(path):
    """The lines after each mark that the process which made it caused, without their heads, one
    blank for many. A call that lost the CPU to another thread is none of the process's doing: then
    INT_CALL stands right before the THREADY of the thread that runs (docs/reference/format.md)."""
    done = subprocess.run([KYMO, "print", "-n", path], capture_output=True, text=True, check=True,
                          errors="replace")
    found, lines, whose, on, thread = {}, None, None, {}, {}
    for line in done.stdout.splitlines():
        body = re.match(r"t:0x\w+ CPU:(\d+) +(.*)$", line)
        if not body:
            continue
        cpu, text = body[1], " ".join(body[2].split())
        runs = re.match(r"THREAD :THRUNNING (pid:(\d+) tid:\d+)", text)
        mark = re.match(MARK, text)
        if runs:
            on[cpu] = runs[2]
            thread[cpu] = runs[1]
        elif mark:
            whose = on.get(cpu)
            lines = found.setdefault(int(mark[1], 16) + 1000 * int(whose), [])
        elif lines is not None and on.get(cpu) == whose:
            ready = re.match(r"THREAD :THREADY (pid:\d+ tid:\d+)", text)
            if ready and ready[1] == thread[cpu] and lines and lines[-1].startswith("INT_CALL:"):
                del lines[-1]
            lines.append(text)
    return found


def is_word(told, seen):
    """One word of a line: `name:within:first:bytes` is a range."""
    within = re.match(r"(\w+):within:(\w+):(\d+)$", told)
    if not within:
        return told == seen
    name, first, size = within[1], int(within[2], 0), int(within[3])
    value = re.match(name + r":(-?\w+)$", seen)
    return bool(value) and (size == 0 or first <= int(value[1], 0) < first + size)


def is_line(told, seen):
    many = re.match(r"(.*STR:)(\d+) times (.)$", told)
    if many:
        return seen == f'{many[1]}"{many[3] * int(many[2])}"'
    told, seen = told.split(), seen.split()
    return len(told) == len(seen) and all(map(is_word, told, seen))


# ---- the table, read anew -----------------------------------------------------------------------

def expanded():
    """kercalls.def with its groups of fields in place."""
    with open(kev.ROOT + "/abi/kercalls.def") as f:
        text = f.read()
    for name, body in re.findall(r"^#define (\w+_)\(n\) \\\n((?:.*\\\n)*.*)$", text, re.M):
        body = body.replace("\\\n", " ")
        text = re.sub(rf"\b{name}\((\d)\)", lambda m, b=body: re.sub(r"\bn\b(?=,)", m[1], b), text)
    return text


def split(text):
    """The items between commas that are in no parentheses."""
    items, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            items.append("")
        else:
            items[-1] += c
    return [item.strip() for item in items if item.strip()]


class Call:
    def __init__(self, number, name, items):
        self.number, self.name = int(number), name
        bare = [re.match(r"\w+\((.*)\)$", item, re.S)[1] for item in items]
        self.arguments = [re.match(r"(\w+)\((\w+)", a).groups() for a in split(bare[0])
                          if a != "NONE"]
        self.enter, self.wide, self.exit = map(split, bare[1:])

    def word(self, item):
        """(name, of an argument its number)"""
        if re.match(r"a\d$", item):
            return self.arguments[int(item[1])][1], int(item[1])
        if item == "CALLER":  # the caller's pid, which is printed as the owner's
            return "owner", None
        field = re.match(r"[FW]\(.*, (\w+)\)$", item)
        return (field[1] if field else item), None

    def names(self, items):
        return " ".join(self.word(item)[0] for item in items)

    def printed(self, item):
        return re.sub(r"^([mr])(\d)$", lambda m: {"m": "msg", "r": "rmsg"}[m[1]] + m[2],
                      self.word(item)[0])

    def takes(self, n):
        """The wide entry has the argument or what it points to."""
        return any(item == f"a{n}" or re.match(rf"[FW]\({n},", item) for item in self.wide)


def table():
    rows = re.findall(r"^KERCALL\((\d+), +(\w+), +\w+, +\w+, (.*), \"[^\"]*\"\)$", expanded(), re.M)
    calls = [Call(number, name, split(rest)) for number, name, rest in rows]
    if len(calls) != len(kev.call_rows()):
        raise ValueError(f"{len(calls)} of {len(kev.call_rows())} calls understood")
    return calls


def every_argument_is_in_the_wide_form(_):
    """But for a message's buffers, and where only an answer goes."""
    bad = []
    for call in table():
        for n, (kind, name) in enumerate(call.arguments):
            if kind in ("VAL", "IN", "STR") and not call.takes(n):
                bad.append(f"{call.name}: {name}")
        if call.enter != call.wide and any(i not in call.wide for i in call.enter if
                                           re.match(r"a\d$", i)):
            bad.append(f"{call.name}: the fast form has more")
    return ", ".join(bad) or None


def the_words_are_the_facts(_):
    bad, rows = [], {call.name: call for call in table()}
    for name, facts in FACTS.items():
        call = rows[name]
        first = [i for i in call.exit[:1] if not re.search(r", [EX], ", i)]
        for want, items in zip(facts, (call.enter, call.wide, first, call.exit)):
            if want is not None and call.names(items) != want:
                bad.append(f"{name}: {call.names(items)}, not {want}")
    return "; ".join(bad) or None


# ---- calls as such ------------------------------------------------------------------------------

def same(a, b):
    """Equal as words: a negative one is also its 32 or 64 bits without a sign."""
    a, b = ((v + (1 << 63)) % (1 << 64) - (1 << 63) for v in (a, b))
    return a == b or \
        (all(-(1 << 31) <= v < 1 << 32 for v in (a, b)) and (a - b) % (1 << 32) == 0)


def refused_call(call, words, wide, lines):
    """What is wrong with the events of a call whose pointers name no memory, or None."""
    number, args, value, error = words[0], [int(w, 16) for w in words[1:7]], words[7], words[8]
    entry = f"KER_CALL:{call.name}/{number}"
    found = [i for i, line in enumerate(lines) if line == entry or line.startswith(entry + " ")]
    if not found:
        return f"no {entry}"
    seen = re.findall(r"(\w+):(-?\w+)", lines[found[0]][len(entry):])
    items = call.wide if wide else call.enter
    want = [(call.printed(i), 0 if call.word(i)[1] is None else args[call.word(i)[1]])
            for i in items]
    if [n for n, _ in seen] != [n for n, _ in want] or \
            not all(same(int(s[1], 0), w[1]) for s, w in zip(seen, want)):
        return f"{lines[found[0]]}, not {want}"
    back = f"KER_EXIT:{call.name}/{number} ret_val:"
    back += f"-1, errno:{error}" if error != "0" else value
    if not any(line == back or line.startswith(back + " ") for line in lines[found[0]:]):
        return f"no {back}"
    return None


def every_call_is_told_and_true(boot):
    """Every row of the table is called, and its words are the program's; in this boot's form."""
    rows, wide, bad = {call.number: call for call in table()}, is_wide(boot), []
    seen, told = steps(boot.trace), set()
    for step, text in truths(boot):
        if text.startswith("CALL "):
            words = text.split()[1:]
            told.add(int(words[0]))
            wrong = refused_call(rows[int(words[0])], words, wide, seen.get(step, []))
            bad += [wrong] if wrong else []
    left = [call.name for call in rows.values() if call.number not in told and
            call.name != "PROC_EXIT"]
    bad += [f"never called: {', '.join(left)}"] if left else []
    return "; ".join(bad[:4]) or None


# ---- lines --------------------------------------------------------------------------------------

def is_wide(boot):
    return boot.suite.image.endswith("wide")


def truths(boot):
    """(step, what is told of it) of the lines for this boot's form; steps of the programs differ
    by their pid."""
    pids = dict((name, int(pid)) for name, pid in
                re.findall(r"^TRUTH-OF (\w+) (\d+)$", boot.console, re.M))
    pid, form, found = 0, "wide:" if is_wide(boot) else "fast:", []
    for line in boot.console.splitlines():
        of = re.match(r"TRUTH-OF (\w+) (\d+)$", line)
        truth = re.match(r"TRUTH (\d+) (?:(fast:|wide:))?(.*)$", line)
        if of:
            pid = pids[of[1]]
        elif truth and truth[2] in (None, form):
            found.append((int(truth[1]) + 1000 * pid, " ".join(truth[3].split())))
    return found


def what_programs_told_is_there(boot):
    """Each step's lines, in their order; others may stand between."""
    seen, told, bad = steps(boot.trace), {}, []
    for step, line in truths(boot):
        if not line.startswith("CALL "):
            told.setdefault(step, []).append(line)
    for number, lines in told.items():
        rest = iter(seen.get(number, []))
        for line in lines:
            if line.startswith("never "):
                if any(is_line(line[len("never "):], other) for other in seen.get(number, [])):
                    bad.append(f"step {number}: there is {line[len('never '):]!r}")
                continue
            if not any(is_line(line, other) for other in rest):
                like = [s for s in seen.get(number, []) if s.split()[:1] == line.split()[:1]]
                bad.append(f"step {number}: {line!r} is not in its place: {like}")
                break
    if len(told) < 25:
        return f"only {len(told)} steps"
    return "; ".join(bad[:4]) or None


# ---- names for addresses ------------------------------------------------------------------------

LINE = r" test/board/programs/\w+\.c:\d+"
NAMED = r"t_events`(\w+)(?:\+0x[0-9a-f]+)?" + LINE


def places(trace, *options):
    """The lines with places in programs, and what was said."""
    done = subprocess.run([KYMO, "print", "-n", "--class", "system", *options, trace],
                          capture_output=True, text=True, errors="replace")
    return [line for line in done.stdout.splitlines()
            if re.search(r"SYSTEM  :(ADDRESS|FUNC_)", line)], done.stderr, done.returncode


def without_runners(trace, to):
    """The same capture, but that nobody can say who ran."""
    with open(trace, "rb") as f:
        data = bytearray(kev.unchecked(f.read()))
    start = kev.slots_offset(io.BytesIO(data))
    for at in range(start, len(data) - 15, 16):
        header, = struct.unpack_from("<I", data, at)
        if header & 0x7fff == 0x1001:
            struct.pack_into("<I", data, at, header + 1)
    with open(to, "wb") as f:
        f.write(data)
    return to


def addresses_have_names(boot):
    """With the ELFs at hand; without the option nothing but the lines of the facts."""
    folder = boot.build
    plain = places(boot.trace)[0]
    named, said, status = places(boot.trace, "--symbols", folder)
    if status or said or len(named) != len(plain):
        return f"{len(plain)} lines without names, {len(named)} with, status {status}: {said}"
    if any("`" in line for line in plain) or \
            [re.sub(r" \([^)]*\)", "", line) for line in named] != plain:
        return "other lines"
    both = rf" +thisfn:\w+ \(t_events`instrumented_sum{LINE}\) call_site:\w+ \({NAMED}\)$"
    want = [("FUNC_ENTER" + both, 4), ("FUNC_EXIT" + both, 4),
            (rf"ADDRESS +addr:\w+ \({NAMED}\) word:\w+$", 1),
            (r"FUNC_ENTER +thisfn:0x00001234 call_site:0x80000001$", 1)]
    for pattern, least in want:
        found = [line for line in named if re.search(pattern, line)]
        if len(found) < least:
            return f"{len(found)} times {pattern}: {named[:3]}"
    other = without_runners(boot.trace, boot.trace + ".no-runners")
    guessed = places(other, "--symbols", folder)[0]
    if any(g not in (n, p) for g, n, p in zip(guessed, named, plain)):
        return "without THRUNNING an address has another name"
    _, said, status = places(boot.trace, "--symbols", KYMO)
    if status != 1 or "is not what the recorded system runs" not in said:
        return f"a foreign ELF: status {status}, {said}"
    return None


def every_line_has_a_documented_shape(boot):
    done = subprocess.run([KYMO, "print", "-n", boot.trace], capture_output=True, text=True,
                          errors="replace")
    used = set()
    bad = shapes.without_shape(done.stdout, used)
    if bad:
        return f"none of docs/reference/lines.md's: {bad}"
    return f"only {len(used)} shapes" if len(used) < 13 else None


CHECKS = [what_programs_told_is_there, every_line_has_a_documented_shape, addresses_have_names,
          every_call_is_told_and_true, every_argument_is_in_the_wide_form,
          the_words_are_the_facts]
