#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every reason for which the D machine refuses a program has a test: one of the machine's tests
names it, or expects a text that only this reason has. A boot image with a D program has the texts
of all, where kernel/dtrace/reason.c looks for them; one without has none. Run by `make check`."""
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../tool"))
import temporary  # noqa: E402,F401

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../.."))
LEAST = 7  # letters of a text that tell


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def image_file(member, name):
    """The file `name` of an image that is made of one member; None: it has none."""
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "image")
        subprocess.run(["build/tools/mkcpio", image, member], check=True)
        with open(image, "rb") as f:
            data = f.read()
    at = 0
    while at < len(data):
        size, namesize = (int(data[at + 6 + 8 * n:at + 14 + 8 * n], 16) for n in (6, 11))
        begin = at + 110 + namesize + 3 & ~3
        if data[at + 110:at + 109 + namesize].decode() == name:
            return data[begin:begin + size]
        at = begin + size + 3 & ~3
    return None


def images_wrong(texts):
    data = image_file("a.dif=scripts/mkcpio.c", "boot/d_reasons")
    if image_file("a=scripts/mkcpio.c", "boot/d_reasons") is not None or data is None:
        return "texts in an image without a D program, or none in one that has it"
    offsets = struct.unpack_from(f"<{len(texts) + 1}H", data)
    found = [data[a:b].decode() for a, b in zip(offsets, offsets[1:])]
    if found != texts or offsets[0] != 2 * len(offsets) or offsets[-1] != len(data):
        return f"the image's texts are {found}"
    limit = int(re.search(r"DTRACE_REFUSAL_TEXT = (\d+)", read("trace/dtrace/dtrace.h"))[1])
    longest = max(texts, key=len)
    return f"no board says as much as {longest}" if len(longest) >= limit else None


def main():
    table = read("trace/dtrace/reasons.def")
    reasons = re.findall(r'^DTRACE_REASON\((\w+), \d+, "(.*)"\)', table, re.M)
    tests = "".join(map(read, glob.glob("test/trace/dtrace/machine/*_test.c") +
                            glob.glob("test/trace/dtrace/fire/*_test.c")))
    expected = {t for t in re.findall(r'"((?:[^"\\\n]|\\.)*)"', tests) if len(t) >= LEAST}
    failed = 0
    for name, text in reasons:
        tells = text in expected or any(
            t in text and sum(t in other for _, other in reasons) == 1 for t in expected)
        if not tells and not re.search(rf"\bDTRACE_REASON_{name}\b", tests):
            print(f"FAILED: no test expects DTRACE_REASON_{name}: {text}")
            failed += 1
    wrong = images_wrong([text for _, text in reasons])
    if wrong:
        print(f"FAILED: {wrong}")
        failed += 1
    print(f"{len(reasons) + 1 - failed} passed, {failed} failed")
    return failed > 0 or len(reasons) < 60


if __name__ == "__main__":
    raise SystemExit(main())
