/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kymo's system page in a capture: every field checked before it is used. A page without Kymo's
 * magic is another kernel's: the capture is then read as a stream with few promises.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/reader/reader.h"
#include "abi/syspage.h"
#include "lib/capture/check.h"

_Static_assert(offsetof(struct kymo_syspage, board) == 48, "system page layout");
_Static_assert(sizeof(struct kymo_syspage) == 232, "system page layout");

#define PAGE_BYTES_V1 offsetof(struct kymo_syspage, image)
#define PAGE_BYTES_V2 offsetof(struct kymo_syspage, errors_off)

#define DEFAULT_HZ 1000000000u

static uint32_t page_u32(const struct kev *kev, size_t offset)
{
    const uint8_t *p = kev->syspage + offset;

    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t page_u64(const struct kev *kev, size_t offset)
{
    return page_u32(kev, offset) | (uint64_t)page_u32(kev, offset + 4) << 32;
}

#define PAGE_U32(kev, field) page_u32(kev, offsetof(struct kymo_syspage, field))
#define PAGE_U64(kev, field) page_u64(kev, offsetof(struct kymo_syspage, field))

static void page_text(const struct kev *kev, char *to, size_t offset)
{
    memcpy(to, kev->syspage + offset, 32);
    to[32] = '\0';
}

static uint64_t attr_number(const struct kev *kev, const char *key, uint64_t otherwise)
{
    const char *text = kev_attr(kev, key);
    uint64_t value = text == NULL ? 0 : strtoull(text, NULL, 0);

    return value == 0 ? otherwise : value;
}

static uint64_t page_offset(const struct kev *kev)
{
    return kev->slots_offset - kev->syspage_len;
}

static int page_tables_check(struct kev *kev, struct kev_error *error)
{
    static const size_t tables[] = {
        offsetof(struct kymo_syspage, build_id_off), offsetof(struct kymo_syspage, events_off),
        offsetof(struct kymo_syspage, kercalls_off), offsetof(struct kymo_syspage, states_off),
        offsetof(struct kymo_syspage, irqs_off),     offsetof(struct kymo_syspage, errors_off),
    };
    unsigned n = sizeof(tables) / sizeof(tables[0]) - (PAGE_U32(kev, version) < 3);

    for (unsigned i = 0; i < n; i++) {
        uint32_t off = page_u32(kev, tables[i]);
        uint32_t len = page_u32(kev, tables[i] + 4);

        if (len > kev->syspage_len || off > kev->syspage_len - len) {
            return kev_fail(kev, error, page_offset(kev) + tables[i],
                            "a table of the system page (%u bytes at %u) lies outside it", len,
                            off);
        }
    }
    return 0;
}

static int page_check(struct kev *kev, struct kev_error *error)
{
    uint64_t at = page_offset(kev);

    uint32_t version = PAGE_U32(kev, version);
    size_t least = version == 1   ? PAGE_BYTES_V1
                   : version == 2 ? PAGE_BYTES_V2
                                  : sizeof(struct kymo_syspage);

    if (version == 0 || version > KYMO_SYSPAGE_VERSION) {
        return kev_fail(kev, error, at, "unknown system page version %u, only 1 to %d are known",
                        version, KYMO_SYSPAGE_VERSION);
    }
    if (PAGE_U32(kev, size) > kev->syspage_len || PAGE_U32(kev, size) < least) {
        return kev_fail(kev, error, at, "the system page says %u bytes, the header %u",
                        PAGE_U32(kev, size), kev->syspage_len);
    }
    if (PAGE_U32(kev, ncpu) == 0 || PAGE_U32(kev, ncpu) > KEV_CPUS) {
        return kev_fail(kev, error, at, "%u CPUs are not possible", PAGE_U32(kev, ncpu));
    }
    if (PAGE_U32(kev, word_bits) != 32 && PAGE_U32(kev, word_bits) != 64) {
        return kev_fail(kev, error, at, "a word size of %u bits is not possible",
                        PAGE_U32(kev, word_bits));
    }
    if (PAGE_U32(kev, buffer_slots) < 2 || PAGE_U32(kev, buffer_slots) > 65536) {
        return kev_fail(kev, error, at, "buffers of %u slots are not possible",
                        PAGE_U32(kev, buffer_slots));
    }
    return page_tables_check(kev, error);
}

static void page_use(struct kev *kev)
{
    struct kev_info *info = &kev->info;

    info->ncpu = PAGE_U32(kev, ncpu);
    info->word_bits = PAGE_U32(kev, word_bits);
    info->skew_cycles = PAGE_U64(kev, skew_cycles);
    if (PAGE_U64(kev, cycles_per_sec) != 0) {
        info->cycles_per_sec = PAGE_U64(kev, cycles_per_sec);
        info->clock_known = true;
    }
    page_text(kev, info->board, offsetof(struct kymo_syspage, board));
    page_text(kev, info->cpu_name, offsetof(struct kymo_syspage, cpu_name));
    page_text(kev, info->release, offsetof(struct kymo_syspage, release));
    if (PAGE_U32(kev, version) > 1) {
        page_text(kev, info->image, offsetof(struct kymo_syspage, image));
    }
    info->build_id = kev->syspage + PAGE_U32(kev, build_id_off);
    info->build_id_len = PAGE_U32(kev, build_id_len);
    kev->buffer_slots = PAGE_U32(kev, buffer_slots);
    kev->own_calls_apart = PAGE_U32(kev, version) >= 3;
    info->dumps_marked = PAGE_U32(kev, version) >= 4;
    kev->reserved_bits = KEV_RESERVED_BITS | (info->dumps_marked ? 0 : TRACE_STATE_DUMP);
    kev->code_high = PAGE_U32(kev, version) >= 3 ? PAGE_U32(kev, code_high) : 0;
}

/* Defaults for captures without a valid system page. */
static void page_defaults(struct kev *kev)
{
    struct kev_info *info = &kev->info;
    uint64_t hz = attr_number(kev, "CYCLES_PER_SEC", 0);
    uint64_t ncpu = attr_number(kev, "CPU_NUM", 1);

    info->cycles_per_sec = hz == 0 ? DEFAULT_HZ : hz;
    info->clock_known = hz != 0;
    info->ncpu = ncpu > KEV_CPUS ? KEV_CPUS : (unsigned)ncpu;
    info->word_bits = 32;
    kev->buffer_slots = TRACE_BUFFER_SLOTS;
    kev->reserved_bits = KEV_RESERVED_BITS;
}

static bool sysname_is_kymo(const struct kev *kev)
{
    const char *name = kev_attr(kev, "SYSNAME");

    return name != NULL && strcasecmp(name, "kymo") == 0;
}

/* A Kymo capture whose header is damaged must not pass as another kernel's, which is believed
 * anything: its name may have run into the next attribute, or the page's length may be lost. */
static bool looks_like_kymo(struct kev *kev, struct kev_error *error)
{
    const char *name = kev_attr(kev, "SYSNAME");
    uint8_t first[4] = {0};

    return (name != NULL && strncasecmp(name, "kymo", 4) == 0) ||
           (kev->syspage_len == 0 &&
            kev_file_read(&kev->file, kev->slots_offset, first, 4, error) == 4 &&
            memcmp(first, "KYMO", 4) == 0);
}

/* Over all bytes in front of the first slot. */
static int head_sum(struct kev *kev, struct kev_error *error)
{
    uint8_t bytes[4096];
    long len;

    kev->head_sum = CAPTURE_SUM_FIRST;
    for (uint64_t at = 0; at < kev->slots_offset; at += (uint64_t)len) {
        uint64_t left = kev->slots_offset - at;

        len = kev_file_read(&kev->file, at, bytes, left < sizeof(bytes) ? left : sizeof(bytes),
                            error);
        if (len <= 0) {
            return -1;
        }
        kev->head_sum = capture_sum_bytes(kev->head_sum, bytes, (size_t)len);
    }
    kev->head_sum = capture_sum_place(kev->head_sum, (struct capture_place){0});
    return 0;
}

int kev_read_syspage(struct kev *kev, struct kev_error *error)
{
    bool magic = kev->syspage_len >= PAGE_BYTES_V1 && PAGE_U32(kev, magic) == KYMO_SYSPAGE_MAGIC;

    page_defaults(kev);
    kev->info.kymo = magic || looks_like_kymo(kev, error);
    if (!kev->info.kymo) {
        return 0;
    }
    if (!magic) {
        return kev_fail(kev, error, page_offset(kev), "the system page is not Kymo's");
    }
    if (page_check(kev, error) != 0) {
        return -1;
    }
    page_use(kev);
    return kev_table_text(kev, error);
}

/* A capture of Kymo's that has lost its version or its name must not pass as one without CHECK. */
int kev_read_version(struct kev *kev, struct kev_error *error)
{
    const char *minor = kev_attr(kev, "VER_MINOR");

    if (!kev->info.kymo) {
        return 0;
    }
    if (minor == NULL || !sysname_is_kymo(kev)) {
        return kev_fail(kev, error, 0, "the header lacks TRACE_%s",
                        minor == NULL ? "VER_MINOR::" : "SYSNAME::Kymo");
    }
    kev->checked = kev->info.checked = atoi(minor) >= 2;
    return kev->checked ? head_sum(kev, error) : 0;
}
