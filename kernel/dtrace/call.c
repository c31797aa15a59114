/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DtraceControl(): trace/dtrace/control.c with a copy in and a copy out. Kernel lock held, which is
 * the machine's control lock. The machine examines its own copy of the caller's data, so another
 * thread of the caller can't change it meanwhile. Errors: abi/sys/dtrace.h.
 *
 * The machine's cleaning runs on a timer while there are consumers, including the event log's gate.
 * Tested by test/board's suites d and gate.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"
#include "kernel/base/window.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/elf.h"
#include "kernel/arch/irq.h"
#include "kernel/dtrace/dtrace.h"
#include KERNEL_USER_PROBES_H
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"
#include "kernel/base/string.h"
#include "kernel/observe/observe.h"
#include "trace/dtrace/control.h"
#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"

_Static_assert(DTRACE_CONTROL_CONSUMERS == CONFIG_D_CONSUMERS, "what quotas share out");
_Static_assert(DTRACE_CPUS_MOST >= CONFIG_CPUS, "each CPU has its own address of an error");

#define CLEAN_LATER 1000000u /* nanoseconds */

static struct timer_node cleaner; /* [k] */
static bool idle;                 /* [k] the timer is set late: a new consumer needs it earlier */

static void call_clean(struct timer_node *node)
{
    bool wait = long_call_pending(); /* it may be changing the data that is to be cleaned */
    uint64_t ns = wait ? CLEAN_LATER : dtrace_machine_clean();

    idle = ns >= DTRACE_CLEAN_IDLE;
    if (dtrace_consumers) {
        timer_node_start(node, arch_cycles() + clock_ns_to_cycles(ns));
    }
}

void dtrace_clean_from_now_on(void)
{
    if (dtrace_consumers && (idle || !timer_node_running(&cleaner))) {
        call_clean(&cleaner);
    }
}

/* Copies the caller's bytes. Returns NULL with the error in *error. Zero bytes are a valid
 * block. */
static void *block_of(struct process *proc, uintptr_t from, size_t bytes, int *error)
{
    void *block = dtrace_port_alloc(bytes + !bytes);

    *error = block ? 0 : -ENOMEM;
    for (size_t at = 0, n; from && at < bytes && !*error; at += n) {
        n = bytes - at < DTRACE_COPY_STEP ? bytes - at : DTRACE_COPY_STEP;
        *error = copy_in(proc, (char *)block + at, from + at, n);
        kernel_window();
    }
    if (*error && block) {
        dtrace_port_free(block, bytes + !bytes);
        block = NULL;
    }
    return block;
}

static void block_free(void *block, size_t bytes)
{
    dtrace_port_free(block, bytes + !bytes);
}

static uint32_t rights_of(const struct process *proc)
{
    static const struct {
        uint16_t ability, right;
    } table[] = {{ABILITY_DTRACE_USER, DTRACE_MAY_OWN},
                 {ABILITY_DTRACE_KERNEL, DTRACE_MAY_KERNEL},
                 {ABILITY_DTRACE_DESTRUCTIVE, DTRACE_MAY_DESTROY},
                 {ABILITY_TRACE, DTRACE_MAY_LOG}};
    uint32_t rights = 0;

    for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
        rights |= process_able(proc, table[i].ability) ? table[i].right : 0;
    }
    return rights;
}

/* The owner's other threads may unmap its memory in a window, so each piece looks the memory up
 * again. */
int dtrace_control_give(const void *owner, void *to, const void *from, size_t bytes)
{
    struct process *proc = (struct process *)owner;
    int error = 0;

    for (size_t at = 0, n; at < bytes && !error; at += n) {
        n = bytes - at < DTRACE_COPY_STEP ? bytes - at : DTRACE_COPY_STEP;
        error = copy_out(proc, (uintptr_t)to + at, (const char *)from + at, n);
        kernel_window();
    }
    return error;
}

/* Executes the call after its input has been copied: allocates room for the output, calls, copies
 * the answer out. The contents of a buffer, for a copy of which there may not be enough memory, are
 * copied directly. */
static int call_with(struct process *proc, struct kymo_d_call *call, const void *in, void *out)
{
    uint32_t room = call->out_bytes;
    int error;

    if (call->command == KYMO_D_BUFFER || call->command == KYMO_D_AGGREGATION) {
        return dtrace_control(proc, rights_of(proc), call, in, out);
    }
    void *to = block_of(proc, 0, room, &error);
    if (!to) {
        return error;
    }
    const uint32_t rights = rights_of(proc);
    int result = dtrace_user_call(proc, rights, call, in, to)
                     ? call->result
                     : dtrace_control(proc, rights, call, in, to);
    error = dtrace_control_give(proc, out, to, call->out_bytes);
    block_free(to, room);
    return error ? error : result;
}

static long call_dtrace(struct thread *self, const uintptr_t *args)
{
    struct process *proc = self->proc;
    struct kymo_d_call call;
    int error;

    if (!(rights_of(proc) & (DTRACE_MAY_OWN | DTRACE_MAY_KERNEL))) {
        return -EPERM;
    }
    if (copy_in(proc, &call, args[0], sizeof(call))) {
        return -EFAULT;
    }
    if (call.in_bytes > KYMO_D_IN_MOST || call.out_bytes > KYMO_D_OUT_MOST) {
        return -EMSGSIZE;
    }
    if (!vm_user_ok(proc, args[0], sizeof(call), KYMO_PROT_WRITE) ||
        !vm_user_ok(proc, args[2], call.out_bytes, KYMO_PROT_WRITE)) {
        return -EFAULT;
    }
    size_t in_bytes = call.in_bytes;
    void *in = block_of(proc, args[1], in_bytes, &error);
    if (!in) {
        return error;
    }
    error = call_with(proc, &call, in, (void *)args[2]);
    block_free(in, in_bytes);
    dtrace_clean_from_now_on();
    user_sites_follow();
    copy_out(proc, args[0], &call, sizeof(call));
    return error;
}

long ker_dtrace(struct thread *self, const uintptr_t *args)
{
    (void)args;
    return long_call(self, call_dtrace);
}

/* ---- programs of processes ------------------------------------------------------------
 *
 * Addresses outlive their process: what is printed a while after a fault still has its program. The
 * newest that ended while there were consumers are remembered; a host asks for each once, when it
 * has an address of it. */
enum { GONE = CONFIG_D_GONE };

static struct gone {
    int32_t pid; /* 0: none */
    struct kymo_d_process process;
} gone[GONE];              /* [k] */
static unsigned gone_next; /* [k] index of the oldest, replaced next */

static void describe_process(const struct process *proc, struct kymo_d_process *out)
{
    *out =
        (struct kymo_d_process){.text = proc->program.text, .text_link = proc->program.text_link};
    _Static_assert(sizeof(out->name) == sizeof(proc->name), "a process's name");
    memcpy(out->name, proc->name, sizeof(out->name));
}

static long call_end_consumers(struct thread *self, const uintptr_t *args)
{
    (void)args;
    dtrace_control_end(self->proc);
    user_sites_follow();
    return 0;
}

/* Ends the process's consumers in its turn, because another process's call may be changing the same
 * data. */
bool dtrace_process_gone(struct process *proc)
{
    kernel_assert(kernel_locked());
    if (dtrace_consumers && !long_call_begun(proc->ender)) {
        gone[gone_next].pid = proc->pid;
        describe_process(proc, &gone[gone_next].process);
        gone_next = (gone_next + 1) % GONE;
    }
    return long_call_at_end(proc->ender, call_end_consumers, dtrace_control_owns(proc));
}

/* pids are reused only after a very large number of others; the newest entry of a pid counts. */
static const struct gone *find_gone(int32_t pid)
{
    for (unsigned i = 1; i <= GONE; i++) {
        const struct gone *g = &gone[(gone_next + GONE - i) % GONE];
        if (pid > 0 && g->pid == pid) {
            return g;
        }
    }
    return NULL;
}

/* ---- the kernel's part of the control ---------------------------------------------- */

/* Returns a default size: the configured one, or a larger one if memory allows: a 64th of the free
 * memory, for each CPU. At most `small` on a 32-bit CPU, which can copy that much quickly. Keys and
 * variables need more than records do, and only those in use are copied. */
static size_t size_for_memory(size_t least, size_t small)
{
    size_t most = sizeof(void *) == 4 ? small : 256 << 10;
    size_t share = phys_available() / 64 / arch_cpu_count(), size = least;

    while (size * 2 <= share && size * 2 <= most) {
        size *= 2;
    }
    return size;
}

static uint16_t info_features(void)
{
    uint32_t samples = arch_sample_able() ? KYMO_D_FEATURE_SAMPLES_KERNEL : 0;
    uint32_t helpers = CONFIG_D_HELPERS ? KYMO_D_FEATURE_HELPERS : 0;

    return (uint16_t)(samples | helpers | dtrace_count_features());
}

void dtrace_control_info(struct kymo_d_info *info)
{
    kernel_assert(kernel_locked());
    const uint8_t *id;
    size_t bytes = syspage_build_id(&id);

    *info = (struct kymo_d_info){.version = KYMO_D_VERSION,
                                 .cpus = arch_cpu_count(),
                                 .pointer_bytes = sizeof(void *),
                                 .machine = arch_elf_machine(),
                                 .features = info_features(),
                                 .held = dtrace_heap_held(),
                                 .bufsize = size_for_memory(CONFIG_D_BUFSIZE, 64 << 10),
                                 .aggsize = size_for_memory(CONFIG_D_AGGSIZE, 128 << 10),
                                 .specsize = CONFIG_D_SPECSIZE,
                                 .dynvarsize = size_for_memory(CONFIG_D_DYNVARSIZE, 128 << 10),
                                 .strsize = CONFIG_D_STRSIZE,
                                 .memory = dtrace_heap_room(),
                                 .clock_hz = arch_clock_hz()};
    memcpy(info->build_id, id, bytes < sizeof(info->build_id) ? bytes : sizeof(info->build_id));
    for (unsigned i = 0; BOARD_NAME[i] && i < sizeof(info->board) - 1; i++) {
        info->board[i] = BOARD_NAME[i];
    }
}

bool dtrace_control_pay(const void *owner)
{
    struct process *proc = (struct process *)owner;

    if (!quota_charge(&proc->quota, KYMO_LIMIT_CONSUMERS, 1)) {
        return false;
    }
    dtrace_heap_pay(&proc->quota);
    return true;
}

size_t dtrace_control_paid(void)
{
    return dtrace_heap_paid();
}

void dtrace_control_refund(const void *owner, size_t bytes)
{
    struct process *proc = (struct process *)owner;

    quota_release(&proc->quota, KYMO_LIMIT_CONSUMERS, 1);
    quota_release(&proc->quota, KYMO_LIMIT_TRACE, bytes);
}

uint32_t dtrace_control_pid(const void *owner)
{
    kernel_assert(kernel_locked());
    return (uint32_t)((const struct process *)owner)->pid;
}

/* No program can stop a process on Kymo: see dtrace_port_stop_process(). */
int dtrace_control_resume(int32_t pid)
{
    kernel_assert(kernel_locked());
    (void)pid;
    return -ESRCH;
}

int dtrace_control_process(int32_t pid, struct kymo_d_process *out)
{
    kernel_assert(kernel_locked());
    const struct process *proc = process_find(pid);
    const struct gone *g = proc ? NULL : find_gone(pid);

    if (proc) {
        describe_process(proc, out);
    } else if (g) {
        *out = g->process;
    }
    return proc || g ? 0 : -ESRCH;
}

void kernel_d_init(void)
{
    timer_node_init(&cleaner, call_clean);
    dtrace_machine_init();
    dtrace_max_cost_lower(CONFIG_D_MAX_COST);
    dtrace_sites_init();
    dtrace_syscall_init();
    dtrace_profile_init();
    dtrace_count_init();
    dtrace_fbt_init();
    dtrace_user_init();
    dtrace_reasons_find();
    dtrace_boot_program();
    dtrace_clean_from_now_on();
    dtrace_window_hook = kernel_window;
}
