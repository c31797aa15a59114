#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every probe of a board fires when it must, with the right arguments.

causes.py [--jobs N] BOARD [STEP...]

Boots the image `causes`, whose program does, over and over, what makes each probe fire, and tells
in what order and with which pids, addresses and times. D prints both; what each probe must have
said is in cause_rows.py. Every kernel call is made as such: its entry must have the words and its
return the result. Fails for a probe of the board that has no row. docs/reference/providers.md has
the types. The last line is `N passed, N failed`.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "test/tool"), HERE]
import temporary  # noqa: E402,F401
import board  # noqa: E402
import patience  # noqa: E402
import sample  # noqa: E402
import cause_rows  # noqa: E402

KYMO = os.path.join(ROOT, "build/kymo")
CPUS = {"mps2-an386": 1, "virt-a64": 4, "pc": 4}
CHILDREN = ("child", "fault_child", "killed", "alarmed", "dumper")
AT_ONCE = 12  # probes of a D program
HANGS = patience.seconds(120)
RACES = 30  # passes
MOST = 300  # firings that are printed of a step
MAGIC = "0x6b796d6f"
CALLS = [f"calls-{n}" for n in range(1, 6)]

Row = collections.namedtuple("Row", "step exact probe args")
Firing = collections.namedtuple("Firing", "when pid tid args")


class ANY:
    """Equal to everything."""

    def __eq__(self, other):
        return True


class Test:
    """Equal to what it is true of."""

    def __init__(self, test):
        self.test = test

    def __eq__(self, other):
        return self.test(other)


def text_rows():
    for line in cause_rows.ROWS.splitlines():
        words = line.split()
        if words:
            yield Row(words[0], words[1] == "=", tuple(words[2].split(":")), words[3:])


Types = collections.namedtuple("Types", "args words typed")


def of_cell(text):
    """`T name`, … are args[] and the words at once; after `arg0` … are the words alone."""
    args, typed, words = text.partition("`arg0` …:")
    return Types([a.strip("`") for a in re.findall(r"`[^`]+`", args)],
                 re.findall(r"`([\w ]+) (\w+)`", words if typed else args), bool(typed))


def page():
    """Types and names of arguments, by probe, as docs/reference/providers.md and derived.md have
    them."""
    found, provider, last, cell = {}, None, None, {}
    lines = []
    for name in ("providers", "derived"):
        with open(os.path.join(ROOT, f"docs/reference/{name}.md"), encoding="utf-8") as f:
            lines += f.readlines()
    for line in lines:
        heading = re.match(r"## (\w+)$", line)
        provider = heading.group(1) if heading else provider
        cells = [c.strip() for c in line.strip()[1:-1].split("|")]
        if not line.startswith("|") or provider in ("dtrace", "profile", "fbt"):
            continue
        if cells[0] == "" and (provider == "syscall" or cells[1] == ""):
            new = last  # a row that continues the one above it
        elif "`" in cells[0] + cells[1]:
            new = cells[0].strip("`"), cells[1].strip("`")
        else:
            continue
        last = new
        if provider == "syscall":
            words = [("uintptr_t", w) for w in re.findall(r"\w+", cells[1])]
            entry = found.setdefault((provider, new[0], "entry"), Types(None, [], False))
            entry.words.extend(words)
            found[provider, new[0], "return"] = Types(None, [("intptr_t", "")] * 2, False)
        else:
            cell[(provider, *new)] = cell.get((provider, *new), "") + " " + cells[2]
    found.update((probe, of_cell(text)) for probe, text in cell.items())
    for name in ("profile-97", "tick-97"):
        found["profile", "", name] = Types(None, [("uintptr_t", "")] * 2, False)
    return found


TYPES = page()


def types_of(probe):
    """What -lv says: an entry has room for six words, whatever the call takes."""
    if probe[0] == "syscall" and probe[2] == "entry":
        return ["uintptr_t"] * 6
    types = TYPES[probe]
    if types.args is None:
        return [t for t, _ in types.words]
    # A type that is translated has no name: `psinfo_t *`.
    return [t if t.endswith("*") else t.rsplit(" ", 1)[0] for t in types.args]


# ---- asking the board --------------------------------------------------------------------------

def dtrace(spec, *words):
    try:
        done = subprocess.run([KYMO, "dtrace", "-t", spec, "-x", "bufsize=16k", *words],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=HANGS,
                              encoding="utf-8", errors="replace")
    except subprocess.TimeoutExpired as late:
        return None, "", f"still running after {HANGS} s: {late.stderr} {late.stdout}"
    return done.returncode, done.stdout, done.stderr


def listing(spec):
    """Types by probe, as the board itself says them, profile and fbt left out."""
    status, out, err = dtrace(spec, "-lv")
    found, last = {}, None
    for line in out.splitlines():
        words = line.split()
        probe = re.match(r" *(\d+|-) ", line) and len(words) in (4, 5)
        if probe and words[1] not in ("profile", "fbt", "dtrace"):
            last = (words[1], words[3] if len(words) == 5 else "", words[-1])
            found[last] = []
        elif probe:
            last = None
        argument = re.match(r"\s+args\[\d+\]: (.+)$", line)
        if argument and last:
            found[last].append(argument.group(1))
    if status or err:
        sys.exit(f"the list of probes: status {status}: {err}")
    return found


def values(probe):
    """How D prints the arguments of a probe: format and expressions."""
    formats = {"string": "[%s]"}
    signed = ("int", "int32_t", "pid_t", "id_t", "intptr_t")
    types = TYPES[probe]
    texts = [formats.get(t, "%d" if t in signed else "%u") for t, _ in types.words]
    # Those of profile have no types, and where args[] has others than the words, the words.
    raw = probe[0] == "profile" or types.typed
    names = [("stringof(arg{})" if t == "string" else "arg{}") if raw else "args[{}]"
             for t, _ in types.words]
    return " ".join(texts), "".join(", " + n.format(i) for i, n in enumerate(names))


def any_of(steps):
    return "begun && (" + " || ".join(f'step == "{s}"' for s in sorted(steps)) + ")"


def marks(steps):
    """What the program tells, of these steps. All of it has room in D's buffer at once."""
    wanted = any_of({*steps, "pass"})
    mark = f"syscall::nop:entry /arg0 == {MAGIC} && arg1 =="
    return f"""string step; int begun, fired, cause, told;
syscall::nop:entry {{ told = arg0 == {MAGIC}; }}
{mark} 1/ {{ step = copyinstr(arg2); fired = 0; cause = pid; }}
{mark} 1 && step == "pass"/ {{ begun = 1; }}
{mark} 1 && {wanted}/ {{ printf("S %d %d %s\\n", timestamp, pid, step); }}
{mark} 2 && {wanted}/ {{ printf("V %d %u %u %s\\n", timestamp, arg3, arg4, copyinstr(arg2)); }}
{mark} 3 && {wanted}/ {{ printf("E %d %s\\n", timestamp, step); }}
{mark} 3/ {{ step = ""; }}
{mark} 3 && begun && copyinstr(arg2) == "pass"/
{{ printf("E %d pass\\n", timestamp); exit(0); }}
"""


def clause(number, probe, steps):
    provider, function, name = probe
    form, words = values(probe)
    return (f'{provider}::{function}:{name} /{any_of(steps)} && probefunc == "{function}" &&'
            f' fired++ < {MOST}/\n'
            f'{{ printf("F %d {number} %d %d {form}\\n", timestamp, pid, tid{words}); }}\n')


def calls_clauses(step):
    fine = f'/begun && step == "{step}" && pid == cause && !(probefunc == "nop" && told)'
    return (f'syscall:::entry {fine}/\n'
            '{ printf("C %d %d %d %s %u %u %u %u %u %u\\n", timestamp, pid, tid, probefunc, arg0, '
            'arg1, arg2, arg3, arg4, arg5); }\n'
            f'syscall:::return {fine}/\n'
            '{ printf("R %d %d %d %s %d\\n", timestamp, pid, tid, probefunc, args[0]); }\n')


# ---- one pass ----------------------------------------------------------------------------------

class Pass:
    """The steps of one whole pass, in the order of time: facts of each, and firings."""

    def __init__(self, out):
        lines = [line.split(" ", 2) for line in out.splitlines() if re.match(r"[SVEFCR] \d", line)]
        lines.sort(key=lambda w: int(w[1]))
        self.facts, self.firings, self.calls, step, facts = {}, {}, [], None, None
        self.complete, self.failures = False, []
        for kind, when, rest in lines:
            if kind == "S" and rest.split()[1] == "pass":
                facts = {"P": int(rest.split()[0])}
            elif facts is None:
                continue
            if kind == "S":
                step = rest.split()[1]
                self.facts[step] = facts
            elif kind == "V":
                low, high, name = rest.split(" ", 2)
                if low == high == "4294967295":
                    self.failures.append(name)
                elif name.startswith("call "):
                    self.calls.append(name.split())
                else:
                    facts[name] = int(low) + (int(high) << 32)
            elif kind == "E":
                self.facts[step] = dict(facts)
                step = None
                self.complete = self.complete or rest == "pass"
                if self.complete:
                    break
            elif kind == "F":
                number, pid, tid, args = (rest + " ").split(" ", 3)
                args = [a[1:-1] if a[0] == "[" else int(a)
                        for a in re.findall(r"\[.*?\]|-?\d+", args)]
                self.firings.setdefault((step, int(number)), []).append(
                    Firing(int(when), int(pid), int(tid), args))
            else:
                self.firings.setdefault((step, kind), []).append(rest.split())


def expected(row, facts, known):
    """The arguments of a row as values that compare."""
    names = dict(cause_rows.STATES, **facts, ANY=ANY(), nonzero=Test(lambda v: v != 0),
                 near=lambda x: Test(lambda v: abs(v - x) <= 1000),
                 within=lambda x, n: Test(lambda v: x <= v < x + n),
                 starts=lambda s: Test(lambda v: v.startswith(s.replace("_", " "))))
    return [known.get(a, Test(bool)) if a[0] == "?" else eval(a, {"__builtins__": {}}, names)
            for a in row.args]


def short(facts):
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def is_ours(probe, firing, facts):
    """Of the program or its children: by the arguments that are processes, else by who runs."""
    ours = [facts[name] for name in ("P", *CHILDREN) if name in facts]
    at = [i for i, (t, name) in enumerate(TYPES[probe].words)
          if t == "pid_t" or name in ("pid", "ppid")]
    return any(firing.args[i] in ours for i in at) if at else firing.pid in ours


def judge(one, step, number, probe, rows, known):
    """What is wrong with a probe in a step, or None."""
    if step not in one.facts:
        return f"step {step} is not in the pass"
    facts = one.facts[step]
    fired = one.firings.get((step, number), [])
    left = [f for f in fired if is_ours(probe, f, facts)]
    for row in rows:
        try:
            wanted = expected(row, facts, known)
        except NameError as error:
            return f"{error}: {short(facts)}"
        found = [f for f in (left if row.exact else fired)
                 if len(f.args) == len(wanted) and all(w == a for w, a in zip(wanted, f.args))]
        if not found:
            return f"wanted {' '.join(row.args)}; fired: {[f.args for f in fired]}, {short(facts)}"
        known.update((a, v) for a, v in zip(row.args, found[0].args) if a[0] == "?")
        if row.exact:
            left.remove(found[0])
    if left and rows[0].exact:
        return f"fires also with {[f.args for f in left]}; {short(facts)}"
    return None


# ---- the jobs ----------------------------------------------------------------------------------

def trace(spec, text):
    status, out, err = dtrace(spec, "-q", "-x", "strsize=128", "-x", "switchrate=50hz", "-n", text)
    one = Pass(out)
    if status or err or not one.complete or one.failures:
        return None, (f"status {status}, {'a' if one.complete else 'no'} whole pass, the program: "
                      f"{one.failures}: {err}\n{text}")
    return one, None


def probes_job(spec, probes, rows):
    """Judges these probes; yields (name, error)."""
    text = marks({r.step for r in rows if r.probe in probes})
    for number, probe in enumerate(probes):
        text += clause(number, probe, {r.step for r in rows if r.probe == probe})
    one, error = trace(spec, text)
    known, results = {}, []
    for number, probe in enumerate(probes):
        for step in sorted({r.step for r in rows if r.probe == probe}):
            mine = [r for r in rows if r.probe == probe and r.step == step]
            bad = error or judge(one, step, number, probe, mine, known.setdefault(step, {}))
            results.append((f"{step}: {':'.join(probe)}", bad))
    return results


def race_job(spec, probe, rows):
    for _ in range(RACES):
        results = probes_job(spec, [probe], rows)
        if not any(bad for _, bad in results):
            break
    return results


def call_names():
    path = os.path.join(ROOT, "abi/kercalls.def")
    with open(path, encoding="utf-8") as f:
        return {int(n): name for n, name in re.findall(r"^KERCALL\((\d+), +\w+, +(\w+),", f.read(),
                                                       re.M)}


def calls_job(spec, step):
    """Judges a step of kernel calls; yields (name, error), and the probes that it has caused."""
    one, error = trace(spec, marks({step}) + calls_clauses(step))
    if error:
        return [(step, error)], set()
    names, results, seen = call_names(), [], set()
    entries = [f[2:] for f in one.firings.get((step, "C"), [])]
    returns = [f[2:] for f in one.firings.get((step, "R"), [])]
    for call in one.calls:
        name, args, value = names[int(call[1])], call[2:8], call[8]
        count = len(TYPES["syscall", name, "entry"].words)
        entry = any(e[0] == name and e[1:1 + count] == args[:count] for e in entries)
        results.append((f"syscall:{name}:entry", None if entry else
                        f"wanted {args}: {[e for e in entries if e[0] == name]}"))
        back = [name, value] in returns
        results.append((f"syscall:{name}:return", None if back else
                        f"wanted {value}: {[r for r in returns if r[0] == name]}"))
        seen |= {("syscall", name, "entry"), ("syscall", name, "return")}
    return results, seen


def dtrace_job(spec):
    """BEGIN before all else, END after it, ERROR with what went wrong."""
    text = """BEGIN { printf("begin "); } BEGIN { trace(*(int *)8); }
        ERROR { printf("error %d %d %d ", arg2, arg4, arg5); exit(3); } END { printf("end"); }"""
    status, out, err = dtrace(spec, "-qn", text)
    right = status == 3 and out.strip() == "begin error 1 1 8 end"
    return [("dtrace", None if right else f"status {status}: {out}{err}")]


def lists_job(spec, rows, called, cpus):
    """Every probe of the board has a row or a reason, and the types of its page."""
    found, results = listing(spec), []
    never = {**cause_rows.NEVER, **(cause_rows.NEVER_ALONE if cpus == 1 else {})}
    caused = {r.probe for r in rows} | called
    for probe, types in sorted(found.items()):
        bad = None
        if probe[0] in cause_rows.ELSEWHERE:
            continue
        if probe not in caused and probe not in never:
            bad = "nothing causes it"
        elif probe in caused and probe in never:
            bad = "it can be caused"
        elif types != types_of(probe):
            bad = f"has {types}, docs/reference/providers.md {TYPES[probe]}"
        results.append(("list: " + ":".join(probe), bad))
    return results


def main():
    parser = argparse.ArgumentParser(description="Every probe of a board, caused and looked at.")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("board", choices=sorted(CPUS))
    parser.add_argument("steps", nargs="*")
    options = parser.parse_args()
    rows = [r for r in text_rows() if not options.steps or r.step in options.steps]
    if CPUS[options.board] == 1:
        rows = [r for r in rows if r.probe not in cause_rows.NEVER_ALONE]
    probes = list(dict.fromkeys(r.probe for r in rows if r.step not in cause_rows.RACES))
    races = {r.probe for r in rows if r.step in cause_rows.RACES}
    results = []
    with board.Booted(options.board, "causes") as spec, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if not options.steps:
            sample.tell(probes, sample.of(probes))
            probes = sample.of(probes)
        parts = [probes[i:i + AT_ONCE] for i in range(0, len(probes), AT_ONCE)]
        jobs = [pool.submit(probes_job, spec, part, rows) for part in parts]
        jobs += [pool.submit(race_job, spec, probe, rows) for probe in sorted(races)]
        if not options.steps:
            seen = set()
            for called, probes_seen in pool.map(lambda step: calls_job(spec, step), CALLS):
                results += called
                seen |= probes_seen
            results += dtrace_job(spec) + lists_job(spec, rows, seen, CPUS[options.board])
        for job in jobs:
            results += job.result()
    failed = [(name, bad) for name, bad in results if bad]
    for name, bad in failed:
        print(f"FAIL {options.board}: {name}: {bad}")
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
