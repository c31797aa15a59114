# SPDX-License-Identifier: BSD-2-Clause
"""Imported by the tests in Python that need DuckDB's module for node: it is fetched once."""
import os
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def duckdb():
    """A registry that does not answer is asked again twice."""
    for seconds in (10, 20, None):
        done = subprocess.run(["make", "-s", "install-query", "PREFIX=/nowhere"], cwd=ROOT,
                              check=seconds is None, stdout=subprocess.DEVNULL)
        if done.returncode == 0:
            return
        time.sleep(seconds)
