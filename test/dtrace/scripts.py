#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The ready scripts of host/scripts, and every provider's arguments, on a booted board.

scripts.py [--jobs N] [--samples] BOARD

Boots the image `scripts`, that is `work`, the demo workload over and over, with inversions that
nothing cures (test/board/programs/uncured.c), and runs over its link, several at once:
every script for a second (status 0, nothing on stderr, its headings and figures on stdout), every
program of provider_rows.py, whose probes must fire with the arguments that the workload gives them,
the list of probes, which must be the one of docs/reference/providers.md, and every function probe
at once: whatever is entered returns. --samples writes what the
scripts print into host/scripts/NAME.txt. The last line is `N passed, N failed`.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "test/tool")]
import emulator  # noqa: E402
import patience  # noqa: E402
import provider_rows  # noqa: E402
import sample  # noqa: E402

LINES = {
    "virt-a64": ["-device", "virtio-serial-device",
                 "-device", "virtserialport,chardev=link,name=kymo.link"],
    "mps2-an386": ["-serial", "chardev:link"],
    "pc": ["-serial", "chardev:link"],
}
# A host that reads late loses records and says how many.
DROPS = re.compile(r"(?m)^dtrace: (\d+ (aggregation )?drops? on CPU \d+|"
                   r"(?P<size>bufsize|aggsize) is \w+: -x (?P=size)=\w+ drops less)\n")
SLOW = patience.seconds(120)  # a hang detector
# What a script's output has whatever the workload does, beside a figure.
HEADINGS = {
    "errors": r"^of \d+ calls$", "interrupts": r"ns until what it woke was ready",
    "inversion": r"^BY +RAISED", "locks": r"^PROGRAM +LOCK +WAITED",
    "msglatency": r"us from send to reply",
    "offcpu": r"^PROGRAM +STATE", "plockstat": r"^Mutex block$",
    "stacks": r"^ +\w+`\w+(\+0x\w+)?$", "whoruns": r"^PROGRAM +CPU",
}


# Scripts that look into a program by the provider pid: their arguments, and what they must show of
# this one, whose 400 steps are known (test/board/programs/controller.c).
CONTROLLER = "[heap=256k] controller"
KEPT = {"mps2-an386": "4800"}  # bytes of controller's blocks, with pointers of 32 bits
OF_PROGRAMS = {
    "follow": (["step"], [r"^ +\d+ +-> step +U$",
                          r"-> ClockTime +U\n(.*\n)*.*-> ker_clock_time +K$",
                          r"-> keep +U\n(.*\n)*.*-> snprintf +U$",
                          r"^ +\d+ +\| step:return +U$"]),
    "heap": ([], [r"^ +MS +TAKEN +IN USE$", r"^ +end +[1-9]\d* +KEPT$",
                  r"^controller`keep +KEPT$", r"^controller`read_input +0$"]),
    "malloc": ([], [r"^controller`keep\n.*\n(.*\n)? +32 .* 100 *$", r"^of 500 calls$",
                    r"^ +controller`keep\+.*\n +controller`step\+.*\n +controller`main\+"]),
    "slowloop": (["step"], [r"^ +PASS +US +OFF CPU", r"^mean of 400 passes: [1-9]\d* us$",
                            r"^ +\d+ +[1-9]\d* +\d+  \S+$"]),
}


class Board:
    def __init__(self, name, image="test-images/scripts", test="d-scripts"):
        # Relative, for a socket's path is short; all run in ROOT.
        self.name, self.image, self.dir = name, image, f"build/check/{test}.{name}"
        self.spec = f"unix:{self.dir}/link"
        self.qemu = None

    def __enter__(self):
        os.makedirs(self.dir, exist_ok=True)
        for name in ("link", "console.txt"):
            if os.path.exists(f"{self.dir}/{name}"):
                os.unlink(f"{self.dir}/{name}")
        with open(f"build/{self.name}/qemu.args", encoding="utf-8") as f:
            command = f.read().split() + emulator.cpu_arguments()
        command += ["-chardev", f"socket,id=link,path={self.dir}/link,server=on,wait=off"]
        command += LINES[self.name] + ["-kernel", f"build/{self.name}/{self.image}.elf"]
        with open(f"{self.dir}/console.txt", "wb") as console:
            self.qemu = emulator.begin(command, stdin=subprocess.DEVNULL, stdout=console,
                                       stderr=subprocess.STDOUT)
        until = time.monotonic() + SLOW
        while self.kymo("link").returncode and time.monotonic() < until:
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self.qemu.kill()
        self.qemu.wait()

    def dtrace(self, *words):
        """A machine under load starves the consumer until the deadman ends it: then once more."""
        for _ in range(3):
            status, out, err = self.dtrace_once(*words)
            if "systemic unresponsiveness" not in err:
                break
        return status, out, err

    def kymo(self, verb, *words):
        return subprocess.run(["build/kymo", verb, "-t", self.spec, *words],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SLOW,
                              encoding="utf-8", errors="replace")

    def dtrace_once(self, *words):
        try:
            done = self.kymo("dtrace", *words)
        except subprocess.TimeoutExpired:
            return None, "", f"still running after {SLOW} s"
        return done.returncode, done.stdout, done.stderr


def has_pid(board):
    return " pid" in board.dtrace("-ln", "pid:linkd:main:entry")[1]


def gone(board, name):
    """Waits until no process of the name runs: a board has few of them, and the demo beside."""
    until = time.monotonic() + SLOW
    while f"no process is called {name}" not in board.dtrace("-ln", f"pid:{name}:main:entry")[2] \
            and time.monotonic() < until:
        time.sleep(0.1)


def of_program(board, path):
    """What is wrong with a script that looks into a program, or None; and what it printed."""
    arguments, wanted = OF_PROGRAMS[os.path.basename(path)[:-2]]
    wanted = [line.replace("KEPT", KEPT.get(board.name, "5600")) for line in wanted]
    if not has_pid(board):
        return None, ""  # this board has no probes of programs
    for _ in range(3):  # records may be dropped
        status, out, err = board.dtrace("-c", CONTROLLER, "-s", path, *arguments)
        gone(board, "controller")
        err = DROPS.sub("", err)
        err = re.sub(r"(?m)^dtrace: (script .* matched \d+ probes|pid \d+ has exited)\n", "", err)
        missing = [p for p in wanted if not re.search(p, out, re.M)]
        if status or err:
            return f"status {status}: {err}", out
        if not missing:
            return None, out
    return f"no {missing}: {out[-2000:]!r}", out


def script(board, path):
    """What is wrong, or None; and what it printed. Nothing happens in some seconds: once more."""
    if os.path.basename(path)[:-2] in OF_PROGRAMS:
        return of_program(board, path)
    error, out = judged(board, path)
    for seconds in ("4", "8"):
        if error and error.startswith("no "):
            error, out = judged(board, path, seconds)
    return error, out


def judged(board, path, *words):
    status, out, err = board.dtrace("-s", path, *words)
    err = DROPS.sub("", err)
    heading = HEADINGS[os.path.basename(path)[:-2]]
    if status != 0:
        return f"status {status}: {err}", out
    if err:
        return f"stderr: {err}", out
    if not re.search(heading, out, re.M):
        return f"no {heading}: {out[:400]!r}", out
    if re.search(r"\blinkd\b", out):
        return f"the consumer is in it: {out[:400]!r}", out
    if not re.search(r"\b[1-9]\d* *$", out, re.M):
        return f"no figure: {out[:400]!r}", out
    return None, out


# What must be in a script's output as well, on this workload.
SHOWN = {
    "errors": [r" ETIMEDOUT +[1-9]"],
    "inversion": [r"^\S+ +inversion +\d+ +11 +13 +[1-9]",
                  r"^uncured +13 STATE_SEM +uncured +11 .* [1-9]\d*$",
                  r"^uncured +13 STATE_REPLY +uncured +10 .* [1-9]\d*$"],
    "locks": [r"^workers, mutex 0x|^inversion, mutex 0x", r"^uncured, semaphore 0x"],
    "plockstat": [r"^(workers|inversion), mutex 0x\w+, +[1-9]\d* times by\n( +\w+`.*\n)*"
                  r" +(workers`workers_thread|inversion`inversion_high_thread)\+",
                  r"^(workers|inversion), mutex 0x\w+: us waited$",
                  r"^(workers|inversion), mutex 0x\w+: us held$"],
    "offcpu": [r"^client +STATE_REPLY", r"^\w+ +STATE_READY"],
}


def shown(board, _):
    """What only some seconds of the workload have: every kind of inversion, of lock, of state."""
    for name, patterns in SHOWN.items():
        for seconds in ("4", "8", "16", "32"):
            status, out, err = board.dtrace("-s", f"host/scripts/{name}.d", seconds)
            missing = [p for p in patterns if not re.search(p, out, re.M)]
            if status or not missing:
                break
        if status or missing:
            return f"{name}.d: status {status}: no {missing}: {err}{out[-2000:]}", out
    return None, ""


def row(board, name):
    text = provider_rows.program(name)
    status, out, err = board.dtrace("-qn", text)
    if status != 0 or out.strip() != "right":
        return f"status {status}: {out}{err}", out
    return None, out


def page():
    """The probes of docs/reference/providers.md and derived.md, profile's left out."""
    found, provider = set(), None
    lines = []
    for name in ("providers", "derived"):
        with open(f"docs/reference/{name}.md", encoding="utf-8") as f:
            lines += f.readlines()
    for line in lines:
        heading = re.match(r"## (\w+)$", line)
        provider = heading.group(1) if heading else provider
        cells = [c.strip().strip("`") for c in line.split("|")[1:-1]]
        if not line.startswith("| ") or "---" in line or cells[0] in ("function", "probe"):
            continue
        if cells[0] == "" and (provider in ("syscall", "dtrace") or cells[1] == ""):
            continue  # a row that continues the one above it
        if provider == "syscall":
            found |= {(provider, cells[0], "entry"), (provider, cells[0], "return")}
        elif provider == "dtrace":
            found.add((provider, "", cells[0]))
        elif provider not in ("profile", "fbt"):
            found.add((provider, cells[0], cells[1]))
    return found


def listing(board, _):
    status, out, err = board.dtrace("-l")
    found = set()
    for line in out.splitlines()[1:]:
        words = line.split()
        # ID PROVIDER MODULE FUNCTION NAME, of which MODULE and FUNCTION may be empty.
        # kymo and io are static probes of programs: test/board/sysprobes.py, ioprobes.py.
        if not re.match(r"(profile|cpc|fbt|kymo|io|pid\d+)$", words[1]):
            found.add((words[1], words[3] if len(words) == 5 else "", words[-1]))
    if status != 0 or err:
        return f"status {status}: {err}", out
    wrong = found ^ page()
    return f"on the board or on the page only: {sorted(wrong)}" if wrong else None, out


BALANCE = """
    fbt::%s:entry { @e[probefunc] = count(); }
    fbt::%s:return { @r[probefunc] = count(); @t = sum(arg2); }
    tick-2s { exit(0); }
    END { printa("%%s %%@d %%@d\\n", @e, @r); printa("%%@d\\n", @t); }"""
# A PC's function probes are breakpoints, which all of its CPUs hit while they wait for one lock. If
# all are on, its link's process, which is served an interrupt for each 16 bytes, answers no host
# for seconds: so there they are looked at a part after the other.
FUNCTIONS = {"pc": ("[a-j]*", "k*", "[l-r]*", "[s-z]*")}


def balance(board, _):
    """Entries and returns of each function that has both differ by what was under way, on each
    CPU, when they were enabled and disabled. Some return by a tail call, arg2 says, not all."""
    # While it runs, each byte of the link passes dozens of probes: what they count is read once,
    # when they are off.
    rows, tails, text = [], 0, ""
    for some in FUNCTIONS.get(board.name, ("",)):
        status, out, err = board.dtrace("-qx", "strsize=40", "-x", "aggsize=64k", "-x",
                                        "aggrate=60s", "-x", "switchrate=60s", "-n",
                                        BALANCE % (some, some))
        text += out
        if status != 0 or err:
            return f"{some} status {status}: {err}", text
        lines = [line.split() for line in out.splitlines() if line]
        rows += [(words[0], int(words[1]), int(words[2])) for words in lines if len(words) == 3]
        tails += int(lines[-1][0])
    both = [r for r in rows if r[1] and r[2]]
    wrong = [r for r in both if abs(r[1] - r[2]) > 8]
    returns = sum(r[2] for r in rows)
    if wrong or len(both) < 80 or not 0 < tails < returns:
        return f"{len(both)} functions, {returns} returns, {tails} by tail calls: {wrong}", text
    return None, text


# A thread's call that had not run its handler when the thread calls again was missed. Nothing else
# is enabled: the events of a message would switch its fast path off.
MESSAGES = """
    self int call;
    syscall:::entry /self->call > 0/ { @missed = count(); }
    syscall::msg_sendv:entry { self->call = 1; @calls = count(); }
    syscall::msg_receivev:entry { self->call = 1; @calls = count(); }
    syscall::msg_replyv:entry { self->call = 1; @calls = count(); }
    fbt::ker_msg_sendv:entry, fbt::ker_msg_receivev:entry, fbt::ker_msg_replyv:entry
    { self->call = -1; }
    tick-2s { exit(0); }
    END { printa("calls %@d\\n", @calls); printa("missed %@d\\n", @missed); }"""


def messages(board, _):
    """Each message of the demo runs the functions that fbt probes."""
    status, out, err = board.dtrace("-qn", MESSAGES)
    if status != 0 or err or not re.fullmatch(r"\n?calls [1-9]\d*\n+", out):
        return f"status {status}: {err}{out}", out
    return None, out


def stopping(board, _):
    """A board can't stop a process, and says so."""
    status, out, err = board.dtrace("-wn", "BEGIN { stop(); }")
    if status != 1 or "stop(): this target can't stop a process" not in err:
        return f"status {status}: {err}", out
    return None, out


def types(board, _):
    """A function probe's arguments have the function's types; several functions have none."""
    want = ["struct thread *", "unsigned int", "size_t", "struct thread *",
            "unsigned int", "int", "long"]
    status, out, err = board.dtrace("-lvn", "fbt::msg_copy:")
    found = re.findall(r"^\s+args\[\d\]: (.*)$", out, re.M)
    if status != 0 or err or found != want:
        return f"status {status}: {err}{found}", out
    for text, tag in (("fbt::msg_copy:entry { trace(args[5]); }", "D_ARGS_IDX"),
                      ("fbt::msg_copy: { trace(args[0]); }", "D_ARGS_MULTI"),
                      ("fbt::ker_*:entry { trace(args[0]); }", "D_ARGS_MULTI"),
                      ("sched:::wakeup,sched:::o*-cpu { trace(args[0]); }", "D_ARGS_MULTI"),
                      ("sched:::off-cpu,sched:::on-cpu { trace(args[0]->pr_pri); }", "D_OP_SOU")):
        status, _, err = board.dtrace("-x", "errtags", "-en", text)
        if status != 1 or f"[{tag}]" not in err:
            return f"{text}: status {status}: {err}", out
    for text in ("sched:::wakeup,sched:::off-cpu { @[args[1]->pr_fname] = count(); }",
                 "fbt::msg_copy:entry,fbt::msg_copy:return /args[0]/ { trace(args[1]); }"):
        status, out, err = board.dtrace("-n", text, "-n", "tick-100ms { exit(0); }")
        if status or "matched 2 probes" not in err:
            return f"{text}: status {status}: {out}{err}", out
    return None, out


# What people type for the probe that they mean; and QNX's names of kernel calls.
MEANT = {
    "sched:::oncpu": "sched:::on-cpu", "syscal::msg_sendv:entry": "syscall::msg_sendv:entry",
    "syscall::msg_sendw:entry": "syscall::msg_sendv:entry", "msg:::recieve": "msg:::receive",
    "syscall::msg_sendv:enter": "syscall::msg_sendv:entry", "procc:::creat": "proc:::create",
    "oncpu": ":::on-cpu", "syscall::MsgSned:entry": None, "syscall::Msg*:start": None,
    "syscall::*send:entry": None, "syscall::*Frob*:entry": None,
}
CALLS = {
    "syscall::MsgSend:entry": "msg_sendv", "syscall::MsgSendv_r:entry": "msg_sendv",
    "syscall::MsgSendnc:entry": "msg_sendvnc", "MsgSendPulse:entry": "msg_send_pulse",
    "syscall::InterruptAttachEvent:": "interrupt_attach",
    "syscall::TraceEvent:return": "trace_event",
    "syscall::MsgRe*:entry": "msg_readv msg_receivepulsev msg_receivev msg_replyv",
    "syscall::MsgSend:entry,syscall::MsgReply:entry,syscall::name_attach:entry":
        "msg_replyv msg_sendv name_attach",
    "syscall::*Msg*:return": "msg_current msg_deliver_event msg_error msg_info msg_readv "
                             "msg_receivepulsev msg_receivev msg_replyv msg_send_pulse msg_sendv "
                             "msg_sendvnc msg_writev",
    "syscall::*Send:entry": "msg_sendv", "syscall::Msg?end:entry": "msg_sendv",
    "syscall::*Sendnc:entry": "msg_sendvnc",
    "syscall::[MS]*Pulse:": "msg_receivepulsev msg_send_pulse",
    "syscall::*Event:entry": "interrupt_attach msg_deliver_event trace_event",
    "syscall::*eControl:entry": "dtrace", "syscall::?sgSend:entry": "msg_sendv",
    "s*l::TimerSettime:entry": "timer_settime", "syscall::DtraceControl:entry": "dtrace",
}


def names(board, _):
    for text, meant in MEANT.items():
        status, _, err = board.dtrace("-en", text)
        asked = re.findall(r"did you mean (\S+)\?", err)
        if status != 1 or "does not match any probes" not in err or \
                asked != ([meant] if meant else []):
            return f"{text}: status {status}: {err}", err
    for text, calls in CALLS.items():
        status, out, err = board.dtrace("-ln", text)
        found = sorted({line.split()[-2] for line in out.splitlines()[1:]})
        if status or err or found != calls.split():
            return f"{text}: status {status}: {found} {err}", out
    return None, ""


def consumer(board, _):
    """$pid is the board's linkd, which every ready script leaves out."""
    status, out, err = board.dtrace("-qn", """
        BEGIN { mine = $pid; }
        syscall::dtrace:entry { calls++; }
        syscall::dtrace:entry /pid != $pid || execname != "linkd"/ { wrong = pid; }
        tick-300ms /calls > 2/ { printf("%d %d %d", wrong, mine == $pid, $pid > 1); exit(0); }""")
    if status or err or out.strip() != "0 1 1":
        return f"status {status}: {out}{err}", out
    return None, out


MANY = """
    int n;
    syscall:::entry /n < 400/ { @[n] = count(); a[n, tid] = n; n++; }
    tick-100ms /n == 400/ { exit(0); }
    END { printf("%d\\n", n); trunc(@); }"""


def defaults(board, _):
    """They follow the memory that there is: 400 keys fit everywhere, with none of them lowered."""
    status, out, err = board.dtrace("-n", MANY)
    if status or re.search(r"drop|lowered", err) or not re.search(r"\b400$", out, re.M):
        return f"status {status}: {out[-300:]}{err}", out
    status, out, err = board.dtrace("-lvn", "dtrace:::BEGIN")
    sizes = re.search(r"^Defaults: bufsize (\d+)k, aggsize (\d+)k, .*dynvarsize (\d+)k", out, re.M)
    least = [64, 128, 128] if board.name == "mps2-an386" else [256, 256, 256]
    if status or not sizes or [int(n) for n in sizes.groups()] != least:
        return f"status {status}: {out[:300]}{err}", out
    if not re.search(r"^Samples of profile: the kernel and programs, by an interrupt", out, re.M):
        return f"no word of how profile samples: {out[:300]}", out
    return None, out


def one_cpu(board, _):
    """-x cpu=N: tick comes on that CPU, so that a script ends; what isn't there is refused."""
    cpus = 1 if board.name == "mps2-an386" else 4
    text = """tick-10ms { @[cpu] = count(); } profile-97 { @[cpu] = count(); }
              tick-300ms { exit(0); }"""
    for n in range(cpus):
        status, out, err = board.dtrace("-x", f"cpu={n}", "-qn", text)
        if status or err or not re.fullmatch(rf"\s*{n} +[1-9]\d*\s*", out):
            return f"cpu={n}: status {status}: {out}{err}", out
    status, out, err = board.dtrace("-x", f"cpu={cpus}", "-qn", text)
    if status != 1 or f"There is no such CPU: the last one is CPU {cpus - 1}\n" not in err:
        return f"cpu={cpus}: status {status}: {out}{err}", out
    return None, out


FAULTS = """
    proc:::fault { ustack(2); usym(args[4]); umod(args[4]); @[ustack(2), usym(args[4])] = count();
                   died = args[0]; }
    proc:::exit /died && args[0] == died/ { gone++; died = 0; }
    tick-100ms /gone/ { waited++; }
    tick-100ms /waited == 20/ { exit(0); }"""


def symbols(board, _):
    """Names of a program that has ended: in records, and in keys that are printed much later."""
    status, out, err = board.dtrace("-qn", FAULTS)
    named = re.findall(r"crash`\w+(?:\+0x\w+)?", out)
    if status or err or len(named) < 4 or re.search(r"^\s+0x[0-9a-f]+\s*$", out, re.M) or \
            not re.search(r"^\s+crash`.*\n(.*\n)*\s+crash`.* +\d+$", out, re.M):
        return f"status {status}: {out}{err}", out
    return None, out


def main():
    parser = argparse.ArgumentParser(description="the ready scripts and the providers on a board")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--samples", action="store_true", help="write host/scripts/NAME.txt")
    parser.add_argument("board", choices=sorted(LINES))
    options = parser.parse_args()
    os.chdir(ROOT)
    scripts = sorted(glob.glob("host/scripts/*.d"))
    # All functions of the kernel at once leave little of a PC's time to other consumers.
    alone = [(script, path) for path in scripts if path.endswith("/follow.d")]
    work = [(script, path) for path in scripts if (script, path) not in alone]
    if not options.samples:
        work += [(row, name) for name in provider_rows.ROWS]
        work += [(listing, "docs/reference/providers.md"), (types, "types of fbt"),
                 (names, "names that people type"), (consumer, "the consumer's pid"),
                 (symbols, "names of a program that has ended"),
                 (shown, "what the scripts show"),
                 (defaults, "sizes by default"), (one_cpu, "-x cpu=N")]
        work.append((stopping, "stop()"))
        alone += [(balance, "entry and return of fbt"), (messages, "each message in fbt")]
    if not options.samples:
        taken = sample.of(work), sample.of(alone)
        sample.tell(work + alone, [*taken[0], *taken[1]])
        work, alone = taken
    failed, everything = 0, len(work) + len(alone)
    with Board(options.board) as board:
        os.environ["XDG_RUNTIME_DIR"] = board.dir  # a link's broker of its own
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            done = list(pool.map(lambda job: (job[1], *job[0](board, job[1])), work))
            done += [(name, *test(board, name)) for test, name in alone]
            for name, error, out in done:
                if error:
                    print(f"FAIL {options.board} {name}: {error}", flush=True)
                    failed += 1
                elif options.samples:
                    with open(name[:-2] + ".txt", "w", encoding="utf-8") as f:
                        f.write(out.strip("\n") + "\n")
        if board.qemu.poll() is not None:
            print(f"FAIL {options.board}: the board has ended, see {board.dir}/console.txt")
            failed += 1
    for path in scripts:
        if not os.path.exists(path[:-2] + ".txt"):
            print(f"FAIL {path}: no sample of its output beside it")
            failed += 1
    print(f"{everything - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
