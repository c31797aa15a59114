# SPDX-License-Identifier: BSD-2-Clause
"""Readers of captures that are no command on one file: libkev, babeltrace2's plugin, the server of
kymo view, the tables of kymo query and kymo load. For every_command.py: each takes (kymo, rng,
path, out), a random form of it reads the capture, and it returns True if the capture was taken; it
raises Failed if what happens is neither that nor a message. All but babeltrace2, node and curl are
built with the sanitizers."""
import glob
import http.client
import json
import os
import re
import signal
import subprocess
import tempfile

import empty_server
import patience
import temporary  # noqa: F401

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WALK = os.path.join(ROOT, "build/tools/kev-walk")
PLUGIN = os.path.join(ROOT, "build/babeltrace2-asan")
QUERIES = ["FROM captures", "FROM latency_by_firmware", "FROM losses_by_device", "FROM boots",
           "FROM panics", "SELECT count(*) FROM events", "FROM states LIMIT 9",
           "FROM messages LIMIT 9", "FROM losses LIMIT 9"]
# Not sink.ctf.fs, which test/host/babeltrace2 has for sound captures: when its source ends with an
# error, version 2.0.4 may read through a null pointer as it goes (SEED=1151754497).
SINKS = [["-c", "sink.text.pretty"], ["-c", "sink.text.details"], ["-c", "sink.utils.counter"],
         ["--begin=0.0001", "--end=0.001"]]
# sink.ctf.fs may come back with a babeltrace2 that survives the seed above: a later one than 2.0.4.


class Failed(Exception):
    """What is wrong with a reader."""


def check_said(command, status, said, taken=(0,)):
    """Status and message of a process that has ended; returns True if it was content."""
    command = " ".join(command)
    if "Sanitizer" in said or "runtime error" in said or status not in (*taken, 1):
        raise Failed(f"{command}: status {status}: {said[:3000]}")
    if status not in taken and not said.strip():
        raise Failed(f"{command}: status {status} and no message")
    return status in taken


def check_json(form, text):
    try:
        for line in [text] if form == "json" else text.splitlines():
            json.loads(line)
    except ValueError as e:
        raise Failed(f"prints no JSON: {e}: {text[:200]}") from None


def run(command, env=None):
    """(whether it was content, standard output)"""
    try:
        done = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL,
                              timeout=patience.seconds(60), env=dict(os.environ, **(env or {})))
    except subprocess.TimeoutExpired:
        raise Failed(" ".join(command) + " hangs") from None
    return check_said(command, done.returncode, done.stderr.decode(errors="replace")), done.stdout


def recovering(rng):
    return ["--recover"] if rng.random() < 0.6 else []


def libkev(_kymo, rng, path, _out):
    elfs = rng.choice([[], ["build/virt-a64"]])
    return run([WALK, path, str(rng.randrange(1 << 32)), *elfs])[0]


def library(name):
    return subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True,
                          check=True).stdout.strip()


def babeltrace2(_kymo, rng, path, _out):
    params = f'inputs=["{path}"]' + (",recover=true" if recovering(rng) else "")
    # The command itself leaks.
    return run(["babeltrace2", "--plugin-path", PLUGIN, "convert", "-c", "source.kymo.kev",
                "--params", params, *rng.choice(SINKS)],
               {"LD_PRELOAD": f"{library('libasan.so')}:{library('libubsan.so')}",
                "ASAN_OPTIONS": "detect_leaks=0"})[0]


# ---- kymo view -------------------------------------------------------------------------


def get(url, path):
    """Status and body; (0, b""): nobody answers."""
    to = http.client.HTTPConnection(url[1], int(url[2]), timeout=patience.seconds(30))
    try:
        to.request("GET", f"/{url[3]}/{path}")
        answer = to.getresponse()
        return answer.status, answer.read()
    except (ConnectionError, http.client.HTTPException):
        return 0, b""
    finally:
        to.close()


def windows(rng):
    for _ in range(6):
        begin = rng.choice([0, -1 << 63, rng.randrange(1 << 24), rng.randrange(1 << 40)])
        end = rng.choice([begin, (1 << 63) - 1, begin + rng.randrange(1 << 20)])
        yield begin, max(begin, min(end, (1 << 63) - 1))


def visit(rng, url):
    """As a page does: what there is, the whole, and windows of it."""
    status, state = get(url, "state")
    while status == 200 and (shown := json.loads(state))["generation"] == 0:
        status, state = get(url, f"state?after={shown['version']}")
    if status == 0:
        return
    generation = json.loads(state)["generation"]
    for path, wanted in [("", (200,)), ("whole", (200,)),
                         *((f"part?from={a}&to={b}&generation={generation}", (200, 413))
                           for a, b in windows(rng))]:
        status = get(url, path)[0]
        if status not in wanted:
            raise Failed(f"kymo view: /{path}: {status}")


def view(kymo, rng, path, _out):
    command = [kymo, "view", *recovering(rng), path]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=said, text=True)
        try:
            url = re.fullmatch(r"http://([0-9.]+):(\d+)/([0-9a-f]+)/\n", process.stdout.readline())
            if url:
                visit(rng, url)
                process.send_signal(signal.SIGINT)
            status = process.wait(timeout=patience.seconds(60))
        except subprocess.TimeoutExpired:
            raise Failed(" ".join(command) + " hangs") from None
        finally:
            process.kill()
            process.communicate()
            said.seek(0)
            text = said.read().decode(errors="replace")
    return check_said(command, status, text)


# ---- tables ----------------------------------------------------------------------------


def query(kymo, rng, path, out):
    whole, _ = run([kymo, "export", *recovering(rng), "--parquet", out, path])
    if not glob.glob(os.path.join(glob.escape(out), "captures/**/*.parquet"), recursive=True):
        if whole:
            raise Failed(f"kymo export --parquet {out} {path}: success, but no capture")
        return False
    form = rng.choice(["", "--csv", "--json"])
    good, text = run([kymo, "query", *([form] if form else []), out, rng.choice(QUERIES)])
    if not good:
        raise Failed(f"kymo query {out}: no answer")
    if form == "--json":
        check_json("lines", text.decode())
    return True


def load(kymo, rng, path, _out):
    return run([kymo, "load", *recovering(rng), empty_server.address(), path])[0]


# How often each is tried: one of so many rounds. Those with others' programs take longer.
READERS = {libkev: 1, babeltrace2: 2, view: 2, query: 4, load: 4}
