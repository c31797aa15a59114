/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues by priority, and within a priority by arrival, in which members of all the system may
 * wait: the senders and the pulses of a channel. A queue is a list, whose first member is the next.
 * A struct order lies beside its head, a struct order_node beside each member's link; both are
 * zeroed before their first use.
 *
 *   void order_insert(struct order *order, struct list *head, struct list *link,
 *                     struct order_node *node, uint8_t priority);
 *       Puts a member, which is in no queue, behind those of its priority. In one queue all nodes
 *       are equally far from their links.
 *   void order_remove(struct order *order, struct list *link, struct order_node *node);
 *       Takes a member out, which stands where its priority of then put it.
 *
 * A makefile chooses how a member's place is found, by -DKERNEL_ORDER_H:
 *   kernel/base/order/list.h   from the back of the list. For boards whose tables are so small that
 *                              nothing else is shorter; it needs no memory
 *   kernel/base/order/tree.h   by the priorities that are there: as fast for any length
 *
 * Kernel lock held. Proved by test/kernel/base/order_test.c, for both.
 */
#ifndef KERNEL_BASE_ORDER_H
#define KERNEL_BASE_ORDER_H

#ifndef KERNEL_ORDER_H
#define KERNEL_ORDER_H "kernel/base/order/list.h"
#endif
#include KERNEL_ORDER_H

#endif
