/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loading one buffer: reads its slots, gives each its 64-bit time, and checks all of them before
 * any is handed out. Strict: the first that can't be is an error with its offset. Recovering: it is
 * marked bad and passed over.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"
#include "abi/sys/trace.h"
#include "lib/capture/check.h"

#define UNKNOWN UINT32_MAX /* a high word */

static int reader_buffer_room_make(struct kev *kev, struct kev_lane *lane, uint32_t slots,
                                   struct kev_error *error)
{
    if (slots <= lane->room) {
        return 0;
    }
    free(lane->slots);
    free(lane->times);
    free(lane->bad);
    lane->slots = malloc(slots * sizeof(*lane->slots));
    lane->times = malloc(slots * sizeof(*lane->times));
    lane->bad = malloc(slots);
    lane->room = slots;
    if (lane->slots == NULL || lane->times == NULL || lane->bad == NULL) {
        lane->room = 0;
        return kev_fail_memory(error, kev->file.path, "out of memory");
    }
    return 0;
}

/* Over the slots as the writer saw them: in the other byte order each word is swapped, text too.
 * The same sum as capture_sum_slots() makes, but a slot's words don't wait for one another. */
uint64_t kev_slots_sum(const struct kev *kev, uint64_t sum, const void *slots, uint32_t count)
{
    const uint64_t f = CAPTURE_SUM_FACTOR, f2 = f * f, f3 = f2 * f, f4 = f3 * f;
    bool swapped = kev->info.swapped;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t w[4];

        memcpy(w, (const uint8_t *)slots + (size_t)i * TRACE_SLOT_BYTES, sizeof(w));
        for (unsigned j = 0; swapped && j < 4; j++) {
            w[j] = __builtin_bswap32(w[j]);
        }
        sum = sum * f4 + (w[0] * f3 + w[1] * f2 + (w[2] * f + w[3]));
    }
    return sum;
}

static int slots_read(struct kev *kev, struct kev_lane *lane, const struct kev_entry *entry,
                      struct kev_error *error)
{
    size_t bytes = (size_t)entry->slots * TRACE_SLOT_BYTES;
    long len;

    if (reader_buffer_room_make(kev, lane, entry->slots, error) != 0) {
        return -1;
    }
    len = kev_file_read(&kev->file, entry->offset, lane->slots, bytes, error);
    if (len < 0) {
        return -1;
    }
    if ((size_t)len != bytes) {
        return kev_file_truncated(&kev->file, error);
    }
    lane->sum = 0;
    if (entry->checked) {
        lane->sum = kev_slots_sum(kev, CAPTURE_SUM_FIRST, lane->slots, entry->slots);
        lane->sum = capture_sum_place(lane->sum, entry->place);
    }
    for (uint32_t i = 0; kev->info.swapped && i < entry->slots; i++) {
        kev_slot_swap(kev, &lane->slots[i]);
    }
    lane->nslots = entry->slots;
    lane->offset = entry->offset;
    lane->clean = false;
    lane->at = 0;
    memset(lane->bad, 0, entry->slots);
    return 0;
}

static bool reader_buffer_is_control(uint32_t header, unsigned event)
{
    return (header & ~TRACE_CPU_MASK) ==
           TRACE_HEADER(0, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, event);
}

/* Returns the error in a slot's header, NULL if there is none. */
static const char *header_wrong(const struct kev *kev, uint32_t header, uint32_t cpu_bits,
                                uint32_t i)
{
    if ((header & TRACE_CPU_MASK) != cpu_bits) {
        return "a slot of another CPU inside the buffer";
    }
    if ((header & kev->reserved_bits) != 0 || TRACE_GET_CLASS(header) == TRACE_CLASS_EMPTY) {
        return "a slot with an impossible header";
    }
    if (i > 0 && reader_buffer_is_control(header, TRACE_CONTROL_BUFFER)) {
        return "a BUFFER slot inside the buffer";
    }
    if (kev->checked && (reader_buffer_is_control(header, TRACE_CONTROL_CHECK) ||
                         reader_buffer_is_control(header, TRACE_CONTROL_BUFFER_END) ||
                         reader_buffer_is_control(header, TRACE_CONTROL_END))) {
        return "a CHECK, BUFFER_END or END slot inside the buffer";
    }
    return NULL;
}

static int slot_bad(struct kev *kev, struct kev_lane *lane, const struct kev_entry *entry,
                    uint32_t i, const char *what, struct kev_error *error)
{
    uint64_t offset = entry->offset + (uint64_t)i * TRACE_SLOT_BYTES;

    if (!kev->options.recover) {
        return kev_fail(
            kev, error, offset,
            "%s (buffer %" PRIu32 " of CPU %u, header 0x%08" PRIx32 ", time 0x%08" PRIx32 ")", what,
            entry->sequence, entry->cpu, lane->slots[i].header, lane->slots[i].time);
    }
    kev_note(kev, offset, what);
    kev->damage.slots++;
    lane->bad[i] = 1;
    return 0;
}

/* The time of slot i, given the high word of the previous TIME, which it may change. */
static uint64_t slot_time(const struct trace_slot *slot, uint64_t *high)
{
    if (reader_buffer_is_control(slot->header, TRACE_CONTROL_TIME)) {
        *high = slot->d1;
        if (slot->time < slot->d2) {
            return (*high + 1) << 32 | slot->time;
        }
    }
    return *high << 32 | slot->time;
}

/* Recovering: slot i is before slot `last`: one of them lies. Is it the earlier one? */
static bool earlier_lies(const struct kev_lane *lane, uint32_t i, uint32_t last, uint32_t before)
{
    return last > 1 && before != last && lane->times[i] >= lane->times[before];
}

/* An event of its own, at the time of the CPU's previous one. BUFFER and TIME are no events. */
static bool stamp_is_equal(struct kev_lane *lane, uint32_t i)
{
    uint32_t header = lane->slots[i].header, structure = TRACE_GET_STRUCT(header);
    bool event = (structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB) &&
                 !reader_buffer_is_control(header, TRACE_CONTROL_BUFFER) &&
                 !reader_buffer_is_control(header, TRACE_CONTROL_TIME);
    bool equal = event && lane->event_known && lane->times[i] == lane->event_time;

    if (event) {
        lane->event_known = true;
        lane->event_time = lane->times[i];
    }
    return equal;
}

struct check {
    uint64_t high;
    uint64_t high_before;  /* that of slot `before` */
    uint32_t last, before; /* the last two good slots */
};

static int slot_check(struct kev *kev, struct kev_lane *lane, const struct kev_entry *entry,
                      uint32_t i, struct check *check, struct kev_error *error)
{
    const char *wrong =
        header_wrong(kev, lane->slots[i].header, (uint32_t)entry->cpu << TRACE_CPU_SHIFT, i);
    uint64_t high = check->high;

    if (wrong != NULL) {
        return slot_bad(kev, lane, entry, i, wrong, error);
    }
    lane->times[i] = slot_time(&lane->slots[i], &high);
    if (i > 0 && lane->times[i] < lane->times[check->last]) {
        bool lies = kev->options.recover && earlier_lies(lane, i, check->last, check->before);

        if (!lies) {
            return slot_bad(kev, lane, entry, i, "time runs backwards", error);
        }
        slot_bad(kev, lane, entry, check->last, "time runs backwards", error);
        check->last = check->before;
        if (!reader_buffer_is_control(lane->slots[i].header, TRACE_CONTROL_TIME)) {
            high = check->high_before;
            lane->times[i] = slot_time(&lane->slots[i], &high);
        }
    }
    if (kev->checked && stamp_is_equal(lane, i)) {
        return slot_bad(kev, lane, entry, i, "an event has the time of the one before it", error);
    }
    check->before = check->last;
    check->high_before = check->high;
    check->last = i;
    check->high = high;
    return 0;
}

/* The slots can be, each for itself: are they those that were written? */
static int sum_check(struct kev *kev, struct kev_lane *lane, const struct kev_entry *entry,
                     uint64_t slots_bad, struct kev_error *error)
{
    bool same =
        lane->sum == entry->check && lane->slots[entry->slots - 1].time == entry->check_time;

    if (!entry->checked || same || kev->damage.slots != slots_bad) {
        return 0;
    }
    if (!kev->options.recover) {
        return kev_fail(kev, error, entry->offset,
                        "buffer %" PRIu32 " of CPU %u is damaged: its sum is 0x%016" PRIx64
                        ", CHECK has 0x%016" PRIx64,
                        entry->sequence, entry->cpu, lane->sum, entry->check);
    }
    kev_note(kev, entry->offset, "a buffer is damaged: CHECK has another sum");
    kev->damage.sums++;
    return 0;
}

/* The state of a check that a buffer is clean, one slot after the other. */
struct clean {
    uint64_t high, last; /* the last TIME's high word, in its place; the last slot's time */
    uint64_t event_time; /* like the lane's; UINT64_MAX: no event is known */
    uint32_t open;       /* header of the last event, without its structure */
    bool closed;         /* no combine event is open */
};

/* CONTROL slots, few in a buffer. */
static inline bool control_clean(const struct kev *kev, const struct trace_slot *slot, uint32_t i,
                                 struct clean *clean, bool *event)
{
    uint64_t high = clean->high >> 32;
    bool buffer = reader_buffer_is_control(slot->header, TRACE_CONTROL_BUFFER);
    bool mark = reader_buffer_is_control(slot->header, TRACE_CONTROL_CHECK) ||
                reader_buffer_is_control(slot->header, TRACE_CONTROL_BUFFER_END) ||
                reader_buffer_is_control(slot->header, TRACE_CONTROL_END);
    uint64_t time = slot_time(slot, &high);

    clean->high = high << 32;
    *event = !buffer && !reader_buffer_is_control(slot->header, TRACE_CONTROL_TIME);
    return (i == 0 || !buffer) && !(kev->checked && mark) && time >> 32 == high;
}

/*
 * The usual buffer: every slot is sound, and every combine event is whole. Then its slots need no
 * look at each when they are joined. True if so: the times are filled in. False, nothing changed
 * but those: slot_check() finds out what is wrong, if anything is.
 */
static bool buffer_is_clean(const struct kev *kev, struct kev_lane *lane,
                            const struct kev_entry *entry, struct clean *clean)
{
    const uint32_t cpu_bits = (uint32_t)entry->cpu << TRACE_CPU_SHIFT;
    const bool equal_bad = kev->checked;
    const uint32_t reserved = kev->reserved_bits;

    for (uint32_t i = 0; i < entry->slots; i++) {
        const struct trace_slot *slot = &lane->slots[i];
        uint32_t header = slot->header, structure = TRACE_GET_STRUCT(header);
        bool event = true;

        if ((header & (TRACE_CPU_MASK | reserved)) != cpu_bits ||
            TRACE_GET_CLASS(header) == TRACE_CLASS_EMPTY) {
            return false;
        }
        if (TRACE_GET_CLASS(header) == TRACE_CLASS_CONTROL &&
            !control_clean(kev, slot, i, clean, &event)) {
            return false;
        }
        uint64_t time = clean->high | slot->time;
        if (i > 0 && time < clean->last) {
            return false;
        }
        if (structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB) {
            if (!clean->closed || (event && equal_bad && time == clean->event_time)) {
                return false;
            }
            clean->event_time = event ? time : clean->event_time;
            clean->open = header & ~TRACE_STRUCT_MASK;
            clean->closed = structure == TRACE_STRUCT_S;
        } else {
            if (clean->closed || (header & ~TRACE_STRUCT_MASK) != clean->open ||
                time != clean->last) {
                return false;
            }
            clean->closed = structure == TRACE_STRUCT_CE;
        }
        lane->times[i] = clean->last = time;
    }
    return clean->closed;
}

static bool clean_check(struct kev *kev, struct kev_lane *lane, const struct kev_entry *entry)
{
    struct clean clean = {.high = entry->time & ~(uint64_t)UINT32_MAX,
                          .event_time = lane->event_known ? lane->event_time : UINT64_MAX,
                          .closed = true};

    if (lane->join.nopen > 0 || entry->slots > KEV_WORDS_MAX / 2 ||
        !buffer_is_clean(kev, lane, entry, &clean)) {
        return false;
    }
    lane->event_known |= clean.event_time != UINT64_MAX;
    lane->event_time = clean.event_time;
    return true;
}

static int kymo_check(struct kev *kev, struct kev_lane *lane, const struct kev_entry *entry,
                      struct kev_error *error)
{
    struct check check = {.high = entry->time >> 32, .high_before = entry->time >> 32};
    uint64_t slots_bad = kev->damage.slots;

    lane->clean = clean_check(kev, lane, entry);
    lane->times[0] = lane->clean ? lane->times[0] : entry->time;
    for (uint32_t i = 0; !lane->clean && i < entry->slots; i++) {
        if (slot_check(kev, lane, entry, i, &check, error) != 0) {
            return -1;
        }
    }
    return sum_check(kev, lane, entry, slots_bad, error);
}

/* DROPPED totals after the last buffer: they come last whatever their stamp says. */
static void tail_time(struct kev_lane *lane)
{
    uint64_t time = (lane->last_time & ~0xffffffffull) | lane->slots[0].time;

    for (uint32_t i = 0; i < lane->nslots; i++) {
        lane->times[i] = time < lane->last_time ? lane->last_time : time;
    }
}

/* ---- another kernel's stream ------------------------------------------------------- */

/*
 * Times in another kernel's stream: the high word is that of the CPU's last TIME, wherever in the
 * stream it was. Before a CPU's first TIME its first one serves. A low word that falls by more than
 * half its range without a TIME is a rollover. Slots of class EMPTY are filler.
 */
/* An event of its own at the time of its CPU's previous one; BUFFER and TIME are no events, and the
 * slots of a combine event have one time. */
static bool stream_stamp_is_equal(struct kev_lane *lane, const struct trace_slot *slot,
                                  uint64_t time)
{
    unsigned cpu = TRACE_GET_CPU(slot->header), structure = TRACE_GET_STRUCT(slot->header);
    unsigned event = TRACE_GET_EVENT(slot->header);
    uint64_t bit = UINT64_C(1) << cpu;

    if ((structure != TRACE_STRUCT_S && structure != TRACE_STRUCT_CB) ||
        (TRACE_GET_CLASS(slot->header) == TRACE_CLASS_CONTROL &&
         (event == TRACE_CONTROL_BUFFER || event == TRACE_CONTROL_TIME ||
          event == TRACE_CONTROL_BUFFER_END))) {
        return false;
    }
    bool equal = (lane->stamped & bit) != 0 && lane->stamp[cpu] == time;
    lane->stamped |= bit;
    lane->stamp[cpu] = time;
    return equal;
}

static bool is_time(const struct trace_slot *slot)
{
    return TRACE_GET_CLASS(slot->header) == TRACE_CLASS_CONTROL &&
           TRACE_GET_EVENT(slot->header) == TRACE_CONTROL_TIME;
}

static uint32_t first_high(const struct kev_lane *lane, unsigned cpu)
{
    for (uint32_t i = 0; i < lane->nslots; i++) {
        if (TRACE_GET_CPU(lane->slots[i].header) == cpu && is_time(&lane->slots[i])) {
            return lane->slots[i].d1;
        }
    }
    return 0;
}

static void stream_times(struct kev *kev, struct kev_lane *lane)
{
    for (uint32_t i = 0; i < lane->nslots; i++) {
        const struct trace_slot *slot = &lane->slots[i];
        unsigned cpu = TRACE_GET_CPU(slot->header);

        if (TRACE_GET_CLASS(slot->header) == TRACE_CLASS_EMPTY) {
            lane->bad[i] = 1;
            lane->times[i] = lane->last_time;
            kev->damage.slots++;
            continue;
        }
        if (lane->msb[cpu] == UNKNOWN) {
            lane->msb[cpu] = first_high(lane, cpu);
        } else if (slot->time < lane->low[cpu] && lane->low[cpu] - slot->time > 0x80000000u) {
            lane->msb[cpu]++;
        }
        if (is_time(slot)) {
            lane->msb[cpu] = slot->d1;
        }
        lane->low[cpu] = slot->time;
        lane->times[i] = (uint64_t)lane->msb[cpu] << 32 | slot->time;
        kev->info.equal_stamps += stream_stamp_is_equal(lane, slot, lane->times[i]);
    }
}

/* ---- a buffer ---------------------------------------------------------------------- */

int kev_buffer_load(struct kev *kev, struct kev_lane *lane, const struct kev_entry *entry,
                    struct kev_error *error)
{
    if (slots_read(kev, lane, entry, error) != 0) {
        return -1;
    }
    switch (entry->kind) {
    case KEV_BUFFER:
        return kymo_check(kev, lane, entry, error);
    case KEV_TAIL:
        tail_time(lane);
        return 0;
    default:
        stream_times(kev, lane);
        return 0;
    }
}
