/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a page, as columns. A kind is a class and number with a list of values; all events
 * of a kind have as many words, so no event needs a length. A block of events and a block of their
 * values belong together, and each pair is whole in itself: the page opens the values of the blocks
 * that it shows. Texts follow the values, once a block.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/report/marks.h"
#include "host/escape.h"
#include "host/report/report.h"

#define KINDS_MOST 32768
#define FIELDS_MOST 24
#define SLOTS 65536     /* of the kinds' hash table, by class and number first */
#define HEAP_SLOTS 8192 /* texts of a block that are found again */
#define HEAP_MOST (32u << 20)
#define TERMS_MOST 8192
#define MEANINGS 16
#define GUESSES 16 /* threads whose values are distinguished: by their index, modulo this */

struct field {
    const char *name; /* lives as long as the capture, or is in `own` */
    uint32_t type, meaning, bits;
};

struct kind {
    uint32_t class_id, number, code;
    const char *class_name, *name; /* copies; name NULL: unknown */
    unsigned nfields, nwords;
    struct field fields[FIELDS_MOST];
    struct bytes values; /* of this block: u32 rows of nwords, differences from the guesses */
    uint32_t *guesses;   /* [GUESSES][nwords]: the last values of a thread in this block */
    uint32_t rows;
    uint32_t next; /* index + 1 of another kind of the same class and number */
};

struct term {
    uint32_t meaning, number;
    char *text;
};

struct report_events {
    struct kev_capture *capture;
    struct pack *pack;
    struct kind **kinds;
    uint32_t nkinds, room;
    uint32_t *slots; /* by class and number: index + 1 */
    uint32_t rows;   /* of the open block */
    int64_t first, last;
    struct bytes payload;
    int64_t *away; /* of an event: the time since the one before it */
    uint32_t *sorted;
    uint32_t *kind, *cpu, *thread; /* thread: its difference from the CPU's previous event */
    uint32_t current[256];         /* of a CPU: the thread of the block's last event */
    struct bytes heap;
    uint32_t heap_slots[HEAP_SLOTS]; /* offset + 1 */
    struct term *terms;
    uint32_t nterms;
    uint32_t term_slots[2 * TERMS_MOST];
    struct marks marks;
};

struct report_events *events_new(struct kev_capture *capture, struct pack *pack)
{
    struct report_events *events = calloc(1, sizeof(*events));

    if (events == NULL) {
        return NULL;
    }
    events->capture = capture;
    events->pack = pack;
    events->slots = calloc(SLOTS, sizeof(*events->slots));
    events->kind = calloc(REPORT_ROWS, sizeof(*events->kind));
    events->cpu = calloc(REPORT_ROWS, sizeof(*events->cpu));
    events->thread = calloc(REPORT_ROWS, sizeof(*events->thread));
    events->terms = calloc(TERMS_MOST, sizeof(*events->terms));
    events->away = calloc(REPORT_ROWS, sizeof(*events->away));
    events->sorted = calloc(REPORT_ROWS, sizeof(*events->sorted));
    if (events->away == NULL || events->sorted == NULL || events->slots == NULL ||
        events->kind == NULL || events->cpu == NULL || events->thread == NULL ||
        events->terms == NULL) {
        events_free(events);
        return NULL;
    }
    return events;
}

void events_free(struct report_events *events)
{
    if (events == NULL) {
        return;
    }
    for (uint32_t i = 0; i < events->nkinds; i++) {
        struct kind *kind = events->kinds[i];

        for (unsigned f = 0; f < kind->nfields; f++) {
            free((char *)kind->fields[f].name);
        }
        free((char *)kind->class_name);
        free((char *)kind->name);
        bytes_free(&kind->values);
        free(kind->guesses);
        free(kind);
    }
    for (uint32_t i = 0; i < events->nterms; i++) {
        free(events->terms[i].text);
    }
    free(events->kinds);
    free(events->slots);
    free(events->kind);
    free(events->cpu);
    free(events->thread);
    free(events->terms);
    free(events->away);
    free(events->sorted);
    bytes_free(&events->payload);
    bytes_free(&events->heap);
    marks_free(&events->marks);
    free(events);
}

/* ---- kinds ------------------------------------------------------------------------- */

static bool report_events_is_text(const struct kev_value *value)
{
    return value->type == KEV_VALUE_TEXT || value->type == KEV_VALUE_BYTES;
}

static bool kind_fits(const struct kind *kind, const struct kev_item *item,
                      const struct kev_value *const *values, unsigned n)
{
    if (kind->class_id != item->class_id || kind->number != item->number || kind->nfields != n) {
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        const struct field *field = &kind->fields[i];

        if (field->type != values[i]->type || field->bits != values[i]->bits ||
            strcmp(field->name, values[i]->name) != 0) {
            return false;
        }
    }
    return true;
}

static struct kind *kind_add(struct report_events *events)
{
    if (events->nkinds == events->room) {
        uint32_t room = 2 * events->room + 64;
        struct kind **kinds = realloc(events->kinds, room * sizeof(struct kind *));

        if (kinds == NULL) {
            return NULL;
        }
        events->kinds = kinds;
        events->room = room;
    }
    struct kind *kind = calloc(1, sizeof(*kind));

    if (kind != NULL) {
        events->kinds[events->nkinds++] = kind;
    }
    return kind;
}

static bool kind_describe(struct kind *kind, const struct kev_item *item,
                          const struct kev_value *const *values, unsigned n)
{
    kind->class_id = item->class_id;
    kind->number = item->number;
    kind->code = item->code;
    kind->class_name = strdup(item->class_name);
    kind->name = item->name == NULL ? NULL : strdup(item->name);
    for (unsigned i = 0; i < n; i++) {
        char *name = strdup(values[i]->name);

        if (name == NULL) {
            return false;
        }
        kind->fields[kind->nfields++] =
            (struct field){name, values[i]->type, values[i]->meaning, values[i]->bits};
        kind->nwords += !report_events_is_text(values[i]) && values[i]->bits == 64 ? 2 : 1;
    }
    kind->guesses = calloc(GUESSES * kind->nwords + 1, sizeof(*kind->guesses));
    return kind->class_name != NULL && (item->name == NULL) == (kind->name == NULL) &&
           kind->guesses != NULL;
}

/* The kind of an event with these values, made if it is new. NULL: no memory. events_take() gives
 * no values once there are KINDS_MOST, so a hostile capture has at most one kind more for each
 * class and number. */
static struct kind *kind_find(struct report_events *events, const struct kev_item *item,
                              const struct kev_value *const *values, unsigned n, uint32_t *index)
{
    uint32_t *slot = &events->slots[(item->class_id << 10 | (item->number & 1023)) % SLOTS];
    struct kind *kind;

    for (uint32_t i = *slot; i != 0; i = events->kinds[i - 1]->next) {
        if (kind_fits(events->kinds[i - 1], item, values, n)) {
            *index = i - 1;
            return events->kinds[i - 1];
        }
    }
    kind = kind_add(events);
    if (kind == NULL || !kind_describe(kind, item, values, n)) {
        return NULL;
    }
    kind->next = *slot;
    *slot = events->nkinds;
    *index = events->nkinds - 1;
    return kind;
}

/* ---- texts and terms --------------------------------------------------------------- */

static uint32_t report_events_hash_bytes(const void *data, size_t length)
{
    const uint8_t *at = data;
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < length; i++) {
        h = (h ^ at[i]) * 16777619u;
    }
    return h ^ h >> 15;
}

/* Offset of a text in the block's heap, where it ends with a NUL; the heap begins with one, which
 * is the text of values that have no room. */
static uint32_t report_heap_put(struct report_events *events, const char *text, size_t length)
{
    uint32_t *slot = &events->heap_slots[report_events_hash_bytes(text, length) % HEAP_SLOTS];
    struct bytes *heap = &events->heap;

    if (*slot != 0 && heap->used - (*slot - 1) > length &&
        memcmp(heap->data + *slot - 1, text, length) == 0 &&
        heap->data[*slot - 1 + length] == '\0') {
        return *slot - 1;
    }
    if (heap->used == 0) {
        bytes_put(heap, "", 1);
    }
    if (heap->used + length > HEAP_MOST) {
        return 0;
    }
    *slot = (uint32_t)heap->used + 1;
    bytes_put(heap, text, length);
    bytes_put(heap, "", 1);
    return *slot - 1;
}

/* The page shows the text as it is in the heap. */
static uint32_t report_heap_escaped(struct report_events *events, const char *text, size_t length)
{
    char *safe = malloc(ESCAPE_MOST(length));
    uint32_t at =
        safe == NULL ? 0 : report_heap_put(events, safe, escape_whole(text, length, safe));

    events->heap.failed |= safe == NULL;
    free(safe);
    return at;
}

/* Keeps the name of a number of this meaning. Processes and threads have their own table. */
static void term_note(struct report_events *events, const struct kev_value *value)
{
    uint32_t key[2] = {value->meaning, (uint32_t)value->number};
    uint32_t at = report_events_hash_bytes(key, sizeof(key)) % (2 * TERMS_MOST);

    while (events->term_slots[at] != 0) {
        const struct term *term = &events->terms[events->term_slots[at] - 1];

        if (term->meaning == key[0] && term->number == key[1]) {
            return;
        }
        at = (at + 1) % (2 * TERMS_MOST);
    }
    if (events->nterms < TERMS_MOST) {
        char *text = strdup(value->text);

        if (text != NULL) {
            events->terms[events->nterms] = (struct term){key[0], key[1], text};
            events->term_slots[at] = ++events->nterms;
        } else {
            events->pack->failed = true;
        }
    }
}

/* ---- blocks ------------------------------------------------------------------------ */

/* The values: for each kind with rows its index and rows, as varints, an end mark, then each kind's
 * columns, then the texts. */
static void values_write(struct report_events *events)
{
    struct bytes *payload = &events->payload;
    uint32_t rows = events->rows;

    bytes_varint(payload, events->heap.used);
    bytes_put(payload, events->heap.data, events->heap.used);
    for (uint32_t i = 0; i < events->nkinds; i++) {
        struct kind *kind = events->kinds[i];
        const uint32_t *values = (const uint32_t *)(const void *)kind->values.data;

        if (kind->rows > 0) {
            bytes_varint(payload, (uint64_t)i + 1);
            bytes_varint(payload, kind->rows);
            for (unsigned word = 0; word < kind->nwords; word++) {
                for (unsigned plane = 0; plane < 4; plane++) {
                    uint8_t *to = bytes_more(payload, kind->rows);

                    for (uint32_t row = 0; to != NULL && row < kind->rows; row++) {
                        to[row] = (uint8_t)(values[row * kind->nwords + word] >> 8 * plane);
                    }
                }
            }
            events->pack->failed |= kind->values.failed;
            kind->rows = 0;
            kind->values.used = 0;
            memset(kind->guesses, 0, GUESSES * kind->nwords * sizeof(*kind->guesses));
        }
    }
    bytes_varint(payload, 0);
    pack_block(events->pack, "values", rows, payload);
    events->heap.used = 0;
    memset(events->heap_slots, 0, sizeof(events->heap_slots));
}

/* The rows of each CPU one after the other: what one does repeats itself, several mixed do not. */
static void planes_by_cpu(struct report_events *events, const uint32_t *values, unsigned planes)
{
    uint32_t first[257] = {0};

    for (uint32_t i = 0; i < events->rows; i++) {
        first[(events->cpu[i] & 255) + 1]++;
    }
    for (unsigned cpu = 0; cpu < 256; cpu++) {
        first[cpu + 1] += first[cpu];
    }
    for (uint32_t i = 0; i < events->rows; i++) {
        events->sorted[first[events->cpu[i] & 255]++] = values[i];
    }
    bytes_planes(&events->payload, events->sorted, events->rows, planes);
}

static void report_events_block_write(struct report_events *events)
{
    struct bytes *payload = &events->payload;

    bytes_distances(payload, events->away, events->rows);
    bytes_planes(payload, events->cpu, events->rows, 1);
    planes_by_cpu(events, events->kind, 2);
    planes_by_cpu(events, events->thread, 3);
    events->pack->from = events->first;
    events->pack->to = events->last;
    pack_block(events->pack, "events", events->rows, payload);
    values_write(events);
    events->pack->from = events->pack->to = 0;
    events->pack->failed |= events->heap.failed;
    events->rows = 0;
    memset(events->current, 0, sizeof(events->current));
}

void events_end(struct report_events *events)
{
    if (events->rows > 0) {
        report_events_block_write(events);
    }
    if (events->pack->output != NULL && !events->marks.failed && events->marks.count > 0) {
        events->pack->marks = &events->marks;
    }
}

/* Returns false if there is no memory. */
static bool values_put(struct report_events *events, struct kind *kind, uint32_t thread,
                       const struct kev_value *const *values)
{
    uint32_t words[2 * FIELDS_MOST], *guesses = kind->guesses + thread % GUESSES * kind->nwords;
    unsigned n = 0;

    for (unsigned i = 0; i < kind->nfields; i++) {
        const struct kev_value *value = values[i];

        if (report_events_is_text(value)) {
            words[n++] = report_heap_escaped(events, value->text, value->length);
            continue;
        }
        words[n++] = (uint32_t)value->number;
        if (value->bits == 64) {
            words[n++] = (uint32_t)(value->number >> 32);
        }
        if (value->text != NULL && value->meaning != KEV_MEANS_PROCESS &&
            value->meaning != KEV_MEANS_THREAD) {
            term_note(events, value);
        }
    }
    for (unsigned i = 0; i < n; i++) {
        uint32_t value = words[i];

        words[i] ^= guesses[i];
        guesses[i] = value;
    }
    bytes_put(&kind->values, words, n * sizeof(words[0]));
    kind->rows++;
    return !kind->values.failed;
}

bool events_take(struct report_events *events, const struct kev_item *item, uint32_t thread)
{
    const struct kev_value *values[FIELDS_MOST];
    unsigned n = 0;
    uint32_t index;
    struct kind *kind;

    kev_capture_values(events->capture);
    /* Another kernel's event, or a hostile one, may have more: the rest is in the capture. */
    while (n < FIELDS_MOST && (values[n] = kev_capture_value(events->capture, n)) != NULL) {
        n++;
    }
    if (events->nkinds >= KINDS_MOST) {
        n = 0;
    }
    kind = kind_find(events, item, values, n, &index);
    if (kind == NULL || !values_put(events, kind, thread, values)) {
        return false;
    }
    if (events->rows == 0) {
        events->last = 0;
        events->first = item->ns;
    }
    events->away[events->rows] = (int64_t)((uint64_t)item->ns - (uint64_t)events->last); /* wraps */
    events->last = item->ns;
    if (events->pack->output != NULL) { /* a block that is served goes without those before it */
        marks_keep(&events->marks, item->ns, thread, index);
    }
    events->kind[events->rows] = index;
    events->cpu[events->rows] = (uint32_t)item->cpu;
    events->thread[events->rows] = thread ^ events->current[(uint32_t)item->cpu & 255];
    events->current[(uint32_t)item->cpu & 255] = thread;
    if (++events->rows == REPORT_ROWS) {
        report_events_block_write(events);
    }
    return true;
}

/* ---- tables ------------------------------------------------------------------------ */

static void json_kind(const struct kind *kind, struct bytes *json)
{
    bytes_text(json, "{\"class\":");
    bytes_json(json, kind->class_name, strlen(kind->class_name));
    bytes_text(json, ",\"name\":");
    bytes_json(json, kind->name, kind->name == NULL ? 0 : strlen(kind->name));
    bytes_text(json, ",\"id\":");
    bytes_number(json, kind->class_id);
    bytes_text(json, ",\"number\":");
    bytes_number(json, kind->number);
    bytes_text(json, ",\"code\":");
    bytes_number(json, kind->code);
    bytes_text(json, ",\"fields\":[");
    for (unsigned i = 0; i < kind->nfields; i++) {
        const struct field *field = &kind->fields[i];

        bytes_text(json, i == 0 ? "[" : ",[");
        bytes_json(json, field->name, strlen(field->name));
        bytes_text(json, ",");
        bytes_number(json, field->type);
        bytes_text(json, ",");
        bytes_number(json, field->meaning);
        bytes_text(json, ",");
        bytes_number(json, field->bits);
        bytes_text(json, "]");
    }
    bytes_text(json, "]}");
}

void events_json(const struct report_events *events, struct bytes *json)
{
    bytes_text(json, "\"kinds\":[");
    for (uint32_t i = 0; i < events->nkinds; i++) {
        bytes_text(json, i == 0 ? "\n" : ",\n");
        json_kind(events->kinds[i], json);
    }
    bytes_text(json, "],\"terms\":[");
    for (uint32_t i = 0; i < events->nterms; i++) {
        const struct term *term = &events->terms[i];

        bytes_text(json, i == 0 ? "[" : ",[");
        bytes_number(json, term->meaning);
        bytes_text(json, ",");
        bytes_number(json, term->number);
        bytes_text(json, ",");
        bytes_json(json, term->text, strlen(term->text));
        bytes_text(json, "]");
    }
    bytes_text(json, "]");
}
