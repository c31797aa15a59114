/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes: spawn, exit, wait, and death while blocked in every state, so often that anything left
 * behind would make a table or the memory run out.
 */
#include "test/board/programs/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/include/kymo.h"

#define OFTEN 20 /* more than there are processes; with laden ones more than timers, names, … */

#define CPUS_MOST 8

static struct link to;
static char address[24]; /* "pid:chid" for the victim */

static int wait_for(int pid)
{
    int status = -1;

    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    return status;
}

static int kill_and_wait(int pid)
{
    int status;

    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0), 0);
    status = wait_for(pid);
    EXPECT_EQ(KYMO_STATUS_SIGNAL(status), KYMO_SIGKILL);
    return status;
}

static void t_exit_status(void)
{
    int pid = spawn("victim", 0, 0, NULL, NULL, NULL);
    int status = wait_for(pid);

    EXPECT(KYMO_STATUS_EXITED(status));
    EXPECT_EQ(KYMO_STATUS_CODE(status), 99);
    EXPECT_ERR(ProcWait(pid, &status, 0), ECHILD);
    EXPECT_ERR(ProcWait(0, &status, KYMO_WAIT_NOHANG), ECHILD);
    EXPECT_ERR(ProcWait(1, &status, 0), ECHILD);
}

static void t_nohang(void)
{
    int pid = spawn("victim", 0, 0, "block", "nanosleep", NULL), status = -1;

    EXPECT_EQ(ProcWait(0, &status, KYMO_WAIT_NOHANG), 0);
    wait_state(pid, 1, STATE_NANOSLEEP);
    kill_and_wait(pid);
}

static int spawn_held(const char *a, const char *b)
{
    struct kymo_spawn_attr attr = {.flags = KYMO_SPAWN_HOLD};
    char *argv[] = {"victim", (char *)a, (char *)b, NULL};
    int pid = kymo_spawn("victim", argv, &attr);

    EXPECT(pid > 0);
    return pid;
}

/* How deep each CPU's kernel stack has been, as its idle thread's; it never becomes less. */
static void t_kernel_stacks(void)
{
    for (int tid = 1; tid <= CPUS_MOST; tid++) {
        struct kymo_thread_info before = {0}, after = {0};

        if (ThreadInfo(1, tid, &before) != tid) {
            break;
        }
        kill_and_wait(spawn_held(NULL, NULL));
        EXPECT_EQ(ThreadInfo(1, tid, &after), tid);
        bool runs = kymo_cpu_mask() >> (tid - 1) & 1;
        EXPECT(!runs || before.stack_used >= 200);
        EXPECT(before.stack_used <= after.stack_used);
        EXPECT(after.stack_used < after.stack_bytes && after.stack_bytes == before.stack_bytes);
    }
}

/* A held process executes nothing, whatever others do to it, until it gets SIGCONT. */
static void t_held(void)
{
    struct kymo_thread_info info = {0};
    struct sched_param_kymo param = {.sched_priority = 9};
    int pid = spawn_held(NULL, NULL), status = -1;

    sleep_ms(20);
    EXPECT_EQ(SchedSet(pid, 1, SCHED_RR, &param), 0);
    EXPECT_EQ(SignalKill(0, pid, 0, 0, 0, 0), 0);
    sleep_ms(5);
    EXPECT_EQ(ThreadInfo(pid, 1, &info), 1);
    EXPECT_EQ(info.state, STATE_STOPPED);
    EXPECT_EQ(info.run_ns, 0);
    EXPECT_EQ(info.priority, 9);
    EXPECT_EQ(ProcWait(pid, &status, KYMO_WAIT_NOHANG), 0);
    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGCONT, 0, 0), 0);
    EXPECT_EQ(KYMO_STATUS_CODE(wait_for(pid)), 99);
}

/* SIGCONT is nothing to one that runs, also a second one. */
static void t_continued_twice(void)
{
    int pid = spawn_held("block", "nanosleep");

    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGCONT, 0, 0), 0);
    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGCONT, 0, 0), 0);
    wait_state(pid, 1, STATE_NANOSLEEP);
    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGCONT, 0, 0), 0);
    EXPECT_EQ(SignalKill(0, self_pid(), 0, KYMO_SIGCONT, 0, 0), 0);
    wait_state(pid, 1, STATE_NANOSLEEP);
    kill_and_wait(pid);
}

static void t_killed_held(void)
{
    for (int i = 0; i < OFTEN; i++) {
        kill_and_wait(spawn_held("block", "nanosleep"));
    }
}

static unsigned processes(void)
{
    struct kymo_proc_info info = {0};
    unsigned n = 0;

    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        n++;
    }
    return n;
}

/* What nobody waits for ends at its own priority. */
static void wait_processes(unsigned wanted)
{
    for (int ms = 0; ms < 2000 && processes() != wanted; ms++) {
        sleep_ms(1);
    }
    EXPECT_EQ(processes(), wanted);
}

/* What is held ends with its parent, which alone would start it; what was continued goes on. */
static void t_parent_of_held_dies(void)
{
    unsigned before = processes();
    struct kymo_proc_info info = {0};
    int pid = spawn("victim", ABILITY_SPAWN, 0, "block", "parent_of_held", NULL), left = 0;

    EXPECT(pid > 0);
    wait_state(pid, 1, STATE_NANOSLEEP);
    EXPECT_EQ(processes(), before + 3);
    kill_and_wait(pid);
    wait_processes(before + 1);
    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        left = info.ppid == 0 && strcmp(info.name, "victim") == 0 ? info.pid : left;
    }
    EXPECT(wait_state(left, 1, STATE_NANOSLEEP));
    EXPECT_EQ(SignalKill(0, left, 0, KYMO_SIGKILL, 0, 0), 0);
    wait_processes(before);
}

/* A child that is disowned goes on, one that is held or has ended goes; none is a child again. */
static void t_disowned(void)
{
    unsigned before = processes();
    int held = spawn_held("block", "nanosleep"), ends = spawn("victim", 0, 0, NULL, NULL, NULL);
    int pid = spawn("victim", 0, 0, "block", "nanosleep", NULL);
    struct kymo_proc_info info = {0};

    wait_state(pid, 1, STATE_NANOSLEEP);
    for (int ms = 0; ms < 2000 && ProcInfo(ends, &info) == ends && info.nthreads; ms++) {
        sleep_ms(1);
    }
    EXPECT_EQ(processes(), before + 3); /* a zombie among them */
    EXPECT_EQ(ProcWait(held, NULL, KYMO_WAIT_DISOWN), held);
    EXPECT_EQ(ProcWait(ends, NULL, KYMO_WAIT_DISOWN | KYMO_WAIT_NOHANG), ends);
    wait_processes(before + 1);
    EXPECT_EQ(ProcWait(pid, NULL, KYMO_WAIT_DISOWN), pid);
    EXPECT_EQ(processes(), before + 1);
    EXPECT_ERR(ProcWait(pid, NULL, KYMO_WAIT_DISOWN), ECHILD);
    EXPECT_ERR(ProcWait(0, NULL, KYMO_WAIT_NOHANG), ECHILD);
    EXPECT_ERR(ProcWait(0, NULL, 2), EINVAL);
    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0), 0);
    wait_processes(before);
}

struct waiter {
    int pid, returned, error;
};

static void *wait_as_told(void *arg)
{
    struct waiter *w = arg;

    errno = 0;
    w->returned = ProcWait(w->pid, NULL, 0);
    w->error = errno;
    return NULL;
}

/* Threads that wait for a child, or for any, are told when another thread gives up the last one
 * that they could have got. */
static void t_disowned_while_waited_for(void)
{
    unsigned before = processes();
    int pid = spawn("victim", 0, 0, "block", "nanosleep", NULL);
    int last = spawn("victim", 0, 0, "block", "nanosleep", NULL);
    struct waiter one = {.pid = pid}, any = {.pid = 0};
    int tid_one = start_thread(wait_as_told, &one, 0),
        tid_any = start_thread(wait_as_told, &any, 0);

    EXPECT(wait_state(pid, 1, STATE_NANOSLEEP) && wait_state(last, 1, STATE_NANOSLEEP));
    EXPECT(wait_state(self_pid(), tid_one, STATE_WAITTHREAD) &&
           wait_state(self_pid(), tid_any, STATE_WAITTHREAD));
    EXPECT_EQ(ProcWait(pid, NULL, KYMO_WAIT_DISOWN), pid);
    join(tid_one);
    EXPECT_EQ(one.returned, -1);
    EXPECT_EQ(one.error, ECHILD);
    EXPECT(wait_state(self_pid(), tid_any, STATE_WAITTHREAD));
    EXPECT_EQ(ProcWait(last, NULL, KYMO_WAIT_DISOWN), last);
    join(tid_any);
    EXPECT_EQ(any.returned, -1);
    EXPECT_EQ(any.error, ECHILD);
    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0), 0);
    EXPECT_EQ(SignalKill(0, last, 0, KYMO_SIGKILL, 0, 0), 0);
    wait_processes(before);
}

#define SLOW_SPAWNS 3

static volatile int slow_failed;
static volatile bool slow_stop;

/* Spawns all the time; `arg` is its pause in us. */
static void *spawns_slowly(void *arg)
{
    while (!slow_stop) {
        struct timespec pause = {0, (long)(uintptr_t)arg * 1000};
        int pid = spawn("victim", 0, 0, NULL, NULL, NULL);

        if (pid < 0) {
            slow_failed = errno;
        } else {
            ProcWait(pid, NULL, 0);
        }
        nanosleep(&pause, NULL);
    }
    return NULL;
}

/* Threads of rising priorities interrupt each other amid their spawns: none of them, however many
 * spawns are under way below it, is refused. */
static void t_spawns_at_once(void)
{
    int tids[SLOW_SPAWNS];

    slow_stop = false;
    slow_failed = 0;
    for (unsigned i = 0; i < SLOW_SPAWNS; i++) {
        tids[i] = start_thread(spawns_slowly, (void *)(uintptr_t)(70 + 130 * i), (int)(11 + i));
    }
    sleep_ms(300);
    slow_stop = true;
    for (unsigned i = 0; i < SLOW_SPAWNS; i++) {
        join(tids[i]);
    }
    EXPECT_EQ(slow_failed, 0);
}

static void t_spawn_errors(void)
{
    struct kymo_spawn s = {0};

    EXPECT_ERR(spawn("no such program", 0, 0, NULL, NULL, NULL), ENOENT);
    EXPECT_ERR(spawn("start", 0, 0, NULL, NULL, NULL), ENOEXEC); /* the script is no ELF */
    EXPECT_ERR(spawn("victim", ABILITY_RESET, 0, NULL, NULL, NULL), EPERM); /* has it not itself */
    EXPECT_ERR(spawn("victim", 0, 300, NULL, NULL, NULL), EINVAL);
    EXPECT_ERR(spawn("victim", 0, 100, NULL, NULL, NULL), EPERM);
    memset(s.program, 'x', sizeof(s.program)); /* no NUL */
    EXPECT_EQ(ProcSpawn(&s), -1);
    EXPECT(errno == EINVAL || errno == ENAMETOOLONG);
    memset(&s, 0, sizeof(s));
    strcpy(s.program, "victim");
    s.flags = 4; /* no such flag */
    EXPECT_ERR(ProcSpawn(&s), EINVAL);
    s.flags = 0;
    s.argc = 9;
    s.arg_bytes = 3; /* not 9 strings */
    EXPECT_ERR(ProcSpawn(&s), EINVAL);
    s.argc = 1;
    s.arg_bytes = KYMO_ARG_MAX + 1;
    EXPECT_EQ(ProcSpawn(&s), -1);
    s.argc = s.arg_bytes = 0;
    s.heap_size = 0xfffff000u;
    EXPECT_EQ(ProcSpawn(&s), -1);
    EXPECT(errno == EINVAL || errno == ENOMEM);
    s.heap_size = 0x40000000u;
    EXPECT_ERR(ProcSpawn(&s), ENOMEM);
}

/* ---- death while blocked ----------------------------------------------------------- */

static int start_victim(const char *state, uint32_t ability)
{
    int pid = spawn("victim", ability, 0, "block", state, address);

    EXPECT(pid > 0);
    return pid;
}

static void die_in(const char *name, int state, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        int pid = start_victim(name, 0);

        if (pid < 0 || !wait_state(pid, 1, state)) {
            break;
        }
        kill_and_wait(pid);
    }
}

static void t_receive(void)
{
    die_in("receive", STATE_RECEIVE, OFTEN);
}
static void t_nanosleep(void)
{
    die_in("nanosleep", STATE_NANOSLEEP, OFTEN);
}
static void t_mutex(void)
{
    die_in("mutex", STATE_MUTEX, OFTEN);
}
static void t_condvar(void)
{
    die_in("condvar", STATE_CONDVAR, OFTEN);
}
static void t_join(void)
{
    die_in("join", STATE_JOIN, OFTEN);
}
static void t_sem(void)
{
    die_in("sem", STATE_SEM, OFTEN);
}
static void t_laden(void)
{
    die_in("laden", STATE_NANOSLEEP, 3 * OFTEN);
}

static void t_send(void)
{
    to = make_link(0);
    snprintf(address, sizeof(address), "%d:%d", self_pid(), to.chid);
    die_in("send", STATE_SEND, OFTEN);
    drop_link(&to);
}

static void t_reply(void)
{
    char c;

    to = make_link(0);
    snprintf(address, sizeof(address), "%d:%d", self_pid(), to.chid);
    for (int i = 0; i < OFTEN; i++) {
        int pid = start_victim("reply", 0);
        int rcvid = MsgReceive(to.chid, &c, 1, NULL);

        EXPECT(rcvid > 0);
        wait_state(pid, 1, STATE_REPLY);
        kill_and_wait(pid);
        EXPECT_ERR(MsgReply(rcvid, 0, &c, 1), ESRCH);
        EXPECT_ERR(MsgWrite(rcvid, &c, 1, 0), ESRCH);
    }
    drop_link(&to);
}

/* A server that wants to be told still can't keep a dying client. */
static void t_reply_unblock(void)
{
    char msg[sizeof(struct _pulse)];
    int pid, rcvid;

    to = make_link(_NTO_CHF_UNBLOCK);
    snprintf(address, sizeof(address), "%d:%d", self_pid(), to.chid);
    pid = start_victim("reply", 0);
    rcvid = MsgReceive(to.chid, msg, sizeof(msg), NULL);
    EXPECT(rcvid > 0);
    kill_and_wait(pid);
    EXPECT_ERR(MsgReply(rcvid, 0, NULL, 0), ESRCH);
    drop_link(&to);
}

static void t_intr(void)
{
    unsigned irq = 30;

    snprintf(address, sizeof(address), "%u", irq);
    for (int i = 0; i < OFTEN; i++) {
        int pid = start_victim("intr", ABILITY_INTERRUPT);

        if (!wait_state(pid, 1, STATE_INTR)) {
            break;
        }
        kill_and_wait(pid);
    }
}

static void t_running(void)
{
    for (int i = 0; i < 5; i++) {
        int pid = spawn("victim", 0, 5, "block", "running", NULL);

        sleep_ms(3);
        kill_and_wait(pid);
    }
}

/* Its child lives on and is found and ended here. */
static void t_waitthread(void)
{
    struct kymo_proc_info info = {0};
    int pid = start_victim("waitthread", ABILITY_SPAWN), orphans = 0;

    wait_state(pid, 1, STATE_WAITTHREAD);
    kill_and_wait(pid);
    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        if (strcmp(info.name, "victim") == 0 && info.status_or_zero == 0) {
            EXPECT_EQ(SignalKill(0, info.pid, 0, KYMO_SIGKILL, 0, 0), 0);
            orphans++;
        }
    }
    EXPECT_EQ(orphans, 1);
    sleep_ms(5);
}

/* ---- the other side of a death ----------------------------------------------------- */

static void t_server_dies(void)
{
    struct kymo_name name;
    char c = 1;
    struct link watch = make_link(_NTO_CHF_COID_DISCONNECT);
    struct _pulse pulse;
    int coid, pid = start_victim("laden", 0); /* registers the name "victim", never receives */
    uint64_t ns = 5 * MS;

    for (int i = 0; i < 60000 && NameLookup("victim", &name) < 0; i++) {
        sleep_ms(1);
    }
    EXPECT_EQ(name.pid, pid);
    coid = ConnectAttach(0, name.pid, name.chid, _NTO_SIDE_CHANNEL, 0);
    EXPECT(coid > 0);
    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_SEND, NULL, &ns, NULL);
    EXPECT_ERR(MsgSend(coid, &c, 1, &c, 1), ETIMEDOUT);
    kill_and_wait(pid);
    EXPECT_EQ(MsgReceivePulse(watch.chid, &pulse, sizeof(pulse), NULL), 0);
    EXPECT_EQ(pulse.code, _PULSE_CODE_COIDDEATH);
    EXPECT_EQ(pulse.value.sival_int, coid);
    EXPECT_ERR(MsgSend(coid, &c, 1, &c, 1), ESRCH);
    EXPECT_EQ(ConnectDetach(coid), 0);
    EXPECT_ERR(NameLookup("victim", &name), ENOENT);
    EXPECT_ERR(ConnectAttach(0, pid, 1, _NTO_SIDE_CHANNEL, 0), ESRCH);
    drop_link(&watch);
}

static void t_kill_errors(void)
{
    EXPECT_ERR(SignalKill(0, 99999, 0, KYMO_SIGKILL, 0, 0), ESRCH);
    EXPECT_ERR(SignalKill(0, self_pid(), 0, 999, 0, 0), EINVAL);
    EXPECT_ERR(SignalKill(0, self_pid(), 0, -1, 0, 0), EINVAL);
    EXPECT_EQ(SignalKill(0, self_pid(), 0, 0, 0, 0), 0);    /* only asks */
    EXPECT_EQ(SignalKill(0, 1, 0, KYMO_SIGKILL, 0, 0), -1); /* the kernel */
    EXPECT(errno == EPERM || errno == ESRCH);
}

static uint64_t memory_of_all(unsigned *threads, unsigned *channels)
{
    struct kymo_proc_info info = {0};
    uint64_t sum = 0;

    *threads = *channels = 0;
    for (int at = 1; ProcInfo(at, &info) > 0; at = info.pid + 1) {
        sum += info.memory;
        *threads += info.nthreads;
        *channels += info.nchannels;
    }
    return sum;
}

static uint64_t memory_before;
static unsigned threads_before, channels_before;

/* The library keeps the stacks of threads that have ended: as many as there will be. */
static void t_before(void)
{
    struct waiter none[SLOW_SPAWNS] = {{.pid = 0}};
    int tids[SLOW_SPAWNS];

    for (unsigned i = 0; i < SLOW_SPAWNS; i++) {
        tids[i] = start_thread(wait_as_told, &none[i], 0);
    }
    for (unsigned i = 0; i < SLOW_SPAWNS; i++) {
        join(tids[i]);
    }
    memory_before = memory_of_all(&threads_before, &channels_before);
    EXPECT(memory_before > 0);
}

static void t_nothing_left(void)
{
    unsigned threads, channels;

    EXPECT_EQ(memory_of_all(&threads, &channels), memory_before);
    EXPECT_EQ(threads, threads_before);
    EXPECT_EQ(channels, channels_before);
}

static const struct check table[] = {
    {"account before", t_before},
    {"exit status", t_exit_status},
    {"wait without blocking", t_nohang},
    {"kernel stacks", t_kernel_stacks},
    {"held until it is continued", t_held},
    {"continued twice", t_continued_twice},
    {"killed while held", t_killed_held},
    {"a held child's parent dies", t_parent_of_held_dies},
    {"disowned", t_disowned},
    {"disowned while waited for", t_disowned_while_waited_for},
    {"spawns at once", t_spawns_at_once},
    {"spawn errors", t_spawn_errors},
    {"kill errors", t_kill_errors},
    {"killed in RECEIVE", t_receive},
    {"killed in SEND", t_send},
    {"killed in REPLY", t_reply},
    {"killed in REPLY, unblock wanted", t_reply_unblock},
    {"killed in NANOSLEEP", t_nanosleep},
    {"killed in MUTEX", t_mutex},
    {"killed in CONDVAR", t_condvar},
    {"killed in JOIN", t_join},
    {"killed in SEM", t_sem},
    {"killed in INTR", t_intr},
    {"killed in WAITTHREAD", t_waitthread},
    {"killed while running", t_running},
    {"killed holding everything", t_laden},
    {"server dies", t_server_dies},
    {"nothing left behind", t_nothing_left},
};

int main(void)
{
    return check_run("proc", table, COUNT(table));
}
