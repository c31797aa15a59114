/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a capture: what its events, kernel calls, states and errors are called. */
#ifndef HOST_READER_TABLE_H
#define HOST_READER_TABLE_H

#include "host/reader/kev.h"

#define KEV_STATES 26
#define KEV_CALLS 128
#define KEV_IRQS 1024
#define KEV_ERRORS 512

struct kev_table {
    struct kev_desc *desc[KEV_CLASSES][1024];
    const char *calls[KEV_CALLS];
    char *states[KEV_STATES];
    char *irqs[KEV_IRQS];
    char *errors[KEV_ERRORS];
    bool no_memory; /* for a description */
};

int kev_table_builtin(struct kev_table *table);
int kev_table_text(struct kev *kev, struct kev_error *error);
int kev_table_calls_builtin(struct kev_table *table);
char kev_call_word_type(unsigned number, const char *name);
void kev_table_free(struct kev_table *table);
struct kev_desc *kev_table_add(struct kev_table *table, unsigned class, unsigned number,
                               const char *name);
/* The three events of a kernel call, in one of the two classes of calls. */
int kev_table_call(struct kev_table *table, unsigned class, unsigned call, const char *name,
                   const struct kev_list lists[4]);
/* Recovering a capture of unknown version: Kymo's own calls may be in either class. */
int kev_table_own_calls_both(struct kev_table *table);
/* After the last change of the table. */
void kev_table_measure(struct kev_table *table);
void kev_desc_measure(struct kev_desc *desc); /* decode.c */
void kev_list_parse(struct kev_list *list, const char *text, size_t len);
char *kev_copy(const char *text, size_t len);

#endif
