# SPDX-License-Identifier: BSD-2-Clause
"""Imported by the tests in Python: how long to wait before something is said to hang.

A test gives its hang detectors for a quiet machine of the usual speed. KYMO_PATIENCE is the factor
by which they are longer on this one: scripts/check measures it once, and a test that runs by itself
measures it, too. Such a time decides nothing but that something never comes."""
import os
import time

LEAST = 4      # the factor of a machine that is as fast as it may be: its load may change
USUAL = 0.05   # seconds that spin() takes on a quiet machine


def spin():
    """How long a fixed piece of work takes."""
    began = time.monotonic()
    total = 0
    for n in range(1000000):
        total += n
    return time.monotonic() - began


def measured():
    return LEAST * max(1, sum(spin() for _ in range(5)) / 5 / USUAL)


FACTOR = float(os.environ.get("KYMO_PATIENCE") or measured())


def seconds(quiet):
    """How long to wait for what takes less than this on a quiet machine."""
    return quiet * FACTOR


def is_over(began, quiet):
    """Whether what takes less than this on a quiet machine hangs, if it began at this time. The
    machine may have become busier since the factor was measured: so it is measured again before."""
    waited = time.monotonic() - began
    return waited > quiet * FACTOR and waited > quiet * measured()
