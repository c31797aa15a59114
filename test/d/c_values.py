#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Integer expressions in D against the system's C compiler: promotions, conversions, widths, signs,
shifts, division, comparison, assignment operators; of variables and of constants. On `self` both
have the same types.

c_values.py [--kymo PROGRAM] [--cc COMPILER] [--seed N] [--count N] [--rounds N]

Signed overflow wraps in D, so C is compiled with -fwrapv; shift counts are kept below the width,
and nothing is divided by 0 or by -1. Which side of an operator is evaluated first C doesn't say, so
no expression has more than one side effect.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test"))
import patience  # noqa: E402
import temporary  # noqa: E402,F401
TYPES = {  # name: (bytes, signed)
    "char": (1, True), "unsigned char": (1, False), "short": (2, True),
    "unsigned short": (2, False), "int": (4, True), "unsigned int": (4, False),
    "long": (8, True), "unsigned long": (8, False), "long long": (8, True),
    "unsigned long long": (8, False), "enum color": (4, True), "_Bool": (1, None),
}
EDGES = [0, 1, 2, 3, 7, 8, 15, 16, 31, 127, 128, 255, 256, 32767, 32768, 65535, 65536,
         2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]


class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.variables = []  # (name, type, value)
        self.constant = False

    def variable(self):
        kind = self.rng.choice(list(TYPES))
        size, signed = TYPES[kind]
        value = self.rng.choice([1, -1]) * self.rng.choice(EDGES + [self.rng.getrandbits(64)])
        value = value & 2 ** (8 * size) - 1 if signed is not None else value & 1
        if signed and value >> (8 * size - 1):
            value -= 2 ** (8 * size)
        self.variables.append((f"v{len(self.variables)}", kind, value))

    def leaf(self):
        if self.rng.random() < 0.25:
            value = self.rng.choice(EDGES)
            suffix = self.rng.choice(["", "", "u", "l", "ul", "ll", "ull", "U", "LU"])
            form = self.rng.choice(["%d", "%#x", "0%o"])
            # A decimal constant beyond long has no type in C.
            form = "%#x" if value >= 2**63 and form == "%d" else form
            return form % value + suffix
        name, kind, value = self.rng.choice(self.variables)
        if not self.constant:
            return name
        return f"(({kind}){value & (2**64 - 1):#x}ull)"

    def binary(self, depth):
        op = self.rng.choice(["+", "-", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=",
                              "&&", "||", "/", "%", "<<", ">>"])
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if op in ("/", "%"):
            right = f"((({right}) & 0x7f) + 1)"
        elif op in ("<<", ">>"):
            right = f"(({right}) & 0x1f)"
        return f"({left} {op} {right})"

    def expression(self, depth):
        if depth == 0 or self.rng.random() < 0.1:
            return self.leaf()
        what = self.rng.random()
        if what < 0.62:
            return self.binary(depth)
        inner = self.expression(depth - 1)
        if what < 0.72:
            return f"({self.rng.choice(['-', '~', '!', '+'])}{inner})"
        if what < 0.88:
            kind = self.rng.choice(list(TYPES))
            # gcc 12 fails on a cast of a comma expression to _Bool.
            return f"(({'int' if kind == '_Bool' and ',' in inner else kind}){inner})"
        if what < 0.95:
            return f"({inner} ? {self.expression(depth - 1)} : {self.expression(depth - 1)})"
        return f"({self.expression(1)}, {inner})"

    def statement(self):
        """What is done first, and what is printed then."""
        self.constant = self.rng.random() < 0.3
        if self.rng.random() < 0.6:
            return "", self.expression(self.rng.randint(1, 4))
        self.constant = False
        name = self.rng.choice(self.variables)[0]
        if self.rng.random() < 0.3:
            step = self.rng.choice(["{}++", "++{}", "{}--", "--{}"]).format(name)
            return "", f"({step})"
        op = self.rng.choice(["=", "+=", "-=", "*=", "&=", "|=", "^=", "/=", "%=", "<<=", ">>="])
        right = self.expression(self.rng.randint(0, 3))
        if op in ("/=", "%="):
            right = f"(({right}) & 0x7f) + 1"
        elif op in ("<<=", ">>="):
            right = f"({right}) & 7"
        return f"{name} {op} {right};", name


def program(seed, count):
    rng = random.Random(seed)
    maker = Maker(rng)
    for _ in range(12):
        maker.variable()
    return maker.variables, [maker.statement() for _ in range(count)]


def d_text(variables, statements):
    lines = ["enum color { RED };"] + [f"{kind} {name};" for name, kind, _ in variables]
    sets = "".join(f"{n} = {v & (2**64 - 1):#x}ull; " for n, _, v in variables)
    lines.append(f"BEGIN {{ {sets}}}")
    for first, shown in statements:
        lines.append(f"BEGIN {{ {first} printf(\"%d %d\\n\", sizeof({shown}), (long){shown}); }}")
    return "\n".join(lines + ["BEGIN { exit(0); }"]) + "\n"


def c_text(variables, statements):
    lines = ["#include <stdio.h>", "enum color { RED = -1, BLUE = 0x7fffffff };"]
    lines += [f"static volatile {kind} {name};" for name, kind, _ in variables]
    lines.append("int main(void) {")
    lines += [f"{name} = ({kind}){v & (2**64 - 1):#x}ull;" for name, kind, v in variables]
    for first, shown in statements:
        lines.append(f"{first} printf(\"%d %ld\\n\", (int)sizeof({shown}), (long){shown});")
    return "\n".join(lines + ["return 0;", "}"]) + "\n"


def compare(options, seed, folder):
    variables, statements = program(seed, options.count)
    d_file, c_file = os.path.join(folder, "values.d"), os.path.join(folder, "values.c")
    for path, text in ((d_file, d_text), (c_file, c_text)):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text(variables, statements))
    c_program = os.path.join(folder, "values")
    subprocess.run([options.cc, "-w", "-O0", "-fwrapv", "-o", c_program, c_file], check=True)
    wanted = subprocess.run([c_program], capture_output=True, check=True).stdout.decode()
    done = subprocess.run([options.kymo, "dtrace", "-t", "self", "-q", "-b", "8m", "-s", d_file],
                          capture_output=True, timeout=patience.seconds(120))
    got = done.stdout.decode().split("\n")
    bad = [] if done.returncode == 0 and len(got) > options.count else [done.stderr.decode()]
    for (first, shown), d, c in zip(statements, got, wanted.split("\n")):
        if d != c:
            bad.append(f"{first} {shown}: D has size and value {d}, C {c}")
    return bad


def main():
    parser = argparse.ArgumentParser(description="Integer expressions in D against C.")
    parser.add_argument("--kymo", default=os.path.join(ROOT, "build/kymo"))
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.rounds):
            bad = compare(options, seed, folder)
            failed += len(bad)
            for text in bad[:10]:
                print(f"FAIL seed {seed}: {text}")
    total = options.count * options.rounds
    print(f"{total - min(failed, total)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
