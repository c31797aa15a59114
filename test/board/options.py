#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The table of tracelogger's options and its man page agree: each row has an entry and a place in
the synopsis, with the table's argument, and the page has no other; what is refused says so."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(ROOT, "tracelogger/options.def")
MANUAL = os.path.join(ROOT, "docs/man/tracelogger.1")
# OPTION(letter, name, argument, takes, set, help in one or more pieces)
ROW = re.compile(r'''^OPTION\((0|'.'), "([^"]*)", (NULL|"[^"]*"), "([^"]*)", (\w+),\s*'''
                 r'''((?:\s*"[^"]*")+)\)$''', re.M)


class Row:
    def __init__(self, letter, name, argument, takes, setter, text):
        self.letter = letter.strip("'") if letter != "0" else ""
        self.word = "-" + self.letter if self.letter else "--" + name
        self.argument = "" if argument == "NULL" else argument.strip('"')
        self.takes, self.setter = takes, setter
        self.help = "".join(re.findall(r'"([^"]*)"', text)).split("\\n")

    def shown(self):
        return self.word + (" " + self.argument if self.argument else "")


def rows():
    with open(TABLE) as f:
        return [Row(*found) for found in ROW.findall(f.read())]


def wrong_rows(table):
    with open(TABLE) as f:
        written = len(re.findall(r"^OPTION\(", f.read(), re.M))
    if written != len(table) or written < 20:
        yield f"{len(table)} of {written} rows can be read"
    for row in table:
        if bool(row.argument) != bool(row.takes):
            yield f"{row.word}: an argument and what it takes belong together"
        if not row.help[0]:
            yield f"{row.word}: no help"
    words = [row.word for row in table]
    yield from (f"{word}: twice" for word in set(words) if words.count(word) > 1)


def wrong_pages(table):
    with open(MANUAL) as f:
        page = f.read().replace("\\-", "-")
    # .TP, then .B -x or .BI -x " argument"
    told = {word: argument.strip().upper() for word, argument in
            re.findall(r'^\.TP\n\.BI? (--?\w+)(?: "([^"]*)")?$', page, re.M)}
    synopsis = page[page.index(".SH SYNOPSIS"):page.index(".SH DESCRIPTION")]
    flags = re.search(r"^\.RB \[ -(\w+) \]$", synopsis, re.M)[1]
    for row in table:
        if row.word not in told:
            yield f"{row.word}: not in the manual"
        elif told[row.word] != row.argument:
            yield f"{row.word}: the manual calls its argument {told[row.word]!r}"
        if not (row.letter and not row.argument and row.letter in flags or
                re.search(rf"[\[ ]{row.word}\b", synopsis)):
            yield f"{row.word}: not in the synopsis"
    yield from (f"{word}: only in the manual" for word in told.keys() - {r.word for r in table})


def main():
    table = rows()
    wrong = [*wrong_rows(table), *wrong_pages(table)]
    for line in wrong:
        print(f"FAIL {line}")
    good = len(table) - len({line.split(":")[0] for line in wrong})
    print(f"{good} passed, {len(wrong)} failed")
    return 1 if wrong or not good else 0


if __name__ == "__main__":
    sys.exit(main())
