/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * x86-64: whatever a program does to its segment registers, flags, FP control words and I/O ports
 * harms that program only. Each attempt is a process of its own: `t_x86_64 KIND`.
 */
#include "test/board/programs/check.h"

#include <errno.h>
#include <hw/inout.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/arch/x86_64/ports.h"

#define FLAG_DF 0x400ul
#define FLAG_NT 0x4000ul
#define FLAG_AC 0x40000ul
#define FLAG_ID 0x200000ul
#define SELECTOR_LDT 0x07    /* entry 0 of the local table */
#define SELECTOR_KERNEL 0x10 /* the kernel's data */
#define CALL_NOP 0
#define CALL_YIELD 90
#define COM1 0x3f8u
#define COM1_STATUS (COM1 + 5)
#define SCRATCH 7 /* a register without a meaning */
#define RESET_PORT 0xcf9
#define KEPT_ERRNO 0x5a
#define MXCSR_FRESH 0x1f80
#define SURVIVED 0

/* ---- attempts ---------------------------------------------------------------------- */

static void fs_load(unsigned selector)
{
    __asm__ volatile("mov %0, %%fs" ::"r"(selector) : "memory");
}

static int fs_local(void)
{
    fs_load(SELECTOR_LDT);
    return SURVIVED;
}

static int fs_kernel(void)
{
    fs_load(SELECTOR_KERNEL);
    return SURVIVED;
}

/* Loses this process's FS base over and over, and lets the others run: the kernel's idea of what
 * the register holds is wrong each time. It uses no thread-local variable from the first on, so it
 * ends by a fault. */
static int fs_loser(void)
{
    static const uintptr_t none[6];

    for (unsigned i = 0; i < 5000; i++) {
        fs_load(0);
        raw_call(CALL_YIELD, none);
    }
    __builtin_trap();
}

/* Has a thread-local variable at the address of fs_loser()'s. */
static int fs_keeper(void)
{
    for (unsigned i = 0; i < 5000; i++) {
        errno = KEPT_ERRNO;
        SchedYield();
        if (errno != KEPT_ERRNO) {
            return 1;
        }
    }
    return SURVIVED;
}

/* Runs with these flags through interrupts, calls and a caught fault of another process. The
 * direction flag breaks what C expects, so nothing of C's runs with it. */
static int flags_keep(unsigned long wanted)
{
    static const uintptr_t none[6];

    for (unsigned i = 0; i < 2000; i++) {
        unsigned long flags, loops = 20000;

        __asm__ volatile("pushfq\n\tpop %%rax\n\tor %[wanted], %%rax\n\tpush %%rax\n\tpopfq\n"
                         "1:\tdec %[loops]\n\tjnz 1b\n\t"
                         "pushfq\n\tpop %[flags]\n\tcld\n\t"
                         "mov %[flags], %%rax\n\tandq $~0x44000, %%rax\n\tpush %%rax\n\tpopfq"
                         : [flags] "=&r"(flags), [loops] "+r"(loops)
                         : [wanted] "r"(wanted)
                         : "rax", "cc", "memory");
        if ((flags & wanted) != wanted) {
            return 1;
        }
        raw_call(CALL_NOP, none);
    }
    return SURVIVED;
}

static int flags_all(void)
{
    return flags_keep(FLAG_AC | FLAG_NT | FLAG_DF | FLAG_ID);
}

/* Kernel calls with these flags set: the kernel's C runs after them. */
static int flags_call(void)
{
    for (unsigned i = 0; i < 2000; i++) {
        unsigned long error, number = CALL_YIELD;

        __asm__ volatile("pushfq\n\torq $0x44400, (%%rsp)\n\tpopfq\n\tsyscall\n\t"
                         "cld\n\tpushfq\n\tandq $~0x44000, (%%rsp)\n\tpopfq"
                         : "+a"(number), "=d"(error)
                         :
                         : "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory");
    }
    return SURVIVED;
}

static int flag_step(void)
{
    __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tnop\n\tnop" ::: "cc", "memory");
    return SURVIVED;
}

/* Another process's rounding is not found, and this one's is kept. */
static int mxcsr_kept(void)
{
    static const uintptr_t none[6];
    const unsigned towards_zero = MXCSR_FRESH | 0x6000;
    unsigned found;

    __asm__ volatile("stmxcsr %0" : "=m"(found));
    if (found != MXCSR_FRESH) {
        return 1;
    }
    for (unsigned i = 0; i < 100; i++) {
        __asm__ volatile("ldmxcsr %0" ::"m"(towards_zero));
        raw_call(CALL_YIELD, none);
        __asm__ volatile("stmxcsr %0" : "=m"(found));
        if (found != towards_zero) {
            return 2;
        }
    }
    return SURVIVED;
}

/* An x87 exception is pending, and not masked, when the kernel switches threads. */
static int x87_pending(void)
{
    static const uintptr_t none[6];
    const uint16_t unmasked = 0x300;

    __asm__ volatile("fninit\n\tfldcw %0\n\tfld1\n\tfldz\n\tfdivrp" ::"m"(unmasked));
    for (unsigned i = 0; i < 100; i++) {
        raw_call(CALL_YIELD, none);
    }
    __asm__ volatile("fwait");
    return SURVIVED;
}

#define INTERRUPT(n) \
    static int interrupt_##n(void) \
    { \
        __asm__ volatile("int $" #n); \
        return SURVIVED; \
    }
INTERRUPT(2)
INTERRUPT(8)
INTERRUPT(14)
INTERRUPT(32)
INTERRUPT(52)
INTERRUPT(128)
INTERRUPT(240)
INTERRUPT(255)

static int icebp(void)
{
    __asm__ volatile(".byte 0xf1");
    return SURVIVED;
}

static int sysenter(void)
{
    __asm__ volatile("sysenter");
    return SURVIVED;
}

static int far_kernel(void)
{
    static const struct {
        uint32_t offset;
        uint16_t selector;
    } __attribute__((packed)) kernel = {0, 8};

    __asm__ volatile("ljmp *%0" ::"m"(kernel));
    return SURVIVED;
}

static int port_unasked(void)
{
    kymo_in8(COM1_STATUS);
    return SURVIVED;
}

static int port_asked(void)
{
    if (ThreadCtl(_NTO_TCTL_IO, NULL) != 0) {
        return 2;
    }
    SchedYield();
    uintptr_t io = mmap_device_io(8, COM1); /* QNX's way to the same port */
    if (io != COM1 || in8(io + 5) != kymo_in8(COM1_STATUS)) {
        return 4;
    }
    out8(io + SCRATCH, KEPT_ERRNO);
    if (in8(io + SCRATCH) != KEPT_ERRNO || munmap_device_io(io, 8) != 0) {
        return 5;
    }
    /* The last port and one more: memory, which is no device's. */
    return mmap_device_io(2, 0xffff) == MAP_DEVICE_FAILED ? SURVIVED : 6;
}

static int port_outside(void)
{
    if (ThreadCtl(_NTO_TCTL_IO, NULL) != 0) {
        return 2;
    }
    kymo_in8(RESET_PORT);
    return SURVIVED;
}

static void *port_thread(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)(unsigned)port_asked();
}

/* The ports were another thread's, which has ended. */
static int port_after(void)
{
    void *status = NULL;

    ThreadJoin(start_thread(port_thread, NULL, 0), &status);
    if (status != NULL) {
        return 3;
    }
    kymo_in8(COM1_STATUS);
    return SURVIVED;
}

static const struct attempt {
    const char *name;
    int (*run)(void);
    int signo; /* what ends it; 0: nothing */
} attempts[] = {
    {"fs-local", fs_local, KYMO_SIGILL},
    {"fs-kernel", fs_kernel, KYMO_SIGILL},
    {"fs-loser", fs_loser, KYMO_SIGILL},
    {"fs-keeper", fs_keeper, 0},
    {"flags", flags_all, 0},
    {"flags-call", flags_call, 0},
    {"step", flag_step, KYMO_SIGILL},
    {"mxcsr", mxcsr_kept, 0},
    {"mxcsr-again", mxcsr_kept, 0},
    {"x87", x87_pending, KYMO_SIGFPE},
    {"int2", interrupt_2, KYMO_SIGILL},
    {"int8", interrupt_8, KYMO_SIGILL},
    {"int14", interrupt_14, KYMO_SIGILL},
    {"int32", interrupt_32, KYMO_SIGILL},
    {"int52", interrupt_52, KYMO_SIGILL},
    {"int128", interrupt_128, KYMO_SIGILL},
    {"int240", interrupt_240, KYMO_SIGILL},
    {"int255", interrupt_255, KYMO_SIGILL},
    {"icebp", icebp, KYMO_SIGILL},
    {"sysenter", sysenter, KYMO_SIGILL},
    {"far", far_kernel, KYMO_SIGILL},
    {"port-unasked", port_unasked, KYMO_SIGILL},
    {"port-asked", port_asked, 0},
    {"port-outside", port_outside, KYMO_SIGILL},
    {"port-after", port_after, KYMO_SIGILL},
};

/* ---- checks ------------------------------------------------------------------------ */

static int attempt_start(const char *name)
{
    int pid = spawn("t_x86_64", ABILITY_DEVICE, 0, name, NULL, NULL);

    EXPECT(pid > 0);
    return pid;
}

static void attempt_end(const struct attempt *attempt, int pid)
{
    int status = -1;

    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    if (attempt->signo ? KYMO_STATUS_SIGNAL(status) != attempt->signo
                       : !KYMO_STATUS_EXITED(status) || KYMO_STATUS_CODE(status) != SURVIVED) {
        check_fail(__FILE__, __LINE__, "%s: status %#x", attempt->name, status);
    }
}

static void each_of(const char *prefix)
{
    for (unsigned i = 0; i < COUNT(attempts); i++) {
        if (strncmp(attempts[i].name, prefix, strlen(prefix)) == 0) {
            attempt_end(&attempts[i], attempt_start(attempts[i].name));
        }
    }
}

static void t_segments(void)
{
    each_of("fs-");
    each_of("far");
}

/* Both yield to each other, at one priority. */
static void t_two_processes(void)
{
    const struct attempt *loser = NULL, *keeper = NULL;

    for (unsigned i = 0; i < COUNT(attempts); i++) {
        loser = attempts[i].run == fs_loser ? &attempts[i] : loser;
        keeper = attempts[i].run == fs_keeper ? &attempts[i] : keeper;
    }
    int lost = attempt_start(loser->name), kept = attempt_start(keeper->name);
    attempt_end(keeper, kept);
    attempt_end(loser, lost);
}

static void t_flags(void)
{
    each_of("flags");
    each_of("step");
}

static void t_fp(void)
{
    each_of("mxcsr");
    each_of("x87");
}

static void t_gates(void)
{
    each_of("int");
    each_of("icebp");
    each_of("sysenter");
}

static void t_ports(void)
{
    each_of("port-");
}

static const struct check table[] = {
    {"segment registers", t_segments},
    {"a lost FS base is not another process's", t_two_processes},
    {"flags", t_flags},
    {"FP control", t_fp},
    {"gates", t_gates},
    {"I/O ports", t_ports},
};

int main(int argc, char **argv)
{
    for (unsigned i = 0; argc > 1 && i < COUNT(attempts); i++) {
        if (strcmp(argv[1], attempts[i].name) == 0) {
            exit(attempts[i].run());
        }
    }
    return check_run("x86_64", table, COUNT(table));
}
