/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fabricating captures. See mkcapture.h.
 */
#include "test/host/fabricate/mkcapture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/syspage.h"

#define SUM_FACTOR 0x9e3779b5u
#define OPENING_SLOTS 8 /* most that a buffer opens with: BUFFER, TIME, DROPPED */
#define PAGE_TABLE 4096 /* bytes of its tables of events and of calls, each at most */
#define PAGE_BYTES (2 * PAGE_TABLE + 4096)
#define COMMON_EVENTS 4 /* slots left free for BUFFER, TIME and a DROPPED */

static void put(struct mk *mk, const void *bytes, size_t len)
{
    if (mk->len + len > mk->room) {
        mk->room = 2 * (mk->len + len);
        mk->bytes = realloc(mk->bytes, mk->room);
        if (mk->bytes == NULL) {
            abort();
        }
    }
    memcpy(mk->bytes + mk->len, bytes, len);
    mk->len += len;
}

static void put_attr(struct mk *mk, const char *key, const char *value)
{
    char text[256];

    snprintf(text, sizeof(text), "TRACE_%s::%s", key, value);
    put(mk, text, strlen(text));
}

static const char events_text[] = "4 1 THRUNNING D:pid,D:tid D:pid,D:tid,D:priority,D:policy\n"
                                  "5 6 MMAP D:pid,X:addr,X:len,H:flags "
                                  "D:pid,X:addr,X:len,H:flags,H:prot,D:fd,X:align,X:offset,N:name\n"
                                  "7 0 SND_MESSAGE H:rcvid,D:pid =\n"
                                  "9 7 OLD_EVENT H:x,D:y =\n";
static const char calls_text[] =
    "11 MSG_SENDV P:coid,P:msg0 P:coid,P:sparts,P:rparts,P:msg0,P:msg1,P:msg2 P:ret_val,P:rmsg0 "
    "P:ret_val,P:rmsg0,P:rmsg1,P:rmsg2\n"
    "90 SCHED_YIELD - - P:ret_val P:ret_val\n"
    "108 NAME_ATTACH P:name,P:chid = P:ret_val =\n";
static const char errors_text[] = "22 EINVAL\n116 ETIMEDOUT\n";
static const char states_text[] = "0 THDEAD\n1 THRUNNING\n6 THREPLY\n";
static const char irqs_text[] = "27 timer\n33 uart0\n";

static void table_put(uint8_t *page, uint32_t *at, uint32_t *off, uint32_t *len, const char *text)
{
    *off = *at;
    *len = (uint32_t)strlen(text);
    memcpy(page + *at, text, *len);
    *at += *len;
}

static size_t page_make(const struct mk *mk, const struct mk_options *options, uint8_t *page)
{
    char events[PAGE_TABLE], calls[PAGE_TABLE];
    struct kymo_syspage head = {
        .magic = KYMO_SYSPAGE_MAGIC,
        .version = options->page == 0 ? KYMO_SYSPAGE_VERSION : options->page,
        .ncpu = mk->ncpu,
        .cycles_per_sec = 1000000,
        .skew_cycles = 3,
        .word_bits = 64,
        .buffer_slots = TRACE_BUFFER_SLOTS,
        .board = "made-up",
        .cpu_name = "Cortex-Z",
        .release = "0.0",
        .image = "drawn",
    };
    uint32_t size = options->page == 0   ? sizeof(head)
                    : options->page == 1 ? offsetof(struct kymo_syspage, image)
                                         : offsetof(struct kymo_syspage, errors_off);
    uint32_t at = size;

    table_put(page, &at, &head.build_id_off, &head.build_id_len,
              options->build_id != NULL ? options->build_id : "\x12\x34\xab");
    snprintf(events, sizeof(events), "%s%s", events_text,
             options->events == NULL ? "" : options->events);
    table_put(page, &at, &head.events_off, &head.events_len, events);
    snprintf(calls, sizeof(calls), "%s%s", calls_text,
             options->calls == NULL ? "" : options->calls);
    table_put(page, &at, &head.kercalls_off, &head.kercalls_len, calls);
    table_put(page, &at, &head.states_off, &head.states_len, states_text);
    table_put(page, &at, &head.irqs_off, &head.irqs_len, irqs_text);
    if (options->page == 0) {
        table_put(page, &at, &head.errors_off, &head.errors_len, errors_text);
    }
    head.size = at;
    memcpy(page, &head, size);
    return at;
}

/* CHECK and BUFFER_END (docs/reference/format.md §4) of the group that begins at byte `at` of the
 * file. */
static void trailer_put(struct mk *mk, unsigned cpu, size_t at, uint32_t time, uint64_t sum)
{
    sum = (sum * SUM_FACTOR + (uint32_t)(at / 16)) * SUM_FACTOR + mk->cpu[cpu].buffers;
    uint32_t low = (uint32_t)sum, high = (uint32_t)(sum >> 32);

    mk_slot(mk, &(struct trace_slot){(uint32_t)cpu << 24 | 1 << 10 | 16, time, low, high});
    mk_slot(mk, &(struct trace_slot){(uint32_t)cpu << 24 | 1 << 10 | 4, time, 0xe6e6e6e6u,
                                     0xe6e6e6e6u});
    mk->all = (mk->all * SUM_FACTOR + low) * SUM_FACTOR + high;
}

static uint64_t slot_sum(uint64_t sum, const struct trace_slot *slot)
{
    sum = sum * SUM_FACTOR + slot->header;
    sum = sum * SUM_FACTOR + slot->time;
    sum = sum * SUM_FACTOR + slot->d1;
    return sum * SUM_FACTOR + slot->d2;
}

static void header_put(struct mk *mk, const struct mk_options *options)
{
    uint8_t page[PAGE_BYTES];
    char number[32];
    size_t len = mk->foreign ? 64 : page_make(mk, options, page);

    if (mk->foreign) {
        memset(page, '\n', len); /* must not be taken for text */
    }
    put_attr(mk, "HEADER_BEGIN", "");
    put_attr(mk, "FILE_NAME", "made.kev");
    if (options->date != NULL) {
        put_attr(mk, "DATE", options->date);
    }
    if (options->boot != NULL) {
        put_attr(mk, "BOOT_DATE", options->boot);
    }
    if (options->wall != NULL) {
        put_attr(mk, "WALL_CLOCK", options->wall);
    }
    put_attr(mk, "VER_MAJOR", "1");
    put_attr(mk, "VER_MINOR", mk->checked ? "02" : "01");
    put_attr(mk, mk->swapped ? "BIG_ENDIAN" : "LITTLE_ENDIAN", "TRUE");
    put_attr(mk, "CYCLES_PER_SEC", "1000000");
    snprintf(number, sizeof(number), "%u", mk->ncpu);
    put_attr(mk, "CPU_NUM", number);
    put_attr(mk, "SYSNAME", mk->foreign ? "QNX" : "Kymo");
    snprintf(number, sizeof(number), "%zu", len);
    put_attr(mk, "SYSPAGE_LEN", number);
    if (options->ring) {
        put_attr(mk, "TRACELOGGER_ARGS", "tracelogger -r");
    }
    if (options->filters != NULL) {
        put_attr(mk, "FILTER_1", options->filters);
    }
    put_attr(mk, "HEADER_END", "");
    put(mk, page, len);
    if (mk->checked) {
        uint64_t sum = 1;

        for (size_t i = 0; i < mk->len; i++) {
            sum = sum * SUM_FACTOR + mk->bytes[i];
        }
        trailer_put(mk, 0, 0, 0, sum);
    }
    mk->slots_offset = mk->len;
}

struct mk *mk_new(const struct mk_options *options)
{
    struct mk *mk = calloc(1, sizeof(*mk));

    if (mk == NULL) {
        abort();
    }
    mk->ncpu = options->ncpu;
    mk->high_water = options->high_water == 0 ? TRACE_HIGH_WATER : options->high_water;
    mk->swapped = options->swapped;
    mk->foreign = options->foreign;
    mk->lossy = options->lossy;
    mk->refused = options->refused;
    mk->checked = options->checked;
    mk->all = 1;
    mk->random = options->seed * 2 + 1;
    for (unsigned i = 0; i < MK_CPUS; i++) {
        mk->cpu[i].now = options->start;
    }
    header_put(mk, options);
    return mk;
}

void mk_free(struct mk *mk)
{
    free(mk->bytes);
    free(mk);
}

void *mk_grown(void *all, uint32_t count, size_t bytes)
{
    if ((count & (count - 1)) != 0 && count != 0) {
        return all;
    }
    all = realloc(all, (count == 0 ? 1 : 2 * (size_t)count) * bytes);
    if (all == NULL) {
        abort();
    }
    return all;
}

uint32_t mk_random(struct mk *mk)
{
    mk->random = mk->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(mk->random >> 33);
}

void mk_slot(struct mk *mk, const struct trace_slot *slot)
{
    struct trace_slot out = *slot;

    if (mk->swapped) {
        out.header = __builtin_bswap32(out.header);
        out.time = __builtin_bswap32(out.time);
        out.d1 = __builtin_bswap32(out.d1);
        out.d2 = __builtin_bswap32(out.d2);
    }
    put(mk, &out, sizeof(out));
}

static void slot_add(struct mk *mk, unsigned cpu, uint32_t header, uint32_t time, uint32_t d1,
                     uint32_t d2)
{
    struct mk_cpu *c = &mk->cpu[cpu];

    c->buffer[c->slots++] =
        (struct trace_slot){header | (uint32_t)cpu << TRACE_CPU_SHIFT, time, d1, d2};
}

static void time_add(struct mk *mk, unsigned cpu)
{
    struct mk_cpu *c = &mk->cpu[cpu];

    c->high = (uint32_t)(c->now >> 32);
    slot_add(mk, cpu, TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME), (uint32_t)c->now,
             c->high, (uint32_t)c->now);
}

/* BUFFER, TIME and the DROPPED slots after them never straddle a rollover, as Kymo writes them
 * (docs/inside/ring.md, "Time"): another TIME between them would hide the DROPPED slots. */
static void buffer_open(struct mk *mk, unsigned cpu)
{
    struct mk_cpu *c = &mk->cpu[cpu];

    if ((uint32_t)c->now >= 0u - OPENING_SLOTS) {
        c->now = ((c->now >> 32) + 1) << 32;
    }
    slot_add(mk, cpu, TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_BUFFER),
             (uint32_t)c->now, ++c->sequence, 0);
    time_add(mk, cpu);
    c->now++;
}

/* Room for n slots at a time that has gone on. */
static void room_make(struct mk *mk, unsigned cpu, unsigned n, uint64_t after)
{
    struct mk_cpu *c = &mk->cpu[cpu];

    c->now += after == 0 ? 1 : after;
    if (c->slots >= mk->high_water || c->slots + n + COMMON_EVENTS > TRACE_BUFFER_SLOTS) {
        mk_flush(mk, cpu);
    }
    if (c->slots == 0) {
        buffer_open(mk, cpu);
    }
    if ((uint32_t)(c->now >> 32) != c->high) { /* after TIME's own stamp, too */
        time_add(mk, cpu);
        c->now++;
    }
}

void mk_event(struct mk *mk, unsigned cpu, uint64_t after, unsigned class, unsigned event,
              const uint32_t *words, unsigned nwords)
{
    unsigned n = nwords <= 2 ? 1 : (nwords + 1) / 2;
    uint32_t header = TRACE_HEADER(0, 0, class, event);

    room_make(mk, cpu, n, after);
    for (unsigned i = 0; i < n; i++) {
        uint32_t structure = n == 1       ? TRACE_STRUCT_S
                             : i == 0     ? TRACE_STRUCT_CB
                             : i + 1 == n ? TRACE_STRUCT_CE
                                          : TRACE_STRUCT_CC;

        slot_add(mk, cpu, header | structure, (uint32_t)mk->cpu[cpu].now,
                 2 * i < nwords ? words[2 * i] : 0, 2 * i + 1 < nwords ? words[2 * i + 1] : 0);
    }
}

void mk_string(struct mk *mk, unsigned cpu, uint64_t after, unsigned class, unsigned event,
               const uint32_t *words, unsigned nwords, const char *text)
{
    uint32_t all[64] = {0};
    size_t bytes = strlen(text) + 1;

    memcpy(all, words, nwords * sizeof(*words));
    memcpy(all + nwords, text, bytes);
    if (mk->swapped) { /* texts are not swapped: undo what mk_slot() will do */
        for (unsigned i = nwords; i < 64; i++) {
            all[i] = __builtin_bswap32(all[i]);
        }
    }
    mk_event(mk, cpu, after, class, event, all, nwords + (unsigned)((bytes + 3) / 4));
}

void mk_dropped(struct mk *mk, unsigned cpu, unsigned reason, unsigned class, uint32_t events)
{
    room_make(mk, cpu, 1, 1);
    slot_add(mk, cpu, TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_DROPPED),
             (uint32_t)mk->cpu[cpu].now, reason << 8 | class, events);
}

void mk_flush(struct mk *mk, unsigned cpu)
{
    struct mk_cpu *c = &mk->cpu[cpu];
    uint64_t sum = 1;
    size_t at = mk->len;

    if (c->slots == 0) {
        return;
    }
    c->buffer[0].d2 = c->slots;
    for (unsigned i = 0; i < c->slots; i++) {
        mk_slot(mk, &c->buffer[i]);
        sum = slot_sum(sum, &c->buffer[i]);
    }
    c->last_time = c->buffer[c->slots - 1].time;
    c->buffers++;
    c->last_sequence = c->buffer[0].d1;
    c->slots = 0;
    if (mk->checked) {
        trailer_put(mk, cpu, at, c->last_time, sum);
    }
}

void mk_tail(struct mk *mk, unsigned cpu, unsigned reason, unsigned class, uint32_t events)
{
    mk_tails(mk, cpu, &(struct mk_loss){reason, class, events}, 1);
}

void mk_tails(struct mk *mk, unsigned cpu, const struct mk_loss *losses, unsigned n)
{
    struct trace_slot slots[MK_TAILS];
    size_t at = mk->len;
    uint64_t sum = 1;

    for (unsigned i = 0; i < n; i++) {
        slots[i] = (struct trace_slot){(uint32_t)cpu << 24 | 1 << 10 | 8, mk->cpu[cpu].last_time,
                                       losses[i].reason << 8 | losses[i].class, losses[i].events};
        sum = slot_sum(sum, &slots[i]);
        mk_slot(mk, &slots[i]);
    }
    if (mk->checked) {
        trailer_put(mk, cpu, at, slots[0].time, sum);
    }
}

void mk_end(struct mk *mk)
{
    for (unsigned cpu = 0; mk->checked && cpu < mk->ncpu; cpu++) {
        struct mk_cpu *c = &mk->cpu[cpu];
        struct trace_slot end = {(uint32_t)cpu << 24 | 1 << 10 | 17, c->last_time, c->buffers,
                                 c->last_sequence};
        uint64_t sum = slot_sum(1, &end);
        size_t at = mk->len;

        mk_slot(mk, &end);
        sum = (sum * SUM_FACTOR + (uint32_t)mk->all) * SUM_FACTOR + (uint32_t)(mk->all >> 32);
        trailer_put(mk, cpu, at, c->last_time, sum);
    }
}

void mk_flush_all(struct mk *mk)
{
    for (unsigned i = 0; i < mk->ncpu; i++) {
        mk_flush(mk, i);
    }
}

void mk_lose_buffer(struct mk *mk, unsigned cpu)
{
    mk->cpu[cpu].slots = 0;
    mk->cpu[cpu].sequence++;
}

int mk_save(const struct mk *mk, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");
    bool bad;

    if (file == NULL) {
        return -1;
    }
    bad = fwrite(mk->bytes, 1, mk->len, file) != mk->len;
    bad |= (file == stdout ? fflush(file) : fclose(file)) != 0;
    return bad ? -1 : 0;
}

void mk_keep(const struct mk *mk)
{
    static unsigned kept;
    const char *folder = getenv("KEEP");
    char path[4096];

    if (folder != NULL) {
        snprintf(path, sizeof(path), "%s/%u.kev", folder, kept++);
        if (mk_save(mk, path) != 0) {
            perror(path);
            exit(1);
        }
    }
}
