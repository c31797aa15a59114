#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""D after the fact: kymo dtrace -r FILE with a program. check.py [SEED]

Random captures of 1 and 8 CPUs, fast and wide, with losses, against a model (fabricate.py); the
committed captures against what kymo print says of them; what is refused, and how; damaged, empty
and filtered captures; memory. The last line is `N passed, N failed`.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "test/host/fabricate"), os.path.join(ROOT, "test/tool")]
import temporary  # noqa: E402,F401
import fabricate  # noqa: E402

KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))
GOLDEN = os.path.join(ROOT, "test/host/golden")
CAPTURES = [f"{GOLDEN}/{b}.kev" for b in ("virt-a64", "mps2-an386")] + [
    f"{GOLDEN}/old/{n}-{b}.kev" for n in (1, 2, 3, 4) for b in ("virt-a64", "mps2-an386")]

# Each prints lines of the words of a key of World.says, and the number.
MODEL = r"""
sdt::: { @a["sdt", probename] = count(); @b["sum", probename] = sum((uint32_t)arg0); }
sched:::on-cpu { @c["on", pid, tid, cpu, execname] = count(); self->on = timestamp; }
sched:::off-cpu { @d["off", pid, tid, arg3, arg4] = count(); }
sched:::off-cpu /self->on/ { @e["ran", pid, tid] = sum(timestamp - self->on); self->on = 0; }
sched:::wakeup { @f["wakeup", arg0, arg1, arg3] = count(); }
sched:::sleep { @g["sleep", arg0, arg1, arg3] = count(); }
sched:::preempt { @h["preempt", pid, tid] = count(); }
msg:::send { @i["send", pid, tid, arg1] = count(); }
syscall::msg_sendv:entry { @j["entry", pid, tid, arg0] = count(); }
syscall:::return { @k["return", pid, tid, errno] = count(); }
user:::simple { @l["simple", arg0] = sum((uint64_t)(uint32_t)arg1 + (uint32_t)arg2); }
user:::string { @m["string", arg0, args[1]] = count(); }
proc:::create { @n["create", arg0, arg1] = count(); }
END
{
    printa("%s|%s|%@u\n", @a); printa("%s|%s|%@u\n", @b); printa("%s|%u|%u|%u|%s|%@u\n", @c);
    printa("%s|%u|%u|%u|%u|%@u\n", @d); printa("%s|%u|%u|%@u\n", @e);
    printa("%s|%u|%u|%u|%@u\n", @f); printa("%s|%u|%u|%u|%@u\n", @g);
    printa("%s|%u|%u|%@u\n", @h); printa("%s|%u|%u|%u|%@u\n", @i);
    printa("%s|%u|%u|%u|%@u\n", @j); printa("%s|%u|%u|%d|%@u\n", @k); printa("%s|%u|%@u\n", @l);
    printa("%s|%u|%s|%@u\n", @m); printa("%s|%u|%u|%@u\n", @n);
}
"""


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def dtrace(capture, *words, kymo=KYMO):
    return subprocess.run([kymo, "dtrace", "-r", capture, *words], text=True, errors="replace",
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)


def told(done):
    return f"status {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}"


def differing(got, want):
    return {k: (got.get(k), want.get(k)) for k in {*got, *want} if got.get(k) != want.get(k)}


def lines_of(done):
    said = {}
    for line in done.stdout.splitlines():
        if line:
            *key, number = line.split("|")
            said["|".join(key).rstrip()] = int(number)
    return said


# ---- against the model ---------------------------------------------------------------------------

def model(rng, cpus, wide, losses, marked=True):
    world = fabricate.World(rng, cpus, wide, losses, marked)
    world.go(1500)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "random.kev")
        world.capture.write(path)
        done = dtrace(path, "-qn", MODEL)
    said = lines_of(done)
    wanted = {"|".join(map(str, key)).rstrip(): n for key, n in world.says.items()}
    wrong = {k: (said.get(k), wanted.get(k)) for k in {*said, *wanted}
             if said.get(k) != wanted.get(k)}
    expect(not wrong, f"{len(wrong)} of {len(wanted)}: (said, wanted): {sorted(wrong.items())[:12]}"
                      f" {told(done)[:300]}")
    return world, done


def random_captures_are_as_their_model(rng):
    for cpus in (1, 8):
        for wide in (False, True):
            _, done = model(rng, cpus, wide, losses=False, marked=wide != (cpus == 1))
            expect(done.returncode == 0, told(done))


def losses_are_reported_and_states_learnt_again(rng):
    for cpus in (1, 8):
        world, done = model(rng, cpus, wide=False, losses=True, marked=cpus == 8)
        expect(done.returncode == 1, told(done))
        if world.lost:
            expect(f"{world.lost} events of class PR_TH were lost" in done.stderr, told(done))


def only_losses_that_matter_are_said(rng):
    world = fabricate.World(rng, 1, wide=False)
    world.go(50)
    world.event(0, fabricate.CONTROL, 8, [1 << 8 | fabricate.COMM, 5])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lost.kev")
        world.capture.write(path)
        done = dtrace(path, "-qn", "sched:::on-cpu { @[pid] = count(); } BEGIN { trace(pid); }")
        expect(done.returncode == 0 and not done.stderr, told(done))
        done = dtrace(path, "-qn", "msg:::send { @ = count(); }")
        expect(done.returncode == 1 and "5 events of class COMM were lost" in done.stderr,
               told(done))


# ---- against kymo print --------------------------------------------------------------------------

def printed(path):
    done = subprocess.run([KYMO, "print", "--json", path], text=True, capture_output=True,
                          check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def events_of_the_table():
    """(class, number) to the name in events.def."""
    with open(os.path.join(ROOT, "trace/events.def"), encoding="utf-8") as f:
        return {(m[2], int(m[3])): m[1] for m in re.finditer(
            r"^EVENT(?:_STATE|_DUMPED)?\((\w+), *(\w+), *(\d+),", f.read(), re.M)}


def counts_are_those_that_print_has(_rng):
    internal = {"PROCESS": "PR_TH", "THREAD": "PR_TH", "INT": "INT"}
    table = events_of_the_table()
    for path in CAPTURES:
        wanted, calls = collections.Counter(), collections.Counter()
        for e in printed(path):
            name = table.get((internal.get(e["class"], e["class"]), e["number"]))
            wanted[name] += name is not None and not e["dump"]
            kind = {"KER_CALL": "entry", "KER_EXIT": "return"}.get(e["class"])
            calls[e["event"].split("/")[0].lower(), kind] += kind is not None
        done = dtrace(path, "-qn", 'sdt::: { @[probename] = count(); } '
                                   'END { printa("%s|%@d\\n", @); }')
        expect(lines_of(done) == {k: n for k, n in wanted.items() if n}, f"{path}: {told(done)}")
        done = dtrace(path, "-qn", 'syscall::: { @[probefunc, probename] = count(); } '
                                   'END { printa("%s|%s|%@d\\n", @); }')
        expect(lines_of(done) == {f"{k[0]}|{k[1]}": n for k, n in calls.items() if n},
               f"{path}: {told(done)}")


def timestamps_are_the_events_stamps(_rng):
    for path in CAPTURES:
        hz = int(re.search(rb"CYCLES_PER_SEC::(\d+)", open(path, "rb").read(4096))[1])
        wanted = [int(e["cycles"], 16) * 10**9 // hz for e in printed(path)
                  if e["event"] == "SND_MESSAGE"]
        done = dtrace(path, "-qn", 'msg:::send { printf("%d\\n", timestamp); }')
        expect([int(t) for t in done.stdout.split()] == wanted, f"{path}: {told(done)}")


# ---- scripts -------------------------------------------------------------------------------------

def scripts_print_as_ever(_rng):
    """The scripts of host/scripts that a capture has events for, on the golden captures."""
    for board in ("virt-a64", "mps2-an386"):
        text = ""
        for name in ("errors", "msglatency", "offcpu", "whoruns"):
            done = dtrace(f"{GOLDEN}/{board}.kev", "-s", f"host/scripts/{name}.d")
            expect(done.returncode == 0, told(done))
            text += f"=== {name}.d\n{done.stdout}"
        golden = os.path.join(HERE, f"{board}.txt")
        if "--update" in sys.argv:
            with open(golden, "w", encoding="utf-8") as f:
                f.write(text)
        with open(golden, encoding="utf-8") as f:
            expect(f.read() == text, f"{board}: {text}")


# ---- what is refused -----------------------------------------------------------------------------

A64 = f"{GOLDEN}/virt-a64.kev"
CONTROL_CLASS = fabricate.CONTROL
REFUSED = [  # words, what stderr says
    (["-n", "fbt:::entry"], "fbt: functions of the kernel are no events: trace live"),
    (["-n", "pid7::main:entry"], "pid: functions of programs are no events: trace live"),
    (["-n", "profile-97"], "profile-97 is left out: where a CPU was is no event"),
    (["-n", "proc:::fault"], "proc:kernel::fault is left out: no event of the log has it"),
    (["-n", "intr:::return"], "intr:kernel::return is left out: no event of the log has it"),
    (["-n", "sched:::on-cpu { trace(vtimestamp); }"], "vtimestamp is in no event"),
    (["-n", "sched:::on-cpu { trace(walltimestamp); }"], "walltimestamp is in no event"),
    (["-n", "sched:::on-cpu { trace(curthread); }"], "curthread is in no event"),
    (["-n", "intr:::entry { trace(ipl); }"], "ipl is in no event"),
    (["-n", "sched:::on-cpu { stack(); }"], r"stack\(\) is in no event"),
    (["-n", "msg:::send { trace(copyinstr(arg0)); }"], "memory of a process is in no event"),
    (["-n", "sched:::wakeup { trace(args[0]->pr_wchan); }"], "pr_wchan is in no event"),
    (["-n", "sched:::on-cpu { trace(errno); }"], "errno is known where a call returns"),
    (["-n", "syscall::msg_sendv:entry { trace(arg1); }"],
     "arg1 of syscall:msg_sendv:entry is in no event"),
    (["-n", "user:::combine { trace(arg2); }"], "arg2 of user:combine is in no event"),
    (["-wn", "BEGIN { raise(1); }"], "a destructive action can't change what is over"),
    (["-n", "BEGIN { logstop(); }"], r"logstop\(\) can't stop what is over"),
    (["-c", "ls", "-n", "BEGIN"], "-r: -c is not available"),
    (["-p", "1", "-n", "BEGIN"], "-r: -p is not available"),
    (["-t", "self", "-n", "BEGIN"], "-r: -t is not available"),
    (["-x", "log=1", "-n", "BEGIN"], "this target has no event log"),
]


def what_no_event_has_is_refused_by_name(_rng):
    for words, says in REFUSED:
        done = dtrace(A64, *words)
        expect(done.returncode in (1, 2) and re.search(says, done.stderr), f"{words} {told(done)}")


def fast_captures_name_the_form_to_record(rng):
    world = fabricate.World(rng, 1, wide=False)
    world.go(100)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fast.kev")
        world.capture.write(path)
        for script, what in (("sched:::on-cpu { trace(arg2); }", "arg2 of sched:on-cpu"),
                             ("sched:::wakeup { trace(args[0]->pr_pri); }", "pr_pri"),
                             ("syscall::msg_sendv:entry { trace(arg2); }",
                              "arg2 of syscall:msg_sendv:entry")):
            done = dtrace(path, "-n", script)
            expect(done.returncode == 1 and
                   f"{what} isn't in fast events: record with tracelogger -w" in done.stderr,
                   told(done))
            twice = dtrace(path, "-n", f"{script} {script}")
            expect(twice.stderr == done.stderr, f"two clauses, two messages: {told(twice)}")


def what_several_clauses_lack_is_said_once(_rng):
    one = "sched:::on-cpu { trace(curthread); trace(vtimestamp); }"
    want = [f"dtrace: sched:::on-cpu: {name} is in no event of the log: trace live"
            for name in ("curthread", "vtimestamp")]
    other = "sched:::off-cpu { trace(curthread); }"
    for script in one, 2 * one, one + other + one, other + 3 * one:
        said = dtrace(A64, "-n", script).stderr.splitlines()
        expect([line for line in said if "on-cpu" in line] == want, f"{script}: {said}")
    # What is only counted is counted once, too.
    names = ["".join("?" if n >> i & 1 else c for i, c in enumerate("on-cpu")) for n in range(13)]
    many = "".join(f"sched:::{name} {{ trace(curthread); trace(caller); }}" for name in names)
    for script in many, 2 * many:
        said = dtrace(A64, "-n", script).stderr.splitlines()
        expect(len(said) >= 21 and "dtrace: and 6 more" in said, f"{script}: {said}")


def unknown_forms_are_decided_by_each_event(rng):
    """Of retained memory and of programs the capture doesn't say which form was on."""
    world = fabricate.World(rng, 1, wide=False)
    world.capture.data[0] = fabricate.head(1, "form set by applications", "set by applications")
    world.go(200)
    switches = sum(n for key, n in world.says.items() if key[0] == "on")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "unknown.kev")
        world.capture.write(path)
        done = dtrace(path, "-qn", "sched:::on-cpu { @ = count(); }")
        expect(done.returncode == 0 and int(done.stdout) == switches, told(done))
        done = dtrace(path, "-qn", "sched:::on-cpu { @ = sum(arg2); }")
        expect(done.returncode == 1 and "lack an argument" in done.stderr, told(done))


def filtered_captures_refuse_what_was_off(_rng):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "filtered.kev")
        for about, script, says in (
                ({"classes": "all classes without COMM"}, "msg:::send",
                 "recorded without class COMM: record with it"),
                ({"classes": "all classes without KERCALL THREAD"}, "syscall:::entry",
                 "recorded without class KERCALL"),
                ({"classes": "all classes without THREAD"}, "msg:::send { trace(execname); }",
                 "the current thread is unknown: the capture was recorded without class THREAD"),
                ({"gate": "slow.dif"}, "msg:::send { trace(pid); }",
                 "the current thread is unknown: tracelogger -x")):
            with open(path, "wb") as f:
                f.write(fabricate.head(1, form="wide", **about))
            done = dtrace(path, "-n", script)
            expect(done.returncode == 1 and says in done.stderr, told(done))


# ---- probes whose events are those of others -----------------------------------------------------

RECEIVEV, READV, WRITEV, EXIT = 14, 16, 17, 128
SYSTEM, FUNC_ENTER, FUNC_EXIT = 5, 10, 11


def messages_are_received_read_and_written_in_the_servers_calls(rng):
    """Random calls of servers on both CPUs, with losses of the events that they depend on."""
    capture = fabricate.Capture(2, form="fast")
    time, want, lacks = 1000, collections.Counter(), 0
    clients, current = {}, [None, None]

    def put(cpu, slot_class, number, words):
        nonlocal time
        time += rng.randrange(2, 50)
        capture.put(cpu, slot_class, number, time, words)

    for pid in range(2, 8):
        put(0, fabricate.PR_TH, 192, [1, pid] + fabricate.text_words(f"p{pid}"))
    for _ in range(600):
        cpu = rng.randrange(2)
        if rng.random() < 0.4 or not current[cpu]:
            other = current[1 - cpu]
            pid = rng.choice([p for p in range(2, 8) if p != other])
            put(cpu, fabricate.PR_TH, fabricate.RUNNING, [pid, 1])
            current[cpu] = pid
        pid = current[cpu]
        if rng.random() < 0.3:
            rcvid = rng.randrange(1, 9) << 13 | pid  # the index is one of the client's
            put(cpu, fabricate.COMM, 0, [rcvid, 9])
            clients[pid] = rcvid
            continue
        slot = rng.randrange(2, 8)
        rcvid = clients.get(slot, 3 << 13 | slot)
        client = slot if slot in clients else None
        if rng.random() < 0.1:  # of an earlier thread with that index
            rcvid, client = rcvid + (64 << 13), None
        call = rng.choice([RECEIVEV, READV, WRITEV])
        result, error = rng.choice([(rcvid if call == RECEIVEV else rng.randrange(100), 0),
                                    (-1, 3), (0, 0)])
        put(cpu, fabricate.KER_CALL, call, [rcvid if call != RECEIVEV else 1, 0])
        lost = rng.random() < 0.1
        if lost:
            put(cpu, CONTROL_CLASS, 8, [1 << 8 | fabricate.KER_CALL, 1])
        put(cpu, fabricate.KER_CALL, call | EXIT, [result, error])
        if result < 0 or (call == RECEIVEV and result == 0):
            continue
        if client is None or (lost and call != RECEIVEV):
            lacks += 1
            continue
        name = {RECEIVEV: "receive", READV: "read", WRITEV: "write"}[call]
        want[f"{name}|{pid}|{rcvid}|{client}"] += 1 if call == RECEIVEV else result + 1
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "messages.kev")
        capture.write(path)
        done = dtrace(path, "-qn", """
            msg:::receive { @[probename, pid, arg0, arg1] = sum(1); }
            msg:::read, msg:::write { @[probename, pid, arg0, arg1] = sum(arg2 + 1); }
            END { printa("%s|%d|%d|%d|%@d\\n", @); }""")
    got = lines_of(done)
    expect(got == want, f"{differing(got, want)} {told(done)[:200]}")
    found = sum(map(int, re.findall(r"(\d+) events lack an argument.*SND_MESSAGE", done.stderr)))
    expect(found == lacks and done.returncode == 1, f"{lacks} {told(done)}")


def user_stacks_are_those_of_recorded_functions(rng):
    capture = fabricate.Capture(1, form="fast")
    time, stacks, want, running, missed = 1000, {}, collections.Counter(), None, 0
    for _ in range(1500):
        time += rng.randrange(2, 50)
        what = rng.random()
        if what < 0.2 or not running:
            running = rng.choice([(2, 1), (2, 2), (3, 1)])
            capture.put(0, fabricate.PR_TH, fabricate.RUNNING, time, running)
            continue
        stack = stacks.setdefault(running, [])
        if what < 0.55 and len(stack) < 12:
            stack.append((rng.randrange(16, 32) * 256, rng.randrange(1 << 12, 1 << 13)))
            capture.put(0, SYSTEM, FUNC_ENTER, time, stack[-1])
        elif what < 0.8 and stack:
            down = rng.choice([1, 1, 1, len(stack)])  # longjmp() leaves several
            function = stack[-down]
            while down > 1 and any(f[0] == function[0] for f in stack[1 - down:]):
                down, function = 1, stack[-1]  # recursion: the innermost is meant
            capture.put(0, SYSTEM, FUNC_EXIT, time, function)
            del stack[-down:]
        elif what < 0.82:
            capture.put(0, CONTROL_CLASS, 8, time, [1 << 8 | SYSTEM, 1])
            stacks = {}
        else:
            capture.put(0, fabricate.USER, 7, time, [1, 2])
            frames = [stack[-1][0]] + [site for _, site in reversed(stack)] if stack else []
            want[running[0], tuple(frames)] += 1
            missed += not frames
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stacks.kev")
        capture.write(path)
        done = dtrace(path, "-qn", "user:::simple { @[pid, ustack(20)] = count(); } "
                                   'END { printa("=%d %k %@d\\n", @); }')
        got = collections.Counter()
        for one in done.stdout.split("=")[1:]:
            pid, *frames, n = one.split()
            got[int(pid), tuple(int(f, 16) for f in frames)] += int(n)
        expect(got == want, f"{differing(got, want)} {told(done)[:300]}")
        expect(f"{missed} times ustack() found no function" in done.stderr, told(done))
        with open(path, "wb") as f:
            f.write(fabricate.head(1, form="wide", classes="all classes without SYSTEM COMM"))
        for script, says in (("sched:::on-cpu { ustack(); }", "ustack() is unknown"),
                             ("msg:::receive { trace(arg1); }", "recorded without class COMM")):
            done = dtrace(path, "-n", script)
            expect(done.returncode == 1 and says in done.stderr, told(done))
    done = dtrace(A64, "-qn", "sched:::on-cpu { @[ustack()] = count(); }")
    expect(done.returncode == 1 and "-finstrument-functions" in done.stderr, told(done))


# ---- captures of all kinds -----------------------------------------------------------------------

def an_empty_capture_has_a_beginning_and_an_end(_rng):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "empty.kev")
        with open(path, "wb") as f:
            f.write(fabricate.head(8, form="fast"))
        done = dtrace(path, "-qn", 'BEGIN { printf("b"); } END { printf("e"); } '
                                   'tick-1 { exit(9); }')
        expect(done.stdout.strip() == "be" and done.returncode == 0, told(done))


def ticks_come_in_the_captures_time(_rng):
    done = dtrace(A64, "-qn", 'BEGIN { s = timestamp; } tick-500us { printf("%d\\n", '
                              '(timestamp - s) / 1000); } msg:::send { n++; } END { exit(n); }')
    expect(done.stdout.split() == ["500", "1000", "1500", "2000", "2500", "3000"] and
           done.returncode == 29, told(done))


def exit_ends_it_and_gives_the_status(_rng):
    done = dtrace(A64, "-qn", 'msg:::send /++n == 3/ { exit(5); } END { printf("%d", n); }')
    expect(done.stdout.strip() == "3" and done.returncode == 5, told(done))


def small_buffers_lose_nothing(_rng):
    full = dtrace(A64, "-qn", "sdt::: { trace(probename); trace(timestamp); }")
    small = dtrace(A64, "-qx", "bufsize=8k", "-n", "sdt::: { trace(probename); trace(timestamp); }")
    expect(small.stdout == full.stdout and "drop" not in small.stderr, told(small))


def damaged_captures_end_with_a_message(rng):
    kymo = os.path.join(ROOT, "build/kymo-asan")
    kymo = kymo if os.path.exists(kymo) else KYMO
    with open(A64, "rb") as f:
        sound = f.read()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "damaged.kev")
        for i in range(24):
            data = bytearray(sound)
            if i % 2:
                data = data[:rng.randrange(1, len(data))]
            else:
                for _ in range(rng.randrange(1, 20)):
                    data[rng.randrange(len(data))] = rng.randrange(256)
            with open(path, "wb") as f:
                f.write(data)
            done = dtrace(path, "-qn", MODEL, kymo=kymo)
            expect(done.returncode in (0, 1) and "anitizer" not in done.stderr and
                   (done.returncode == 0 or "dtrace:" in done.stderr), f"{i}: {told(done)}")
            expect(i % 2 == 0 or done.returncode == 1, f"cut: {told(done)}")


def memory_does_not_grow_with_the_file(_rng):
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "long.kev")
        for buffers in (20, 600):
            capture = fabricate.Capture(2, form="fast")
            for n in range(buffers):
                for cpu in (0, 1):
                    for i in range(900):
                        thread = i // 2 * 2 + cpu
                        capture.put(cpu, fabricate.PR_TH, 1 + i % 2, 10000 + 2000 * n + 2 * i + cpu,
                                    (thread % 7 + 2, thread % 3 + 1))
                    capture.close(cpu)
            capture.write(path)
            done = dtrace(path, "-qwx", "aggsize=64k", "-x", "dynvarsize=64k", "-x", "bufsize=64k",
                          "-n", "sched:::on-cpu { @[pid, tid] = count(); self->t = timestamp; } "
                          'END { system("grep VmHWM /proc/$PPID/status"); }')
            peak = re.search(r"VmHWM:\s*(\d+) kB", done.stdout)
            expect(done.returncode == 0 and peak, told(done))
            sizes.append(int(peak[1]))
    expect(sizes[1] - sizes[0] < 1024, f"{sizes} KB")


TESTS = [random_captures_are_as_their_model, losses_are_reported_and_states_learnt_again,
         only_losses_that_matter_are_said,
         counts_are_those_that_print_has, timestamps_are_the_events_stamps, scripts_print_as_ever,
         what_no_event_has_is_refused_by_name, fast_captures_name_the_form_to_record,
         what_several_clauses_lack_is_said_once,
         unknown_forms_are_decided_by_each_event, filtered_captures_refuse_what_was_off,
         an_empty_capture_has_a_beginning_and_an_end, ticks_come_in_the_captures_time,
         messages_are_received_read_and_written_in_the_servers_calls,
         user_stacks_are_those_of_recorded_functions,
         exit_ends_it_and_gives_the_status, small_buffers_lose_nothing,
         damaged_captures_end_with_a_message, memory_does_not_grow_with_the_file]


def main():
    os.chdir(ROOT)
    words = [w for w in sys.argv[1:] if not w.startswith("-")]
    seed = int(words[0]) if words and words[0].isdigit() else random.randrange(1 << 32)
    only = [w for w in words if not w.isdigit()]
    passed = failed = 0
    for test in TESTS:
        if only and test.__name__ not in only:
            continue
        try:
            test(random.Random(seed))
            passed += 1
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {test.__name__}, seed {seed}")
            traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
