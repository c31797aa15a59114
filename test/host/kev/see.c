/* SPDX-License-Identifier: BSD-2-Clause */
/* See see.h. */
#include "test/host/kev/see.h"

#include <stdio.h>
#include <string.h>

uint64_t seed;

uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((seed >> 33) % n);
}

/* ---- reading all ------------------------------------------------------------------- */

static void hash_bytes(uint64_t *hash, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        *hash = (*hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211ull;
    }
}

static void hash_text(uint64_t *hash, const char *text)
{
    hash_bytes(hash, text == NULL ? "-" : text, text == NULL ? 1 : strlen(text) + 1);
}

static void event_see(struct seen *seen, struct kev_capture *capture, const struct kev_item *item)
{
    const uint32_t *words;
    unsigned n = kev_capture_values(capture), nwords = kev_capture_words(capture, &words);

    seen->events++;
    hash_bytes(&seen->hash, &item->cycles, sizeof(item->cycles));
    hash_bytes(&seen->hash, &item->ns, sizeof(item->ns));
    hash_bytes(&seen->hash, &item->pid, sizeof(item->pid));
    hash_bytes(&seen->hash, &item->tid, sizeof(item->tid));
    hash_text(&seen->hash, item->class_name);
    hash_text(&seen->hash, item->name);
    hash_text(&seen->hash, kev_capture_name(capture, item->pid, KEV_NOBODY));
    hash_text(&seen->hash, kev_capture_name(capture, item->pid, item->tid));
    hash_bytes(&seen->hash, words, nwords * sizeof(*words));
    for (unsigned i = 0; i < n; i++) {
        const struct kev_value *value = kev_capture_value(capture, i);

        hash_text(&seen->hash, value->name);
        hash_text(&seen->hash, value->text);
        hash_bytes(&seen->hash, &value->number, sizeof(value->number));
        assert_true(value->text == NULL || value->text[value->length] == '\0');
        assert_non_null(kev_capture_value_of(capture, value->name));
    }
    assert_null(kev_capture_value(capture, n));
    seen->ordered &= item->ns >= seen->last;
    seen->last = item->ns;
}

static void loss_see(struct seen *seen, struct kev_capture *capture, const struct kev_item *item)
{
    const struct kev_loss *loss = item->loss;

    assert_true(loss->text != NULL && loss->text[0] != '\0');
    assert_true(loss->from_ns <= loss->to_ns);
    assert_int_equal(kev_capture_values(capture), 0);
    if (item->kind == KEV_ITEM_SCOPE) {
        assert_int_equal(seen->events, 0);
        seen->scopes++;
        return;
    }
    if (seen->losses++ == 0) {
        snprintf(seen->first, sizeof(seen->first), "%s", loss->text);
    }
    seen->counted += loss->events;
    seen->missing += loss->kind == KEV_LOSS_MISSING ? loss->buffers : 0;
}

void item_see(struct seen *seen, struct kev_capture *capture, const struct kev_item *item)
{
    if (item->kind == KEV_ITEM_EVENT) {
        event_see(seen, capture, item);
    } else {
        loss_see(seen, capture, item);
    }
}

struct seen see_rest(struct kev_capture *capture, int outcome)
{
    struct seen seen = {.hash = HASH_FIRST, .ordered = true, .last = INT64_MIN};
    const struct kev_item *item;

    while (outcome >= KEV_COMPLETE && (outcome = kev_capture_next(capture, &item)) == KEV_GIVEN) {
        item_see(&seen, capture, item);
    }
    seen.outcome = outcome;
    seen.code = kev_capture_fault(capture)->code;
    if (outcome < KEV_COMPLETE) {
        assert_true(strlen(kev_capture_fault(capture)->text) > 15);
        assert_true(seen.code != KEV_FAULT_NONE);
    }
    assert_true((outcome != KEV_COMPLETE) || seen.losses == 0);
    assert_true((outcome != KEV_LOSSY) || seen.losses > 0);
    return seen;
}

struct seen see_bytes(const void *bytes, size_t length, int recover)
{
    struct kev_capture *capture = kev_capture_new();
    struct seen seen;
    int outcome;

    assert_int_equal(kev_capture_set_recover(capture, recover), KEV_COMPLETE);
    outcome = kev_capture_open_memory(capture, bytes, length, NAME);
    seen = see_rest(capture, outcome);
    if (outcome < KEV_COMPLETE) {
        assert_non_null(strstr(kev_capture_fault(capture)->text, NAME));
    }
    kev_capture_free(capture);
    return seen;
}

struct mk *made(unsigned ncpu, unsigned events, bool lossy)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = ncpu,
                                                .seed = below(1u << 30),
                                                .high_water = lossy || events < 1000 ? 40 : 0,
                                                .start = 0xfffffc00u,
                                                .lossy = lossy,
                                                .checked = true,
                                                .filters = "all classes"});

    mk_workload(mk, events);
    mk_end(mk);
    return mk;
}

struct kev_capture *open_made(const struct mk *mk)
{
    struct kev_capture *capture = kev_capture_new();

    assert_int_equal(kev_capture_open_memory(capture, mk->bytes, mk->len, NAME), KEV_COMPLETE);
    return capture;
}
