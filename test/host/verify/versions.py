#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Each reader of a format of Kymo's refuses a later version: versions.py KYMO MKCAPTURE MKDISK

The table is in docs/reference/versions.md: a row's test is in READERS here, or another suite. A
refusal names the file, the version that it found and the one that this kymo reads, and the status
is 1."""
import lzma
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tool")]
import mutants  # noqa: E402
import patience  # noqa: E402
import temporary  # noqa: E402,F401

LATER = 99


class Failed(Exception):
    """A reader that takes what it doesn't know."""


def refuses(kymo, name, *words, version=LATER):
    done = subprocess.run([kymo, *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=patience.seconds(60), errors="replace")
    said = done.stderr
    if done.returncode != 1 or name not in said or str(version) not in said or \
            not re.search(r"version", said):
        raise Failed(f"kymo {' '.join(words)}: status {done.returncode}: {said}")


def made(mkcapture, path):
    subprocess.run([mkcapture, path, "1", "300", "1", "full-id"], check=True)
    return mutants.load(path)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


# ---- one function for each row of the table ---------------------------------------------


def capture_header(kymo, tools):
    data = bytes(made(tools[0], "sound.kev").data).replace(b"TRACE_VER_MAJOR::1",
                                                           b"TRACE_VER_MAJOR::9")
    write("later.kev", data)
    for words in (["print"], ["stat"], ["verify"], ["report", "-o", "out"], ["cut", "-o", "out"],
                  ["export", "--csv"], ["why", "--slowest", "1"], ["dtrace", "-r"]):
        refuses(kymo, "later.kev", *words, "later.kev", version=9)


def system_page(kymo, tools):
    capture = made(tools[0], "sound.kev")
    head, groups = mutants.parts(capture)
    at = head.index(b"TRACE_HEADER_END::") + 18
    head = head[:at + 4] + struct.pack("<I", LATER) + head[at + 8:]
    write("later.kev", mutants.make_again("<", head, groups))
    refuses(kymo, "later.kev", "print", "later.kev")


def d_notes(kymo, tools):
    """A program's notes among the events of a buffer: a combine event of class D."""
    capture = made(tools[0], "sound.kev")
    head, groups = mutants.parts(capture)
    slots = groups[0][1]
    words = [1, 16, 0, 0x6e44796b, LATER, 0, 0, 0]
    header = 12 << 10 | 1
    for i in range(4):
        structure = 1 if i == 0 else 3 if i == 3 else 2
        slots.append((header | structure << 30, slots[-1][1] + (i == 0), *words[2 * i:2 * i + 2]))
    mutants.recount(groups[0])
    write("later.kev", mutants.make_again("<", head, groups))
    refuses(kymo, "later.kev", "dtrace", "-r", "later.kev")


def fleet_folder(kymo, tools):
    made(tools[0], "sound.kev")
    os.makedirs("fleet")
    write("fleet/_kymo", b'{"kymo":"dataset","version":%d}\n' % LATER)
    refuses(kymo, "fleet/_kymo", "query", "fleet", "FROM captures")
    refuses(kymo, "fleet/_kymo", "export", "--parquet", "fleet", "sound.kev")
    write("fleet/_kymo", b"kymo 99\n")
    refuses(kymo, "fleet/_kymo", "query", "fleet", "FROM captures", version="kymo 99")
    refuses(kymo, "fleet/_kymo", "export", "--parquet", "fleet", "sound.kev", version="kymo 99")
    write("fleet/_kymo", b'{"kymo":"dataset","version":1}\n')
    refuses(kymo, "fleet/_kymo", "query", "fleet", "FROM captures", version=1)
    refuses(kymo, "fleet/_kymo", "export", "--parquet", "fleet", "sound.kev", version=1)
    if os.listdir("fleet") != ["_kymo"]:
        raise Failed("something was written into a folder of another layout")


def collection(kymo, tools):
    os.makedirs("all/device")
    made(tools[0], "all/device/a.kev")
    line = '{"time":"2026-01-02T03:04:05Z","device":"device","what":"stored",' \
           '"file":"device/a.kev","bytes":1,"version":%d}\n'
    write("all/collect.jsonl", (line % 1 + line % LATER).encode())
    refuses(kymo, "all/collect.jsonl", "export", "--parquet", "fleet", "all")
    refuses(kymo, "all/collect.jsonl", "collect", "all", "device=unix:/nowhere")


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def block_log(kymo, tools):
    subprocess.run([tools[1], "disk", "40", "begin:trace.kev", "data:3", "end"], check=True)
    with open("disk", "rb") as file:
        data = bytearray(file.read())
    for at in (0, len(data) - 512):
        struct.pack_into("<I", data, at + 8, LATER)
        struct.pack_into("<I", data, at + 508, crc32c(data[at:at + 508]))
    write("later.img", data)
    refuses(kymo, "later.img", "extract", "later.img", "-o", "out.kev")
    refuses(kymo, "later.img", "extract", "later.img")


def retained_window(kymo, _tools):
    with lzma.open(f"{ROOT}/test/host/golden/old/3-mps2-an386.window.xz") as file:
        data = bytearray(file.read())
    at = data.index(b"KYTR" + struct.pack("<I", 3)) if b"KYTR" + struct.pack("<I", 3) in data else \
        data.index(struct.pack("<II", 0x5254594b, 3))
    struct.pack_into("<I", data, at + 4, LATER)
    write("later.core", data)
    refuses(kymo, "later.core", "extract", "--core", "later.core", "-o", "out.kev")


READERS = [capture_header, system_page, d_notes, fleet_folder, collection, block_log,
           retained_window]


def rows():
    """The table's last column: a function here, or a suite."""
    with open(f"{ROOT}/docs/reference/versions.md", encoding="utf-8") as page:
        return re.findall(r"^\|.*\| `([^`]*)` \|$", page.read(), re.M)


def main(kymo, *tools):
    kymo, *tools = map(os.path.abspath, (kymo, *tools))
    known, passed, failed = {reader.__name__ for reader in READERS}, 0, 0
    listed = rows()
    suites = subprocess.run([f"{ROOT}/scripts/check", "--list"], capture_output=True, text=True,
                            check=True).stdout.split()
    for name in listed:
        if name not in known and name not in suites:
            print(f"FAILED: docs/reference/versions.md: {name} is no suite")
            failed += 1
    for name in known - set(listed):
        print(f"FAILED: docs/reference/versions.md does not list {name}")
        failed += 1
    for reader in READERS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                reader(kymo, tools)
                passed += 1
            except Failed as why:
                print(f"FAILED: {reader.__name__}: {why}")
                failed += 1
            os.chdir(ROOT)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
