#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The link to a booted board, over good lines and bad ones. link.py BOARD [TEST...]

The image `live` is booted once; each test then talks to it with build/kymo. KYMO_SEED=n repeats the
faults. KYMO_LINK="DEVICE...": QEMU's devices for the link, instead of the board's; the chardev is
called link. KYMO_LINK=rtt: over RTT, by the image `rtt` (rtt.py). KYMO_CPUS=n: so many CPUs. The
last line is `N passed, N failed`.
"""
import contextlib
import fcntl
import glob
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from faulty import Line  # noqa: E402
from guest import ROOT, Guest, connect, expect, hold, image_elf, patience, run_tests  # noqa: E402
import merged  # noqa: E402
import rtt  # noqa: E402

KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))
SEED = int(os.environ.get("KYMO_SEED", random.SystemRandom().randrange(1 << 30)))
SLOW = patience.seconds(120)  # a hang detector
BAUD_BYTES = 11520  # a second, of a line of 115200 baud
DEVICES = os.environ.get("KYMO_LINK", "").split()
CPUS = os.environ.get("KYMO_CPUS")
RTT = DEVICES == ["rtt"]
# Where the probe looks: the kernel's data, and the RAM that is allocated first.
RAM = {"mps2-an386": [(0x20000000, 0x40000), (0x21000000, 0x100000)]}
VIRTIO = {"virt-a64"} | ({"pc"} if DEVICES else set())  # boards whose link is no UART
# What is sent over lines with faults, and how often something happens to a byte.
AMOUNT = {board: 8000000 if board in VIRTIO else 120000
          for board in ("virt-a64", "mps2-an386", "raspi3", "pc", "xlnx-zcu102")}
CHANCE = {"virt-a64": 1 / 60000, "mps2-an386": 1 / 2500, "raspi3": 1 / 2500,
          "pc": 1 / 60000 if DEVICES else 1 / 10000, "xlnx-zcu102": 1 / 2500}


class Bench(Guest):
    """A booted board, and where its link is."""
    probe = None  # what carries a link over RTT

    def __init__(self, board, line=None, inherited=(), image="live", more=(),
                 kernel=None):
        """line: the emulator's words for where the link's other end is, if not the socket raw.
        more: words of its command line. kernel: a file to boot instead of the image's."""
        # link.py and dlink.py may run at the same time.
        suite = os.path.splitext(os.path.basename(sys.argv[0]))[0]
        kind = "-rtt" if RTT else "-virtio" if DEVICES else "-other" if kernel else ""
        folder = os.path.join(ROOT, "build/check", suite, board + kind)
        os.makedirs(folder, exist_ok=True)
        hold(folder)
        # Sockets have short paths, wherever the tree is.
        os.chdir(folder)
        self.short = f"/proc/{os.getpid()}/cwd"
        self.raw = os.path.join(self.short, "raw")
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.short)
        shutil.rmtree("kymo", ignore_errors=True)  # of brokers that were killed
        self.lines = 0
        self.begun = time.time_ns()
        if RTT:
            self.boot_with_a_probe(board, line, inherited)
            return
        with open(os.path.join(ROOT, "build", board, "qemu.link")) as link:
            extra = ["-chardev", f"socket,id=link,{line or 'path=' + self.raw},server=on,wait=off"]
            words = link.read().split()
        extra += [word for one in DEVICES for word in ("-device", one)] if DEVICES else words
        extra += (["-smp", CPUS] if CPUS else []) + list(more)
        super().__init__(board, image, extra, folder, "console-2.txt" if line else "console.txt",
                         inherited, kernel)

    def boot_with_a_probe(self, board, line, inherited):
        path = line.removeprefix("path=") if line else self.raw
        for old in (stub := os.path.join(self.short, "gdb-2" if line else "gdb"), path):
            if os.path.exists(old):
                os.unlink(old)
        super().__init__(board, "rtt", ["-gdb", f"unix:{stub},server=on,wait=off"], os.getcwd(),
                         "console-2.txt" if line else "console.txt", inherited)
        try:
            self.probe = rtt.Probe(connect(stub), path, RAM[board])
            expect(f"linkd: RTT at {self.probe.block:#x}," in self.printed(), "it is elsewhere")
        except BaseException:
            self.close()
            raise

    def close(self):
        if self.probe:
            self.probe.close()
        super().close()

    def line(self, **how):
        self.lines += 1
        return Line(os.path.join(self.short, f"line{self.lines}"), self.raw, SEED + self.lines,
                    **how)

    def kymo(self, *args, **how):
        return subprocess.run([KYMO, *args], env=self.env, capture_output=True, text=True,
                              errors="replace", timeout=SLOW, cwd=self.dir, **how)

    def start(self, *args, **how):
        return subprocess.Popen([KYMO, *args], env=self.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, errors="replace", cwd=self.dir,
                                **how)

    def brokers(self):
        """Those that have not let go of their line."""
        folder = os.path.join(self.short, "kymo")
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return [n for n in names if not n.endswith(".lock") or self.locked(os.path.join(folder, n))]

    def locked(self, path):
        try:
            with open(path) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            pass
        return False

    def unplug(self, line):
        """When all that was said has arrived: the broker has taken its leave."""
        time.sleep(0.1)
        self.wait_for(lambda: not self.brokers(), "the broker's end", 10)
        line.close()


def spoke_well(done):
    expect(done.returncode == 0 and "all correct" in done.stdout,
           f"{done.returncode}: {done.stdout}{done.stderr}")


def who_is_there(bench, target=None):
    done = bench.kymo("link", "-t", target or "unix:" + bench.raw)
    expect(done.returncode == 0 and re.match(rf"board {bench.board}, build id [0-9a-f]{{40}}, ",
                                             done.stdout), done.stdout + done.stderr)
    elf = image_elf(f"{ROOT}/build/{bench.board}", "rtt" if RTT else "live")
    notes = subprocess.run(["readelf", "-n", elf], capture_output=True, text=True).stdout
    expect(re.search(r"build id ([0-9a-f]+)", done.stdout).group(1) in notes, "another build id")


def bytes_over_a_good_line(bench):
    amount = AMOUNT[bench.board]
    done = bench.kymo("link", "-t", "unix:" + bench.raw, "--bytes", str(amount))
    spoke_well(done)
    print("  " + done.stdout.splitlines()[-1])


def bytes_over_a_bad_line(bench):
    line = bench.line(chance=CHANCE[bench.board])
    done = bench.kymo("link", "-t", "unix:" + line.path, "--bytes", str(AMOUNT[bench.board]))
    line.close()
    spoke_well(done)
    print(f"  {line.faults} faults; " + done.stdout.splitlines()[-1])
    expect(line.faults > 20, f"only {line.faults} faults: this proves nothing")


def many_at_once_over_a_bad_line(bench):
    line = bench.line(chance=CHANCE[bench.board] / 2)
    amount = str(AMOUNT[bench.board] // 8)
    ones = [bench.start("link", "-t", "unix:" + line.path, "--bytes", amount, "--seed", str(i))
            for i in range(6)]
    for one in ones:
        out, err = one.communicate(timeout=SLOW)
        expect(one.returncode == 0 and "all correct" in out, out + err)
    line.close()


def the_console_is_the_console(bench):
    """What comes over the link is what the board prints, and typing works."""
    line = bench.line(chance=CHANCE[bench.board])
    with listened_to(bench, "unix:" + line.path) as (one, lines):
        for n in range(1, 5):
            one.stdin.write("pidin\n")
            one.stdin.flush()
            bench.wait_for(lambda n=n: "".join(lines).count("linkd") >= n, "pidin's answer")
    line.close()
    out = "".join(lines).replace("\r\n", "\n")
    expect(one.returncode == 0, one.stderr.read())
    bench.wait_for(lambda: out in bench.printed(), f"what the board printed: {out[-300:]!r}")


@contextlib.contextmanager
def listened_to(bench, target):
    """A console, and the list of the lines that come from it. Its input ends after the block."""
    one = bench.start("console", "-t", target, stdin=subprocess.PIPE)
    lines = []
    ear = threading.Thread(target=lambda: lines.extend(iter(one.stdout.readline, "")))
    ear.start()
    try:
        yield one, lines
    finally:
        one.stdin.close()
        ear.join(SLOW)
        one.wait(SLOW)


def the_kernel_is_heard(bench):
    """What the kernel prints by itself comes over the link, without anybody else printing."""
    with listened_to(bench, "unix:" + bench.raw) as (one, lines):
        one.stdin.write("crash null_read\n")
        one.stdin.flush()
        bench.wait_for(lambda: "(crash) terminated" in "".join(lines), "the report of the crash")
        bench.wait_for(lambda: "backtrace:" in "".join(lines), "the report's end")
    expect(one.returncode == 0, one.stderr.read())


def a_capture_over_a_bad_line(bench):
    """Without kernel calls and interrupts: a byte on a UART makes more events than a byte holds."""
    line = bench.line(chance=CHANCE[bench.board] / 2)
    path = os.path.join(bench.dir, "link.kev")
    one = bench.start("capture", "-t", "unix:" + line.path, "--force", "-o", path)
    bench.type("tracelogger -s 2 -F 1 -F 2 -f link:x/y.kev\r")  # it waits for the host
    out, err = one.communicate(timeout=SLOW)
    bench.unplug(line)
    expect(one.returncode == 0, f"{one.returncode}: {err}")
    said = re.compile(r"tracelogger: (\d+) events, (\d+) lost.* (\d+) bytes in link:x/y.kev")
    bench.wait_for(lambda: said.search(bench.printed()), "tracelogger's summary")
    events, lost, size = map(int, said.findall(bench.printed())[-1])
    expect("close:" not in bench.printed(), "the host's word did not arrive")
    expect(os.path.getsize(path) == size, f"{os.path.getsize(path)} bytes, not {size}")
    stat = bench.kymo("stat", path)
    expect(stat.returncode == 0 and f" {events} events" in stat.stdout.replace(",", ""),
           stat.stdout[:300] + stat.stderr)
    expect(lost or "none lost" in stat.stdout, stat.stdout[:300])
    merged.check(path)


def something_to_log(bench):
    """pidin, and its answer."""
    before = len(bench.printed())
    bench.type("pidin\r")
    bench.wait_for(lambda: "\n$ " in bench.printed()[before:].partition("pid ")[2], "pidin's end")


def a_plug_pulled_amid_a_capture(bench):
    line = bench.line()
    path = os.path.join(bench.dir, "cut.kev")
    for old in glob.glob(path + "*"):
        os.unlink(old)
    one = bench.start("capture", "-t", "unix:" + line.path, "-o", path)
    bench.type("tracelogger -c -f link:cut.kev &\r")  # it waits for the host
    while not any(os.path.getsize(part) > 20000 for part in glob.glob(path + ".*.part")):
        expect(one.poll() is None, "it has ended")
        something_to_log(bench)
    line.pull()
    out, err = one.communicate(timeout=SLOW)
    line.close()
    expect(one.returncode == 1, f"status {one.returncode}: {err}")
    expect("INCOMPLETE" in err and "the line was closed" in err, err)
    expect(os.path.getsize(path) > 20000 and not glob.glob(path + ".*"), "what came isn't kept")
    bench.type("tracestop\r")
    said = re.compile(r"tracelogger: link:\S+: (write|close): .*valid up to byte \d+")
    bench.wait_for(lambda: said.search(bench.printed()), "what tracelogger says")
    who_is_there(bench)


def a_plug_pulled_amid_bytes(bench):
    for _ in range(5):
        line = bench.line(pace=BAUD_BYTES * 2)
        one = bench.start("link", "-t", "unix:" + line.path, "--bytes", "1000000")
        bench.wait_for(lambda: line.bytes["up"] > 3000, "some bytes")
        line.pull()
        out, err = one.communicate(timeout=SLOW)
        line.close()
        expect(one.returncode == 1, f"status {one.returncode}: {out}")
        expect("the line was closed" in err and line.path in err, err)
        expect("all correct" not in out, out)


def wait_for_words(console):
    """A console that is open: the shell has answered an empty line."""
    console.stdin.write("\n")
    console.stdin.flush()
    expect(select.select([console.stdout], [], [], SLOW)[0], "the console says nothing")


def a_target_that_stops(bench):
    one = bench.start("console", "-t", "unix:" + bench.raw, stdin=subprocess.PIPE)
    wait_for_words(one)
    bench.qemu.send_signal(signal.SIGSTOP)
    out, err = one.communicate(timeout=SLOW)
    bench.qemu.send_signal(signal.SIGCONT)
    expect(one.returncode == 0 or "went silent" in err, err)
    line = bench.line()
    one = bench.start("link", "-t", "unix:" + line.path, "--bytes", "100000000")
    bench.wait_for(lambda: line.bytes["up"] > 3000, "some bytes")
    bench.qemu.send_signal(signal.SIGSTOP)
    out, err = one.communicate(timeout=SLOW)
    bench.qemu.send_signal(signal.SIGCONT)
    line.close()
    expect(one.returncode == 1 and "the target went silent" in err, f"{one.returncode}: {err}")
    who_is_there(bench)


def garbage_from_the_host(bench):
    rand = random.Random(SEED)
    with connect(bench.raw) as raw:
        raw.settimeout(patience.seconds(20))
        for _ in range(20):
            raw.sendall(rand.randbytes(rand.randrange(1, 3000)))
    who_is_there(bench)


def hosts_that_do_not_read(bench):
    """The emulator never returns a buffer of which the host that went had not taken all, and a
    queue has 8 of them. On a board of its own, whose line holds less than the link's window. (A
    UART has no buffers to lose.)"""
    if bench.board == "mps2-an386":
        return
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        other = Bench(bench.board, f"fd={listener.fileno()}", [listener.fileno()])
        other.raw = listener.getsockname()
        try:
            for _ in range(9):
                stop_reading_and_go(other)
            who_is_there(other, f"tcp:127.0.0.1:{other.raw[1]}")
        finally:
            other.close()


def stop_reading_and_go(bench):
    line = bench.line()
    one = bench.start("link", "-t", "unix:" + line.path, "--bytes", "50000000")
    bench.wait_for(lambda: line.bytes["up"] > 20000, "some bytes")
    line.hold()
    time.sleep(0.3)
    line.pull()
    one.communicate(timeout=SLOW)
    line.close()


def a_host_that_is_early(bench):
    """It has spoken before linkd has opened its port."""
    path = os.path.join(bench.short, "early")
    for _ in range(5):
        answers = []

        def ask():
            while not os.path.exists(path):
                time.sleep(0.005)
            # The socket has its name a moment before the emulator listens.
            while "Connection refused" in (done := bench.kymo("link", "-t", "unix:" + path)).stderr:
                time.sleep(0.005)
            answers.append(done)

        host = threading.Thread(target=ask)
        host.start()
        other = Bench(bench.board, "path=" + path)
        host.join()
        other.close()
        os.unlink(path)
        expect(answers[0].returncode == 0, answers[0].stderr)


def nobody_is_left(bench):
    """One after the other, quickly: the broker ends and begins, and none stays."""
    for _ in range(10):
        who_is_there(bench)
    bench.wait_for(lambda: not bench.brokers(), "the broker's end", 10)
    bench.wait_for(lambda: not os.listdir(os.path.join(bench.short, "kymo")), "an empty folder", 10)


def killed_clients(bench):
    for _ in range(10):
        one = bench.start("link", "-t", "unix:" + bench.raw, "--bytes", "50000000")
        time.sleep(0.2)
        one.kill()
        one.communicate()
    spoke_well(bench.kymo("link", "-t", "unix:" + bench.raw, "--bytes", "20000"))
    bench.wait_for(lambda: not bench.brokers(), "the broker's end", 10)


def a_wrong_target(bench):
    for target, words in (("unix:" + bench.short + "/nobody", "No such file"),
                          ("tcp:127.0.0.1:1", "refused"), ("/dev/null@9600", "/dev/null"),
                          ("nonsense", "not a target"), ("/dev/tty@77", "not a target")):
        done = bench.kymo("link", "-t", target)
        expect(done.returncode == 1 and words in done.stderr,
               f"{target}: {done.returncode} {done.stderr}")


def no_service(bench):
    """linkd has four consoles to give."""
    ones = [bench.start("console", "-t", "unix:" + bench.raw, stdin=subprocess.PIPE)
            for _ in range(4)]
    for one in ones:
        wait_for_words(one)
    fifth = bench.start("console", "-t", "unix:" + bench.raw, stdin=subprocess.PIPE)
    fifth.wait(timeout=SLOW)  # its input stays open: a slow board may take long to refuse it
    _, err = fifth.communicate()
    for one in ones:
        one.communicate(timeout=SLOW)
    expect(fifth.returncode == 1 and "too many channels" in err, err)


def a_line_of_115200_baud(bench):
    """The share of the line's bytes that are the message's, and how full the line was, are only
    printed: a slow host answers late, and bytes are sent again. test/lib/link/rules_test.c checks
    the share, in a time of its own."""
    line = bench.line(pace=BAUD_BYTES)
    amount = 60000
    done = bench.kymo("link", "-t", "unix:" + line.path, "--bytes", str(amount))
    line.close()
    spoke_well(done)
    share = amount / line.bytes["up"]
    rate = float(re.search(r"([\d.]+) bytes/s", done.stdout).group(1)) / BAUD_BYTES
    print(f"  {share:.1%} of the bytes on the line, {rate:.1%} of its speed")


TESTS = [who_is_there, bytes_over_a_good_line, bytes_over_a_bad_line,
         many_at_once_over_a_bad_line, the_console_is_the_console, the_kernel_is_heard,
         a_capture_over_a_bad_line, a_plug_pulled_amid_a_capture, a_plug_pulled_amid_bytes,
         a_target_that_stops, garbage_from_the_host, hosts_that_do_not_read,
         a_host_that_is_early, nobody_is_left, killed_clients, a_wrong_target, no_service,
         a_line_of_115200_baud]


def judge(bench, test):
    test(bench)
    expect(bench.qemu.poll() is None, "the board has ended")
    died = re.search(r"\((?!crash\))\S+\) terminated", bench.printed())
    expect(not died, "a process died")


def main():
    print(f"{sys.argv[1]}: KYMO_SEED={SEED}")
    bench = Bench(sys.argv[1])
    try:
        return run_tests(TESTS, sys.argv[2:], lambda test: judge(bench, test))
    finally:
        bench.close()


if __name__ == "__main__":
    sys.exit(main())
