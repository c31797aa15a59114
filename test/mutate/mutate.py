#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Changes one thing in a function and reports whether a test notices: many times, by a seed.

    mutate.py [--seed N] [--count N] [--folder DIR]... [--suites "NAME NAME"] [--boots] [--list]
              [--nearest N] [--seconds N] [--least PERCENT] [--kind KIND]
              [--only TEXT | --survivors]

A mutant is built in a copy of the tree, build/mutate/PID, never in the tree itself. README.md says
how it is judged, and what the options are. Proof: test/mutate/check.
"""
import argparse
import collections
import contextlib
import hashlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(ROOT, "build/mutate")
FOLDERS = ["trace", "kernel", "lib", "host", "tracelogger"]
LIMIT = 1800  # seconds for a build, and for a test without a mutant: detects hangs
KINDS = ["operator", "constant", "condition", "memory order", "deleted statement"]
Mutant = collections.namedtuple("Mutant", "file function kind start end new text")

# What is left alone: comments, strings, attributes, lengths of arrays, assertions.
BLANK = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|__attribute__'
                   r'\(\(.*?\)\)|(?<=\w)\[\d+\](?=[;,])|\b\w*assert\([^;]*;', re.S | re.I)
SWAPS = dict(word.split("/") for word in "==/!= !=/== </<= <=/< >/>= >=/> +/- -/+ &/| |/& <</>> "
             ">>/<< +=/-= -=/+= |=/&= &&/|| ||/&& true/false false/true".split())
NOT_DELETED = re.compile(r"(const|static|struct|enum|union|unsigned|return|break|continue|goto|else"
                         r"|case|default|do)\b|\w+ \**\w+( =|;|\[|,)|\(void\)")


def functions(code):
    """Name, begin and end of each function's body: it opens and closes in column 1."""
    for match in re.finditer(r"^\{\n.*?^\}", code, re.M | re.S):
        head = re.split(r"\n\s*\n|^\}|;\n", code[:match.start()], flags=re.M)[-1]
        for name in re.findall(r"(\w+)\(", head)[:1]:
            yield name, match.start() + 1, match.end() - 1


def closing(code, at):
    """The place after the bracket that closes the one here."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] == "(") - (code[place] == ")")
        if depth == 0:
            return place + 1
    return at


def changes(code, *body):
    """Kind, begin, end and new text of what can be changed in a body."""
    def found(pattern):
        return re.compile(pattern).finditer(code, *body)
    for m in found(r" ([=!<>]=|[<>+&|-]|<<|>>|[+|-]=|&&|\|\|)(?=\s)"):
        yield "operator", *m.span(1), SWAPS[m.group(1)]
    for m in found(r"\b(true|false)\b"):
        yield "constant", *m.span(1), SWAPS[m.group(1)]
    for m in found(r"(?<![\w.])(0x[0-9a-fA-F]+|0|[1-9]\d*)(?=[uUlL]*\b(?!\.))"):
        for value in {int(m.group(1), 0) + 1, abs(int(m.group(1), 0) - 1)}:
            yield "constant", *m.span(1), str(value)
    for m in found(r"\b(if|while) \("):
        for value in "01" if m.group(1) == "if" else "0":
            yield "condition", m.end() - 1, closing(code, m.end() - 1), f"({value})"
    for m in found(r"__ATOMIC_(?:RELEASE|ACQUIRE|ACQ_REL|SEQ_CST)\b"):
        yield "memory order", *m.span(), "__ATOMIC_RELAXED"
    for m in found(r"(?<=\n) +([A-Za-z_*(][^;{}]*;)"):
        before, text = code[:m.start()].rstrip()[-1:], m.group(1)
        if before in ";{}:" and text.count("(") == text.count(")") and not NOT_DELETED.match(text):
            yield "deleted statement", *m.span(1), ";"


def mutants(file, text):
    """Every mutant of a file; its text is its lines, with {old -> new} in them."""
    code = BLANK.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    for name, *body in functions(code):
        for kind, start, end, new in changes(code, *body):
            first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
            line = f"{text[first:start]}{{{text[start:end]} -> {new}}}{text[end:last]}"
            yield Mutant(file, name, kind, start, end, new + "\n" * text.count("\n", start, end),
                         f"{file} {name}: {' '.join(line.split())}")


def mutants_below(folders):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *folders], cwd=ROOT,
                         check=True, capture_output=True, text=True).stdout
    for file in sorted(f for f in out.splitlines() if f.endswith(".c")):
        with contextlib.suppress(FileNotFoundError):
            with open(os.path.join(ROOT, file), encoding="utf-8") as f:
                yield from mutants(file, f.read())


def draw(seed, folders, kind=None):
    """A mutant of each function, of one kind or of any, by the seed; a change of one function
    changes no other's."""
    def rank(*words):
        return hashlib.sha256("\0".join([str(seed), *words]).encode()).digest()
    found = {}
    for m in mutants_below(folders):  # each kind is as likely
        key = m.file, m.function
        if kind not in (None, m.kind):
            continue
        found[key] = min(found.get(key, m), m, key=lambda m: (rank(*key, m.kind), rank(m.text)))
    return [found[key] for key in sorted(found, key=lambda key: rank(*key))]


def read_list():
    """The reason of each row, by the mutant's text: an indented line after it."""
    with open(os.path.join(HERE, "survivors.list"), encoding="utf-8") as f:
        lines = [line for line in f if line.strip() and not line.startswith("#")]
    return {a.strip(): b.strip() for a, b in zip(lines, lines[1:] + [""]) if not a.startswith(" ")}


@contextlib.contextmanager
def copy_of_tree():
    """A copy of the sources and of what is built, with their times; goes at the end. What a killed
    run has left goes now."""
    copy = os.path.join(WORK, str(os.getpid()))
    os.makedirs(f"{copy}/build")
    os.makedirs(f"{copy}/tmp")
    for name in os.listdir(WORK):
        if not os.path.exists(f"/proc/{name}"):
            shutil.rmtree(os.path.join(WORK, name), ignore_errors=True)
    sources = f"git ls-files -coz --exclude-standard | xargs -0 cp -a --parents -t {copy}"
    built = f"ls | grep -vxE 'mutate|tmp|check|.*[.]lock' | xargs -r cp -a -t {copy}/build"
    try:
        both = f"{sources}; cd build; {built}"
        subprocess.run(["scripts/locked", "-q", "build", "sh", "-c", both], cwd=ROOT, check=True)
        yield copy
    finally:
        shutil.rmtree(copy)


class Judge:
    """Builds and runs in a copy of the tree."""

    def __init__(self, copy, options):
        self.copy, self.options, self.red = copy, options, 0
        self.spent, self.caught = {}, collections.Counter()
        lines = self.run("make -n -B unit")[1].replace("\\\n", " ").splitlines()
        self.commands = [shlex.split(c) for c in lines if re.match(r".*\b(cc|ld|ar)\b.* -?\w", c)]
        self.units = {os.path.basename(u) for u in self.run("make -s list-unit")[1].split()}
        self.tests = {unit: f"scripts/run-unit build/unit/{unit}" for unit in self.units}
        with open(os.path.join(copy, "scripts/suites"), encoding="utf-8") as f:
            own = re.findall(r"^quick.* ((\w+=\S+ )+scripts/run-unit \S*?(\w+))$", f.read(), re.M)
        suites = {name: f"scripts/check {name}" for name in options.suites.split()}
        if options.boots:
            suites["smoke"] = ("make -s MEDIUM=no host image BOARD=virt-a64 IMAGE=smoke && "
                               "test/board/run.py virt-a64 smoke")
        self.tests.update({name: command for command, _, name in own}, **suites)
        self.suites = list(filter(self.judges, suites))

    def run(self, command, limit=LIMIT):
        """Exit status and output; the status of what hangs is 124."""
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
        env["KYMO_LOCKS"], env["KYMO_SAMPLE"] = "build", str(self.options.seed)
        env["TMPDIR"] = f"{self.copy}/tmp"
        with subprocess.Popen(["timeout", "-k", "5", str(int(limit)), "sh", "-c", command], env=env,
                              cwd=self.copy, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace") as process:
            try:
                out = process.communicate()[0]
            finally:
                process.terminate()
            return process.returncode, out

    def judges(self, name):
        """Whether a test is green without a mutant, and a unit program short: measured once."""
        if name not in self.spent:
            limit = f"ulimit -t {self.options.seconds}; " if name in self.units else ""
            began, red = time.monotonic(), self.run(limit + self.tests[name])[0]
            self.spent[name] = None if red else time.monotonic() - began
            if red not in (0, 128 + signal.SIGKILL, 128 + signal.SIGXCPU):
                print(f"FAILED: {name} is red without a mutant", flush=True)
                self.red += 1
        return self.spent[name] is not None

    def is_red(self, name):
        return self.run(self.tests[name], 60 + 10 * self.spent[name])[0] != 0

    def programs(self, file):
        """The unit programs that make relinks for a file, likely ones first: they have its words in
        their names, caught a mutant of its folder, or are made of few files."""
        sizes, changed, words = {}, {file}, set(re.split(r"[/._]", file))
        for command in self.commands:
            if changed.intersection(command):
                made = [b for a, b in zip(command, command[1:]) if a == "-o" or b.endswith(".a")]
                changed.update(name.removesuffix(".new") for name in made)
                sizes.update({os.path.basename(name): len(command) for name in made})
        return sorted(self.units & set(sizes), key=lambda name: (
            -len(words.intersection(name.split("_"))), -self.caught[os.path.dirname(file), name],
            sizes[name], name))[:self.options.nearest]

    def put(self, file, text):
        with open(os.path.join(self.copy, file), "w", encoding="utf-8") as f:
            f.write(text)
        return text

    def is_equal(self, file, *texts):
        """Whether each of make's commands makes the same code of two texts of a file."""
        done = []
        for command in (c for c in self.commands if file in c):
            flags = [command[0]] + [w for a, w in zip(command, command[1:]) if a == "-include" or
                                    re.match(r"-(D|I|std|O|m|include|f(?!sanitize))", w)]
            make = shlex.join([*flags, "-w", "-g0", "-S", "-o", "-", file])
            if flags not in done:
                done.append(flags)
                codes = {self.run(make) for text in texts if self.put(file, text)}
                if len(codes) > 1 or codes.pop()[0]:
                    return False
        return bool(done)

    def verdict(self, mutant):
        with open(os.path.join(self.copy, mutant.file), encoding="utf-8") as f:
            text = f.read()
        changed = text[:mutant.start] + mutant.new + text[mutant.end:]
        try:
            return self.verdict_on(mutant.file, text, changed)
        finally:
            self.put(mutant.file, text)

    def verdict_on(self, file, text, changed):
        tried = 0
        for name in filter(self.judges, self.programs(file)):
            self.put(file, changed)
            if self.run(f"make -j {os.cpu_count()} HOST_CC='cc -w' build/unit/{name}")[0]:
                return "does not compile"
            if self.is_red(name):
                self.caught[os.path.dirname(file), name] += 1
                return f"caught by {name}"
            tried += 1
            if tried == 1 and self.is_equal(file, text, changed):
                return "same code"
        self.put(file, changed)
        for name in filter(self.is_red, self.suites):
            return f"caught by {name}"
        return "SURVIVED" if tried or self.suites else "no judge"


def judge_all(chosen, judge, options, rows):
    counts, judged, wrong = collections.Counter(), 0, 0
    for mutant in chosen:
        began, verdict = time.monotonic(), judge.verdict(mutant)
        kind = verdict.split(" ")[0]
        if mutant.text in rows:
            wrong += kind == "caught"
            listed = {"SURVIVED": "explained", "caught": f"FAILED: listed, {verdict}"}
            verdict = listed.get(kind, verdict)
        print(f"{verdict} ({time.monotonic() - began:.0f} s): {mutant.text}", flush=True)
        counts[verdict.split(" ")[0]] += 1
        judged += kind in ("caught", "SURVIVED")
        if judged == options.count:
            break
    good = counts["caught"] + counts["explained"]
    print(f"{counts['caught']} of {judged} caught, {counts['explained']} explained, "
          f"{counts['SURVIVED']} survived; {sum(counts.values()) - judged} didn't count")
    wrong += judge.red + (not judged or good * 100 < judged * options.least)
    print(f"{good} passed, {wrong} failed")
    return wrong > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    numbers = {"seed": 1, "count": 20, "nearest": None, "seconds": 20, "least": 100}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", action="append", metavar="DIR")
    parser.add_argument("--suites", default="")
    parser.add_argument("--only", metavar="TEXT")
    parser.add_argument("--kind", choices=KINDS)
    for name in "boots", "survivors", "list":
        parser.add_argument(f"--{name}", action="store_true")
    options = parser.parse_args()
    rows, folders = read_list(), options.folder or FOLDERS
    chosen = draw(options.seed, folders, options.kind)[:None if not options.list else options.count]
    if options.survivors or options.only:
        chosen = list({m.text: m for m in mutants_below(folders) if (
            options.only in m.text if options.only else m.text in rows)}.values())
        options.count = len(chosen)
    if options.list:
        print("\n".join(m.text for m in chosen))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with copy_of_tree() as copy:
        return judge_all(chosen, Judge(copy, options), options, rows)


if __name__ == "__main__":
    sys.exit(main())
