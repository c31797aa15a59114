#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The shell and the console's input, typed at: shell.py BOARD [TEST...]. What is typed before and
during the boot, line editing, ^C, programs and their list, while the demo runs and while nothing
does; and `kymo run` with a pipe and with a terminal."""
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guest  # noqa: E402
from guest import emulator, expect  # noqa: E402

KYMO = os.path.join(guest.ROOT, "build/kymo")
QUIET = 60  # seconds after which on a quiet machine something has failed, not a measure
PATIENCE = guest.patience.seconds(QUIET)
UP, DOWN, RIGHT, LEFT, CTRL_C = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x03"


class Shell(guest.Guest):
    def says(self, pattern, after=0):
        """Waits for it; returns where it ends."""
        try:
            self.wait_for(lambda: re.search(pattern, self.printed()[after:]), pattern, QUIET)
        except AssertionError as never:
            raise AssertionError(f"{never} in {self.printed()[after:][-2000:]!r}") from never
        return after + re.search(pattern, self.printed()[after:]).end()

    def prompt(self):
        """Waits for it, if nothing else prints: else it comes amid what is typed next."""
        self.says(r"\n\$ $")

    def answers(self, line, pattern):
        start = len(self.printed())
        self.type(line + "\n")
        return self.says(pattern, start)


def boot(board, image="shell", extra=()):
    shell = Shell(board, image, extra, os.path.join(guest.ROOT, "build/check/shell", board))
    shell.prompt()
    return shell


def typed_at_once(board, lines):
    """All of it is in the pipe before the emulator begins: each line is answered once, in order."""
    build = os.path.join(guest.ROOT, "build", board)
    with open(f"{build}/qemu.args") as f:
        command = f.read().split() + ["-kernel", f"{build}/shell.elf"]
    text = "".join(f"x{n}\n" for n in range(lines)) + "shutdown 9\n"
    done = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, timeout=PATIENCE)
    out = done.stdout.decode(errors="replace").replace("\r\n", "\n")
    answered = re.findall(r"x(\d+): no such program in the boot image", out)
    expect(answered == [str(n) for n in range(lines)],
           f"of {lines} lines {len(answered)} are answered: {answered[:5]} … {answered[-3:]}")
    expect(done.returncode == 9, f"status {done.returncode}")


def a_line_typed_before_the_boot(board):
    typed_at_once(board, 1)


def a_thousand_bytes_typed_before_the_boot(board):
    typed_at_once(board, 210)


def more_than_the_console_keeps(board):
    typed_at_once(board, 2000)


def each_key_typed_while_it_boots(board):
    """One key at a time, at any moment of the boot: none of them kills the input."""
    build = os.path.join(guest.ROOT, "build", board)
    with open(f"{build}/qemu.args") as f:
        command = f.read().split() + ["-icount", "shift=6,sleep=on", "-kernel",
                                      f"{build}/shell.elf"]
    with emulator.begin(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as qemu:
        for key in "x" * 40 + "\nshutdown 9\n":
            qemu.stdin.write(key.encode())
            qemu.stdin.flush()
            time.sleep(0.005)
        try:
            qemu.wait(PATIENCE)
        finally:
            qemu.kill()
    expect(qemu.returncode == 9, f"status {qemu.returncode}")


def programs_and_what_is_none(board):
    shell = boot(board)
    try:
        shell.answers("programs", r"(?s)\ninit\nconsole\n.*\ntracelogger\n.*\ncrash\n\$ ")
        expect("\nstart\n" not in shell.printed(), "the start script is no program")
        shell.answers("nosuch one", r"\nnosuch: no such program in the boot image; `programs` "
                                    r"lists them\n\$ ")
        shell.answers("start", r"\nstart: is not a program\n\$ ")
        shell.answers("crash nonsense", r"\ncrash: status 2\n\$ ")
        # Process 0 would be the shell itself.
        for words, said in (("", r"which PID\?"), ("-9", r"which PID\?"),
                            ("$(x)", r"\$\(x\): not a PID"), ("0", "0: not a PID"),
                            ("3x", "3x: not a PID"),
                            ("-x 3", "-x: not a signal's number"), ("99999", "No such process")):
            shell.answers("kill " + words, rf"\nkill: {said}\n\$ ")
        shell.answers("help", r"(?s)programs +the programs.*\^C ends.*\n\$ ")
        shell.answers("shutdown 256", r"\nshutdown \[STATUS\], 0 to 255\n\$ ")
        shell.type("shutdown 3\n")
        expect(shell.qemu.wait(PATIENCE) == 3, f"status {shell.qemu.returncode}")
    finally:
        shell.close()


def edit_lines(shell):
    shell.answers("one", r"\bone: no such program")
    shell.answers("two", r"\btwo: no such program")
    shell.answers(UP + UP + "x", r"\bonex: no such program")
    shell.answers(UP + UP + DOWN + "y", r"\bonexy: no such program")
    shell.answers("ac" + LEFT + "b" + RIGHT + "d", r"\babcd: no such program")
    shell.answers("zz\x15abc" + LEFT + LEFT + "\x7f1", r"\b1bc: no such program")
    shell.answers("gone" + CTRL_C + "kept", r"\bkept: no such program")
    expect("gone: no such" not in shell.printed(), "^C keeps the line")
    start = len(shell.printed())
    shell.type(CTRL_C)
    # What runs beside the shell may print between the two.
    shell.says(r"(?s)\^C\n.*\$ ", start)


def lines_are_edited(board):
    shell = boot(board)
    try:
        edit_lines(shell)
    finally:
        shell.close()


def interrupt_a_recording(shell):
    """Its capture is finished, for ^C comes when it records already."""
    shell.prompt()
    at = shell.answers("tracelogger -v -c", r"tracelogger: recording to \S+, .*\n")
    shell.type(CTRL_C)
    end = shell.says(r"tracelogger: (\d+ events, .*|ended by signal 2)\n", at)
    expect("ended by" not in shell.printed()[at:end], shell.printed()[at:end])


def interrupt_ends_the_program_and_its_children(board):
    shell = boot(board)
    try:
        for _ in range(3):
            at = shell.answers("demo -r x4", r"demo: all went well")
            shell.type(CTRL_C)
            shell.says(r"\ndemo: ended by signal 2\n\$ ", at)
            at = shell.answers("pidin", r"\bpidin\b[^$]*\n\$ ")
            listed = shell.printed()[:at].rpartition("pidin\n")[2]
            deep = re.search(r" 1 +1 .*/idle .* stack (\d+)/(\d+)\n", listed)
            expect(deep and 200 < int(deep[1]) < int(deep[2]), f"no kernel stack:\n{listed}")
            for name in "demo", "sensor", "spinner", "workers", "filter":
                expect(not re.search(rf"\b{name}\b", listed), f"{name} still runs:\n{listed}")
        shell.answers("shell", r"`help` lists")
        shell.prompt()
        at = shell.answers("demo -r", r"demo: all went well")
        shell.type(CTRL_C)
        at = shell.says(r"\ndemo: ended by signal 2\n\$ ", at)
        shell.answers("exit", r"exit\n\$ ")
        interrupt_a_recording(shell)
        shell.answers("alive", r"\balive: no such program")
    finally:
        shell.close()


def all_of_it_while_the_demo_runs(board):
    shell = boot(board)
    try:
        shell.answers("demo -r &", r"\[\d+\]\n\$ ")
        edit_lines(shell)
        shell.answers("programs", r"(?s)\ninit\n.*\ncrash\n")
        at = shell.answers("spinner 100000", r"spinner")

        def interrupted():
            shell.type(CTRL_C)  # before the program has begun it is the line's
            time.sleep(0.3)
            return "spinner: ended by signal 2" in shell.printed()[at:]
        shell.wait_for(interrupted, "spinner's end")
        at = shell.answers("exit", r"exit\n")
        shell.says(r"demo: all went well", at)  # the system goes on
        shell.says(r"demo: all went well", at + len("demo: all went well"))
        expect(shell.qemu.poll() is None, "exit ends the machine")
    finally:
        shell.close()


def the_disk_driver_from_the_page(board):
    """docs/guide/tracelogger.md's lines for a disk, typed as they stand there."""
    with open(os.path.join(guest.ROOT, "docs/guide/tracelogger.md")) as f:
        block = re.search(r"```\n(diskd &\n.*?)```", f.read(), re.S)
    expect(block, "docs/guide/tracelogger.md doesn't show how to start diskd")
    folder = os.path.join(guest.ROOT, "build/check/shell", board)
    os.makedirs(folder, exist_ok=True)
    disk = os.path.join(folder, "disk.img")
    with open(disk, "wb") as f:
        f.truncate(8 << 20)
    with open(os.path.join(guest.ROOT, "build", board, "qemu.disk")) as f:
        device = f.read().split()
    shell = boot(board, extra=["-drive", f"if=none,id=disk,format=raw,file={disk}", *device])
    try:
        for line in block[1].splitlines():
            at = shell.answers(line.partition("#")[0].rstrip(), r"\n\$ ")
            expect("no such" not in shell.printed()[:at], f"{line}: {shell.printed()[-200:]}")
        shell.answers("shutdown", r"shutdown")
        shell.qemu.wait(PATIENCE)
    finally:
        shell.close()
    done = subprocess.run([KYMO, "extract", "--list", disk], capture_output=True, text=True)
    expect(done.returncode == 0 and "kev" in done.stdout, f"{done.stdout}{done.stderr}")
    os.unlink(disk)


def kymo_run(board, *words, **options):
    return [KYMO, "run", "--no-build", "--board", board, "--image", "shell", *words]


def a_pipe_into_kymo_run(board):
    capture = os.path.join(guest.ROOT, "build/check/shell", board, "none.kev")
    os.makedirs(os.path.dirname(capture), exist_ok=True)
    done = subprocess.run(kymo_run(board, "--capture", capture), input="pidin\nshutdown\n",
                          text=True, errors="replace", capture_output=True, timeout=PATIENCE)
    expect(done.returncode == 0 and "RECEIVE" in done.stdout,
           f"status {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")


def read_until(fd, pattern, out=""):
    until = time.monotonic() + PATIENCE
    while not re.search(pattern, out):
        if time.monotonic() > until:
            raise AssertionError(f"never: {pattern}: {out[-300:]}")
        if select.select([fd], [], [], 0.2)[0]:
            out += os.read(fd, 65536).decode(errors="replace")
    return out


def a_terminal_at_kymo_run(board):
    """^C is the board's, ^] ends the emulator, and the terminal is as it was."""
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    capture = os.path.join(guest.ROOT, "build/check/shell", board, "none.kev")
    os.makedirs(os.path.dirname(capture), exist_ok=True)
    pid, status = os.fork(), None
    if pid == 0:
        os.setsid()
        os.close(master)
        os.dup2(slave, 0)
        os.dup2(slave, 1)
        os.dup2(slave, 2)
        import fcntl
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        os.execv(KYMO, kymo_run(board, "--capture", capture))
    try:
        read_until(master, r"(?s)\^\] ends the emulator.*\$ $")
        os.write(master, b"gone\x03")
        read_until(master, r"\^C\r*\n\$ $")
        os.write(master, b"alive\n")
        read_until(master, r"alive: no such program")
        os.write(master, b"\x1d")
        until = time.monotonic() + PATIENCE
        while status is None and time.monotonic() < until:
            if select.select([master], [], [], 0.1)[0]:
                os.read(master, 65536)
            ended, code = os.waitpid(pid, os.WNOHANG)
            status = code if ended else None
    finally:
        if status is None:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
    expect(os.waitstatus_to_exitcode(status) == 130, f"status {status}")
    expect(termios.tcgetattr(slave) == before, "the terminal's modes have changed")
    os.close(master)
    os.close(slave)


TESTS = [a_line_typed_before_the_boot, a_thousand_bytes_typed_before_the_boot,
         more_than_the_console_keeps, each_key_typed_while_it_boots, programs_and_what_is_none,
         lines_are_edited, interrupt_ends_the_program_and_its_children,
         all_of_it_while_the_demo_runs, the_disk_driver_from_the_page, a_pipe_into_kymo_run,
         a_terminal_at_kymo_run]


def main():
    board, wanted = sys.argv[1], sys.argv[2:]
    tests = [t for t in TESTS if board == "virt-a64" or t is not the_disk_driver_from_the_page]
    return guest.run_tests(tests, wanted, lambda test: test(board))


if __name__ == "__main__":
    sys.exit(main())
