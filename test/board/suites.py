# SPDX-License-Identifier: BSD-2-Clause
"""The boots that `make check` makes, and what is asked of each. run.py runs them."""
import contextlib
import dataclasses
import datetime
import json
import os
import re
import subprocess
import threading
import time
from dataclasses import dataclass, field

import captures
import crash
import dead_cpu
import elsewhere
import events
import gate
import gdb
import kev
import library
import logger
import logtext
import memory
import merged
import modes
import slain
import small
import truth

ROOT = kev.ROOT
KYMO = os.path.join(ROOT, "build/kymo")
COUNT = os.path.join(ROOT, "build/tools/count_user_events")
BOTH = ("mps2-an386", "virt-a64")
M4 = ("mps2-an386",)
A64 = ("virt-a64",)
PI = ("raspi3",)
ZCU = ("xlnx-zcu102",)
PC = ("pc",)
# Kernels with assertions (`make debug`) boot the suites of `make soak` and, in `make check`, these.
# Release kernels boot the others: those that measure or fill a machine (storm, life-multi,
# which takes a minute here), are compared with a committed capture (golden), have D
# programs that were compiled for one kernel (gate, fbt), or look into the board's folder (crash).
DEBUG = "-debug"
WITH_ASSERTIONS = frozenset("""
    api api-multi d d-multi life faults dfuzz control control-smp4 interrupt smp1 fuzz kill
    torture quota d-own d-own-multi probes probes-multi
    armv7m aarch64 x86_64 log events events-wide ring modes memory killed slain signalled
    qnx qnx-multi faults-multi libtest libtest-multi smp2 smp8 el2 small large console help servers
    traced truth truth-multi kill-multi map-multi fuzz-multi starved drops options options-smp1
    starved-few modes-multi killed-multi slain-disk slain-link full full-late closed failed panic
    reset watchdog
    no-watchdog wrong aarch64-multi aarch64-smp1 repeat advice idle sites-multi
    """.split())

# Images whose release kernels other tests read or boot, whatever boots with assertions.
READ_BY_OTHERS = frozenset("test smoke fbt".split())


# ---- checks: each gets the boot and returns None or what is wrong --------------------------------

def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout, done.stderr


def the_capture_can_be_read(boot):
    status, out, err = run(KYMO, "print", boot.trace)
    if status != 0:
        return f"kymo print: {status}: {err.strip()[:200]}"
    if out.count("\n") < 50:
        return f"only {out.count(chr(10))} lines"
    status, _, err = run(KYMO, "stat", boot.trace)
    return f"kymo stat: {status}: {err.strip()[:200]}" if status else None


def it_prints_in_bounded_memory(boot):
    """All of a big capture, a line an event, with 128 MB of address space and output as it goes."""
    made = sum(int(n) for n in re.findall(r"evstorm: producer \d+ made (\d+)", boot.console))
    limit = "ulimit -v 131072; exec \"$@\""
    with subprocess.Popen(["sh", "-c", limit, "sh", KYMO, "print", "--class", "user", boot.trace],
                          stdout=subprocess.PIPE) as kymo:
        pieces = iter(lambda: kymo.stdout.read(1 << 20), b"")
        lines = sum(piece.count(b"\nt:0x") for piece in pieces)
    return None if kymo.returncode == 0 and made * 0.999 < lines <= made else \
        f"status {kymo.returncode}, {lines} lines of {made} events"


def every_event_is_accounted_for(boot):
    made = re.findall(r"evstorm: producer (\d+) made (\d+)", boot.console)
    if not made:
        return "no producer reported"
    status, out, err = run(COUNT, boot.trace, str(boot.suite.cpus or 1),
                           *(f"{p}={n}" for p, n in made))
    with open(os.path.join(boot.dir, "account.txt"), "w") as f:
        f.write(out + err)
    os.unlink(boot.trace)  # they are big
    return None if status == 0 else (out + err).strip().splitlines()[-1]


def lost(boot):
    with open(os.path.join(boot.dir, "account.txt")) as f:
        return int(re.search(r"\+ DROPPED (\d+)", f.read()).group(1))


def events_were_lost(boot):
    return None if lost(boot) > 0 else "none: this boot proves nothing"


def nothing_was_lost(boot):
    return None if lost(boot) == 0 else f"{lost(boot)} events"


def says(text):
    def check(boot):
        return None if re.search(text, boot.console) else f"the console doesn't say {text!r}"
    check.__name__ = "says " + text
    return check


def it_ends_there(boot):
    return "it goes on" if "still here" in boot.console else None


def to_dev_full(boot):
    os.symlink("/dev/full", boot.trace)


def to_a_pipe(boot):
    """Whose reader has enough after 100000 bytes, in the middle of a slot."""
    os.mkfifo(boot.trace)

    def reader():
        with open(boot.trace, "rb") as f, open(boot.trace + ".part", "wb") as out:
            out.write(f.read(100003))

    threading.Thread(target=reader, daemon=True).start()


def the_capture_is_valid_up_to_there(boot):
    """What the file has is what the logger said; all of it can be read, from the first event."""
    part = boot.trace + ".part"
    path = part if os.path.exists(part) else boot.trace
    said = re.search(r"^tracelogger: \S+: write: the host's disk is full, or its file closed; "
                     r"the capture is valid up to byte (\d+)$", boot.console, re.M)
    if not said or "tracelogger: INCOMPLETE" not in boot.console:
        return "the logger doesn't say it"
    if path == boot.trace and os.path.getsize(path) != int(said[1]):
        return f"{os.path.getsize(path)} bytes, not {said[1]}"
    for option, want in ((), 1), (("--recover",), 0):
        status, out, err = run(KYMO, "print", "-n", *option, path)
        numbers = [int(n, 16) for n in re.findall(r"USREVENT:EVENT:0, d0:0x([0-9a-f]+)", out)]
        if status != want or not numbers or numbers != list(range(len(numbers))):
            return f"kymo print {option}: {status}, {len(numbers)} events: {err[:200]}"
        if want and "cut short at byte" not in err:
            return f"kymo print says {err[:200]}"
    return None


def the_logger_advises_that(boot):
    needed = re.search(r"^ADVICE -k (\d+)$", boot.console, re.M)
    printed = re.findall(r"^tracelogger: -k (\d+) would have avoided the losses$", boot.console,
                         re.M)
    if not needed or printed[:1] != [needed[1]]:
        return f"it prints {printed} and replies {needed and needed[1]}"
    return None


def the_size_limit_holds_and_all_is_counted(boot):
    """-S with losses: what the kernel made is in the file or in DROPPED."""
    path = os.path.join(boot.dir, "sized.kev")
    made = re.search(r"^tracelogger: (\d+) events, (\d+) lost; .* in sized\.kev$", boot.console,
                     re.M)
    behind = re.search(r"-S 153600 is reached: .* and the (\d+) events after it", boot.console)
    status, out, err = run(KYMO, "stat", "--json", path)
    if status != 0 or err or not made or not behind:
        return f"kymo stat: {status}: {err[:200]}; the logger: {made and made[0]}, {behind}"
    stat = json.loads(out)
    there = sum(n for name, n in stat["classes"].items() if name != "CONTROL")
    if os.path.getsize(path) > 153600 or int(made[2]) == 0 or int(behind[1]) == 0:
        return f"{os.path.getsize(path)} bytes; {made[0]}; {behind[0]}"
    if int(made[1]) != there + stat["lost"] or stat["lost"] != int(made[2]) + int(behind[1]):
        return f"{made[0]}, {behind[1]} behind; {there} there, {stat['lost']} lost"
    return None


def all_that_ran_have_names(boot):
    """A ring keeps the newest events only; yet whose threads they are is known, also of a process
    that ended before the ring was stopped."""
    status, out, err = run(KYMO, "print", "-n", boot.trace)
    seen = set(re.findall(r"THREAD +:TH\w+ +pid:(\d+)", out))
    named = dict(re.findall(r"PROCCREATE_NAME ppid:\d+ pid:(\d+) name:(\w+)", out))
    ended = set(re.findall(r"PROCDESTROY +ppid:\d+ pid:(\d+)", out))
    if status != 0 or not seen - {"1"} or "evstorm" not in named.values():
        return f"status {status}: {err[:200]}, pids {sorted(seen)}, names {named}"
    if not {pid for pid, name in named.items() if name == "evstorm"} <= ended:
        return "evstorm isn't said to have ended"
    return f"without a name: {seen - set(named)}" if seen - set(named) else None


def a_second_capture_works(boot):
    status, out, err = run(KYMO, "print", os.path.join(boot.dir, "second.kev"))
    return None if status == 0 and "THREAD" in out else f"kymo print: {status}: {err[:200]}"


def the_first_one_is_sound(boot):
    """A logger killed between two buffers leaves whole ones; on real threads perhaps none yet."""
    status, out, err = run(KYMO, "print", "--recover", boot.trace)
    some = "CONTROL" in out or (boot.suite.mode == "multi" and "KERNEL EVENTS" in out)
    return None if status == 0 and some else f"kymo print: {status}: {err[:200]}"


# The host's date is that of the tests' beginning. The library is in the boot's folder.
HOST_DATE = ["env", f"HOST_DATE={int(time.time())}", "LD_PRELOAD=./host_date.so"]


def the_date_stands_still(boot):
    subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", "-o", "host_date.so",
                    os.path.join(ROOT, "test/board/host_date.c")], cwd=boot.dir, check=True)


def it_says_when_and_what(boot):
    """The capture's date and clock are the host's or the board's; the image and its build id."""
    with open(boot.trace, "rb") as f:
        head = f.read(4096)
    value = dict(re.findall(rb"TRACE_(\w+)::((?:(?!TRACE_).)*)", head))
    now = datetime.datetime.now(datetime.timezone.utc).year
    want = [b"2026"] if boot.board == "virt-a64" else [b"%d" % y for y in (now - 1, now, now + 1)]
    if value[b"DATE"][-4:] not in want or value[b"BOOT_DATE"][-4:] not in want:
        return f"dates {value[b'DATE']}, {value[b'BOOT_DATE']}"
    cycles, wall = (int(word) for word in value.get(b"WALL_CLOCK", b"0 0").split())
    second = datetime.datetime.strptime(value[b"DATE"].decode(), "%a %b %d %H:%M:%S %Y")
    apart = wall // 10**9 - second.replace(tzinfo=datetime.timezone.utc).timestamp()
    if cycles == 0 or abs(apart) > 1:
        return f"WALL_CLOCK {cycles} {wall}, {apart} s after DATE"
    if value[b"IMAGE"] != boot.suite.image.encode() or value[b"BUILD_ID"] != build_id(boot):
        return f"image {value[b'IMAGE']}, build id {value[b'BUILD_ID']}, not {build_id(boot)}"
    return None


def build_id(boot):
    """By the ELF's note: its name "GNU", type 3, 20 bytes."""
    with open(boot.command()[-1], "rb") as f:
        elf = f.read()
    at = elf.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
    return elf[at:at + 20].hex().encode()


def two_runs_are_the_same(boot):
    with open(boot.trace, "rb") as f:
        first = f.read()
    again = type(boot)(boot.board, boot.suite).run()
    if boot.console != again.console:
        return "the console differs"
    with open(again.trace, "rb") as f:
        second = f.read()
    if first == second:
        return None
    at = next((n for n, (a, b) in enumerate(zip(first, second)) if a != b), "the end of one")
    return f"the capture differs at {at}: {len(first)} and {len(second)} bytes"


def masked(text):
    """A print with what depends on time and place taken out: also where buffers end, and the
    clock's interrupts that find nothing to do: every change moves them."""
    text = re.sub(r"(?m)^t:0x[0-9a-f]+ CPU:\d+ CONTROL ?: ?(?:BUFFER|TIME).*\n", "", text)
    text = re.sub(r"(?m)^t:0x[0-9a-f]+ CPU:(\d+) INT_ENTR:(0x[0-9a-f]+) .*\n"
                  r"t:0x[0-9a-f]+ CPU:\1 INT_EXIT:\2 .*\n", "", text)
    text = re.sub(r"(?m)^t:0x[0-9a-f]+", "t:T", text)
    text = re.sub(r"0x[0-9a-f]{5,16}", "0xX", text)
    text = re.sub(r"-?\b\d{7,}\b", "N", text)
    text = re.sub(r"(?m)^ *TRACE_WALL_CLOCK::.*\n", "", text)  # older captures have none
    keys = "DATE|BUILD_ID|RELEASE|VERSION|SYSPAGE_LEN"
    text = re.sub(rf"(?m)^( *TRACE_\w*(?:{keys})\w*::).*$", r"\1", text)
    return text


def it_prints_as_the_golden_one(boot):
    status, out, err = run(KYMO, "print", boot.trace)
    if status != 0:
        return err[:200]
    got = masked(out)
    with open(os.path.join(ROOT, "test/host/golden", boot.board + ".print.txt")) as f:
        want = masked(f.read())
    if got == want:
        return None
    for n, (a, b) in enumerate(zip(want.splitlines(), got.splitlines()), 1):
        if a != b:
            return f"line {n}: {b!r}, not {a!r} (test/host/golden/update if it is meant)"
    return f"{len(got.splitlines())} lines, not {len(want.splitlines())}"


def why_names_the_causes(boot):
    """What test/board/programs/uncured.c plants: the high thread (3) waits for the low one (5) by a
    semaphore, and for the server (2), while the middle one (4) runs; a timer woke the low one."""
    def why(*words):
        status, out, err = run(KYMO, "why", "--json", *words, boot.trace)
        return (json.loads(out), None) if status == 0 else (None, f"kymo why {words}: {err[:200]}")
    status, out, _ = run(KYMO, "print", "-n", "--event", "PROCCREATE_NAME", boot.trace)
    found = re.search(r"pid:(\d+) name:uncured", out)
    if status != 0 or found is None:
        return f"no process uncured: {out[-200:]}"
    high = found[1] + ":3"
    answer, wrong = why("--thread", high, "--from", "0", "--to", "100")
    if wrong:
        return wrong
    named = {tuple(which["priorities"]): [which[who]["tid"] for who in ("waited", "for", "while")]
             for which in answer["inversions"]}
    if named.get((13, 11, 12)) != [3, 5, 4] or named.get((13, 10, 12)) != [3, 2, 4]:
        return f"inversions {named}"
    waits = [part for part in answer["path"] if part["depth"] == 0 and part["state"] == "SEM"]
    longest = max(waits, key=lambda part: part["to"] - part["from"])
    answer, wrong = why("--thread", high, "--at", f"{(longest['from'] + longest['to']) // 2}ns")
    if wrong:
        return wrong
    chain = answer["begun"]
    if len(chain) < 2 or chain[0]["by"]["tid"] != 5 or "interrupt" not in chain[-1]:
        return f"the wait from {longest['from']} ns was begun by {chain}"
    return None


# ---- the boots -----------------------------------------------------------------------------------

@dataclass
class Suite:
    name: str
    doc: str
    image: str
    boards: tuple = BOTH
    mode: str = "icount"
    cpus: int = 0  # 0: what the board's QEMU line says
    timeout: int = 120
    tests: int = 0  # at least so many TEST lines
    status: int = 0
    panics: bool = False
    cpus_left_out: bool = False  # it is about a CPU that does not start
    qemu: list = field(default_factory=list)
    wrap: list = field(default_factory=list)  # a command that runs the emulator
    prepare: object = None
    link: bool = False  # the other end of its link is the socket `link` in the boot's folder
    beside: object = lambda boot: contextlib.nullcontext()  # what runs beside it
    checks: list = field(default_factory=list)
    variant: str = ""  # of the board's folder below build/
    kernel: object = None  # makes what is booted instead of the image's ELF file
    soak: bool = False  # only if it is asked for, as `make soak` does; "once": by its name
    coverage: bool = False  # its capture counts for "every event row fires"

    def build_variant(self):
        """What the name of its build folder has after the board's."""
        with_assertions = self.name in WITH_ASSERTIONS or (self.soak and self.image != "gate")
        with_assertions &= self.boards != PI or self.name == "api"  # one image is enough to build
        with_assertions &= self.boards != ZCU  # it has few images: ONLY_IMAGES
        with_assertions &= "KYMO_RELEASE" not in os.environ  # scripts/compare-captures sets it
        return self.variant or (DEBUG if with_assertions else "")

    def when(self, board):
        """False: in `make check`; True: in `make soak`; "once": by its name."""
        return self.soak or elsewhere.why(board, self.name) is not None


# Of captures with buffers of 64 slots.
SLOTS64 = [merged.other_readers_agree, small.each_command_reads_them]
RING_SLOTS64 = [the_capture_can_be_read, all_that_ran_have_names] + SLOTS64

SUITES = [
    Suite("api", "kernel API, isolation, bad arguments, trace control", "test", BOTH + PC,
          tests=165, qemu=["-rtc", "clock=vm"]),
    Suite("api-multi", "the same on 4 real threads", "test", A64 + PC, "multi", cpus=4, tests=165,
          soak=True, timeout=240),
    Suite("api-smp1", "the same on one CPU", "test", A64 + PC, cpus=1, tests=165,
          qemu=["-rtc", "clock=vm"]),
    Suite("api-picolibc", "the same with the other C library", "test", M4, tests=165,
          qemu=["-rtc", "clock=vm"], variant="-picolibc"),
    Suite("qnx", "what a port of a QNX program meets first", "qnx", BOTH + PC, tests=28),
    Suite("qnx-multi", "the same on 4 real threads", "qnx", A64 + PC, "multi", cpus=4, tests=28,
          soak=True),
    Suite("qnx-picolibc", "the same with the other C library", "qnx", M4, tests=28,
          variant="-picolibc"),
    Suite("fair", "what a process without abilities can't take from others", "fair", cpus=1,
          tests=14),
    Suite("fair-unrecorded", "the same, but what needs a file of the host", "fair-unrecorded", PC,
          cpus=1, tests=13),
    Suite("quota", "what processes can take of tables and RAM, and what is left", "quota",
          BOTH + PC, tests=5),
    Suite("many", "1,000 processes with 4,000 threads and 4,000 timers", "many", A64, tests=1),
    Suite("d", "D in the kernel: its control call, records, faults, memory", "d", BOTH + PC,
          tests=12),
    Suite("d-multi", "the same on 4 real threads", "d", A64 + PC, "multi", cpus=4, tests=12,
          soak=True, timeout=240),
    Suite("fbt", "function probes: what they say, all at once, on and off in a storm", "fbt",
          BOTH + PC, tests=6),
    Suite("fbt-assertions", "the same where assertions run into what is being patched", "fbt", PC,
          tests=6, variant=DEBUG),
    Suite("fbt-multi", "the same on 4 real threads", "fbt", A64 + PC, "multi", cpus=4, tests=6,
          soak=True, timeout=240),
    Suite("fbt-all", "the API suite with a probe on in every function", "fbtall", BOTH + PC,
          tests=165, qemu=["-rtc", "clock=vm"], timeout=240),
    Suite("fbt-all-multi", "the same on 4 real threads", "fbtall", A64 + PC, "multi", cpus=4,
          tests=165, soak=True, timeout=240),
    Suite("life", "consumers of D come, go, are killed and fall silent: all is as before", "life",
          BOTH + PC, cpus=1, tests=6),
    Suite("life-multi", "the same on 4 real threads", "life-multi", A64 + PC, "multi",
          cpus=4, tests=4, soak=True, timeout=240),
    Suite("life-soak", "more of the same", "life-soak", A64, "multi", cpus=4, tests=5,
          timeout=900, soak=True),
    Suite("faults", "D programs that fault, everywhere: counted, and no harm done", "faults",
          BOTH + PC, tests=5),
    Suite("faults-multi", "the same on 4 real threads", "faults", A64 + PC, "multi",
          cpus=4, tests=5, soak=True, timeout=240),
    Suite("sites-multi", "trace sites on and off while all CPUs execute them: on 4 real threads",
          "sites", A64 + PC, "multi", cpus=4, tests=1, timeout=240),
    Suite("d-own", "D by abilities: own processes only, without changing anything, not at all",
          "down", BOTH + PC, cpus=1, tests=10),
    Suite("d-own-multi", "the same on 4 real threads", "down", A64 + PC, "multi", cpus=4, tests=10,
          timeout=240),
    Suite("dfuzz", "random calls of D's control, by who may, who may a little and who may not",
          "dfuzz", BOTH + PC, cpus=1, tests=28),
    Suite("dfuzz-soak", "more of the same on 4 real threads", "dfuzz-soak", A64, "multi", cpus=4,
          tests=304, timeout=1800, soak=True),
    Suite("storms", "the log and D on and off one trace site, in a storm: both counts are exact",
          "storms", BOTH + PC, cpus=1, tests=4),
    Suite("storms-multi", "the same on 4 real threads", "storms", A64 + PC, "multi",
          cpus=4, tests=4, timeout=240),
    Suite("storms-soak", "more of the same", "storms-soak", A64, "multi", cpus=4, tests=4,
          timeout=1800, soak=True),
    Suite("loss", "QUERYLOSS of each CPU while all record and lose: what each lost, exactly",
          "loss", BOTH + PC, cpus=1, tests=7),
    Suite("loss-multi", "the same on 4 real threads, asked from each CPU", "loss", A64 + PC,
          "multi", cpus=4, tests=7, timeout=240),
    Suite("control", "TraceEvent() by eight processes at random: all adds up, nothing is left",
          "control", cpus=1, tests=1),
    Suite("control-smp4", "the same on 4 CPUs", "control-smp4", A64 + PC, cpus=4,
          tests=1, timeout=240),
    Suite("control-soak", "more of the same", "control-soak", cpus=1, tests=1, timeout=1800,
          soak=True),
    Suite("control-soak-multi", "a little of it on 4 real threads", "control-smp4", A64, "multi",
          cpus=4, tests=1, timeout=1800, soak=True),
    Suite("interrupt", "TraceEvent() from an interrupt of the kernel", "interrupt", BOTH + PC,
          cpus=1, tests=1),
    Suite("libtest", "the C library: locks, errno, stdio, files, threads, time", "libtest",
          BOTH + PC, tests=11, checks=[says("flushed at the end")]),
    Suite("libtest-picolibc", "the same with the other one", "libtest", M4, tests=11,
          variant="-picolibc", checks=[says("flushed at the end")]),
    Suite("libtest-multi", "the same on 4 real threads", "libtest", A64 + PC, "multi", cpus=4,
          tests=11,
          timeout=240, checks=[says("flushed at the end")]),
    Suite("smp1", "one CPU", "smoke", A64 + PC, cpus=1, tests=20),
    Suite("smp2", "two CPUs", "smoke", A64 + PC, "multi", cpus=2, tests=20),
    Suite("smp8", "eight CPUs", "smoke", A64 + PC, "multi", cpus=8, tests=20, timeout=240),
    Suite("el2", "started at EL2, as with a hypervisor's firmware", "smoke", A64, cpus=4, tests=20,
          qemu=["-M", "virt,virtualization=on"]),
    Suite("small", "18 MB of RAM", "smoke", A64, cpus=2, tests=20, qemu=["-m", "18M"]),
    Suite("large", "5 GB of RAM: above 4 GB, too", "smoke", A64, cpus=2, tests=20,
          qemu=["-m", "5G"]),
    Suite("stubs", "a port with stubs for all that isn't needed to boot", "stubs", BOTH + PC,
          cpus=1, tests=60),
    Suite("console", "what the kernel prints can be read", "console", BOTH + PC, tests=4),
    Suite("help", "programs say what they take", "help", BOTH + PC,
          checks=[says(r"(?s)usage: pidin.*usage: evstorm.*usage: crash.*[Uu]sage: tracelogger.*"
                       r"usage: pidin.*usage: evstorm.*usage: crash")]),
    Suite("gicv3", "a machine with another interrupt controller is refused", "hello", A64,
          status=2, qemu=["-M", "virt,gic-version=3"],
          checks=[says(r"\A\s*kymo on virt-a64: no GIC v2 on this machine; .*gic-version=2\s*\Z")]),
    Suite("panic", "a panic says where and why, and ends the emulator", "panic", BOTH + PC,
          status=101, panics=True,
          checks=[says(r"kernel panic on CPU \d: .*\ncurrent: process 3 \(t_system\), thread 1, "
                       r"call 113\n")]),
    Suite("reset", "a reset starts anew: here it ends the emulator", "reset", BOTH + PC,
          qemu=["-no-reboot"], checks=[says(r"hello from hello\n"), it_ends_there]),
    Suite("watchdog", "it is set back, switched off, and bites who hangs", "watchdog", M4, tests=1,
          status=101, panics=True,
          checks=[says(r"watchdog of 100 ms: -1, errno 1\nwatchdog of 100 ms: 0, errno 0\n"),
                  says(r"hello from still\nwatchdog of 100 ms: 0, errno 0\n\n"
                       r"kernel panic on CPU 0: watchdog: not armed again in time; "
                       r"at pc [0-9a-f]+\n"
                       r"current: process \d+ \(t_system\), thread 1, call 255\n"
                       r"  r0 ")]),
    Suite("no-watchdog", "a board without one says so", "watchdog", A64, tests=1,
          checks=[says(r"watchdog of 100 ms: -1, errno 1\nwatchdog of 100 ms: -1, errno 88\n"
                       r"watchdog: this board has none\n"),
                  says(r"hello from still\nwatchdog of 100 ms: -1, errno 88\n")]),
    Suite("wrong", "a wrong line of a start script", "wrong", BOTH + PC, status=1,
          checks=[says(r"argument 1: a #b\ninit: start script line 4: sleep MS, at most 1000000"
                       r"\n$")]),
    Suite("failed", "programs that fail, and that may fail", "failed", BOTH + PC, status=1,
          checks=[says(r"init: crash \(pid 4\) exited with status 2\n"),
                  says(r"init: allowed \(pid 5\) was ended by signal 11\n"),
                  says(r"init: behind \(pid 7\) was ended by signal 11\n"),
                  says(r"init: waited \(pid 8\) exited with status 2\n"),
                  says(r"init: shutdown with status 1: (waited|behind) failed\n(?:sensor.*)?$")]),
    Suite("servers", "wait in a start script does not wait for servers", "servers", BOTH + PC,
          checks=[says(r"hello from short\n(?:.*\n)*hello from hello\n"
                       r"  argument 1: all-but-servers\n"),
                  says(r"argument 1: nothing-else\n$")]),
    Suite("traced", "the API suite, recorded wide: every row must fire", "traced", tests=100,
          timeout=240, qemu=["-rtc", "clock=vm"],
          checks=[the_capture_can_be_read, truth.the_capture_can_be_true], coverage=True),
    Suite("truth", "deaths at random, recorded whole", "truth", tests=20,
          checks=[truth.the_capture_can_be_true,
                  truth.who_waited_for_the_logger_is_recorded_whole]),
    Suite("truth-multi", "the same on 4 real threads", "truth", A64, "multi", cpus=4, tests=20,
          soak=True, timeout=240, checks=[truth.the_capture_can_be_true,
                               truth.who_waited_for_the_logger_is_recorded_whole]),
    Suite("fuzz", "random kernel calls", "fuzz", BOTH + PC, tests=1, timeout=240),
    Suite("armv7m", "stack pointers, exception frames and FP registers of a Cortex-M", "armv7m", M4,
          tests=2),
    Suite("x86_64", "a program's own segments, flags, FP control and I/O ports", "x86_64", PC,
          tests=6),
    Suite("aarch64", "FP registers and TPIDR_EL0 of an AArch64", "aarch64", A64, cpus=4, tests=3),
    Suite("aarch64-multi", "the same on 4 real threads", "aarch64", A64, "multi", cpus=4, tests=3),
    Suite("aarch64-smp1", "the same on one CPU", "aarch64", A64, cpus=1, tests=3),
    Suite("kill", "children killed at any moment of whatever they do", "kill", BOTH + PC,
          tests=1, timeout=240),
    Suite("kill-multi", "the same on 4 real threads", "kill", A64 + PC, "multi", cpus=4, tests=1,
          timeout=240),
    Suite("map-multi", "RAM of all sizes mapped, processes killed meanwhile, 4 real threads", "map",
          A64 + PC, "multi", cpus=4, tests=4),
    Suite("fuzz-multi", "the same on 4 real threads", "fuzz", A64 + PC, "multi", cpus=4, tests=1,
          soak=True, timeout=240),
    Suite("torture", "hostile processes, killed at any moment, against victims", "torture",
          BOTH + PC, cpus=4, tests=2, timeout=240),
    Suite("torture-multi", "the same on 4 real threads", "torture-few", A64 + PC, "multi", cpus=4,
          tests=2, timeout=240),
    Suite("torture-soak", "more of the same", "torture-soak", cpus=4, tests=2, timeout=1800,
          soak=True),
    Suite("torture-many", "10^8 calls of hostile processes", "torture-many", A64, cpus=4, tests=2,
          timeout=3500, soak="once"),
    Suite("torture-soak-multi", "more of the same on 4 real threads", "torture-soak", A64 + PC,
          "multi", cpus=4, tests=2, timeout=1800, soak=True),
    Suite("events", "programs' own events, and every call's: each value is as the program says",
          "events", tests=23, checks=events.CHECKS, coverage=True),
    Suite("events-wide", "the same in the wide form", "events-wide", tests=23,
          checks=events.CHECKS, coverage=True),
    Suite("log", "log text whose formats stay in the ELF file is as the program says", "log",
          tests=12, checks=logtext.CHECKS),
    Suite("log-picolibc", "the same with the other C library", "log", M4, tests=12,
          variant="-picolibc", checks=logtext.CHECKS),
    Suite("probes", "static probes: off, on, switched amid other threads, any table", "probes",
          BOTH + PC, cpus=1, tests=7),
    Suite("probes-multi", "the same on 4 real threads", "probes", A64 + PC, "multi", cpus=4,
          tests=7),
    Suite("places", "probes of programs: what may be asked for, and what not", "places",
          BOTH + PC, cpus=1, tests=5),
    Suite("probed", "processes that are killed while they are probed", "probed", BOTH + PC, cpus=1,
          tests=1),
    Suite("probed-multi", "2,000 of them on 4 real threads", "probed-multi", A64 + PC, "multi",
          cpus=4, tests=1, timeout=1200, soak=True),
    Suite("probed-soak", "ten thousand of them", "probed-soak", BOTH, cpus=1, tests=1,
          timeout=1800, soak=True),
    Suite("crash", "every way to crash, one after the other", "crash", BOTH + PC,
          checks=[crash.every_crash_is_reported, crash.nobody_else_died]),
    Suite("crash-multi", "the same on 4 real threads", "crash", A64 + PC, "multi", cpus=4,
          checks=[crash.every_crash_is_reported, crash.nobody_else_died]),
    Suite("crashes", "crash reports beside other work", "crashes", BOTH + PC, cpus=1, tests=5,
          checks=[crash.reports_are_whole]),
    Suite("crashes-multi", "the same lines on 4 real threads", "crashes-noise", A64 + PC, "multi",
          cpus=4, tests=1, checks=[crash.reports_are_whole]),
    Suite("demo", "what `make demo` shows", "demo",
          checks=[the_capture_can_be_read, truth.the_capture_can_be_true,
                  truth.interrupts_have_addresses, merged.other_readers_agree],
          coverage=True),
    Suite("why", "kymo why names inversions that were planted, and the timer that began a wait",
          "why", cpus=1, checks=[the_capture_can_be_read, why_names_the_causes]),
    Suite("repeat", "two runs under icount are the same to the byte", "golden",
          prepare=the_date_stands_still, wrap=HOST_DATE,
          checks=[the_capture_can_be_read, it_says_when_and_what, two_runs_are_the_same],
          coverage=True),
    Suite("golden", "a fresh boot prints as the committed one, times and addresses masked",
          "golden", cpus=1, checks=[it_prints_as_the_golden_one]),
    Suite("storm", "10^7 events, the logger keeps up", "storm", A64, cpus=4, timeout=400,
          checks=[it_prints_in_bounded_memory, every_event_is_accounted_for, nothing_was_lost]),
    Suite("storm-multi", "the same on 4 real threads", "storm", A64, "multi", cpus=4,
          soak=True, timeout=400,
          checks=[every_event_is_accounted_for]),
    Suite("starved", "10^7 events, the logger gets no CPU time", "starved", A64, "multi", cpus=4,
          timeout=400, checks=[every_event_is_accounted_for, events_were_lost]),
    Suite("starved-few", "10^6 events, likewise", "starved-few", A64, "multi", cpus=4,
          timeout=400, checks=[every_event_is_accounted_for, events_were_lost]),
    Suite("storm-m4", "10^6 events, the logger keeps up", "storm-m4", M4, timeout=400,
          checks=[every_event_is_accounted_for, nothing_was_lost]),
    Suite("starved-m4", "10^6 events, the logger gets no CPU time", "starved-m4", M4, timeout=400,
          checks=[every_event_is_accounted_for, events_were_lost]),
    Suite("drops", "a little storm with a starved logger, kept: DROPPED can be read", "drops",
          checks=[the_capture_can_be_read, merged.other_readers_agree], coverage=True),
    Suite("ring", "a flight recorder: the newest events, dumped at the end", "ring",
          checks=[the_capture_can_be_read, all_that_ran_have_names, merged.other_readers_agree],
          coverage=True),
    Suite("dead-cpu", "a machine whose CPU 1 does not start", "events", A64, tests=23,
          cpus_left_out=True, prepare=dead_cpu.prepare, qemu=["-dtb", dead_cpu.TREE],
          checks=[says(r"CPU 1 does not start.*\n.*kymo on virt-a64, 3 CPU"),
                  the_capture_can_be_read]),
    # On real threads: 5 s are 10^9 instructions where these are counted.
    Suite("dead-cpu-pc", "the same on a PC", "smoke", PC, "multi", cpus=4, tests=20,
          cpus_left_out=True, qemu=["-S", *gdb.STUB], beside=dead_cpu.ListChanged,
          checks=[says(r"CPU 1 does not start.*\n.*kymo on pc, 3 CPU")]),
    Suite("dead-cpu-control", "the account of losses on such a machine", "control-smp4", A64,
          cpus_left_out=True, prepare=dead_cpu.prepare, qemu=["-dtb", dead_cpu.TREE], tests=1,
          checks=[says(r"CPU 1 does not start")]),
    Suite("dead-cpu-storms", "a thread on each CPU of such a machine", "storms", A64,
          cpus_left_out=True, prepare=dead_cpu.prepare, qemu=["-dtb", dead_cpu.TREE], tests=4,
          checks=[says(r"CPU 1 does not start")]),
    Suite("dead-cpu-api", "the kernel API on such a machine", "test", A64, tests=165,
          cpus_left_out=True, prepare=dead_cpu.prepare, checks=[says(r"CPU 1 does not start")],
          qemu=["-dtb", dead_cpu.TREE, "-rtc", "clock=vm"]),
    Suite("api-slots64", "the API with buffers of 64 slots", "test", M4, tests=161,
          qemu=["-rtc", "clock=vm"], variant="-slots64"),
    Suite("ring-slots64", "a flight recorder with buffers of 64 slots", "ring", M4,
          variant="-slots64", checks=RING_SLOTS64),
    Suite("ring-slots64", "a flight recorder with buffers of 64 slots", "ring", A64,
          variant="-slots64", checks=RING_SLOTS64, soak=True),
    Suite("events-slots64", "programs' own events with buffers of 64 slots", "events", M4, tests=23,
          variant="-slots64", checks=events.CHECKS + SLOTS64),
    Suite("events-slots64", "programs' own events with buffers of 64 slots", "events", A64,
          tests=23, variant="-slots64", checks=events.CHECKS + SLOTS64, soak=True),
    Suite("d-slots64", "D where a trace buffer has 64 slots: what can't be logged is refused", "d",
          M4, tests=12, variant="-slots64"),
    Suite("advice", "the -k that is advised after losses is enough", "advice", tests=4,
          checks=[the_logger_advises_that, the_size_limit_holds_and_all_is_counted,
                  says(r"tracelogger: t_advice \(process \d+\) is recording already: end it, or "
                       r"have it free its buffers")]),
    Suite("idle", "what the logger's own work adds to an idle system", "idle",
          checks=[logger.it_adds_less_than_a_tenth_of_a_buffer_per_buffer]),
    Suite("options", "every option of tracelogger", "options", status=1,
          checks=logger.CHECKS + [merged.other_readers_agree_but_of("small")]),
    Suite("options-smp1", "the same on one CPU", "options", A64, cpus=1, status=1,
          checks=logger.CHECKS),
    Suite("modes", "tracelogger's modes, and options whose captures say whether they work",
          "modes", tests=24, status=1,
          checks=modes.CHECKS + library.CHECKS + [library.OTHER_READERS_AGREE]),
    Suite("modes-multi", "the same on 4 real threads", "modes", A64, "multi", cpus=4, tests=24,
          status=1, timeout=400, soak=True,
          checks=modes.CHECKS_ON_THREADS + library.CHECKS +
          [library.OTHER_READERS_AGREE]),
    Suite("gate", "only what a D program lets pass, until a D trigger stops it", "gate", tests=13,
          status=1, checks=gate.CHECKS + [merged.other_readers_agree]),
    Suite("gate", "the same on a PC, with its captures on a disk", "gate", PC, "sleep", tests=13,
          status=1, prepare=captures.prepare, qemu=captures.DISK,
          checks=[captures.they_are_on_the_disk] + gate.CHECKS + [merged.other_readers_agree]),
    Suite("gate-multi", "the gate on 4 real threads: what is made and what is stopped are exact",
          "gate", A64, "multi", cpus=4, tests=13, status=1,
          timeout=300, soak=True),
    Suite("memory", "captures in memory objects, buffers kept in one", "memory", tests=2, status=1,
          checks=memory.CHECKS + [merged.other_readers_agree_but_of("killed", "slain")]),
    Suite("killed", "tracelogger killed at work, other ones started", "killed", tests=2,
          checks=[the_first_one_is_sound, a_second_capture_works,
                  says("tracelogger: the ring of a logger that has ended was still recording")]),
    Suite("killed-multi", "the same on 4 real threads", "killed", A64, "multi", cpus=4, tests=2,
          checks=[the_first_one_is_sound, a_second_capture_works,
                  merged.other_readers_agree_but_of("trace", "ring"),
                  says("tracelogger: the ring of a logger that has ended was still recording")]),
    Suite("slain", "tracelogger killed at its kernel calls, a sample of them", "slain", tests=2,
          prepare=slain.prepare, checks=[slain.what_was_given_back_is_in_the_capture]),
    Suite("slain-soak", "at each of them", "slain-soak", tests=2, soak=True, timeout=900,
          prepare=slain.prepare, checks=[slain.what_was_given_back_is_in_the_capture]),
    Suite("signalled", "tracelogger gets a signal at each kernel call of its start", "signalled",
          tests=3, checks=[slain.a_signal_leaves_nothing_or_a_whole_capture]),
    Suite("slain-disk", "the same with captures on a disk", "slain-disk", A64, "sleep", tests=2,
          prepare=slain.prepare, qemu=slain.DISK,
          checks=[slain.what_was_given_back_is_on_the_disk]),
    Suite("slain-disk", "the same on a PC", "slain-disk", PC, "sleep", tests=2,
          prepare=slain.prepare, qemu=slain.DISK_PCI,
          checks=[slain.what_was_given_back_is_on_the_disk]),
    Suite("slain-disk-soak", "the same at each of them", "slain-disk-soak", A64, "sleep", tests=2,
          soak=True, timeout=900, prepare=slain.prepare, qemu=slain.DISK,
          checks=[slain.what_was_given_back_is_on_the_disk]),
    Suite("slain-link", "the same with captures over the link", "slain-link", A64, "sleep", tests=4,
          timeout=240, link=True, beside=slain.Host,
          checks=[slain.what_was_given_back_is_on_the_host,
                  slain.a_signal_leaves_nothing_or_a_whole_capture,
                  slain.a_signal_never_leaves_a_begun_capture_on_the_host]),
    Suite("slain-link-soak", "the same at each of them", "slain-link-soak", A64, "sleep", tests=2,
          soak=True, timeout=900, link=True, beside=slain.Host,
          checks=[slain.what_was_given_back_is_on_the_host]),
    Suite("full", "the host's disk is full", "full", prepare=to_dev_full, tests=1, status=1,
          checks=[says(r"write: the host's disk is full, .* valid up to byte 0\n"),
                  says("init: tracelogger \\(pid 3\\) exited with status 1")]),
    # 200 blocks of 512 bytes: it ends inside of a slot.
    Suite("full-late", "the host's disk becomes full", "full", tests=1, status=1,
          wrap=["sh", "-c", "trap '' XFSZ; ulimit -f 200; exec \"$@\"", "sh"],
          checks=[the_capture_is_valid_up_to_there,
                  says("init: tracelogger \\(pid 3\\) exited with status 1")]),
    Suite("closed", "the capture's reader goes away", "full", prepare=to_a_pipe, tests=1, status=1,
         
          checks=[the_capture_is_valid_up_to_there,
                  says("init: tracelogger \\(pid 3\\) exited with status 1")]),
]


def raw_image(boot, image):
    """kernel8.img, as the firmware loads it."""
    path = os.path.join(boot.dir, "kernel8.img")
    subprocess.run(["aarch64-linux-gnu-objcopy", "-O", "binary", image, path], check=True)
    return path


# Raspberry Pi 3. What virt-a64 boots, as far as this machine can: why it can't, by suite.
PI_REASONS = (
    (lambda s: s.cpus not in (0, 4), "the machine has always four CPUs"),
    (lambda s: {"-M", "-m", "-dtb"} & set(s.qemu), "the machine has one memory and no device tree"),
    (lambda s: any("virtio" in word for word in s.qemu), "it has no virtio, but an SD card"),
    (lambda s: s.variant, "buffers of other sizes are not built for it"),
    (lambda s: s.soak == "once", "it takes too long for every board"),
    (lambda s: s.name == "golden", "there is no committed capture of this board"),
    (lambda s: s.name in ("gated", "gate", "gate-multi"), "its D programs are compiled for others"),
)
PI_SKIPPED = {}  # name: reason


def of_a_pi(suite):
    reasons = [why for lacks, why in PI_REASONS if lacks(suite)]
    if reasons:
        PI_SKIPPED[suite.name] = reasons[0]
    return [] if reasons else [dataclasses.replace(suite, boards=PI, soak=suite.name != "api")]


# A PC's captures are on a disk: test/board/captures.py.
ON_A_DISK = frozenset("drops ring log events events-wide killed why truth".split())
SUITES += [dataclasses.replace(suite, boards=PC, mode="sleep", prepare=captures.prepare,
                               qemu=captures.DISK, coverage=False,
                               checks=[captures.they_are_there_or_cut if suite.name == "killed"
                                       else captures.they_are_on_the_disk, *suite.checks])
           for suite in SUITES if suite.name in ON_A_DISK and suite.boards == BOTH]
SUITES += [pi for suite in SUITES if "virt-a64" in suite.boards for pi in of_a_pi(suite)]
SUITES += [
    Suite("raw", "kernel8.img, entered at EL2, with the firmware's spin table", "smoke", PI,
          kernel=raw_image, tests=20),
    Suite("raw-multi", "the same on 4 real threads", "smoke", PI, "multi", kernel=raw_image,
          tests=20, soak=True),
]
# Xilinx ZCU102: the API's tests, wherever the machine lets the kernel be entered.
API = next(suite for suite in SUITES if suite.name == "api" and "virt-a64" in suite.boards)
SUITES += [
    Suite("smoke", "one boot of what the port must do", "smoke", ZCU + M4, tests=20),
    dataclasses.replace(API, boards=ZCU),
    dataclasses.replace(API, boards=ZCU, name="api-el2", doc="the same, entered at EL2", soak=True,
                        qemu=API.qemu + ["-M", "xlnx-zcu102,virtualization=on"]),
    dataclasses.replace(API, boards=ZCU, name="api-multi", doc="the same on 4 real threads",
                        mode="multi", timeout=240, soak=True),
]
SKIPPED = {"raspi3": PI_SKIPPED}


def said_to_fire(board):
    """(class, event) of `FIRED class event` lines: seen by a test that looked into the buffers."""
    path = os.path.join(ROOT, "build/check/boot", f"{board}.api", "console.txt")
    with open(path, errors="replace") as f:
        return {(int(c), int(e)) for c, e in re.findall(r"^FIRED (\d+) (\d+)", f.read(), re.M)}


def missing_rows(board):
    """Rows of the tables that no capture of this board's boots has."""
    found = set()
    for suite in SUITES:
        path = os.path.join(ROOT, "build/check/boot", f"{board}.{suite.name}", "trace.kev")
        if suite.coverage and board in suite.boards and os.path.exists(path):
            found |= kev.fired(path)
    found |= said_to_fire(board)
    missing = [name for name, row in kev.event_rows().items() if row not in found]
    calls = kev.call_rows()
    no_exit = ("PROC_EXIT", "THREAD_DESTROY")
    for name, number in calls.items():
        if (kev.call_class(number), number) not in found:
            missing.append(f"{name} enter")
        if (kev.call_class(number), number + 128) not in found and name not in no_exit:
            missing.append(f"{name} exit")
    if not any(kev.is_call(cls) and 256 <= event < 384 for cls, event in found):
        missing.append("any KERCALL INT")
    missing += [f"call {event} in class {cls}" for cls, event in sorted(found)
                if kev.is_call(cls) and cls != kev.call_class(event)]
    return missing
