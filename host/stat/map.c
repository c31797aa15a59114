/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash map from 64-bit keys: open addressing, at most half full, values allocated one by one so
 * that pointers to them stay.
 */
#include <stdlib.h>
#include <string.h>

#include "host/stat/stat.h"

static uint32_t key_slot(const struct map *map, uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    return (uint32_t)key & (map->slots - 1);
}

static uint32_t key_find(const struct map *map, uint64_t key)
{
    uint32_t at = key_slot(map, key);

    while (map->values[at] != NULL && map->keys[at] != key) {
        at = (at + 1) & (map->slots - 1);
    }
    return at;
}

void *map_get(const struct map *map, uint64_t key)
{
    return map->slots == 0 ? NULL : map->values[key_find(map, key)];
}

static void map_grow(struct map *map)
{
    struct map bigger = *map;

    bigger.slots = map->slots == 0 ? 64 : map->slots * 2;
    bigger.keys = kymo_memory(calloc(bigger.slots, sizeof(*bigger.keys)));
    bigger.values = kymo_memory(calloc(bigger.slots, sizeof(*bigger.values)));
    for (uint32_t i = 0; i < map->slots; i++) {
        if (map->values[i] != NULL) {
            uint32_t at = key_find(&bigger, map->keys[i]);

            bigger.keys[at] = map->keys[i];
            bigger.values[at] = map->values[i];
        }
    }
    free(map->keys);
    free(map->values);
    *map = bigger;
}

void *map_make(struct map *map, uint64_t key)
{
    void *value;
    uint32_t at;

    if (map->count >= map->most) {
        return NULL;
    }
    if (2 * (map->count + 1) > map->slots) {
        map_grow(map);
    }
    value = kymo_memory(calloc(1, map->value_bytes));
    at = key_find(map, key);
    free(map->values[at]);
    map->count += map->values[at] == NULL;
    map->keys[at] = key;
    map->values[at] = value;
    return value;
}

void map_free(struct map *map)
{
    for (uint32_t i = 0; i < map->slots; i++) {
        free(map->values[i]);
    }
    free(map->keys);
    free(map->values);
}

void **map_values(const struct map *map, uint32_t *n)
{
    void **values = kymo_memory(calloc(map->count + 1, sizeof(*values)));

    *n = 0;
    for (uint32_t i = 0; i < map->slots; i++) {
        if (map->values[i] != NULL) {
            values[(*n)++] = map->values[i];
        }
    }
    return values;
}

void *stat_grow(void *array, uint32_t *room, size_t bytes)
{
    *room = *room == 0 ? 16 : 2 * *room;
    return kymo_memory(realloc(array, *room * bytes));
}
