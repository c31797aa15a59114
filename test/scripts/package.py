#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""package.py [CASE...]: the Debian package that `make deb` writes, as somebody gets it who has no sources: from its
installation to the first picture of a recording of his own, D on the boards, the pages, and the licences.

Nothing is installed on this machine. The package is unpacked by dpkg into a root of its own, which then lies over /usr
in a mount name space of the test, in which the sources' tree is empty. Where no such name space is allowed, the command
runs from that root, which is said. The time to the first picture is CPU time of all programs, as the clock depends on
what else the machine does; both are printed."""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, d) for d in ("test", "test/report")]
import patience  # noqa: E402
import temporary  # noqa: E402,F401
import browser  # noqa: E402

FIRST_PICTURE = 60  # seconds of CPU time: docs/release.md
NO_MAKE = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "KYMO_LOCKS")}
BOARDS = sorted(os.path.basename(os.path.dirname(path)) for path in
                subprocess.run("ls boards/*/board.mk", shell=True, cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.split())
# What lies over /usr, then nothing where the sources are, then the command in a folder that is to be written.
INSIDE = """set -e
mount -t overlay overlay -o "lowerdir=$1/usr:/usr" /usr
mount --bind "$2" /mnt
mount -t tmpfs tmpfs "$3"
cd /mnt
shift 3
exec "$@"
"""


class Machine:
    """Where the package is installed."""

    def __init__(self, folder, package):
        self.root, self.home = os.path.join(folder, "root"), os.path.join(folder, "home")
        os.makedirs(self.home)
        self.package = package
        self.unpack()
        self.overlay = subprocess.run(self.words("true"), capture_output=True, check=False).returncode == 0
        if not self.overlay:
            print("no mount name space with an overlay here: kymo runs from the unpacked package")

    def unpack(self):
        """By dpkg, which checks the package and runs its triggers; it changes owners, so that it must be root,
        or what looks like it."""
        os.makedirs(f"{self.root}/var/lib/dpkg/updates")
        os.makedirs(f"{self.root}/var/lib/dpkg/info")
        for name in "status", "available":
            open(f"{self.root}/var/lib/dpkg/{name}", "w").close()
        as_root = [] if os.geteuid() == 0 else ["unshare", "-r"]
        subprocess.run([*as_root, "dpkg", f"--root={self.root}", "--force-depends", "--no-triggers", "-i",
                        self.package], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/")

    def words(self, *words):
        if getattr(self, "overlay", True):
            return ["unshare", "-rm", "sh", "-c", INSIDE, "sh", self.root, self.home, ROOT, *words]
        return list(words)

    def run(self, *words, seconds=120):
        """As a user types it: (status, what it wrote)."""
        env = {"HOME": "/mnt" if self.overlay else self.home, "LANG": "C.UTF-8",
               "PATH": "/usr/bin:/usr/sbin" if self.overlay else f"{self.root}/usr/bin:/usr/bin:/usr/sbin"}
        done = subprocess.run(self.words(*words), cwd="/" if self.overlay else self.home, env=env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=patience.seconds(seconds),
                              check=False)
        return done.returncode, done.stdout + done.stderr


def built():
    """The package of the sources as they are now."""
    done = subprocess.run(["make", "-s", "deb"], cwd=ROOT, env=NO_MAKE, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"package.py: make deb fails:\n{done.stdout}{done.stderr}")
    return os.path.join(ROOT, done.stdout.split()[-1])


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def the_first_picture(folder, package):
    """Installed, recorded, written as a page, drawn by a browser. The machine is for the other cases."""
    began, used = time.monotonic(), cpu()
    machine = Machine(folder, package)
    said = [machine.run("kymo", "run", "--board", "virt-a64"),
            machine.run("kymo", "report", "trace.kev", "-o", "trace.html")]
    page, picture = os.path.join(machine.home, "trace.html"), os.path.join(machine.home, "picture.png")
    rows = 0
    if os.path.exists(page):
        with browser.opened(1300, 820) as b:
            b.open(page)
            b.until("document.documentElement.dataset.ready", "the page")
            rows = b.run("return view.rows.length")
            b.picture(picture)
            said += [(len(b.run("return report.faults")), str(b.complaints()))]
    took = cpu() - used
    print(f"the first picture: {took:.1f} s of CPU time, {time.monotonic() - began:.1f} s by the clock")
    size = os.path.getsize(picture) if os.path.exists(picture) else 0
    # A page without a capture has no rows, and a picture of one colour has some 5 KB.
    good = all(status == 0 for status, _ in said) and rows >= 10 and size > 15000
    if not good or took >= FIRST_PICTURE:
        print(said, rows, size, f"at most {FIRST_PICTURE} s")
    return machine, good and took < FIRST_PICTURE


def the_version_is_the_packages(machine):
    version = subprocess.run(["scripts/version"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    field = subprocess.run(["dpkg-deb", "-f", machine.package, "Version"], capture_output=True, text=True,
                           check=True).stdout.strip()
    said = machine.run("kymo", "--version")
    print(said, field) if said != (0, f"kymo {version}\n") else None
    return said == (0, f"kymo {version}\n") and field == version.replace("-", ".")


def every_board_boots(machine):
    """And each image that it offers is there."""
    good = True
    for board in BOARDS:
        with open(f"{machine.root}/usr/share/kymo/{board}/images", encoding="utf-8") as f:
            images = f.read().split()
        lacking = [i for i in images if not os.path.exists(f"{machine.root}/usr/share/kymo/{board}/{i}.elf")]
        status, text = machine.run("kymo", "run", "--board", board, "--image", "hello", "--capture", f"{board}.kev")
        if lacking or "hello" not in images or "hello from hello" not in text:
            print(f"{board}: {images} lacks {lacking}: {status}: {text[-500:]}")
            good = False
    return good


def d_runs_on_boards(machine):
    """A one-liner and an installed script, on boards of different CPUs; types come from the installed programs."""
    one = 'sched:::on-cpu { printf("%s\\n", execname); exit(0); }'
    good = True
    for board in "virt-a64", "mps2-an386", "pc":
        status, text = machine.run("kymo", "dtrace", "-t", f"boot:{board}", "-qn", one)
        if status or not re.search(r"^\w+$", text, re.M):
            print(f"{board}: {status}: {text}")
            good = False
    status, text = machine.run("kymo", "dtrace", "-r", "trace.kev", "-s", "/usr/share/kymo/scripts/msglatency.d"
                               if machine.overlay else f"{machine.root}/usr/share/kymo/scripts/msglatency.d")
    if status or "@@@" not in text:
        print(f"msglatency.d: {status}: {text}")
        good = False
    return good


def names_come_from_the_package(machine):
    """Functions and lines of source, of programs and kernel."""
    status, text = machine.run("kymo", "symbols", "trace.kev")
    print(status, text) if status or "not found" in text else None
    return status == 0 and "not found" not in text


def pages_are_there(machine):
    """A man page of each command, in its own words; the pages, whose links lead somewhere; completion."""
    status, text = machine.run("kymo", "help")
    man = f"{machine.root}/usr/share/man"
    lacking = [c for c in re.findall(r"^  ([a-z]+) +\S", text, re.M)
               if c != "help" and not os.path.exists(f"{man}/man1/kymo-{c}.1.gz")]
    doc = f"{machine.root}/usr/share/doc/kymo"
    names = ["README.md", "CHANGELOG.md", "LICENSE", "THIRD-PARTY.gz", "kymo.spdx", "copyright"]
    lacking += [n for n in names if not os.path.exists(f"{doc}/{n}")]
    for page in subprocess.run(["find", "README.md", "docs", "-name", "*.md"], cwd=ROOT, capture_output=True, text=True,
                               check=True).stdout.split():
        lacking += [page] if not os.path.exists(f"{doc}/{page}") else []
    lacking += [] if os.path.exists(f"{machine.root}/usr/share/bash-completion/completions/kymo") else ["completion"]
    print(status, lacking) if status or lacking else None
    return status == 0 and not lacking


def the_library_is_linked(machine):
    """A program that includes kev.h finds the library where the package has put it."""
    if not machine.overlay:
        return True
    source = f"{machine.root}/usr/share/kymo/examples/classes.c"
    words = machine.run("sh", "-c", f"cc -o classes {source.removeprefix(machine.root)} "
                        "$(pkg-config --cflags --libs kev) && ldd classes && ./classes trace.kev")
    good = words[0] == 0 and "/usr/lib/libkev.so.1" in words[1].replace("=> /lib/", "=> /usr/lib/")
    print(words) if not good else None
    return good


def licences_are_those_of_what_is_linked(machine):
    """Each component of the notices has a text; nothing that the linker used is missing (scripts/third-party would
    fail), shown by a table that lacks a row."""
    doc = f"{machine.root}/usr/share/doc/kymo"
    notices = subprocess.run(["zcat", f"{doc}/THIRD-PARTY.gz"], capture_output=True, text=True, check=True).stdout
    heads = re.findall(r"^([\w-]+) \S.*: .*\n    licence: (\S.*)\n    from: \S+\n    in: \S", notices, re.M)
    bad = []
    for name, _ in heads:
        text = notices.split(f"={'=' * 99}\n{name}\n={'=' * 99}\n")[1].split("=" * 100)[0]
        bad += [f"{name}: no text"] if len(text) < 500 else []
    with open(f"{doc}/kymo.spdx", encoding="utf-8") as f:
        said = re.findall(r"^Relationship: SPDXRef-kymo STATIC_LINK SPDXRef-(\S+)$", f.read(), re.M)
    bad += [f"kymo.spdx names {said}"] if said != [name for name, _ in heads] else []
    wanted = {"protobuf-c", "newlib", "picolibc", "libgcc"}
    bad += [f"no notices of {wanted - set(said)}"] if not wanted <= set(said) else []
    with open(os.path.join(ROOT, "scripts/third-party"), encoding="utf-8") as f:
        script = f.read().replace(r"/libprotobuf-c\.a$", r"/libother\.a$").replace(
            "os.path.dirname(os.path.dirname(os.path.abspath(__file__)))", repr(ROOT))
    done = subprocess.run([sys.executable, "-B", "-", os.path.join(machine.home, "notices")], input=script, cwd=ROOT,
                          capture_output=True, text=True, env=NO_MAKE, check=False)
    bad += [f"a row less: {done}"] if done.returncode == 0 or "libprotobuf-c.a: COMPONENTS" not in done.stderr else []
    print(*bad, sep="\n", end="\n" if bad else "")
    return not bad


def nothing_names_this_tree(machine):
    """Neither the tree's path nor the user's home, in any file."""
    found = subprocess.run(["grep", "-rlF", ROOT, f"{machine.root}/usr"], capture_output=True, text=True, check=False)
    print(found.stdout) if found.stdout else None
    return found.returncode == 1


def it_depends_on_what_it_links(machine):
    """Each shared library is of a package that is named, with the version that has all symbols; the emulators
    of all boards are recommended; apt would install it."""
    field = subprocess.run(["dpkg-deb", "-f", machine.package, "Depends"], capture_output=True, text=True,
                           check=True).stdout
    named = dict(re.findall(r"([\w.+-]+) \(>= ([^)]+)\)", field))
    needed = set()
    for line in subprocess.run(["ldd", f"{machine.root}/usr/bin/kymo"], capture_output=True, text=True,
                               check=True).stdout.splitlines():
        library = line.split()[0]
        if library in subprocess.run(["objdump", "-p", f"{machine.root}/usr/bin/kymo"], capture_output=True, text=True,
                                     check=True).stdout:
            path = os.path.realpath(line.split("=> ")[1].split()[0]) if "=> " in line else library
            said = [subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True, check=False).stdout
                    for name in (path, path.removeprefix("/usr"))]
            needed |= {text.split(":")[0] for text in said if text}
    recommended = subprocess.run(["dpkg-deb", "-f", machine.package, "Recommends"], capture_output=True, text=True,
                                 check=True).stdout.strip()
    apt = subprocess.run(["apt-get", "install", "-s", "--no-install-recommends", machine.package],
                         capture_output=True, text=True, check=False)
    good = needed and needed <= set(named) and recommended == "qemu-system-arm, qemu-system-x86" and \
        apt.returncode == 0 and "\nInst kymo " in apt.stdout
    print(needed, named, recommended, apt) if not good else None
    return good


def its_removal_leaves_nothing(machine):
    """Last: what dpkg has unpacked is gone."""
    as_root = [] if os.geteuid() == 0 else ["unshare", "-r"]
    subprocess.run([*as_root, "dpkg", f"--root={machine.root}", "--no-triggers", "-r", "kymo"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/")
    left = subprocess.run(["find", f"{machine.root}/usr"], capture_output=True, text=True, check=False).stdout
    print(left) if left else None
    return not left


CASES = [the_version_is_the_packages, every_board_boots, d_runs_on_boards, names_come_from_the_package, pages_are_there,
         the_library_is_linked, licences_are_those_of_what_is_linked, nothing_names_this_tree,
         it_depends_on_what_it_links, its_removal_leaves_nothing]


def main():
    wanted = sys.argv[1:]
    package = built()
    print(f"{os.path.basename(package)}: {os.path.getsize(package) / 1e6:.1f} MB")
    passed = failed = 0
    folder = tempfile.mkdtemp()
    try:
        machine, good = the_first_picture(folder, package)
        passed, failed = passed + good, failed + (not good)
        for case in CASES:
            if wanted and case.__name__ not in wanted:
                continue
            good = case(machine)
            passed, failed = passed + bool(good), failed + (not good)
            print(f"FAIL {case.__name__}") if not good else None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
