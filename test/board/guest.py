# SPDX-License-Identifier: BSD-2-Clause
"""A booted board that is typed at."""
import fcntl
import os
import socket
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(1, os.path.join(ROOT, "test/tool"))
import cpus  # noqa: E402
import emulator  # noqa: E402
import patience  # noqa: E402
import sample  # noqa: E402


def image_elf(build, name):
    """Of a board's build folder: images that only tests boot have a folder of their own. Ends the
    test with a remedy if the image is not built."""
    paths = [os.path.join(build, folder, name + ".elf") for folder in ("test-images", "")]
    built = [path for path in paths if os.path.exists(path)]
    if not built:
        sys.exit(f"{os.path.basename(sys.argv[0])}: no {os.path.relpath(paths[0], ROOT)}: "
                 "first run `make all tools`")
    return built[0]


HELD = {}


def hold(folder):
    """Locks the folder till this process ends: another run of the suite would have the same
    sockets, and each would talk to the other's board."""
    if folder in HELD:
        return
    HELD[folder] = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(HELD[folder], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {os.path.relpath(folder, ROOT)} is in use by "
                 "another process: let it end first")


def connect(path, alive=lambda: True, seconds=60):
    """A unix socket to who listens there. Its file is there a moment before he listens, and some
    time after he was started: until `alive` says that he has ended, it's worth another try."""
    until = time.monotonic() + patience.seconds(seconds)
    while True:
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(path)
            return s
        except (FileNotFoundError, ConnectionRefusedError):
            s.close()
            if time.monotonic() > until or not alive():
                raise
            time.sleep(0.02)


class Guest:
    cpus_left_out = False  # whether the test is about a CPU that does not start

    def __init__(self, board, image, extra, folder, console="console.txt", inherited=(),
                 kernel=None, firmware=False):
        """kernel: a file to boot instead of the image's ELF file; firmware: what is in `extra` says
        what to boot."""
        self.board, self.dir = board, folder
        build = os.path.join(ROOT, "build", board)
        with open(f"{build}/qemu.args") as args:
            command = args.read().split() + emulator.cpu_arguments() + list(extra)
        if not firmware:
            command += ["-kernel", kernel or image_elf(build, image)]
        os.makedirs(folder, exist_ok=True)
        self.console = open(os.path.join(folder, console), "wb")
        self.cpus = cpus.given(command)
        self.qemu = emulator.begin(command, cwd=folder, stdin=subprocess.PIPE,
                                   stdout=self.console, stderr=subprocess.STDOUT,
                                   pass_fds=inherited)
        try:
            self.wait_for(lambda: "`help` lists" in self.printed(), "the board boots")
        except BaseException:
            Guest.close(self)  # nobody else has it yet
            raise

    def wait_for(self, condition, what, seconds=60):
        """seconds: of a quiet machine, a hang detector."""
        began = time.monotonic()
        while not condition():
            self.all_cpus_started()
            if patience.is_over(began, seconds):
                raise AssertionError(f"never: {what}; the console ends: {self.printed()[-400:]!r}")
            time.sleep(0.05)
        self.all_cpus_started()

    def all_cpus_started(self):
        why = None if self.cpus_left_out else cpus.missing(self.printed(), self.cpus)
        if why:
            raise AssertionError(why)

    def printed(self):
        with open(self.console.name, errors="replace", newline="") as f:
            return f.read().replace("\r\n", "\n")

    def type(self, text):
        self.qemu.stdin.write(text.encode())
        self.qemu.stdin.flush()

    def close(self):
        self.qemu.kill()
        self.qemu.wait()
        self.qemu.stdin.close()
        self.console.close()


def run_tests(tests, wanted, run, skipped=0):
    """Runs those wanted, or a sample (sample.py), by run(test), and says how it went. The exit
    status."""
    passed = failed = 0
    wanted = [name.replace(" ", "_") for name in wanted]
    unknown = set(wanted) - {t.__name__ for t in tests}
    if unknown:
        print(f"no such test: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    taken = [t for t in tests if t.__name__ in wanted] if wanted else sample.of(tests)
    if not wanted:
        sample.tell(tests, taken)
    for test in taken:
        began = time.monotonic()
        try:
            run(test)
            passed += 1
            verdict = "ok"
        except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError) as e:
            failed += 1
            verdict = f"FAIL {e}"
        print(f"{test.__name__.replace('_', ' ')}: {verdict} ({time.monotonic() - began:.1f} s)",
              flush=True)
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


def expect(condition, what):
    if not condition:
        raise AssertionError(what)
