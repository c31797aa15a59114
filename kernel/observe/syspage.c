/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system page, read by SyspageRead(). Kernel lock held; immutable after boot.
 *
 * The page is never in memory as a whole: its parts are the struct, the build id and the tables,
 * which are constants except for the names of the interrupts, and a read walks those it covers.
 * Layout: abi/syspage.h, docs/syspage.md.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/observe/observe.h"

#include "abi/errno.h"
#include "abi/syspage.h"
#include "kernel/base/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/proc/proc.h"
#include "kernel/base/string.h"
#include "trace/event_text.h"
#include "trace/port.h"
#include "trace/slot.h"

#define KYMO_RELEASE "kymo 1"
#define NOTE_HEADER 16 /* sizes, type and "GNU\0" of the note that the linker writes */

extern const uint8_t __build_id_start[], __build_id_end[];
extern const char boot_image_name[]; /* scripts/image.S */

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

enum {
    PART_HEADER,
    PART_BUILD_ID,
    PART_EVENTS,
    PART_KERCALLS,
    PART_STATES,
    PART_ERRORS,
    PART_IRQS,
    PARTS
};

static struct kymo_syspage page;
static struct {
    const void *data;
    uint32_t len;
} parts[PARTS];

_Static_assert(sizeof(struct kymo_syspage) == 232, "layout of the system page");

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

static void part_set(unsigned part, const void *data, size_t len)
{
    parts[part].data = data;
    parts[part].len = (uint32_t)len;
}

static void parts_init(void)
{
    size_t id_len = (size_t)(__build_id_end - __build_id_start);
    size_t irqs_len = irqs_text(NULL);
    paddr_t irqs = irqs_len ? phys_alloc(irqs_len, 1) : 0;

    part_set(PART_HEADER, &page, sizeof(page));
    if (id_len > NOTE_HEADER) {
        part_set(PART_BUILD_ID, __build_id_start + NOTE_HEADER, id_len - NOTE_HEADER);
    }
    part_set(PART_EVENTS, trace_event_text, trace_event_text_len);
    part_set(PART_KERCALLS, trace_kercall_text, trace_kercall_text_len);
    part_set(PART_STATES, states_text, sizeof(states_text) - 1);
    part_set(PART_ERRORS, errors_text, sizeof(errors_text) - 1);
    if (irqs) {
        irqs_text(arch_phys_to_virt(irqs));
        part_set(PART_IRQS, arch_phys_to_virt(irqs), irqs_len);
    }
}

size_t syspage_build_id(const uint8_t **id)
{
    size_t bytes = (size_t)(__build_id_end - __build_id_start);

    *id = __build_id_start + NOTE_HEADER;
    return bytes > NOTE_HEADER ? bytes - NOTE_HEADER : 0;
}

size_t syspage_copy(void *to, size_t most)
{
    char *at = to;

    if (page.size > most) {
        return 0;
    }
    for (unsigned i = 0; i < PARTS; i++) {
        memcpy(at, parts[i].data, parts[i].len);
        at += parts[i].len;
    }
    return page.size;
}

static void syspage_copy_name(char *dst, size_t size, const char *src)
{
    for (size_t i = 0; i < size - 1 && src[i]; i++) {
        dst[i] = src[i];
    }
}

static void header_init(void)
{
    page.magic = KYMO_SYSPAGE_MAGIC;
    page.version = KYMO_SYSPAGE_VERSION;
    page.ncpu = cpu_online_count();
    page.cycles_per_sec = arch_clock_hz();
    page.skew_cycles = arch_clock_skew();
    page.word_bits = 8 * sizeof(void *);
    page.buffer_slots = TRACE_BUFFER_SLOTS;
    page.code_high = TRACE_PORT_CODE_HIGH;
    page.boot_time = arch_wall_clock();
    syspage_copy_name(page.board, sizeof(page.board), arch_board_name());
    syspage_copy_name(page.cpu_name, sizeof(page.cpu_name), arch_cpu_name());
    syspage_copy_name(page.release, sizeof(page.release), KYMO_RELEASE);
    syspage_copy_name(page.image, sizeof(page.image), boot_image_name);
}

void syspage_init(void)
{
    uint32_t *fields[PARTS] = {
        NULL,
        &page.build_id_off,
        &page.events_off,
        &page.kercalls_off,
        &page.states_off,
        &page.errors_off,
        &page.irqs_off,
    };

    header_init();
    parts_init();
    for (unsigned i = 0; i < PARTS; i++) {
        if (fields[i]) {
            fields[i][0] = page.size; /* offset, and the length next to it */
            fields[i][1] = parts[i].len;
        }
        page.size += parts[i].len;
    }
}

long ker_syspage_read(struct thread *self, const uintptr_t *args)
{
    size_t offset = args[0], wanted = args[2], done = 0;

    for (unsigned i = 0; i < PARTS && done < wanted; i++) {
        if (offset >= parts[i].len) {
            offset -= parts[i].len;
            continue;
        }
        size_t n = parts[i].len - offset;
        if (n > wanted - done) {
            n = wanted - done;
        }
        if (copy_out(self->proc, args[1] + done, (const char *)parts[i].data + offset, n)) {
            return -EFAULT;
        }
        done += n;
        offset = 0;
    }
    return (long)done;
}
