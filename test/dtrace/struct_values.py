#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Random D programs with structs by value, against a model: nested structs, arrays of structs,
unions, bit-fields, pointers; in assignments, ?:, inlines with parameters, translators, alloca'd
memory, associative arrays, keys of aggregations. The model knows every value; each program prints
all of its variables at its end, and how many different keys its aggregations have.

struct_values.py [--kymo PROGRAM] [--target SPEC] [--seed N] [--count N]
The same seed gives the same programs.
"""
import argparse
import concurrent.futures
import copy
import json
import os
import random
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import patience  # noqa: E402

LEAVES = {"int8_t": (8, True), "uint8_t": (8, False), "int16_t": (16, True),
          "uint16_t": (16, False), "int32_t": (32, True), "uint32_t": (32, False),
          "int64_t": (64, True), "uint64_t": (64, False)}
EDGES = (0, 1, 2, 5, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**40 + 7)


def keep(value, bits, signed):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


class Leaf:
    """An integer member, maybe a bit-field."""
    def __init__(self, name, bits, signed, field=0):
        self.name, self.bits, self.signed, self.field = name, field or bits, signed, field

    def declare(self, name):
        return f"{self.name} {name}" + (f" : {self.field}" if self.field else "")

    def zero(self):
        return 0


class Union:
    """32 bits, as one number or as four bytes; the model has the number."""
    def declare(self, name):
        return f"union {{ uint32_t whole; uint8_t part[4]; }} {name}"

    def zero(self):
        return 0


class Array:
    def __init__(self, of, count):
        self.of, self.count = of, count

    def declare(self, name):
        return self.of.declare(f"{name}[{self.count}]")

    def zero(self):
        return [self.of.zero() for _ in range(self.count)]


class Struct:
    def __init__(self, tag, members):
        self.tag, self.members = tag, members  # name: type

    def declare(self, name):
        return f"struct {self.tag} {name}"

    def zero(self):
        return {name: t.zero() for name, t in self.members.items()}


class Place:
    """Text of an lvalue, its type, and where its value is in the model."""
    def __init__(self, text, kind, holder, key, byte=None):
        self.text, self.kind, self.holder, self.key, self.byte = text, kind, holder, key, byte

    def get(self):
        value = self.holder[self.key]
        return value if self.byte is None else value >> 8 * self.byte & 255

    def put(self, value):
        if self.byte is not None:
            old = self.holder[self.key] & ~(255 << 8 * self.byte)
            value = old | (value & 255) << 8 * self.byte
        elif isinstance(self.kind, Leaf):
            value = keep(value, self.kind.bits, self.kind.signed)
        self.holder[self.key] = copy.deepcopy(value)


BYTE, WORD = Leaf("uint8_t", 8, False), Leaf("uint32_t", 32, False)


def within(place):
    """All places in it, itself first."""
    yield place
    value = place.holder[place.key]
    if isinstance(place.kind, Struct):
        for name, kind in place.kind.members.items():
            yield from within(Place(f"{place.text}.{name}", kind, value, name))
    elif isinstance(place.kind, Array):
        for i in range(place.kind.count):
            yield from within(Place(f"{place.text}[{i}]", place.kind.of, value, i))
    elif isinstance(place.kind, Union):
        yield Place(place.text + ".whole", WORD, place.holder, place.key)
        for i in range(4):
            yield Place(f"{place.text}.part[{i}]", BYTE, place.holder, place.key, i)


class Program:
    def __init__(self, seed):
        self.rand = random.Random(seed)
        self.structs, self.values, self.keys = [], {}, {}
        for i in range(self.rand.randint(2, 4)):
            self.structs.append(self.struct(i))
        self.roots = [self.variable(i) for i in range(self.rand.randint(4, 8))]
        self.clauses = [self.clause() for _ in range(self.rand.randint(6, 16))]

    # ---- types and variables ---------------------------------------------------------------------

    def member(self):
        r, n = self.rand, self.rand.random()
        if n < 0.2 and self.structs:
            return r.choice(self.structs)
        # A struct with bit-fields has no padding at its end, so the next element may be misaligned,
        # and stores to its members are faults: test/dtrace/rows/structs.rows.
        whole = [s for s in self.structs if not any(getattr(t, "field", 0)
                                                    for t in s.members.values())]
        if n < 0.35 and whole:
            return Array(r.choice(whole), r.randint(1, 3))
        if n < 0.45:
            return Union()
        name = r.choice(sorted(LEAVES))
        bits, signed = LEAVES[name]
        if n < 0.6:
            return Array(Leaf(name, bits, signed), r.randint(1, 3))
        if n < 0.8 and bits <= 32:
            return Leaf(name, bits, signed, r.randint(1, bits))
        return Leaf(name, bits, signed)

    def struct(self, i):
        return Struct(f"s{i}", {f"m{k}": self.member() for k in range(self.rand.randint(1, 5))})

    def variable(self, i):
        kind, scope = self.rand.choice(self.structs), self.rand.choice("gggltta")
        text = {"g": f"g{i}", "l": f"this->l{i}", "t": f"self->t{i}", "a": f"a{i}"}[scope]
        if scope == "a":
            text = f"a{i}[{self.rand.randint(0, 3)}, \"k\"]"
        self.values[i] = kind.zero()
        place = Place(text, kind, self.values, i)
        place.scope, place.number = scope, i
        return place

    def declarations(self):
        lines = [f"struct {s.tag} {{ " + " ".join(t.declare(n) + ";" for n, t in s.members.items())
                 + " };" for s in self.structs]
        for place in self.roots:
            i, tag = place.number, place.kind.tag
            lines.append({"g": f"struct {tag} g{i};", "l": f"this struct {tag} l{i};",
                          "t": f"self struct {tag} t{i};",
                          "a": f"struct {tag} a{i}[int, string];"}[place.scope])
        for s in self.structs:
            same = [p for p in self.roots if p.kind is s and p.scope in "gt"]
            if same:
                a, b = same[0], same[-1]
                lines.append(f"inline struct {s.tag} pick_{s.tag}[int one] = "
                             f"one ? {a.text} : {b.text};")
            lines.append(f"struct out_{s.tag} {{ struct {s.tag} whole; int mark; }};")
            lines.append(f"translator struct out_{s.tag} < struct {s.tag} *from > "
                         "{ whole = *from; mark = 77; };")
        return lines

    # ---- statements ------------------------------------------------------------------------------

    def places(self, wanted):
        return [p for root in self.roots for p in within(root) if wanted(p)]

    def number(self):
        """(text, value) of an int64_t."""
        r = self.rand
        leaves = self.places(lambda p: isinstance(p.kind, Leaf))
        if leaves and r.random() < 0.5:
            place = r.choice(leaves)
            add = r.choice(EDGES[:6])
            return f"(int64_t){place.text} + {add}", place.get() + add
        value = r.choice(EDGES) * r.choice((1, -1))
        return f"({value})", value

    def store(self):
        place = self.rand.choice(self.places(lambda p: isinstance(p.kind, Leaf)))
        text, value = self.number()
        place.put(value)
        return f"{place.text} = {text};"

    def value(self, kind):
        """(text, value) of a struct by value."""
        r = self.rand
        some = self.places(lambda p: p.kind is kind)
        one, other, how = r.choice(some), r.choice(some), r.random()
        if how < 0.25:
            text, value = self.number()
            return (f"({text} ? {one.text} : {other.text})",
                    (one if keep(value, 64, True) else other).get())
        same = [p for p in self.roots if p.kind is kind and p.scope in "gt"]
        if how < 0.4 and same:
            first = r.random() < 0.5
            return f"pick_{kind.tag}[{int(first)}]", same[0 if first else -1].get()
        return one.text, one.get()

    def copy(self):
        place = self.rand.choice(self.places(lambda p: isinstance(p.kind, Struct)))
        text, value = self.value(place.kind)
        place.put(value)
        return f"{place.text} = {text};"

    def through_memory(self):
        """A struct in alloca'd memory, changed by way of a pointer, and maybe translated."""
        r = self.rand
        kind = r.choice(self.places(lambda p: isinstance(p.kind, Struct))).kind
        text, value = self.value(kind)
        memory = {"it": copy.deepcopy(value)}
        name = f"struct {kind.tag}"
        lines = [f"this->p_{kind.tag} = ({name} *)alloca(2 * sizeof ({name}));",
                 f"*this->p_{kind.tag} = {text};"]
        at = f"(*this->p_{kind.tag})"
        leaves = [p for p in within(Place(at, kind, memory, "it")) if isinstance(p.kind, Leaf)]
        if leaves:
            leaf = r.choice(leaves)
            text, number = self.number()
            leaf.put(number)
            path = leaf.text.replace(at + ".", f"this->p_{kind.tag}->", 1)
            lines.append(f"{path} = {text};")
        from_text = r.choice((f"*this->p_{kind.tag}", f"this->p_{kind.tag}[1]",
                              f"xlate <struct out_{kind.tag}>(this->p_{kind.tag}).whole"))
        if "[1]" in from_text:
            lines.append(f"this->p_{kind.tag}[1] = *this->p_{kind.tag};")
        place = r.choice(self.places(lambda p: p.kind is kind))
        place.put(memory["it"])
        return "\n    ".join(lines + [f"{place.text} = {from_text};"])

    def key(self):
        """Keys are compared by their bytes; what pads a struct is zero in all of its copies."""
        if self.rand.random() < 0.5:
            place = self.rand.choice(self.places(lambda p: isinstance(p.kind, Leaf)))
            name, text, value = f"k{place.kind.name}{place.kind.field}", place.text, place.get()
        else:
            kind = self.rand.choice(self.places(lambda p: isinstance(p.kind, Struct))).kind
            text, value = self.value(kind)
            name = "k" + kind.tag
        self.keys.setdefault(name, set()).add(json.dumps(value, sort_keys=True))
        return f"@{name}[{text}, 1] = count();"

    def clause(self):
        kinds = (self.store, self.store, self.copy, self.copy, self.through_memory, self.key)
        lines = [self.rand.choice(kinds)() for _ in range(self.rand.randint(1, 4))]
        return "BEGIN {\n    " + "\n    ".join(lines) + "\n}"

    def text(self):
        prints = [f'BEGIN {{ printf("{i} %d\\n", (int64_t){p.text}); }}'
                  for i, p in enumerate(self.leaves())]
        lines = self.declarations() + self.clauses + prints + ["BEGIN { exit(0); }"]
        return "\n".join(lines) + "\n"

    def leaves(self):
        return self.places(lambda p: isinstance(p.kind, Leaf))

    def wanted(self):
        return [f"{i} {keep(p.get(), 64, True)}" for i, p in enumerate(self.leaves())]


def difference(program, done):
    said, keys = [], {}
    for line in done.stdout.decode(errors="replace").splitlines():
        one = json.loads(line)
        if "aggregation" in one or "rows" in one:
            keys[one.get("aggregation", one.get("name", "")).lstrip("@")] = len(one["rows"])
        elif "data" in one:
            said += [d["text"].rstrip("\n") for d in one["data"] if d.get("action") == "printf"]
    for got, wanted in zip(said + ["nothing"] * len(program.wanted()), program.wanted()):
        if got != wanted:
            place = program.leaves()[int(wanted.split()[0])]
            return f"{place.text}: {got}, not {wanted}"
    for name, values in program.keys.items():
        if keys.get(name) != len(values):
            return f"@{name} has {keys.get(name)} keys, not {len(values)}: {sorted(values)}"
    return None


def try_one(kymo, target, seed):
    program = Program(seed)
    try:
        done = subprocess.run([kymo, "dtrace", "-t", target, "--json", "-x", "bufsize=1m", "-x",
                               "dynvarsize=1m", "-s", "/dev/stdin"], capture_output=True,
                              input=program.text().encode(), timeout=patience.seconds(60))
    except subprocess.TimeoutExpired:
        return "hangs\n" + program.text()
    errors = done.stderr.decode(errors="replace")
    if done.returncode or "error" in errors or "drop" in errors or "Sanitizer" in errors:
        return f"status {done.returncode}\n{errors}\n{program.text()}"
    bad = difference(program, done)
    return bad and bad + "\n" + program.text()


def main():
    parser = argparse.ArgumentParser(description="Structs by value, against a model.")
    parser.add_argument("--kymo", default=os.path.join(ROOT, "build/kymo-asan"))
    parser.add_argument("--target", default="self")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randint(1, 1 << 30))
    parser.add_argument("--count", type=int, default=100)
    args = parser.parse_args()
    print(f"seed {args.seed}")
    seeds = range(args.seed, args.seed + args.count)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = pool.map(lambda s: try_one(args.kymo, args.target, s), seeds)
        for seed, bad in zip(seeds, jobs):
            if bad:
                failed += 1
                print(f"FAIL --seed {seed} --count 1: {bad}")
    print(f"{args.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
