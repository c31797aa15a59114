/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds probes by their description among those that the program enabled. The notes of a boot's
 * program have only these, because no command asked the target for a description when it was
 * recorded. See replay.h. Tested by test/board/dretain.py.
 */
#include "host/dtrace/replay/replay.h"

#include <stdlib.h>
#include <string.h>

bool replay_probes_add(struct replay_probes *p, const uint8_t *answer, size_t bytes)
{
    struct kymo_d_probe head;

    for (size_t at = 0; bytes - at >= sizeof(head); at += head.size) {
        memcpy(&head, answer + at, sizeof(head));
        if (head.size < sizeof(head) || head.size > bytes - at) {
            return true; /* a request for this probe by its number will fail */
        }
        const uint8_t **bigger = realloc(p->probe, (p->n + 1) * sizeof(*bigger));
        if (!bigger) {
            return false;
        }
        p->probe = bigger;
        p->probe[p->n++] = answer + at;
    }
    return true;
}

/* Finds four strings, each with its NUL. Returns the end of the last; NULL if they are not
 * there. */
static const char *replay_take_names(const char *at, const char *end, const char *names[4])
{
    for (unsigned i = 0; i < 4; i++) {
        const char *nul = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;
        if (!nul) {
            return NULL;
        }
        names[i] = at;
        at = nul + 1;
    }
    return at;
}

static uint32_t id_of(const uint8_t *probe)
{
    struct kymo_d_probe head;

    memcpy(&head, probe, sizeof(head));
    return head.id;
}

static int compare_ids(const void *p, const void *q)
{
    uint32_t a = id_of(*(const uint8_t *const *)p), b = id_of(*(const uint8_t *const *)q);

    return a < b ? -1 : a > b;
}

void replay_probes_sort(struct replay_probes *p)
{
    if (p->n) {
        qsort(p->probe, p->n, sizeof(*p->probe), compare_ids);
    }
}

size_t replay_probes(const struct replay_probes *p, const void *in, size_t in_bytes,
                     uint32_t *after, uint8_t *out, size_t room)
{
    const char *names[4], *own[4], *end = (const char *)in + in_bytes;
    size_t at = 0, low = 0, high = p->n;

    if (replay_take_names(in, end, names) != end) {
        return 0;
    }
    while (low < high) { /* the first one with an id above `after` */
        size_t mid = low + (high - low) / 2;
        if (id_of(p->probe[mid]) <= *after) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    for (size_t i = low; i < p->n; i++) {
        const char *strings = (const char *)p->probe[i];
        struct kymo_d_probe head;
        memcpy(&head, p->probe[i], sizeof(head));
        bool matches = replay_take_names(strings + sizeof(head), strings + head.size, own) != NULL;
        for (unsigned k = 0; k < 4 && matches; k++) {
            matches = dtrace_glob(names[k], own[k]);
        }
        if (head.id <= *after || !matches) {
            continue; /* a repetition, or another probe */
        }
        if (head.size > room - at) {
            break;
        }
        memcpy(out + at, p->probe[i], head.size);
        at += head.size;
        *after = head.id;
    }
    return at;
}
