# SPDX-License-Identifier: BSD-2-Clause
"""Reads the list of faults (test/mutate/faults.list) and finds the place of each in the sources.

A row of the list, an empty line behind each; a line that begins with # is a comment:

    kernel/time/timer.c timer_work: off by one       file, function, class of the fault
    - node->at <= now                           the text that goes: once in that function
    + node->at < now                            what comes instead; no such line: nothing
    = unit-ipc_timer_test boot-virt-a64:timer   the suites to try, the cheapest first
    ? reason                                    only if nothing changes that is noticed: why

Several lines of - or + are one text. How the text is spaced and broken into lines is not compared.
The function `*` is the whole file. A suite is one of `make check`'s; behind a colon stand the
boots of boot-BOARD that are run, all without one. A row whose text isn't there exactly once is an
error: whoever changes the code changes the row. Proof: test/mutate/check.
"""
import collections
import hashlib
import os
import re

Row = collections.namedtuple("Row", "number file function kind old new suites reason")


class ListError(Exception):
    pass


def identity(row):
    """Names a row as long as what it plants and where it is looked for stay."""
    text = "\0".join([row.file, row.function, row.old, row.new, *row.suites])
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def parse_head(line, where):
    match = re.fullmatch(r"(\S+) (\S+): (\S.*)", line)
    if not match:
        raise ListError(f"{where}: a row begins with FILE FUNCTION: CLASS, not with: {line}")
    return match.groups()


def parse_row(block, number, path):
    """The row of these (line number, line)."""
    where = f"{path}:{block[0][0]}"
    file, function, kind = parse_head(block[0][1], where)
    parts = {"-": [], "+": [], "=": [], "?": []}
    for line_number, line in block[1:]:
        if line[:1] not in parts or line[1:2] not in ("", " "):
            raise ListError(f"{path}:{line_number}: a line begins with -, +, = or ? and a space")
        parts[line[0]].append(line[2:])
    old, new = "\n".join(parts["-"]), "\n".join(parts["+"])
    suites = tuple(" ".join(parts["="]).split())
    for what, text in ("text after -", old.strip()), ("suites after =", suites):
        if not text:
            raise ListError(f"{where}: the row has no {what}")
    if old.split() == new.split():
        raise ListError(f"{where}: the row changes nothing")
    return Row(number, file, function, kind, old, new, suites, " ".join(parts["?"]))


def read_list(path):
    blocks, block = [], []
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n") + [""]
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            continue
        if line.strip():
            block.append((number, line))
        elif block:
            blocks.append(block)
            block = []
    rows = [parse_row(block, n, path) for n, block in enumerate(blocks, 1)]
    if not rows:
        raise ListError(f"{path}: no rows")
    twice = [i for i, n in collections.Counter(map(identity, rows)).items() if n > 1]
    for row in rows:
        if identity(row) in twice:
            raise ListError(f"{path}: row {row.number} ({row.file} {row.function}) stands twice")
    return rows


def function_span(text, name):
    """First and last offset of the function's definition; None if there isn't exactly one."""
    if name == "*":
        return 0, len(text)
    head = rf"^[A-Za-z_][^\n;{{}}=]*\b{re.escape(name)}\([^;{{}}]*\)\n\{{\n"
    found = []
    for match in re.finditer(head, text, re.M):
        end = text.find("\n}", match.end() - 2)
        if end >= 0:
            found.append((match.start(), end + 2))
    return found[0] if len(found) == 1 else None


def pattern_of(old):
    """The text as a pattern: any white space equals any other, and no name is cut in two."""
    return r"(?<!\w)" * old.split()[0][0].isidentifier() + r"\s+".join(map(re.escape, old.split()))


def plant(row, text):
    """The source with the fault. Raises ListError if it doesn't fit exactly once."""
    where = f"row {row.number}: {row.file}"
    span = function_span(text, row.function)
    if span is None:
        raise ListError(f"{where}: not exactly one function {row.function}")
    found = list(re.finditer(pattern_of(row.old), text[span[0]:span[1]]))
    if len(found) != 1:
        raise ListError(f"{where} {row.function}: the text stands there {len(found)} times, not "
                        f"once: {row.old}")
    first, last = span[0] + found[0].start(), span[0] + found[0].end()
    return text[:first] + row.new + text[last:]


def check_rows(rows, root, suites):
    """What is wrong with rows, a line each; suites: the names that there are."""
    wrong = []
    for row in rows:
        try:
            with open(os.path.join(root, row.file), encoding="utf-8") as f:
                plant(row, f.read())
        except OSError as error:
            wrong.append(f"row {row.number}: {row.file}: {error.strerror}")
        except ListError as error:
            wrong.append(str(error))
        for suite in row.suites:
            name, _, boots = suite.partition(":")
            if name not in suites or (boots and not name.startswith("boot-")):
                wrong.append(f"row {row.number}: no suite {suite}: scripts/check --list")
        if re.search(r"\bno tests?\b", row.reason):
            wrong.append(f"row {row.number}: a fault that changes something wants a test, not an "
                         f"explanation: {row.reason}")
    return wrong
