# SPDX-License-Identifier: BSD-2-Clause
"""The D machine's figures, board `host`: x86-64 instructions of one firing, counted by callgrind.

d_bench enables one clause and fires its probe; the slope over two numbers of firings is what one
costs, from the call of dtrace_fire() to its return, and setting up doesn't count.
"""
import os
import re
import subprocess
import sys
import time

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tool"))
import patience  # noqa: E402

CASES = ["dif_insn", "d_empty", "d_trace", "d_count", "d_count_execname", "d_pred_false",
         "d_pred_cached"]
FIFTY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fifty.d")
# Milliseconds on this machine, which say more of it than of Kymo: without limits.
TIMES = {"d_compile_50_ms": ["-e", "-s", FIFTY], "d_start_ms": ["-qn", "BEGIN { exit(0); }"]}
FIRINGS = (20, 120)
INSTRUCTIONS = (20, 120)  # of dif_insn's clause
PEERS = {"dif_insn": 34, "d_empty": 227, "d_trace": 439, "d_count": 774, "d_count_execname": 1466,
         "d_pred_false": 519, "d_pred_cached": 45}
LIMITS = {"dif_insn": 12, "d_empty": 120, "d_trace": 180, "d_count": 220, "d_count_execname": 350,
          "d_pred_false": 140, "d_pred_cached": 20}


def collected(build, case, firings, n):
    """Instructions inside dtrace_fire() in one run."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
               "--collect-atstart=no", "--toggle-collect=dtrace_fire",
               os.path.join(build, "bench/d_bench"), case, str(firings), str(n)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=patience.seconds(300))
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"bench: d_bench {case}: status {done.returncode}\n{done.stderr[-2000:]}")
    return int(found.group(1))


def per_firing(build, case, n=0):
    first, last = (collected(build, case, f, n) for f in FIRINGS)
    return (last - first) // (FIRINGS[1] - FIRINGS[0]) + 1  # and the call itself


def measure(build):
    """{figure: instructions}"""
    figures = {case: per_firing(build, case) for case in CASES[1:]}
    short, long = (per_firing(build, "dif_insn", n) for n in INSTRUCTIONS)
    slope = (long - short) / (INSTRUCTIONS[1] - INSTRUCTIONS[0])
    return {"dif_insn": round(slope, 1), **figures}


def timed(build):
    """{name: milliseconds of `kymo dtrace`, from start to end, the best of nine}"""
    best = {}
    for name, words in TIMES.items():
        for _ in range(9):
            began = time.perf_counter()
            subprocess.run([os.path.join(build, "kymo"), "dtrace", "-t", "self", *words],
                           check=True, stdin=subprocess.DEVNULL, capture_output=True,
                           timeout=patience.seconds(60))
            took = (time.perf_counter() - began) * 1000
            best[name] = round(min(took, best.get(name, took)), 1)
    return best
