/* SPDX-License-Identifier: BSD-2-Clause */
/* The system page. See trace/syspage.h; layout: abi/syspage.h, docs/reference/format.md. */
#include "trace/syspage.h"

#include "abi/errno.h"
#include "abi/sys/states.h"
#include "abi/syspage.h"
#include "trace/event_text.h"
#include "trace/port.h"
#include "trace/slot.h"

static const char states_text[] =
#define STATE(number, name, text, emitted) #number " " text "\n"
    THREAD_STATE_LIST(STATE)
#undef STATE
    ;

static const char errors_text[] =
#define E(name, value) #value " " #name "\n"
    KYMO_ERRNO_LIST(E)
#undef E
    ;

enum { HEADER, BUILD_ID, EVENTS, KERCALLS, STATES, ERRORS, IRQS, PARTS };

static struct kymo_syspage page;
static struct {
    const void *data;
    uint32_t bytes;
} parts[PARTS];

_Static_assert(sizeof(struct kymo_syspage) == 232, "layout of the system page");

/* Appends a part. field: its offset and, next to it, its length. */
static void syspage_add(unsigned part, const void *data, size_t bytes, uint32_t *field)
{
    parts[part].data = data;
    parts[part].bytes = data ? (uint32_t)bytes : 0;
    if (field) {
        field[0] = page.size;
        field[1] = parts[part].bytes;
    }
    page.size += parts[part].bytes;
}

static void syspage_copy_name(char *to, size_t size, const char *from)
{
    for (size_t i = 0; i < size - 1 && from[i]; i++) {
        to[i] = from[i];
    }
}

void trace_syspage_init(const struct trace_syspage_facts *facts)
{
    page = (struct kymo_syspage){
        .magic = KYMO_SYSPAGE_MAGIC,
        .version = KYMO_SYSPAGE_VERSION,
        .ncpu = facts->ncpu,
        .cycles_per_sec = facts->cycles_per_sec,
        .skew_cycles = facts->skew_cycles,
        .word_bits = 8 * sizeof(void *),
        .buffer_slots = TRACE_BUFFER_SLOTS,
        .code_high = TRACE_PORT_CODE_HIGH,
        .boot_time = facts->boot_time,
    };
    syspage_copy_name(page.board, sizeof(page.board), facts->board);
    syspage_copy_name(page.cpu_name, sizeof(page.cpu_name), facts->cpu_name);
    syspage_copy_name(page.release, sizeof(page.release), facts->release);
    syspage_copy_name(page.image, sizeof(page.image), facts->image);
    syspage_add(HEADER, &page, sizeof(page), NULL);
    syspage_add(BUILD_ID, facts->build_id, facts->build_id_bytes, &page.build_id_off);
    syspage_add(EVENTS, trace_event_text, trace_event_text_len, &page.events_off);
    syspage_add(KERCALLS, trace_kercall_text, trace_kercall_text_len, &page.kercalls_off);
    syspage_add(STATES, states_text, sizeof(states_text) - 1, &page.states_off);
    syspage_add(ERRORS, errors_text, sizeof(errors_text) - 1, &page.errors_off);
    syspage_add(IRQS, facts->irqs, facts->irqs_bytes, &page.irqs_off);
}

size_t trace_syspage_bytes(void)
{
    return page.size;
}

long trace_syspage_read(size_t offset, size_t bytes, trace_syspage_put_t *put, void *arg)
{
    size_t done = 0;

    for (unsigned i = 0; i < PARTS && done < bytes; i++) {
        if (offset >= parts[i].bytes) {
            offset -= parts[i].bytes;
            continue;
        }
        size_t n = parts[i].bytes - offset;
        n = n < bytes - done ? n : bytes - done;
        long error = put(arg, done, (const char *)parts[i].data + offset, n);
        if (error) {
            return error;
        }
        done += n;
        offset = 0;
    }
    return (long)done;
}
