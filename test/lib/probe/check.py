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

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import temporary  # noqa: E402,F401

SOURCE = os.path.join(ROOT, "test/lib/probe/sites.c")
C, CXX = ["gcc", "-std=gnu11"], ["g++", "-std=c++11", "-fno-exceptions", "-xc++"]
M4 = ["-mcpu=cortex-m4", "-mthumb"]
PC = ["-m64", "-fcf-protection=none"]
BOARDS = [("aarch64-linux-gnu-", C, ["-mcpu=cortex-a53"], 8),
          ("arm-none-eabi-", C, M4, 4), ("arm-none-eabi-", CXX, M4, 4),
          ("x86_64-linux-gnu-", C, PC, 8), ("x86_64-linux-gnu-", CXX, PC, 8)]
# Two files share an inline function and a template: their copies of a place are one.
SHARED = """#include <kymo_probe.h>
#define APART __attribute__((noinline))
inline APART int once(int n) { KYMO_PROBE(sites, once, n); return n; }
template <class T> APART int instance(T n) { KYMO_PROBE(sites, instance, n); return 1; }
int other(int n);
"""
FILES = ["""extern "C" void kymo_probe_fire(const void *, const unsigned long *, unsigned, unsigned)
{
}
extern "C" int _start(void) { return once(1) + instance(2) + instance(3L) + other(4); }
""", "int other(int n) { return once(n) + instance(n); }\n"]
FLAGS = ["-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-fno-pic",
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


def sizes_of(word, language):
    scoped = {"scoped": [-4, -4, word, -4, -4]} if language is CXX else {}
    return {**scoped, "none": [], "one": [-4], "two__args": [-4, -word],
            "three": [-4, 4, word],
            "four": [word, -4, word, 4],
            "five": [-4, 4, word, word, -4], "six": [-4, 4, word, word, -4, word],
            "global": [-4, word, -4, -word, word, word], "reported": [-4]}


def check_notes(cross, language, flags, word, level, folder):
    elf, made = os.path.join(folder, "sites.elf"), os.path.join(folder, "sites.o")
    subprocess.run(compiler(cross, language, flags) + [level, "-c", SOURCE, "-o", made], check=True)
    subprocess.run([cross + "gcc", *FLAGS, *flags, made, *LINK, "-o", elf], check=True)
    text = output_of("readelf", "-n", elf)
    nops = output_of(cross + "objdump", "-d", elf)
    nops = {int(m, 16) for m in re.findall(r"^ *([0-9a-f]+):\s.*\tnop", nops, re.M)}
    notes = re.findall(r"Provider: (\S+)\s+Name: (\S+)\s+Location: (\S+), "
                       r"Base: 0x0+, Semaphore: 0x0+\n"
                       r" +Arguments: ?(.*)\n", text + "\n")
    what = f"{cross}{language[0]} {level}: "
    want = sizes_of(word, language)
    # A function that GCC has copied into another has its sites twice.
    check({n[1] for n in notes} == set(want), what + f"names {[n[1] for n in notes]}")
    for provider, name, address, arguments in notes:
        check(provider == "sites", what + f"provider {provider}")
        check(int(address, 16) in nops, what + f"no NOP at {address}, {name}")
        found = re.findall(rf"(-?\d+)@({PLACE})(?= |$)", arguments)
        check(" ".join(f"{s}@{p}" for s, p in found) == arguments, what + f"{name} has {arguments}")
        check([int(s) for s, _ in found] == want.get(name), what + f"sizes of {name}: {arguments}")
        if name == "scoped" and level != "-O0":
            constants = [int(found[n][1].lstrip("#$")) for n in (0, 4)]
            check(constants == [-1, 1], what + f"enum classes of -1 and true: {arguments}")
    table = os.path.join(folder, "table")
    subprocess.run([cross + "objcopy", "-O", "binary", "-j", ".kymo_probes", elf, table],
                   check=True)
    with open(table, "rb") as f:
        data = f.read()
    places = struct.unpack(f"<{len(data) // word}{'Q' if word == 8 else 'I'}", data)
    # Each note's NOP lies after what a place of its own leads to. GCC may copy a place, too.
    noted = sorted(int(n[2], 16) for n in notes)
    sites, leads = places[::2], sorted(places[1::2])
    before = [max((on for on in leads if on <= n), default=0) for n in noted]
    check(all(0 <= n - on < 400 for n, on in zip(noted, before)) and len(set(before)) == len(noted),
          what + f"notes at {noted}, places lead to {leads}")
    check(len(places) > 2 * len(notes), what + f"{len(places)} words for {len(notes)} notes")
    check(all(site in nops and site not in noted for site in sites), what + f"places {sites}")
    loaded = output_of("readelf", "-SW", elf)
    check(re.search(r"\.note\.stapsdt +NOTE +0+ ", loaded), what + "the notes have an address")


def compiler(cross, language, flags):
    return [cross + language[0], *language[1:], *FLAGS, *flags]


def check_alone(cross, language, flags, folder):
    """A program with KYMO_PROBE_ENABLED() only needs the library's registration, too."""
    source, made = (os.path.join(folder, "alone." + end) for end in "co")
    with open(source, "w") as f:
        f.write("#include <kymo_probe.h>\nint on(void);\n"
                "int on(void) { return KYMO_PROBE_ENABLED(); }\n")
    subprocess.run(compiler(cross, language, flags) + ["-O2", "-c", source, "-o", made], check=True)
    undefined = output_of(cross + "nm", "-u", made)
    check("kymo_probe_fire" in undefined, f"{cross} nothing registers a lone site: {undefined}")


def check_room(cross, flags, word, folder):
    """As many places as the library says can be linked, and not one more."""
    source, elf = os.path.join(folder, "room.c"), os.path.join(folder, "room.elf")
    most = 100
    for places in (most, most + 1):
        with open(source, "w", encoding="ascii") as f:
            f.write(f'__asm__(".globl kymo_probes_room; .set kymo_probes_room, {most * 2 * word}");'
                    "\nextern const char __kymo_probes_start[];\n"
                    "const char *_start(void);\n"
                    "const char *_start(void) { return __kymo_probes_start; }\n"
                    '__attribute__((section(".kymo_probes"), used))\n'
                    f"static const char places[{places * 2 * word}] = {{1}};\n")
        done = subprocess.run([cross + "gcc", *FLAGS, *flags, source, *LINK, "-o", elf,
                               "-Wl,--no-gc-sections"], capture_output=True, text=True)
        refused = "more than 4096 static probes" in done.stderr
        check(refused == (places > most) and bool(done.returncode) == refused,
              f"{cross} {places} places: {done.stderr}")


def check_copies(cross, language, flags, level, folder):
    made, elf = [], os.path.join(folder, "shared.elf")
    for i, text in enumerate(FILES):
        source = os.path.join(folder, f"shared{i}.cc")
        with open(source, "w", encoding="ascii") as f:
            f.write(SHARED + text)
        made.append(source + ".o")
        subprocess.run(compiler(cross, language, flags) + [level, "-c", source, "-o", made[-1]],
                       check=True)
    subprocess.run([cross + "gcc", *FLAGS, *flags, *made, *LINK, "-o", elf], check=True)
    names = re.findall(r"Provider: sites\s+Name: (\S+)", output_of("readelf", "-n", elf))
    check(sorted(names) == ["instance", "instance", "once"],
          f"{cross}{language[0]} {level}: {names}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for cross, language, flags, word in BOARDS:
            for level in ("-O0", "-O2", "-Os"):
                check_notes(cross, language, flags, word, level, folder)
            check_alone(cross, language, flags, folder)
            check_room(cross, flags, word, folder)
            if language is CXX:
                check_copies(cross, language, flags, "-O0", folder)
                check_copies(cross, language, flags, "-O2", folder)
            words = compiler(cross, language, flags) + ["-DREFUSED", "-c", SOURCE, "-o", os.devnull]
            refused = subprocess.run(words, capture_output=True, text=True)
            check(refused.returncode and "integer or a pointer" in refused.stderr,
                  f"{cross}{language[0]}: a double was accepted")
    print("probe-notes: " + (f"{len(failures)} failed" if failures else "ok"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
