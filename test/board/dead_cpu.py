# SPDX-License-Identifier: BSD-2-Clause
"""A machine whose CPU 1 does not start: its device tree names one that isn't there. A PC's tables
are the emulator's: there the kernel's own list is changed, by the emulator's gdb stub."""
import contextlib
import os
import struct
import subprocess
import threading

import gdb
import guest

TREE = "tree.dtb"
NOWHERE = 0x77  # no CPU has this MPIDR
NODE, PROPERTY = b"\0\0\0\1cpu@1\0\0\0", 3


def prepare(boot):
    """Writes the emulator's own device tree with another `reg` of cpu@1."""
    path = os.path.join(boot.dir, TREE)
    subprocess.run(["qemu-system-aarch64", "-M", f"virt,dumpdtb={path}", "-cpu", "cortex-a53",
                    "-smp", "4", "-m", "256M", "-nic", "none", "-display", "none"], check=True,
                   capture_output=True, timeout=guest.patience.seconds(60))
    with open(path, "rb") as f:
        tree = bytearray(f.read())
    structure, strings = struct.unpack_from(">2I", tree, 8)
    strings_bytes, structure_bytes = struct.unpack_from(">2I", tree, 32)
    # The emulator doubles the room after the tree, and then the kernel finds it too long.
    del tree[max(structure + structure_bytes, strings + strings_bytes):]
    struct.pack_into(">I", tree, 4, len(tree))
    at = tree.index(NODE) + len(NODE)
    while True:
        kind, length, name = struct.unpack_from(">3I", tree, at)
        assert kind == PROPERTY, "cpu@1 has no reg"
        if tree[strings + name:].startswith(b"reg\0"):
            break
        at += 12 + (length + 3) // 4 * 4
    struct.pack_into(">I", tree, at + 12 + length - 4, NOWHERE)
    with open(path, "wb") as f:
        f.write(tree)


class ListChanged(contextlib.AbstractContextManager):
    """Runs a board whose emulator waits (-S, STUB) up to kernel_main(), and changes apic_of[1]."""

    def __init__(self, boot):
        names = subprocess.run(["nm", boot.command()[-1]], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        self.symbols = {f[2]: int(f[0], 16) for f in map(str.split, names) if len(f) == 3}
        self.path = os.path.join(boot.dir, "gdb")
        threading.Thread(target=self.change, daemon=True).start()

    def change(self):
        stub = gdb.Stub.__new__(gdb.Stub)
        stub.socket, stub.buffer = guest.connect(self.path), b""
        if not stub.run_to([self.symbols["kernel_main"]], 1, guest.patience.seconds(60)):
            raise AssertionError("kernel_main() is not reached")
        stub.write(self.symbols["apic_of"] + 4, struct.pack("<I", NOWHERE))
        stub.ask("D")

    def __exit__(self, *_):
        return None
