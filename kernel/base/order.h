/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues by priority, and within a priority by arrival, whose members may come from the whole
 * system: the senders and the pulses of a channel. A queue is a list, whose first member is the
 * next. A struct order is stored next to its head, a struct order_node next to each member's link;
 * both are zeroed before their first use.
 *
 *   void order_insert(struct order *order, struct list *head, struct list *link,
 *                     struct order_node *node, uint8_t priority);
 *       Inserts a member, which is in no queue, after those of its priority. In one queue all nodes
 *       have the same distance from their links.
 *   void order_remove(struct order *order, struct list *link, struct order_node *node);
 *       Removes a member, which is where its priority at insertion put it.
 *
 * A makefile chooses how a member's position is found, by -DKERNEL_ORDER_H:
 *   kernel/base/order/list.h   searches from the back of the list. For boards with tables so small
 *                              that nothing is faster; needs no memory
 *   kernel/base/order/tree.h   uses a tree of the priorities in use: as fast for any length
 *
 * Kernel lock held. Tested by test/kernel/base/order_test.c, for both.
 */
#ifndef KERNEL_BASE_ORDER_H
#define KERNEL_BASE_ORDER_H

#ifndef KERNEL_ORDER_H
#define KERNEL_ORDER_H "kernel/base/order/list.h"
#endif
#include KERNEL_ORDER_H

#endif
