/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers as a file for the host's reader. See capture.h. */
#include "test/trace/capture.h"
#include "host/temporary.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/syspage.h"
#include "trace/event_text.h"

static void put_head(FILE *f, unsigned page_bytes)
{
    fprintf(f,
            "TRACE_HEADER_BEGIN::TRACE_VER_MAJOR::1TRACE_VER_MINOR::01TRACE_LITTLE_ENDIAN::TRUE"
            "TRACE_ENCODING::16 byte eventsTRACE_CYCLES_PER_SEC::1000000000TRACE_CPU_NUM::%u"
            "TRACE_SYSNAME::KymoTRACE_SYSPAGE_LEN::%uTRACE_HEADER_END::",
            fake.cpus, page_bytes);
}

static void put_page(FILE *f)
{
    struct kymo_syspage page = {.magic = KYMO_SYSPAGE_MAGIC,
                                .version = KYMO_SYSPAGE_VERSION,
                                .ncpu = fake.cpus,
                                .cycles_per_sec = 1000000000,
                                .word_bits = 64,
                                .buffer_slots = TRACE_BUFFER_SLOTS,
                                .code_high = TRACE_PORT_CODE_HIGH};

    page.events_off = sizeof(page);
    page.events_len = trace_event_text_len;
    page.kercalls_off = page.events_off + page.events_len;
    page.kercalls_len = trace_kercall_text_len;
    page.states_off = page.irqs_off = page.build_id_off = page.kercalls_off + page.kercalls_len;
    page.size = page.states_off;
    put_head(f, page.size);
    fwrite(&page, sizeof(page), 1, f);
    fwrite(trace_event_text, page.events_len, 1, f);
    fwrite(trace_kercall_text, page.kercalls_len, 1, f);
}

static void put_buffers(FILE *f)
{
    struct kymo_trace_buffer b;

    while (command_as(OWNER, KYMO_TRACE_TAKEBUFFER, 0, 0, &b) == 0) {
        fwrite(look_slots(b.cpu, b.index % ring_of(b.cpu)->count), TRACE_SLOT_BYTES, b.slots, f);
        assert_int_equal(command1(KYMO_TRACE_GIVEBUFFER, b.index), 0);
    }
}

struct kev *capture_open(void)
{
    char path[PATH_MAX];
    struct kev_error error;
    int fd = temporary_file("unit", path, sizeof(path));
    FILE *f = fdopen(fd, "wb");

    assert_non_null(f);
    put_page(f);
    assert_int_equal(command(_NTO_TRACE_STOP), 0);
    put_buffers(f);
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
    assert_int_equal(fclose(f), 0);
    struct kev *kev = kev_open(path, &(struct kev_options){.recover = false}, &error);
    unlink(path);
    if (!kev) {
        fail_msg("%s", error.text);
    }
    return kev;
}

bool capture_next(struct kev *kev, struct kev_event *event)
{
    struct kev_error error;

    for (;;) {
        enum kev_result result = kev_next(kev, event, &error);

        if (result == KEV_ERROR) {
            fail_msg("%s", error.text);
        }
        if (result == KEV_END) {
            return false;
        }
        if (event->class != TRACE_CLASS_CONTROL) {
            return true;
        }
    }
}
