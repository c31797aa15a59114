# SPDX-License-Identifier: BSD-2-Clause
"""Imported by the tests in Python: the part of a suite's tests that `make check` has time for.

EVERY=n takes each n-th, from one that KYMO_SAMPLE says, which is another one with each commit:
scripts/check. Without EVERY it is all."""
import os

EVERY = int(os.environ.get("EVERY") or 1)


def of(tests):
    tests = list(tests)
    return tests[int(os.environ.get("KYMO_SAMPLE") or 0) % EVERY::EVERY]


def tell(tests, taken):
    """Says that it is not all, and how to have the same again."""
    if len(taken) < len(tests):
        print(f"{len(taken)} of {len(tests)}: EVERY={EVERY} "
              f"KYMO_SAMPLE={os.environ.get('KYMO_SAMPLE') or 0}", flush=True)
