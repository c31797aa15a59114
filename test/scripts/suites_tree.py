# SPDX-License-Identifier: BSD-2-Clause
"""Imported by the tests of scripts/check: a tree in which it runs suites that a test wrote."""
import os
import shutil
import subprocess

import patience

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NO_MAKE = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MAKELEVEL", "KYMO_LOCKS")}
COPIED = ["scripts/check", "scripts/locked", "scripts/run-unit",
          *(f"test/tool/{name}.py" for name in ("patience", "suite_list", "suite_run",
                                                "suite_marks"))]
# Its goals are made at once, but for files named good*, whose contents are those of the file
# `word`, and bad*, which can't be made.
MAKEFILE = """.PHONY: FORCE
FORCE:
list-unit: ; @echo {units}
build/good%: word ; @mkdir -p build; cp word $@; echo $@ >>made
build/bad%: ; @echo no compiler; false
%: FORCE ; @:
Makefile word: ;
"""


class Tree:
    """units: names of unit test programs, all of which are there."""

    def __init__(self, folder, suites, units=()):
        self.folder = folder
        for name in COPIED:
            os.makedirs(os.path.join(folder, os.path.dirname(name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(folder, name))
        os.makedirs(os.path.join(folder, "boards"), exist_ok=True)
        self.write("Makefile", MAKEFILE.format(units=" ".join(f"build/unit/{u}" for u in units)))
        self.write("scripts/setup.sh", "#!/bin/sh\n")
        os.chmod(os.path.join(folder, "scripts/setup.sh"), 0o755)
        self.write("word", "one\n")
        topic = "" if "topic " in suites else "topic some: of the test\n"
        self.write("scripts/suites", topic + suites)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def read(self, name):
        """The text of a file, or None."""
        try:
            with open(self.path(name), encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def begin(self, *words, **environment):
        return subprocess.Popen([self.path("scripts/check"), *words], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                stdin=subprocess.DEVNULL, start_new_session=True,
                                env={**NO_MAKE, **environment})

    def check(self, *words, **environment):
        """Status and output of scripts/check."""
        process = self.begin(*words, **environment)
        out, _ = process.communicate(timeout=patience.seconds(60))
        return process.returncode, out
