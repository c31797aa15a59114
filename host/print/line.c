/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints an event as a line, or as a line and its arguments. line_event() is the whole way: what
 * kind of line the event is, its fields, the head of the line, the name, the body. The bodies of
 * interrupts and of user events are in line_int.c and line_user.c, fields in line_args.c. Tested by
 * test/host and the golden captures.
 */
#include <stdio.h>

#include "host/print/line.h"
#include "host/record.h"
#include "host/when.h"
#include "abi/sys/trace.h"
#include "trace/slot.h"

#define EVENT_COLUMNS 13 /* of a name, before its first argument */

enum {
#define KERCALL(number, NAME, ...) CALL_##NAME = (number),
#include "abi/kercalls.def"
#undef KERCALL
};

enum line_kind {
    LINE_USER,
    LINE_CONTROL, /* TIME, BUFFER and DROPPED, which have shapes of their own */
    LINE_CALL,
    LINE_INT,
    LINE_GROUP,   /* any other class */
    LINE_UNKNOWN, /* no description, or too few words for it */
};

struct line {
    struct out *out;
    const struct kev *kev;
    const struct kev_event *event;
    const struct line_style *style;
    enum line_kind kind;
    const struct kev_desc *desc; /* of calls, interrupts and groups */
    struct kev_field fields[KEV_ARGS_MAX];
    unsigned nfields;
    bool is_text; /* a user event's */
    size_t text_len;
};

/* ---- the usual head and name -------------------------------------------------------- */

/* The time, the CPU and, with --names, the owner. traceprinter 6.x has the low word of the time. */
static void print_line_put_head(struct out *out, const struct kev *kev,
                                const struct kev_event *event, const struct line_style *style)
{
    char cycles[] = "t:0x0123456789abcdef";
    char cpu[] = " CPU:00 ";
    const struct owner *owner = &style->owner;

    if (style->dialect == LINE_QNX6) {
        out_hex_digits(cycles + 4, (uint32_t)event->time);
        out_bytes(out, cycles, 12);
    } else if (style->time == LINE_CYCLES) {
        out_hex_digits(cycles + 4, (uint32_t)(event->time >> 32));
        out_hex_digits(cycles + 12, (uint32_t)event->time);
        out_bytes(out, cycles, sizeof(cycles) - 1);
    } else {
        int64_t ns = kymo_when_ns(event->time, style->first, kev_info(kev)->cycles_per_sec);
        out_str(out, "t:");
        if (style->time == LINE_NS) {
            out_i64(out, ns);
        } else {
            out_seconds(out, ns);
        }
    }
    cpu[5] = (char)('0' + event->cpu / 10);
    cpu[6] = (char)('0' + event->cpu % 10);
    out_bytes(out, cpu, sizeof(cpu) - 1);
    if (style->owners == NULL) {
        return;
    }
    if (!owner->known) {
        out_str(out, "? ");
        return;
    }
    const char *process = owners_process(style->owners, owner->pid);
    const char *thread = owners_thread(style->owners, owner->pid, owner->tid);
    out_i64(out, owner->pid);
    out_char(out, '.');
    out_i64(out, owner->tid);
    if (process != NULL || thread != NULL) {
        out_char(out, '(');
        out_text(out, process == NULL ? "?" : process, process == NULL ? 1 : strlen(process));
        if (thread != NULL) {
            out_char(out, '/');
            out_text(out, thread, strlen(thread));
        }
        out_char(out, ')');
    }
    out_char(out, ' ');
}

/* The name of an event's class where nothing else is known of it. Kymo's own kernel calls print
 * like the others. */
static const char *print_line_class_name(const struct kev_event *event)
{
    return kev_class_name(trace_class_is_call(event->class) ? TRACE_CLASS_KER_CALL : event->class);
}

/* "THREAD  :" and the like; NULL: the class's name serves. */
static const char *group_name(const struct kev_event *event)
{
    unsigned number = event->number & ~TRACE_EVENT_64;

    switch (event->class) {
    case TRACE_CLASS_PR_TH:
        return number >= 64 ? "PROCESS :" : number >= 26 ? "VTHREAD :" : "THREAD  :";
    case TRACE_CLASS_SYSTEM:
        return "SYSTEM  :";
    case TRACE_CLASS_COMM:
        return "COMM    :";
    case TRACE_CLASS_CONTROL:
        return "CONTROL :";
    default:
        return NULL;
    }
}

/* Writes a kernel call's name and number, "MSG_SENDV/11", cut to the room; returns its length. */
static size_t call_text(char *to, size_t room, const struct kev_desc *desc,
                        const struct line_style *style)
{
    bool qnx = style->dialect != LINE_KYMO, from_int = desc->kind == KEV_CALL_INT;
    int len = snprintf(to, room, "%s%s/%0*u", qnx && from_int ? "KER_" : "", desc->name,
                       qnx && !from_int ? 2 : 1, desc->number);

    return (size_t)len < room ? (size_t)len : room - 1;
}

static void put_name(const struct line *l)
{
    struct out *out = l->out;
    char text[FORMAT_NAME_MAX];
    const char *group;
    size_t len;

    switch (l->kind) {
    case LINE_USER:
        out_str(out, "USREVENT:EVENT:");
        out_u64(out, l->event->number);
        out_str(out, l->is_text ? "" : ",");
        break;
    case LINE_CONTROL:
        out_str(out, l->event->number == TRACE_CONTROL_TIME     ? "CONTROL :TIME"
                     : l->event->number == TRACE_CONTROL_BUFFER ? "CONTROL: BUFFER"
                                                                : "CONTROL: DROPPED");
        break;
    case LINE_CALL:
        out_str(out, l->desc->kind == KEV_CALL_ENTER  ? "KER_CALL:"
                     : l->desc->kind == KEV_CALL_EXIT ? "KER_EXIT:"
                                                      : "INT_CALL:");
        if (l->style->dialect != LINE_KYMO) {
            out_bytes(out, text, call_text(text, sizeof(text), l->desc, l->style));
        } else { /* the same, fast */
            out_str(out, l->desc->name);
            out_char(out, '/');
            out_u64(out, l->desc->number);
        }
        break;
    case LINE_INT:
        line_int_name(out, l->event, l->desc, l->fields);
        break;
    case LINE_GROUP:
        group = group_name(l->event);
        if (group != NULL) {
            out_str(out, group);
        } else {
            out_str(out, kev_class_name(l->event->class));
            out_char(out, ':');
        }
        len = strlen(l->desc->name);
        out_bytes(out, l->desc->name, len);
        if (l->nfields > 0 && len < EVENT_COLUMNS && (l->nfields <= 2 || l->style->one_line)) {
            out_pad(out, EVENT_COLUMNS - len);
        }
        break;
    case LINE_UNKNOWN:
        out_str(out, print_line_class_name(l->event));
        out_str(out, ":EVENT:");
        out_u64(out, l->event->number);
        break;
    }
}

/* ---- the head that -p's format makes, with the name in it --------------------------- */

static void put_format(const struct line *l)
{
    const struct kev_event *event = l->event;
    uint64_t hz = kev_info(l->kev)->cycles_per_sec, first = l->style->first;
    bool before = event->time < first; /* where the order is the file's */
    unsigned __int128 cycles = before ? first - event->time : event->time - first;
    int64_t ns = (int64_t)(cycles * 1000000000u / hz);
    struct format_event to = {.cycles = event->time,
                              .index = l->style->index,
                              .cpu = event->cpu,
                              .ns = before ? -ns : ns};
    const char *class_text = print_line_class_name(event), *number = NULL, *group = NULL;
    uint32_t irq;

    switch (l->kind) {
    case LINE_USER:
        class_text = "USREVENT";
        snprintf(to.number, FORMAT_NAME_MAX, "EVENT:%u", event->number);
        break;
    case LINE_CONTROL:
        class_text = "CONTROL";
        number = event->number == TRACE_CONTROL_TIME     ? "TIME"
                 : event->number == TRACE_CONTROL_BUFFER ? "BUFFER"
                                                         : "DROPPED";
        break;
    case LINE_CALL:
        class_text = l->desc->kind == KEV_CALL_ENTER  ? "KER_CALL"
                     : l->desc->kind == KEV_CALL_EXIT ? "KER_EXIT"
                                                      : "INT_CALL";
        call_text(to.number, FORMAT_NAME_MAX, l->desc, l->style);
        break;
    case LINE_INT:
        class_text = l->desc->name;
        irq = line_int_number(event, l->fields);
        snprintf(to.number, FORMAT_NAME_MAX, "0x%08x (%d)", irq, (int32_t)irq);
        break;
    case LINE_GROUP:
        group = group_name(event);
        class_text = group == NULL ? kev_class_name(event->class) : group;
        number = l->desc->name;
        break;
    case LINE_UNKNOWN:
        snprintf(to.number, FORMAT_NAME_MAX, "EVENT:%u", event->number);
        break;
    }
    snprintf(to.class, FORMAT_NAME_MAX, "%s", class_text);
    if (group != NULL) { /* without the padding and the colon */
        to.class[strcspn(to.class, " :")] = '\0';
    }
    if (number != NULL) {
        snprintf(to.number, FORMAT_NAME_MAX, "%s", number);
    }
    format_print(l->out, l->style->format, &to);
}

/* ---- the body ----------------------------------------------------------------------- */

static void put_control(struct out *out, const struct kev_event *event,
                        const struct line_style *style)
{
    uint32_t first = kev_word(event, 0), second = kev_word(event, 1);

    switch (event->number) {
    case TRACE_CONTROL_TIME:
        out_str(out, " msb:");
        out_hex32(out, first);
        out_str(out, " lsb(offset):");
        out_hex32(out, second);
        break;
    case TRACE_CONTROL_BUFFER:
        out_str(out, " sequence = ");
        out_u64(out, first & (style->dialect == LINE_QNX6 ? 0x7ff : UINT32_MAX));
        out_str(out, ", num_events = ");
        out_u64(out, second);
        break;
    default: /* DROPPED: reason << 8 | class, count */
        out_str(out, " class = ");
        out_str(out, kev_class_name(first & 0xff));
        out_str(out, ", num_events = ");
        out_u64(out, second);
        out_str(out, ", reason = ");
        if (record_drop_reason(first >> 8) != NULL) {
            out_str(out, record_drop_reason(first >> 8));
        } else {
            out_u64(out, first >> 8);
        }
        break;
    }
    out_char(out, '\n');
}

/* Prints a call's fields, the words of messages renamed to what traceprinter prints: msg:"abcd"
 * (0x64636261); before 8.0 the first one has no [0] in the fast form. */
static void put_message_fields(struct line *l)
{
    struct kev_arg args[KEV_ARGS_MAX] = {0}; /* of words of messages */
    struct kev_arg *last = NULL;
    unsigned words = 0;

    for (unsigned i = 0; i < l->nfields; i++) {
        const char *name = l->fields[i].arg->name;
        bool sent = strncmp(name, "msg", 3) == 0, received = strncmp(name, "rmsg", 4) == 0;
        size_t digit = sent ? 3 : 4;

        if ((!sent && !received) || name[digit] < '0' || name[digit] > '2' ||
            name[digit + 1] != '\0') {
            continue;
        }
        args[i].type = LINE_TYPE_MESSAGE;
        snprintf(args[i].name, sizeof(args[i].name), "%s%.*s[%c]",
                 sent && l->desc->number == CALL_MSG_REPLYV ? "s" : "", (int)digit, name,
                 name[digit]);
        l->fields[i].arg = last = &args[i];
        words++;
    }
    if (words == 1 && l->style->dialect != LINE_QNX8) {
        last->name[strcspn(last->name, "[")] = '\0';
    }
    line_fields(l->out, l->fields, l->nfields, l->style);
}

static void print_line_put_call(struct line *l)
{
    const struct kev_field *result = &l->fields[0];
    struct out *out = l->out;

    if (l->desc->kind == KEV_CALL_INT) {
        out_char(out, '\n');
    } else if (l->desc->kind == KEV_CALL_EXIT && l->nfields > 0 &&
               result->value == (result->wide ? UINT64_MAX : UINT32_MAX)) {
        /* -1 is followed by the error's number, whatever the form, and its name if it is known. */
        uint32_t error = kev_word(l->event, (l->event->number & TRACE_EVENT_64) != 0 ? 2 : 1);
        const char *name = l->style->dialect == LINE_KYMO ? kev_error_name(l->kev, error) : NULL;
        out_str(out, " ret_val:-1, errno:");
        out_i64(out, (int32_t)error);
        if (name != NULL) {
            out_str(out, " (");
            out_str(out, name);
            out_char(out, ')');
        }
        out_char(out, '\n');
    } else if (l->style->dialect != LINE_KYMO) {
        put_message_fields(l);
    } else {
        line_fields(out, l->fields, l->nfields, l->style);
    }
}

/* Printed after the arguments of an event of a state dump, which says what existed already. */
static const struct kev_arg dump_mark = {.type = 'D', .name = "dump"};

/* ---- all of it ---------------------------------------------------------------------- */

/* Decides what kind of line the event is, and decodes its fields. own: the style of a group. */
static void print_line_classify_event(struct line *l, struct line_style *own)
{
    const struct kev_event *event = l->event;

    if (event->class == TRACE_CLASS_USER) {
        l->kind = LINE_USER;
        l->is_text = record_user_text(event, &l->text_len);
    } else if (event->class == TRACE_CLASS_CONTROL &&
               (event->number == TRACE_CONTROL_TIME || event->number == TRACE_CONTROL_BUFFER ||
                event->number == TRACE_CONTROL_DROPPED)) {
        l->kind = LINE_CONTROL;
    } else if ((l->desc = kev_describe(l->kev, event->class, event->number)) == NULL) {
        l->kind = LINE_UNKNOWN;
    } else if (l->desc->kind != KEV_PLAIN) {
        l->kind = LINE_CALL;
        l->nfields = l->desc->kind == KEV_CALL_INT ? 0 : kev_decode(event, l->desc, l->fields);
    } else if (event->class == TRACE_CLASS_INT) {
        l->nfields = kev_decode(event, l->desc, l->fields);
        l->kind = record_int_is_whole(event, l->nfields) ? LINE_INT : LINE_UNKNOWN;
    } else {
        l->kind = LINE_GROUP;
        l->nfields = record_fields(event, l->desc, l->fields);
        *own = *l->style;
        own->one_line |= record_is_thread(event); /* priority and policy stay on the line */
        own->symbols = print_symbols_apply(event) ? own->symbols : NULL;
        if (event->dumped && own->dialect == LINE_KYMO && l->nfields < KEV_ARGS_MAX) {
            own->one_line |= l->nfields <= 2;
            l->fields[l->nfields++] = (struct kev_field){.arg = &dump_mark, .value = 1};
        }
        l->style = own;
    }
}

void line_event(struct out *out, const struct kev *kev, const struct kev_event *event,
                const struct line_style *style)
{
    struct line_style own;
    struct line l; /* not zeroed: it is large, and this is done for each event */

    l.out = out;
    l.kev = kev;
    l.event = event;
    l.style = style;
    l.desc = NULL;
    l.nfields = 0;
    print_line_classify_event(&l, &own);

    if (style->format != NULL) {
        put_format(&l);
    } else {
        print_line_put_head(out, kev, event, style);
        put_name(&l);
    }

    switch (l.kind) {
    case LINE_USER:
        line_user_body(out, event, l.is_text, l.text_len, style);
        break;
    case LINE_CONTROL:
        put_control(out, event, style);
        break;
    case LINE_CALL:
        print_line_put_call(&l);
        break;
    case LINE_INT:
        line_int_body(out, event, l.fields, l.nfields, style);
        break;
    case LINE_GROUP:
        line_fields(out, l.fields, l.nfields, l.style);
        break;
    case LINE_UNKNOWN:
        line_words(out, event, style);
        break;
    }
}
