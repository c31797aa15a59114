# SPDX-License-Identifier: BSD-2-Clause
"""Messages on a machine of several CPUs: see README.md beside this file.

A round trip of a pair on one CPU is cut at the instructions that take and release the kernel lock.
How several pairs share the lock is computed from that: each CPU executes one instruction in a unit
of time, or waits; the lock is had in the order of asking. So the figure hangs on the kernel's
instructions alone, not on this machine's speed.
"""
import re
import statistics
import sys

ROUNDS = 40  # guest_smp.c's
SHAPES = ("msg_rt_8_smp4", "msg_rt_8_cross")  # smp.start's
PAIRS = 4
TRIPS = 400  # of each pair, computed


def locked_parts(kernel, pcs):
    """[(instructions before it without the lock, instructions with it)], instructions after the
    last one. The lock is taken by `ldaxr`, `cbnz`, `stxr` (arch_spin_try), released by `stlrb`."""
    text = lambda i: kernel.text.get(pcs[i], "") if 0 <= i < len(pcs) else ""
    parts, since, taken = [], 0, None
    for i in range(len(pcs)):
        if text(i).startswith("stxr") and text(i - 1).startswith("cbnz") \
                and text(i - 2).startswith("ldaxr"):
            taken = i
        elif text(i).startswith("stlrb") and taken is not None:
            parts.append((taken - since, i + 1 - taken))
            since, taken = i + 1, None
    return parts, len(pcs) - since


def shortest(kernel, start, ends):
    """Instructions of the shortest way from one of a function to one of which `ends` is true, both
    counted. A call counts as one."""
    ways, seen, n = [start], {start}, 1
    while ways:
        following = []
        for at in ways:
            insn = kernel.text[at]
            if ends(at, insn) and n > 1:
                return n
            target = re.search(r"^(?:b|b\.\w+|cbn?z|tbn?z)\s.*?([0-9a-f]{16})\b", insn)
            if target:
                following.append(int(target[1], 16))
            if not re.match(r"(b|ret)\b(?!\.)", insn):
                following.append(at + 4)
        ways = [at for at in dict.fromkeys(following) if at not in seen or at == start]
        seen.update(ways)
        n += 1
    sys.exit("bench: kernel_lock_slow() has no loop")


CHECKS = 6  # what *_waits() of msg_direct.c execute more with the lock than those that don't wait


def wait_cost(kernel):
    """What a CPU that had to wait executes at most between the release and its own first
    instruction with the lock: (a look that came too early, and its interrupts; a look that didn't,
    and what the caller checks then; what comes to that if another CPU has begun to wait since the
    last look)."""
    at = kernel.symbols["kernel_lock_slow"]
    while not kernel.text[at].startswith("isb"):
        at += 4
    leaves = lambda _, insn: insn.startswith("ret")
    takes = lambda _, insn: insn.startswith("stxr")
    window = shortest(kernel, kernel.symbols["arch_irq_window"], leaves)
    early = shortest(kernel, at, lambda pc, _: pc == at) - 1
    stxr = at
    while not kernel.text[stxr].startswith("stxr"):
        stxr += 4
    take = shortest(kernel, at, takes) + shortest(kernel, stxr, leaves) - 1
    anew = shortest(kernel, kernel.symbols["lock_look"], takes)
    return early + window, take + CHECKS, anew


def trips_together(parts, rest, pairs, wait):
    """Time until each of `pairs` CPUs has made TRIPS round trips."""
    steps = parts * TRIPS
    early, take, anew = wait
    clock = [0] * pairs  # when the CPU asks for the lock next, or has ended
    step = [0] * pairs
    free = 0  # when the lock is
    for cpu in range(pairs):
        clock[cpu] = cpu * 7 + steps[0][0]  # not in step
    end = 0
    while True:
        asking = [c for c in range(pairs) if step[c] < len(steps)]
        if not asking:
            return end
        cpu = min(asking, key=lambda c: clock[c])
        late = free > clock[cpu]
        start = free + early + take if late else clock[cpu]
        if late and any(free < clock[c] <= start for c in asking if c != cpu):
            start += anew
        free = start + steps[step[cpu]][1]
        step[cpu] += 1
        last = step[cpu] % len(parts) == 0
        ahead = steps[step[cpu]][0] if step[cpu] < len(steps) else 0
        clock[cpu] = free + ahead + (rest if last else 0)
        end = max(end, clock[cpu])


def figures(kernel, runs, profile):
    result = {}
    for i, name in enumerate(SHAPES):
        part = runs[i * ROUNDS:(i + 1) * ROUNDS]
        if len(part) != ROUNDS:
            sys.exit(f"bench: {name}: {len(part)} of {ROUNDS} round trips")
        result[name] = statistics.median_low([len(r) for r in part])
        typical = next(r for r in part if len(r) == result[name])
        if profile:
            kernel.profile(name, typical)
        if i == 0:
            parts, rest = locked_parts(kernel, typical)
            if len(parts) != 3:
                sys.exit(f"bench: {name} takes the kernel lock {len(parts)} times, not 3")
            alone = trips_together(parts, rest, 1, (0, 0, 0))
            together = trips_together(parts, rest, PAIRS, wait_cost(kernel))
            result["msg_smp_scale"] = round(PAIRS * alone / together, 2)
            result["msg_rt_8_locked"] = sum(locked for _, locked in parts)
            if profile:
                print(f"  free, locked: {parts}, {rest}; waiting costs {wait_cost(kernel)}")
    return result
