#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""make bench-host: many devices. fleet.py [MILLIONS]

Fabricates captures of 200 devices with 5 firmwares, 20 million events in all, puts them into a
dataset by kymo export --parquet, and asks for the 99th percentile of message latency by firmware.
Prints events per second, bytes per event and seconds. Figures, never a test."""
import os
import shutil
import sys
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test/host/fleet"))
from fleet import collection, query, run  # noqa: E402

DEVICES, FIRMWARES = 200, 5
WORKLOAD = 1.94  # what mkcapture is asked for, for each event of its capture
FOLDER = "build/bench/fleet"


def sizes(folder):
    """Bytes by table."""
    found = {}
    for at, _, names in os.walk(folder):
        table = os.path.relpath(at, folder).split(os.sep)[0]
        found[table] = found.get(table, 0) + sum(os.path.getsize(os.path.join(at, name))
                                                 for name in names)
    return found


def main():
    os.chdir(ROOT)
    events = int(float(sys.argv[1] if len(sys.argv) > 1 else "20") * 1e6)
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    collection(f"{FOLDER}/lab", DEVICES, int(events * WORKLOAD / DEVICES), FIRMWARES)
    bytes_in = sizes(f"{FOLDER}/lab")
    begun = time.monotonic()
    run("export", "--parquet", f"{FOLDER}/set", f"{FOLDER}/lab", timeout=3600)
    loaded = time.monotonic() - begun
    [row] = query(f"{FOLDER}/set",
                  "SELECT CAST(sum(events) AS BIGINT) AS n, count(DISTINCT device) AS devices "
                  "FROM captures")
    found = sizes(f"{FOLDER}/set")
    tables = ", ".join(f"{name} {size / row['n']:.2f}" for name, size in sorted(found.items())
                       if name not in (".", "captures"))
    n = row["n"]
    print(f"{n / 1e6:.1f} M events of {row['devices']} devices: {sum(bytes_in.values()) / n:.1f} "
          f"bytes an event as captures, {sum(found.values()) / n:.2f} as a dataset ({tables})")
    print(f"kymo export --parquet: {loaded:.1f} s, {row['n'] / loaded / 1e6:.2f} M events/s")
    for name in ("latency_by_firmware", "cpu_by_thread", "events_by_firmware"):
        begun = time.monotonic()
        rows = query(f"{FOLDER}/set", f"FROM {name}")
        print(f"{name}: {time.monotonic() - begun:.2f} s, {len(rows)} rows")
    shutil.rmtree(FOLDER)


main()
