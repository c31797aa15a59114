/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/arch/x86_64/tlb.c and x86_space_switch(), by a model of the TLBs: no emulator of ours
 * keeps translations by PCID (Bochs drops all when CR3 is loaded). The instructions for CR3 and
 * INVLPG fault in a program: the handler does what they do to the model. At random spaces come and
 * go, CPUs switch between them, pages change; no CPU may ever use a translation that the tables
 * don't have any more. KYMO_SEED=n repeats a run.
 */
#define _GNU_SOURCE /* REG_RIP */
#include <asm/prctl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <cmocka.h>

#include "kernel/arch/assert.h"
#include "kernel/arch/x86_64/port.h"

#define CPUS 4u
#define SPACES 12u
#define PAGES 100u /* more than are dropped one by one */
#define STEPS 300000
#define KERNEL_CR3 0x1000ul
#define PCIDS_OF_MODEL 64u

struct x86_cpu x86_cpus[CONFIG_CPUS];
static unsigned now; /* the CPU that executes */
static bool pcide;

/* The tables: what each page of a space is; 0: not mapped. The number of a space is in its CR3. */
static struct {
    uint64_t cr3;
    unsigned page[PAGES];
} spaces[SPACES];

/* Of each CPU, by PCID: 0: not in the TLB. */
static struct {
    uint64_t cr3;
    unsigned page[PCIDS_OF_MODEL][PAGES];
} tlb[CPUS];

static unsigned value = 1, calls, kept;

static void faults(const char *why)
{
    fprintf(stderr, "the CPU would fault: %s\n", why);
    _exit(1);
}

/* ---- the CPU ----------------------------------------------------------------------- */

static void cr3_load(uint64_t to)
{
    const bool keep = to & X86_CR3_KEEP;

    to &= ~X86_CR3_KEEP;
    if (!pcide && (keep || (to & X86_PCID_MASK))) {
        faults("CR3 without PCIDs");
    }
    tlb[now].cr3 = to;
    if (keep) {
        kept++;
    } else {
        memset(tlb[now].page[to & X86_PCID_MASK], 0, sizeof(tlb[now].page[0]));
    }
}

static void instruction(int sign, siginfo_t *info, void *context)
{
    static const uint8_t of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                   REG_R12, REG_R13, REG_R14, REG_R15};
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *code = (const uint8_t *)r[REG_RIP];
    const unsigned high = code[0] == 0x41 ? 8 : 0;

    (void)info;
    (void)sign;
    code += high ? 1 : 0;
    if (code[0] != 0x0f) {
        faults("another instruction");
    }
    greg_t *operand = &r[of[high + (code[2] & 7)]];
    if (code[1] == 0x22 && (code[2] & 0xf8) == 0xd8) {
        cr3_load((uint64_t)*operand);
    } else if (code[1] == 0x20 && (code[2] & 0xf8) == 0xd8) {
        *operand = (greg_t)tlb[now].cr3;
    } else if (code[1] == 0x01 && (code[2] & 0xf8) == 0x38) {
        tlb[now].page[tlb[now].cr3 & X86_PCID_MASK][(uint64_t)*operand / PAGE_SIZE] = 0;
    } else {
        faults("another instruction");
    }
    r[REG_RIP] += 3 + (high ? 1 : 0);
}

static void on_cpu(unsigned n)
{
    now = n;
    syscall(SYS_arch_prctl, ARCH_SET_GS, &x86_cpus[n]);
}

/* ---- what tlb.c asks of others ----------------------------------------------------- */

bool kernel_holds_lock(void)
{
    return true;
}

uint32_t x86_cpus_started(void)
{
    return (1u << CPUS) - 1;
}

void x86_call(uint32_t cpus, void (*fn)(uint64_t a, uint64_t b, uint64_t c), uint64_t a, uint64_t b,
              uint64_t c)
{
    const unsigned caller = now;

    assert_false(cpus & 1u << caller);
    for (; cpus; cpus &= cpus - 1) {
        on_cpu((unsigned)__builtin_ctz(cpus));
        fn(a, b, c);
        calls++;
    }
    on_cpu(caller);
}

/* ---- what happens ------------------------------------------------------------------ */

/* The program that runs here touches a page. */
static void page_use(void)
{
    const uint64_t space = x86_cpus[now].space;
    const unsigned page = (unsigned)rand() % PAGES;
    unsigned *entry = &tlb[now].page[space & X86_PCID_MASK][page];

    for (unsigned i = 0; i < SPACES; i++) {
        if (spaces[i].cr3 == space) {
            if (*entry == 0) {
                *entry = spaces[i].page[page];
            }
            assert_int_equal(*entry, spaces[i].page[page]);
            return;
        }
    }
    assert_true(space == KERNEL_CR3);
}

/* Another mapping, other rights, or none, for some pages. */
static void pages_change(unsigned i)
{
    const unsigned from = (unsigned)rand() % PAGES, most = rand() % 8 ? 3 : PAGES;
    unsigned end = from + 1 + (unsigned)rand() % most;

    end = end < PAGES ? end : PAGES;
    for (unsigned page = from; page < end; page++) {
        spaces[i].page[page] = rand() % 4 ? ++value : 0;
    }
    x86_tlb_drop(spaces[i].cr3, from * PAGE_SIZE, end * PAGE_SIZE);
}

static void space_begin(unsigned i)
{
    spaces[i].cr3 = (0x10 + i) * 0x10000ul | x86_pcid_take();
    assert_true((spaces[i].cr3 & X86_PCID_MASK) < PCIDS_OF_MODEL);
    for (unsigned j = 0; j < SPACES; j++) {
        assert_true(!pcide || j == i || (spaces[j].cr3 & X86_PCID_MASK) == 0 ||
                    ((spaces[j].cr3 ^ spaces[i].cr3) & X86_PCID_MASK) != 0);
    }
    for (unsigned page = 0; page < PAGES; page++) {
        spaces[i].page[page] = ++value;
    }
}

/* As arch_aspace_destroy(): only this CPU may still have it. */
static void space_end(unsigned i)
{
    for (unsigned n = 0; n < CPUS; n++) {
        if (n != now && x86_cpus[n].space == spaces[i].cr3) {
            return;
        }
    }
    if (x86_space() == spaces[i].cr3) {
        x86_space_switch(KERNEL_CR3);
    }
    x86_pcid_give(spaces[i].cr3);
    memset(&spaces[i], 0, sizeof(spaces[i]));
}

static void step(void)
{
    const unsigned i = (unsigned)rand() % SPACES;

    on_cpu((unsigned)rand() % CPUS);
    switch (rand() % 16) {
    case 0 ... 4:
        if (spaces[i].cr3) {
            x86_space_switch(spaces[i].cr3);
        }
        break;
    case 5:
        x86_space_switch(KERNEL_CR3);
        break;
    case 6:
        if (spaces[i].cr3) {
            pages_change(i);
        }
        break;
    case 7:
        if (rand() % 4) {
            break;
        }
        if (spaces[i].cr3) {
            space_end(i);
        } else {
            space_begin(i);
        }
        break;
    default:
        page_use();
    }
    assert_int_equal(tlb[now].cr3, x86_cpus[now].space & ~X86_CR3_KEEP);
}

static void begin(bool there)
{
    const struct sigaction action = {.sa_sigaction = instruction, .sa_flags = SA_SIGINFO};
    const char *given = getenv("KYMO_SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : (unsigned)time(NULL);

    printf("KYMO_SEED=%u\n", seed);
    fflush(stdout);
    srand(seed);
    sigaction(SIGSEGV, &action, NULL);
    memset(spaces, 0, sizeof(spaces));
    memset(tlb, 0, sizeof(tlb));
    calls = kept = 0;
    pcide = there;
    x86_pcid_begin(there);
    for (unsigned n = 0; n < CPUS; n++) {
        tlb[n].cr3 = KERNEL_CR3;
        x86_cpus[n] = (struct x86_cpu){.own = &x86_cpus[n], .bit = 1u << n, .space = KERNEL_CR3};
    }
    on_cpu(0);
}

/* Each process that there can be has one of its own, and one that is free is given again. */
static void as_many_as_processes(void **state)
{
    static uint64_t all[X86_PCIDS];

    (void)state;
    begin(true);
    for (unsigned i = 1; i < X86_PCIDS; i++) {
        all[i] = x86_pcid_take();
        assert_true(all[i] == (i | X86_CR3_KEEP));
    }
    assert_true(x86_pcid_take() == 0);
    for (unsigned i = 1; i < X86_PCIDS; i++) {
        x86_pcid_give(all[i]);
        for (unsigned n = 0; n < CONFIG_CPUS; n++) {
            assert_true(x86_cpus[n].stale[i]);
        }
    }
    assert_true(x86_pcid_take() == (1 | X86_CR3_KEEP));
    x86_pcid_give(1 | X86_CR3_KEEP);
}

static void no_translation_is_old(void **state)
{
    (void)state;
    begin(true);
    for (unsigned i = 0; i < STEPS; i++) {
        step();
    }
    assert_true(calls > STEPS / 1000 && kept > STEPS / 20);
    for (unsigned i = 0; i < SPACES; i++) {
        if (spaces[i].cr3) {
            x86_pcid_give(spaces[i].cr3);
        }
    }
}

static void nor_without_pcids(void **state)
{
    (void)state;
    begin(false);
    for (unsigned i = 0; i < STEPS; i++) {
        step();
    }
    assert_true(calls > STEPS / 1000 && kept == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_processes),
        cmocka_unit_test(no_translation_is_old),
        cmocka_unit_test(nor_without_pcids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
