/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture's facts and terms: facts, attributes, coverage, descriptions, names.
 */
#include <stdio.h>
#include <string.h>

#include "host/kev/capture.h"
#include "host/kev/inside.h"
#include "trace/slot.h"

const struct kev_facts *kev_capture_facts(const struct kev_capture *capture)
{
    return capture->kev == NULL ? NULL : &capture->facts;
}

struct capture_inside capture_inside(const struct kev_capture *capture)
{
    return (struct capture_inside){capture->kev, capture->lost, capture->lacks};
}

const char *kev_capture_attribute(const struct kev_capture *capture, const char *key)
{
    return capture->kev == NULL ? NULL : kev_attr(capture->kev, key);
}

int kev_capture_attribute_at(const struct kev_capture *capture, unsigned index, const char **key,
                             const char **value)
{
    const struct kev_info *info = capture->kev == NULL ? NULL : kev_info(capture->kev);

    if (info == NULL || index >= info->nattrs) {
        return 0;
    }
    *key = info->attrs[index].key;
    *value = info->attrs[index].value;
    return 1;
}

int kev_capture_covered(const struct kev_capture *capture, unsigned cpu, unsigned index,
                        int64_t *from_ns, int64_t *to_ns)
{
    if (cpu >= KEV_CPUS || (long)index >= capture->cpus[cpu].nspans) {
        return 0;
    }
    *from_ns = capture_ns(capture, capture->cpus[cpu].spans[index].from);
    *to_ns = capture_ns(capture, capture->cpus[cpu].spans[index].to);
    return 1;
}

/* ---- descriptions ------------------------------------------------------------------ */

/* "D:pid,D:tid", as the system page has it. */
static const char *list_text(char *text, size_t room, const struct kev_list *list)
{
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < list->n && used < room; i++) {
        int more = snprintf(text + used, room - used, "%s%c:%s", i == 0 ? "" : ",",
                            list->args[i].type, list->args[i].name);

        used += more > 0 ? (size_t)more : 0;
    }
    return text;
}

const struct kev_description *kev_capture_describe(struct kev_capture *capture, unsigned class_id,
                                                   unsigned number)
{
    struct kev_event event = {.class = (uint8_t)class_id, .number = (uint16_t)number};
    const struct kev_desc *desc =
        capture->kev == NULL || class_id >= KEV_CLASSES || number > TRACE_EVENT_MASK
            ? NULL
            : kev_describe(capture->kev, class_id, number);
    struct record record;

    if (desc == NULL) {
        return NULL;
    }
    record_name(&record, capture->kev, &event);
    snprintf(capture->described, sizeof(capture->described), "%s", record.class);
    capture->description = (struct kev_description){
        .class_id = class_id,
        .number = number,
        .class_name = capture->described,
        .name = desc->name,
        .fast = list_text(capture->fast, sizeof(capture->fast), &desc->fast),
        .wide = list_text(capture->wide, sizeof(capture->wide), &desc->wide)};
    return &capture->description;
}

const char *kev_capture_term(const struct kev_capture *capture, unsigned meaning, unsigned number)
{
    if (capture->kev == NULL) {
        return NULL;
    }
    switch (meaning) {
    case KEV_MEANS_INTERRUPT:
        return kev_irq_name(capture->kev, number);
    case KEV_MEANS_ERRNO:
        return kev_error_name(capture->kev, number);
    case KEV_MEANS_STATE:
        return kev_state_name(capture->kev, number);
    case KEV_MEANS_CALL:
        return kev_call_name(capture->kev, number);
    default:
        return NULL;
    }
}

const char *kev_capture_name(const struct kev_capture *capture, int32_t pid, int32_t tid)
{
    if (capture->owners == NULL) {
        return NULL;
    }
    return tid == KEV_NOBODY ? owners_process(capture->owners, pid)
                             : owners_thread(capture->owners, pid, tid);
}
