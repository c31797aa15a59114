/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues by priority that are searched from the back: see kernel/base/order.h. */
#ifndef KERNEL_BASE_ORDER_LIST_H
#define KERNEL_BASE_ORDER_LIST_H

#include <stdint.h>

#include "kernel/base/list.h"

struct order {
    uint8_t none; /* C allows no empty struct */
};

struct order_node {
    uint8_t priority; /* [k] */
};

static inline const struct order_node *order_node_at(const struct list *link, ptrdiff_t offset)
{
    return (const struct order_node *)((const char *)link + offset);
}

static inline void order_insert(struct order *order, struct list *head, struct list *link,
                                struct order_node *node, uint8_t priority)
{
    const ptrdiff_t offset = (char *)node - (char *)link;
    struct list *pos = head->prev; /* from the back: most have equal priorities */

    (void)order;
    node->priority = priority;
    while (pos != head && order_node_at(pos, offset)->priority < priority) {
        pos = pos->prev;
    }
    list_insert_before(pos->next, link);
}

static inline void order_remove(struct order *order, struct list *link, struct order_node *node)
{
    (void)order;
    (void)node;
    list_remove(link);
}

#endif
