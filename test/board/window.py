# SPDX-License-Identifier: BSD-2-Clause
"""The retained memory of a machine that has stopped, read from its bytes by a second hand: what
must be in the capture that is made of it. Knows abi/retain.h, and nothing of lib/retain."""
import struct

HEADER = "<6I3Q2I"  # up to the ring
RING = "<8I"
SLOT = 16
ACTIVE, READY, BUSY = 1, 2, 3


class Window:
    def __init__(self, data):
        self.data = data
        (self.magic, self.version, _, _, self.boots, bits, self.physical, self.base, self.size,
         self.page_bytes, _) = struct.unpack_from(HEADER, data)
        at = struct.calcsize(HEADER)
        (self.ncpu, self.per_cpu, self.buffer_bytes, self.buffers, self.marks, self.words,
         self.word_step, self.table_step) = struct.unpack_from(RING, data, at)
        at += struct.calcsize(RING)
        self.places = [struct.unpack_from("<2I", data, at + 8 * i)[0] for i in range(8)]
        self.pointer = "<Q" if bits == 64 else "<I"

    def cursor(self, cpu):
        """Offset of the next slot that this CPU would have written."""
        return struct.unpack_from(self.pointer, self.data, self.places[cpu])[0] - self.base

    def slots_of(self, cpu):
        """Its complete slots, oldest first: of each buffer that is closed, and of the one that was
        being written those in front of the cursor."""
        found = []
        for i in range(self.per_cpu):
            word, = struct.unpack_from("<I", self.data, self.words + cpu * self.table_step +
                                       i * self.word_step)
            start = self.buffers + (cpu * self.per_cpu + i) * self.buffer_bytes
            used, cursor = None, self.cursor(cpu)
            if word & 3 in (READY, BUSY):
                used = struct.unpack_from("<I", self.data, start + 12)[0] * SLOT
            elif word & 3 == ACTIVE and start < cursor <= start + self.buffer_bytes:
                used = cursor - start
            if used:
                found.append((word >> 2, self.data[start:start + used]))
        return [data[at:at + SLOT] for _, data in sorted(found) for at in range(0, len(data), SLOT)]
