/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seam under trace/ for unit tests: CPUs, clocks and the kernel's side as plain data that a
 * test sets and looks at. Checks what the trace owes its port on every call: interrupts masked
 * where the contract says so and nowhere else, batches of sites ended by a sync, blocks freed with
 * the size they were allocated with. One host thread.
 */
#ifndef TEST_TRACE_FAKE_PORT_H
#define TEST_TRACE_FAKE_PORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after these: */
#include <cmocka.h>

#include "abi/retain.h"
#include "abi/sys/trace.h"
#include "test/tool/fake_areas.h"
#include "trace/trace.h"

#define FAKE_CPUS 4

#define FAKE_WINDOW \
    (4u << 20) /* bytes of retained memory; the CPUs' data is in it, as a kernel's */

struct fake {
    unsigned cpus;
    uint64_t clock[FAKE_CPUS];
    uint32_t tick; /* added to a CPU's clock each time that it is read */
    unsigned clock_reads;
    bool hook;                        /* somebody has attached to _NTO_HOOK_TRACE */
    bool hooked;                      /* what trace_port_hooked() says: START begins every CPU */
    unsigned raised[FAKE_CPUS];       /* how often */
    uint32_t raised_value[FAKE_CPUS]; /* the last value */
    unsigned freed_told;              /* calls of trace_port_buffer_freed() */
    bool user_wanted;                 /* trace_port_user_wanted() */
    unsigned blocks;                  /* allocated now */
    unsigned allocs, fail_at;         /* the fail_at-th allocation from now fails; 0: none */
    size_t contiguous;                /* the largest block that can be had */
    unsigned unmaps;
    unsigned site_changes;
    bool unsynced;              /* a site was set and no sync followed */
    unsigned fired, fired_site; /* calls of trace_port_fire(), and the last one's arguments */
    uint64_t fired_words[5];
    uint64_t fired_stamp; /* of the event, while they fired; 0: not logged */
    void (*inside)(void); /* called once, by the next probe that fires, as by a clause */
    uint8_t fired_data[KYMO_TRACE_USER_COMBINE_MAX]; /* of a user event */
    int retained_error;                              /* what trace_port_retained() says */
    struct kymo_retain_ring ring;                    /* in the window; all 0: none */
    const char *gate;                                /* the log's; NULL: none */
    bool refuses;                                    /* the log's gate does */
    uint64_t thread[FAKE_CPUS];                      /* pid << 32 | tid of who runs there */
    unsigned asked, asked_site, asked_number; /* calls of trace_port_passes(), the last one's */
    uint64_t asked_words[5];
    void (*clock_hook)(void);         /* when a clock is read; NULL: nothing */
    void (*yield)(const char *where); /* at TRACE_YIELD_POINT(); NULL: nothing */
    void (*window)(void);             /* at a control command's window; NULL: nothing */
    bool (*exit_window)(void);        /* between steps of the exit; NULL: nothing is more urgent */
    size_t cleaned_most;              /* most bytes of a trace_port_clean() */
    void (*cross_called)(void);       /* on each CPU before a cross-call; NULL: nothing */
};
extern struct fake fake;
extern uint8_t fake_window[FAKE_WINDOW];
extern uint8_t fake_ram[FAKE_WINDOW]; /* of the window, what was cleaned from the caches */

/* Everything as at boot, on CPU 0 of `cpus`: no buffers, filters empty, all fast. Frees what a
 * failed test left. */
void fake_boot(unsigned cpus);
/* A CPU's clock goes on; on a 32-bit port with trace_clock_wrapped() twice a wrap, as promised. */
void fake_pass(unsigned cpu, uint64_t cycles);

/* Goes to another CPU, interrupts open; and back. Nests. */
struct fake_where {
    unsigned cpu, irq_depth;
};
struct fake_where fake_on(unsigned cpu);
void fake_back(struct fake_where where);

/* TRACE_PORT_REQUEST_EXIT() since the last exit. */
bool fake_exit_wanted(unsigned cpu);
/* This CPU leaves the kernel: what was asked for with TRACE_PORT_REQUEST_EXIT(). */
void fake_exit(void);

#endif
