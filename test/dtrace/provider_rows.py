# SPDX-License-Identifier: BSD-2-Clause
"""D programs that prove providers' arguments on the demo workload (apps/demo), for scripts.py.

A row is clauses that set `wrong` if an argument is not what it must be, and a list of conditions
that must all have come true before a minute is over: then it prints `right`.
"""

SECONDS = 60  # a hang detector: the demo goes round in three, on a host that has the time
DECLARED = "".join(f"int {name}; " for name in "wrong tried filter a b c d e f g h".split())

ROWS = {
    # A process's whole life, of the sensor: made by the demo, loaded, its thread runs, ends.
    "proc": ("""
        proc:::create /args[2] == "sensor"/ { child = arg1; parent = args[1]; a = 1; }
        proc:::create /args[2] == "sensor" && execname != "demo"/ { wrong = 1; }
        proc:::create /args[2] == "sensor" && (args[1] != pid || arg0 != pid)/ { wrong = 2; }
        proc:::create /args[0]->pr_fname != args[2] || args[0]->pr_pid != arg1/ { wrong = 6; }
        proc:::create /args[0]->pr_ppid != arg0 || args[0]->pr_nlwp != 0/ { wrong = 7; }
        proc:::exec /child && args[0] == child/ { b = 1; where = args[2]; }
        proc:::exec /child && args[0] == child && args[1] != "sensor"/ { wrong = 3; }
        proc:::lwp-create /child && args[1]->pr_pid == child/ { c = 1; }
        proc:::lwp-create /child && arg0 == child && args[0]->pr_lwpid != 1/ { wrong = 4; }
        proc:::lwp-create /args[1]->pr_pid != arg0 || args[0]->pr_lwpid != arg1 ||
            args[0]->pr_state != SSTOP || args[0]->pr_sname != 'T'/ { wrong = 8; }
        proc:::lwp-start /child && args[0] == child && args[1] == 1/ { d = 1; }
        proc:::lwp-exit /child && args[0] == child && args[1] == 1/ { e = 1; }
        proc:::exit /child && args[0] == child/ { f = 1; }
        proc:::exit /child && args[0] == child && args[1] != parent/ { wrong = 5; }
        proc:::exit /child && args[0] == child && pidname(args[0]) != "sensor"/ { wrong = 9; }
        """, "a && b && c && d && e && f && where"),
    # crash writes to address 0.
    "proc fault": ("""
        proc:::fault { a = 1; }
        proc:::fault /execname != "crash" || args[0] != pid || args[1] != 1/ { wrong = 1; }
        proc:::fault /args[2] != 11 || args[3] != 0 || args[4] < 4096/ { wrong = 2; }
        sysinfo:::trap { c = 1; }
        sysinfo:::trap /args[0] != 1 || arg0 != 1/ { wrong = 4; }
        """, "a && c"),
    # A message of the sensor to the filter, and the reply; the pulse of the sensor's timer.
    "msg": ("""
        BEGIN { sent[-1] = pid; }
        proc:::create /args[2] == "filter"/ { filter = arg1; }
        msg:::send /execname == "sensor" && args[1] == filter/ { from = pid; a = 1; }
        msg:::send /execname == "sensor" && args[0] == 0/ { wrong = 1; }
        msg:::receive /filter && pid == filter && args[1] == from && args[0]/ { b = 1; }
        msg:::receive /pidname(args[1]) == "" || args[1] == 0 || args[0] <= 0/ { wrong = 6; }
        msg:::receive /sent[args[0]] != args[1] && sent[args[0]]/ { wrong = 7; }
        msg:::send { sent[args[0]] = pid; }
        msg:::reply /filter && pid == filter && args[1] == from/ { c = 1; }
        msg:::reply /filter && pid == filter && args[1] == from && args[0] != 1/ { wrong = 3; }
        msg:::reply /args[1] == pid && execname != "uncured"/ { wrong = 4; }
        msg::event:pulse /from && args[1] == from/ { d = 1; }
        sdt:::comm_snd_message /execname == "sensor" && args[1] == filter/ { e = 1; }
        sdt:::comm_snd_message /args[1] == pid && execname != "uncured"/ { wrong = 5; }
        sdt:::comm_reply_message /filter && pid == filter && args[1] == from/ { f = 1; }
        """, "a && b && c && d && e && f"),
    # Every call's result; a message's is its status. ChannelCreate's and ClockTime's arguments.
    "syscall": ("""
        syscall::msg_sendv:entry /execname == "sensor"/ { self->in = 1; a = 1; }
        syscall::msg_sendv:entry /execname == "sensor" && !args[1]/ { wrong = 1; }
        syscall::msg_sendv:return /execname == "sensor" && self->in/ { self->in = 0; b = 1; }
        syscall::msg_sendv:return /execname == "sensor" && (args[0] < 0 || arg0 != arg1)/
        { wrong = 2; }
        syscall::channel_create:return /args[0] > 0/ { c = 1; }
        syscall::proc_spawn:return /execname == "demo" && args[0] > 0/ { d = 1; }
        syscall::proc_spawn:return /execname == "demo" && args[0] <= 0/ { wrong = 3; }
        syscall::name_lookup:entry /copyinstr(arg0) != ""/ { e = 1; }
        """, "a && b && c && d && e"),
    # Who leaves is who runs, but for a thread that ends: it is gone by then, and pid is 1, idle's.
    "sched": ("""
        sched:::on-cpu { a = 1; }
        sched:::on-cpu /args[2] < 0 || args[2] > 255/ { wrong = 1; }
        sched:::off-cpu { b = 1; }
        sched:::off-cpu /args[2] != pid || args[3] != tid/ { wrong = 2; }
        sched:::sleep { c = 1; }
        sched:::sleep /args[0] != pid || args[3] < 4/ { wrong = 3; }
        sched:::preempt { d = 1; }
        sched:::preempt /args[0] != pid || args[1] != tid/ { wrong = 4; }
        sched:::wakeup { e = 1; }
        sched:::wakeup /args[3] < 4 || args[1]->pr_pid < 2/ { wrong = 5; }
        sched:::enqueue { f = 1; }
        sched:::dequeue { g = 1; }
        sched:::dequeue,sched:::enqueue /args[0]->pr_lwpid < 1 || args[2]->cpu_id != cpu/
        { wrong = 6; }
        sdt:::thread_running { h = 1; }
        """, "a && b && c && d && e && f && g && h"),
    # Each CPU goes to the thread that off-cpu named, and leaves the one that it went to.
    # A clause of a list means by args[] what the description says that has matched.
    "sched lists": ("""
        sched:::wakeup { this->pid = arg0; this->tid = arg1; this->third = arg2; tried = 1; }
        sched:::off-cpu { this->pid = arg3; this->tid = arg4; this->third = arg0; filter = 1; }
        sched:::wakeup,sched:::off-cpu /args[1]->pr_fname != pidname(this->pid)/ { wrong = 1; }
        sched:::wakeup,sched:::off-cpu { if (args[0]->pr_lwpid != this->tid) { wrong = 2; } }
        sched:::wakeup,sched:::off-cpu /args[2] != this->third/ { wrong = 3; }
        sched:::wakeup,sched:::off-cpu { @[args[1]->pr_fname, probename] = count(); a = tried; }
        END { trunc(@); }
        sched:::wakeup,sched:::off-cpu /filter && args[0]->pr_lwpid/ { b = 1; }
        """, "a && b"),
    "sched switches": ("""
        BEGIN { known[-1] = 0; on_pid[-1] = pid; on_tid[-1] = tid; }
        sched:::off-cpu /known[cpu] && (on_pid[cpu] != args[2] || on_tid[cpu] != args[3]) &&
            args[2] != 1/ { wrong = 1; }
        sched:::off-cpu { next_pid[cpu] = args[1]->pr_pid; next_tid[cpu] = args[0]->pr_lwpid; }
        sched:::off-cpu /args[1]->pr_fname != pidname(arg3) || arg4 != args[0]->pr_lwpid/
        { wrong = 2; }
        sched:::on-cpu /next_tid[cpu] && (next_pid[cpu] != pid || next_tid[cpu] != tid)/
        { wrong = 3; }
        sched:::on-cpu /next_tid[cpu] && pid != 1 && curlwpsinfo->pr_lwpid == tid/ { a = 1; }
        sched:::on-cpu /known[cpu] && !next_tid[cpu]/ { wrong = 4; }
        sched:::on-cpu { known[cpu] = 1; on_pid[cpu] = pid; on_tid[cpu] = tid;
            next_tid[cpu] = 0; }
        """, "a"),
    # What the structs say of a thread is what the event says; and of a thread of another program.
    "lwpsinfo": ("""
        sched:::wakeup /args[0]->pr_lwpid != arg1 || args[1]->pr_pid != arg0/ { wrong = 1; }
        sched:::wakeup /args[1]->pr_fname == "" || args[1]->pr_fname != pidname(arg0)/
        { wrong = 2; }
        sched:::wakeup /args[0]->pr_pri != args[2] || args[0]->pr_kstate != args[3]/ { wrong = 3; }
        sched:::wakeup /args[0]->pr_state != SSLEEP || args[0]->pr_sname != 'S' ||
            !(args[0]->pr_flag & PR_ASLEEP)/ { wrong = 4; }
        sched:::wakeup /args[1]->pr_nlwp < 1 || args[1]->pr_addr == 0/ { wrong = 5; }
        sched:::wakeup /args[3] == STATE_MUTEX && args[0]->pr_wchan/ { a = 1; }
        sched:::wakeup /args[3] == STATE_MUTEX && !args[0]->pr_wchan/ { wrong = 6; }
        sched:::wakeup /args[0]->pr_clname != "RR" && args[0]->pr_clname != "FIFO"/ { wrong = 7; }
        sched:::enqueue /args[3] != args[0]->pr_pri && args[0]->pr_kstate != STATE_READY/
        { wrong = 8; }
        syscall::msg_sendv:entry /curlwpsinfo->pr_syscall != 11/ { wrong = 9; }
        syscall::msg_sendv:entry /curlwpsinfo->pr_state != SONPROC || curlwpsinfo->pr_sname != 'O'/
        { wrong = 10; }
        syscall::msg_sendv:entry /curlwpsinfo->pr_onpro != cpu || curcpu->cpu_id != cpu/
        { wrong = 11; }
        syscall::msg_sendv:entry /curpsinfo->pr_fname != pidname(pid) || curpsinfo->pr_ppid != ppid/
        { wrong = 12; }
        sched:::wakeup /pid != arg0/ { b = 1; }
        tick-10ms /pidname(0) != "" || pidname(-1) != "" || pidname(1 << 30) != "" ||
            pidname(1) != "kymo" || lwpinfo(1 << 30, 1, 2) != 0 || lwpinfo(1, 999, 2) != 0/
        { wrong = 13; }
        """, "a && b"),
    # inversion's low thread at 11 runs at 13 while the high one waits for the mutex, then at 11.
    "sched change-pri": ("""
        sched:::change-pri /args[2] == args[3] || args[2] > 255 || args[3] > 255/ { wrong = 1; }
        sched:::change-pri /execname == "inversion" && args[2] == 13 && args[3] == 11/
        { a = 1; who = args[1]->pr_pid; thread = args[0]->pr_lwpid; }
        sched:::change-pri /a && arg0 == who && arg1 == thread && args[3] == 13/ { b = 1; }
        sched:::change-pri /a && arg0 == who && arg1 == thread && args[3] == 13 &&
            args[2] != 11/ { wrong = 2; }
        """, "a && b"),
    # The workers' mutex: who waits gets it, handed over by who had it.
    "lockstat": ("""
        lockstat::mutex:block /execname == "workers"/ { waits[args[0], args[1]] = 1; a = 1; }
        lockstat::mutex:block /execname == "workers" && args[0] != pid/
        { wrong = 1; }
        lockstat::mutex:release /execname == "workers"/
        { self->lock = args[2]; b = 1; }
        lockstat::mutex:release /execname == "workers" && (args[0] != pid || args[1] != tid)/
        { wrong = 2; }
        lockstat::mutex:acquire /execname == "workers" && self->lock && args[0] == pid/
        { c = 1; }
        lockstat::mutex:acquire /execname == "workers" && self->lock && args[2] != self->lock/
        { wrong = 3; }
        sysinfo:::mutex { d = 1; }
        sysinfo:::mutex,sysinfo:::sema,sysinfo:::pswitch,sysinfo:::intr,sysinfo:::msg
        /args[0] != 1/ { wrong = 4; }
        """, "a && b && c && d"),
    "sysinfo": ("""
        sysinfo:::pswitch { a = args[0]; }
        sysinfo:::intr { b = args[0]; }
        sysinfo:::msg { c = args[0]; }
        sysinfo:::sema { d = args[0]; }
        sysinfo:::mutex { e = args[0]; }
        sysinfo:::nthreads { f = args[0]; }
        """, "a == 1 && b == 1 && c == 1 && d == 1 && e == 1 && f == 1"),
    # A return is of an entry of its line on this CPU, one of one; what a line causes is delivered
    # between the two.
    "intr": ("""
        intr:::entry { open[cpu, args[0]]++; known[cpu, args[0]] = 1; a = 1; }
        intr:::entry /args[0] < 0 || args[0] > 1023/ { wrong = 1; }
        intr:::return /known[cpu, args[0]] && open[cpu, args[0]] == 0/ { wrong = 2; }
        intr:::return /known[cpu, args[0]]/ { open[cpu, args[0]]--; b = 1; }
        intr:::return /args[1] != 0 && args[1] != 1/ { wrong = 3; }
        sdt::INT:int_handler_exit { c = 1; }
        sdt::INT:int_handler_entry /known[cpu, args[1]] && open[cpu, args[1]] == 0/ { wrong = 4; }
        sdt::INT:int_handler_exit /known[cpu, args[0]] && open[cpu, args[0]] == 0/ { wrong = 5; }
        """, "a && b && c"),
    # A timer that fires was set, and isn't early.
    "timer": ("""
        timer:::arm { due[args[0]] = args[1]; a = 1; }
        timer:::arm /!args[0]/ { wrong = 1; }
        timer:::fire /due[args[0]]/ { b = 1; }
        timer:::fire /due[args[0]] && due[args[0]] != args[1]/ { wrong = 2; }
        timer:::fire /args[1] > timestamp + 1000/ { wrong = 3; }
        """, "a && b"),
    # The types are the functions' own. ker_msg_receivev ends by a tail call: there is no value yet.
    "fbt": ("""
        fbt::ker_channel_create:entry /args[0]->pid == pid && args[0]->proc->pid == pid/ { a = 1; }
        fbt::ker_channel_create:entry /args[0]->pid != pid || (uintptr_t)args[0] != arg0/
        { wrong = 1; }
        fbt::ker_channel_create:return /args[1] > 0 && args[0] == (int)arg0/ { b = 1; }
        fbt::ker_channel_create:return /args[1] <= 0 || arg2/ { wrong = 2; }
        fbt::ker_msg_receivev:entry { self->in = 1; c = 1; }
        fbt::ker_msg_receivev:return /self->in && arg0 && arg2 == 1 && arg1 == 0/ { d = 1; }
        fbt::ker_msg_receivev:return /arg2 != 1 || arg1/ { wrong = 3; }
        fbt::timer_fire:entry /args[0]->cpu == cpu/ { e = 1; }
        """, "a && b && c && d && e"),
    # A sample is of the kernel or of a program. idle()'s is of the kernel, and then nobody runs; a
    # thread that is sampled in the kernel may wait or be gone when the probe fires, and is named.
    "profile": ("""
        profile-199 { seen[cpu] = 1; }
        profile-199 /(arg0 == 0) == (arg1 == 0)/ { wrong = 1; }
        profile-199 /arg1/ { a = 1; }
        profile-199 /arg0/ { c = 1; }
        profile-199 /arg0 && pid != 1/ { d = 1; }
        profile-199 /arg1 && pid == 1/ { wrong = 3; }
        profile-199 /arg0 && stackdepth == 0/ { wrong = 4; }
        profile-199 /arg1 && stackdepth != 0/ { wrong = 5; }
        tick-10ms { b = 1; }
        tick-10ms /cpu != 0/ { wrong = 2; }
        """, "a && b && c && d && seen[0]"),
    "dtrace": ("""
        BEGIN { a = 1; }
        sched:::on-cpu /!a/ { wrong = 1; }
        sched:::on-cpu /!tried/ { tried = 1; trace(*(int *)0); }
        ERROR { b = 1; }
        ERROR /arg4 != 1 || arg5 != 0/ { wrong = 2; }
        """, "a && b"),
}


def program(name):
    clauses, done = ROWS[name]
    return DECLARED + clauses + """
        tick-100ms /wrong/ { printf("wrong %d", wrong); exit(1); }
        tick-100ms /""" + done + """/ { printf("right"); exit(0); }
        tick-1s /++seconds == """ + str(SECONDS) + """/
        { printf("not all: """ + done.replace(" && ", " ") + """"); exit(1); }"""
