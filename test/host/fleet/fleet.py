# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of many devices share: a folder of kymo collect with fabricated captures of many
devices, and firmwares that differ in their build ids."""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "export"), os.path.join(HERE, "../../tool")]
# pylint: disable=wrong-import-position
import fetched  # noqa: E402
import temporary  # noqa: E402
from common import KYMO, MK, ROOT, Failed, lines, run, same, want  # noqa: E402,F401

VIEWS = os.path.join(ROOT, "host/fleet/views.sql")


def make(path, events, seed, firmware, *kinds, cpus=4):
    """A capture of the firmware with the build id 1234.., which ends with `firmware` (1-255)."""
    subprocess.run([MK, path, str(cpus), str(events), str(seed), *kinds, f"build={firmware}"],
                   check=True)


def collection(folder, devices, events, firmwares):
    """A folder as kymo collect leaves it: a capture a device; every fifth one has losses, and
    half of them state a clock or a boot."""
    os.makedirs(folder)
    with open(os.path.join(folder, "collect.jsonl"), "w", encoding="ascii") as index:
        for n in range(devices):
            name = f"device{n:03d}"
            os.mkdir(os.path.join(folder, name))
            path = os.path.join(folder, name, "x.kev")
            clock = [[f"wall=4294963205 {(1767323045 + n) * 10**9 + n}"],
                     ["boot=Fri Jan  2 01:52:30 2026"], []][min(n % 4, 2)]
            make(path, events, n + 1, n % firmwares + 1, *(["lossy"] if n % 5 == 4 else []), *clock)
            index.write(json.dumps({"time": f"2026-03-{n % 28 + 1:02d}T12:00:00Z", "device": name,
                                    "what": "stored",
                                    "file": f"{name}/x.kev", "bytes": os.path.getsize(path)},
                                   separators=(",", ":")) + "\n")


def query(dataset, sql, status=0, *options):
    out, err = run("query", "--json", *options, dataset, sql, status=status)
    return [json.loads(line) for line in out.splitlines()] if status == 0 else err


def views():
    """The names of the views."""
    return [line[3:].split(":")[0] for line in open(VIEWS, encoding="ascii")
            if line.startswith("-- ") and ": " in line
            and line[3:].split(":")[0].replace("_", "").isalpha()
            and line[3:4].islower()]


def run_tests(tests):
    """Runs those that the command line names, or all, in a new folder; ends the program."""
    subprocess.run(["make", "-s", "build/kymo", "build/tools/mkcapture"], cwd=ROOT, check=True)
    fetched.duckdb()
    passed = failed = 0
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as tmp:
        os.mkdir(os.path.join(tmp, "work"))
        os.chdir(os.path.join(tmp, "work"))
        wanted = [word for word in sys.argv[1:] if word != "--soak"]
        for function in tests:
            if wanted and function.__name__ not in wanted:
                continue
            begun = time.monotonic()
            try:
                function()
                passed += 1
            except (Failed, AssertionError, OSError, ValueError, KeyError, IndexError) as error:
                failed += 1
                print(f"FAIL {function.__name__}: {type(error).__name__} {error}")
            if os.environ.get("V"):
                print(f"{function.__name__}: {time.monotonic() - begun:.1f} s")
        os.chdir(ROOT)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)
