# SPDX-License-Identifier: BSD-2-Clause
"""A second reader of captures: the documented merge rules of QNX's readers, in three styles.

It shares neither code nor tables with host/reader; it knows attributes, slots and times, and no
event's arguments. Each style yields the capture's events as (time, cpu, class, number) in the order
in which that style's reader would show them.

6: the file is one row of slots. A slot's CPU is in its header; the high word of its time is that of
   the last TIME of that CPU. Slots of a combine event are joined by their stamp alone, whatever
   their CPU: one that is not ended blocks all that come after it. Events are sorted at the end.
7: the same row, merged while it is read. Nothing is shown before every CPU of TRACE_CPU_NUM has had
   a TIME; then each event is shown once every CPU has a later slot. `held` says how many bytes had
   to be kept for that.
8: the file is a row of buffers. A buffer ends with BUFFER_END, whose header names its CPU; no slot
   of another CPU may be in it. BUFFER's count is the number of slots before the trailer. Buffers
   are merged as in style 7.

CONTROL numbers that QNX has no name for (CHECK, END) and BUFFER_END are no events. Damage is not
this reader's concern: it raises NotRead."""
import heapq
import re
import struct

CONTROL = 1
TIME, BUFFER, BUFFER_END, DROPPED = 1, 2, 4, 8
EVENTS = {TIME, BUFFER, DROPPED}  # of class CONTROL
SLOT = 16


class NotRead(Exception):
    pass


class Head:
    """A capture's text attributes, and where its slots begin."""

    def __init__(self, data):
        found = re.search(rb"TRACE_HEADER_END::", data)
        if not data.startswith(b"TRACE_HEADER_BEGIN::") or not found:
            raise NotRead("no capture")
        text = data[:found.start()].decode("latin-1")
        pairs = re.findall(r"TRACE_([A-Za-z0-9_]+?)::(.*?)(?=TRACE_[A-Za-z0-9_]+?::|$)", text, re.S)
        self.values = dict(pairs)
        self.slots = found.end() + int(self.values["SYSPAGE_LEN"])
        self.cpus = int(self.values["CPU_NUM"])
        self.order = ">" if "BIG_ENDIAN" in self.values else "<"
        self.checked = int(self.values["VER_MINOR"]) >= 2
        args = self.values.get("TRACELOGGER_ARGS", "")
        self.ring = "RETAINED" in self.values or \
            re.search(r"\s-(?:[acEMPRvw]*r|-retain\b)", args) is not None


class Slots:
    def __init__(self, data, head):
        self.rows = list(struct.iter_unpack(head.order + "4I", data[head.slots:][
            :(len(data) - head.slots) // SLOT * SLOT]))

    def __iter__(self):
        """(index, structure, class, number, cpu, time, d1, d2)"""
        for at, (header, time, d1, d2) in enumerate(self.rows):
            yield (at, header >> 30, header >> 10 & 31, header & 1023, header >> 24 & 63, time, d1,
                   d2)


class Lanes:
    """The events of each CPU with 64-bit times, by the TIME rule."""

    def __init__(self):
        self.high, self.waiting = {}, {}

    def slot(self, cls, number, cpu, time, d1):
        """The events that are known now: this one, and BUFFER after the TIME that follows it."""
        event = cls, number
        if cls == CONTROL and number == BUFFER:
            self.waiting[cpu] = time
            return []
        known = []
        if cls == CONTROL and number == TIME:
            self.high[cpu] = d1
            if cpu in self.waiting:
                begun = self.waiting.pop(cpu)
                # A stamp above TIME's own was made before the high word changed.
                known.append(((d1 - (begun > time)) << 32 | begun, cpu, CONTROL, BUFFER))
        elif cpu in self.waiting or (cpu not in self.high and event != (CONTROL, DROPPED)):
            raise NotRead(f"CPU {cpu}: class {cls} number {number} before a TIME")
        # The losses of a CPU of which nothing was written have no TIME: their stamp is whole.
        known.append((self.high.get(cpu, 0) << 32 | time, cpu) + event)
        return known


def is_shown(cls, number):
    return cls not in (0, CONTROL) or (cls == CONTROL and number in EVENTS)


class Joiner:
    """The beginning of each combine event. `by_stamp`: style 6, else by CPU, event and stamp."""

    def __init__(self, by_stamp):
        self.by_stamp, self.open = by_stamp, set()

    def begins(self, structure, cls, number, cpu, time):
        key = time if self.by_stamp else (cpu, cls, number, time)
        if structure == 0:
            return True
        if structure == 1:
            if key in self.open:
                raise NotRead(f"two combine events of stamp {time:#x} are open")
            self.open.add(key)
            return True
        if key not in self.open:
            raise NotRead(f"a combine event of stamp {time:#x} has no beginning")
        if structure == 3:
            self.open.remove(key)
        return False

    def end(self):
        if self.open:
            raise NotRead(f"{len(self.open)} combine events are not ended")


def style6(data, head):
    lanes, joiner, events = Lanes(), Joiner(True), []
    for _, structure, cls, number, cpu, time, d1, _ in Slots(data, head):
        if is_shown(cls, number) and joiner.begins(structure, cls, number, cpu, time):
            events += lanes.slot(cls, number, cpu, time, d1)
    joiner.end()
    return sorted(events, key=lambda event: event[:2])


class Merge:
    """Events of all CPUs in order, each as soon as every CPU has a later one."""

    def __init__(self, cpus):
        self.last = dict.fromkeys(range(cpus))  # CPU -> time; None: it has had no TIME
        self.queue, self.shown, self.number = [], [], 0
        self.begun = 0  # bytes until every CPU had a TIME
        self.held = self.held_most = 0  # bytes

    def add(self, events, bytes_read):
        for event in events:
            self.number += 1
            heapq.heappush(self.queue, (event[0], event[1], self.number, event))
            self.last[event[1]] = event[0]
        self.held += SLOT
        self.held_most = max(self.held_most, self.held)
        if None in self.last.values():
            self.begun = bytes_read

    def show(self):
        if not self.last or None in self.last.values():
            return
        known = min(self.last.values())
        while self.queue and self.queue[0][0] < known:
            self.shown.append(heapq.heappop(self.queue)[3])
        self.held = SLOT * len(self.queue)

    def end(self):
        while self.queue:
            self.shown.append(heapq.heappop(self.queue)[3])
        for before, after in zip(self.shown, self.shown[1:]):
            if after[:2] < before[:2]:
                raise NotRead(f"{after} is shown behind {before}")
        return self.shown


def style7(data, head):
    lanes, joiner, merge = Lanes(), Joiner(False), Merge(head.cpus)
    for at, structure, cls, number, cpu, time, d1, _ in Slots(data, head):
        if is_shown(cls, number) and joiner.begins(structure, cls, number, cpu, time):
            merge.add(lanes.slot(cls, number, cpu, time, d1), at * SLOT)
            if cls == CONTROL:  # once a buffer is often enough
                merge.show()
    joiner.end()
    return merge.end(), merge


def pieces(data, head):
    """What ends with BUFFER_END: its CPU, its slots without it."""
    piece = []
    for slot in Slots(data, head):
        if slot[2] == CONTROL and slot[3] == BUFFER_END:
            if slot[6] != 0xe6e6e6e6 or slot[7] != 0xe6e6e6e6:
                raise NotRead(f"BUFFER_END at slot {slot[0]} has words of its own")
            yield slot[4], piece
            piece = []
        else:
            piece.append(slot)
    if piece:
        raise NotRead(f"{len(piece)} slots behind the last BUFFER_END")


def buffer_check(cpu, piece):
    kept = [slot for slot in piece if is_shown(slot[2], slot[3])]
    for slot in kept:
        if slot[4] != cpu:
            raise NotRead(f"slot {slot[0]} of CPU {slot[4]} is in a buffer of CPU {cpu}")
    for slot in kept[1:]:
        if slot[2] == CONTROL and slot[3] == BUFFER:
            raise NotRead(f"slot {slot[0]}: BUFFER inside of a buffer")
    if kept and kept[0][2] == CONTROL and kept[0][3] == BUFFER:
        if kept[0][7] != len(kept):
            raise NotRead(f"slot {kept[0][0]}: {len(kept)} slots, BUFFER says {kept[0][7]}")
        if len(kept) < 2 or (kept[1][2], kept[1][3]) != (CONTROL, TIME):
            raise NotRead(f"slot {kept[0][0]}: no TIME behind BUFFER")
    elif any(slot[2] != CONTROL for slot in kept):
        raise NotRead(f"slot {kept[0][0]}: events outside of buffers")
    return kept


def style8(data, head):
    lanes, joiner, merge = Lanes(), Joiner(False), Merge(head.cpus)
    for cpu, piece in pieces(data, head):
        for at, structure, cls, number, _, time, d1, _ in buffer_check(cpu, piece):
            if joiner.begins(structure, cls, number, cpu, time):
                merge.add(lanes.slot(cls, number, cpu, time, d1), at * SLOT)
        joiner.end()  # no event straddles two buffers
        merge.show()
    return merge.end(), merge


def buffers(data, head):
    """(cpu, sequence, time of its first slot, slots, time of its last one), as in the file."""
    for cpu, piece in pieces(data, head):
        kept = buffer_check(cpu, piece)
        if kept and kept[0][3] == BUFFER:
            highs = [slot[6] for slot in kept if slot[2:4] == (CONTROL, TIME)]
            yield (cpu, kept[0][6], kept[1][6] << 32 | kept[0][5], len(kept),
                   highs[-1] << 32 | kept[-1][5])
