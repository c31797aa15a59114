/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues by priority in which each place is found in a bounded number of steps: see
 * kernel/base/order.h. The first member of each priority leads it: it is in a tree by priority, and
 * knows the last one. A bitmap of the priorities that are there finds the next lower one.
 */
#ifndef KERNEL_BASE_ORDER_TREE_H
#define KERNEL_BASE_ORDER_TREE_H

#include <stdint.h>

#include "kernel/base/list.h"
#include "kernel/base/trie.h"

#define ORDER_WORDS 4 /* of 64 priorities */

struct order {
    struct trie leaders;        /* [k] of each priority, by it */
    uint64_t bits[ORDER_WORDS]; /* [k] the priorities that are there */
};

struct order_node {
    struct trie_node node; /* [k] its key tells the priority of any member; a leader's is in the
                              tree. First member */
    struct list *last;     /* [k] a leader's: the link of the last member of its priority */
};

void order_insert(struct order *order, struct list *head, struct list *link,
                  struct order_node *node, uint8_t priority);
void order_remove(struct order *order, struct list *link, struct order_node *node);

#endif
