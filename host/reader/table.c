/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of event descriptions: what kev_describe() finds. Filled from the tables compiled in
 * (table_builtin.c), then from the capture's own (table_text.c), which win.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"

struct kev_desc *kev_table_add(struct kev_table *table, unsigned class, unsigned number,
                               const char *name)
{
    struct kev_desc *desc;

    if (class >= KEV_CLASSES || number > TRACE_EVENT_MASK) {
        return NULL;
    }
    desc = table->desc[class][number];
    if (desc == NULL) {
        desc = malloc(sizeof(*desc));
        table->no_memory |= desc == NULL;
        table->desc[class][number] = desc;
    }
    if (desc != NULL) {
        memset(desc, 0, sizeof(*desc));
        desc->number = number;
        snprintf(desc->name, sizeof(desc->name), "%s", name);
    }
    return desc;
}

/* The three events of a kernel call; lists: enter fast, enter wide, exit fast, exit wide. */
int kev_table_call(struct kev_table *table, unsigned class, unsigned call, const char *name,
                   const struct kev_list lists[4])
{
    static const struct {
        enum kev_kind kind;
        unsigned base;
    } forms[] = {{KEV_CALL_ENTER, TRACE_KERCALL_ENTER},
                 {KEV_CALL_EXIT, TRACE_KERCALL_EXIT},
                 {KEV_CALL_INT, TRACE_KERCALL_INT}};

    if (call >= KEV_CALLS) {
        return 0;
    }
    for (unsigned i = 0; i < 3; i++) {
        struct kev_desc *desc = kev_table_add(table, class, forms[i].base + call, name);

        if (desc == NULL) {
            return -1;
        }
        desc->kind = forms[i].kind;
        desc->number = call;
        if (i < 2) {
            desc->fast = lists[2 * i];
            desc->wide = lists[2 * i + 1];
        }
    }
    table->calls[call] = table->desc[class][call]->name;
    return 0;
}

int kev_table_own_calls_both(struct kev_table *table)
{
    for (unsigned number = 0; number < 3 * KEV_CALLS; number++) {
        const struct kev_desc *own = table->desc[TRACE_CLASS_KYMO_CALL][number];

        if (own == NULL || table->desc[TRACE_CLASS_KER_CALL][number] != NULL) {
            continue;
        }
        struct kev_desc *desc = kev_table_add(table, TRACE_CLASS_KER_CALL, number, own->name);
        if (desc == NULL) {
            return -1;
        }
        *desc = *own;
    }
    return 0;
}

void kev_table_measure(struct kev_table *table)
{
    for (unsigned class = 0; class < KEV_CLASSES; class ++) {
        for (unsigned number = 0; number <= TRACE_EVENT_MASK; number++) {
            if (table->desc[class][number] != NULL) {
                kev_desc_measure(table->desc[class][number]);
            }
        }
    }
}

void kev_table_free(struct kev_table *table)
{
    if (table == NULL) {
        return;
    }
    for (unsigned class = 0; class < KEV_CLASSES; class ++) {
        for (unsigned number = 0; number <= TRACE_EVENT_MASK; number++) {
            free(table->desc[class][number]);
        }
    }
    for (unsigned i = 0; i < KEV_STATES; i++) {
        free(table->states[i]);
    }
    for (unsigned i = 0; i < KEV_IRQS; i++) {
        free(table->irqs[i]);
    }
    for (unsigned i = 0; i < KEV_ERRORS; i++) {
        free(table->errors[i]);
    }
    free(table);
}

const struct kev_desc *kev_describe(const struct kev *kev, unsigned class, unsigned number)
{
    const struct kev_desc *desc;

    if (class >= KEV_CLASSES || number > TRACE_EVENT_MASK) {
        return NULL;
    }
    desc = kev->table->desc[class][number];
    if (desc == NULL && (number & TRACE_EVENT_64) != 0) {
        desc = kev->table->desc[class][number & ~TRACE_EVENT_64];
    }
    return desc;
}

const char *kev_call_name(const struct kev *kev, unsigned call)
{
    /* Another kernel's calls with the numbers of Kymo's own have other names. */
    return call < (kev->info.kymo ? KEV_CALLS : TRACE_KERCALL_OWN) ? kev->table->calls[call] : NULL;
}

const char *kev_error_name(const struct kev *kev, unsigned error)
{
    return error < KEV_ERRORS ? kev->table->errors[error] : NULL;
}

const char *kev_irq_name(const struct kev *kev, unsigned irq)
{
    return irq < KEV_IRQS ? kev->table->irqs[irq] : NULL;
}

const char *kev_state_name(const struct kev *kev, unsigned state)
{
    return state < KEV_STATES ? kev->table->states[state] : NULL;
}

const char *kev_class_name(unsigned class)
{
    static const char *const names[] = {"EMPTY",  "CONTROL", "KER_CALL", "INT",      "PR_TH",
                                        "SYSTEM", "USER",    "COMM",     "QUIP",     "SEC",
                                        "QVM",    "PMU",     "D",        "KYMO_CALL"};
    static _Thread_local char text[24];

    if (class < sizeof(names) / sizeof(names[0])) {
        return names[class];
    }
    snprintf(text, sizeof(text), "CLASS %u", class);
    return text;
}
