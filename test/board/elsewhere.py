# SPDX-License-Identifier: BSD-2-Clause
"""The boots that `make check` makes on one board and `make soak` on the others too, and why.
suites.py applies it; docs/inside/tests.md says the rule, scripts/check-where holds it against this
file.

A boot is here if another one in `make check` executes the same code of the kernel: the board named
has the same kind of memory, or the boot's subject is portable, and the port's part of it is in a
boot that each board keeps."""

ON_A64 = "not x86-64's code; virt-a64 boots it"
DISK = "disk: `slain-disk`; the rest: virt-a64"
ON_PC = "not AArch64's code; pc boots it"
ONE_CPU = "one CPU: `smp1`, and all of mps2-an386"
LIBC = "picolibc: virt-a64, stm32f4; newlib: here"
SLOTS = "64: units `slots64`; 128: stm32f4"
FEWER = "10^7 events; here 10^6: `starved-few`"
SAME_CPU = "virt-a64 boots it, on the same CPU; here: `smoke`"

# board: [(names, reason)]
SOAK_ONLY = {
    "pc": [("api-smp1 qnx fair-unrecorded control-smp4 kill crashes", ON_A64),
           ("help wrong failed servers", ON_A64), ("gate drops ring log", DISK),
           ("events events-wide killed why", DISK)],
    "virt-a64": [("quota dfuzz slain-disk", ON_PC), ("api-smp1 control options-smp1", ONE_CPU),
                 ("starved", FEWER)],
    "mps2-an386": [("api-picolibc qnx-picolibc libtest-picolibc log-picolibc", LIBC),
                   ("api-slots64 ring-slots64 events-slots64 d-slots64", SLOTS)],
    "raspi3": [("api", SAME_CPU)],
    "xlnx-zcu102": [("api", SAME_CPU)],
}


def why(board, name):
    """Why `make check` has no such boot of the board, or None."""
    for names, reason in SOAK_ONLY.get(board, []):
        if name in names.split():
            return reason
    return None
