/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks whether these slots can be consecutive output of a kernel, for buffers without a seal: see
 * retain.h. Changes nothing, reads nothing outside the slots.
 */
#include "lib/retain/internal.h"

#define RESERVED ~(TRACE_EVENT_MASK | TRACE_CLASS_MASK | TRACE_CPU_MASK | TRACE_STRUCT_MASK)

struct walk {
    uint32_t cpu;
    uint32_t open; /* class and event of the combine event under way; 0: none is */
    uint64_t time; /* of the last slot */
};

static bool class_is_known(uint32_t class)
{
    return (class >= TRACE_CLASS_CONTROL && class <= TRACE_CLASS_COMM) || class == TRACE_CLASS_D ||
           class == TRACE_CLASS_KYMO_CALL;
}

/* TIME and DROPPED; BUFFER stands at the beginning only. */
static bool control_fits(const struct trace_slot *slot)
{
    switch (TRACE_GET_EVENT(slot->header)) {
    case TRACE_CONTROL_TIME:
        return slot->d2 == slot->time;
    case TRACE_CONTROL_DROPPED:
        return slot->d1 >> 8 > 0 && slot->d1 >> 8 < KYMO_TRACE_REASONS &&
               (slot->d1 & 0xff) < KYMO_TRACE_CLASSES;
    default:
        return false;
    }
}

static bool begins(struct walk *walk, const struct trace_slot *slot)
{
    uint32_t what = slot->header & (TRACE_CLASS_MASK | TRACE_EVENT_MASK);
    bool control = TRACE_GET_CLASS(slot->header) == TRACE_CLASS_CONTROL;
    uint32_t high = (uint32_t)(walk->time >> 32);

    if (control && (TRACE_GET_STRUCT(slot->header) != TRACE_STRUCT_S || !control_fits(slot))) {
        return false;
    }
    if (control && TRACE_GET_EVENT(slot->header) == TRACE_CONTROL_TIME) {
        high = slot->d1;
    }
    uint64_t time = (uint64_t)high << 32 | slot->time;
    if (walk->open || time <= walk->time) {
        return false;
    }
    walk->time = time;
    walk->open = TRACE_GET_STRUCT(slot->header) == TRACE_STRUCT_CB ? what : 0;
    return true;
}

static bool fits(struct walk *walk, const struct trace_slot *slot)
{
    uint32_t structure = TRACE_GET_STRUCT(slot->header);

    if ((slot->header & RESERVED) || TRACE_GET_CPU(slot->header) != walk->cpu ||
        !class_is_known(TRACE_GET_CLASS(slot->header))) {
        return false;
    }
    if (structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB) {
        return begins(walk, slot);
    }
    if (walk->open != (slot->header & (TRACE_CLASS_MASK | TRACE_EVENT_MASK)) ||
        slot->time != (uint32_t)walk->time) {
        return false;
    }
    walk->open = structure == TRACE_STRUCT_CE ? 0 : walk->open;
    return true;
}

uint32_t retain_plausible(const struct trace_slot *slots, uint32_t count, uint32_t cpu,
                          uint32_t sequence, uint64_t *time)
{
    struct walk walk = {.cpu = cpu, .time = *time};
    uint32_t whole = 2;

    if (count < 2 || slots[0].header != RETAIN_CONTROL(cpu, TRACE_CONTROL_BUFFER) ||
        slots[0].d1 != sequence || slots[1].header != RETAIN_CONTROL(cpu, TRACE_CONTROL_TIME) ||
        slots[0].time >= slots[1].time ||
        ((uint64_t)slots[1].d1 << 32 | slots[0].time) <= walk.time || !fits(&walk, &slots[1])) {
        return 0;
    }
    *time = walk.time;
    for (uint32_t i = 2; i < count && fits(&walk, &slots[i]); i++) {
        if (!walk.open) {
            whole = i + 1;
            *time = walk.time;
        }
    }
    return whole;
}
