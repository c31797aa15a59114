/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --ctf: event types, each made when its first event is met, and the metadata, in TSDL. Names of
 * the capture become letters, digits and _ there; texts are escaped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/ctf.h"
#include "host/kymo.h"
#include "host/memory_stream.h"

/* ---- types ------------------------------------------------------------------------- */

static void ctf_event_name(FILE *file, const struct kev_item *item, int role)
{
    static const char *const names[] = {
        [LINUX_SWITCH] = "sched_switch",
        [LINUX_WAKE] = "sched_wakeup",
        [LINUX_EXIT] = "sched_process_exit",
        [LINUX_IRQ_ENTRY] = "irq_handler_entry",
        [LINUX_IRQ_EXIT] = "irq_handler_exit",
        [LINUX_CALL_ENTRY] = "syscall_entry_",
        [LINUX_CALL_EXIT] = "syscall_exit_",
        [LINUX_FUNCTION_ENTRY] = "lttng_ust_cyg_profile:func_entry",
        [LINUX_FUNCTION_EXIT] = "lttng_ust_cyg_profile:func_exit",
        [TYPES_LOST] = "kymo_lost",
    };

    if (role != LINUX_OWN) {
        fputs(names[role], file);
    } else {
        fputs("kymo_", file);
        types_name_put(file, item->class_name);
        putc('_', file);
    }
    if (role == LINUX_OWN || role == LINUX_CALL_ENTRY || role == LINUX_CALL_EXIT) {
        if (item->name != NULL) {
            types_name_put(file, item->name);
        } else {
            fprintf(file, "%" PRIu32, item->code);
        }
    }
}

/* The fields that tools for Linux look for, before the event's own. */
static const char *const ctf_standard_fields[] = {
    [LINUX_SWITCH] = "string _prev_comm; i32 _prev_tid; i32 _prev_prio; i64 _prev_state; "
                     "string _next_comm; i32 _next_tid; i32 _next_prio; ",
    [LINUX_WAKE] = "string _comm; i32 _tid; i32 _prio; i32 _target_cpu; ",
    [LINUX_EXIT] = "string _comm; i32 _tid; i32 _prio; ",
    [LINUX_IRQ_ENTRY] = "i32 _irq; string _name; ",
    [LINUX_IRQ_EXIT] = "i32 _irq; i32 _ret; ",
    [LINUX_CALL_EXIT] = "i64 _ret; ",
    [LINUX_FUNCTION_ENTRY] = "x64 _addr; x64 _call_site; ",
    [LINUX_FUNCTION_EXIT] = "x64 _addr; x64 _call_site; ",
    [TYPES_LOST] = "string _what; string _of_class; string _reason; string _text; i64 _from_ns; "
                   "i64 _to_ns; u64 _events; u64 _buffers; ",
};

/* A field of the event's own. One that is called as an earlier one gets a number. */
static void field_put(FILE *file, struct kev_capture *capture, unsigned index,
                      const char *standard_fields)
{
    const struct kev_value *value = kev_capture_value(capture, index);
    char plain[80], quoted[96];
    unsigned twins = 0;

    snprintf(plain, sizeof(plain), "%.60s", value->name);
    for (char *c = plain; *c != '\0'; c++) {
        bool fine =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');

        *c = fine ? *c : '_';
    }
    snprintf(quoted, sizeof(quoted), " _%s;", plain);
    twins += standard_fields != NULL && strstr(standard_fields, quoted) != NULL;
    for (unsigned i = 0; i < index; i++) {
        twins += strcmp(kev_capture_value(capture, i)->name, value->name) == 0;
    }
    snprintf(quoted, sizeof(quoted), twins > 0 ? "_%s_%u" : "_%s", plain, twins + 1);
    switch (value->type) {
    case KEV_VALUE_TEXT:
        fprintf(file, "string %s; ", quoted);
        break;
    case KEV_VALUE_BYTES:
        fprintf(file, "u32 _%s_length; u8 %s[_%s_length]; ", quoted, quoted, quoted);
        break;
    case KEV_VALUE_SIGNED:
        fprintf(file, "i%u %s; ", value->bits > 32 ? 64 : 32, quoted);
        break;
    default:
        fprintf(file, "x%u %s; ", value->bits > 32 ? 64 : 32, quoted);
        break;
    }
}

int ctf_declare(struct export *export, const struct kev_item *item, struct type *type)
{
    const char *fields =
        (size_t)type->role < sizeof(ctf_standard_fields) / sizeof(ctf_standard_fields[0])
            ? ctf_standard_fields[type->role]
            : NULL;
    size_t size;
    FILE *file = memory_stream(&type->text, &size);

    if (file != NULL) {
        fputs("event { name = \"", file);
        ctf_event_name(file, item, type->role);
        fprintf(file, "\"; id = %" PRIu32 "; stream_id = 0; fields := struct { ", type->id);
        fputs(fields == NULL ? "" : fields, file);
        for (unsigned i = 0;
             type->role != TYPES_LOST && kev_capture_value(export->capture, i) != NULL; i++) {
            field_put(file, export->capture, i, fields);
        }
        fputs("}; };\n", file);
    }
    if (file == NULL || fclose(file) != 0) {
        kymo_error("out of memory");
        return -1;
    }
    return 0;
}

/* ---- metadata ---------------------------------------------------------------------- */

static const char head_text[] =
    "/* CTF 1.8 */\n"
    "/* Made by kymo export. Stamps count from the capture's start. */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
    "typealias integer { size = 32; align = 8; signed = true; } := i32;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := i64;\n"
    "typealias integer { size = 32; align = 8; signed = false; base = 16; } := x32;\n"
    "typealias integer { size = 64; align = 8; signed = false; base = 16; } := x64;\n";
static const char stream_text[] =
    "typealias integer { size = 64; align = 8; signed = false;\n"
    "    map = clock.monotonic.value; } := stamp;\n"
    "stream {\n"
    "    id = 0;\n"
    "    packet.context := struct { stamp timestamp_begin; stamp timestamp_end; u64 content_size;\n"
    "        u64 packet_size; u64 packet_seq_num; u64 events_discarded; u32 cpu_id; };\n"
    "    event.header := struct { u16 id; stamp timestamp; };\n";

/* A text in quotes: those of TSDL have the escapes of C. */
static void ctf_quoted_put(FILE *file, const char *name, const char *text)
{
    char *escaped = types_text(text, strlen(text));

    if (*text == '\0') {
        free(escaped);
        return;
    }
    fprintf(file, "    %s = \"", name);
    for (const char *c = escaped; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            putc('\\', file);
        }
        if (*c == '\n') {
            fputs("\\n", file);
        } else {
            putc(*c, file);
        }
    }
    fputs("\";\n", file);
    free(escaped);
}

static void environment_put(FILE *file, const struct ctf_trace *trace, const struct export *export,
                            char *const *scopes, unsigned nscopes)
{
    const struct kev_facts *facts = export->facts;
    const char *date = kev_capture_attribute(export->capture, "DATE");
    bool kernel = strcmp(trace->domain, "kernel") == 0;
    char name[32];

    fprintf(file,
            "env {\n    domain = \"%s\";\n    tracer_name = \"%s\";\n"
            "    tracer_major = 2;\n    tracer_minor = 13;\n    tracer_patchlevel = 0;\n",
            trace->domain, kernel ? "lttng-modules" : "lttng-ust");
    fprintf(file, "    made_by = \"kymo export\";\n");
    ctf_quoted_put(file, "hostname", facts->board);
    ctf_quoted_put(file, "board", facts->board);
    ctf_quoted_put(file, "processor", facts->processor);
    ctf_quoted_put(file, "release", facts->release);
    ctf_quoted_put(file, "image", facts->image);
    ctf_quoted_put(file, "build_id", facts->build_id);
    ctf_quoted_put(file, "date", date == NULL ? "" : date);
    fprintf(file, "    cpus = %" PRIu32 ";\n    start_cycles = \"0x%016" PRIx64 "\";\n",
            facts->cpus, facts->start);
    fprintf(file, "    complete = %d;\n    lost_events = \"%" PRIu64 "\";\n",
            export->fault == KEV_FAULT_NONE, export->lost);
    for (unsigned i = 0; i < nscopes; i++) {
        snprintf(name, sizeof(name), "scope_%u", i);
        ctf_quoted_put(file, name, scopes[i]);
    }
    fputs("};\n", file);
}

void ctf_uuid(const struct export *export, const char *domain, uint8_t uuid[16])
{
    const struct kev_facts *facts = export->facts;
    uint64_t hash[2] = {14695981039346656037u, 1099511628211u};
    char text[512];
    int n = snprintf(text, sizeof(text), "%s|%s|%s|%" PRIu64 "|%" PRIu64 "|%" PRIu64, domain,
                     facts->build_id, facts->image, facts->start, facts->bytes, facts->buffers);

    for (int i = 0; i < n && i < (int)sizeof(text); i++) {
        hash[0] = (hash[0] ^ (uint8_t)text[i]) * 1099511628211u;
        hash[1] = (hash[1] ^ hash[0]) * 1099511628211u;
    }
    memcpy(uuid, hash, 16);
    uuid[6] = (uint8_t)(0x40 | (uuid[6] & 0x0f));
    uuid[8] = (uint8_t)(0x80 | (uuid[8] & 0x3f));
}

static void uuid_put(FILE *file, const struct export *export, const char *domain)
{
    uint8_t uuid[16];

    ctf_uuid(export, domain, uuid);
    for (unsigned i = 0; i < 16; i++) {
        fprintf(file, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
    }
}

void ctf_metadata_write(const struct ctf_trace *trace, const struct export *export, FILE *file,
                        char *const *scopes, unsigned nscopes)
{
    bool kernel = strcmp(trace->domain, "kernel") == 0;
    uint64_t frequency = export->facts->cycles_per_second;

    fputs(head_text, file);
    fputs("trace {\n    major = 1;\n    minor = 8;\n    uuid = \"", file);
    uuid_put(file, export, trace->domain);
    fprintf(file,
            "\";\n    byte_order = %s;\n"
            "    packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; "
            "u64 stream_instance_id; };\n};\n",
            __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be");
    environment_put(file, trace, export, scopes, nscopes);
    fputs("clock {\n    name = \"monotonic\";\n    uuid = \"", file);
    uuid_put(file, export, "clock");
    fprintf(file,
            "\";\n    description = \"the capture's clock\";\n    freq = %" PRIu64
            ";\n    offset = 0;\n};\n",
            frequency == 0 ? 1000000000 : frequency);
    fputs(stream_text, file);
    fputs(kernel
              ? "    event.context := struct { i32 _pid; i32 _tid; i32 _thread; u8 _dump; };\n};\n"
              : "    event.context := struct { i32 _vpid; i32 _vtid; string _procname; "
                "i32 _thread; u8 _dump; };\n};\n",
          file);
    for (const struct type *type = trace->types.first; type != NULL; type = type->after) {
        fputs(type->text, file);
    }
}
