#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Integer expressions in D against C: promotions, signs, widths, shifts, division, comparison,
assignment operators; of variables and of constants. On `self` both have the same types.

c_values.py [--kymo PROGRAM] [--cc COMPILER] [--seed N] [--count N] [--rounds N]

D differs from C by rule, and the C that is compiled says the rule in C's own words: every operator
works on 64 bits, (long) or (unsigned long) as the sign of the type that C computes it in says; only
a load, a cast and a store give a value a type's width. Types are C's, worked out here: what sizeof
says, and in which size a value is recorded: 8 bytes if it comes from a product or a left shift with
no cast over it. A folded constant whose value its type can't hold has the type of a literal of that
value.

C is compiled with -fwrapv; shift counts are kept below 32, and nothing is divided by 0 or by -1.
Which side of an operator is evaluated first C doesn't say, so no expression has more than one side
effect.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
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


RANKS = ["int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"]
COMPARES = ("<", "<=", ">", ">=", "==", "!=")
LOGIC = ("&&", "||")


def promoted(kind):
    return "int" if TYPES[kind][0] < 4 or kind == "enum color" else kind


def usual(one, other):
    """C's usual conversions as D has them: of two types of one size the unsigned one wins, else the
    left one."""
    one, other = promoted(one), promoted(other)
    if TYPES[one][0] != TYPES[other][0]:
        return one if TYPES[one][0] > TYPES[other][0] else other
    return other if TYPES[one][1] and not TYPES[other][1] else one


def in_type(kind, value):
    """The value that a variable of this type has, of one of any size."""
    size, signed = TYPES[kind]
    if signed is None:
        return int(value != 0)
    value &= 2 ** (8 * size) - 1
    return value - 2 ** (8 * size) if signed and value >> (8 * size - 1) else value


def register(value):
    return value & 2**64 - 1


def held(kind, value):
    """The type, or the next one that holds what a register has."""
    for wider in [kind] + [k for k in RANKS if TYPES[k][1] == TYPES[kind][1]]:
        if register(in_type(wider, value)) == value:
            return wider
    raise ValueError("no type holds it")


def literal(text):
    digits = text.rstrip("uUlL")
    value = int(digits, 8 if digits.startswith("0") and digits[1:2] != "x" else 0)
    suffix = text[len(digits):].lower()
    for kind in RANKS[2 * suffix.count("l"):]:
        signed = TYPES[kind][1]
        if ("u" in suffix and signed) or (digits[:1] != "0" and "u" not in suffix and not signed):
            continue
        if in_type(kind, value) == value:
            return kind, value
    raise ValueError(text)


class Value:
    """An expression: as D and as C write it, C's of type long; its type, its value if it is a
    constant, and whether it comes from a product."""
    def __init__(self, d, c, kind, constant=None, product=False):
        self.d, self.c, self.kind = d, c, kind
        self.constant, self.product = constant, product

    def recorded(self):
        size = TYPES[self.kind][0]
        return 8 if self.product and self.constant is None else size


def folded(op, a, b, signed):
    if signed:
        a, b = in_type("long", a), in_type("long", b)
    if op in ("/", "%"):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return register(quotient if op == "/" else a - b * quotient)
    if op in ("<<", ">>"):
        return register(a << (b & 63) if op == "<<" else a >> (b & 63))
    return register({"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b,
                     "^": a ^ b}[op]) if op not in COMPARES else int(
        {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op])


def binary(op, left, right):
    d = f"({left.d} {op} {right.d})"
    shift = op in ("<<", ">>")
    common = promoted(left.kind) if shift else usual(left.kind, right.kind)
    wide = "long" if TYPES[common][1] else "unsigned long"
    kind = "int" if op in COMPARES + LOGIC else common
    if op in LOGIC:
        c = f"((long)({left.c} {op} {right.c}))"
    elif shift:
        c = f"((long)(({wide}){left.c} {op} {right.c}))"
    else:
        c = f"((long)(({wide}){left.c} {op} ({wide}){right.c}))"
    product = op in ("*", "<<") or (op not in COMPARES + LOGIC
                                    and (left.product or right.product))
    if left.constant is None or right.constant is None:
        return Value(d, c, kind, None, product)
    a, b = left.constant, right.constant
    if op in LOGIC:
        value = int(bool(a and b if op == "&&" else a or b))
    else:
        value = folded(op, a, b, TYPES[common][1])
    return Value(d, c, held(kind, value), value)


def cast(kind, of):
    constant = None if of.constant is None else register(in_type(kind, of.constant))
    # gcc 12 fails on a cast of a comma expression to _Bool.
    c = f"((long)({of.c} != 0))" if kind == "_Bool" else f"((long)({kind}){of.c})"
    return Value(f"(({kind}){of.d})", c, kind, constant)


def unary(op, of):
    d = f"({op}{of.d})"
    if op == "!":
        constant = None if of.constant is None else int(of.constant == 0)
        return Value(d, f"((long)!{of.c})", "int", constant)
    kind = promoted(of.kind)
    c = f"(({op}{of.c}))"
    if of.constant is None:
        return Value(d, c, kind, None, of.product)
    value = register({"-": -of.constant, "~": ~of.constant, "+": of.constant}[op])
    if op == "-" and TYPES[kind][1]:
        return Value(d, c, held(kind, value), value)
    if op == "-":  # of a constant without a sign: one of its type
        value = register(in_type(kind, value))
        c = f"((long)({kind}){c})"
    return Value(d, c, kind, value)


class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.variables = []  # (name, type, value)
        self.constant = False

    def variable(self):
        kind = self.rng.choice(list(TYPES))
        value = self.rng.choice([1, -1]) * self.rng.choice(EDGES + [self.rng.getrandbits(64)])
        value = value & 1 if kind == "_Bool" else in_type(kind, value)
        self.variables.append((f"v{len(self.variables)}", kind, value))

    def leaf(self):
        if self.rng.random() < 0.25:
            value = self.rng.choice(EDGES)
            suffix = self.rng.choice(["", "", "u", "l", "ul", "ll", "ull", "U", "LU"])
            form = self.rng.choice(["%d", "%#x", "0%o"])
            # A decimal constant beyond long has no type in C.
            form = "%#x" if value >= 2**63 and form == "%d" else form
            text = form % value + suffix
            kind, value = literal(text)
            return Value(text, f"((long){text})", kind, value)
        name, kind, value = self.rng.choice(self.variables)
        if not self.constant:
            return Value(name, f"((long){name})", kind)
        text = f"{register(value):#x}ull"
        return cast(kind, Value(text, text, "unsigned long long", register(value)))

    def binary(self, depth):
        op = self.rng.choice(["+", "-", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=",
                              "&&", "||", "/", "%", "<<", ">>"])
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        number = lambda n: Value(str(n), f"{n}l", "int", n)  # noqa: E731
        if op in ("/", "%"):
            right = binary("+", binary("&", right, number(0x7f)), number(1))
        elif op in ("<<", ">>"):
            right = binary("&", right, number(0x1f))
        return binary(op, left, right)

    def expression(self, depth):
        if depth == 0 or self.rng.random() < 0.1:
            return self.leaf()
        what = self.rng.random()
        if what < 0.62:
            return self.binary(depth)
        inner = self.expression(depth - 1)
        if what < 0.72:
            return unary(self.rng.choice(["-", "~", "!", "+"]), inner)
        if what < 0.88:
            return cast(self.rng.choice(list(TYPES)), inner)
        other = self.expression(depth - 1 if what < 0.95 else 1)
        if what < 0.95:
            yes, no = other, self.expression(depth - 1)
            value = None
            if None not in (inner.constant, yes.constant, no.constant):
                value = yes.constant if inner.constant else no.constant
            return Value(f"({inner.d} ? {yes.d} : {no.d})", f"({inner.c} ? {yes.c} : {no.c})",
                         usual(yes.kind, no.kind), value, yes.product or no.product)
        return Value(f"({other.d}, {inner.d})", f"({other.c}, {inner.c})", inner.kind, None,
                     inner.product)

    def statement(self):
        """What is done first, in D and in C, and what is printed then."""
        self.constant = self.rng.random() < 0.3
        if self.rng.random() < 0.6:
            return "", "", self.expression(self.rng.randint(1, 4))
        self.constant = False
        name, kind, _ = self.rng.choice(self.variables)
        old = Value(name, f"((long){name})", kind)
        if self.rng.random() < 0.3:
            step = self.rng.choice(["{}++", "++{}", "{}--", "--{}"]).format(name)
            return "", "", Value(f"({step})", f"((long){step})", kind)
        op = self.rng.choice(["", "+", "-", "*", "&", "|", "^", "/", "%", "<<", ">>"])
        right = self.expression(self.rng.randint(0, 3))
        seven = Value("7", "7l", "int", 7)
        if op in ("/", "%"):
            right = binary("+", binary("&", right, seven), Value("1", "1l", "int", 1))
        elif op in ("<<", ">>"):
            right = binary("&", right, seven)
        new = binary(op, old, right) if op else right
        return f"{name} {op}= {right.d};", f"{name} = {new.c};", old


def program(seed, count):
    rng = random.Random(seed)
    maker = Maker(rng)
    for _ in range(12):
        maker.variable()
    return maker.variables, [maker.statement() for _ in range(count)]


def d_text(variables, statements):
    lines = ["enum color { RED };"] + [f"{kind} {name};" for name, kind, _ in variables]
    sets = "".join(f"{n} = {register(v):#x}ull; " for n, _, v in variables)
    lines.append(f"BEGIN {{ {sets}}}")
    for first, _, shown in statements:
        lines.append(f"BEGIN {{ {first} this->size = sizeof({shown.d}); "
                     f"this->value = (long){shown.d}; "
                     f"printf(\"%d %d\\n\", this->size, this->value); }}")
        if "++" not in shown.d and "--" not in shown.d:
            lines.append(f"BEGIN {{ printf(\"%d\\n\", {shown.d}); }}")
    return "\n".join(lines + ["BEGIN { exit(0); }"]) + "\n"


def c_text(variables, statements):
    lines = ["#include <stdio.h>", "enum color { RED = -1, BLUE = 0x7fffffff };"]
    lines += [f"static volatile {kind} {name};" for name, kind, _ in variables]
    lines.append("int main(void) {")
    lines += [f"{name} = ({kind}){register(v):#x}ull;" for name, kind, v in variables]
    for _, first, shown in statements:
        size, signed = shown.recorded(), TYPES[shown.kind][1]
        kept = {1: "char", 2: "short", 4: "int", 8: "long"}[size]
        kept = ("signed " if signed else "unsigned ") + kept
        lines.append(f"{first} printf(\"%d %ld\\n\", {TYPES[shown.kind][0]}, {shown.c});")
        if "++" not in shown.d and "--" not in shown.d:
            lines.append(f"printf(\"%l{'d' if signed else 'u'}\\n\", "
                         f"({'' if signed else 'unsigned '}long)({kept}){shown.c});")
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
    got, wanted = done.stdout.decode().split("\n"), wanted.split("\n")
    bad = []
    if done.returncode or len(got) != len(wanted) + 1:  # quiet ends with a newline
        bad = [f"status {done.returncode}, {len(got)} lines, not {len(wanted)}: "
               f"{done.stderr.decode()}"]
    texts = [line for line in d_text(variables, statements).split("\n") if "printf" in line]
    for text, d, c in zip(texts, got, wanted):
        if d != c:
            bad.append(f"{text}: D has {d}, C {c}")
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
