/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes by their description, where a capture's notes have only those that the program enabled:
 * the boot's program described itself, and nobody had asked for a description then. See replay.h.
 * Tested by test/boot/dretain.py.
 */
#include "host/dtrace/replay.h"

#include <stdlib.h>
#include <string.h>

bool replay_probes_add(struct replay_probes *p, const uint8_t *answer, size_t bytes)
{
    struct kymo_d_probe head;

    for (size_t at = 0; bytes - at >= sizeof(head); at += head.size) {
        memcpy(&head, answer + at, sizeof(head));
        if (head.size < sizeof(head) || head.size > bytes - at) {
            return true; /* who asks for it by its number will complain */
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

/* Four texts, each with its NUL, in exactly so many bytes. */
static bool take_names(const char *at, size_t bytes, const char *names[4])
{
    const char *end = at + bytes;

    for (unsigned i = 0; i < 4; i++) {
        const char *nul = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;
        if (!nul) {
            return false;
        }
        names[i] = at;
        at = nul + 1;
    }
    return at == end;
}

static bool matches(const uint8_t *probe, const char *const names[4])
{
    struct kymo_d_probe head;
    const char *own[4];

    memcpy(&head, probe, sizeof(head));
    const char *at = (const char *)probe + sizeof(head), *end = (const char *)probe + head.size;
    for (unsigned i = 0; i < 4; i++) {
        const char *nul = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;
        if (!nul) {
            return false;
        }
        own[i] = at;
        at = nul + 1;
    }
    return d_glob(names[0], own[0]) && d_glob(names[1], own[1]) && d_glob(names[2], own[2]) &&
           d_glob(names[3], own[3]);
}

static uint32_t id_of(const uint8_t *probe)
{
    struct kymo_d_probe head;

    memcpy(&head, probe, sizeof(head));
    return head.id;
}

/* The one with the lowest id above `after`; NULL: none. */
static const uint8_t *lowest(const struct replay_probes *p, uint32_t after,
                             const char *const names[4])
{
    const uint8_t *found = NULL;

    for (size_t i = 0; i < p->n; i++) {
        const uint8_t *probe = p->probe[i];
        if (id_of(probe) > after && (!found || id_of(probe) < id_of(found)) &&
            matches(probe, names)) {
            found = probe;
        }
    }
    return found;
}

size_t replay_probes(const struct replay_probes *p, const void *in, size_t in_bytes,
                     uint32_t *after, uint8_t *out, size_t room)
{
    const char *names[4];
    const uint8_t *probe;
    size_t at = 0;

    if (!take_names(in, in_bytes, names)) {
        return 0;
    }
    while ((probe = lowest(p, *after, names)) != NULL) {
        struct kymo_d_probe head;
        memcpy(&head, probe, sizeof(head));
        if (head.size > room - at) {
            break;
        }
        memcpy(out + at, probe, head.size);
        at += head.size;
        *after = head.id;
    }
    return at;
}
