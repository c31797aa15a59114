#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""D and the boot, D and the event log. dlog.py BOARD [TEST...]

What BOOT_D traces is claimed over the link; what -x log=1 puts into a capture, -r prints as it was
printed live. Each test boots the image that it needs. The last line is `N passed, N failed`.
"""
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../host/report")]
import captures  # noqa: E402
import kev  # noqa: E402
from guest import ROOT, connect, emulator, expect, hold, image_elf, patience, sample  # noqa: E402
from page_blocks import blocks  # noqa: E402

KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))
SLOW = patience.seconds(120)  # a hang detector
D, RECORD, TAKEN, BEGIN = 12, 2, 3, 1  # class, events (trace/dtrace/log_event.h), structure


def changed(elf, to, change):
    with open(elf, "rb") as f:
        data = change(f.read())
    with open(to, "wb") as f:
        f.write(data)
    return to


class Board:
    """A booted board with its link, and a broker of its own."""

    def __init__(self, board, image, test, change=None, on_disk=False):
        """change(bytes of the ELF): boots what it returns. on_disk: captures go to one."""
        self.dir = os.path.join(ROOT, "build/check/dlog", f"{board}.{test}")
        os.makedirs(self.dir, exist_ok=True)
        hold(self.dir)
        # Sockets have short paths, wherever the tree is.
        short = f"/proc/{os.getpid()}/fd/{os.open(self.dir, os.O_PATH)}"
        self.short = short
        self.spec = f"unix:{short}/link"
        self.env = dict(os.environ, XDG_RUNTIME_DIR=short)
        build = os.path.join(ROOT, "build", board)
        self.captures = captures.Captures(board, self.dir, on_disk)
        self.image, self.disk_boot = image, None  # the boot in which diskd was started
        kernel = image_elf(build, image)
        if change:
            kernel = changed(kernel, os.path.join(self.dir, "changed.elf"), change)
        with open(f"{build}/qemu.args") as args, open(f"{build}/qemu.link") as link:
            command = args.read().split() + emulator.cpu_arguments() + [
                "-chardev", f"socket,id=link,path={short}/link,server=on,wait=off"
            ] + link.read().split() + ["-qmp", f"unix:{short}/qmp,server=on,wait=off",
                                       *self.captures.arguments(), "-kernel", kernel]
        with open(os.path.join(self.dir, "console.txt"), "wb") as console:
            self.qemu = emulator.begin(command, cwd=self.dir, stdin=subprocess.PIPE,
                                       stdout=console, stderr=subprocess.STDOUT)

    def __enter__(self):
        until = time.monotonic() + SLOW
        while self.kymo("link", "-t", self.spec).returncode:
            expect(time.monotonic() < until, "the board doesn't answer")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.qemu.kill()
        self.qemu.wait()

    def printed(self):
        with open(os.path.join(self.dir, "console.txt"), errors="replace") as f:
            return f.read().replace("\r", "")

    def type(self, text):
        self.qemu.stdin.write(text.encode())
        self.qemu.stdin.flush()

    def wait_for(self, text, seconds=SLOW):
        until = time.monotonic() + seconds
        while not re.search(text, self.printed()):
            expect(time.monotonic() < until, f"the console never says {text!r}")
            time.sleep(0.05)

    def start_disk(self):
        """In a boot in which one is needed: the images with a shell don't start its driver."""
        boot = self.printed().count("kymo on ")
        shell = self.image in ("live", "statics", "helper")
        if self.captures.image and shell and self.disk_boot != boot:
            self.disk_boot = boot
            self.type("diskd &\n")
            self.wait_for(rf"(?s)(kymo on .*){{{boot}}}\[\d+\]")

    def record(self, options, name="trace.kev"):
        """tracelogger at work."""
        self.start_disk()
        self.name, named = name, self.captures.named(name)
        self.type(f"tracelogger -v {options} -f {named} &\n")
        self.wait_for(f"tracelogger: recording to {named}")

    def recorded(self):
        """Its capture is complete: where it is."""
        self.type("tracestop\n")
        self.wait_for(r"tracelogger: \d+ events, \d+ lost")
        return self.captures.take(self.name)

    def logged(self, *words):
        """A program that logs; tracelogger may not be quite there yet."""
        until = time.monotonic() + SLOW
        while True:
            done = self.dtrace("-x", "log=1", *words)
            if "no event log runs" not in done.stderr or time.monotonic() > until:
                return done
            time.sleep(0.1)

    def kymo(self, *words):
        return subprocess.run([KYMO, *words], env=self.env, cwd=self.dir, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, errors="replace",
                              timeout=SLOW)

    def dtrace(self, *words):
        return self.kymo("dtrace", "-t", self.spec, *words)


def told(done):
    return f"status {done.returncode}: {done.stdout[-600:]}{done.stderr[-600:]}"


def ran(done):
    """What it printed; it has lost nothing."""
    expect(done.returncode == 0 and "drop" not in done.stderr and "error" not in done.stderr,
           told(done))
    return done.stdout


class Kept:
    """One boot of an image for all tests of a suite."""

    def __init__(self, image, name):
        self.what, self.board = (image, name), None

    def get(self, board):
        if self.board is None:
            self.board = Board(board, *self.what)
            self.board.__enter__()
        return self.board

    def close(self):
        if self.board:
            self.board.__exit__()


# ---- BOOT_D --------------------------------------------------------------------------------------

def boot_d_is_claimed_once_and_only_by_who_can_read_it(board):
    """test/board/boot_d/boot.d was at work before the first process."""
    with Board(board, "bootd", "claim") as b:
        b.name = "boot.kev"
        what_was_stopped(b, 77)
        for words in (["-n", "BEGIN { trace(1); }"], ["-n", "BEGIN { no_such_thing(); }"],
                      ["-s", "/dev/null"]):
            done = b.dtrace("-a", *words)
            expect(done.returncode == 1 and not done.stdout, told(done))
        done = b.dtrace("-a", "-n", "BEGIN { trace(1); }")
        expect("another program than this" in done.stderr, told(done))
        done = b.dtrace("-ae")
        expect(done.returncode == 0, told(done))
        lines = done.stdout.split("\n")
        expect(lines[:2] == ["armed", "1"], f"not BEGIN first, or not the kernel: {lines[:3]}")
        expect("gone:evstorm" in lines, "args[] of a function probe isn't what its type says")
        made = [line.split() for line in lines if re.match(r"\d+ [a-z]\w*$", line)]
        expect(made[0] == ["2", "init"], f"the first process is not there: {made[:3]}")
        expect({"console", "linkd", "demo"} <= {m[1] for m in made}, f"{made}")
        ran = dict(line.split() for line in lines if re.match(r" +\w+ +\d+$", line))
        expect(int(ran.get("init", 0)) > 0 and int(ran.get("linkd", 0)) > 0, f"{ran}")
        done = b.dtrace("-a")
        expect(done.returncode == 1 and "no anonymous tracing state" in done.stderr, told(done))


IMAGE = re.compile(rb"\xffkyD\x02\x00[\x04\x08]")  # trace/dtrace/image.h
# What is changed in the boot's program: where, to what; what the console says of it.
REFUSED = {
    "version": (4, b"\x07", "no program of this version"),
    "cut": (8, b"\x50\x00\x00\x00", "the program is cut off or not aligned"),
    "foreign": (80, b"nobody", r"compiled for the kernel 6e6f626f6479[0-9a-f]{28}, this one is "
                               r"[0-9a-f]{40}"),
}


def a_boot_d_that_is_refused_says_why(board):
    """On the console; the system comes up all the same."""
    for name, (at, data, text) in REFUSED.items():
        def spoilt(elf):
            found = list(IMAGE.finditer(elf))
            expect(len(found) == 1, f"{len(found)} programs in the image")
            where = found[0].start() + at
            return elf[:where] + data + elf[where + len(data):]
        with Board(board, "bootd", f"refused-{name}", spoilt) as b:
            b.wait_for(rf"boot\.dif is refused: {text}\n")
            expect("Remedy: compile it again: make image BOOT_D=" in b.printed(), b.printed())
            done = b.dtrace("-a")
            expect("no anonymous tracing state" in done.stderr, told(done))


# ---- a trigger -----------------------------------------------------------------------------------

def what_was_stopped(b, trigger):
    """Till the tracelogger says why it stops: its ring has what was before."""
    # Others may print between its lines, and the shell its prompt before one.
    b.wait_for(r"tracelogger: stopped by a D trigger\n(?:(?!.*tracelogger: \d).*\n)*"
               r".*tracelogger: \d+ events, 0 lost; .* in " +
               re.escape(b.captures.named(b.name)) + "\n")
    numbers = [d1 for cls, event, d1, _ in kev.slots(b.captures.take(b.name))
               if cls == kev.CLASSES["USER"] and event == 0]
    expect(numbers and numbers == list(range(numbers[0], numbers[-1] + 1)) and
           numbers[0] < trigger <= numbers[-1], f"{len(numbers)} numbers, up to {numbers[-3:]}")


def logstop_ends_a_recording(board):
    """A clause of a live consumer sees what the log was kept for; nobody is stopped without one."""
    text = """BEGIN { logstop(); printf("ready\\n"); }
              syscall::trace_event:entry /execname == "evstorm" && arg2 == 300/
              { logstop(); printf("seen\\n"); exit(4); }"""
    with Board(board, "live", "trigger") as b:
        # How soon it stops is the host's affair: all of a storm has room.
        for name, options, storm in (("once", "-r -k 64", 3000),
                                     ("after", "-r -k 64 --after 5", 600)):
            out = os.path.join(b.dir, f"{name}.txt")
            if os.path.exists(out):  # of a run before
                os.remove(out)
            words = ["dtrace", "-t", b.spec, "-o", out, "-x", "switchrate=10hz", "-qn", text]
            job = subprocess.Popen([KYMO, *words], env=b.env, cwd=b.dir, stdin=subprocess.DEVNULL)
            until = time.monotonic() + SLOW
            while not (os.path.exists(out) and "ready" in open(out).read()):
                expect(time.monotonic() < until, "the consumer isn't ready")
                time.sleep(0.05)
            b.record(options, f"{name}.kev")
            b.type(f"evstorm 1 {storm}\n")
            what_was_stopped(b, 300)
            b.wait_for(f"evstorm: total {storm} of")
            expect(job.wait(SLOW) == 4, "the consumer's status")


# ---- into a capture ------------------------------------------------------------------------------

ONLY_D = "-c -F 1 -F 2 -F 3 -F 4 -F 6 -F 7"  # no other events: a small capture
# What these print hangs on nothing but themselves.
PROGRAMS = [
    ["-n", """
        BEGIN { printf("%d %s|%-8s|%x\\n", 42, "text", "left", 255); trace(7); trace("words"); }
        tick-10ms /++n < 4/ { trace(n); @sum[n, "key"] = sum(n * n); @all = quantize(n * 100); }
        tick-10ms /n == 4/ { @avg = avg(10); @least = min(-3); @most = max(9); @dev = stddev(4); }
        tick-10ms /n == 5/ { exit(3); }
        END { printa(@sum); printf("bye"); }"""],
    ["-qx", "bufsize=4k", "-n", """
        BEGIN { printf("%s\\n", strjoin("long ", "string")); }
        BEGIN { tracemem(`kernel_process, 16); tracemem(`kernel_process, 4096); }
        END { printf("dropped one\\n"); } tick-1 { exit(0); }"""],
    ["-n", """
        BEGIN { self->s = speculation(); }
        BEGIN { speculate(self->s); printf("speculated"); }
        BEGIN { commit(self->s); }
        BEGIN { trace(*(int *)0); } ERROR { trace(arg4); }
        END { @lq = lquantize(7, 0, 10, 2); clear(@lq); trunc(@lq); @l2["a"] = count(); }
        tick-1 { print(`kernel_process->pid); exit(0); }"""],
    ["--json", "-n", 'BEGIN { trace(1); @["k"] = count(); printf("j %d", 5); exit(0); }'],
    ["-c", "crash list", "-qn", """
        syscall:::entry /pid == $target/ { n++; } END { printf("%d calls", n); }"""],
    ["-qn", """
        proc:::create /execname == "shell"/ { trace(execname); stack(2); ustack(); usym(ucaller);
        @[ustack(2)] = count(); exit(0); }"""],
]


def provoked(board, start, words):
    """The program, with something typed until it is over."""
    job = subprocess.Popen([KYMO, *start, *words], env=board.env, cwd=board.dir, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    until = time.monotonic() + SLOW
    while job.poll() is None and time.monotonic() < until:
        board.type("pidin\n")
        time.sleep(0.3)
    out, err = job.communicate(timeout=SLOW)
    return subprocess.CompletedProcess(words, job.returncode, out, err)


def page_has_aggregations(b, path, printed):
    """`kymo report` puts what -r --json prints of aggregations into its page."""
    done = b.kymo("report", "--force", path, "-o", "page.html")
    expect(done.returncode == 0, told(done))
    found = {name: data for name, _, data in blocks(os.path.join(b.dir, "page.html"))}
    expect("aggregations" in found, "no aggregations in the page")
    wanted = [line for line in printed.splitlines() if line.startswith('{"aggregation"')]
    expect(len(wanted) > 4 and found["aggregations"].decode().splitlines() == wanted,
           "the page's aggregations are not those that are printed")


def what_a_capture_holds_is_printed_as_live(board):
    with Board(board, "live", "live") as b:
        done = b.dtrace("-x", "log=1", "-n", "BEGIN { exit(0); }")
        expect(done.returncode == 1 and "no event log runs" in done.stderr, told(done))
        done = b.dtrace("-x", "log=1", "-x", "bufpolicy=ring", "-n", "BEGIN { exit(0); }")
        expect(done.returncode == 1 and "log=1 needs bufpolicy=switch" in done.stderr, told(done))
        live = [b.dtrace(*words) for words in PROGRAMS[:-1]]
        live.append(provoked(b, ["dtrace", "-t", b.spec], PROGRAMS[-1]))
        b.record(ONLY_D + " -k 32")
        done = b.dtrace("-x", "log=1", "-x", "bufsize=16k", "-n",
                        "BEGIN { tracemem(curthread, 8000); exit(0); }")
        large = "clause 1: an event of 8024 bytes, the log has room for 7152"
        expect(done.returncode == 1 and large in done.stderr, told(done))
        logged = [b.logged(*words) for words in PROGRAMS[:-1]]
        logged.append(provoked(b, ["dtrace", "-t", b.spec, "-x", "log=1"], PROGRAMS[-1]))
        path = b.recorded()
        for a, l in zip(live, logged):
            expect(l.returncode == a.returncode and not l.stdout, told(l))
        # JSON is how it is printed, not how it is recorded.
        for json in False, True:
            done = b.kymo("dtrace", *(["--json"] if json else []), "-r", path)
            if not json:
                wanted = "".join(a.stdout for a, w in zip(live, PROGRAMS) if "--json" not in w)
                at = 0
                for a, words in zip(live, PROGRAMS):
                    if "--json" in words:
                        continue
                    found = done.stdout.find(a.stdout, at)
                    expect(found >= 0, f"not as live: {a.stdout!r} in {done.stdout[at:]!r}")
                    at = found + len(a.stdout)
                expect(len(wanted) > 1000, "too little to prove anything")
                for a in live[1], done:
                    expect("dtrace: 1 drop on CPU 0" in a.stderr, told(a))
                fault = live[2].stderr.strip().split("\n")[-1]
                expect("error on enabled probe" in fault and fault in done.stderr, told(done))
            else:
                timeless = [re.sub(r'"time":\d+', "", a.stdout) for a in (live[3], done)]
                expect(timeless[0] and timeless[0] in timeless[1], told(done))
                page_has_aggregations(b, path, done.stdout)


def overload_is_counted(board):
    """Too little room, on purpose: fired = printed + dropped, and no record that wasn't made."""
    with Board(board, "live", "overload") as b:
        b.record(ONLY_D + " -k 2")
        text = """#pragma D option quiet
            int n[int]; profile-997 { printf("%d:1:%s\\n", cpu, "xxxxxxxxxxxxxxxx"); }
            syscall:::entry { printf("%d:2:%s\\n", cpu, "yyyyyyyyyyyyyyyyyyyy"); }
            profile-997, syscall:::entry { n[cpu]++; } tick-500ms { exit(0); }
            END { printf("fired %d %d %d %d\\n", n[0], n[1], n[2], n[3]); }"""
        live = b.logged("-b", "8k", "-x", "strsize=2k", "-n", text)
        expect(live.returncode == 0, told(live))
        path = b.recorded()
        done = b.kymo("dtrace", "-r", path)
        lines = done.stdout.split("\n")
        good = sum(bool(re.fullmatch(r"\d+:(1:x{16}|2:y{20})", line)) for line in lines)
        bad = [line for line in lines if line and not re.fullmatch(
            r"\d+:(1:x{16}|2:y{20})|fired( \d+){4}", line)]
        drops = sum(int(n) for n in re.findall(r"(\d+) drops? on CPU", done.stderr))
        each = re.search(r"^fired(( \d+){4})$", done.stdout, re.M).group(1)
        fired = sum(int(n) for n in each.split())
        expect(not bad, f"wrong lines: {bad[:3]}")
        # exit() and END make records too.
        expect(fired <= good + drops <= fired + 2,
               f"{each} fired, {good} printed, {drops} lost; {told(live)}; {told(done)}")
        expect(drops > 0, f"none of {fired} was lost: this proves nothing")
        print(f"  {fired} fired, {good} printed, {drops} lost", flush=True)


def a_ring_keeps_the_newest_and_what_describes_them(board):
    with Board(board, "live", "ring") as b:
        b.record(ONLY_D + " -r -k 4")
        text = """profile-499 { printf("%d %d %s", cpu, x++, "padding padding padding padding"); }
                  tick-2s { exit(0); } END { printf("the end"); }"""
        done = b.logged("-qn", text)
        expect(done.returncode == 0, told(done))
        done = b.kymo("dtrace", "-r", b.recorded())
        expect(done.returncode == 0 and done.stdout.endswith("the end\n"), told(done))
        expect("the capture begins after" in done.stderr, told(done))
        expect(" drop" not in done.stderr and done.stdout.count("padding") > 20, told(done))


def reset(b):
    """The board, from outside, as a watchdog would."""
    qmp = connect(os.path.join(b.short, "qmp"))
    answers = qmp.makefile()
    answers.readline()
    for name in "qmp_capabilities", "stop", "system_reset", "cont":
        qmp.sendall((json.dumps({"execute": name}) + "\n").encode())
        while "return" not in json.loads(answers.readline()):
            pass
    qmp.close()


def recovered(path):
    """Of each CPU the numbers of its records, and how many there were at each pass."""
    records, passes, begun = {}, {}, None
    for header, _, d1, d2 in kev.raw_slots(path):
        cpu, event = header >> 24 & 63, header & 0x3ff
        if header >> 10 & 0x1f == D and header >> 30 == BEGIN:
            begun = d2
            if event == RECORD:
                records.setdefault(cpu, []).append(d2)
        elif header >> 10 & 0x1f == D and event == TAKEN and begun is not None:
            passes.setdefault(cpu, []).append(d1)
            begun = None
    return records, passes


def recover(b):
    b.wait_for(r"boot 2: boot 1 ended with: a reset without a panic\n(?s:.*)\$ ")
    b.start_disk()
    named = b.captures.named("reset.kev")
    b.type(f"tracelogger --recover -f {named}\n")
    b.wait_for(rf"tracelogger: boot 1 ended with: .* in {named}\n(?s:.*)\$ ")
    return b.captures.take("reset.kev")


WATCH = """BEGIN { printf("ready\\n"); }
    syscall::dtrace:entry /KYMO_D_GO == *(uint32_t *)copyin(arg0, sizeof(uint32_t))/ { gone++; }
    tick-1s /gone >= %d && seconds++ >= %d/ { exit(0); }"""


@contextlib.contextmanager
def at_work(b, seconds, *jobs):
    """Consumers with these words of dtrace, each of which has been on for so many seconds of the
    board at least: a third one sees their calls. After the block they are killed."""
    watch = subprocess.Popen([KYMO, "dtrace", "-t", b.spec, "-qn", WATCH % (len(jobs), seconds)],
                             env=b.env, cwd=b.dir, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    begun = []
    try:
        if (said := watch.stdout.readline()) != "ready\n":
            raise AssertionError(said + watch.communicate(timeout=SLOW)[0])
        begun += [subprocess.Popen([KYMO, "dtrace", "-t", b.spec, *words], env=b.env, cwd=b.dir,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                  for words in jobs]
        said, _ = watch.communicate(timeout=SLOW)
        expect(watch.returncode == 0, said)
        expect([one.poll() for one in begun] == [None] * len(begun), "a program is over")
        yield
    finally:
        for one in [watch, *begun]:
            one.kill()
            one.wait()


def a_reset_under_load(board, seconds):
    """Records of a program in a retained ring, saved by the next boot: where they are."""
    text = """int n[int]; profile-499 { printf("%d:%d:%s\\n", cpu, ++n[cpu], "padding"); }
              profile-499 { @[cpu] = max(n[cpu]); }"""
    with Board(board, "live", "reset") as b:
        b.record(ONLY_D + " --retain -k 16", "never.kev")
        with at_work(b, seconds, ["-x", "log=1", "-x", "switchrate=50hz", "-x", "aggrate=50hz",
                                  "-qn", text]):
            reset(b)
        path = recover(b)
        expect("whose description is missing" not in b.printed(), "notes are lost")
        done = b.kymo("dtrace", "-r", path)
        expect(done.returncode == 0, told(done))
        expect(" drop" not in done.stderr and "damaged" not in done.stderr, told(done))
        return path, done


def printed_as_recovered(cpu, numbers, passes, done):
    """One CPU's: no gap, all printed, the last snapshot too. False: it is too early to tell."""
    expect(numbers == list(range(numbers[0], numbers[-1] + 1)), f"CPU {cpu}: a gap")
    found = [int(n) for n in re.findall(rf"^{cpu}:(\d+):padding$", done.stdout, re.M)]
    # Its number on the CPU counts from 0.
    expect(found == [n + 1 for n in numbers], f"CPU {cpu}: {found[:3]}, not {numbers[:3]}")
    if numbers[0] == 0 or len(passes) < 2:
        return False
    expect(f"after {numbers[0]} record" in done.stderr, told(done))
    # A snapshot is made before the pass says where the records end; the last may be cut off.
    most = re.search(rf"^ +{cpu} +(\d+)$", done.stdout, re.M)
    expect(most and passes[-2] <= int(most.group(1)) <= numbers[-1] + 1, told(done))
    return True


def what_a_reset_leaves_is_printed(board):
    """The ring has long overwritten what describes its records. If a slow host has made none for
    so long, or no snapshot within a ring's time, it is done again, with more time."""
    for seconds in 6, 12, 24, 48:
        path, done = a_reset_under_load(board, seconds)
        records, passes = recovered(path)
        expect(records, "no records")
        told_all = [printed_as_recovered(cpu, numbers, passes.get(cpu, []), done)
                    for cpu, numbers in records.items()]
        if all(told_all):
            print(f"  {sum(map(len, records.values()))} records", flush=True)
            return
    raise AssertionError("the notes were never overwritten, or there were no snapshots")


def the_room_for_what_describes_records_is_bounded(board):
    """64 KB: that of a program that is over makes way, one that is too large is told of."""
    def program(text, comment):
        return ["-qn", f"{text} /* {'x' * comment} */"]

    with Board(board, "live", "room") as b:
        b.record(ONLY_D + " --retain -k 16", "never.kev")
        done = b.logged(*program("BEGIN { exit(0); }", 50000))
        expect(done.returncode == 0, told(done))
        with at_work(b, 2, *(["-x", "log=1", *program(text, comment)]
                             for text, comment in (('tick-100 { trace("kept"); }', 20000),
                                                   ('tick-100 { trace("large"); }', 70000)))):
            reset(b)
        path = recover(b)
        expect("D programs whose description is missing: 1\n" in b.printed(),
               "the large one isn't reported")
        done = b.kymo("dtrace", "-r", path)
        expect("kept" in done.stdout and "damaged" not in done.stderr, told(done))


def damage_is_told(board):
    """A capture cut off anywhere, or with bits turned over: an end, with a message if it is one."""
    seed = int(os.environ.get("KYMO_SEED", random.SystemRandom().randrange(1 << 30)))
    print(f"  KYMO_SEED={seed}", flush=True)
    dice = random.Random(seed)
    asan = os.path.join(ROOT, "build/kymo-asan")
    with Board(board, "live", "damage") as b:
        b.record(ONLY_D + " -k 32")
        expect(b.logged(*PROGRAMS[0]).returncode == 3, "not logged")
        path = b.recorded()
        with open(path, "rb") as f:
            whole = f.read()
        good = b.kymo("dtrace", "-r", path)
        for i in range(DAMAGED):
            bad = bytearray(whole)
            if i % 2:
                bad = bad[:dice.randrange(len(bad))]
            else:
                for _ in range(dice.choice((1, 1, 2, 8))):
                    bad[dice.randrange(len(bad))] ^= 1 << dice.randrange(8)
            with open(path, "wb") as f:
                f.write(bad)
            done = subprocess.run([asan, "dtrace", "-r", path], stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=SLOW, cwd=b.dir)
            expect(done.returncode in (0, 1, 3) and b"Sanitizer" not in done.stderr and
                   b"runtime error" not in done.stderr, f"damage {i}: {done}")
            if i % 2 and done.stdout.decode(errors="replace") != good.stdout:
                expect(done.stderr, f"damage {i}: silent about a cut at {len(bad)}")


DAMAGED = 200
def a_capture_knows_which_process_was_named(board):
    """What pid:NAME:… meant when it was traced."""
    with Board(board, "live", "named") as b:
        if " pid" not in b.dtrace("-ln", "pid:linkd:main:entry").stdout:
            return  # no probes of programs
        b.record("-c -w -k 64")
        ran = b.logged("-q", "-p", "linkd", "-n", "pid:linkd:DtraceControl:entry /n++ < 5/ "
                       '{ printf("%s %s %d\\n", probeprov, execname, pid); } '
                       "pid$target:a.out:DtraceControl:entry /n > 5/ { exit(0); }")
        expect(ran.returncode == 0 and not ran.stderr, told(ran))
        done = b.kymo("dtrace", "-r", b.recorded())
        lines = done.stdout.split("\n")[:5]
        expect(done.returncode == 0 and len(set(lines)) == 1 and
               re.fullmatch(r"pid(\d+) linkd \1", lines[0]), told(done))


TESTS = [boot_d_is_claimed_once_and_only_by_who_can_read_it,
         a_boot_d_that_is_refused_says_why, logstop_ends_a_recording,
         what_a_capture_holds_is_printed_as_live, overload_is_counted,
         a_ring_keeps_the_newest_and_what_describes_them,
         what_a_reset_leaves_is_printed, the_room_for_what_describes_records_is_bounded,
         damage_is_told, a_capture_knows_which_process_was_named]


def main():
    board, only = sys.argv[1], sys.argv[2:]
    failed = 0
    tests = [t for t in TESTS if t.__name__ in only] if only else sample.of(TESTS)
    if not only:
        sample.tell(TESTS, tests)
    for test in tests:
        try:
            test(board)
        except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError, IndexError) as e:
            failed += 1
            print(f"FAIL {board} {test.__name__}: {type(e).__name__}: {e}", flush=True)
        else:
            print(f"ok {test.__name__}", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
