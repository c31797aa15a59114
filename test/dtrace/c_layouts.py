#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Structs and unions in D against the system's C compiler: sizes, offsets, what is read back after
every scalar member has been assigned, by name, through pointers and by variable indices.

c_layouts.py [--kymo PROGRAM] [--cc COMPILER] [--seed N] [--count N] [--rounds N]

Half of the rounds declare the types in D, without bit-fields, which D lays out in a way of its own
(test/dtrace/rows/structs.rows). The others take them, with bit-fields, from the DWARF of the C
program, and compare every byte.
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
SCALARS = ["char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "long",
           "unsigned long", "long long", "int8_t", "uint16_t", "int32_t", "uint64_t", "enum color"]
BYTES = 24  # of each variable that are compared
OTHERS = ["char *", "void *", "float", "double", "struct nobody *"]


class Maker:
    def __init__(self, rng, bits):
        self.rng, self.bits = rng, bits
        self.n = 0
        self.made = []  # (name, paths of scalars)

    def name(self, prefix):
        self.n += 1
        return f"{prefix}{self.n}"

    def member(self, depth):
        """(declaration, path or None if anonymous, paths of scalars below)"""
        name, what = self.name("m"), self.rng.random()
        count = self.rng.choice([1, 2, 3, 5])
        if self.bits and self.rng.random() < 0.4:
            kind, width = self.rng.choice([("char", 8), ("unsigned short", 16), ("int", 32),
                                           ("unsigned int", 32), ("long", 64),
                                           ("unsigned long", 64)])
            return f"{kind} {name} : {self.rng.randint(1, width)};", None, [name]
        if what < 0.5:
            kind = self.rng.choice(SCALARS)
            return f"{kind} {name};", name, [name]
        if what < 0.62:
            return f"{self.rng.choice(OTHERS)} {name};", name, []
        if what < 0.7:
            return f"int (*{name})(int, char *);", name, []
        if what < 0.8:
            kind = self.rng.choice(SCALARS)
            return f"{kind} {name}[{count}];", name, [f"{name}[{i}]" for i in range(count)]
        if what < 0.88 and self.made:
            kind, paths = self.rng.choice(self.made)
            return f"{kind} {name};", name, [f"{name}.{p}" for p in paths]
        if depth == 0:
            return f"short {name};", name, [name]
        body, paths = self.body(depth - 1)
        word = self.rng.choice(["struct", "union"])
        if what < 0.94:
            return f"{word} {{ {body} }};", None, paths
        return f"{word} {{ {body} }} {name}[2];", name, \
            [f"{name}[{i}].{p}" for i in range(2) for p in paths]

    def body(self, depth):
        made = [self.member(depth) for _ in range(self.rng.randint(1, 6))]
        return " ".join(m[0] for m in made), [p for m in made for p in m[2]]

    def type(self):
        word, tag = self.rng.choice(["struct", "struct", "struct", "union"]), self.name("t")
        made = [self.member(2) for _ in range(self.rng.randint(1, 9))]
        paths = [p for m in made for p in m[2]]
        self.made.append((f"{word} {tag}", paths[:40]))
        text = f"{word} {tag} {{ {' '.join(m[0] for m in made)} }};"
        return f"{word} {tag}", text, [m[1] for m in made if m[1]], paths[:40]


def program(seed, count, bits):
    maker = Maker(random.Random(seed), bits)
    return [maker.type() for _ in range(count)]


def d_text(types):
    lines = ["enum color { RED };"]
    lines += [f"{text} {kind} v{i};" for i, (kind, text, _, _) in enumerate(types)]
    for i, (kind, _, members, paths) in enumerate(types):
        sizes = [f"sizeof({kind})"] + [f"offsetof({kind}, {m})" for m in members]
        lines += [f'BEGIN {{ printf("%d\\n", {size}); }}' for size in sizes]
        lines += [f"BEGIN {{ v{i}.{p} = {value(i, k)}; }}" for k, p in enumerate(paths)]
        lines += [f'BEGIN {{ printf("%d\\n", (long)v{i}.{p}); }}' for p in paths]
        lines.append(f"{kind} a{i}[3]; int n{i}; BEGIN {{ n{i} = 2; a{i}[2] = v{i}; }}")
        lines += [f'BEGIN {{ printf("%d %d\\n", (long)(&a{i}[0] + n{i})->{p}, '
                  f'(long)a{i}[n{i}].{p}); }}' for p in paths]
    return "\n".join(lines + ["BEGIN { exit(0); }"]) + "\n"


def d_elf_text(types):
    """The types are the C program's; the memory is alloca()'s, which is a clause's own."""
    lines = []
    for i, (kind, _, members, paths) in enumerate(types):
        kind, p = kind.replace(" ", " types`"), f"this->p{i}"
        lines.append(f'BEGIN {{ printf("%d\\n", sizeof({kind})); }}')
        lines += [f'BEGIN {{ printf("%d\\n", offsetof({kind}, {m})); }}' for m in members]
        lines.append(f"BEGIN {{ {p} = ({kind} *)alloca(sizeof({kind}) + {BYTES});")
        lines += [f"{p}->{path} = {value(i, k)};" for k, path in enumerate(paths)]
        lines += [f'printf("%d\\n", (long){p}->{path});' for path in paths]
        lines += [f'printf("%d\\n", ((unsigned char *){p})[{at}]);' for at in range(BYTES)]
        lines.append("}")
    return "\n".join(lines + ["BEGIN { exit(0); }"]) + "\n"


def value(i, k):
    return f"{(i * 7919 + k * 104729 + 1) * 0x9e3779b97f4a7c15 % 2**64:#x}ull"


def c_text(types, from_elf):
    lines = ["#include <stddef.h>", "#include <stdint.h>", "#include <stdio.h>",
             "enum color { RED = -1, GREEN };"]
    lines += [f"{text} static {kind} v{i};" for i, (kind, text, _, _) in enumerate(types)]
    lines.append('#define SHOW(e) printf("%ld\\n", (long)(e))')
    lines.append("int main(void) {")
    for i, (kind, _, members, paths) in enumerate(types):
        lines += [f"SHOW(sizeof({kind}));"] + [f"SHOW(offsetof({kind}, {m}));" for m in members]
        lines += [f"v{i}.{p} = {value(i, k)};" for k, p in enumerate(paths)]
        lines += [f"SHOW(v{i}.{p});" for p in paths]
        if from_elf:
            lines += [f"SHOW({at} < sizeof(v{i}) ? ((unsigned char *)&v{i})[{at}] : 0);"
                      for at in range(BYTES)]
        else:
            lines += [f'printf("%ld %ld\\n", (long)v{i}.{p}, (long)v{i}.{p});' for p in paths]
    return "\n".join(lines + ["return 0;", "}"]) + "\n"


def compare(options, seed, folder):
    """(lines compared, what is wrong)"""
    from_elf = seed % 2 == 0
    types = program(seed, options.count, from_elf)
    d_file, c_file = os.path.join(folder, "types.d"), os.path.join(folder, "types.c")
    for path, text in ((d_file, d_elf_text(types) if from_elf else d_text(types)),
                       (c_file, c_text(types, from_elf))):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    c_program = os.path.join(folder, "types")
    subprocess.run([options.cc, "-w", "-g", "-O0", "-o", c_program, c_file], check=True)
    wanted = subprocess.run([c_program], capture_output=True, check=True).stdout.decode()
    elf = ["--elf", c_program] if from_elf else []
    done = subprocess.run([options.kymo, "dtrace", "-t", "self", "-q", "-b", "8m", *elf,
                           "-s", d_file],
                          capture_output=True, timeout=patience.seconds(120))
    got, wanted = done.stdout.decode().split("\n"), wanted.strip().split("\n")
    bad = [] if done.returncode == 0 and not done.stderr else [done.stderr.decode()[:1000]]
    for n, (d, c) in enumerate(zip(got, wanted)):
        if d != c:
            bad.append(f"line {n}: D says {d}, C {c}")
    return len(wanted), bad


def main():
    parser = argparse.ArgumentParser(description="Structs in D against C.")
    parser.add_argument("--kymo", default=os.path.join(ROOT, "build/kymo"))
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    total = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.rounds):
            n, bad = compare(options, seed, folder)
            total, failed = total + n, failed + len(bad)
            for text in bad[:10]:
                print(f"FAIL seed {seed}: {text}")
    print(f"{total - min(failed, total)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
