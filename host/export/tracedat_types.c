/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --trace-dat: what the events look like, in the words of a kernel's format files, and their bytes.
 * A format and a record are made by one walk over the event's fields, so they can't differ. Names
 * of the capture become letters, digits and _; texts are escaped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/tracedat.h"
#include "host/kymo.h"
#include "host/memory_stream.h"

#define FIRST_ID 1000
#define COMM_BYTES 16
#define PART_BYTES 2048

const char *const tracedat_system_names[TRACEDAT_SYSTEMS] = {"kymo", "sched", "irq", "syscalls"};

unsigned tracedat_system(int role)
{
    switch (role) {
    case LINUX_SWITCH:
    case LINUX_WAKE:
    case LINUX_EXIT:
        return 1;
    case LINUX_IRQ_ENTRY:
    case LINUX_IRQ_EXIT:
        return 2;
    case LINUX_CALL_ENTRY:
    case LINUX_CALL_EXIT:
        return 3;
    default:
        return 0;
    }
}

/* ---- records ----------------------------------------------------------------------- */

static uint8_t *tracedat_make_room(struct record *record, uint8_t **bytes, size_t *used,
                                   size_t *room, size_t n)
{
    if (*used + n > *room) {
        size_t next = 2 * (*used + n) + 512;
        uint8_t *grown = realloc(*bytes, next);

        if (grown == NULL) {
            if (!record->failed) {
                kymo_error("out of memory");
            }
            record->failed = true;
            return NULL;
        }
        *bytes = grown;
        *room = next;
    }
    *used += n;
    return *bytes + *used - n;
}

static void tracedat_bytes_put(struct record *record, const void *data, size_t n)
{
    uint8_t *to = tracedat_make_room(record, &record->bytes, &record->used, &record->room, n);

    if (to != NULL && n > 0) {
        memcpy(to, data, n);
    }
}

/* ---- a field, in the format or in the record ---------------------------------------- */

/* The result of a walk over the fields: the format (fields, arguments of its print format), or the
 * record. */
struct walk {
    struct record *record; /* NULL: the format */
    FILE *fields, *print, *arguments;
    const char *between; /* the print format's text before the next field */
    size_t offset;
};

static void field_tell(struct walk *walk, const char *type, const char *name, const char *array,
                       size_t size, bool is_signed)
{
    fprintf(walk->fields, "\tfield:%s %s%s;\toffset:%zu;\tsize:%zu;\tsigned:%d;\n", type, name,
            array, walk->offset, size, is_signed);
    walk->offset += size;
}

static void print_tell(struct walk *walk, const char *name, const char *conversion)
{
    fprintf(walk->print, "%s%s=%s", walk->between, name, conversion);
    walk->between = " ";
}

static void number_walk(struct walk *walk, const char *name, uint64_t value, unsigned bits,
                        bool is_signed)
{
    static const char *const types[2][2] = {{"unsigned int", "unsigned long long"},
                                            {"int", "long long"}};
    static const char *const prints[2][2] = {{"0x%x", "0x%llx"}, {"%d", "%lld"}};
    bool wide = bits > 32;

    if (walk->record != NULL) {
        uint32_t low = (uint32_t)value;

        tracedat_bytes_put(walk->record, wide ? (const void *)&value : &low, wide ? 8 : 4);
        return;
    }
    field_tell(walk, types[is_signed][wide], name, "", wide ? 8 : 4, is_signed);
    print_tell(walk, name, prints[is_signed][wide]);
    fprintf(walk->arguments, ", REC->%s", name);
}

/* A text, or bytes. */
static void text_walk(struct walk *walk, const char *name, const char *text, size_t length,
                      bool is_bytes)
{
    struct record *record = walk->record;
    char *escaped = NULL;
    uint32_t location;
    uint8_t *to;

    if (record == NULL) {
        field_tell(walk, is_bytes ? "__data_loc u8[]" : "__data_loc char[]", name, "", 4, false);
        print_tell(walk, name, "%s");
        fprintf(walk->arguments,
                is_bytes ? ", __print_hex(__get_dynamic_array(%s), __get_dynamic_array_len(%s))"
                         : ", __get_str(%s)",
                name, name);
        return;
    }
    if (!is_bytes) {
        escaped = types_line(text, length);
        length = strlen(escaped) + 1;
        text = escaped;
    }
    location = (uint32_t)(length << 16 | (record->texts_used & 0xffff));
    if (record->nlocations < sizeof(record->locations) / sizeof(record->locations[0])) {
        record->locations[record->nlocations++] = (uint32_t)record->used;
    }
    tracedat_bytes_put(record, &location, sizeof(location));
    to = tracedat_make_room(record, &record->texts, &record->texts_used, &record->texts_room,
                            length);
    if (to != NULL && length > 0) {
        memcpy(to, text, length);
    }
    free(escaped);
}

static void comm_walk(struct walk *walk, const char *name, const struct export *export,
                      const struct flow_thread *thread)
{
    char whole[512], cut[COMM_BYTES] = "", *escaped;

    if (walk->record == NULL) {
        field_tell(walk, "char", name, "[16]", COMM_BYTES, false);
        print_tell(walk, name, "%s");
        fprintf(walk->arguments, ", REC->%s", name);
        return;
    }
    linux_comm(export, thread, whole, sizeof(whole));
    escaped = types_line(whole, strlen(whole));
    snprintf(cut, sizeof(cut), "%s", escaped);
    free(escaped);
    tracedat_bytes_put(walk->record, cut, sizeof(cut));
}

static void thread_walk(struct walk *walk, const struct export *export,
                        const struct flow_thread *thread, const char *const names[3])
{
    comm_walk(walk, names[0], export, thread);
    number_walk(walk, names[1], (uint64_t)linux_tid(thread), 32, true);
    number_walk(walk, names[2], (uint64_t)linux_priority(thread), 32, true);
}

/* The fields that tools for Linux look for; `step` is zeros for the format. */
static void standard_walk(struct walk *walk, const struct export *export, int role,
                          const struct kev_item *item, const struct flow_step *step)
{
    static const char *const previous[] = {"prev_comm", "prev_pid", "prev_prio"};
    static const char *const next[] = {"next_comm", "next_pid", "next_prio"};
    static const char *const plain[] = {"comm", "pid", "prio"};
    const char *name;

    switch (role) {
    case LINUX_SWITCH:
        thread_walk(walk, export, step->previous, previous);
        number_walk(walk, "prev_state", (uint64_t)linux_previous_state(step), 64, true);
        thread_walk(walk, export, step->running, next);
        break;
    case LINUX_WAKE:
        thread_walk(walk, export, step->woken, plain);
        number_walk(walk, "target_cpu", (uint64_t)item->cpu, 32, true);
        break;
    case LINUX_EXIT:
        thread_walk(walk, export, step->thread, plain);
        break;
    case LINUX_IRQ_ENTRY:
        name = kev_capture_term(export->capture, KEV_MEANS_INTERRUPT,
                                (unsigned)linux_value(export, "interrupt"));
        number_walk(walk, "irq", linux_value(export, "interrupt"), 32, true);
        name = name == NULL ? "-" : name;
        text_walk(walk, "name", name, strlen(name), false);
        break;
    case LINUX_IRQ_EXIT:
        number_walk(walk, "irq", linux_value(export, "interrupt"), 32, true);
        number_walk(walk, "ret", 1, 32, true);
        break;
    case LINUX_CALL_EXIT:
        number_walk(walk, "ret", linux_value(export, "ret_val"), 64, true);
        break;
    default:
        break;
    }
}

/* A field's name: k_ and the value's, so that it is no other field's and no word of C. */
static void own_name(struct kev_capture *capture, unsigned index, char to[96])
{
    const char *name = kev_capture_value(capture, index)->name;
    unsigned twins = 0;
    int n = 2;

    memcpy(to, "k_", 2);
    for (; *name != '\0' && n < 64; name++) {
        bool fine = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
                    (*name >= '0' && *name <= '9');

        to[n++] = fine ? *name : '_';
    }
    to[n] = '\0';
    for (unsigned i = 0; i < index; i++) {
        twins += strcmp(kev_capture_value(capture, i)->name,
                        kev_capture_value(capture, index)->name) == 0;
    }
    if (twins > 0) {
        snprintf(to + n, 96 - (size_t)n, "_%u", twins + 1);
    }
}

static void own_walk(struct walk *walk, struct export *export)
{
    const struct kev_value *value;
    char name[96] = "";

    for (unsigned i = 0; (value = kev_capture_value(export->capture, i)) != NULL; i++) {
        if (walk->record == NULL) {
            own_name(export->capture, i, name);
        }
        switch (value->type) {
        case KEV_VALUE_TEXT:
            text_walk(walk, name, value->text, value->length, false);
            break;
        case KEV_VALUE_BYTES:
            text_walk(walk, name, value->text, value->length, true);
            break;
        case KEV_VALUE_SIGNED:
            number_walk(walk, name, (uint64_t)value->integer, value->bits, true);
            break;
        default:
            number_walk(walk, name, value->number, value->bits, false);
            break;
        }
    }
}

static void lost_walk(struct walk *walk, const struct kev_item *item)
{
    const struct kev_loss *loss = item->loss;
    const char *reason = loss->reason == NULL ? "-" : loss->reason;
    const char *of = loss->class_name == NULL ? "-" : loss->class_name;
    const char *what = export_loss_kind(loss->kind);

    number_walk(walk, "events", loss->events, 64, true);
    number_walk(walk, "buffers", loss->buffers, 64, true);
    number_walk(walk, "from_ns", (uint64_t)loss->from_ns, 64, true);
    number_walk(walk, "to_ns", (uint64_t)loss->to_ns, 64, true);
    text_walk(walk, "what", what, strlen(what), false);
    text_walk(walk, "of_class", of, strlen(of), false);
    text_walk(walk, "reason", reason, strlen(reason), false);
    text_walk(walk, "text", loss->text, strlen(loss->text), false);
}

static void part_walk(struct walk *walk, const struct kev_item *item, unsigned part, unsigned parts,
                      const char *bytes, size_t length)
{
    number_walk(walk, "class_id", item->class_id, 32, false);
    number_walk(walk, "number", item->number, 32, false);
    number_walk(walk, "part", part, 32, true);
    number_walk(walk, "parts", parts, 32, true);
    text_walk(walk, "words", bytes, length, true);
}

/* ---- the format -------------------------------------------------------------------- */

static void tracedat_event_name(FILE *file, const struct kev_item *item, int role)
{
    static const char *const names[] = {
        [LINUX_SWITCH] = "sched_switch",
        [LINUX_WAKE] = "sched_waking",
        [LINUX_EXIT] = "sched_process_exit",
        [LINUX_IRQ_ENTRY] = "irq_handler_entry",
        [LINUX_IRQ_EXIT] = "irq_handler_exit",
        [LINUX_CALL_ENTRY] = "sys_enter_",
        [LINUX_CALL_EXIT] = "sys_exit_",
        [TYPES_LOST] = "lost",
        [TRACEDAT_PART] = "part",
    };

    if (names[role] != NULL) {
        fputs(names[role], file);
    } else {
        types_name_put(file, item->class_name);
        putc('_', file);
    }
    if (names[role] == NULL || role == LINUX_CALL_ENTRY || role == LINUX_CALL_EXIT) {
        if (item->name != NULL) {
            types_name_put(file, item->name);
        } else {
            fprintf(file, "%" PRIu32, item->code);
        }
    }
}

static void declaration_walk(struct walk *walk, struct export *export, const struct kev_item *item,
                             int role)
{
    static const struct flow_step none = {.thread = NULL};

    walk->offset = 8;
    walk->between = "";
    if (role == TYPES_LOST) {
        lost_walk(walk, item);
    } else if (role == TRACEDAT_PART) {
        part_walk(walk, item, 0, 0, "", 0);
    } else {
        standard_walk(walk, export, role, item, &none);
        own_walk(walk, export);
    }
}

char *tracedat_declare(struct export *export, const struct kev_item *item, int role, uint32_t id)
{
    char *texts[4] = {NULL, NULL, NULL, NULL};
    size_t sizes[4];
    FILE *files[4];
    bool ok = true;

    for (unsigned i = 0; i < 4; i++) {
        files[i] = memory_stream(&texts[i], &sizes[i]);
        ok = ok && files[i] != NULL;
    }
    if (ok) {
        struct walk walk = {.fields = files[1], .print = files[2], .arguments = files[3]};

        declaration_walk(&walk, export, item, role);
    }
    for (unsigned i = 1; i < 4; i++) {
        ok = files[i] != NULL && fclose(files[i]) == 0 && ok;
    }
    if (ok) {
        fputs("name: ", files[0]);
        tracedat_event_name(files[0], item, role);
        fprintf(files[0],
                "\nID: %" PRIu32 "\nformat:\n"
                "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n%s\n"
                "print fmt: \"%s\"%s\n",
                FIRST_ID + id, texts[1], texts[2], texts[3]);
    }
    ok = files[0] != NULL && fclose(files[0]) == 0 && ok;
    for (unsigned i = 1; i < 4; i++) {
        free(texts[i]);
    }
    if (!ok) {
        free(texts[0]);
        texts[0] = NULL;
    }
    return texts[0];
}

/* ---- the record -------------------------------------------------------------------- */

static void tracedat_record_begin(struct record *record, const struct type *type, int32_t pid)
{
    uint16_t id = (uint16_t)(FIRST_ID + type->id);

    record->used = record->texts_used = 0;
    record->nlocations = 0;
    tracedat_bytes_put(record, &id, sizeof(id));
    tracedat_bytes_put(record, "\0", 2);
    tracedat_bytes_put(record, &pid, sizeof(pid));
}

/* The texts, after the fields; those get to know where. */
static void record_end(struct record *record)
{
    uint32_t location, base = (uint32_t)record->used;

    for (unsigned i = 0; i < record->nlocations && !record->failed; i++) {
        memcpy(&location, record->bytes + record->locations[i], sizeof(location));
        location += base;
        memcpy(record->bytes + record->locations[i], &location, sizeof(location));
    }
    tracedat_bytes_put(record, record->texts, record->texts_used);
}

void record_event(struct record *record, struct export *export, const struct kev_item *item,
                  const struct flow_step *step, const struct type *type)
{
    struct walk walk = {.record = record};

    tracedat_record_begin(record, type, linux_current(item, step));
    standard_walk(&walk, export, type->role, item, step);
    own_walk(&walk, export);
    record_end(record);
}

void record_lost(struct record *record, const struct kev_item *item, const struct type *type)
{
    struct walk walk = {.record = record};

    tracedat_record_begin(record, type, -1);
    lost_walk(&walk, item);
    record_end(record);
}

bool record_part(struct record *record, struct export *export, const struct kev_item *item,
                 const struct flow_step *step, const struct type *type, unsigned part)
{
    struct walk walk = {.record = record};
    const uint32_t *words;
    size_t bytes = 4 * (size_t)kev_capture_words(export->capture, &words);
    size_t from = (size_t)part * PART_BYTES, rest = bytes > from ? bytes - from : 0;
    unsigned parts = (unsigned)((bytes + PART_BYTES - 1) / PART_BYTES);

    if (part >= parts || record->failed) {
        return false;
    }
    tracedat_record_begin(record, type, linux_current(item, step));
    part_walk(&walk, item, part, parts, (const char *)words + from,
              rest > PART_BYTES ? PART_BYTES : rest);
    record_end(record);
    return !record->failed;
}

void record_free(struct record *record)
{
    free(record->bytes);
    free(record->texts);
}
