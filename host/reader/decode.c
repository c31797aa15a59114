/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event's payload as fields. Whether the event has its fast or its wide form stands nowhere in
 * it: the number of slots tells, and where both fit the same slots, whether words that the fast
 * form would have left zero are used (docs/reference/format.md).
 */
#include <string.h>

#include "host/reader/reader.h"

static bool has_string(const struct kev_list *list)
{
    return list->n > 0 && list->args[list->n - 1].type == 'N';
}

static uint8_t arg_words(char type, unsigned form)
{
    bool pointer = type == 'P' || type == 'I';

    if (type == 'E' || type == 'X' || form == 2 || (pointer && form == 1)) {
        return 2;
    }
    return type == 'N' ? 0 : 1;
}

static void list_measure(struct kev_list *list, uint8_t words[3])
{
    memset(words, 0, 3);
    for (unsigned i = 0; i < list->n; i++) {
        struct kev_arg *arg = &list->args[i];

        arg->name_len = (uint8_t)strlen(arg->name);
        for (unsigned form = 0; form < 3; form++) {
            arg->words[form] = arg_words(arg->type, form);
            words[form] = (uint8_t)(words[form] + arg->words[form]);
        }
    }
}

void kev_desc_measure(struct kev_desc *desc)
{
    list_measure(&desc->fast, desc->fast_words);
    list_measure(&desc->wide, desc->wide_words);
}

static unsigned words_to_slots(unsigned words)
{
    return words <= 2 ? 1 : (words + 1) / 2;
}

static bool words_used(const struct kev_event *event, unsigned from)
{
    for (unsigned i = from; i < event->nwords; i++) {
        if (event->words[i] != 0) {
            return true;
        }
    }
    return false;
}

static const struct kev_list *reader_decode_choose_form(const struct kev_event *event,
                                                        const struct kev_desc *desc, unsigned form)
{
    unsigned fast = desc->fast_words[form], wide = desc->wide_words[form];
    unsigned fast_slots =
        form == 2 ? 2 : words_to_slots(fast); /* a call's has two words, named or not */
    unsigned slots = event->nwords / 2;

    if (has_string(&desc->fast)) {
        return &desc->fast;
    }
    if (slots > fast_slots) {
        return &desc->wide;
    }
    if (slots == words_to_slots(wide) && wide > fast && words_used(event, fast)) {
        return &desc->wide;
    }
    return &desc->fast;
}

static size_t text_length(const char *text, size_t room)
{
    const char *nul = memchr(text, '\0', room);

    return nul == NULL ? room : (size_t)(nul - text);
}

static void field_fill(const struct kev_event *event, struct kev_field *field, unsigned at,
                       unsigned words)
{
    field->wide = words == 2;
    field->value = kev_word(event, at);
    if (words == 2) {
        field->value |= (uint64_t)kev_word(event, at + 1) << 32;
    } else if (field->arg->type == 'I' && event->code_high != 0 && (field->value & 1) != 0) {
        field->wide = true;
        field->value = (uint64_t)event->code_high << 32 | (field->value & ~1u);
    }
    field->text = NULL;
    field->len = 0;
    if (words == 0) {
        field->text = (const char *)(event->words + at);
        field->len = text_length(field->text, 4 * (size_t)(event->nwords - at));
    }
}

unsigned kev_decode(const struct kev_event *event, const struct kev_desc *desc,
                    struct kev_field *fields)
{
    bool sixty_four = (event->number & TRACE_EVENT_64) != 0 && event->class != TRACE_CLASS_USER;
    unsigned form = !sixty_four ? 0 : trace_class_is_call(event->class) ? 2 : 1;
    const struct kev_list *list = reader_decode_choose_form(event, desc, form);
    unsigned at = 0, n = 0;

    while (n < list->n) {
        const struct kev_arg *arg = &list->args[n];
        unsigned words = arg->words[form];

        if (at + words > event->nwords || (words == 0 && at >= event->nwords)) {
            break;
        }
        fields[n].arg = arg;
        field_fill(event, &fields[n], at, words);
        at += words;
        n++;
    }
    return n;
}
