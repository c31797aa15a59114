# SPDX-License-Identifier: BSD-2-Clause
"""Whether a capture can be true: reads it with a reader of its own and follows every thread, call,
interrupt, message and pulse. A thread runs on one CPU at a time and only after it was READY; a CPU
runs one thread; a call ends where it began; nothing is received that wasn't sent, or sent by or to
somebody who isn't there. Only for captures that lost nothing."""
import os
import re
import struct
import subprocess

import kev

CONTROL, KER_CALL, INT, PR_TH, COMM, KYMO_CALL = 1, 2, 3, 4, 7, 13
DEAD, RUNNING, READY, STOPPED, SEND, REPLY, NEW = 0, 1, 2, 3, 4, 6, "new"
MOVED = ((4, 6), (14, 13))  # by somebody else: SEND to REPLY, CONDVAR to MUTEX
NOBODY = 0xffffffff
# Calls that never return.
LAST_CALLS = [kev.call_rows()[name] for name in ("PROC_EXIT", "THREAD_DESTROY")]
TRACE_EVENT = kev.call_rows()["TRACE_EVENT"]
MOST = 5  # complaints


class Event:
    def __init__(self, cpu, header, low, words):
        self.cpu, self.cls, self.number = cpu, header >> 10 & 0x1f, header & 0x3ff
        self.low, self.words, self.time = low, words, None

    def __str__(self):
        return f"at {self.time:#x} on CPU {self.cpu}"


def read(path):
    """All events, whole, by time."""
    data = kev.slot_bytes(path)
    events, high, last = [], {}, {}
    for header, low, d1, d2 in struct.iter_unpack("<IIII", data):
        cpu, kind = header >> 24 & 0x3f, header >> 30
        if kind > 1:
            last[cpu].words += [d1, d2]
            continue
        event = last[cpu] = Event(cpu, header, low, [d1, d2])
        events.append(event)
        if (event.cls, event.number) == (CONTROL, 1):
            high[cpu] = d1
        if (event.cls, event.number) != (CONTROL, 2):  # BUFFER stands before its TIME
            event.time = high[cpu] << 32 | low
    events = [e for e in events if e.time is not None]
    events.sort(key=lambda e: (e.time, e.cpu))
    return events


class Truth:
    def __init__(self):
        self.wrong, self.number = [], 0
        self.last = {}       # cpu: time
        self.processes = set()
        self.born = set()    # names of processes that began while it was recorded
        self.state = {}      # thread (pid, tid): state
        self.where = {}      # thread: the CPU that it last ran on
        self.on = {}         # cpu: the thread that it last ran
        self.call = {}       # thread: the call that it is in
        self.known = set()   # threads whose calls are known from the beginning
        self.interrupts = {}  # cpu: those being served
        self.sent = {}       # (rcvid, pid of receiver): sender
        self.pulses = {}     # pid: pulses sent and not received
        self.dead = {}       # cpu: the thread that has died there a moment ago
        self.preempted = {}  # cpu: the thread whose long call was interrupted there a moment ago
        self.interruptions = 0
        self.dumped = False  # the state at START is known

    def expect(self, good, event, what):
        if not good and len(self.wrong) < MOST:
            self.wrong.append(f"{event}: {what}")

    # ---- processes and threads

    def changes_state(self, e, state):
        thread = tuple(e.words[:2])
        before = self.state.get(thread)
        if e.cpu in self.preempted:
            lost = self.preempted.pop(e.cpu)
            self.expect((thread, state) == (lost, READY), e,
                        f"the call of {lost} was interrupted, and {thread} becomes {state}")
        self.expect(before is not None or not self.dumped, e, f"{thread} isn't there")
        if state == RUNNING:
            self.runs(e, thread, before)
        elif before not in (None, NEW, RUNNING, READY):  # who waits or is not started does nothing
            # STOPPED: its wait is over, and it is held.
            self.expect(state in (READY, DEAD, STOPPED, before) or (before, state) in MOVED, e,
                        f"{thread} goes from state {before} to {state}")
        self.state[thread] = state
        if state == DEAD:
            self.dead[e.cpu] = thread

    def runs(self, e, thread, before):
        self.expect(before == READY or not self.dumped, e, f"{thread} runs from state {before}")
        self.expect(before != RUNNING or self.where.get(thread) in (e.cpu, None), e,
                    f"{thread} runs on two CPUs")
        other = self.on.get(e.cpu)
        self.expect(other in (thread, None) or self.state.get(other) != RUNNING or
                    self.where[other] != e.cpu, e, f"{thread} runs beside {other}")
        self.on[e.cpu], self.where[thread] = thread, e.cpu

    def thread_begins(self, e):
        thread = tuple(e.words[:2])
        self.expect(thread not in self.state or not self.dumped, e, f"{thread} is there twice")
        self.expect(thread[0] in self.processes, e, f"{thread} is of no process")
        if self.dumped:
            self.known.add(thread)
        self.state.setdefault(thread, NEW)

    def thread_ends(self, e):
        thread = tuple(e.words[:2])
        self.expect(self.state.pop(thread, None) == DEAD, e, f"{thread} ends and isn't DEAD")
        self.call.pop(thread, None)
        self.known.discard(thread)
        self.dead.pop(e.cpu, None)

    def process_begins(self, e):
        pid = e.words[1]
        self.expect(pid not in self.processes or not self.dumped, e, f"process {pid} twice")
        self.processes.add(pid)
        if self.dumped:
            name = struct.pack(f"<{len(e.words) - 2}I", *e.words[2:])
            self.born.add(name.split(b"\0")[0].decode())

    def process_ends(self, e):
        pid = e.words[1]
        left = [thread for thread in self.state if thread[0] == pid]
        self.expect(pid in self.processes and not left, e, f"process {pid} ends: {left}")
        self.processes.discard(pid)
        self.pulses.pop(pid, None)

    def pr_th(self, e):
        number = e.number & 511
        if number < 24:
            self.changes_state(e, number)
        else:
            {24: self.thread_begins, 25: self.thread_ends, 128: self.process_ends,
             192: self.process_begins}.get(number, lambda e: None)(e)

    # ---- calls: who calls is who runs there; who was ended in one has its INT after THDEAD

    def ker_call(self, e):
        self.expect(e.cls == kev.call_class(e.number), e, f"call {e.number} in class {e.cls}")
        call, kind, thread = e.number & 127, e.number >> 7 & 3, self.on.get(e.cpu)
        dead = self.dead.get(e.cpu)
        if kind == 2 and dead:
            self.expect(self.call.get(dead, call) == call, e,
                        f"{dead} was ended in call {call}, not {self.call.get(dead)}")
            return
        if thread is None:
            self.expect(not self.dumped, e, f"call {call} and nobody runs")
            return
        # A call that made a better thread READY ends before that one runs.
        self.expect(self.state.get(thread) in ((RUNNING, READY) if kind == 1 else (RUNNING,)), e,
                    f"call {call} of {thread}, which doesn't run")
        inside = self.call.get(thread)
        if kind == 0:
            self.expect(inside is None or inside in LAST_CALLS, e,
                        f"{thread} calls {call} in call {inside}")
            self.call[thread] = call
            return
        self.expect(inside == call or thread not in self.known, e,
                    f"{thread} goes on from call {call} in call {inside}")
        self.expect(e.cpu not in self.preempted, e,
                    f"the call of {self.preempted.get(e.cpu)} was interrupted and goes on")
        if kind == 2 and any(e.words):  # a preemption point at which another thread gets the CPU
            self.preempted[e.cpu] = thread
            self.interruptions += 1
        if kind == 1:
            self.call.pop(thread, None)
            self.known.add(thread)
            # START alone was entered before anything was recorded.
            self.dumped = self.dumped or (call == TRACE_EVENT and inside is None)

    def interrupt(self, e):
        # An address of one word is even: docs/reference/format.md.
        self.expect(e.number != 513 or e.words[1] & 1, e, "INT_ENTR is not QNX's")
        serving, line = self.interrupts.setdefault(e.cpu, []), e.words[0]
        if e.number & 511 == 1:
            serving.append(line)
        elif e.number & 511 == 2:
            self.expect(serving[-1:] == [line], e, f"interrupt {line} ends in {serving}")
            del serving[-1:]

    # ---- messages and pulses

    def message(self, e):
        rcvid, pid = e.words[:2]
        if e.number == 0:
            self.expect((rcvid, pid) not in self.sent, e, f"message {rcvid:#x} is sent twice")
            self.expect(pid in self.processes, e, f"message to process {pid}")
            self.sent[rcvid, pid] = self.on.get(e.cpu)
        elif rcvid != NOBODY:
            sender = self.sent.get((rcvid, pid))
            self.expect(sender or not self.known, e, f"message {rcvid:#x} received, not sent")

    def reply(self, e):
        client = e.words[1], e.words[0]
        self.expect(self.state.get(client) in (REPLY, SEND, None), e,
                    f"reply to {client} in state {self.state.get(client)}")
        self.over(client)

    def over(self, client):
        self.sent = {key: sender for key, sender in self.sent.items() if sender != client}

    def pulse(self, e):
        scoid, pid = e.words[:2]
        self.pulses[pid] = self.pulses.get(pid, 0) + (1 if e.number != 3 else -(scoid != NOBODY))
        self.expect(self.pulses[pid] >= 0 or pid in (1, 2), e, f"{pid} receives no pulse sent")

    def comm(self, e):
        if e.number in (0, 2):
            self.message(e)
        elif e.number in (10, 11):
            self.reply(e)
        elif e.number <= 7:
            self.pulse(e)

    def follow(self, events):
        of_class = {PR_TH: self.pr_th, KER_CALL: self.ker_call, INT: self.interrupt,
                    COMM: self.comm, KYMO_CALL: self.ker_call}
        for e in events:
            self.expect(e.time > self.last.get(e.cpu, -1), e, "time stands still")
            self.expect((e.cls, e.number) != (CONTROL, 8), e, "events were lost")
            self.last[e.cpu] = e.time
            of_class.get(e.cls, lambda e: None)(e)
            self.number += 1
        return self


def the_capture_can_be_true(boot):
    truth = Truth().follow(read(boot.trace))
    if truth.number < 1000 or not truth.dumped:
        return f"{truth.number} events, no dump"
    return "; ".join(truth.wrong) or None


def interrupts_have_addresses(boot):
    """Of programs and, as idle CPUs are interrupted in the kernel, of the kernel."""
    done = subprocess.run([os.path.join(kev.ROOT, "build/kymo"), "print", "-n", "--event",
                           "INT_ENTR", boot.trace], capture_output=True, text=True)
    found = re.findall(r"INT_ENTR:.* IP:(0x\w+)$", done.stdout, re.M)
    kernel = [ip for ip in found if re.fullmatch(r"0xffffff80[04]0[0-9a-f]{6}", ip)]
    bad = [ip for ip in found if len(ip) != 10 and ip not in kernel]
    if bad or len(found) < 10 or (boot.board != "mps2-an386") != (0 < len(kernel) < len(found)):
        return f"{len(found)} interrupts, {len(kernel)} of the kernel; {bad[:3]}"
    return None


def who_waited_for_the_logger_is_recorded_whole(boot):
    """What a script starts after `waitname tracelogger` is not recorded from the middle on."""
    wanted = set(re.findall(r"^\[.*\] (t_\w+)", script(boot), re.M))
    missing = wanted - Truth().follow(read(boot.trace)).born
    return f"{missing} began before" if missing or not wanted else None


def script(boot):
    with open(os.path.join(kev.ROOT, "test/board/images", boot.suite.image + ".start")) as f:
        return f.read()
