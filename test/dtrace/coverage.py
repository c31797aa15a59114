#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Everything D has a name for is in a row of test/dtrace/rows: what a table gains, a row must show.

The tables: trace/dtrace/opcodes.def (variables, subroutines), actions.def and options.def of
host/dt, the error tags there, printf's conversions, the letters of the command's options, the texts
of drops and faults. The manual page has every option. Events and probes of the kernel must have a
row of test/dtrace/cause_rows.py. Prints what is missing. The last line is `N passed, N failed`.
"""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import cause_rows  # noqa: E402
import run  # noqa: E402


def source(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def rows():
    all_rows = []
    for path in sorted(glob.glob(os.path.join(HERE, "rows", "*"))):
        all_rows += run.parse_tags(path) if path.endswith(".tags") else run.parse(path)
    return all_rows


def scripts(found):
    """What is compiled: scripts, and what the arguments say."""
    return "\n".join("\n".join(r.script) + "\n" + r.args for r in found)


def without_row(names, pattern, text):
    return [n for n in names if not re.search(pattern.replace("NAME", re.escape(n)), text)]


def table(path, macro):
    """The names in a table: the first argument of this macro, or the second after a number."""
    return re.findall(rf"^{macro}\((?:[0-9a-fx]+, *)?(\w+),", source(path), re.M)


def tags():
    """In the compiler's sources."""
    found = set()
    for path in glob.glob(os.path.join(ROOT, "host/dt/*/*.[chly]")):
        found |= set(re.findall(r'"(D_[A-Z]\w+)"', source(os.path.relpath(path, ROOT))))
    return sorted(found)


def letters():
    options = re.search(r"short_options\[\] = ([^;]+);", source("host/dtrace/command.c"))
    return sorted(set(re.sub(r"[^A-Za-z]", "", options.group(1))))


def quoted(path, before):
    """The texts in quotes of the list that begins with this."""
    return re.findall(r'"([^"]+)"', source(path).split(before)[1].split("};")[0])


def checks():
    found = rows()
    text = scripts(found)
    args = "\n".join(r.args for r in found)
    printed = "\n".join("\n".join((r.out or []) + (r.err or [])) for r in found)
    printed += "".join(source(os.path.relpath(p, ROOT))
                       for p in glob.glob(os.path.join(ROOT, "test/host/dtrace/command/*_test.c")))
    known = source("host/dt/clause/printf_parse.c")
    conversions = re.search(r'known\[\] = "(\w+)"', known).group(1)
    conversion = r"%[-#0+ '?@]*[0-9*]*(\.[0-9*]*)?@?[hlL]*NAME"
    # Some need probes that self hasn't.
    tagged = {r.tag for r in found} | set(
        re.findall(r'"(D_\w+)"', source("test/dtrace/scripts.py")))
    tagged.add("D_HELPER")  # of programs' helpers, not of scripts: test/host/dt/helper_test.c
    yield "variables", without_row(table("trace/dtrace/opcodes.def", "DIF_VAR"), r"\bNAME\b", text)
    subroutines = table("trace/dtrace/opcodes.def", "DIF_SUBR")
    yield "subroutines", without_row(subroutines, r"\bNAME\(", text)
    yield "actions", without_row(table("host/dt/clause/actions.def", "ACTION"), r"\bNAME\(", text)
    yield "aggregating functions", without_row(table("host/dt/clause/actions.def", "AGGREGATING"),
                                               r"@\w*(\[[^=]*)? = NAME\(", text)
    yield "options", without_row(table("host/dt/options.def", "OPTION"),
                                 r"(-x ?|option |setopt\(\")NAME\b", text)
    yield "error tags", [t for t in tags() if t not in tagged]
    yield "conversions", without_row([*conversions, "wc", "ws", "%", "@d"], conversion, text)
    yield "letters", without_row(letters(), r"(^|\s)-[a-zA-Z]*NAME", args)
    yield "drops", without_row([tag for name in ("message", "consume") for tag in
                                re.findall(r"DTRACEDROP_\w+",
                                           source(f"host/dtrace/consume/{name}.c"))],
                               "NAME", printed)
    yield "lines of the manual page", undocumented()
    yield "faults", without_row(quoted("host/dtrace/consume/message.c", "faults[] = {"),
                                "NAME", printed)
    yield "rows of test/dtrace/cause_rows.py", uncaused()


def uncaused():
    """Events and probes of the kernel that test/dtrace/causes.py has no row for."""
    caused = {line.split()[2] for line in cause_rows.ROWS.splitlines() if line}
    events = re.findall(r"^EVENT(?:_STATE|_DUMPED)?\((\w+), +(\w+),",
                        source("trace/events.def"), re.M)
    probes = re.findall(r'^PROBE\w*\((\w+), "([^"]*)", "([^"]*)"',
                        source("trace/probes.def"), re.M)
    names = [f"sdt:{group}:{name}" for name, group in events] + [":".join(p) for p in probes]
    return [name for name in names if name not in caused]


def undocumented():
    """Options of all kinds that the manual page doesn't have."""
    page = source("docs/man/kymo-dtrace.1").replace("\\fR", " ").replace("\\fP", " ")
    names = table("host/dt/options.def", "OPTION")
    longs = re.findall(r'{"(\w+)", (?:no|required)_argument', source("host/dtrace/command.c"))
    return (without_row(names, r"(?<![\w-])NAME(?!\w)", page) +
            without_row(longs, r"\\-\\-NAME\b", page) + without_row(letters(), r"\\-\w*NAME", page))


def main():
    passed = failed = 0
    for what, missing in checks():
        passed, failed = passed + (not missing), failed + bool(missing)
        if missing:
            print(f"FAIL {what} that are missing: {' '.join(missing)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
