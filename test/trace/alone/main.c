/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/ without a kernel, as another system would have it: a log of one CPU, whose port is in
 * port.c, and a recorder in one loop that takes the buffers and writes a capture through
 * semihosting. Linked with the parts of trace/ that test/trace/alone/alone.mk names;
 * one kind of event is made by a part in C++, embedder.cpp. Ends with exit
 * code 0 if the log says that nothing was lost. test/trace/alone/check reads the capture.
 */
#include <stdbool.h>
#include <stddef.h>

#include "abi/errno.h"
#include "abi/sys/trace.h"
#include "test/trace/alone/alone.h"
#include "trace/hook.h"
#include "trace/syspage.h"
#include "trace/trace.h"

enum { BUFFERS = 4, EVENTS = 1000, HZ = 1000000 };

static uint64_t paddr;
static uint8_t owner; /* its address is the owner's identity */

static long command(uint32_t cmd, uint32_t arg, void *data)
{
    struct trace_caller who = {.owner = &owner, .pid = 1, .able = true, .name = "alone"};

    return trace_control(&who, cmd, (const uint32_t[4]){arg, 0, 0, 0}, data);
}

static void save_ready(void)
{
    struct kymo_trace_buffer b;

    while (command(KYMO_TRACE_TAKEBUFFER, 0, &b) == 0) {
        alone_write((const uint8_t *)(uintptr_t)paddr + (size_t)b.index * TRACE_BUFFER_BYTES,
                    b.slots * TRACE_SLOT_BYTES);
        command(KYMO_TRACE_GIVEBUFFER, b.index, NULL);
    }
}

/* What a kernel does when it leaves. */
static void leave(void)
{
    if (alone_exit_wanted) {
        alone_exit_wanted = false;
        trace_kernel_exit();
        save_ready();
    }
}

static long write_piece(void *arg, size_t at, const void *from, size_t bytes)
{
    (void)arg;
    (void)at;
    alone_write(from, bytes);
    return 0;
}

static void write_head(void)
{
    char head[] = "TRACE_HEADER_BEGIN::TRACE_VER_MAJOR::1TRACE_VER_MINOR::01"
                  "TRACE_LITTLE_ENDIAN::TRUETRACE_ENCODING::16 byte events"
                  "TRACE_CYCLES_PER_SEC::1000000TRACE_CPU_NUM::1TRACE_SYSNAME::Kymo"
                  "TRACE_SYSPAGE_LEN::00000TRACE_HEADER_END::";
    char *digit = head + sizeof(head) - 1 - sizeof("TRACE_HEADER_END::");

    for (size_t n = trace_syspage_bytes(); n; n /= 10) {
        *digit-- = (char)('0' + n % 10);
    }
    alone_write(head, sizeof(head) - 1);
    trace_syspage_read(0, trace_syspage_bytes(), write_piece, NULL);
}

/* Kinds of events by turns: simple, words, strings up to the longest, and one of events.def. */
static void make_event(unsigned i)
{
    static char text[KYMO_TRACE_USER_COMBINE_MAX];
    uint32_t words[] = {i, 1, 2, 3, 4};
    unsigned length = i % (sizeof(text) - 1);

    alone_ticks += 3;
    switch (i % 4) {
    case 0:
        trace_user_simple(1, i, ~i);
        break;
    case 1:
        trace_user_combine(2, words, 5);
        break;
    case 2:
        for (unsigned k = 0; k < length; k++) {
            text[k] = (char)('a' + k % 26);
        }
        text[length] = '\0';
        trace_user_string(3, text, length + 1);
        break;
    default:
        alone_cxx_event(i);
        break;
    }
}

static bool record(void)
{
    static struct kymo_trace_loss loss;
    uint64_t lost = 0;

    if (command(_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr) ||
        command(_NTO_TRACE_ADDALLCLASSES, 0, NULL) || command(_NTO_TRACE_STARTNOSTATE, 0, NULL)) {
        return false;
    }
    for (unsigned i = 0; i < EVENTS; i++) {
        make_event(i);
        leave();
    }
    command(_NTO_TRACE_STOP, 0, NULL);
    save_ready();
    if (command(KYMO_TRACE_QUERYLOSS, 0, &loss)) {
        return false;
    }
    for (unsigned i = 0; i < KYMO_TRACE_CLASSES; i++) {
        lost += loss.lost[i];
    }
    return lost == 0 && loss.made == EVENTS && command(_NTO_TRACE_DEALLOCBUFFER, 0, NULL) == 0;
}

int main(void)
{
    trace_init();
    trace_cpu_init(trace_port_cpu(), 0);
    trace_syspage_init(&(struct trace_syspage_facts){.ncpu = 1,
                                                     .cycles_per_sec = HZ,
                                                     .board = "alone",
                                                     .cpu_name = "cortex-m",
                                                     .release = "none",
                                                     .image = "test/trace/alone"});
    write_head();
    return record() ? 0 : 1;
}
