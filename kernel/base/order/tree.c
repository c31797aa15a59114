/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues by priority, of any length: see tree.h. Kernel lock held. */
#include "kernel/base/order/tree.h"

#include "kernel/base/assert.h"

/* The priority is in the key's highest bits, which a tree's path follows first. */
#define PRIORITY_SHIFT 24

static struct order_node *order_leader(const struct order *order, uint32_t key)
{
    /* the first member of this priority */
    return (struct order_node *)trie_find(&order->leaders, key);
}

/* Returns the highest used priority below this one, or -1. */
static int order_below(const struct order *order, unsigned priority)
{
    unsigned word = priority / 64;
    uint64_t bits = order->bits[word] & ((1ull << priority % 64) - 1);

    while (!bits && word > 0) { /* ORDER_WORDS */
        bits = order->bits[--word];
    }
    return bits ? (int)(word * 64 + 63 - (unsigned)__builtin_clzll(bits)) : -1;
}

/* Makes a member the first of its priority. offset: from a member's link to its node. */
static void order_lead(struct order *order, struct list *head, struct list *link,
                       struct order_node *node, uint8_t priority)
{
    const ptrdiff_t offset = (char *)node - (char *)link;
    int below = order_below(order, priority);
    struct list *before = head;

    if (below >= 0) {
        struct order_node *leader = order_leader(order, (uint32_t)below << PRIORITY_SHIFT);
        before = (struct list *)((char *)leader - offset);
    }
    list_insert_before(before, link);
    node->last = link;
    trie_insert(&order->leaders, &node->node);
    order->bits[priority / 64] |= 1ull << priority % 64;
}

void order_insert(struct order *order, struct list *head, struct list *link,
                  struct order_node *node, uint8_t priority)
{
    node->node.key = (uint32_t)priority << PRIORITY_SHIFT;
    struct order_node *leader = order_leader(order, node->node.key);

    if (leader) {
        list_insert_before(leader->last->next, link);
        leader->last = link;
    } else {
        order_lead(order, head, link, node, priority);
    }
}

/* Removes a leader: the next member of its priority becomes the leader, or the priority leaves the
 * tree. */
static void order_resign(struct order *order, struct list *link, struct order_node *node)
{
    unsigned priority = node->node.key >> PRIORITY_SHIFT;

    if (node->last == link) {
        trie_remove(&order->leaders, &node->node);
        order->bits[priority / 64] &= ~(1ull << priority % 64);
        return;
    }
    const ptrdiff_t offset = (char *)node - (char *)link;
    struct order_node *next = (struct order_node *)((char *)link->next + offset);
    next->last = node->last;
    trie_replace(&order->leaders, &node->node, &next->node);
}

void order_remove(struct order *order, struct list *link, struct order_node *node)
{
    struct order_node *leader = order_leader(order, node->node.key);

    kernel_assert(leader);
    if (leader == node) {
        order_resign(order, link, node);
    } else if (leader->last == link) {
        leader->last = link->prev;
    }
    list_remove(link);
}
