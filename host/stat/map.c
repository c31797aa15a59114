/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A map from 64-bit keys: a tree of which any keys are found in a few steps (host/id_tree.h), and
 * the values in the order in which they were made, each allocated so that pointers to it stay.
 */
#include <stddef.h>
#include <stdlib.h>

#include "host/stat/stat.h"

struct map_entry {
    struct id_node node;
    _Alignas(max_align_t) unsigned char value[];
};

static struct map_entry *map_entry_of(void *value)
{
    return (struct map_entry *)(void *)((char *)value - offsetof(struct map_entry, value));
}

void *map_get(const struct map *map, uint64_t key)
{
    struct id_node *node = id_tree_find(&map->tree, key);

    return node == NULL ? NULL : ((struct map_entry *)(void *)node)->value;
}

void *map_make(struct map *map, uint64_t key)
{
    struct map_entry *entry;

    if (map->count >= map->most) {
        return NULL;
    }
    if (map->count == map->room) {
        map->values = stat_grow(map->values, &map->room, sizeof(*map->values));
    }
    entry = kymo_memory(calloc(1, sizeof(*entry) + map->value_bytes));
    id_tree_add(&map->tree, &entry->node, key);
    map->values[map->count++] = entry->value;
    return entry->value;
}

void map_free(struct map *map)
{
    for (uint32_t i = 0; i < map->count; i++) {
        free(map_entry_of(map->values[i]));
    }
    free(map->values);
}

void **map_values(const struct map *map, uint32_t *n)
{
    void **values = kymo_memory(calloc(map->count + 1, sizeof(*values)));

    for (*n = 0; *n < map->count; (*n)++) {
        values[*n] = map->values[*n];
    }
    return values;
}

void *stat_grow(void *array, uint32_t *room, size_t bytes)
{
    *room = *room == 0 ? 16 : 2 * *room;
    return kymo_memory(realloc(array, *room * bytes));
}
