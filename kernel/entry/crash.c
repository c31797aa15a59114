/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Crash reports. At a fault the thread itself takes the report's data, in steps (registers, return
 * addresses); its process ends at once. A thread of the kernel, "crash" of process 1, prints the
 * reports one after the other, in order of arrival. Kernel lock held.
 *
 * The crash thread has no code at user level: like a process's ender it is executed in steps at the
 * kernel's exit, with a preemption point after each, so neither the lock nor the CPU is kept for as
 * long as a UART takes. Its priority is the highest of the threads whose reports wait, at most
 * PRIORITY_UNPRIVILEGED_MAX, and of the threads that wait for the console. So a crash doesn't delay
 * threads of a higher priority than the thread that crashes.
 *
 * At most CONFIG_CRASH_REPORTS reports are being taken, waiting or being printed. If there are that
 * many, a new report replaces the newest waiting one of a lower rank, or is dropped if there is
 * none. Dropped reports are counted, and the count is printed after the next report. A rank is
 * first an ability that opens the reserves (ABILITY_RESERVE), then the priority: a program that
 * crashes in a loop can't hide the crash of a driver.
 *
 * Functions are named by the symbols of the program's ELF in the boot image, found by its index of
 * functions (abi/functions.h). Printing reads nothing from a process. Tested by
 * test/kernel/entry/crash_test.c, test/board's suites crash and crashes, and test/bench
 * (latency_worst: crash_full).
 */
#include "kernel/entry/crash.h"

#include "abi/sys/ability.h"
#include "abi/sys/panic.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/elf.h"
#include "kernel/arch/stack.h"
#include "kernel/base/console.h"
#include "kernel/base/string.h"
#include "kernel/observe/observe.h"
#include "kernel/proc/proc.h"
#include "kernel/program/program.h"
#include "kernel/thread/sched.h"

#define FRAMES_MOST 16
#define FRAMES_A_STEP 2
#define LINE_MOST 160 /* characters of a report's line */
#define REGISTERS_A_LINE 4
#define CHARACTERS_A_STEP 8

struct crash_report {
    enum {
        REPORT_FREE,
        REPORT_TAKEN, /* its thread is still taking it */
        REPORT_WAITS,
        REPORT_PRINTED /* it is being printed */
    } state;
    uint32_t number; /* in the order of the faults */
    uint16_t rank;
    uint8_t priority;
    struct thread *thread; /* TAKEN */
    int pid, tid;
    char name[KYMO_NAME_MAX];
    struct arch_fault fault;
    struct program program;
    struct unwind_frame here; /* TAKEN: the frame from which the walk continues */
    unsigned lost_at;         /* TAKEN: where the search of a stack without a frame continues */
    bool lost;                /* the registers are lost, and the frames a guess */
    bool cut;                 /* its process ended before all frames were taken */
    unsigned nframes;
    uintptr_t frames[FRAMES_MOST];
    uint64_t known; /* of registers, by bit */
    uintptr_t registers[KYMO_PANIC_REGISTERS];
};

enum part {
    PART_HEAD,
    PART_IP,
    PART_REGISTERS,
    PART_BACKTRACE,
    PART_FRAMES,
    PART_OVER /* counts what was dropped, and the kernel's output held back meanwhile */
};

static struct crash_report reports[CONFIG_CRASH_REPORTS]; /* [k] */
static unsigned taken;                                    /* [k] number of reports in state TAKEN */
static uint32_t numbers;                                  /* [k] of reports since boot */
static uint32_t left_out; /* [k] reports dropped since the count was last printed */

/* The thread that prints, and its position in the report. */
static struct {
    struct thread *thread;       /* [I] */
    bool sleeps;                 /* [k] until a report waits */
    struct crash_report *report; /* [k] NULL: none is being printed */
    enum part part;              /* [k] the part of the next line */
    unsigned next;               /* [k] the next register or frame of that line */
    bool named;           /* [k] the program's functions have names: elf and functions are valid */
    struct elf_image elf; /* [k] */
    struct elf_functions functions; /* [k] */
    char line[LINE_MOST];           /* [k] */
    size_t at;                      /* [k] characters of the line that are printed */
} printer = {.sleeps = true};

/* ---- at the fault ------------------------------------------------------------------ */

static uint16_t crash_rank(const struct thread *t)
{
    return (uint16_t)((t->proc->ability & ABILITY_RESERVE ? 0x100 : 0) | t->priority);
}

/* Returns a free report, or NULL. */
static struct crash_report *crash_place(uint16_t rank)
{
    struct crash_report *worst = NULL;

    for (unsigned i = 0; i < CONFIG_CRASH_REPORTS; i++) {
        struct crash_report *r = &reports[i];
        if (r->state == REPORT_FREE) {
            return r;
        }
        if (r->state == REPORT_WAITS && r->rank < rank &&
            (!worst || r->rank < worst->rank ||
             (r->rank == worst->rank && r->number > worst->number))) {
            worst = r;
        }
    }
    left_out++;
    return worst;
}

bool crash_take(struct thread *t, const struct arch_fault *fault)
{
    kernel_assert(kernel_locked());
    struct crash_report *r = crash_place(crash_rank(t));

    if (!r) {
        return false;
    }
    *r = (struct crash_report){.state = REPORT_TAKEN,
                               .number = numbers++,
                               .rank = crash_rank(t),
                               .priority = t->priority,
                               .thread = t,
                               .pid = t->proc->pid,
                               .tid = t->tid,
                               .fault = *fault,
                               .program = t->proc->program};
    taken++;
    memcpy(r->name, t->proc->name, sizeof(r->name));
    r->known = arch_context_registers(t, r->registers);
    r->lost = !arch_user_frame(t, &r->here);
    return true;
}

static struct crash_report *crash_taken_by(const struct thread *t)
{
    for (unsigned i = 0; i < CONFIG_CRASH_REPORTS; i++) {
        if (reports[i].state == REPORT_TAKEN && reports[i].thread == t) {
            return &reports[i];
        }
    }
    return NULL;
}

/* Gives the printing thread the highest priority of the threads whose reports wait. */
static void crash_set_priority(void)
{
    uint8_t highest = PRIORITY_MIN;

    for (unsigned i = 0; i < CONFIG_CRASH_REPORTS; i++) {
        if (reports[i].state >= REPORT_WAITS && reports[i].priority > highest) {
            highest = reports[i].priority;
        }
    }
    printer.thread->base_priority =
        highest < PRIORITY_UNPRIVILEGED_MAX ? highest : PRIORITY_UNPRIVILEGED_MAX;
    thread_update_priority(printer.thread);
}

static void crash_hand_over(struct crash_report *r)
{
    r->state = REPORT_WAITS;
    r->thread = NULL;
    taken--;
    crash_set_priority();
    if (printer.sleeps) {
        printer.sleeps = false;
        thread_wake_set(printer.thread);
    }
}

/* Returns false if there are no more frames. */
static bool crash_take_some(struct crash_report *r, const struct thread *t)
{
    unsigned end = r->nframes + FRAMES_A_STEP;

    end = end < FRAMES_MOST ? end : FRAMES_MOST;
    if (r->lost) {
        return arch_backtrace_lost(t, &r->lost_at, r->frames, &r->nframes, FRAMES_MOST);
    }
    while (r->nframes < end) {
        if (!unwind_user_next(t, &r->here)) {
            return false;
        }
        r->frames[r->nframes++] = r->here.pc;
    }
    return r->nframes < FRAMES_MOST;
}

bool crash_take_frames(struct thread *t)
{
    kernel_assert(kernel_locked());
    struct crash_report *r = crash_taken_by(t);

    if (r && crash_take_some(r, t)) {
        return true;
    }
    if (r) {
        crash_hand_over(r);
    }
    return false;
}

void crash_abandon(struct thread *t)
{
    kernel_assert(kernel_locked());
    struct crash_report *r = taken ? crash_taken_by(t) : NULL;

    if (r) {
        r->cut = true;
        crash_hand_over(r);
    }
}

/* ---- the lines --------------------------------------------------------------------- */

const char *crash_signal_name(int signo)
{
    switch (signo) {
    case KYMO_SIGILL:
        return "SIGILL";
    case KYMO_SIGFPE:
        return "SIGFPE";
    case KYMO_SIGBUS:
        return "SIGBUS";
    case KYMO_SIGSEGV:
        return "SIGSEGV";
    default:
        return "signal";
    }
}

/* Adds text to the line, truncated so that the newline fits. */
static __attribute__((format(printf, 1, 2))) void line_add(const char *fmt, ...)
{
    size_t at = strlen(printer.line);
    va_list args;

    va_start(args, fmt);
    ktext(printer.line + at, sizeof(printer.line) - 1 - at, fmt, args);
    va_end(args);
}

static void line_end(void)
{
    size_t at = strlen(printer.line);

    kernel_assert(at <= sizeof(printer.line) - 2);
    printer.line[at] = '\n';
    printer.line[at + 1] = '\0';
}

/* Adds " function+0x12" for an address in the program's text, or nothing. */
static void line_add_function(const struct program *program, uintptr_t ip)
{
    uintptr_t linked = ip - program->text + program->text_link;
    uint64_t start;

    if (!printer.named || ip - program->text >= program->text_len) {
        return;
    }
    const char *name = elf_function(&printer.elf, &printer.functions, linked, &start);
    if (name) {
        line_add(" %s+0x%lx", name, (unsigned long)(linked - (uintptr_t)start));
    }
}

/* Adds the next known register to the line. Returns false if there are no more. */
static bool line_register(const struct crash_report *r)
{
    char text[32];
    uint64_t rest = r->known >> printer.next;

    if (rest == 0) {
        return false;
    }
    printer.next += (unsigned)__builtin_ctzll(rest);
    kernel_register_text(text, sizeof(text), printer.next, r->registers[printer.next]);
    unsigned shown = (unsigned)__builtin_popcountll(r->known & ((2ull << printer.next) - 1));
    rest = r->known >> printer.next >> 1;
    line_add("  %s", text);
    if (shown % REGISTERS_A_LINE == 0 || rest == 0) {
        line_end();
    }
    printer.next++;
    return true;
}

static bool line_frame(const struct crash_report *r)
{
    if (printer.next == r->nframes) {
        return false;
    }
    uintptr_t ip = r->frames[printer.next++];
    line_add("    0x%08lx", (unsigned long)ip);
    line_add_function(&r->program, ip);
    line_end();
    return true;
}

static const char *backtrace_text(const struct crash_report *r)
{
    return r->lost  ? "  the others are lost: the stack is outside the process's memory\n"
                      "  backtrace: words of the stack that look like return addresses:\n"
           : r->cut ? "  backtrace, as far as it was taken when the process ended:\n"
                    : "  backtrace:\n";
}

/* Makes the next line of the current part, or a piece of it. Returns false if the part has no
 * more. */
static bool line_make(const struct crash_report *r)
{
    switch (printer.part) {
    case PART_HEAD:
        line_add("\nProcess %d (%s) terminated: %s, %s 0x%lx, thread %d", r->pid, r->name,
                 crash_signal_name(r->fault.signo), r->fault.what, (unsigned long)r->fault.address,
                 r->tid);
        line_end();
        printer.part = PART_IP;
        return true;
    case PART_IP:
        line_add("  ip 0x%08lx", (unsigned long)r->fault.ip);
        line_add_function(&r->program, r->fault.ip & ~(uintptr_t)(arch_elf_relocates() ? 1 : 0));
        line_end();
        printer.part = PART_REGISTERS;
        return true;
    case PART_REGISTERS:
        return line_register(r);
    case PART_BACKTRACE:
        line_add("%s", backtrace_text(r));
        printer.part = PART_FRAMES;
        return true;
    case PART_FRAMES:
        return line_frame(r);
    default:
        return false;
    }
}

/* Makes the next line. Returns false if the report is complete. */
static bool line_next(const struct crash_report *r)
{
    printer.line[0] = '\0';
    printer.at = 0;
    while (printer.part < PART_OVER) {
        if (line_make(r)) {
            return true;
        }
        printer.part++;
        printer.next = 0;
    }
    if (left_out > 0) {
        line_add("%u more crash report%s left out", (unsigned)left_out,
                 left_out == 1 ? " was" : "s were");
        line_end();
        left_out = 0;
        return true;
    }
    return console_kept(printer.line, sizeof(printer.line));
}

/* ---- the thread that prints -------------------------------------------------------- */

void crash_init(void)
{
    _Static_assert(CONFIG_CRASH_REPORTS >= 1,
                   "reports that are left out are counted after a report");
    printer.thread = thread_create_kernel(kernel_process, "crash");
}

static struct crash_report *crash_first(void)
{
    struct crash_report *first = NULL;

    for (unsigned i = 0; i < CONFIG_CRASH_REPORTS; i++) {
        struct crash_report *r = &reports[i];
        if (r->state == REPORT_WAITS && (!first || r->number - first->number > INT32_MAX)) {
            first = r;
        }
    }
    return first;
}

static void report_begin(struct crash_report *r)
{
    r->state = REPORT_PRINTED;
    printer.report = r;
    printer.part = PART_HEAD;
    printer.next = 0;
    printer.line[0] = '\0';
    printer.at = 0;
    printer.named = elf_open(&printer.elf, r->program.elf, r->program.elf_len, arch_elf_machine(),
                             arch_elf_class()) == 0 &&
                    elf_functions_open(&printer.elf, &printer.functions);
    console_give();
}

/* Lets threads that wait for the console have it before the next report, unless their priority is
 * lower. */
static void report_end(struct thread *self)
{
    console_take_back();
    printer.report->state = REPORT_FREE;
    printer.report = NULL;
    console_release();
    crash_set_priority();
    sched_give_way(self);
}

long crash_step(struct thread *self)
{
    kernel_assert(kernel_locked() && self == printer.thread);
    const char *rest = printer.line + printer.at;

    if (!printer.report) {
        struct crash_report *r = crash_first();
        if (!r) {
            call_lock_pass_on(self); /* its report was displaced while it waited for the console */
            list_init(&self->ready);
            thread_set_state(self, STATE_WAITCTX);
            self->flags |= THREAD_AGAIN;
            printer.sleeps = true;
            return KER_BLOCKED;
        }
        long wait = console_take(self);
        if (wait) {
            return wait;
        }
        report_begin(r);
    } else if (*rest) {
        size_t n = strlen(rest);
        printer.at += console_write(rest, n < CHARACTERS_A_STEP ? n : CHARACTERS_A_STEP);
    } else if (!line_next(printer.report)) {
        report_end(self);
    }
    return KER_AGAIN;
}
