# SPDX-License-Identifier: BSD-2-Clause
"""A raw look at captures: which events are in one. Independent of host/reader on purpose."""
import os
import re
import struct

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLASSES = {"CONTROL": 1, "KER_CALL": 2, "INT": 3, "PR_TH": 4, "SYSTEM": 5, "USER": 6, "COMM": 7,
           "KYMO_CALL": 13}
OWN_CALLS = 100  # calls from this number on are Kymo's own, of class KYMO_CALL
SCAN_BYTES = 8 << 20  # of each end of a capture


def slots_offset(f):
    head = f.read(65536)
    end = head.find(b"TRACE_HEADER_END::")
    length = re.search(rb"TRACE_SYSPAGE_LEN::(\d+)", head)
    if end < 0 or not length:
        raise ValueError("no capture")
    return end + len("TRACE_HEADER_END::") + int(length.group(1))


FRAMING = {0x404, 0x410, 0x411}  # BUFFER_END, CHECK, END: around buffers, not in them


def is_framing(header):
    return header & 0xc0007fff in FRAMING


def slot_bytes(path):
    """All slots but the framing, as bytes."""
    with open(path, "rb") as f:
        f.seek(slots_offset(f))
        data = f.read()
    return b"".join(data[at:at + 16] for at in range(0, len(data), 16)
                    if len(data) - at < 4 or not is_framing(struct.unpack_from("<I", data, at)[0]))


def unchecked(data):
    """The same capture as format 1.01: it may be changed then without being damaged."""
    end = data.find(b"TRACE_HEADER_END::") + len("TRACE_HEADER_END::")
    length = int(re.search(rb"TRACE_SYSPAGE_LEN::(\d+)", data)[1])
    head = data[:end].replace(b"TRACE_VER_MINOR::02", b"TRACE_VER_MINOR::01")
    slots = data[end + length:]
    return head + data[end:end + length] + b"".join(
        slots[at:at + 16] for at in range(0, len(slots), 16)
        if len(slots) - at < 4 or not is_framing(struct.unpack_from("<I", slots, at)[0]))


def raw_slots(path, framing=False):
    """(header, time, d1, d2) of all slots, from both ends of a big file."""
    with open(path, "rb") as f:
        start = slots_offset(f)
        f.seek(0, os.SEEK_END)
        size = (f.tell() - start) // 16 * 16
        pieces = [(0, min(size, SCAN_BYTES))]
        if size > SCAN_BYTES:
            last = max(SCAN_BYTES, size - SCAN_BYTES)
            pieces.append((last, size - last))
        for at, length in pieces:
            f.seek(start + at)
            for slot in struct.iter_unpack("<IIII", f.read(length // 16 * 16)):
                if framing or not is_framing(slot[0]):
                    yield slot


def slots(path, framing=False):
    """(class, event, d1, d2) of the slots that begin an event."""
    for header, _, d1, d2 in raw_slots(path, framing):
        if header >> 30 < 2:
            yield header >> 10 & 0x1f, header & 0x3ff, d1, d2


def fired(path):
    """The set of (class, event), the 64-bit forms counted as the plain ones."""
    found = set()
    for cls, event, _, _ in slots(path, framing=True):
        found.add((cls, event & ~512 if cls != CLASSES["USER"] else 0))
    return found


def event_rows():
    """name -> (class, number) of trace/events.def."""
    with open(os.path.join(ROOT, "trace/events.def")) as f:
        text = f.read()
    return {name: (CLASSES[cls], int(number)) for name, cls, number in
            re.findall(r"^EVENT(?:_[A-Z]+)?\((\w+),\s*(\w+),\s*(\d+)", text, re.M)}


def call_rows():
    """NAME -> number of abi/kercalls.def."""
    with open(os.path.join(ROOT, "abi/kercalls.def")) as f:
        text = f.read()
    return {name: int(n) for n, name in re.findall(r"^KERCALL\((\d+),\s*(\w+)", text, re.M)}


def call_class(number):
    return CLASSES["KER_CALL" if number & 127 < OWN_CALLS else "KYMO_CALL"]


def is_call(cls):
    return cls in (CLASSES["KER_CALL"], CLASSES["KYMO_CALL"])
