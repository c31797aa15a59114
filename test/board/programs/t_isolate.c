/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Isolation: a process that reads, writes or jumps where it may not dies alone, with the right
 * signal; everything else goes on. Where: the kernel, devices, other processes, nowhere.
 */
#include "test/board/programs/check.h"

#include <stdio.h>

#if defined(__arm__)
static const char *const places[] = {
    "0",        /* NULL, and the kernel's vectors */
    "400",      /* kernel text */
    "20000000", /* kernel data */
    "40004000", /* console */
    "e000ed08", /* system control */
    "e000e100", /* interrupt controller */
    "a0000000", /* nothing there */
    "fffffffc",
};
#elif defined(__x86_64__)
static const char *const places[] = {
    "0",
    "8",
    "a00000",           /* the kernel's RAM by its physical address */
    "fee00000",         /* local APIC */
    "fec00000",         /* interrupt controller */
    "f0000000",         /* nothing there */
    "ffffffff80a00000", /* the kernel's half */
    "ffffffff40a00000", /* its text's second name */
    "ffffffffffee0000",
    "fffffffffffffff8",
    "800000000000", /* not addresses at all */
    "dead00000000beef",
};
#else
static const char *const places[] = {
    "0",
    "8",
    "40200000",         /* the kernel's RAM by its physical address */
    "9000000",          /* console */
    "8000000",          /* interrupt controller */
    "f0000000",         /* nothing there */
    "ffffff8040200000", /* kernel halves, by any name */
    "ffff000040200000",
    "ffffffff80000000",
    "fffffffffffffff8",
    "dead00000000beef", /* not an address at all */
};
#endif

static int outcome(const char *kind, const char *where)
{
    int pid = spawn("victim", 0, 0, "fault", kind, where), status = -1;

    EXPECT(pid > 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    return status;
}

static bool memory_signal(int status)
{
    return KYMO_STATUS_SIGNAL(status) == KYMO_SIGSEGV || KYMO_STATUS_SIGNAL(status) == KYMO_SIGBUS;
}

static void everywhere(const char *kind)
{
    for (unsigned i = 0; i < COUNT(places); i++) {
        int status = outcome(kind, places[i]);

        if (!memory_signal(status) &&
            !(kind[0] == 'j' && KYMO_STATUS_SIGNAL(status) == KYMO_SIGILL)) {
            check_fail(__FILE__, __LINE__, "%s at %s: status %#x", kind, places[i], status);
        }
    }
}

static void t_read(void)
{
    everywhere("read");
}
static void t_write(void)
{
    everywhere("write");
}
static void t_jump(void)
{
    everywhere("jump");
}

/* This process's own memory, from another one. */
static volatile uint32_t secret = 0x5ec2e7;
static void t_other_process(void)
{
    char where[24];
    uint32_t before = secret;

    snprintf(where, sizeof(where), "%lx", (unsigned long)(uintptr_t)&secret);
    outcome("write", where);
    EXPECT_EQ(secret, before);
}

static void t_stack(void)
{
    EXPECT(memory_signal(outcome("stack", NULL)));
}

static void t_undefined(void)
{
    EXPECT_EQ(KYMO_STATUS_SIGNAL(outcome("undefined", NULL)), KYMO_SIGILL);
}

static void t_text(void)
{
    EXPECT(memory_signal(outcome("text", NULL)));
}

static void t_data(void)
{
    EXPECT(memory_signal(outcome("data", NULL)));
}

/* At once: no switch to another process comes between. */
static void t_unmapped(void)
{
    int mapped = outcome("mapped", NULL); /* the same without the unmapping */

    EXPECT(KYMO_STATUS_EXITED(mapped));
    EXPECT_EQ(KYMO_STATUS_CODE(mapped), 99);
    EXPECT(memory_signal(outcome("unmapped-read", NULL)));
    EXPECT(memory_signal(outcome("unmapped-write", NULL)));
}

static void t_abort(void)
{
    EXPECT_EQ(KYMO_STATUS_SIGNAL(outcome("abort", NULL)), KYMO_SIGABRT);
}

static const struct check table[] = {
    {"read outside", t_read},
    {"write outside", t_write},
    {"jump outside", t_jump},
    {"another process's memory", t_other_process},
    {"stack overflow", t_stack},
    {"undefined instruction", t_undefined},
    {"write to text", t_text},
    {"execute data", t_data},
    {"memory that was unmapped", t_unmapped},
    {"abort", t_abort},
};

int main(void)
{
    return check_run("isolate", table, COUNT(table));
}
