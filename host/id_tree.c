/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See id_tree.h. A node is below its parent in the branch that the next two bits of its key say, so
 * all nodes below a node share its place's bits, and a leaf below it can take that place. The
 * number is mixed by a multiplication that loses nothing, after which numbers in sequence differ in
 * their first bits.
 */
#include "host/id_tree.h"

#include <stddef.h>

#define ID_TREE_FACTOR 0x9e3779b97f4a7c15ull /* odd */

/* The pointer to the node of this key, or the one to which it is to be added. */
static struct id_node **id_tree_place(struct id_node **at, uint64_t key)
{
    for (uint64_t bits = key; *at != NULL && (*at)->key != key; bits <<= 2) {
        at = &(*at)->child[bits >> 62];
    }
    return at;
}

struct id_node *id_tree_find(const struct id_tree *tree, uint64_t number)
{
    uint64_t key = number * ID_TREE_FACTOR, bits = key;
    struct id_node *node = tree->root;

    for (; node != NULL && node->key != key; bits <<= 2) {
        node = node->child[bits >> 62];
    }
    return node;
}

void id_tree_add(struct id_tree *tree, struct id_node *node, uint64_t number)
{
    *node = (struct id_node){.key = number * ID_TREE_FACTOR};
    *id_tree_place(&tree->root, node->key) = node;
}

void id_tree_replace(struct id_tree *tree, const struct id_node *old, struct id_node *node)
{
    *id_tree_place(&tree->root, old->key) = node;
    *node = *old;
}

/* A pointer to a leaf at or below a node. */
static struct id_node **id_tree_leaf(struct id_node **at)
{
    for (unsigned i = 0; i < 4; i++) {
        if ((*at)->child[i] != NULL) {
            at = &(*at)->child[i];
            i = UINT32_MAX; /* begins with the first branch again */
        }
    }
    return at;
}

void id_tree_remove(struct id_tree *tree, const struct id_node *node)
{
    struct id_node **at = id_tree_place(&tree->root, node->key), **leaf = id_tree_leaf(at);
    struct id_node *last = *leaf;
    uint64_t key = last->key;

    *leaf = NULL;
    if (last != node) {
        *last = *node;
        last->key = key;
        *at = last;
    }
}

struct id_node *id_tree_take(struct id_tree *tree)
{
    struct id_node **leaf = tree->root == NULL ? NULL : id_tree_leaf(&tree->root);
    struct id_node *last = leaf == NULL ? NULL : *leaf;

    if (leaf != NULL) {
        *leaf = NULL;
    }
    return last;
}
