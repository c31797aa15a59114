# SPDX-License-Identifier: BSD-2-Clause
"""Random captures of any number of CPUs, and what D must make of them: a model of its own, which
knows the events by their numbers in docs/reference/events.md and nothing of host/after."""
import os
import re
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "test/board"))
import kev  # noqa: E402

CONTROL, KER_CALL, PR_TH, USER, COMM = 1, 2, 4, 6, 7
DEAD, RUNNING, READY, STOPPED, SEND, RECEIVE, REPLY, MUTEX, SEM = 0, 1, 2, 3, 4, 5, 6, 13, 17
NAMES = {RUNNING: "thread_running", READY: "thread_ready", SEND: "thread_send",
         RECEIVE: "thread_receive", REPLY: "thread_reply", MUTEX: "thread_mutex",
         SEM: "thread_sem"}
WAITS = [SEND, RECEIVE, REPLY, MUTEX, SEM]
MSG_SENDV, NOP = 11, 0
HZ = 62500000  # of the golden capture
NS = 16
MASK = 0xffffffff
LOG = range(0xf4a00000, 0xf4b00000)  # abi/sys/log.h: a first word of KYMO_LOG(), no simple event
DUMP = 0x20000  # the mark of a state dump: system pages from version 4 on


def head(cpus, form, classes="all classes", gate=None, page_version=4):
    """The golden capture's attributes and system page, for so many CPUs, in format 1.01."""
    with open(os.path.join(ROOT, "test/host/golden/virt-a64.kev"), "rb") as f:
        data = kev.unchecked(f.read())
    end = data.find(b"TRACE_HEADER_END::") + len("TRACE_HEADER_END::")
    length = int(re.search(rb"TRACE_SYSPAGE_LEN::(\d+)", data)[1])
    page = bytearray(data[end:end + length])
    struct.pack_into("<I", page, 12, cpus)
    struct.pack_into("<I", page, 4, page_version)
    text = data[:end].replace(b"CPU_NUM::1", b"CPU_NUM::%d" % cpus)
    text = text.replace(b"FILTER_2::wide", b"FILTER_2::" + form.encode())
    text = text.replace(b"FILTER_1::all classes", b"FILTER_1::" + classes.encode())
    if gate:
        text = text.replace(b"TRACE_TRACELOGGER_ARGS",
                            b"TRACE_FILTER_4::gate " + gate.encode() + b"TRACE_TRACELOGGER_ARGS")
    return text + bytes(page)


def slots(cpu, slot_class, number, time, words):
    """An event's slots."""
    words = list(words) + [0] * (-len(words) % 2) or [0, 0]
    n, made = len(words) // 2, b""
    for i in range(n):
        part = 0 if n == 1 else 0x40000000 if i == 0 else 0xc0000000 if i + 1 == n else 0x80000000
        made += struct.pack("<IIII", part | cpu << 24 | slot_class << 10 | number, time & MASK,
                            words[2 * i] & MASK, words[2 * i + 1] & MASK)
    return made


def text_words(text):
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 4)
    return list(struct.unpack(f"<{len(data) // 4}I", data))


class Capture:
    """Events by CPU in buffers; `skip` leaves out the buffer that comes next."""

    def __init__(self, cpus, **about):
        self.data, self.cpus = [head(cpus, **about)], cpus
        self.open = [[] for _ in range(cpus)]
        self.sequence = [1] * cpus
        self.started = [0] * cpus

    def put(self, cpu, slot_class, number, time, words):
        if sum(map(len, self.open[cpu])) > 900 * 16:  # a buffer has 1024 slots
            self.close(cpu)
        if not self.open[cpu]:
            self.started[cpu] = time - 2
        self.open[cpu].append(slots(cpu, slot_class, number, time, words))

    def close(self, cpu, lost=False):
        body = b"".join(self.open[cpu])
        self.open[cpu] = []
        if body and not lost:
            at = self.started[cpu]
            self.data.append(
                slots(cpu, CONTROL, 2, at, [self.sequence[cpu], len(body) // 16 + 2]) +
                slots(cpu, CONTROL, 1, at + 1, [at + 1 >> 32, at + 1]) + body)
        self.sequence[cpu] += bool(body)

    def write(self, path):
        for cpu in range(self.cpus):
            self.close(cpu)
        with open(path, "wb") as f:
            f.write(b"".join(self.data))


class Thread:
    def __init__(self, pid, tid):
        self.pid, self.tid, self.state, self.on = pid, tid, None, None


class World:
    """Random events, recorded into a capture; self.says: what the programs of check.py print."""

    def __init__(self, rng, cpus, wide, losses=False, marked=True):
        self.rng, self.wide, self.losses, self.marked = rng, wide, losses, marked
        self.capture = Capture(cpus, form="wide" if wide else "fast", page_version=3 + marked)
        self.time = 1000
        self.current = [None] * cpus
        self.idle = [self.thread(1, cpu + 1) for cpu in range(cpus)]
        self.threads, self.names, self.says = {}, {1: "kymo"}, {}
        self.lost = 0
        self.process(1, 0, "kymo")

    @staticmethod
    def thread(pid, tid):
        return Thread(pid, tid)

    def count(self, *key, by=1):
        self.says[key] = self.says.get(key, 0) + by

    def event(self, cpu, slot_class, number, words):
        self.time += self.rng.randrange(3, 400)
        self.capture.put(cpu, slot_class, number, self.time, words)
        return self.time * NS

    def who(self, cpu):
        t = self.current[cpu]
        return (t.pid, t.tid) if t else (0, 0)

    def sdt(self, name, first):
        self.count("sdt", name)
        self.count("sum", name, by=first)

    # ---- what happens --------------------------------------------------------------------

    def process(self, pid, ppid, name, mark=0):
        cpu = self.rng.randrange(len(self.current))
        self.event(cpu, PR_TH, 192 | mark, [ppid, pid] + text_words(name))
        self.names[pid] = name
        if not mark:
            self.sdt("proc_create_name", ppid)
            self.count("create", ppid, pid)

    def create(self, pid, tid, mark=0):
        self.threads[pid, tid] = t = Thread(pid, tid)
        cpu = self.rng.randrange(len(self.current))
        self.event(cpu, PR_TH, 24 | mark, [pid, tid])
        if not mark:
            self.sdt("thread_create", pid)
        return t

    def change(self, cpu, t, state):
        """A state event of t, on cpu. Without a change no probe fires."""
        words = [t.pid, t.tid] + ([10 + t.tid, 1] if self.wide else [])
        ns = self.event(cpu, PR_TH, state, words)
        before, t.state = t.state, state
        if state == RUNNING:
            left, self.current[cpu] = self.current[cpu], t
        if before == state:
            return
        if state == RUNNING:
            if left:
                self.count("off", left.pid, left.tid, t.pid, t.tid)
                if left.on is not None:
                    self.count("ran", left.pid, left.tid, by=ns - left.on)
                left.on = None
            self.count("on", t.pid, t.tid, cpu, self.names[t.pid])
            t.on = ns
        self.sdt(NAMES[state], t.pid)
        if before in WAITS and state in (RUNNING, READY):
            self.count("wakeup", t.pid, t.tid, before)
        if before == RUNNING and state in WAITS:
            self.count("sleep", t.pid, t.tid, state)
        if before == RUNNING and state == READY:
            self.count("preempt", *self.who(cpu))

    def switch(self):
        cpu = self.rng.randrange(len(self.current))
        left = self.current[cpu]
        ready = [t for t in self.threads.values()
                 if t not in self.current and t.state != RUNNING]
        if left and left is not self.idle[cpu]:
            self.change(cpu, left, self.rng.choice(WAITS + [READY] * 3))
        elif left:
            self.change(cpu, left, READY)
        if self.rng.random() < 0.3:
            self.message()  # of any CPU
        t = self.rng.choice(ready) if ready and self.rng.random() < 0.8 else self.idle[cpu]
        self.change(cpu, t, RUNNING)

    def wake(self):
        asleep = [t for t in self.threads.values() if t.state in WAITS]
        if asleep:
            self.change(self.rng.randrange(len(self.current)), self.rng.choice(asleep), READY)

    def message(self):
        cpu, pid = self.rng.randrange(len(self.current)), self.rng.randrange(2, 9)
        rcvid = self.rng.randrange(1, 1 << 32)
        self.event(cpu, COMM, 0, [rcvid, pid])
        self.sdt("comm_snd_message", rcvid)
        self.count("send", *self.who(cpu), pid)

    def call(self):
        cpu = self.rng.randrange(len(self.current))
        coid, value = self.rng.choice([3, 0x40000001, -1]), self.rng.randrange(1 << 32)
        words = [coid, 8, 4, value, 1, 2] if self.wide else [coid, value]
        self.event(cpu, KER_CALL, MSG_SENDV, words)
        self.count("entry", *self.who(cpu), coid & (1 << 64) - 1 if coid < 0 else coid)
        if self.rng.random() < 0.8:
            error = self.rng.choice([0, 0, 3, 116])
            result = -1 if error else self.rng.randrange(1 << 31)
            self.event(cpu, KER_CALL, MSG_SENDV | 128, [result, error])
            self.count("return", *self.who(cpu), error)

    def user(self):
        cpu, number = self.rng.randrange(len(self.current)), self.rng.randrange(1024)
        if self.rng.random() < 0.5:
            a, b = self.rng.randrange(1 << 32), self.rng.randrange(1 << 32)
            if a in LOG:
                a -= len(LOG)
            self.event(cpu, USER, number, [a, b])
            if not plausible_text(a, b):
                self.count("simple", number, by=a + b)
        else:
            text = "".join(self.rng.choice("abcxyz %") for _ in range(self.rng.randrange(8, 60)))
            words = text_words(text)
            self.event(cpu, USER, number, words + [0] * (len(words) % 2))
            self.count("string", number, text)

    def lose(self):
        """A buffer is missing, or events of class PR_TH were: all is to be learnt again."""
        cpu = self.rng.randrange(len(self.current))
        if self.rng.random() < 0.5:
            self.lost += 3
            self.event(cpu, CONTROL, 8, [1 << 8 | PR_TH, 3])
        else:
            self.capture.close(cpu)
            self.event(cpu, COMM, 1, [1, 1])
            self.capture.close(cpu, lost=True)
            self.event(cpu, COMM, 0, [7, 7])
            self.sdt("comm_snd_message", 7)
            self.current[cpu] = None
            self.count("send", 0, 0, 7)
        self.current[cpu] = None
        for t in [*self.threads.values(), *self.idle]:
            t.state = None

    def go(self, steps):
        for pid in range(2, 9):
            mark = self.rng.choice([0, DUMP]) if self.marked else 0
            self.process(pid, 1, f"prog{pid % 5}", mark)
            for tid in range(1, self.rng.randrange(2, 5)):
                self.create(pid, tid, mark)
        deeds = [self.switch] * 4 + [self.wake] * 2 + [self.message, self.call, self.user]
        for _ in range(steps):
            self.rng.choice(deeds)()
            if self.losses and self.rng.random() < 0.01:
                self.lose()
            if self.rng.random() < 0.02:
                self.capture.close(self.rng.randrange(len(self.current)))
        self.dump()

    def dump(self):
        """What exists, as at a ring's end: no probe fires for what is marked, or (without marks) is
        known. What isn't marked happened, although it says what is known."""
        mark = DUMP if self.marked else 0
        for pid, name in self.names.items():
            self.event(0, PR_TH, 192 | mark, [int(pid > 1), pid] + text_words(name))
        for t in self.threads.values():
            self.event(0, PR_TH, 24 | mark, [t.pid, t.tid])
            state = t.state if t.state is not None or not self.marked else self.rng.choice(WAITS)
            if state not in (None, RUNNING):
                self.event(0, PR_TH, state | mark, [t.pid, t.tid])
        if self.marked:
            self.process(8, 1, self.names[8])


def plausible_text(a, b):
    """Two words that kymo print, too, takes for a string."""
    text, _, rest = struct.pack("<II", a, b).partition(b"\0")
    return 5 <= len(text) < 8 and not rest.strip(b"\0") and all(32 <= c < 127 for c in text)
