# SPDX-License-Identifier: BSD-2-Clause
"""Imported by the tests in Python: the part of a suite's tests that `make check` has time for.

EVERY=n takes each n-th, from one that KYMO_SAMPLE and the command say: scripts/check gives a number
that changes with the commit, so that n commits have them all, more or less. Without EVERY it is
all."""
import os
import sys
import zlib

EVERY = max(1, int(os.environ.get("EVERY") or 1))


def of(tests):
    """At least one of them."""
    tests = list(tests)
    every = min(EVERY, len(tests) or 1)
    # Who asks what a run needs gets the sample of that run.
    words = [word for word in sys.argv[1:] if word != "--needs"]
    command = " ".join([os.path.basename(sys.argv[0]), *words])
    first = int(os.environ.get("KYMO_SAMPLE") or 0) + zlib.crc32(command.encode())
    return tests[first % every::every]


def tell(tests, taken):
    """Says that it is not all, and how to have the same again."""
    if len(taken) < len(tests):
        print(f"{len(taken)} of {len(tests)}: EVERY={EVERY} "
              f"KYMO_SAMPLE={os.environ.get('KYMO_SAMPLE') or 0}", flush=True)
