#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""reproducible.py [BOARD...]: a second build of these sources is equal to the first to the byte. The first is build/ as
make has it here; the second is made in another folder from the archive of `make dist`, without git and without a
compiler cache, with another umask, language, time zone and home. Compared are the archives, the command, libkev, the
images and programs that are packaged, and the package. And a rule of the house that needs the list of sources passes
there without git.

Without boards it is one, by $KYMO_SAMPLE: the others' makefiles are the same. `pc` is not among these, as its C library
would be built again, too. Objects here that were made with other flags, before a makefile changed, are a difference:
`make clean` tells whether it is that."""
import filecmp
import hashlib
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLACE = os.path.join(ROOT, "build/check/reproducible")
NO_MAKE = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "KYMO_LOCKS")}
SAMPLE = ["mps2-an386", "raspi3", "stm32f4", "virt-a64", "xlnx-zcu102"]


def run(folder, *words, **options):
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          **{"env": NO_MAKE, **options})
    if done.returncode:
        sys.exit(f"reproducible.py: {' '.join(words)} in {folder}: status {done.returncode}:\n"
                 f"{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def another_environment():
    """As another user on another day has it."""
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if "ccache" not in p)
    languages = run(ROOT, "locale", "-a").split()
    other = next((name for name in languages if name.lower() not in ("c", "posix", "c.utf8", "en_us.utf8")), "C.UTF-8")
    env = {k: v for k, v in NO_MAKE.items() if not k.startswith(("CCACHE", "SOURCE_DATE", "LC_", "KYMO"))}
    return dict(env, PATH=path, CCACHE_DISABLE="1", LC_ALL=other, LANG=other, TZ="Pacific/Kiritimati",
                HOME=os.path.join(PLACE, "another home"))


def unpacked(archive):
    """The archive's folder, moved to a place whose name has another length, and a space."""
    shutil.rmtree(PLACE, ignore_errors=True)
    os.makedirs(os.path.join(PLACE, "another home"))
    run(PLACE, "tar", "-xf", archive)
    tree = os.path.join(PLACE, "a folder of another name")
    os.rename(os.path.join(PLACE, os.path.basename(archive).removesuffix(".tar.gz")), tree)
    return tree


def packaged(tree, boards):
    """The files of a build that a package takes, or is."""
    found = ["build/deb/kymo", "build/libkev/libkev.so.1", "build/libkev/libkev.a", "build/libkev/kev.pc",
             "build/notices/THIRD-PARTY", "build/notices/kymo.spdx"]
    for board in boards:
        with open(os.path.join(tree, f"build/{board}/images"), encoding="utf-8") as f:
            found += [f"build/{board}/{image}.elf" for image in f.read().split()]
        programs = run(tree, "make", "-s", "-f", "scripts/board.mk", f"BOARD={board}", "list-programs").split()
        found += [f"build/{board}/programs/{program}" for program in programs]
        found += [f"build/{board}/{name}" for name in ("images", "qemu.args", "qemu.link", "qemu.disk")]
    return found


def sum_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def compare(one, two):
    """Two files, or what is wrong with them."""
    for path in one, two:
        if not os.path.exists(path):
            return f"no {path}"
    if filecmp.cmp(one, two, shallow=False):
        return None
    with open(one, "rb") as a, open(two, "rb") as b:
        first, second = a.read(), b.read()
    at = next((i for i, (x, y) in enumerate(zip(first, second)) if x != y), min(len(first), len(second)))
    return f"{one} and {two} differ from byte {at} of {len(first)} and {len(second)}"


def main():
    boards = sys.argv[1:] or [SAMPLE[int(os.environ.get("KYMO_SAMPLE") or 0) % len(SAMPLE)]]
    words = ["make", "-s", "-j2", "deb", f"BOARDS={' '.join(boards)}", "DEB=build/check/one.deb"]
    archive = os.path.join(ROOT, run(ROOT, "make", "-s", "dist").split()[-1])
    run(ROOT, *words)
    tree, env = unpacked(archive), another_environment()
    run(tree, "sh", "-c", 'umask 077; exec "$@"', "sh", *words, env=env)
    second = os.path.join(tree, run(tree, "sh", "-c", 'umask 077; exec make -s dist', env=env).split()[-1])

    bad = [compare(archive, second)]
    names = packaged(ROOT, boards) + ["build/check/one.deb"]
    bad += [compare(os.path.join(ROOT, name), os.path.join(tree, name)) for name in names]
    # The comparison sees one changed bit.
    probe = os.path.join(PLACE, "probe")
    with open(os.path.join(ROOT, "build/deb/kymo"), "rb") as f:
        data = f.read()
    with open(probe, "wb") as f:
        f.write(data[:-1] + bytes([data[-1] ^ 1]))
    bad += [None if compare(os.path.join(ROOT, "build/deb/kymo"), probe) else "a changed byte is not seen"]
    bad += [f"{name} names its folder" for name in names if not name.endswith(".deb")
            for path in (os.path.join(ROOT, name),) if os.path.exists(path) and ROOT.encode() in open(path, "rb").read()]
    found = run(tree, "scripts/measure-house", "--unused", env=env)
    bad += [f"without git: {found}" if found else None]
    passed = len([b for b in bad if b is None])
    bad = [b for b in bad if b]
    print(*bad, sep="\n", end="\n" if bad else "")
    print(f"{os.path.basename(archive)} {sum_of(archive)[:16]}, with {' '.join(boards)}")
    if not bad:
        shutil.rmtree(PLACE)
    print(f"{passed} passed, {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
