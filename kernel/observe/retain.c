/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The retained memory. At boot finds an earlier kernel's data and keeps it untouched until a
 * program has saved or discarded it; otherwise claims the window for this boot, so that the next
 * boot finds this one's recording and panic. Data without a correct CRC is not trusted, and no
 * pointer in it is followed. Layout: abi/retain.h.
 *
 * Lock [k], except at boot and in a panic. Errors: EPERM without ABILITY_TRACE, ENOENT if nothing
 * is found, EINVAL, EFAULT. Tested by test/board/flight.py, dlog.py;
 * test/kernel/observe/claim_test.c; the finder: test/trace/retain_test.c.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/panic.h"
#include "kernel/observe/retain.h"

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "abi/sys/panic.h"
#include "kernel/base/cpu.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/base/kercall.h"
#include "kernel/mem/mem.h"
#include "kernel/proc/proc.h"
#include "kernel/base/string.h"
#include "kernel/base/window.h"
#include "kernel/observe/observe.h"
#include "kernel/observe/retain_judge.h"
#include "kernel/observe/retain_layout.h"
#include "trace/crc32c.h"
#include "trace/dtrace/log_event.h"
#include "trace/port.h"

_Static_assert(sizeof(struct kymo_panic) <= sizeof(((struct kymo_retain_panic *)0)->record),
               "abi/retain.h");
_Static_assert(CONFIG_CPUS <= KYMO_RETAIN_CPUS, "abi/retain.h");

/* Bytes of the notes' area that are reserved for entries that report missing room. */
#define NOTES_RESERVE (CONFIG_RETAIN_NOTES_BYTES >= 0x4000 ? 1024u : 128u)

/* Each area must fit: CONFIG_RETAIN_*_BYTES of board.mk. */
_Static_assert(sizeof(struct kymo_retain_header) <= CONFIG_RETAIN_HEADER_BYTES, "the header");
_Static_assert(sizeof(struct kymo_retain_panic) <= CONFIG_RETAIN_PANIC_BYTES, "a panic's record");
_Static_assert(sizeof(struct kymo_retain_boots) <= CONFIG_RETAIN_BOOTS_BYTES, "the boots");
_Static_assert(RETAIN_FROZEN_USED <= CONFIG_RETAIN_FROZEN_BYTES, "copied cursors and losses");
_Static_assert(RETAIN_D_USED <= CONFIG_RETAIN_D_BYTES, "the directory of D programs");
_Static_assert(sizeof(cpus) <= CONFIG_RETAIN_LIVE_BYTES, "the kernel's per-CPU data");
_Static_assert(CONFIG_RETAIN_PAGE_BYTES <= KYMO_RETAIN_PAGE_MOST, "too large for a system page");
_Static_assert(CONFIG_RETAIN_NOTES_BYTES > NOTES_RESERVE &&
                   CONFIG_RETAIN_NOTES_BYTES <= KYMO_RETAIN_NOTES_AREA,
               "notes of D programs");
_Static_assert(RETAIN_LIVE == CONFIG_RETAIN_LIVE, "CONFIG_RETAIN_LIVE: where the linker has cpus");
_Static_assert((RETAIN_PANIC | RETAIN_BOOTS | RETAIN_FROZEN | RETAIN_D | RETAIN_LIVE | RETAIN_PAGE |
                RETAIN_NOTES | RETAIN_NAMES | RETAIN_FREE) %
                       16 ==
                   0,
               "the areas' sizes are multiples of 16");
_Static_assert(RETAIN_FREE < CONFIG_RETAIN_BYTES, "CONFIG_RETAIN_BYTES: no room for a ring");

static struct {
    uint32_t boots;      /* [I] */
    uint32_t found;      /* [k] number of the boot whose data is in the window; 0: this boot's */
    bool panicked;       /* [I] whether that boot ended with a panic */
    bool panic_damaged;  /* [I] whether it did, and its record is damaged or was cut off */
    bool header_damaged; /* [I] whether a header was there that can't be trusted */
    bool mine;           /* [k] the window has this boot's header */
    uint32_t page_bytes, page_crc; /* [k] */
    uint32_t ring_end;             /* [k] end of this boot's ring; 0: there is none */
} retain;

extern const uint32_t boot_image_retains; /* scripts/image.S */

/* Returns false if this image leaves the window to programs, except for the kernel's per-CPU
 * data. */
static bool retain_wanted(void)
{
    return boot_image_retains != 0;
}

static bool has_recording(void)
{
    return HEADER->ring.per_cpu || dtrace_retained_found(retain_at(RETAIN_D), HEADER->boots);
}

/* Saves the old kernel's data from its location, which may differ in another build. */
static void retain_save(void *to, uint32_t offset, size_t bytes)
{
    if (offset >= RETAIN_LIVE && offset <= RETAIN_LIVE + CONFIG_RETAIN_LIVE_BYTES - bytes) {
        memcpy(to, retain_at(offset), bytes);
    }
}

static void retain_freeze(void)
{
    const struct kymo_retain_header *header = HEADER;
    struct kymo_retain_frozen *frozen = FROZEN;

    memset(frozen, 0, RETAIN_FROZEN_USED);
    for (unsigned i = 0; i < CONFIG_CPUS && i < header->ring.ncpu; i++) {
        const struct kymo_retain_place *place = &header->ring.cpu[i];

        retain_save(&frozen->cpu[i].cursor, place->cursor, header->word_bits == 64 ? 8 : 4);
        retain_save(frozen->cpu[i].pending, place->pending, sizeof(frozen->cpu[i].pending));
    }
    frozen->boots = header->boots;
    frozen->crc = trace_crc(frozen->cpu, CONFIG_CPUS * sizeof(struct kymo_retain_cpu));
    frozen->magic = KYMO_RETAIN_MAGIC;
    arch_cache_clean(frozen, RETAIN_FROZEN_USED);
}

/* before: the count so far, which is the header's where its own place is damaged. */
static void count_boots(uint32_t before)
{
    struct kymo_retain_boots *boots = BOOTS;

    retain.boots = before + 1 != 0 ? before + 1 : 1;
    *boots = (struct kymo_retain_boots){KYMO_RETAIN_MAGIC, retain.boots,
                                        trace_crc(&retain.boots, sizeof(retain.boots)), 0};
    arch_cache_clean(boots, sizeof(*boots));
}

void retain_boot(void)
{
    bool there = retain_wanted() && retain_header_good(), counted = retain_boots_good();

    retain.panicked = there && retain_panic_good();
    retain.panic_damaged = there && !retain.panicked && !retain_panic_absent();
    /* Without power RAM has anything, but hardly a right count of boots beside what is no header. A
     * kernel clears the magic before it changes a header, and where the window is a program's. */
    retain.header_damaged = retain_wanted() && !there && counted && HEADER->magic != 0;
    if (retain.panicked || retain.panic_damaged || (there && has_recording())) {
        retain.found = HEADER->boots;
        if (FROZEN->magic == 0) { /* else an earlier boot has; its readers judge the copy */
            retain_freeze();
        }
    }
    if (retain_wanted()) {
        count_boots(counted ? BOOTS->boots : there ? HEADER->boots : 0);
    } else { /* programs get the window: its contents are no longer valid */
        *(volatile uint32_t *)&HEADER->magic = 0;
        arch_cache_clean(HEADER, sizeof(HEADER->magic));
    }
    memset(cpus, 0, sizeof(cpus));
}

void retain_claim_ram(paddr_t ram, size_t bytes)
{
    paddr_t at = CONFIG_RETAIN_BASE + (retain_wanted() ? 0 : RETAIN_LIVE);
    size_t len = retain_wanted() ? CONFIG_RETAIN_BYTES : CONFIG_RETAIN_LIVE_BYTES;

    if (at >= ram && at - ram < bytes) {
        paddr_t from = at & ~(paddr_t)(phys_granule() - 1);
        if (!phys_alloc_at(from, at + len - from)) {
            kernel_panic("the retained memory is not entirely in RAM");
        }
    }
}

/* A reset during this function leaves no header, or a complete one. */
static void put_header(const struct kymo_retain_ring *ring)
{
    kernel_assert(kernel_locked());
    struct kymo_retain_header *header = HEADER;

    *(volatile uint32_t *)&header->magic = 0;
    header->version = KYMO_RETAIN_VERSION;
    header->bytes = sizeof(*header);
    header->boots = retain.boots;
    header->word_bits = 8 * sizeof(void *);
    header->physical = CONFIG_RETAIN_BASE;
    header->base = (uintptr_t)retain_at(0);
    header->window = CONFIG_RETAIN_BYTES;
    header->page_bytes = retain.page_bytes;
    header->page_crc = retain.page_crc;
    header->ring = ring ? *ring : (struct kymo_retain_ring){0};
    header->areas = retain_areas;
    header->crc = retain_header_crc(header);
    *(volatile uint32_t *)&header->magic = KYMO_RETAIN_MAGIC;
    arch_cache_clean(header, sizeof(*header));
}

/* ---- long stretches of the window, in steps ---------------------------------------- */

/* Claims of the window, and notes, are parts of long calls (at boot of none). */
#define RETAIN_STEP 256u /* bytes that are processed between two windows */

static size_t retain_step(size_t bytes)
{
    return bytes < RETAIN_STEP ? bytes : RETAIN_STEP;
}

uint32_t retain_sum(const void *from, size_t bytes)
{
    const uint8_t *at = from;
    uint32_t sum = TRACE_CRC_START;

    for (size_t n = retain_step(bytes); n > 0; n = retain_step(bytes)) {
        sum = trace_crc_add(sum, at, n);
        arch_cache_clean(at, n);
        at += n;
        bytes -= n;
        kernel_window();
    }
    return ~sum;
}

static void retain_copy(void *to, const void *from, size_t bytes)
{
    for (size_t at = 0, n = retain_step(bytes); n > 0; at += n, n = retain_step(bytes - at)) {
        memcpy((uint8_t *)to + at, (const uint8_t *)from + at, n);
        kernel_window();
    }
}

/* ---- notes beside the ring --------------------------------------------------------- */

/* The notes of D's consumers that log, next to the ring in retained memory: a ring's records can be
 * printed only with their notes, and the ring may have overwritten its own copy. They are stored
 * consecutively; when there is no room, the notes of destroyed consumers are dropped. A reset
 * during a write leaves the complete ones. */
_Static_assert(KYMO_RETAIN_NOTES_EVENT == DTRACE_LOG_NOTES &&
                   KYMO_RETAIN_NOTES_PART == DTRACE_LOG_NOTES_PART_MOST &&
                   KYMO_RETAIN_NOTES_MOST == DTRACE_LOG_NOTES_MAX,
               "abi/retain.h");

static struct {
    uint8_t *area;  /* [k] NULL: the window doesn't belong to this boot */
    uint32_t boots; /* [k] */
    uint32_t used;  /* [k] bytes; a multiple of 8 */
} notes;

/* Ends the list at `used`. */
static void retain_notes_end(uint32_t used)
{
    if (used <= CONFIG_RETAIN_NOTES_BYTES - sizeof(struct kymo_retain_note)) {
        ((struct kymo_retain_note *)(void *)(notes.area + used))->magic = 0;
    }
}

/* Stores one note. n 0: reports only that there was no room. */
static bool retain_notes_put(uint32_t id, uint32_t total, const void *bytes, uint32_t n)
{
    kernel_assert(kernel_locked() && (notes.used & 7) == 0 &&
                  notes.used <= CONFIG_RETAIN_NOTES_BYTES);
    struct kymo_retain_note *note = (struct kymo_retain_note *)(void *)(notes.area + notes.used);
    uint32_t room = CONFIG_RETAIN_NOTES_BYTES - (n ? NOTES_RESERVE : 0);
    uint32_t need = (uint32_t)sizeof(*note) + ((n + 7) & ~7u);

    if (room < notes.used || need > room - notes.used) {
        return false;
    }
    retain_notes_end(notes.used + need);
    retain_copy(note + 1, bytes, n);
    note->boots = notes.boots;
    note->id = id;
    note->total = total;
    note->bytes = n;
    note->data_crc = retain_sum(note + 1, n);
    note->zero = 0;
    note->crc = trace_crc(&note->boots, sizeof(*note) - offsetof(struct kymo_retain_note, boots));
    *(volatile uint32_t *)&note->magic = KYMO_RETAIN_MAGIC;
    arch_cache_clean(note, sizeof(*note));
    notes.used += need;
    return true;
}

static void retain_notes_put_all(void)
{
    const void *bytes;
    uint32_t id, n;

    notes.used = 0;
    retain_notes_end(0);
    for (unsigned i = 0; dtrace_log_notes_of(i, &id, &bytes, &n); i++) {
        if (n > CONFIG_RETAIN_NOTES_BYTES || !retain_notes_put(id, n, bytes, n)) {
            retain_notes_put(id, n, bytes, 0);
        }
    }
}

/* Claims the area for this boot. */
static void retain_notes_begin(uint8_t *area, uint32_t boots)
{
    notes.area = area;
    notes.boots = boots;
    retain_notes_put_all();
}

void retain_note(uint32_t id, const void *bytes, uint32_t n)
{
    if (notes.area &&
        (!bytes || n > CONFIG_RETAIN_NOTES_BYTES || !retain_notes_put(id, n, bytes, n))) {
        retain_notes_put_all();
    }
}

/* ---- the window -------------------------------------------------------------------- */

static void retain_page(void)
{
    void *page = retain_at(RETAIN_PAGE);

    if (CONFIG_RETAIN_PAGE_BYTES == 0) {
        retain.page_bytes = syspage_sum(&retain.page_crc);
        return;
    }
    retain.page_bytes = (uint32_t)syspage_copy(page, CONFIG_RETAIN_PAGE_BYTES);
    retain.page_crc = retain_sum(page, retain.page_bytes);
}

/* Claims the window for this boot, in steps. Its header is written twice: a panic between the two
 * writes has its record in the window, though perhaps not a page that explains it. Only long calls
 * use the rest of the window. */
static void retain_begin(void)
{
    *(volatile uint32_t *)&HEADER->magic = 0;
    arch_cache_clean(HEADER, sizeof(HEADER->magic));
    /* an earlier boot's record must not be valid with this boot's header */
    memset(PANIC, 0, sizeof(*PANIC));
    arch_cache_clean(PANIC, sizeof(*PANIC));
    memset(FROZEN, 0, RETAIN_FROZEN_USED);
    arch_cache_clean(FROZEN, RETAIN_FROZEN_USED);
    dtrace_retained_begin(retain_at(RETAIN_D));
    retain.page_bytes = retain.page_crc = 0;
    retain.ring_end = 0;
    put_header(NULL);
    retain.found = 0;
    retain.mine = true;
    kernel_window();
    retain_page();
    retain_notes_begin(retain_at(RETAIN_NOTES), retain.boots);
    retain_names_begin(retain_at(RETAIN_NAMES), retain.boots);
    put_header(NULL);
}

static const char *retain_reason(void)
{
    struct kymo_panic *record = (struct kymo_panic *)(void *)PANIC->record;

    if (!retain.panicked) {
        return retain.panic_damaged ? "a panic with a damaged record" : "a reset without a panic";
    }
    record->reason[sizeof(record->reason) - 1] = '\0';
    return record->reason;
}

void retain_start(void)
{
    if (!retain_wanted()) {
        return;
    }
    if (retain.header_damaged) {
        kprintf("boot %u: retained header damaged, or another kernel's\n", (unsigned)retain.boots);
    }
    if (!retain.found) {
        retain_begin();
        return;
    }
    kprintf("boot %u: boot %u ended with: %s\n", (unsigned)retain.boots, (unsigned)retain.found,
            retain_reason());
    kprintf("%s retained: tracelogger --recover saves it\n",
            has_recording() ? "its recording is" : "its crash report is");
}

struct kymo_panic *retain_panic(void)
{
    return retain.mine ? (struct kymo_panic *)(void *)PANIC->record : NULL;
}

void retain_seal(void)
{
    if (retain.mine) {
        PANIC->crc = trace_crc(PANIC->record, sizeof(PANIC->record));
        PANIC->magic = KYMO_RETAIN_MAGIC;
        arch_cache_clean(retain_at(0), CONFIG_RETAIN_BYTES);
    }
}

/* ---- the ring: trace/port.h -------------------------------------------------------- */

int trace_port_retained(uint8_t **window, size_t *from, size_t *bytes, uint64_t *paddr)
{
    if (!retain.mine) {
        return retain_wanted() ? -EBUSY : -ENODEV;
    }
    *window = retain_at(0);
    *from = RETAIN_FREE;
    *bytes = dtrace_retained_ceiling();
    *paddr = CONFIG_RETAIN_BASE;
    return 0;
}

void trace_port_retained_ring(const struct kymo_retain_ring *ring)
{
    retain.ring_end = ring ? ring->buffers + ring->ncpu * ring->per_cpu * ring->buffer_bytes : 0;
    put_header(ring);
}

int retain_window(uint8_t **window, uint32_t *floor, uint32_t *boots)
{
    *window = retain_at(0);
    *floor = retain.ring_end ? retain.ring_end : RETAIN_FREE;
    *boots = retain.boots;
    return !retain_wanted() ? -ENODEV : retain.mine ? 0 : -EBUSY;
}

/* ---- TraceEvent() ------------------------------------------------------------------ */

static long retain_query(struct thread *self, uintptr_t where)
{
    struct kymo_retained out = {.bytes = CONFIG_RETAIN_BYTES, .boots = retain.boots};

    if (retain.found) {
        out.found = retain.found;
        out.ring = HEADER->ring.per_cpu;
        out.panic = retain.panicked || retain.panic_damaged;
    }
    return copy_out(self->proc, where, &out, sizeof(out));
}

/* Data of this kernel in the window is never reported as an earlier one's. */
static long read_some(struct thread *self, size_t offset, uintptr_t to, size_t bytes)
{
    size_t live_end = RETAIN_LIVE + CONFIG_RETAIN_LIVE_BYTES;

    if (!retain.found) {
        return -ENOENT;
    }
    if (bytes > KYMO_TRACE_READ_MOST || offset > CONFIG_RETAIN_BYTES - bytes ||
        (offset < live_end && offset + bytes > RETAIN_LIVE)) {
        return -EINVAL;
    }
    return copy_out(self->proc, to, retain_at((uint32_t)offset), bytes);
}

long retain_command(struct thread *self, uint32_t cmd, const uintptr_t *args)
{
    kernel_assert(kernel_locked());
    if (!process_able(self->proc, ABILITY_TRACE)) {
        return -EPERM;
    }
    if (!retain_wanted()) {
        return -ENODEV;
    }
    switch (cmd) {
    case KYMO_TRACE_QUERYRETAINED:
        return retain_query(self, args[1]);
    case KYMO_TRACE_READRETAINED:
        return read_some(self, args[1], args[2], args[3]);
    default: /* KYMO_TRACE_DROPRETAINED */
        if (!retain.found) {
            return -ENOENT;
        }
        retain_begin();
        dtrace_boot_again();
        return 0;
    }
}
