/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last MAPNAME of each process, which says where its program's text is: `kymo print --symbols`
 * needs it for addresses in the window. Memory is bounded: MAPS_MOST processes; of more the texts
 * are not known.
 */
#include <stdlib.h>
#include <string.h>

#include "host/cut/cut.h"
#include "host/event_numbers.h"
#include "host/id_tree.h"
#include "host/pr_th.h"

#define MAPS_MOST 65536
#define WORDS_MOST 64 /* of a MAPNAME: 6 and a text */

struct map {
    struct id_node node;
    int32_t pid;
    bool told;              /* cut_maps_learn() has seen it begin, end or be mapped */
    bool ended;             /* the process has */
    struct kev_event event; /* words NULL: not known */
};

struct cut_maps {
    struct map **maps;
    uint32_t count, room;
    struct id_tree pids; /* of them */
};

struct cut_maps *cut_maps_new(void)
{
    return calloc(1, sizeof(struct cut_maps));
}

static void map_forget(struct map *map)
{
    free((void *)(uintptr_t)map->event.words);
    map->event.words = NULL;
}

void cut_maps_free(struct cut_maps *maps)
{
    for (uint32_t i = 0; maps != NULL && i < maps->count; i++) {
        map_forget(maps->maps[i]);
        free(maps->maps[i]);
    }
    if (maps != NULL) {
        free(maps->maps);
    }
    free(maps);
}

static struct map *cut_maps_get_process(struct cut_maps *maps, int32_t pid)
{
    struct map *map = (struct map *)id_tree_find(&maps->pids, (uint32_t)pid);

    if (map != NULL) {
        return map;
    }
    if (maps->count == MAPS_MOST) {
        return NULL;
    }
    if (maps->count == maps->room) {
        uint32_t room = maps->room == 0 ? 64 : 2 * maps->room;

        maps->maps = kymo_memory(realloc(maps->maps, room * sizeof(struct map *)));
        maps->room = room;
    }
    map = kymo_memory(calloc(1, sizeof(*map)));
    map->pid = pid;
    id_tree_add(&maps->pids, &map->node, (uint32_t)pid);
    maps->maps[maps->count++] = map;
    return map;
}

static void map_take(struct map *map, const struct kev_event *event)
{
    uint32_t *words = NULL;

    map_forget(map);
    if (event->nwords > 0 && event->nwords <= WORDS_MOST) {
        words = kymo_memory(malloc(event->nwords * sizeof(*words)));
    }
    if (words != NULL) {
        memcpy(words, event->words, event->nwords * sizeof(*words));
        map->event = *event;
        map->event.words = words;
    }
}

enum change { NOTHING, MAPPED, BORN, GONE };

static enum change cut_maps_change_of(const struct kev_event *event, int32_t *pid)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;

    if (event->class == TRACE_CLASS_SYSTEM && number == NUMBER_mapname) {
        *pid = (int32_t)kev_word(event, 0);
        return MAPPED;
    }
    *pid = (int32_t)kev_word(event, 1);
    if (event->class != TRACE_CLASS_PR_TH) {
        return NOTHING;
    }
    return number == PR_TH_PROCCREATE                                        ? BORN
           : number == PR_TH_PROCDESTROY || number == PR_TH_PROCDESTROY_NAME ? GONE
                                                                             : NOTHING;
}

void cut_maps_learn(struct cut_maps *maps, const struct kev_event *event)
{
    int32_t pid;
    enum change change = cut_maps_change_of(event, &pid);
    struct map *map = change == NOTHING ? NULL : cut_maps_get_process(maps, pid);

    if (map != NULL && !map->told && change == MAPPED) {
        map_take(map, event);
    }
    if (map != NULL) {
        map->told = true;
    }
}

void cut_maps_follow(struct cut_maps *maps, const struct kev_event *event)
{
    int32_t pid;
    enum change change = cut_maps_change_of(event, &pid);
    struct map *map = change == NOTHING ? NULL : cut_maps_get_process(maps, pid);

    if (map == NULL) {
        return;
    }
    map->ended = change == GONE;
    if (change == BORN) {
        map_forget(map);
    } else if (change == MAPPED) {
        map_take(map, event);
    }
}

bool cut_maps_next(const struct cut_maps *maps, uint32_t *at, struct kev_event *event)
{
    while (*at < maps->count) {
        const struct map *map = maps->maps[(*at)++];

        if (!map->ended && map->event.words != NULL) {
            *event = map->event;
            event->injected = true;
            return true;
        }
    }
    return false;
}
