/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump FILE [OPTION VALUE]...: every event as the library gives it, one JSON object a line, with
 * the members of `kymo print --json`, which test/host/kev/check compares it with; options: a
 * selection. -f reads the capture from descriptor 0; the option "log" gives log text, by the ELF
 * files of its value. Uses nothing but kev.h.
 */
#include <inttypes.h>
#include <kev.h>
#include <stdio.h>
#include <string.h>

static void put_bytes(const char *text, size_t length)
{
    putchar('"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < ' ' || c >= 0x7f || c == '"' || c == '\\') {
            printf("\\u%04x", c);
        } else {
            putchar(c);
        }
    }
    putchar('"');
}

static void put_text(const char *member, const char *text)
{
    printf(",\"%s\":", member);
    if (text == NULL) {
        printf("null");
    } else {
        put_bytes(text, strlen(text));
    }
}

static void put_value(const struct kev_value *value)
{
    put_bytes(value->name, strlen(value->name));
    putchar(':');
    switch (value->type) {
    case KEV_VALUE_SIGNED:
        printf("%" PRId64, value->integer);
        break;
    case KEV_VALUE_UNSIGNED:
    case KEV_VALUE_ADDRESS:
        printf("%" PRIu64, value->number);
        break;
    default:
        put_bytes(value->text, value->length);
        break;
    }
}

static void put_event(struct kev_capture *capture, const struct kev_item *item)
{
    printf("{\"ns\":%" PRId64 ",\"cycles\":\"0x%016" PRIx64 "\",\"cpu\":%" PRId32, item->ns,
           item->cycles, item->cpu);
    put_text("class", item->class_name);
    put_text("event", item->name);
    printf(",\"number\":%" PRIu32, item->code);
    if (item->pid == KEV_NOBODY) {
        printf(",\"pid\":null,\"tid\":null");
    } else {
        printf(",\"pid\":%" PRId32 ",\"tid\":%" PRId32, item->pid, item->tid);
    }
    put_text("process", kev_capture_name(capture, item->pid, KEV_NOBODY));
    put_text("thread", kev_capture_name(capture, item->pid, item->tid));
    printf(",\"injected\":%s,\"args\":{",
           (item->flags & KEV_FLAG_INJECTED) != 0 ? "true" : "false");
    for (unsigned i = 0; i < kev_capture_values(capture); i++) {
        printf("%s", i == 0 ? "" : ",");
        put_value(kev_capture_value(capture, i));
    }
    printf("},\"dump\":%s}\n", (item->flags & KEV_FLAG_DUMP) != 0 ? "true" : "false");
}

int main(int argc, char **argv)
{
    struct kev_capture *capture = kev_capture_new();
    const struct kev_item *item;
    int outcome = KEV_COMPLETE;

    if (capture == NULL || argc < 2) {
        return 2;
    }
    for (int i = 2; i + 1 < argc && outcome == KEV_COMPLETE; i += 2) {
        outcome = strcmp(argv[i], "log") == 0 ? kev_capture_set_log_text(capture, argv[i + 1])
                                              : kev_capture_select(capture, argv[i], argv[i + 1]);
    }
    if (outcome == KEV_COMPLETE) {
        outcome = strcmp(argv[1], "-f") == 0 ? kev_capture_open_descriptor(capture, 0, "descriptor")
                                             : kev_capture_open(capture, argv[1]);
    }
    if (outcome == KEV_COMPLETE) {
        outcome = kev_capture_learn(capture);
    }
    while (outcome >= KEV_COMPLETE && (outcome = kev_capture_next(capture, &item)) == KEV_GIVEN) {
        if (item->kind == KEV_ITEM_EVENT) {
            put_event(capture, item);
        }
    }
    if (outcome < KEV_COMPLETE) {
        fprintf(stderr, "%s\n", kev_capture_fault(capture)->text);
    }
    for (unsigned i = 0; kev_capture_log_missing(capture, i) != NULL; i++) {
        fprintf(stderr, "no ELF file of %s\n", kev_capture_log_missing(capture, i));
    }
    kev_capture_free(capture);
    return outcome == KEV_COMPLETE ? 0 : 1;
}
