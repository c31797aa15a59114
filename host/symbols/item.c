/* SPDX-License-Identifier: BSD-2-Clause */
/* See item.h. */
#include "host/symbols/item.h"

#include <stdio.h>
#include <string.h>

#include "host/event_numbers.h"
#include "host/remote/elf_id.h"
#include "trace/slot.h"

/* trace/events.def, class SYSTEM */
#define ADDRESS 9
#define FUNCTION_EXIT 11

struct symbols *symbols_open_capture(const struct kev_capture *capture, const char *option,
                                     const char *const *paths, unsigned n)
{
    const struct kev_facts *facts = kev_capture_facts(capture);
    uint8_t build_id[ELF_ID_BYTES];
    bool known = strlen(facts->build_id) == 2 * ELF_ID_BYTES;

    for (unsigned i = 0; i < ELF_ID_BYTES && known; i++) {
        known = sscanf(&facts->build_id[2 * i], "%2hhx", &build_id[i]) == 1;
    }
    return symbols_open_build(known ? build_id : NULL, facts->board, facts->word_bits, option,
                              paths, n);
}

void symbols_learn_item(struct symbols *symbols, struct kev_capture *capture,
                        const struct kev_item *item)
{
    const struct kev_value *values[4];

    if (item->class_id != TRACE_CLASS_SYSTEM || item->code != NUMBER_mapname) {
        return;
    }
    kev_capture_values(capture);
    for (unsigned i = 0; i < 4; i++) {
        values[i] = kev_capture_value(capture, i);
        if (values[i] == NULL) {
            return;
        }
    }
    if (values[3]->text != NULL) {
        symbols_learn_text(symbols, (uint32_t)values[0]->number, values[1]->number,
                           values[2]->number, values[3]->text, values[3]->length);
    }
}

bool symbols_name_item(struct symbols *symbols, struct kev_capture *capture,
                       const struct kev_item *item, uint64_t *address, char text[SYMBOLS_NAME_MOST])
{
    const struct kev_value *value;

    if (item->class_id != TRACE_CLASS_SYSTEM || item->code < ADDRESS ||
        item->code > FUNCTION_EXIT || item->pid == KEV_NOBODY) {
        return false;
    }
    kev_capture_values(capture);
    value = kev_capture_value(capture, 0);
    if (value == NULL) {
        return false;
    }
    *address = value->number;
    return symbols_name(symbols, (uint32_t)item->pid, value->number, text);
}
