#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A program with as many static probes as one can have, of two providers: many.py > PROGRAM.c

Those of one name stand between those of others, so that no range of places is one probe's.
test/board/statics.py imports this to know how often each fires in a pass.
"""
import sys

PLACES = 2000
IN_A_FUNCTION = 100


def place(number):
    """Provider, name in C, and the argument's value."""
    if number % 5 == 0:
        return "others", f"p{number}", number
    return "many", "twice" if number % 5 == 1 else "same", number


def counts():
    """Of D's names: how often each fires, and the sum of its arguments."""
    of = {}
    for number in range(PLACES):
        provider, name, value = place(number)
        n, total = of.get((provider, name), (0, 0))
        of[provider, name] = (n + 1, total + value)
    return of


def program():
    functions = range(0, PLACES, IN_A_FUNCTION)
    yield "#include <kymo_probe.h>"
    for first in functions:
        yield f"static void __attribute__((noinline)) f{first}(void)\n{{"
        for number in range(first, min(PLACES, first + IN_A_FUNCTION)):
            yield "    KYMO_PROBE({}, {}, {});".format(*place(number))
        yield "}"
    yield "int main(void)\n{"
    for first in functions:
        yield f"    f{first}();"
    yield "    return 0;\n}"


if __name__ == "__main__":
    sys.stdout.write("\n".join(program()) + "\n")
