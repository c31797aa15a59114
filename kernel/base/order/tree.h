/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues by priority in which each position is found in a bounded number of steps: see
 * kernel/base/order.h. The first member of each priority is its leader: it is in a tree by
 * priority, and refers to the last one. A bitmap of the priorities in use finds the next lower one.
 */
#ifndef KERNEL_BASE_ORDER_TREE_H
#define KERNEL_BASE_ORDER_TREE_H

#include <stdint.h>

#include "kernel/base/list.h"
#include "kernel/base/trie.h"

#define ORDER_WORDS 4 /* of 64 priorities */

struct order {
    struct trie leaders;        /* [k] the leader of each priority */
    uint64_t bits[ORDER_WORDS]; /* [k] bitmap of the priorities in use */
};

struct order_node {
    /* [k] must be first. Its key contains the priority of any member; a leader's is in the tree */
    struct trie_node node;
    struct list *last; /* [k] a leader's: the link of the last member of its priority */
};

void order_insert(struct order *order, struct list *head, struct list *link,
                  struct order_node *node, uint8_t priority);
void order_remove(struct order *order, struct list *link, struct order_node *node);

#endif
