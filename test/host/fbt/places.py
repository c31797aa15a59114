#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What fbt would patch, against objdump's reading of the same kernel.

places.py BOARD...

The places are read from the table in the linked image, as the kernel reads them; the functions,
instructions and jumps from objdump, which shares no code with host/fbt. For each place: it is an
instruction of the right kind in the right function; nothing jumps into what is displaced; no two
places touch; a pad is two NOPs that nothing reaches, used once. Then the other way: each return
that objdump sees in a function with a return probe is a place, and each function of the kernel has
a probe or a reason. No function of the path of messages is inlined anywhere and called elsewhere:
its probe would miss messages. Nothing that the sampling interrupt calls has one. Last: how many
have one, which must not shrink.
"""
import os
import re
import struct
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/board"))
from guest import image_elf  # noqa: E402
TOOLS = {"mps2-an386": "arm-none-eabi-", "virt-a64": "aarch64-linux-gnu-"}
LEAST = {"entry": 98.0, "return": 95.0}  # percent of what isn't left out

INSN = re.compile(r"^ *([0-9a-f]+):\t([0-9a-f ]+?) *\t(\S+)(?:\s+(.*))?$")
TARGET = re.compile(r"\b([0-9a-f]{2,16}) <")
JUMP = re.compile(r"^(b|cbz|cbnz|tbz|tbnz|b\.?(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al))"
                  r"(\.n|\.w)?$")
WAYS_OUT = {
    "thumb": re.compile(r"^(bx(\w\w)? lr|pop(\w\w)?(\.w)? \{.*\bpc\}|"
                        r"ldmia(\w\w)?\.w sp!, \{.*\bpc\}|ldr(\w\w)?\.w pc, \[sp\], #\d+|"
                        r"mov(\w\w)? pc, lr)$"),
    "a64": re.compile(r"^ret( x\d+)?$"),
}
BY_REGISTER = {"thumb": re.compile(r"^bx(\w\w)? (?!lr)"), "a64": re.compile(r"^br x1[67]$")}
# What may stand in a slot, as objdump writes it: all but these, for more than one reason.
NEVER = re.compile(r"^(bl|blx|blr|tbb|tbh|it[te]*|svc|udf|bkpt|brk|hlt|eret|hvc|smc|\.word|\.short|"
                   r"\.inst|tbz|tbnz)\b")
# Counts from where it is: a slot has these two anew. A64: any other name of an address.
NEAR = re.compile(r"\bpc\b")
NEAR_OK = re.compile(r"^(ldr r\d, \[pc, #\d+\]|add r\d, pc, #\d+)$")
LITERAL = re.compile(r"^ldr(sw)? [xwqds]\d+, [0-9a-f]+ <")


SAMPLING = {"thumb": "arch_sample_taken", "a64": "a64_fiq_from_kernel"}  # its interrupt, in C
# Files of which each function that is called is always called.
MESSAGES = re.compile(r"^msg(?!_direct)\w*\.c$")


def inlined_copies(path):
    """Functions of MESSAGES that have code of their own and inlined copies, from the DWARF."""
    text = subprocess.run(["readelf", "-wi", path], capture_output=True, check=True,
                          encoding="utf-8", errors="replace").stdout
    entries, unit, found = {}, "", set()
    for at, tag, body in re.findall(r"^ <[0-9a-f]+><([0-9a-f]+)>: Abbrev Number: \d+ \((\w+)\)\n"
                                    r"((?:    <.*\n)*)", text, re.M):
        fields = dict(re.findall(r"(DW_AT_\w+)\s*: (.*)", body))
        if tag == "DW_TAG_compile_unit":
            unit = os.path.basename(fields.get("DW_AT_name", "").split(": ")[-1].strip())
        origin = re.match(r"<0x([0-9a-f]+)>", fields.get("DW_AT_abstract_origin", ""))
        entries[at] = (tag, unit, fields, origin and origin.group(1))
    own = {origin for tag, _, fields, origin in entries.values()
           if tag == "DW_TAG_subprogram" and "DW_AT_low_pc" in fields}
    for tag, _, _, origin in entries.values():
        if tag == "DW_TAG_inlined_subroutine" and origin in own:
            _, home, fields, _ = entries[origin]
            if MESSAGES.match(home):
                found.add(fields["DW_AT_name"].split(": ")[-1].strip())
    return sorted(found)


class Elf:
    """Just enough: symbols, and the bytes at an address."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.wide = self.data[4] == 2
        head = "<16sHHIQQQIHHHHHH" if self.wide else "<16sHHIIIIIHHHHHH"
        section = "<IIQQQQIIQQ" if self.wide else "<IIIIIIIIII"
        fields = struct.unpack_from(head, self.data)
        offset, size, count = fields[6], fields[11], fields[12]
        self.sections = [struct.unpack_from(section, self.data, offset + i * size)
                         for i in range(count)]
        self.symbols = {}
        self.functions = []
        for s in self.sections:
            if s[1] == 2:
                self.read_symbols(s)

    def read_symbols(self, s):
        names = self.sections[s[6]][4]
        step = 24 if self.wide else 16
        for at in range(s[4], s[4] + s[5], step):
            if self.wide:
                name, info, _, index, value, size = struct.unpack_from("<IBBHQQ", self.data, at)
            else:
                name, value, size, info, _, index = struct.unpack_from("<IIIBBH", self.data, at)
            text = self.data[names + name:self.data.index(b"\0", names + name)].decode()
            self.symbols[text] = value
            if info & 15 == 2 and size and index:
                self.functions.append((value & ~1 if not self.wide else value, size, text))

    def at(self, address, size):
        for s in self.sections:
            if s[1] == 1 and s[3] and s[3] <= address and address + size <= s[3] + s[5]:
                start = s[4] + address - s[3]
                return self.data[start:start + size]
        raise ValueError(f"nothing at {address:#x}")


class Code:
    """objdump's reading: instructions by address, targets of jumps."""

    def __init__(self, board, path):
        self.insns, self.targets = {}, set()
        self.kind = "thumb" if board == "mps2-an386" else "a64"
        out = subprocess.run([TOOLS[board] + "objdump", "-d", path],
                             check=True, capture_output=True, text=True).stdout
        for line in out.splitlines():
            m = INSN.match(line)
            if m:
                self.add(int(m.group(1), 16), m.group(2), m.group(3), m.group(4) or "")

    def add(self, at, raw, word, rest):
        rest = re.sub(r"\s*(@|//|;).*$", "", rest).strip()
        length = len(raw.replace(" ", "")) // 2
        text = re.sub(r"\s+", " ", f"{word} {rest}".strip())
        to = TARGET.search(rest)
        jump = to and (JUMP.match(word) is not None) and not word.startswith("bl.")
        self.insns[at] = (length, text, int(to.group(1), 16) if jump else None, word)
        if jump:
            self.targets.add(int(to.group(1), 16))


HEADS = (10, 18, 26, 19, 11, 34, 9, 2, 27, 17, 1, 35)
KINDS = (1, 8, 0, 4, 2)


class Bits:
    """A table of bits, read one number after the other (kernel/dtrace/fbt_table.h,
    trace/dtrace/short_text.h)."""

    def __init__(self, elf, symbol):
        self.elf, self.table, self.bit = elf, elf.symbols[symbol], 0

    def plain(self, bits):
        value = 0
        for n in range(bits):
            byte = self.elf.at(self.table + self.bit // 8, 1)[0]
            value |= (byte >> self.bit % 8 & 1) << n
            self.bit += 1
        return value

    def number(self, bits):
        zeros = 0
        while not self.plain(1):
            zeros += 1
        return self.plain(bits + zeros) + ((1 << zeros) - 1 << bits)

    def classed(self, *bits):
        known = self.plain(2)
        return sum(1 << n for n in bits[:known]) + self.plain(bits[known])

    def pad(self):
        number = self.number(9)
        return -(number + 1) if number & 1 else number


def names_of(elf):
    """The names, one after the other."""
    data, codes = Bits(elf, "fbt_names"), elf.symbols["fbt_codes"]

    def text(code):
        first, second = elf.at(codes + 2 * (code - 1), 2)
        return text(first) + text(second) if second else chr(first)
    name = ""
    while True:
        name = name[:data.classed(2, 2, 2, 4)]
        while (code := data.classed(0, 4, 6, 7)):
            name += text(code)
        yield name


def table(elf, unit=2):
    """The places as kernel/dtrace/fbt.c reads them; unit: bytes that distances count."""
    start, names = elf.symbols["__kernel_start"], names_of(elf)
    count = struct.unpack("<I", elf.at(elf.symbols["fbt_function_count"], 4))[0]
    data, at = Bits(elf, "fbt_functions"), start
    for _ in range(count):
        data.bit += data.bit % 2
        head = data.number(1)
        head = HEADS[head] if head < len(HEADS) else head - len(HEADS)
        distance = data.number(3)
        at += unit * (distance or -data.number(3))
        f, entry, pad = at, 2 * (head & 3), at + data.pad() if head & 3 == 1 else 0
        if not head & 4:
            label = next(names)
        if entry:
            yield {"name": label, "function": f, "kind": "entry", "at": f, "insn": f,
                   "length": entry, "pad": pad, "tail": False}
        for _ in range(head >> 3):
            number = data.number(6)
            other = data.number(0) if number == 0 else 0
            distance, kind = divmod((number or data.number(6)) - 1, len(KINDS))
            v = other or KINDS[kind]
            at += distance * unit
            place = at - (v & 3) * 2
            yield {"name": label, "function": f, "kind": "return", "at": place,
                   "insn": at, "length": None, "pad": place + data.pad() if v & 4 else 0,
                   "tail": bool(v & 8)}


class Check:
    def __init__(self, board):
        self.board = board
        path = image_elf(os.path.join(ROOT, "build", board), "fbt")
        self.path, self.elf, self.code = path, Elf(path), Code(board, path)
        self.size = {(at, name): size for at, size, name in self.elf.functions}
        self.starts = {at for at, _, name in self.elf.functions if ".cold" not in name}
        self.ok, self.bad = 0, []
        self.taken = {}
        for what, words in (("trace_sites", 4), ("fixups", 2)):
            self.code.targets |= {v for n, v in enumerate(self.row_words(what)) if n % words}

    def expect(self, good, place, why):
        self.ok += bool(good)
        if not good:
            insn = self.code.insns.get(place["insn"], (0, "?"))[1]
            at = f"{place['name']}:{place['kind']} at {place['insn']:#x}"
            self.bad.append(f"{at} ({insn}): {why}")

    def displaced(self, p):
        """The instructions of a place, by objdump's boundaries; []: none at its start."""
        at, out = p["at"], []
        end = p["insn"] if p["kind"] == "return" else p["at"] + p["length"] - 1
        while at <= end and at in self.code.insns:
            out.append((at, *self.code.insns[at]))
            at += self.code.insns[at][0]
        return out

    def is_tail(self, p, insn):
        at, _, text, target, word = insn
        size = self.size.get((p["function"], p["name"]), 0)
        outside = target is not None and not p["function"] <= target < p["function"] + size
        by_name = re.match(r"^b(\.n|\.w)?$", word) or \
            (word.startswith("b") and self.code.kind == "thumb" and self.in_it(at))
        by_register = BY_REGISTER[self.code.kind].match(text)
        return bool((by_name and outside and target in self.starts) or by_register)

    def in_it(self, at):
        return any(self.code.insns.get(at - back, (0, ""))[1].startswith("it")
                   for back in (2, 4, 6, 8, 10, 12, 14))

    def place(self, p):
        code = self.code
        got = self.displaced(p)
        known = got and (p["function"], p["name"]) in self.size
        self.expect(known, p, "no instruction there, or no such function")
        if not known:
            return
        last = got[-1]
        length = last[0] + last[1] - p["at"]
        if p["kind"] == "entry":
            self.expect(length == p["length"], p, "not so many bytes")
        else:
            self.expect(last[0] == p["insn"], p, "not where an instruction begins")
            end = p["function"] + self.size[(p["function"], p["name"])]
            self.expect(p["function"] <= p["at"] and p["insn"] < end, p, "in another function")
            tail = self.is_tail(p, last)
            self.expect(tail == p["tail"], p, "a jump to a function, or none")
            self.expect(tail or WAYS_OUT[code.kind].match(last[2]), p, "no return")
        room = length == 2 if p["pad"] else 4 <= length <= 6
        self.expect(room or self.filled(p, length), p, "displaces too much or too little")
        least = last[0] - p["at"] < 4 if p["kind"] == "entry" else len(got) <= 3 - last[1] // 2
        self.expect(least, p, "displaces more than it must")
        for at, size, text, _, _ in got:
            self.expect(not NEVER.match(text), p, f"displaces {text}")
            self.expect(at == p["at"] or at not in code.targets, p, "is jumped into")
            if at != p["insn"] or p["kind"] == "entry":
                near = NEAR.search(text) and not WAYS_OUT[code.kind].match(text)
                self.expect(not near or (size == 2 and NEAR_OK.match(text)), p,
                            f"displaces {text}, which counts from the pc")
                self.expect(not LITERAL.match(text), p, f"displaces {text}")
        if p["kind"] == "entry":
            self.expect(self.not_a_loop(p), p, "something in it jumps to its start")
        self.take(p, p["at"], 2 if p["pad"] else max(4, length))
        if p["pad"]:
            self.pad(p)

    def filled(self, p, length):
        """A narrow return where its function's code ends, and a NOP for the other half."""
        filling, insns = p["at"] + 2, self.code.insns
        end = p["function"] + self.size[(p["function"], p["name"])]
        last = filling + 2 >= end or insns.get(filling + 2, (0, "."))[1].startswith(".")
        free = filling not in self.code.targets and filling not in self.starts
        return p["kind"] == "return" and length == 2 and last and free and \
            insns.get(filling, (0, ""))[:2] == (2, "nop")

    def not_a_loop(self, p):
        size = self.size[(p["function"], p["name"])]
        return not any(i[2] == p["at"] for at, i in self.code.insns.items()
                       if p["at"] < at < p["at"] + size) if p["at"] in self.code.targets else True

    def pad(self, p):
        pad = p["pad"]
        nops = [self.code.insns.get(pad + k, (0, ""))[:2] for k in (0, 2)]
        self.expect(nops == [(2, "nop")] * 2, p, f"no pad at {pad:#x}")
        self.expect(-2048 <= pad - p["at"] - 4 <= 2046, p, "the pad is too far")
        self.expect(pad + 4 in self.starts, p, "the pad is not before a function")
        inside = any(at <= pad < at + size or at < pad + 4 <= at + size
                     for (at, _), size in self.size.items())
        self.expect(not inside, p, "the pad is in a function")
        self.expect(not {pad, pad + 2} & self.code.targets, p, "the pad is jumped to")
        self.take(p, pad, 4)

    def take(self, p, at, size):
        for a in range(at, at + size, 2):
            self.expect(a not in self.taken, p, f"{a:#x} is taken by {self.taken.get(a)}")
            self.taken[a] = f"{p['name']}:{p['kind']}"

    def pins(self):
        """No place covers a trace site or what a fixup names."""
        for what, words in (("trace_sites", 4), ("fixups", 2)):
            for n, value in enumerate(self.row_words(what)):
                if n % words == 0 and value in self.taken:
                    self.bad.append(f"{self.taken[value]} covers one of {what}, {value:#x}")
        self.ok += 1

    def row_words(self, what):
        word = 8 if self.elf.wide else 4
        at, end = (self.elf.symbols[f"__{what}_{edge}"] for edge in ("start", "end"))
        raw = self.elf.at(at, end - at)
        for i in range(0, len(raw) - word + 1, word):
            yield int.from_bytes(raw[i:i + word], "little") & (~1 if word == 4 else ~0)

    def all_returns(self, places):
        """A function has a return probe for all of its returns, or for none."""
        have = {}
        for p in places:
            if p["kind"] == "return":
                have.setdefault((p["function"], p["name"]), set()).add(p["insn"])
        for (f, name), insns in have.items():
            seen = {at for at in range(f, f + self.size[(f, name)], 2)
                    if at in self.code.insns and self.leaves(f, name, at)}
            p = {"name": name, "kind": "return", "insn": min(seen ^ insns, default=f)}
            self.expect(seen == insns, p, "has other returns than the table")

    def leaves(self, f, name, at):
        i = self.code.insns[at]
        p = {"function": f, "name": name}
        return bool(WAYS_OUT[self.code.kind].match(i[1])) or self.is_tail(p, (at, *i))

    def reasons(self, places):
        """Each function of the kernel is listed, with what it has or why not."""
        listed = {}
        with open(os.path.join(ROOT, "build", self.board, "fbt.txt")) as f:
            lines = f.read().splitlines()
        for line in lines[:-1]:
            name, _, rest = line.partition(" ")
            listed.setdefault(name, []).append(rest.strip())
        for kind in ("entry", "return"):
            have = {p["name"] for p in places if p["kind"] == kind}
            for name in sorted({n for _, n in self.size}):
                rest = listed.get(name, [])
                yes = any(f"{kind}: yes" in r for r in rest)
                p = {"name": name, "kind": kind, "insn": 0}
                self.expect(rest and all(r for r in rest), p, "is not in fbt.txt")
                self.expect(yes == (name in have), p, "fbt.txt says something else than the table")
        print(f"{self.board}: {lines[-1]}")
        for kind in ("entry", "return"):
            percent = float(re.search(kind + r" \d+ \(([0-9.]+) %\)", lines[-1]).group(1))
            p = {"name": self.board, "kind": kind, "insn": 0}
            self.expect(percent >= LEAST[kind], p, f"only {percent} % have one")

    def caught(self, places):
        """Of a wrong table each of these checks says so: 60 places, wrong in one thing each."""
        wrongs = [lambda p: p.update(insn=p["insn"] + 2), lambda p: p.update(tail=not p["tail"]),
                  lambda p: p.update(at=p["at"] - 6),
                  lambda p: p.update(function=p["function"] + 4),
                  lambda p: p.update(pad=p["at"] + 3), lambda p: p.update(at=p["at"] + 1)]
        for n, p in enumerate(places[::max(1, len(places) // 60)]):
            p = dict(p)
            if p["kind"] == "entry":
                p["length"] += 2
            else:
                wrongs[n % len(wrongs)](p)
            other = Check.__new__(Check)
            other.__dict__.update(self.__dict__, ok=0, bad=[], taken={})
            other.place(p)
            self.expect(other.bad, p, "is wrong here, and nothing says so")

    def sampling(self, places):
        """The sampling interrupt comes between any two instructions, a firing's, too: no probe is
        in what it calls."""
        by_name = {name: (at, size) for at, size, name in self.elf.functions}
        todo, called = [SAMPLING[self.code.kind]], set()
        while todo:
            name = todo.pop()
            if name in called or name not in by_name:
                continue
            called.add(name)
            at, size = by_name[name]
            for insn in (self.code.insns.get(a) for a in range(at, at + size, 2)):
                todo += re.findall(r"^b[lw.]*\S* [0-9a-f]+ <(\w+)>", insn[1]) if insn else []
        p = {"name": SAMPLING[self.code.kind], "kind": "entry", "insn": 0}
        self.expect(len(called) > 1, p, "calls nothing")
        for name in sorted(called & {p["name"] for p in places}):
            self.expect(False, {"name": name, "kind": "entry", "insn": 0}, "is called in a sample")

    def run(self):
        places = list(table(self.elf))
        for p in places:
            self.place(p)
        self.caught(places)
        self.pins()
        self.all_returns(places)
        self.reasons(places)
        self.sampling(places)
        self.bad += [f"{name} is inlined somewhere, too" for name in inlined_copies(self.path)]
        pads = sum(1 for p in places if p["pad"])
        tails = sum(p["tail"] for p in places)
        print(f"{self.board}: {len(places)} places, {pads} by a pad, {tails} jumps to a function; "
              f"{self.ok} comparisons with objdump hold")
        for line in self.bad:
            print(f"FAIL {self.board} {line}")
        return not self.bad and len(places) > 500


def main(boards):
    results = [Check(b).run() for b in boards]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or sorted(TOOLS)))
