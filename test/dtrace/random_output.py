#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Random programs that print: every action, conversion and aggregating function with values at the
edges, under random options. Nothing is compared: `kymo dtrace` may neither crash, nor hang, nor
trouble a sanitizer.

random_output.py [--kymo PROGRAM] [--seed N] [--count N]     the same seed gives the same programs
"""
import argparse
import concurrent.futures
import os
import random
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import patience  # noqa: E402

NUMBERS = ("0 1 -1 5 255 -128 65536 0x7fffffff -0x80000000 0x7fffffffffffffff (char)-3 (short)300 "
           "(-0x7fffffffffffffff-1) (uint64_t)-1 'a' pid timestamp epid").split()
FUNCTIONS = ("count()", "sum(N)", "min(N)", "max(N)", "avg(N)", "stddev(N)", "quantize(N)",
             "quantize(N, N)", "lquantize(N, -10, 10, 3)", "lquantize(N, 0, 5, 1, N)",
             "llquantize(N, 10, 0, 6, 20)", "llquantize(N, 2, 0, 8, 4, N)")
ON_AGGREGATIONS = ("printa(@A);", "clear(@A);", "trunc(@A);", "trunc(@A, 2);", "trunc(@A, -1);",
                   "normalize(@A, N);", "denormalize(@A);", 'printa("%@d|%@-30x|%@c\\n", @A);')
FLAGS = "quiet flowindent rawbytes aggsortkey aggsortrev aggpack agghist aggzoom".split()


class Program:
    def __init__(self, rand):
        self.rand, self.aggregations = rand, {}
        clauses = ["BEGIN { " + " ".join(self.action() for _ in range(rand.randint(1, 6))) + " }"
                   for _ in range(rand.randint(1, 6))]
        self.text = "\n".join(["int arr[32];"] + clauses + ["BEGIN { exit(0); }"])

    def number(self):
        return self.rand.choice(NUMBERS)

    def string(self):
        return self.rand.choice((
            '""', '"a"', '"hello world"', '"%s%d"', '"a\\nb"', '"\\377\\001"', "probename",
            '"' + "x" * self.rand.randint(1, 300) + '"', 'strjoin("a", "b")',
            f"lltostr({self.number()})", f'substr("hello", {self.rand.randint(-9, 9)})'))

    def fill(self, text):
        while "N" in text:
            text = text.replace("N", self.number(), 1)
        return text

    def conversion(self):
        r, values = self.rand, []
        width = r.choice(("", "5", "30", "?", "*", "0", "300"))
        precision = r.choice(("", "", ".0", ".3", ".*", ".50"))
        values += [r.choice(("5", "-5", "0", "40"))] if width == "*" else []
        values += [r.choice(("0", "3", "-1"))] if precision == ".*" else []
        integer = r.random() < 0.6
        letter = r.choice("diouxXcpCYTa" if integer else "sS")
        flags = "".join(r.sample("#0-+ '", r.randint(0, 3)))
        values.append(self.number() if integer else self.string())
        return "%" + flags + width + precision + letter, values

    def printf(self):
        text, values = "", []
        for _ in range(self.rand.randint(0, 6)):
            conversion, more = self.conversion()
            text += self.rand.choice(("", "x", " ", "%%")) + conversion
            values += more
        return f'printf("{text}|\\n"' + "".join(", " + v for v in values) + ");"

    def key(self, kind):
        return "(string)" + self.string() if kind == "string" else f"({kind}){self.number()}"

    def aggregate(self):
        r, name = self.rand, self.rand.choice("abcdef")
        kinds = [r.choice(("int", "char", "long", "string")) for _ in range(r.randint(0, 3))]
        function, kinds = self.aggregations.setdefault(name, (r.choice(FUNCTIONS), kinds))
        keys = ", ".join(self.key(k) for k in kinds)
        return f"@{name}{'[' + keys + ']' if keys else ''} = {self.fill(function)};"

    def other(self):
        r = self.rand
        return r.choice((
            f"trace({self.number()});", f"trace({self.string()});", f"print({self.number()});",
            f"print({self.string()});", f"stack({r.randint(1, 30)});",
            f"ustack({r.randint(1, 30)});", f"tracemem(&arr[0], {r.randint(1, 64)});",
            f"tracemem(&arr[0], 9, {self.number()});", f'setopt("{r.choice(FLAGS)}");',
            f"sym({self.number()});", f"usym({self.number()});", f"umod({self.number()});"))

    def action(self):
        choice = self.rand.random()
        if choice < 0.35:
            return self.aggregate()
        if choice < 0.6:
            return self.printf()
        if choice < 0.7 and self.aggregations:
            name = self.rand.choice(sorted(self.aggregations))
            return self.fill(self.rand.choice(ON_AGGREGATIONS)).replace("@A", "@" + name)
        return self.other()


def options(rand):
    some = [(f,) for f in FLAGS] + [
        ("encoding=utf8", "encoding=ascii"), ("temporal=no",), ("bufpolicy=fill", "bufpolicy=ring"),
        ("strsize=1", "strsize=2", "strsize=7", "strsize=8", "strsize=1000"),
        ("bufsize=16", "bufsize=64", "bufsize=1000"), ("aggsize=16", "aggsize=1000"),
        ("aggsortkeypos=1", "aggsortkeypos=9"), ("aggsortpos=2",), ("stackindent=0",)]
    chosen = [rand.choice(values) for values in some if rand.random() < 0.2]
    words = [word for value in chosen for word in ("-x", value)]
    return words + (["--json"] if rand.random() < 0.15 else [])


def try_one(kymo, seed):
    rand = random.Random(seed)
    text, words = Program(rand).text, options(rand)
    try:
        done = subprocess.run([kymo, "dtrace", "-t", "self", *words, "-n", text],
                              capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=patience.seconds(60))
    except subprocess.TimeoutExpired:
        return f"hangs: {words}\n{text}"
    errors = done.stderr.decode(errors="replace")
    if done.returncode < 0 or "Sanitizer" in errors or "runtime error" in errors:
        return f"status {done.returncode}: {words}\n{text}\n{errors}"
    if "invalid probe specifier" in errors or done.returncode > 1:
        return f"not compiled: {words}\n{text}\n{errors}"
    return None


def main():
    parser = argparse.ArgumentParser(description="Random programs that print.")
    parser.add_argument("--kymo", default=os.path.join(ROOT, "build/kymo-asan"))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randint(1, 1 << 30))
    parser.add_argument("--count", type=int, default=200)
    args = parser.parse_args()
    print(f"seed {args.seed}")
    seeds = range(args.seed, args.seed + args.count)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for seed, bad in zip(seeds, pool.map(lambda s: try_one(args.kymo, s), seeds)):
            if bad:
                failed += 1
                print(f"FAIL --seed {seed} --count 1: {bad}")
    print(f"{args.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
