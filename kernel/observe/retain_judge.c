/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The judgement of what an earlier kernel has left in the window of retained memory: there, absent
 * or damaged. As lib/retain/open.c judges it: what is neither right nor as a claim leaves it is
 * damaged, or was cut off by a reset. At boot. Tested by test/kernel/observe/claim_test.c.
 */
#include "kernel/observe/retain_judge.h"

#include "kernel/base/string.h"
#include "kernel/observe/retain_layout.h"
#include "trace/crc32c.h"

const struct kymo_retain_areas retain_areas = {
    .panic = {RETAIN_PANIC, sizeof(struct kymo_retain_panic)},
    .boots = {RETAIN_BOOTS, sizeof(struct kymo_retain_boots)},
    .frozen = {RETAIN_FROZEN, RETAIN_FROZEN_USED},
    .d = {RETAIN_D, RETAIN_D_USED},
    .live = {RETAIN_LIVE, CONFIG_RETAIN_LIVE_BYTES},
    .page = {RETAIN_PAGE, CONFIG_RETAIN_PAGE_BYTES},
    .notes = {RETAIN_NOTES, CONFIG_RETAIN_NOTES_BYTES},
    .names = {RETAIN_NAMES, RETAIN_NAMES_USED},
    .free = RETAIN_FREE,
};

uint32_t retain_header_crc(const struct kymo_retain_header *header)
{
    return trace_crc(&header->boots, sizeof(*header) - offsetof(struct kymo_retain_header, boots));
}

bool retain_header_good(void)
{
    const struct kymo_retain_header *header = HEADER;

    return header->magic == KYMO_RETAIN_MAGIC && header->version == KYMO_RETAIN_VERSION &&
           header->bytes == sizeof(*header) && header->physical == CONFIG_RETAIN_BASE &&
           header->boots != 0 && header->crc == retain_header_crc(header) &&
           memcmp(&header->areas, &retain_areas, sizeof(retain_areas)) == 0;
}

bool retain_panic_good(void)
{
    return PANIC->crc == trace_crc(PANIC->record, sizeof(PANIC->record));
}

bool retain_panic_absent(void)
{
    const uint8_t *at = (const uint8_t *)PANIC;

    return *at == 0 && memcmp(at, at + 1, sizeof(*PANIC) - 1) == 0; /* all as the first */
}

bool retain_boots_good(void)
{
    const struct kymo_retain_boots *boots = BOOTS;

    return boots->magic == KYMO_RETAIN_MAGIC &&
           boots->crc == trace_crc(&boots->boots, sizeof(boots->boots));
}
