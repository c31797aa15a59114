#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The notes of KYMO_PROBE() (lib/include/kymo_probe.h), as readelf lists them, in a program
linked by user.ld: names, sizes and places of arguments, a NOP at each address,
nothing of a dropped function, no memory."""
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test"))
import temporary  # noqa: E402,F401

SOURCE = os.path.join(ROOT, "test/probe_notes/sites.c")
BOARDS = [("aarch64-linux-gnu-", ["-mcpu=cortex-a53"], 8),
          ("arm-none-eabi-", ["-mcpu=cortex-m4", "-mthumb"], 4),
          ("x86_64-linux-gnu-", ["-m64", "-fcf-protection=none"], 8)]
FLAGS = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-fno-pic",
         "-ffreestanding",
         "-I" + os.path.join(ROOT, "lib/include"), "-I" + ROOT]
LINK = ["-nostdlib", "-static", "-T", os.path.join(ROOT, "ldscripts/user.ld"),
        "-Wl,--gc-sections,--build-id,-z,noexecstack",
        "-Wl,--defsym=USER_TEXT=0x100000,--defsym=USER_ALIGN=4096"]
PLACE = r"(?:x\d+|w\d+|r\d+|lr|ip|fp|[#$]?-?\d+|%[a-z0-9]+)"
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAIL " + what)


def output_of(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def sizes_of(word):
    return {"none": [], "one": [-4], "two__args": [-4, -word],
            "three": [-4, 4, word],
            "four": [word, -4, word, 4],
            "five": [-4, 4, word, word, -4], "six": [-4, 4, word, word, -4, word],
            "global": [-4, word, -4, -word, word, word]}


def check_notes(cross, flags, word, level, folder):
    elf = os.path.join(folder, "sites.elf")
    subprocess.run([cross + "gcc", *FLAGS, *flags, level, SOURCE, *LINK, "-o", elf], check=True)
    text = output_of("readelf", "-n", elf)
    nops = output_of(cross + "objdump", "-d", elf)
    nops = {int(m, 16) for m in re.findall(r"^ *([0-9a-f]+):\s.*\tnop", nops, re.M)}
    notes = re.findall(r"Provider: (\S+)\s+Name: (\S+)\s+Location: (\S+), "
                       r"Base: 0x0+, Semaphore: 0x0+\n"
                       r" +Arguments: ?(.*)\n", text + "\n")
    what = f"{cross} {level}: "
    want = sizes_of(word)
    # A function that GCC has copied into another has its sites twice.
    check({n[1] for n in notes} == set(want), what + f"names {[n[1] for n in notes]}")
    for provider, name, address, arguments in notes:
        check(provider == "sites", what + f"provider {provider}")
        check(int(address, 16) in nops, what + f"no NOP at {address}, {name}")
        found = re.findall(rf"(-?\d+)@({PLACE})(?= |$)", arguments)
        check(" ".join(f"{s}@{p}" for s, p in found) == arguments, what + f"{name} has {arguments}")
        check([int(s) for s, _ in found] == want.get(name), what + f"sizes of {name}: {arguments}")
    table = os.path.join(folder, "table")
    subprocess.run([cross + "objcopy", "-O", "binary", "-j", ".kymo_probes", elf, table],
                   check=True)
    with open(table, "rb") as f:
        data = f.read()
    places = struct.unpack(f"<{len(data) // word}{'Q' if word == 8 else 'I'}", data)
    # GCC may copy a place, too; each leads to a note's NOP or to what comes before it.
    noted = [int(n[2], 16) for n in notes]
    check(len(places) >= 2 * len(notes), what + f"{len(places)} words for {len(notes)} notes")
    for site, on in zip(places[::2], places[1::2]):
        check(site in nops and site not in noted and any(0 <= n - on < 400 for n in noted),
              what + f"{site:#x} leads to {on:#x}")
    loaded = output_of("readelf", "-SW", elf)
    check(re.search(r"\.note\.stapsdt +NOTE +0+ ", loaded), what + "the notes have an address")


def check_alone(cross, flags, folder):
    """A program with KYMO_PROBE_ENABLED() only needs the library's registration, too."""
    source, made = (os.path.join(folder, "alone." + end) for end in "co")
    with open(source, "w") as f:
        f.write("#include <kymo_probe.h>\nint on(void);\n"
                "int on(void) { return KYMO_PROBE_ENABLED(); }\n")
    subprocess.run([cross + "gcc", *FLAGS, *flags, "-O2", "-c", source, "-o", made], check=True)
    undefined = output_of(cross + "nm", "-u", made)
    check("kymo_probe_fire" in undefined, f"{cross} nothing registers a lone site: {undefined}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for cross, flags, word in BOARDS:
            for level in ("-O0", "-O2", "-Os"):
                check_notes(cross, flags, word, level, folder)
            check_alone(cross, flags, folder)
            words = [cross + "gcc", *FLAGS, *flags, "-DREFUSED", "-c", SOURCE, "-o", os.devnull]
            refused = subprocess.run(words, capture_output=True, text=True)
            check(refused.returncode and "integer or a pointer" in refused.stderr,
                  cross + "a double was accepted")
    print("probe-notes: " + (f"{len(failures)} failed" if failures else "ok"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
