#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""D's profile sees the kernel where all interrupts are masked: samples.py BOARD

Boots the images `samples-off` and `samples` under QEMU with an instruction a fixed time (-icount).
Of the first, the plugin sums.so counts how often each instruction of the four kinds of work is
executed: a user's loop, messages, long messages, kernel calls with a D program that works in each.
The second does the same work under profile-1999. For each kind the share of the samples in the
kernel, and in each of its functions that has a share worth mentioning, must be that of the
instructions: within five standard deviations of so many samples, and one percent.

The program itself checks that each sample is of the kernel or of a program, and that samples and
those left out are as many as the time has intervals. The last line is `N passed, N failed`.
"""
import bisect
import collections
import math
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest  # noqa: E402

ROOT = guest.ROOT
KINDS = ("spin", "messages", "copies", "calls")
TOOLS = {"mps2-an386": "arm-none-eabi-", "virt-a64": "aarch64-linux-gnu-", "pc": ""}
SLOW = guest.patience.seconds(120)  # a hang detector
LEAST = 600     # samples of each kind
MENTIONED = 0.02


class Kernel:
    def __init__(self, board, elf):
        lines = subprocess.run([TOOLS[board] + "nm", elf], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        thumb = board == "mps2-an386"
        found = [(int(f[0], 16) & ~thumb, f[2]) for f in map(str.split, lines) if len(f) == 3]
        named = dict((name, at) for at, name in found)
        self.start, self.end = named["__kernel_start"], named["__text_end"]
        # Labels within assembler are no functions; of two names at an address either will do.
        self.functions = sorted((at, name) for (at, name), line in zip(found, (
            line for line in lines if len(line.split()) == 3)) if line.split()[1] in "tT"
            and not name.startswith("$"))

    def function(self, at):
        """Its name; None: of a program."""
        if not self.start <= at < self.end:
            return None
        return self.functions[bisect.bisect_right(self.functions, (at, "~")) - 1][1]


def boot(board, image, folder, plugin=()):
    with open(f"build/{board}/qemu.args", encoding="utf-8") as f:
        command = f.read().splitlines()
    if "-smp" in command:
        command[command.index("-smp") + 1] = "1"
    elf = guest.image_elf(os.path.join(ROOT, "build", board), image)
    command += ["-icount", "shift=4,sleep=off", "-rtc", "clock=vm", *plugin, "-kernel", elf]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SLOW,
                          cwd=folder)
    text = done.stdout.decode(errors="replace").replace("\r\n", "\n")
    with open(os.path.join(folder, image + ".txt"), "w", encoding="utf-8") as f:
        f.write(text + done.stderr.decode(errors="replace"))
    failed = re.findall(r"^TEST .*FAIL.*$", text, re.M)
    if done.returncode or failed or not re.search(r"^TEST .*: ok$", text, re.M):
        raise AssertionError(f"{image}: status {done.returncode} {failed}, "
                             f"see {folder}/{image}.txt")
    return elf, text


def shares(pairs, kernel):
    """{kind: Counter of functions, None for programs}."""
    found = [collections.Counter() for _ in KINDS]
    for kind, at, n in pairs:
        found[kind][kernel.function(at)] += n
    return found


def executed(board, folder):
    path = os.path.join(folder, "sums")
    if not os.path.exists("build/bench/sums.so"):
        raise AssertionError("no build/bench/sums.so: first run `make build/bench/sums.so`")
    elf, _ = boot(board, "samples-off", folder,
                  ["-plugin", os.path.join(ROOT, f"build/bench/sums.so,out={path}")])
    with open(path, "rb") as f:
        return shares(struct.iter_unpack("<QQQ", f.read()), Kernel(board, elf))


def sampled(board, folder):
    elf, text = boot(board, "samples", folder)
    rows = re.findall(r"^SAMPLES (\d) ([0-9a-f]+) (\d+)$", text, re.M)
    return shares(((int(k), int(at, 16), int(n)) for k, at, n in rows), Kernel(board, elf))


def close(got, want, many):
    return abs(got - want) <= 5 * math.sqrt(want * (1 - want) / many) + 0.01


def judge(name, got, want):
    """What is wrong with one kind of work."""
    many, all_want = sum(got.values()), sum(want.values())
    if many < LEAST:
        yield f"only {many} samples"
        return
    in_kernel = 1 - got[None] / many, 1 - want[None] / all_want
    print(f"{name}: {many} samples, {in_kernel[0]:.3f} in the kernel; "
          f"of {all_want} instructions {in_kernel[1]:.3f}")
    if not close(*in_kernel, many):
        yield f"{in_kernel[0]:.3f} of the samples are in the kernel, not {in_kernel[1]:.3f}"
    for function in sorted(set(got) | set(want), key=str):
        share = got[function] / many, want[function] / all_want
        if max(share) >= MENTIONED and not close(*share, many):
            yield f"{function}: {share[0]:.3f} of the samples, {share[1]:.3f} of the instructions"


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in TOOLS:
        sys.exit(f"usage: samples.py {'|'.join(TOOLS)}")
    board, failed = sys.argv[1], 0
    os.chdir(ROOT)
    folder = os.path.join(ROOT, "build/check", f"samples.{board}")
    os.makedirs(folder, exist_ok=True)
    try:
        want, got = executed(board, folder), sampled(board, folder)
    except AssertionError as e:
        print(f"FAIL {board}: {e}\n0 passed, {len(KINDS)} failed")
        return 1
    for kind, name in enumerate(KINDS):
        wrong = list(judge(f"{board} {name}", got[kind], want[kind]))
        for line in wrong:
            print(f"FAIL {board} {name}: {line}")
        failed += bool(wrong)
    # The kinds are what they are meant to be: else the comparison would prove little.
    kernel_share = [1 - w[None] / sum(w.values()) for w in want]
    if not kernel_share[0] < 0.01 < 0.3 < min(kernel_share[1:]):
        print(f"FAIL {board}: the work has changed: {kernel_share}")
        failed += 1
    print(f"{len(KINDS) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
