# SPDX-License-Identifier: BSD-2-Clause
"""A system that is planted event by event into a capture: test/host/diagnose/check makes each fault
of it that `kymo diagnose` finds, test/host/report/findings.py those that the page shows."""
import fabricate
from fabricate import (COMM, DEAD, KER_CALL, MSG_SENDV, MUTEX, PR_TH, READY, RECEIVE, REPLY,
                       RUNNING, SEND)

NS = fabricate.NS
MS = 1000000
CREATE, DESTROY, PROCESS_DESTROY, LOCK = 24, 25, 128, 80
FIRST = 20000  # ns of the first planted event


class Plant:
    """A capture that is written event by event; times in ns of the trace clock."""

    def __init__(self, cpus=1, **about):
        self.capture = fabricate.Capture(cpus, **{"form": "wide", **about})
        self.at(1000, 0, PR_TH, 192, [0, 1] + fabricate.text_words("kymo"))

    def at(self, ns, cpu, slot_class, number, words):
        self.capture.put(cpu, slot_class, number, ns // NS, words)

    def process(self, ns, pid, name, threads=1):
        """A process with threads that wait in RECEIVE."""
        self.at(ns, 0, PR_TH, 192 | fabricate.DUMP, [1, pid] + fabricate.text_words(name))
        for tid in range(1, threads + 1):
            self.at(ns + 160 * tid, 0, PR_TH, CREATE | fabricate.DUMP, [pid, tid])
            self.state(ns + 160 * tid + 64, 0, pid, tid, RECEIVE | fabricate.DUMP)

    def end(self, ns, pid, threads=1):
        """The process and its threads end; their numbers may be used again."""
        for tid in range(1, threads + 1):
            self.state(ns + 160 * tid, 0, pid, tid, DEAD)
            self.at(ns + 160 * tid + 64, 0, PR_TH, DESTROY, [pid, tid])
        self.at(ns + 160 * threads + 128, 0, PR_TH, PROCESS_DESTROY, [1, pid])

    def state(self, ns, cpu, pid, tid, state, priority=10):
        self.at(ns, cpu, PR_TH, state, [pid, tid, priority, 1])

    def run(self, ns, cpu, pid, tid, priority=10):
        self.state(ns, cpu, pid, tid, RUNNING, priority)

    def idle(self, ns, cpu=0):
        self.run(ns, cpu, 1, cpu + 1, 0)

    def lock(self, ns, cpu, pid, tid, mutex, owner, priority=10):
        """The thread runs, and waits for a mutex."""
        self.run(ns, cpu, pid, tid, priority)
        self.at(ns + 32, cpu, KER_CALL, LOCK, [mutex, 0, owner])
        self.state(ns + 64, cpu, pid, tid, MUTEX, priority)

    def send(self, ns, cpu, pid, tid, to, rcvid, word, state=SEND):
        """The thread runs, and sends a message."""
        self.run(ns, cpu, pid, tid)
        self.at(ns + 32, cpu, KER_CALL, MSG_SENDV, [3, 8, 4, word, 1, 2])
        self.at(ns + 64, cpu, COMM, 0, [rcvid, to])
        self.state(ns + 96, cpu, pid, tid, state)

    def receive(self, ns, cpu, pid, tid, client, rcvid):
        """The thread runs, and receives the message of a client, of (pid, tid)."""
        self.run(ns, cpu, pid, tid)
        self.state(ns + 32, cpu, *client, REPLY)
        self.at(ns + 64, cpu, COMM, 2, [rcvid, pid])

    def reply(self, ns, cpu, client):
        self.at(ns, cpu, COMM, 10, [client[1], client[0]])
        self.state(ns + 32, cpu, *client, READY)
