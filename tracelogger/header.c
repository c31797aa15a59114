/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beginning of a capture as QNX's readers expect it (docs/format.md): `TRACE_KEY::value` pairs
 * back to back, without separators, then the system page, raw. Values stay short: old readers look
 * through a window of 100 bytes.
 */
#include "tracelogger/header.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "kernel/abi/sys/kymo.h"
#include "kernel/abi/syspage.h"
#include "tracelogger/sink.h"

#define VALUE_MAX 72
#define CHUNK 512

static int attribute(const char *key, const char *format, ...)
{
    char value[VALUE_MAX];
    char text[32 + VALUE_MAX];
    va_list list;

    va_start(list, format);
    vsnprintf(value, sizeof(value), format, list);
    va_end(list);
    int bytes = snprintf(text, sizeof(text), "TRACE_%s::%s", key, value);
    return sink_write(text, (size_t)bytes);
}

/* As ctime() prints it, without the newline. Boards without a clock begin in 1970. */
static const char *date(uint64_t seconds, char text[32])
{
    time_t when = (time_t)seconds;
    struct tm parts;

    gmtime_r(&when, &parts);
    asctime_r(&parts, text);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static int attributes(const struct options *options, const struct kymo_syspage *page)
{
    char now[32], boot[32];
    int bad = attribute("HEADER_BEGIN", "");

    bad |= attribute("FILE_NAME", "%s", options->file);
    bad |= attribute("DATE", "%s", date((uint64_t)time(NULL), now));
    bad |= attribute("VER_MAJOR", "1");
    bad |= attribute("VER_MINOR", "01");
    bad |= attribute("LITTLE_ENDIAN", "TRUE");
    bad |= attribute("ENCODING", "16 byte events");
    bad |= attribute("BOOT_DATE", "%s", date(page->boot_time, boot));
    bad |= attribute("CYCLES_PER_SEC", "%llu", (unsigned long long)page->cycles_per_sec);
    bad |= attribute("CPU_NUM", "%u", (unsigned)page->ncpu);
    bad |= attribute("SYSNAME", "Kymo");
    bad |= attribute("NODENAME", "%.31s", page->board);
    bad |= attribute("SYS_RELEASE", "%.31s", page->release);
    bad |= attribute("SYS_VERSION", "%.31s", page->release);
    bad |= attribute("MACHINE", "%.31s", page->cpu_name);
    bad |= attribute("SYSPAGE_LEN", "%u", (unsigned)page->size);
    bad |= attribute("TRACELOGGER_ARGS", "%s", options->args);
    bad |= attribute("HEADER_END", "");
    return bad;
}

static int copy_page(uint32_t size)
{
    static char chunk[CHUNK];

    for (uint32_t at = 0; at < size;) {
        uint32_t want = size - at < CHUNK ? size - at : CHUNK;
        long got = SyspageRead(at, chunk, want);

        if (got <= 0 || sink_write(chunk, (size_t)got) != 0) {
            return -1;
        }
        at += (uint32_t)got;
    }
    return 0;
}

int header_write(const struct options *options)
{
    struct kymo_syspage page;

    if (SyspageRead(0, &page, sizeof(page)) != (long)sizeof(page) ||
        page.magic != KYMO_SYSPAGE_MAGIC || page.size < sizeof(page)) {
        printf("tracelogger: the system page can't be read: %s\n", strerror(errno));
        return -1;
    }
    return attributes(options, &page) != 0 || copy_page(page.size) != 0 ? -1 : 0;
}
