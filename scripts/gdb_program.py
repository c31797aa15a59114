# SPDX-License-Identifier: BSD-2-Clause
"""gdb with one program of the boot image: scripts/gdb loads this. Runs until the kernel has started
the program, loads its symbols where it is, and stops in its main(). Breakpoints in it stop in that
process only, although other programs may have the same addresses: gdb asks which process runs."""
import os
import subprocess

import gdb

PROGRAM = os.environ["KYMO_GDB_PROGRAM"]
ELF = os.environ["KYMO_GDB_ELF"]


class Own:
    """The process, once it runs."""
    pid, text, length = 0, 0, 0
    table = None  # virt-a64: what TTBR0_EL1 is while it runs; kernel memory can't be read then
    alive = False # else its addresses are its own until it ends: programs are relocated
    process = 0   # address of the kernel's struct process


class InProgram(gdb.Function):
    """$in_program(): true while the stopped CPU runs the program."""

    def __init__(self):
        super().__init__("in_program")

    def invoke(self):
        if Own.table is None:
            return Own.alive
        return Own.alive and \
            int(gdb.parse_and_eval("(unsigned long)$TTBR0_EL1")) == Own.table


def sections(job):
    """name -> address, of the sections that the kernel has placed."""
    placed = {}
    listing = subprocess.run(["readelf", "-SW", ELF], check=True, capture_output=True,
                             text=True).stdout
    for line in listing.splitlines():
        words = line.partition("]")[2].split()
        if len(words) < 7 or "A" not in words[6] or "T" in words[6]:
            continue
        at = int(words[2], 16)
        for i in range(int(job["nsegments"])):
            segment = job["segments"][i]
            start, size = int(segment["elf"]["vaddr"]), int(segment["elf"]["mem_len"])
            if start <= at < start + size:
                placed[words[0]] = at - start + int(segment["vaddr"])
    return placed


def job_of(process):
    """The spawn's job, in the frame of kernel/program/spawn.c that has made the process whole."""
    frame = gdb.selected_frame().older()
    job = frame.read_var("job") if frame and frame.name() == "job_end" else None
    if job is None or job.is_optimized_out or job["child"] != process.address:
        raise gdb.GdbError("the kernel doesn't say where the program is")
    return job.dereference()


class Noted(gdb.Breakpoint):
    """The kernel has made a process whole, or ended it. Stops once, when the program begins."""

    def stop(self):
        process = gdb.parse_and_eval("proc").dereference()
        if Own.process == int(process.address) and int(process["ended"]) != 0:
            Own.alive = False
        return not Own.pid and int(process["ended"]) == 0 and int(process["nthreads"]) > 0 and \
            process["name"].string() == PROGRAM


def limit(breakpoint):
    """A breakpoint in the program is for this process alone."""
    inside = any(location.address and Own.text <= location.address < Own.text + Own.length
                 for location in breakpoint.locations)
    if inside and "$in_program()" not in (breakpoint.condition or ""):
        own = f" && ({breakpoint.condition})" if breakpoint.condition else ""
        breakpoint.condition = "$in_program()" + own


def run():
    gdb.execute("set confirm off")
    gdb.execute("set pagination off")
    InProgram()
    Noted("retain_process", internal=True)
    gdb.execute("continue")
    process = gdb.parse_and_eval("proc").dereference()
    program = process["program"]
    Own.process, Own.alive = int(process.address), True
    Own.pid, Own.text, Own.length = int(process["pid"]), int(program["text"]), \
        int(program["text_len"])
    if "ttbr0" in [field.name for field in process["space"]["arch"].type.fields()]:
        Own.table = int(process["space"]["arch"]["ttbr0"])
    where = sections(job_of(process))
    gdb.execute(f"add-symbol-file '{ELF}' {where.pop('.text'):#x} " +
                " ".join(f"-s {name} {at:#x}" for name, at in where.items()))
    gdb.events.breakpoint_created.connect(limit)
    gdb.execute("tbreak main")
    gdb.execute("continue")


run()
