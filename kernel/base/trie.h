/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of numbers in which every operation is bounded, however many members a program creates:
 * digital search trees. A node is embedded in the object that it represents, so no operation needs
 * memory. The path to a node follows the bits of its key, the highest first, and ended where the
 * tree did when the node was inserted: so a path has at most TRIE_DEPTH nodes, and about log n for
 * keys that differ in their highest bits.
 *
 * Kernel lock held. Tested by test/kernel/base/trie_test.c: against a model, with a bound on the
 * steps of each operation.
 */
#ifndef KERNEL_BASE_TRIE_H
#define KERNEL_BASE_TRIE_H

#include <stddef.h>
#include <stdint.h>

#define TRIE_DEPTH 33 /* nodes on a path: one for each number of bits passed, 0 to 32 */

struct trie_node {
    struct trie_node *child[2]; /* [k] by the next bit of the key */
    uint32_t key;               /* [k] unchanged while the node is in a tree */
};

struct trie {
    struct trie_node *root; /* [k] NULL: empty */
};

/* Returns the node with this key, or NULL. */
struct trie_node *trie_find(const struct trie *trie, uint32_t key);
/* Returns the node with the lowest key from this one on, or NULL. */
struct trie_node *trie_at_least(const struct trie *trie, uint32_t key);
/* Inserts a node with its key. Precondition: the tree has no such key. */
void trie_insert(struct trie *trie, struct trie_node *node);
/* Removes a node that is in the tree. */
void trie_remove(struct trie *trie, struct trie_node *node);
/* Replaces a node by another one with the same key. */
void trie_replace(struct trie *trie, const struct trie_node *node, struct trie_node *by);
/* Removes the node that this pointer of a tree refers to. For trees with keys of other kinds
 * (kernel/ipc/name.c), whose depth is that of their keys. */
void trie_cut(struct trie_node **place);

#endif
