# SPDX-License-Identifier: BSD-2-Clause
"""Captures of random systems for test/host/export/check (mkscript.c): threads that run, call the
kernel and functions, nest, send messages and are interrupted, on several CPUs; perhaps with losses.
What the capture has to say of slices is known here."""
import random
import subprocess

from common import ROOT

INT, THREAD, SYSTEM, USER, COMM, CALL = 3, 4, 5, 6, 7, 2
RUNNING, REPLY = 1, 6
ENTER, EXIT, SEND = 10, 11, 11


class Script:
    def __init__(self, seed, cpus, steps, lossy):
        self.rng, self.cpus = random.Random(seed), cpus
        self.lines, self.slices = [], {}
        self.now = [0] * cpus
        self.runs = [None] * cpus
        self.stacks = {}
        self.interrupts = [[] for _ in range(cpus)]
        for cpu in range(cpus):
            self.run(cpu, (100 + cpu, 1))
        for _ in range(steps):
            self.step(self.rng.randrange(cpus), lossy)
        for cpu in range(cpus):
            while self.interrupts[cpu]:
                self.leave(cpu)

    def event(self, cpu, number, event, *words):
        after = self.rng.choice((1, 3, 40, 200000 if self.rng.random() < .02 else 7))
        self.lines.append(" ".join(map(str, ("e", cpu, after, number, event, *words))))

    def run(self, cpu, thread):
        self.runs[cpu] = thread
        self.event(cpu, THREAD, RUNNING, *thread)

    def leave(self, cpu):
        self.event(cpu, INT, 2, self.interrupts[cpu].pop(), 0)

    def step(self, cpu, lossy):
        rng, thread = self.rng, self.runs[cpu]
        stack = self.stacks.setdefault(thread, [])
        if self.interrupts[cpu] or rng.random() < .15:
            if self.interrupts[cpu] and rng.random() < .6:
                self.leave(cpu)
            elif len(self.interrupts[cpu]) < 4:
                self.interrupts[cpu].append(rng.choice((27, 33, 50)))
                self.event(cpu, INT, 1, self.interrupts[cpu][-1], 0x40)
            return
        kind = rng.random()
        if kind < .35 and len(stack) < 40 and stack[-1:] != ["call"]:
            stack.append(rng.choice(("call", 0x1000, 0x2000, 0x2000)))
            if stack[-1] == "call":
                self.event(cpu, CALL, SEND, 7, 1)
            else:
                self.event(cpu, SYSTEM, ENTER, stack[-1], 8)
        elif kind < .7 and stack:
            what = stack.pop()
            if what == "call":
                self.event(cpu, CALL, SEND + 128, 0, 0)
            else:
                self.event(cpu, SYSTEM, EXIT, what, 8)
        elif kind < .8:
            other = (100 + cpu, rng.randrange(1, 4))
            if other != thread:
                self.event(cpu, THREAD, rng.choice((2, REPLY, 5)), *thread)
                self.run(cpu, other)
        elif kind < .85:
            self.event(cpu, USER, rng.randrange(4), *range(rng.choice((1, 2, 9, 60))))
        elif kind < .851:
            self.event(cpu, USER, 9, *range(1800))  # longer than a page of trace.dat
        elif kind < .88:
            self.event(cpu, COMM, 0, 5, 100)
        elif lossy and kind < .9:
            self.lines.append(f"f {cpu}")  # the kernel tells of a loss where a buffer begins
            self.lines.append(f"d {cpu} 1 {rng.choice((CALL, USER, THREAD))} {rng.randrange(1, 9)}")
        elif lossy and kind < .91:
            self.lines.append(f"l {cpu}" if rng.random() < .5 else f"f {cpu}")

    def write(self, path):
        subprocess.run([f"{ROOT}/build/tools/mkscript", path, str(self.cpus)], check=True,
                       input="".join(line + "\n" for line in self.lines).encode("ascii"))
        return path

    def enters(self):
        return sum(1 for line in self.lines
                   if line.split()[3:5] in (["2", "11"], ["5", "10"], ["3", "1"]))
