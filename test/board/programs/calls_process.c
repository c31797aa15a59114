/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of calls.h: threads, scheduling, processes, memory, names. */
#include "lib/include/kymo.h"
#include "lib/include/sys/dispatch.h"
#include "test/board/programs/calls.h"
#include "test/board/programs/check.h"
#include "test/board/programs/truth.h"

static void never(void)
{
}

static void *nothing(void *arg)
{
    return arg;
}

/* A thread that is made, never runs, and is destroyed. */
void calls_threads(void)
{
    static uint64_t stack[128];
    void *status = NULL;
    const struct _thread_attr attr = {.priority = own_priority() - 2,
                                      .policy = SCHED_FIFO,
                                      .runmask = 1,
                                      .stackaddr = stack,
                                      .stacksize = sizeof(stack),
                                      .exitfunc = never,
                                      .tls = stack + 5};

    truth_step();
    int tid = ThreadCreate(0, nothing, stack + 3, &attr);
    EXPECT_EQ(ThreadDestroy(tid, -1, (void *)0x4711), 0);
    int result = ThreadJoin(tid, &status);
    truth("fast:KER_CALL:THREAD_CREATE/46 func:" TRUTH_P " arg:" TRUTH_P, TRUTH_PTR(nothing),
          TRUTH_PTR(stack + 3));
    truth("wide:KER_CALL:THREAD_CREATE/46 pid:0 func:" TRUTH_P " arg:" TRUTH_P
          " flags:0x00000000 priority:%d policy:1 runmask:0x00000001 stackaddr:" TRUTH_P
          " stacksize:0x%08x exitfunc:" TRUTH_P " tls:" TRUTH_P,
          TRUTH_PTR(nothing), TRUTH_PTR(stack + 3), (int)attr.priority, TRUTH_PTR(stack),
          (unsigned)sizeof(stack), TRUTH_PTR(never), TRUTH_PTR(stack + 5));
    truth("KER_EXIT:THREAD_CREATE/46 ret_val:%d owner:0x%08x", tid, (unsigned)self_pid());
    truth("fast:KER_CALL:THREAD_DESTROY/47 tid:%d status:18193", tid);
    truth("wide:KER_CALL:THREAD_DESTROY/47 tid:%d priority:-1 status:18193", tid);
    truth("KER_CALL:THREAD_JOIN/50 tid:%d status:" TRUTH_P, tid, TRUTH_PTR(&status));
    if (result >= 0) {
        truth("KER_EXIT:THREAD_JOIN/50 ret_val:%d end_status:" TRUTH_P, result, TRUTH_PTR(status));
        EXPECT_EQ((uintptr_t)status, 0x4711);
    } else {
        check_fail(__FILE__, __LINE__, "ThreadJoin: %d", errno);
    }
}

void calls_scheduling(void)
{
    struct sched_param_kymo param = {0}, set = {.sched_priority = own_priority()};
    struct sched_info_kymo info = {0};

    truth_step();
    int policy = SchedGet(0, 0, &param);
    EXPECT_EQ(SchedSet(0, 0, SCHED_NOCHANGE, &set), 0);
    int result = SchedInfo(0, SCHED_RR, &info);
    truth("fast:KER_EXIT:SCHED_GET/88 ret_val:%d sched_priority:%d", policy,
          (int)param.sched_priority);
    truth("wide:KER_EXIT:SCHED_GET/88 ret_val:%d sched_priority:%d sched_curpriority:%d policy:%d",
          policy, (int)param.sched_priority, (int)param.sched_curpriority, (int)param.policy);
    truth("fast:KER_CALL:SCHED_SET/89 pid:0 sched_priority:%d", (int)set.sched_priority);
    truth("wide:KER_CALL:SCHED_SET/89 pid:0 tid:0 policy:0 sched_priority:%d",
          (int)set.sched_priority);
    truth("fast:KER_EXIT:SCHED_INFO/91 ret_val:%d priority_min:%d", result, (int)info.priority_min);
    truth("wide:KER_EXIT:SCHED_INFO/91 ret_val:%d priority_min:%d priority_max:%d "
          "priority_user_max:%d interval_ns:%llu",
          result, (int)info.priority_min, (int)info.priority_max,
          (int)info.priority_unprivileged_max, (unsigned long long)info.interval_ns);
}

static void tell_infos(const struct kymo_proc_info *p, const struct kymo_thread_info *t)
{
    truth("fast:KER_EXIT:PROC_INFO/103 ret_val:%d ppid:%d", self_pid(), (int)p->ppid);
    truth("wide:KER_EXIT:PROC_INFO/103 ret_val:%d ppid:%d status_or_zero:0x%08x ability:0x%08x "
          "nthreads:%d nchannels:%d nconnections:%d nmaps:%d ntimers:%d memory:%llu",
          self_pid(), (int)p->ppid, (unsigned)p->status_or_zero, (unsigned)p->ability,
          (int)p->nthreads, (int)p->nchannels, (int)p->nconnections, (int)p->nmaps, (int)p->ntimers,
          (unsigned long long)p->memory);
    truth("fast:KER_EXIT:THREAD_INFO/104 ret_val:within:0:0 tid:%d", (int)t->tid);
    truth("wide:KER_EXIT:THREAD_INFO/104 ret_val:within:0:0 tid:%d state:%d priority:%d "
          "base_priority:%d policy:%d cpu:%d runmask:0x%08x run_ns:%llu blocked_on:0x%016llx "
          "ip:0x%016llx",
          (int)t->tid, (int)t->state, (int)t->priority, (int)t->base_priority, (int)t->policy,
          (int)t->cpu, (unsigned)t->runmask, (unsigned long long)t->run_ns,
          (unsigned long long)t->blocked_on, (unsigned long long)t->ip);
}

void calls_processes(void)
{
    struct kymo_spawn_attr attr = {
        .priority = own_priority() - 1, .runmask = 1, .heap_size = 32768, .stack_size = 4096};
    char *argv[] = {"victim", "x", NULL};
    struct kymo_proc_info p = {0};
    struct kymo_thread_info t = {0};
    int tid = 0, ppid = 0, status = -1;

    truth_step();
    int self = ProcSelf(&tid, &ppid);
    ProcInfo(self, &p);
    ThreadInfo(self, tid, &t);
    truth("fast:KER_EXIT:PROC_SELF/105 ret_val:%d self_tid:%d", self, tid);
    truth("wide:KER_EXIT:PROC_SELF/105 ret_val:%d self_tid:%d self_ppid:%d", self, tid, ppid);
    tell_infos(&p, &t);

    truth_step();
    int child = kymo_spawn("victim", argv, &attr);
    int waited = ProcWait(child, &status, 0);
    EXPECT_EQ(waited, child);
    truth("fast:KER_CALL:PROC_SPAWN/100 priority:%d ability:0x00000000", (int)attr.priority);
    truth("wide:KER_CALL:PROC_SPAWN/100 priority:%d policy:within:0:0 ability:0x00000000 "
          "runmask:0x00000001 stack_size:4096 heap_size:32768 argc:2",
          (int)attr.priority);
    truth("PROCESS :PROCCREATE_NAME ppid:%d pid:%d name:victim", self, child);
    truth("KER_EXIT:PROC_SPAWN/100 ret_val:%d", child);
    truth("fast:KER_CALL:PROC_WAIT/102 pid:%d options:0", child);
    truth("wide:KER_CALL:PROC_WAIT/102 pid:%d status:" TRUTH_P " options:0", child,
          TRUTH_PTR(&status));
    truth("KER_EXIT:PROC_WAIT/102 ret_val:%d end_status:0x%08x", child, (unsigned)status);
}

void calls_memory(void)
{
    struct kymo_map map = {.len = 8192, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    truth_step();
    EXPECT_EQ(MemMap(&map), 0);
    EXPECT_EQ(MemProtect((void *)(uintptr_t)map.vaddr, map.len, KYMO_PROT_READ), 0);
    EXPECT_EQ(MemUnmap((void *)(uintptr_t)map.vaddr, map.len), 0);
    truth("fast:KER_CALL:MEM_MAP/106 len:0x00002000 flags:0x00000003");
    truth("wide:KER_CALL:MEM_MAP/106 phys:0x0000000000000000 len:0x0000000000002000 "
          "flags:0x00000003");
    truth("fast:SYSTEM :MMAP pid:%d addr:0x%016llx len:0x%016llx flags:0x%08x", self_pid(),
          (unsigned long long)map.vaddr, (unsigned long long)map.len, (unsigned)map.flags & 0xff);
    truth("fast:KER_EXIT:MEM_MAP/106 ret_val:0");
    truth("wide:KER_EXIT:MEM_MAP/106 ret_val:0 vaddr:0x%016llx len:0x%016llx phys:0x%016llx",
          (unsigned long long)map.vaddr, (unsigned long long)map.len, (unsigned long long)map.phys);
    truth("fast:KER_CALL:MEM_PROTECT/125 addr:" TRUTH_P " prot:1", TRUTH_PTR(map.vaddr));
    truth("wide:KER_CALL:MEM_PROTECT/125 addr:" TRUTH_P " len:%d prot:1", TRUTH_PTR(map.vaddr),
          (int)map.len);
    truth("KER_EXIT:MEM_PROTECT/125 ret_val:0");
    truth("KER_CALL:MEM_UNMAP/107 addr:" TRUTH_P " len:%d", TRUTH_PTR(map.vaddr), (int)map.len);
    truth("SYSTEM :MUNMAP pid:%d addr:0x%016llx len:0x%016llx", self_pid(),
          (unsigned long long)map.vaddr, (unsigned long long)map.len);
}

void calls_names(void)
{
    static const char name[] = "calls/names";
    struct kymo_name found = {0};
    int chid = ChannelCreate(0);

    truth_step();
    int id = NameAttach(name, chid);
    EXPECT_EQ(NameLookup(name, &found), 0);
    EXPECT_EQ(NameDetach(id), 0);
    truth("KER_CALL:NAME_ATTACH/108 name:" TRUTH_P " chid:%d", TRUTH_PTR(name), chid);
    truth("KER_EXIT:NAME_ATTACH/108 ret_val:%d", id);
    truth("KER_CALL:NAME_LOOKUP/110 name:" TRUTH_P " out:" TRUTH_P, TRUTH_PTR(name),
          TRUTH_PTR(&found));
    truth("SYSTEM :PATHMGR_OPEN pid:%d tid:%d path:calls/names", self_pid(), self_tid());
    truth("fast:KER_EXIT:NAME_LOOKUP/110 ret_val:0 pid:%d", self_pid());
    truth("wide:KER_EXIT:NAME_LOOKUP/110 ret_val:0 pid:%d chid:%d", self_pid(), chid);
    truth("KER_CALL:NAME_DETACH/109 id:%d", id);
    ChannelDestroy(chid);
}
