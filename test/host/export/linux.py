# SPDX-License-Identifier: BSD-2-Clause
"""Names and numbers that exports for Linux's tools give to threads (docs/reference/export.md), from
the lines of --jsonl; a second opinion on host/export/linux.c."""
from common import printable, same, want

HOW_MANY = {"sched_switch": 7, "sched_wakeup": 4, "sched_process_exit": 3, "irq_handler_entry": 2,
            "irq_handler_exit": 2, "lttng_ust_cyg_profile:func_entry": 2,
            "lttng_ust_cyg_profile:func_exit": 2}


class Names:
    def __init__(self, have):
        self.cpus = have[0]["cpus"]
        self.process, self.thread = {}, {}
        for event in (x for x in have if x["kind"] == "event"):
            if event["process"]:
                self.process.setdefault(event["pid"], set()).add(event["process"])
            if event["thread"]:
                self.thread.setdefault((event["pid"], event["tid"]), set()).add(event["thread"])
            if event["event"] == "PROCTHREAD_NAME":
                args = event["args"]
                self.thread.setdefault((args["pid"], args["tid"]), set()).add(args["name"])

        self.last = self.last_names(have)

    @staticmethod
    def last_names(have):
        """{(pid, tid): name} of threads that had one life, as their last event names them."""
        last, ended = {}, set()
        for x in have:
            if x.get("event") == "PROCTHREAD_NAME" and x["args"]["name"]:
                last[x["args"]["pid"], x["args"]["tid"]] = x["args"]["name"]
            elif x.get("event") == "THDESTROY":
                ended.add((x["args"]["pid"], x["args"]["tid"]))
            elif x.get("event") == "PROCDESTROY":
                ended |= {key for key in last if key[0] == x["args"]["pid"]}
        return {key: name for key, name in last.items() if key not in ended}

    def tid(self, pid, tid):
        return 0 if pid == 1 and 1 <= tid <= self.cpus else pid * 10000 + tid

    def check(self, comm, pid, tid, linux_tid):
        """Is this what the thread is called? The names that it ever has will do."""
        same(linux_tid, self.tid(pid, tid), f"number of {pid}/{tid}")
        may = {f"{pid}:{tid}"} | {f"{name}:{tid}" for name in self.process.get(pid, ())}
        may |= self.thread.get((pid, tid), set())
        if linux_tid == 0:
            may = {f"swapper/{tid - 1}"}
        want(comm in {printable(x) for x in may}, f"{comm!r} of {pid}/{tid}: not one of {may}")


class Pairs:
    """Ends that go by Linux's names come after their begins: readers may show nothing otherwise."""

    BEGINS = {"irq_handler_exit": "irq_handler_entry",
              "lttng_ust_cyg_profile:func_exit": "lttng_ust_cyg_profile:func_entry"}

    def __init__(self):
        self.open = {}

    def take(self, name, where, what):
        """where: the CPU or thread; what: the interrupt or function."""
        begin = self.BEGINS.get(name, name)
        if name.startswith("sys_exit_"):
            begin = name.replace("sys_exit_", "sys_enter_")
        elif name.startswith("syscall_exit_"):
            begin = name.replace("syscall_exit_", "syscall_entry_")
        key = (begin, where, what)
        if begin == name:
            self.open[key] = self.open.get(key, 0) + 1
            return
        want(self.open.get(key, 0) > 0, f"{name} {what} of {where}: an end without its begin")
        self.open[key] -= 1


def standard(name, event, fields, names):
    """Checks the fields that Linux's events have; returns how many come before the event's own."""
    args = event["args"]
    if name == "sched_switch":
        names.check(fields["next_comm"], args["pid"], args["tid"], fields["next_tid"])
        want(fields["prev_state"] in (0, 1, 16, 1024), "a state")
        want((fields["prev_tid"] == -1) == (fields["prev_comm"] == "unknown"), "an unknown thread")
        priority = args.get("priority")
        want(priority is None or priority > 99 or fields["next_prio"] == 99 - priority, "priority")
    elif name == "sched_wakeup":
        names.check(fields["comm"], args["pid"], args["tid"], fields["tid"])
        same(fields["target_cpu"], event["cpu"], "target")
    elif name == "sched_process_exit":
        names.check(fields["comm"], args["pid"], args["tid"], fields["tid"])
    elif name.startswith("irq_handler"):
        same(fields["irq"], args["interrupt"], "interrupt")
    elif name.startswith("syscall_exit"):
        value = args.get("ret_val", 0)
        value = int(value, 16) if isinstance(value, str) else value
        same(fields["ret"] & (1 << 64) - 1, value & (1 << 64) - 1, "what it returns")
        return 1
    elif name.startswith("lttng_ust"):
        same([fields["addr"], fields["call_site"]],
             [int(args["thisfn"], 16), int(args["call_site"], 16)], "a function")
    return HOW_MANY.get(name, 0)
