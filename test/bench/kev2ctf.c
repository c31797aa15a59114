/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kev2ctf CAPTURE FOLDER: the events of a capture as CTF 1.8, for `make bench` only: that
 * babeltrace2 prints the same events that `kymo print` does. One stream a CPU, one packet a stream;
 * an event type for each set of fields that occurs. Ends with status 1 and a message if anything
 * can't be had.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/reader/kev.h"

#define TYPES_MAX 4096
#define FORM_MAX 512

struct type {
    char form[FORM_MAX]; /* its name and fields: what makes two events the same type */
};

static struct type types[TYPES_MAX];
static unsigned types_used;
static FILE *streams[KEV_CPUS];
static const char *folder;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "kev2ctf: %s: %s\n", what, why);
    exit(1);
}

static FILE *create(const char *name)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file == NULL) {
        die(path, strerror(errno));
    }
    return file;
}

static FILE *stream(unsigned cpu)
{
    if (streams[cpu] == NULL) {
        char name[16];

        snprintf(name, sizeof(name), "cpu%u", cpu);
        streams[cpu] = create(name);
    }
    return streams[cpu];
}

static char field_letter(const struct kev_field *field)
{
    if (field->text != NULL) {
        return 's';
    }
    bool decimal = field->arg->type == 'D' || field->arg->type == 'E';
    return field->wide ? (decimal ? 'I' : 'X') : (decimal ? 'i' : 'x');
}

/* The type's name and fields in one text, `NAME\nletter name\n…`. */
static void form_make(char form[FORM_MAX], const char *name, const struct kev_field *fields,
                      unsigned n)
{
    size_t used = (size_t)snprintf(form, FORM_MAX, "%s\n", name);

    for (unsigned i = 0; i < n && used < FORM_MAX; i++) {
        used += (size_t)snprintf(form + used, FORM_MAX - used, "%c %s\n", field_letter(&fields[i]),
                                 fields[i].arg->name);
    }
    if (used >= FORM_MAX) {
        die(name, "its fields are too many");
    }
}

static uint16_t type_of(const char form[FORM_MAX])
{
    static unsigned last; /* most events are of a few types: begin where the last one was */

    for (unsigned i = 0; i < types_used; i++) {
        unsigned at = (last + i) % types_used;
        if (strcmp(types[at].form, form) == 0) {
            last = at;
            return (uint16_t)at;
        }
    }
    if (types_used == TYPES_MAX) {
        die("events", "too many types");
    }
    memcpy(types[types_used].form, form, FORM_MAX);
    return (uint16_t)types_used++;
}

static void field_write(FILE *out, const struct kev_field *field)
{
    uint32_t low = (uint32_t)field->value;

    if (field->text != NULL) {
        fwrite(field->text, 1, strnlen(field->text, field->len), out);
        fputc(0, out);
    } else if (field->wide) {
        fwrite(&field->value, sizeof(field->value), 1, out);
    } else {
        fwrite(&low, sizeof(low), 1, out);
    }
}

/* The name that kymo print gives it, near enough to read: call, event or class and number. */
static void event_name(char name[96], const struct kev *kev, const struct kev_event *event,
                       const struct kev_desc *desc)
{
    static const char *const kinds[] = {"", "_enter", "_exit", "_int"};

    if (desc == NULL) {
        snprintf(name, 96, "%s:%u", kev_class_name(event->class), event->number);
    } else if (desc->kind == KEV_PLAIN) {
        snprintf(name, 96, "%s:%s", kev_class_name(event->class), desc->name);
    } else {
        snprintf(name, 96, "KER_CALL:%s%s", kev_call_name(kev, desc->number), kinds[desc->kind]);
    }
}

/* An event without a description: its words. */
static unsigned words_as_fields(const struct kev_event *event, struct kev_field *fields)
{
    static struct kev_arg names[KEV_ARGS_MAX];
    unsigned n = event->nwords < KEV_ARGS_MAX ? event->nwords : KEV_ARGS_MAX;

    for (unsigned i = 0; i < n; i++) {
        names[i].type = 'H';
        snprintf(names[i].name, sizeof(names[i].name), "d%u", i + 1);
        fields[i] = (struct kev_field){.arg = &names[i], .value = kev_word(event, i)};
    }
    return n;
}

static void event_write(const struct kev *kev, const struct kev_event *event)
{
    struct kev_field fields[KEV_ARGS_MAX];
    char form[FORM_MAX], name[96];
    FILE *out = stream(event->cpu);
    const struct kev_desc *desc = kev_describe(kev, event->class, event->number);
    unsigned n = desc != NULL ? kev_decode(event, desc, fields) : words_as_fields(event, fields);

    event_name(name, kev, event, desc);
    form_make(form, name, fields, n);
    uint16_t id = type_of(form);
    fwrite(&id, sizeof(id), 1, out);
    fwrite(&event->time, sizeof(event->time), 1, out);
    for (unsigned i = 0; i < n; i++) {
        field_write(out, &fields[i]);
    }
}

static const char integers[] =
    "typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
    "typealias integer { size = 32; align = 8; signed = true; base = 10; } := i;\n"
    "typealias integer { size = 32; align = 8; signed = false; base = 16; } := x;\n"
    "typealias integer { size = 64; align = 8; signed = true; base = 10; } := I;\n"
    "typealias integer { size = 64; align = 8; signed = false; base = 16; } := X;\n";

static void type_describe(FILE *out, unsigned id)
{
    char *line = strtok(types[id].form, "\n");

    fprintf(out, "event { name = \"%s\"; id = %u; fields := struct {\n", line, id);
    while ((line = strtok(NULL, "\n")) != NULL) {
        fprintf(out, "    %s _%s;\n", line[0] == 's' ? "string" : (char[]){line[0], 0}, line + 2);
    }
    fprintf(out, "}; };\n");
}

static void metadata_write(const struct kev_info *info)
{
    FILE *out = create("metadata");

    fprintf(out, "/* CTF 1.8 */\n%s", integers);
    fprintf(out, "trace { major = 1; minor = 8; byte_order = le; };\n");
    fprintf(out, "clock { name = cycles; freq = %" PRIu64 "; };\n", info->cycles_per_sec);
    fprintf(out, "typealias integer { size = 64; align = 8; signed = false;\n"
                 "    map = clock.cycles.value; } := stamp;\n"
                 "stream { event.header := struct { u16 id; stamp timestamp; }; };\n");
    for (unsigned i = 0; i < types_used; i++) {
        type_describe(out, i);
    }
    if (fclose(out) != 0) {
        die("metadata", strerror(errno));
    }
}

int main(int argc, char **argv)
{
    const struct kev_options options = {0};
    struct kev_error error;
    struct kev_event event;
    enum kev_result result;
    uint64_t events = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: kev2ctf CAPTURE FOLDER\n");
        return 2;
    }
    folder = argv[2];
    struct kev *kev = kev_open(argv[1], &options, &error);
    if (kev == NULL) {
        die(argv[1], error.text);
    }
    while ((result = kev_next(kev, &event, &error)) == KEV_EVENT) {
        event_write(kev, &event);
        events++;
    }
    if (result == KEV_ERROR) {
        die(argv[1], error.text);
    }
    for (unsigned cpu = 0; cpu < KEV_CPUS; cpu++) {
        if (streams[cpu] != NULL && fclose(streams[cpu]) != 0) {
            die("stream", strerror(errno));
        }
    }
    metadata_write(kev_info(kev));
    kev_close(kev);
    printf("%" PRIu64 "\n", events);
    return 0;
}
