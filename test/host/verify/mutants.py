# SPDX-License-Identifier: BSD-2-Clause
"""Sound captures, and mutants of them, by docs/reference/format.md alone.

A mutant is a function of its seed: bytes cut off at every kind of place, bytes changed, slots
changed with all sums made again (so that only what the slots say can show it), buffers away, there
twice or in another order, with the sums as they were or made again, accounts of losses away,
attributes changed, and two captures in one file. `mutant(rng, sources)` returns its name, what it
was, and its bytes; kev_file.py has where the groups of slots are."""
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../fabricate")]
from kev_file import CONTROL, CPU_BITS, DROPPED, Capture  # noqa: E402

FACTOR, WRAP = 0x9e3779b5, (1 << 64) - 1
CHECK, END = 0x410, 0x411
WORDS = [0, 1, 0xffffffff, 0x80000000, 0x402, 0x401, 0x408, 0x404, 0x410, 0x411, 0x10010c0]


class Foreign:
    """Another kernel's capture: it has no groups, and nothing to make again."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        self.slots = self.data.index(b"TRACE_HEADER_END::") + 18
        self.order, self.checked, self.groups = "<", False, []


def load(path):
    with open(path, "rb") as file:
        is_kymo = re.search(rb"TRACE_SYSNAME::[Kk]ymo", file.read(4096))
    return Capture(path) if is_kymo else Foreign(path)


# ---- sums ------------------------------------------------------------------------------


def fold(total, words):
    for word in words:
        total = (total * FACTOR + word) & WRAP
    return total


def make_again(order, head, groups):
    """The file of this head and these groups (CPU, slots, whether it has END), with true sums,
    places and end marks. The slots are tuples of four words."""
    data, everything, buffers, last = bytearray(head), 1, {}, {}

    def trailer(total, cpu, time):
        nonlocal everything
        everything = fold(everything, (total & 0xffffffff, total >> 32))
        for slot in ((CHECK | cpu << 24, time, total & 0xffffffff, total >> 32),
                     (0x404 | cpu << 24, time, 0xe6e6e6e6, 0xe6e6e6e6)):
            data.extend(struct.pack(order + "4I", *slot))

    trailer(fold(fold(1, head), (0, 0)), 0, 0)
    for cpu, slots, has_end in groups:
        at = len(data) // 16
        if slots[0][0] & ~CPU_BITS == 0x402:
            buffers[cpu] = buffers.get(cpu, 0) + 1
            last[cpu] = slots[0][2]
        if has_end:
            slots = [*slots[:-1], (*slots[-1][:2], buffers.get(cpu, 0), last.get(cpu, 0))]
        total = fold(1, (word for slot in slots for word in slot))
        if has_end:
            total = fold(total, (everything & 0xffffffff, everything >> 32))
        total = fold(total, (at, buffers.get(cpu, 0)))
        for slot in slots:
            data.extend(struct.pack(order + "4I", *slot))
        trailer(total, cpu, slots[-1][1])
    return data


def parts(capture):
    """The head and the groups of a sound capture of format 1.02, as make_again() takes them."""
    groups = []
    for at, end, cpu, _ in capture.groups:
        slots = [capture.slot(i) for i in range(at, end - 32, 16)]
        groups.append([cpu, slots, slots[-1][0] & ~CPU_BITS == END])
    return bytes(capture.data[:capture.slots - 32]), groups


def recount(group):
    """BUFFER's count after slots have been taken out."""
    head = group[1][0]
    group[1][0] = (*head[:3], len(group[1]))


# ---- changes of bytes ------------------------------------------------------------------


def cut_anywhere(rng, capture, data):
    return data[:rng.randrange(len(data))]


def cut_between(rng, capture, data):
    return data[:rng.choice([g[rng.randrange(2)] for g in capture.groups] or [len(data) - 16])]


def cut_slot(rng, capture, data):
    return data[:capture.slots + 16 * rng.randrange((len(data) - capture.slots) // 16)]


def cut_head(rng, capture, data):
    return data[:rng.choice([0, rng.randrange(capture.slots), capture.slots, capture.slots - 32])]


def cut_tail(rng, capture, data):
    return data[:len(data) - rng.choice([1, 15, 16, 17, 32, 48, 64, 96])]


def bytes_changed(rng, capture, data):
    for _ in range(rng.choice([1, 1, 3])):
        data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    return data


def bytes_moved(rng, capture, data):
    at, n = rng.randrange(len(data)), rng.choice([1, 3, 16, 32, rng.randrange(1, 3000)])
    return data[:at] + data[at + n:] if rng.random() < 0.5 else data[:at] + rng.randbytes(n) + \
        data[at:]


def head_changed(rng, capture, data):
    at = rng.randrange(capture.slots)
    data[at] = rng.choice([data[at] ^ 1 << rng.randrange(8), 0, 0x30 + rng.randrange(10), 0x5f])
    return data


def attribute_changed(rng, capture, data):
    ends = [*(m.start() for m in re.finditer(rb"TRACE_\w+::", data[:capture.slots])), capture.slots]
    n = rng.randrange(len(ends) - 1)
    at, end = ends[n], ends[n + 1]
    return data[:at] + data[end:] if rng.random() < 0.5 else data[:end] + data[at:end] + data[end:]


def control_changed(rng, capture, data):
    places = [at for at in range(capture.slots, len(data) - 15, 16)
              if struct.unpack_from(capture.order + "I", data, at)[0] >> 10 & 31 == CONTROL]
    at = rng.choice(places or [capture.slots]) + 4 * rng.randrange(4)
    struct.pack_into(capture.order + "I", data, at, rng.choice(WORDS))
    return data


def group_away(rng, capture, data):
    at, end, _, _ = rng.choice(capture.groups)
    return data[:at] + data[end:]


def group_twice(rng, capture, data):
    at, end, _, _ = rng.choice(capture.groups)
    to = rng.choice(capture.groups)[rng.randrange(2)]
    return data[:to] + data[at:end] + data[to:]


def groups_swapped(rng, capture, data):
    first, second = sorted(rng.choice(capture.groups)[:2] for _ in range(2))
    if first == second:
        return group_away(rng, capture, data)
    return data[:first[0]] + data[second[0]:second[1]] + data[first[1]:second[0]] + \
        data[first[0]:first[1]] + data[second[1]:]


def accounts_away(rng, capture, data):
    """Groups of DROPPED slots outside of buffers."""
    groups = [g for g in capture.groups if not g[3] and capture.slot(g[0])[0] & ~CPU_BITS ==
              DROPPED]
    for at, end, _, _ in sorted(groups, reverse=True)[:rng.choice([1, 100])]:
        del data[at:end]
    return data


# ---- changes with sums made again -------------------------------------------------------


def again_sound(rng, head, groups):
    pass


def again_slot(rng, head, groups):
    group = rng.choice(groups)
    at, word = rng.randrange(len(group[1])), rng.randrange(4)
    slot = list(group[1][at])
    slot[word] = rng.choice([*WORDS, slot[word] ^ 1 << rng.randrange(32)])
    group[1][at] = tuple(slot)


def again_without(rng, head, groups):
    kept = [g for g in groups if g[2]]
    buffers = [g for g in groups if not g[2]]
    for _ in range(rng.choice([1, 1, 2, 5])):
        if len(buffers) > 1:
            buffers.remove(rng.choice(buffers))
    groups[:] = buffers + kept


def again_twice(rng, head, groups):
    at = rng.randrange(len(groups))
    groups.insert(rng.randrange(len(groups)), [*groups[at][:1], list(groups[at][1]), groups[at][2]])


def again_swapped(rng, head, groups):
    a, b = rng.randrange(len(groups)), rng.randrange(len(groups))
    groups[a], groups[b] = groups[b], groups[a]


def again_accounts(rng, head, groups):
    """Without the DROPPED slots: at the heads of buffers, and outside of them."""
    for group in list(groups):
        is_buffer = group[1][0][0] & ~CPU_BITS == 0x402
        group[1] = [s for s in group[1] if s[0] & ~CPU_BITS != DROPPED or rng.random() < 0.2]
        if not group[1]:
            groups.remove(group)
        elif is_buffer:
            recount(group)


def again_shorter(rng, head, groups):
    """A buffer without some of its slots: a combine event may lack a part."""
    group = rng.choice([g for g in groups if len(g[1]) > 3] or groups)
    if len(group[1]) > 3:
        del group[1][rng.randrange(2, len(group[1]))]
        recount(group)


def again_head(rng, head, groups):
    at = rng.randrange(len(head))
    head[at] = rng.choice([head[at] ^ 1 << rng.randrange(8), 0x30 + rng.randrange(10)])


BYTES = [cut_anywhere, cut_between, cut_slot, cut_head, cut_tail, bytes_changed, bytes_moved,
         head_changed, attribute_changed, control_changed]
GROUPS = [group_away, group_twice, groups_swapped, accounts_away]
AGAIN = [again_sound, again_slot, again_slot, again_without, again_without, again_twice,
         again_swapped, again_accounts, again_shorter, again_head]


def follow(rng, sources, data):
    """Something after the end: another capture, this one again, a part of one, or anything."""
    other = rng.choice(sources).data
    return data + rng.choice([other, data, other[:rng.randrange(1, len(other))], bytes(64),
                              rng.randbytes(rng.randrange(1, 200)), b"\n"])


def mutant(rng, sources):
    """A mutant's name, the capture that it was, and its bytes."""
    capture = rng.choice(sources)
    kind = rng.random()
    if kind < 0.03:
        return "sound", capture, bytes(capture.data)
    if kind < 0.12:
        return "follow", capture, bytes(follow(rng, sources, capture.data))
    if kind < 0.55 and capture.checked:
        head, groups = parts(capture)
        head, change = bytearray(head), rng.choice(AGAIN)
        change(rng, head, groups)
        return change.__name__, capture, bytes(make_again(capture.order, bytes(head), groups))
    change = rng.choice(BYTES + (GROUPS if capture.groups else []))
    data = change(rng, capture, bytearray(capture.data))
    return change.__name__, capture, bytes(data)
