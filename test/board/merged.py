# SPDX-License-Identifier: BSD-2-Clause
"""What test/host/reader/readers.py says of the captures that a boot has made: the second reader has
the same events, and the CPUs' buffers are in the order that readers which merge them need."""
import glob
import os
import sys

import kev

sys.path.insert(1, os.path.join(kev.ROOT, "test/host/reader"))
import readers  # noqa: E402
from merge import Head, buffers  # noqa: E402,F401 (for others)

KYMO = os.path.join(kev.ROOT, "build/kymo")
SIZE_MOST = 2 << 20  # of a capture, in a boot that makes many


def check(path, **what):
    """Of one capture, which must be whole."""
    seen = readers.Seen(KYMO, path, **what)
    if not seen.whole:
        raise AssertionError(f"{path}: not whole")
    if seen.wrong:
        raise AssertionError(f"{path}: {seen.wrong}")
    return seen


def other_readers_agree_but_of(*cut):
    """Of all small captures, and of the smallest larger one if none of those is whole. Each must be
    whole, but for those named here without .kev."""
    def other_readers_agree(boot):
        wrong, compared = [], 0
        for path in sorted(glob.glob(os.path.join(boot.dir, "*.kev")), key=os.path.getsize):
            if os.path.getsize(path) > SIZE_MOST and compared:
                continue
            name, seen = os.path.basename(path), readers.Seen(KYMO, path)
            compared += seen.whole
            if seen.wrong:
                wrong.append(f"{name}: {seen.wrong}")
            elif not seen.whole and name.removesuffix(".kev") not in cut:
                wrong.append(f"{name}: not whole")
        return "; ".join(wrong) or (None if compared else "no capture is whole")
    return other_readers_agree


other_readers_agree = other_readers_agree_but_of()
