# SPDX-License-Identifier: BSD-2-Clause
"""Imported by the tests in Python that need DuckDB's module for node: it is fetched once."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def duckdb():
    subprocess.run(["make", "-s", "install-query", "PREFIX=/nowhere"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
