# SPDX-License-Identifier: BSD-2-Clause
"""Imported by the tests in Python: what they and the programs they start write is below build/."""
import os
import tempfile

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLACE = os.path.join(_ROOT, "build/tmp")
os.makedirs(PLACE, exist_ok=True)
os.environ["TMPDIR"] = tempfile.tempdir = PLACE
