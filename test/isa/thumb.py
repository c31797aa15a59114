#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Which Thumb-2 a probe may displace (isa/armv7m/step.h), against objdump's. thumb.py [COUNT]

All instructions of 16 bits, and COUNT random ones of 32 bits: both see the same lengths; what is
executed in its place is known, predictable, and goes on after itself; what is emulated jumps, to
where objdump says. Then all code of some programs of mps2-an386: what is refused in it has a
reason. KYMO_SEED=n repeats a run.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import temporary  # noqa: E402
SEED = int(os.environ.get("KYMO_SEED", random.randrange(1 << 30)))
OBJDUMP = "arm-none-eabi-objdump"
LINE = re.compile(r"^ *[0-9a-f]+:\t([0-9a-f]{4}) ?([0-9a-f]{4})? *\t(.*)$")
BRANCH = re.compile(r"^(b(eq|ne|cs|cc|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?|bl|cbn?z)(\.[nw])?\t"
                    r"(?:r\d+, )?0x([0-9a-f]+)")
# Other ways to change the PC, as objdump writes them.
JUMP = re.compile(r"^(bl?x\t|tb[bh]\t|it[te]*\t|(mov|add)\tpc, |ldrt?(\.w)?\tpc, |"
                  r"(pop|ldm\w*)(\.w)?\t.*\bpc\})")
WRITES_PC = re.compile(r"^(?!cmp|cmn|tst|teq|str|push|vmrs)\w+(\.\w+)*\tpc\b|"
                       r"^(ldrd|[us]m[ul]l\w*|umaal|smls?ld\w*|vmov)\t\w+, pc\b|"
                       r"^(pop|ldm\w*)(\.w)?\t.*\bpc\}")
UNKNOWN = re.compile(r"UNDEFINED|UNPREDICTABLE|^(udf|svc|bkpt|cps|wf[ei]|nop(\.w)?$|\.)|"
                     r"^(ld|st)(r|a|l)ex")
# What code of programs has that has no probe: places.h gives the reasons.
REFUSED = re.compile(r"^(nop|svc|udf|bkpt|ldrex|strex)")


def read(path, *options):
    """[(insn, text)], in order."""
    out = subprocess.run([OBJDUMP, "-D" if options else "-d", *options, path], check=True,
                         capture_output=True, text=True).stdout
    found = (LINE.match(line) for line in out.splitlines())
    return [(int(m[1], 16) | int(m[2] or "0", 16) << 16, m[3]) for m in found if m]


def kinds(insns):
    """[(length, kind, target)]"""
    done = subprocess.run([os.path.join(ROOT, "build/tools/thumb_kinds")], check=True, text=True,
                          capture_output=True, input="\n".join(f"{i:x}" for i in insns))
    rows = (line.split() for line in done.stdout.splitlines())
    return [(int(length), kind, int(target, 16)) for length, kind, target in rows]


def bytes_of(insn):
    return insn.to_bytes(4 if insn & 0xffff >= 0xe800 else 2, "little")


def expect(condition, text):
    if not condition:
        sys.exit(f"thumb.py: {text}")


def judge(at, insn, text, kind, target):
    what = f"{insn:08x} at {at:x} is {kind}: {text}"
    # One of the FPU's that is undefined faults at its own address, as it does without a probe.
    undefined_fp = insn & 0xe00fc00 == 0xa00ec00 and "UNDEFINED" in text
    expect(kind == "refused" or undefined_fp or not UNKNOWN.search(text), what)
    if kind == "in-place":
        expect(not BRANCH.match(text) and not JUMP.match(text) and not WRITES_PC.match(text), what)
    if kind == "emulated":
        branch = BRANCH.match(text)
        expect(branch or JUMP.match(text), what)
        if branch:
            expect((target + at - int(branch[4], 16)) % (1 << 32) == 0, f"{what}, to {target:x}")


def of_all(count):
    rand = random.Random(SEED)
    insns = [i for i in range(0xe800) if i >> 8 != 0xbf]
    insns += [rand.randrange(0xe800, 0x10000) | rand.randrange(0x10000) << 16
              for _ in range(count)]
    with tempfile.NamedTemporaryFile(dir=temporary.PLACE) as file:
        file.write(b"".join(map(bytes_of, insns)))
        file.flush()
        listing = read(file.name, "-b", "binary", "-m", "arm", "-M", "force-thumb")
    expect([i for i, _ in listing] == insns, "objdump sees other instructions")
    at, counts = 0, {}
    for (insn, text), (length, kind, target) in zip(listing, kinds(insns)):
        expect(length == len(bytes_of(insn)), f"{insn:08x} has {length} bytes")
        judge(at, insn, text, kind, target)
        counts[kind] = counts.get(kind, 0) + 1
        at += length
    print(f"{len(insns)} instructions: {counts}")


def of_programs():
    for program in ("stepper", "libtest", "diskd", "tracelogger"):
        path = os.path.join(ROOT, "build/mps2-an386/programs", program)
        if not os.path.exists(path):
            continue
        code = [(i, t) for i, t in read(path) if not t.startswith(".")]
        refused = [f"{i:08x} {t}" for (i, t), (_, kind, _) in zip(code, kinds(i for i, _ in code))
                   if kind == "refused" and not REFUSED.match(t)]
        print(f"{program}: {len(code)} instructions")
        expect(len(code) > 1000 and not refused, f"{program}: refused: {refused[:20]}")


def main():
    print(f"KYMO_SEED={SEED}", flush=True)
    of_all(int(sys.argv[1]) if len(sys.argv) > 1 else 200000)
    of_programs()


if __name__ == "__main__":
    main()
