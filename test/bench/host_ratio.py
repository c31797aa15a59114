#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""make bench-host: how fast kymo print and stat are beside babeltrace2, with the same events.

host_ratio.py [CAPTURE]

Without CAPTURE records the demo workload on virt-a64 (image `ratio`, wide). Writes its events as
CTF (kev2ctf.c), then times kymo print, kymo stat and babeltrace2's text in turn, five times each,
to /dev/null: processor time of the process, the least of the five. The ratio is the figure: it
hardly depends on the machine. A figure, never a test.
"""
import os
import resource
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/boot"))
from guest import image_elf  # noqa: E402
ROUNDS = 5
FOLDER = "build/bench/ratio"


def record():
    with open("build/virt-a64/qemu.args", encoding="utf-8") as f:
        command = f.read().split()
    # Idle time is skipped: the recording takes what the events take.
    command += ["-icount", "shift=6,sleep=off", "-kernel",
                os.path.abspath(image_elf("build/virt-a64", "ratio"))]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=900,
                          cwd=FOLDER)
    if done.returncode != 0:
        sys.exit("bench-host: the recording failed:\n" + done.stdout.decode(errors="replace"))
    return f"{FOLDER}/trace.kev"


def as_ctf(capture):
    shutil.rmtree(f"{FOLDER}/ctf", ignore_errors=True)
    os.makedirs(f"{FOLDER}/ctf")
    done = subprocess.run(["build/tools/kev2ctf", capture, f"{FOLDER}/ctf"], capture_output=True,
                          encoding="utf-8")
    if done.returncode != 0:
        sys.exit(f"bench-host: {done.stderr}")
    return int(done.stdout)


def seconds(command):
    """Processor time, as the kernel accounts it to ended children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit(f"bench-host: {' '.join(command)}: {done.stderr.decode(errors='replace')}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lines(command):
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.count(b"\n")


def main():
    os.chdir(ROOT)
    os.makedirs(FOLDER, exist_ok=True)
    capture = sys.argv[1] if len(sys.argv) > 1 else record()
    events = as_ctf(capture)
    commands = {"kymo print": ["build/kymo", "print", "-n", capture],
                "kymo stat": ["build/kymo", "stat", capture],
                "babeltrace2": ["babeltrace2", f"{FOLDER}/ctf"]}
    printed = lines(commands["babeltrace2"])
    if printed != events:
        sys.exit(f"bench-host: babeltrace2 printed {printed} of {events} events")
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(ROUNDS):
        for name, command in commands.items():
            best[name] = min(best[name], seconds(command))
    print(f"{events} events, {os.path.getsize(capture)} bytes")
    for name, took in best.items():
        print(f"{name:12} {events / took / 1e6:8.2f} million events/s   "
              f"{best['babeltrace2'] / took:6.1f} times babeltrace2")


if __name__ == "__main__":
    main()
