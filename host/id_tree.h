/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds things by a number of 64 bits, as a pid and a tid: a digital search tree. A number is found
 * in at most ID_TREE_DEPTH steps, whatever numbers there are, so a capture that somebody has made
 * can't slow its reader down, as it can slow down a hash table. Nodes are parts of the caller's
 * things. Not for several threads. Proof: test/host/id_tree_test.c.
 */
#ifndef HOST_ID_TREE_H
#define HOST_ID_TREE_H

#include <stdint.h>

#define ID_TREE_DEPTH 33

struct id_node {
    struct id_node *child[4];
    uint64_t key; /* private: the number, mixed */
};

struct id_tree {
    struct id_node *root; /* NULL: it is empty */
};

/* Returns NULL if the number is not there. */
struct id_node *id_tree_find(const struct id_tree *tree, uint64_t number);
/* Adds a node with a number that is not there. */
void id_tree_add(struct id_tree *tree, struct id_node *node, uint64_t number);
/* `node` takes the place of `old`, which is in the tree. */
void id_tree_replace(struct id_tree *tree, const struct id_node *old, struct id_node *node);
void id_tree_remove(struct id_tree *tree, const struct id_node *node);
/* Removes a node, any of them. Returns NULL if the tree is empty. */
struct id_node *id_tree_take(struct id_tree *tree);

static inline uint64_t id_tree_pair(int32_t a, int32_t b)
{
    return (uint64_t)(uint32_t)a << 32 | (uint32_t)b;
}

#endif
