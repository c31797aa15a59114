#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""make bench-host: how fast kymo print, stat and export are beside babeltrace2, same events.

host_ratio.py [CAPTURE]

Without CAPTURE records the demo workload on virt-a64 (image `ratio`, wide). Writes its events as
CTF (kymo export --ctf), then times kymo print, kymo stat, a D program on the capture (kymo dtrace
-r), kymo report, each export and babeltrace2's text in turn, five times each, to /dev/null, a file
or a folder: processor time of the process and its children, the least of the five, and its peak
memory. The ratio is the figure: it hardly depends on the machine. A figure, never a test. Last the
bytes of the report's page for a million events.
"""
import json
import os
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/board"))
from guest import image_elf  # noqa: E402
ROUNDS = 5
FOLDER = "build/bench/ratio"
PROGRAM = "sched:::on-cpu, msg:::send { @[probename, execname] = count(); }"


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
    subprocess.run(["build/kymo", "export", "--ctf", capture, "-o", f"{FOLDER}/ctf"], check=True)
    told = subprocess.run(["build/kymo", "export", "--jsonl", capture], capture_output=True,
                          check=True).stdout
    end = json.loads(told.splitlines()[-1])
    return end["events"] + end["control"] + end["added"] + end["losses"]


def formats():
    """The options of kymo export that name a format, and whether it makes a folder."""
    text = subprocess.run(["build/kymo", "export", "--help"], capture_output=True, check=True,
                          encoding="utf-8").stdout
    table = text.split("\n\n")[2]
    return [(line.split()[0], "-o FOLDER" in line) for line in table.splitlines()]


def high_water(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return max((int(line.split()[1]) for line in f if line.startswith("VmHWM")), default=0)
    except OSError:
        return 0


def measure(command, folder):
    """Processor time, as the kernel accounts it to an ended child, and the peak of its memory in
    KiB, which is looked at while it runs: that of an ended child has this program's in it."""
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        peak, done = 0, 0
        while not done:
            peak = max(peak, high_water(child.pid))
            time.sleep(0.002)
            done, status, used = os.wait4(child.pid, os.WNOHANG)
        child.returncode = os.waitstatus_to_exitcode(status)
        complaint = child.stderr.read()
    if child.returncode != 0:
        sys.exit(f"bench-host: {' '.join(command)}: {complaint.decode(errors='replace')}")
    return used.ru_utime + used.ru_stime, peak


def lines(command):
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.count(b"\n")


def main():
    os.chdir(ROOT)
    os.makedirs(FOLDER, exist_ok=True)
    capture = sys.argv[1] if len(sys.argv) > 1 else record()
    events = as_ctf(capture)
    page = f"{FOLDER}/report.html"
    commands = {"kymo print": (["build/kymo", "print", "-n", capture], None),
                "kymo stat": (["build/kymo", "stat", capture], None),
                "kymo dtrace -r": (["build/kymo", "dtrace", "-q", "-r", capture, "-n", PROGRAM],
                                   None),
                "kymo report": (["build/kymo", "report", "--force", capture, "-o", page], None),
                "babeltrace2": (["babeltrace2", f"{FOLDER}/ctf"], None)}
    for option, folder in formats():
        out = f"{FOLDER}/out" if folder else "/dev/null"
        commands[f"export {option}"] = (["build/kymo", "export", option, capture, "-o", out],
                                        out if folder else None)
    printed = lines(commands["babeltrace2"][0])
    if printed != events:
        sys.exit(f"bench-host: babeltrace2 printed {printed} of {events} events")
    best, peak = dict.fromkeys(commands, float("inf")), dict.fromkeys(commands, 0)
    for _ in range(ROUNDS):
        for name, (command, folder) in commands.items():
            took, memory = measure(command, folder)
            best[name], peak[name] = min(best[name], took), max(peak[name], memory)
    print(f"{events} events, {os.path.getsize(capture)} bytes")
    for name, took in best.items():
        print(f"{name:20} {events / took / 1e6:8.2f} million events/s   "
              f"{best['babeltrace2'] / took:6.1f} times babeltrace2   {peak[name] / 1024:6.1f} MB")
    print(f"report.html: {os.path.getsize(page) / events:.2f} MB a million events")


if __name__ == "__main__":
    main()
