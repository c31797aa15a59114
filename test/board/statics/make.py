#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A program with random static probes, and what each pass of it records.

make.py SEED > PROGRAM.c

Two seeds give two programs of the same provider, with places at the same addresses. The makefile
makes the programs, test/board/statics.py imports this to know what they must say.
"""
import random
import sys

PROVIDER = "myapp"
# Of 32 bits, and of a long, which has as many as the machine. C's type, the name in D, and the
# values that it may have as (bits or None, signed).
TYPES = {
    "int": ("int", 32, True),
    "unsigned": ("uint32_t", 32, False),
    "signed char": ("int", 8, True),
    "unsigned short": ("int", 16, False),
    "long": ("", None, True),
    "unsigned long": ("", None, False),
    "void *": ("void *", None, False),
}
PASSES = 3


def d_type(c_type, bits):
    """How -lv names an argument's type."""
    name, _, signed = TYPES[c_type]
    if name:
        return name
    if bits == 32:
        return "int" if signed else "uint32_t"
    return "int64_t" if signed else "uint64_t"


class Probe:
    def __init__(self, r, name):
        self.name = name
        self.types = [r.choice(list(TYPES)) for _ in range(r.randrange(0, 7))]
        self.values = [r.getrandbits(64) for _ in self.types]

    def said(self, number, bits, n):
        """The n-th pass's arguments, as numbers of 64 bits."""
        wide = TYPES[self.types[number]][1] or bits
        value = (self.values[number] + n) & ((1 << wide) - 1)
        if TYPES[self.types[number]][2] and value >> (wide - 1):
            value -= 1 << wide
        return value

    def d_name(self):
        return self.name.replace("__", "-")


def probes(seed):
    r = random.Random(f"statics {seed}")
    words = ["request", "reply", "start", "done", "open", "x", "retry2", "queue_full"]
    names = []
    while len(names) < 6:
        name = "__".join(r.sample(words, r.randrange(1, 4)))
        if name not in names:
            names.append(name)
    return [Probe(r, name) for name in names] + [Probe(r, "in__both"), Probe(r, "in__both__2")]


def main():
    seed = sys.argv[1]
    print("/* Written by test/board/statics/make.py. */")
    print("#include <kymo_probe.h>\n#include <stdlib.h>\n")
    made = probes(seed)
    for i, p in enumerate(made):
        for k, c_type in enumerate(p.types):
            print(f"static unsigned long long v{i}_{k} = {p.values[k]}ull;")
    for i, p in enumerate(made):
        args = "".join(f", ({t})(unsigned long)(v{i}_{k} + n)" for k, t in enumerate(p.types))
        print(f"\nstatic __attribute__((noinline)) void f{i}(unsigned n)\n{{\n"
              f"    (void)n;\n    KYMO_PROBE({PROVIDER}, {p.name}{args});\n}}")
    print("\nint main(int argc, char **argv)\n{\n"
          f"    unsigned passes = argc > 1 ? (unsigned)atoi(argv[1]) : {PASSES};\n"
          "    for (unsigned n = 0; n < passes; n++) {")
    for i, _ in enumerate(made):
        print(f"        f{i}(n);")
    print("    }\n    return 0;\n}")


if __name__ == "__main__":
    main()
