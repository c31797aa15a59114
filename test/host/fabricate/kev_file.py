# SPDX-License-Identifier: BSD-2-Clause
"""A fabricated capture's bytes, for tests that damage captures: where its groups of slots are, by
docs/reference/format.md alone."""
import struct

BUFFER, DROPPED, BUFFER_END = 0x402, 0x408, 0x404
CONTROL = 1  # a class
CPU_BITS = 0x3f000000


class Capture:
    """`data` may be changed; groups holds (offset, end, cpu, True if it is a buffer). A group goes
    from its first slot to after its BUFFER_END, in format 1.01 to after its last slot."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        head = self.data.index(b"TRACE_HEADER_END::") + 18
        at = self.data.index(b"TRACE_SYSPAGE_LEN::") + 19
        page = int(self.data[at:self.data.index(b"TRACE_", at)])
        self.order = ">" if b"TRACE_BIG_ENDIAN" in self.data[:head] else "<"
        self.checked = b"VER_MINOR::01" not in self.data[:head]
        self.slots = head + page + (32 if self.checked else 0)
        self.groups = list(self._groups())

    def slot(self, at):
        return struct.unpack_from(self.order + "4I", self.data, at)

    def _groups(self):
        at = self.slots
        while at < len(self.data):
            header, _, _, d2 = self.slot(at)
            is_buffer = header & ~CPU_BITS == BUFFER
            end = at + (16 * d2 if is_buffer else 16)
            if self.checked:
                while self.slot(end)[0] & ~CPU_BITS != BUFFER_END:
                    end += 16
                end += 16
            yield at, end, header >> 24 & 63, is_buffer
            at = end

    def controls(self):
        """Offsets of the slots that hold the file together (class CONTROL), by their event."""
        found = {}
        for at in range(self.slots, len(self.data) - 15, 16):
            header = self.slot(at)[0]
            if header >> 10 & 31 == CONTROL:
                found.setdefault(header & 0x3ff, []).append(at)
        return found

    def buffers(self, cpu=None):
        return [g for g in self.groups if g[3] and cpu in (None, g[2])]

    def without(self, *groups):
        data = bytearray(self.data)
        for at, end, _, _ in sorted(groups, reverse=True):
            del data[at:end]
        return bytes(data)
