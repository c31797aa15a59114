# SPDX-License-Identifier: BSD-2-Clause
"""What each probe says of what test/board/programs/causes.c does, for causes.py.

A row: step, `=` or `+`, probe, its arguments. `=`: within the step the probe fires for the program
and its children as often as it has such rows, and with these arguments; `+`: with these at least
once. An argument is a Python expression without blanks: facts that the program told in the step or
before, P: its pid; ANY; `nonzero`; `?name`: the same wherever it stands in the step; `near(x)`:
not more than a microsecond from it; `within(x,n)`: of the n from x on. profile has no types, so
these are arg0 and arg1. fbt is not here: test/board's fbt calls every function of the kernel.
"""

STATES = {"SEND": 4, "RECEIVE": 5, "REPLY": 6, "WAITTHREAD": 8, "NANOSLEEP": 12, "SEM": 17}

ROWS = """
child = proc::create              P child 'victim'
child = proc::exec                child 'victim' ?text
child = proc::lwp-create          child 1
child = proc::lwp-start           child 1
child = proc::lwp-exit            child 1
child = proc::exit                child P
child = sysinfo::nthreads         1
child = proc::start               child
child = proc::exec-success        child
child = sysinfo::sysexec          1
child = sdt:PR_TH:proc_create_name P child 'victim'
child = sdt:PR_TH:proc_destroy    P child
child = sdt:PR_TH:thread_create   child 1
child = sdt:PR_TH:thread_destroy  child 1
child = sdt:PR_TH:thread_stopped  child 1 priority-1 policy
child = sdt:PR_TH:thread_dead     child 1 priority-1 policy
child = sdt:PR_TH:thread_waitthread P 1 priority policy
child = sdt:SYSTEM:mapname        child ?text nonzero 'victim'
child = syscall:proc_exit:entry   child_status

fault = proc::fault               fault_child 1 11 16 ?ip
fault = sysinfo::trap             1
fault = vminfo::prot_fault        fault_child 16 ?ip
fault = sdt:SYSTEM:slog           1 1 starts('victim_terminated:_SIGSEGV')

kill = proc::signal-send          15 7 killed P
kill = sdt:COMM:comm_signal       15 7 0 killed P 0x1234 0 0 0 0
alarm + proc::signal-send         14 0 alarmed 0
alarm + sdt:COMM:comm_signal      14 0 0 alarmed 0 ANY 0 0 0 0

taken = proc::signal-clear        15 P
taken = proc::signal-clear        2 P
remain + sched::remain-cpu        P 1 priority+1
remain + sched::remain-cpu        P 1 priority
quantum + sched::tick             P 1 priority
quantum + sched::preempt          P 1 priority

dump + sdt:PR_TH:thread_waitctx   dumper 1 priority-1 policy

message = msg::send               rcvid P
message = msg::receive            rcvid P
message = msg::read               rcvid P 5
message = msg::write              rcvid P 6
message = msg::reply              1 P
message = sysinfo::msg            1
message = sdt:COMM:comm_snd_message rcvid P
message = sdt:COMM:comm_rec_message rcvid P
message = sdt:COMM:comm_reply_message 1 P
message = sdt:PR_TH:thread_receive P server priority+1 policy
message = sdt:PR_TH:thread_reply  P 1 priority policy
message + syscall:msg_sendv:return 21 21

refused = msg::error              client P
refused = sdt:COMM:comm_msg_error client P
refused = sdt:PR_TH:thread_send   P client priority+1 policy

pulse = msg::pulse                pulse_scoid P
pulse = sdt:COMM:comm_snd_pulse   pulse_scoid P
pulse = sdt:COMM:comm_rec_pulse   pulse_scoid P
event = msg:event:pulse           event_scoid P
event = sdt:COMM:comm_snd_pulse_exe event_scoid P
disconnect = msg:disconnect:pulse leaving_scoid P
disconnect = sdt:COMM:comm_snd_pulse_dis leaving_scoid P
dead = msg:dead:pulse             0 P
dead = sdt:COMM:comm_snd_pulse_dea 0 P
unblock = msg:unblock:pulse       scoid P
unblock = sdt:COMM:comm_snd_pulse_un scoid P

mutex = lockstat:mutex:block      P waiter priority+1
mutex = lockstat:mutex:release    P 1 mutex
mutex = lockstat:mutex:acquire    P waiter mutex
mutex = plockstat::mutex-block    mutex
mutex = plockstat::mutex-block    mutex
mutex = plockstat::mutex-blocked  1
mutex = plockstat::mutex-blocked  1
mutex = plockstat::mutex-release  mutex
mutex = plockstat::mutex-release  mutex
mutex = sysinfo::mutex            1
mutex = sched::change-pri         P 1 priority+1 priority
mutex = sched::change-pri         P 1 priority priority+1
mutex = sdt:PR_TH:thread_mutex    P waiter priority+1 policy

semaphore = sysinfo::sema         1
semaphore = sched::sleep          P taker priority+1 SEM
semaphore = sched::wakeup         P taker priority+1 SEM
semaphore = sdt:PR_TH:thread_sem  P taker priority+1 policy
condvar = sdt:PR_TH:thread_condvar P hearer priority+1 policy
join = sdt:PR_TH:thread_join      P 1 priority policy

sleep = sdt:PR_TH:thread_nanosleep P 1 priority policy
sleep = sched::sleep              P 1 priority NANOSLEEP
sleep = sched::wakeup             P 1 priority NANOSLEEP
sleep + sched::off-cpu            P 1 priority ANY ANY
sleep + sched::on-cpu             P 1 priority
sleep + sysinfo::pswitch          1

yield = sched::surrender
yield + sysinfo::inv_swtch        1
yield + sysinfo::syscall          1
yield + sched::preempt            P 1 priority
yield + sched::enqueue            P equal priority
yield + sched::enqueue            P 1 priority
yield + sched::dequeue            P equal priority
yield + sched::dequeue            P 1 priority
yield + sdt:PR_TH:thread_ready    P 1 priority policy
yield + sdt:PR_TH:thread_ready    P equal priority policy
yield + sdt:PR_TH:thread_running  P equal priority policy
yield + sdt:PR_TH:thread_running  P 1 priority policy

timer + timer::arm                ?timer near(due)
timer + timer::fire               ?timer near(due)

interrupt + intr::entry           line ANY
interrupt + intr::return          line within(0,2)
interrupt + sysinfo::intr         1
interrupt + sdt:INT:int_entry     line ANY
interrupt + sdt:INT:int_exit      line within(0,2)
interrupt = sdt:INT:int_handler_entry P line 0 0
interrupt = sdt:INT:int_handler_entry P line 0 0
interrupt + sdt:INT:int_handler_exit line 4 coid 7 77
interrupt + sdt:INT:int_handler_exit line 6 ANY ANY ANY
interrupt = sdt:PR_TH:thread_intr P 1 priority policy

map = sdt:SYSTEM:mmap             P vaddr len flags&255 3 -1 0 phys ''
map = sdt:SYSTEM:munmap           P vaddr len
map = vminfo::map                 len vaddr P
map = vminfo::unmap               len vaddr P
scarce = vminfo::nomem            1
scarce = proc::exec-failure       spawn_error
names = sdt:PR_TH:thread_name     P 1 'caused'
names = sdt:SYSTEM:pathmgr_open   P 1 'nowhere/to/be/found'

places = sdt:SYSTEM:address       nonzero 0
places = sdt:SYSTEM:function_enter 0x1230 0x4560
places = sdt:SYSTEM:function_exit 0x1240 0x4570

user = user::simple               5 6 7 6+(7<<32)
user = user::combine              6 nonzero 3 10+(20<<32)
user = user::combine              6 nonzero 4 10+(20<<32)
user = user::combine              6 nonzero 3 10+(20<<32)
user = user::combine              6 nonzero 16 10+(20<<32)
user = user::combine              6 nonzero 17 10+(20<<32)
user = user::combine              6 nonzero 1 10
user = user::combine              6 nonzero 0 0
user = user::string               7 starts('words_of_a_user')
user + user::system               1022 nonzero 3 0xf4a00000+(1<<32)

spin + lockstat:kernel:spin       nonzero
spin + sysinfo::xcalls            nonzero
work + profile::profile-97       0 within(works,256)
work + profile::tick-97          0 nonzero
"""

# Races between CPUs: asked until it happens.
RACES = ("spin",)

# Static probes of programs, which another test causes: by provider.
ELSEWHERE = {"kymo": "test/board/sysprobes.py", "io": "test/board/ioprobes.py"}

# What no program can cause, and why.
NEVER = {
    ("syscall", "proc_exit", "return"): "who ends does not come back",
}
# What one CPU alone can't cause.
NEVER_ALONE = {
    ("lockstat", "kernel", "spin"): "with one CPU nobody else has the kernel's lock",
    ("sysinfo", "", "xcalls"): "there is no other CPU to interrupt",
}
