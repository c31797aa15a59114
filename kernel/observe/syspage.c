/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system page, read by SyspageRead(). Kernel lock held; immutable after boot.
 *
 * The page is never in memory as a whole: its parts are the struct, the build id and the tables,
 * which are constants except for the names of the interrupts, and a read walks those it covers.
 * Layout: abi/syspage.h, docs/reference/syspage.md.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/observe/observe.h"

#include "abi/errno.h"
#include "kernel/base/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"
#include "kernel/base/string.h"
#include "kernel/base/window.h"
#include "trace/crc32c.h"
#include "trace/syspage.h"

#define KYMO_RELEASE "kymo 1"
#define NOTE_HEADER 16 /* sizes, type and "GNU\0" of the note that the linker writes */

extern const uint8_t __build_id_start[], __build_id_end[];
extern const char boot_image_name[]; /* scripts/image.S */

/* Writes "number name\n" for each line that has a name; returns the length. out NULL: only returns
 * the length. */
static size_t irqs_text(char *out)
{
    size_t len = 0;

    for (unsigned irq = 0; irq < arch_irq_count(); irq++) {
        const char *name = arch_irq_name(irq);
        char digits[12];
        unsigned at = sizeof(digits), n = irq;
        if (!name) {
            continue;
        }
        digits[--at] = ' ';
        do {
            digits[--at] = (char)('0' + n % 10);
            n /= 10;
        } while (n);
        size_t ndigits = sizeof(digits) - at, nname = strlen(name);
        if (out) {
            memcpy(out + len, digits + at, ndigits);
            memcpy(out + len + ndigits, name, nname);
            out[len + ndigits + nname] = '\n';
        }
        len += ndigits + nname + 1;
    }
    return len;
}

size_t syspage_build_id(const uint8_t **id)
{
    size_t bytes = (size_t)(__build_id_end - __build_id_start);

    *id = __build_id_start + NOTE_HEADER;
    return bytes > NOTE_HEADER ? bytes - NOTE_HEADER : 0;
}

static long put_next(void *to, size_t at, const void *from, size_t bytes)
{
    char **next = to;

    (void)at;
    memcpy(*next, from, bytes);
    *next += bytes;
    return 0;
}

/* Bytes between two windows: when copying, and when summing up. */
enum { COPY_STEP = 1024, SUM_STEP = 256 };

static void syspage_walk(size_t step, trace_syspage_put_t *put, void *arg)
{
    for (size_t at = 0; at < trace_syspage_bytes(); at += step) {
        trace_syspage_read(at, step, put, arg);
        kernel_window();
    }
}

size_t syspage_copy(void *to, size_t most)
{
    char *at = to;

    if (trace_syspage_bytes() > most) {
        return 0;
    }
    syspage_walk(COPY_STEP, put_next, &at);
    return (size_t)(at - (char *)to);
}

static long sum_up(void *sum, size_t at, const void *from, size_t bytes)
{
    (void)at;
    *(uint32_t *)sum = trace_crc_add(*(uint32_t *)sum, from, bytes);
    return 0;
}

uint32_t syspage_sum(uint32_t *crc)
{
    uint32_t sum = TRACE_CRC_START;

    syspage_walk(SUM_STEP, sum_up, &sum);
    *crc = ~sum;
    return (uint32_t)trace_syspage_bytes();
}

void syspage_init(void)
{
    size_t irqs_bytes = irqs_text(NULL);
    paddr_t irqs = irqs_bytes ? phys_alloc(irqs_bytes, 1) : 0;
    struct trace_syspage_facts facts = {
        .ncpu = arch_cpu_count(), /* one that does not start leaves a gap */
        .cycles_per_sec = arch_clock_hz(),
        .skew_cycles = arch_clock_skew(),
        .boot_time = arch_wall_clock(),
        .board = BOARD_NAME,
        .cpu_name = arch_cpu_name(),
        .release = KYMO_RELEASE,
        .image = boot_image_name,
        .irqs_bytes = irqs_bytes,
    };
    const uint8_t *id;

    facts.build_id_bytes = syspage_build_id(&id);
    facts.build_id = id;
    if (irqs) {
        irqs_text(arch_phys_to_virt(irqs));
        facts.irqs = arch_phys_to_virt(irqs);
    }
    trace_syspage_init(&facts);
}

struct reader {
    struct process *proc;
    uintptr_t to;
};

static long put_there(void *arg, size_t at, const void *from, size_t bytes)
{
    const struct reader *reader = arg;

    return copy_out(reader->proc, reader->to + at, from, bytes) ? -EFAULT : 0;
}

#define READ_STEP 2048u /* bytes between two preemption points */

/* step: number of bytes read so far. */
long ker_syspage_read(struct thread *self, const uintptr_t *args)
{
    kernel_assert(kernel_locked());
    struct reader reader = {self->proc, args[1] + self->step};
    size_t left = args[2] - self->step, n = left < READ_STEP ? left : READ_STEP;
    long done = trace_syspage_read(args[0] + self->step, n, put_there, &reader);

    if (done < 0) {
        return done;
    }
    self->step += (uint32_t)done;
    return (size_t)done < READ_STEP ? (long)self->step : KER_AGAIN;
}
