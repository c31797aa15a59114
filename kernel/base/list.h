/* SPDX-License-Identifier: BSD-2-Clause */
/* Circular doubly linked list with a head; a node not in a list points at itself or is {0}. */
#ifndef KERNEL_BASE_LIST_H
#define KERNEL_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/assert.h"

struct list {
    struct list *next, *prev;
};

#define LIST_INIT(l) \
    { \
        &(l), &(l) \
    }
#define list_entry(node, type, member) ((type *)((char *)(node)-offsetof(type, member)))
#define list_for_each(pos, head) \
    for (struct list *pos = (head)->next; pos != (head); pos = pos->next)
/* The loop body may remove pos. */
#define list_for_each_safe(pos, head) \
    for (struct list *pos = (head)->next, *pos##_next = pos->next; pos != (head); \
         pos = pos##_next, pos##_next = pos->next)

static inline void list_init(struct list *l)
{
    l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

/* For assertions: returns whether both neighbours of a node, or of a head, point back to it. */
static inline bool list_sound(const struct list *l)
{
    return l->next->prev == l && l->prev->next == l;
}

/* Inserts node before pos; before the head means last. */
static inline void list_insert_before(struct list *pos, struct list *node)
{
    kernel_assert(list_sound(pos));
    kernel_assert(node != pos);
    node->next = pos;
    node->prev = pos->prev;
    pos->prev->next = node;
    pos->prev = node;
}

static inline void list_push_back(struct list *head, struct list *node)
{
    list_insert_before(head, node);
}

/* Like list_remove(), for a node whose state is not queried afterwards: it keeps its old
 * pointers. */
static inline void list_unlink(struct list *node)
{
    kernel_assert(list_sound(node));
    node->prev->next = node->next;
    node->next->prev = node->prev;
}

static inline void list_remove(struct list *node)
{
    kernel_assert(list_sound(node));
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->next = node->prev = node;
}

#endif
