/* SPDX-License-Identifier: BSD-2-Clause */
/* See need.h. Tested by test/tracelogger/need_test.c, test/board/programs/t_advice.c. */
#include "tracelogger/need.h"

#include "lib/capture/buffers.h"

#define AFTER_BUFFER_AND_TIME 2
/* While idle the logger is assumed to be slower than its best speed: 3 to 2. */
#define SLOWER(cycles) ((cycles) + (cycles) / 2)

static struct {
    uint32_t sequence;      /* of the last buffer taken */
    uint64_t gaps;          /* missing buffers not reported by any DROPPED: perhaps a ring's */
    uint64_t backlog, most; /* slots beyond the existing buffers */
    uint64_t overwritten, missed; /* buffers, events: reported by buffers */
} cpus[CAPTURE_CPUS_MAX];

static struct {
    bool idle;
    uint64_t since; /* start of the current idle or busy period */
    uint64_t idled; /* cycles not yet applied to the backlog */
    uint64_t least; /* cycles for a buffer; 0: not known */
} logger;

/* Events that found no buffer are assumed to take as many slots as those of the reporting
 * buffer. */
static uint64_t need_slots_of(uint64_t events, const struct trace_slot *slots, uint32_t count)
{
    uint32_t there = 0;

    for (uint32_t i = AFTER_BUFFER_AND_TIME; i < count; i++) {
        uint32_t structure = TRACE_GET_STRUCT(slots[i].header);

        there += structure == TRACE_STRUCT_S || structure == TRACE_STRUCT_CB;
    }
    return there ? events * count / there : events;
}

void need_note(const struct kymo_trace_buffer *taken, const struct trace_slot *slots)
{
    uint32_t cpu = taken->cpu % CAPTURE_CPUS_MAX;
    uint64_t missed = 0;
    bool overwritten = false;

    cpus[cpu].gaps += taken->sequence - cpus[cpu].sequence - 1;
    cpus[cpu].sequence = taken->sequence;
    for (uint32_t i = AFTER_BUFFER_AND_TIME; i < taken->slots; i++) {
        uint32_t reason = slots[i].d1 >> 8;

        if (TRACE_GET_CLASS(slots[i].header) != TRACE_CLASS_CONTROL ||
            TRACE_GET_EVENT(slots[i].header) != TRACE_CONTROL_DROPPED) {
            break;
        }
        overwritten |= reason == KYMO_DROP_OVERWRITTEN;
        missed += reason == KYMO_DROP_NOBUFFER ? slots[i].d2 : 0;
    }
    if (overwritten) {
        cpus[cpu].overwritten += cpus[cpu].gaps;
        cpus[cpu].backlog += cpus[cpu].gaps * TRACE_BUFFER_SLOTS;
        cpus[cpu].gaps = 0;
    }
    if (missed != 0) {
        cpus[cpu].missed += missed;
        cpus[cpu].backlog += need_slots_of(missed, slots, taken->slots);
    }
    if (cpus[cpu].backlog > cpus[cpu].most) {
        cpus[cpu].most = cpus[cpu].backlog;
    }
}

static uint64_t need_count_backlog(void)
{
    uint64_t all = 0;

    for (uint32_t cpu = 0; cpu < CAPTURE_CPUS_MAX; cpu++) {
        all += cpus[cpu].backlog;
    }
    return all;
}

bool need_is_open(void)
{
    return need_count_backlog() != 0;
}

void need_idle(uint64_t now)
{
    logger.since = logger.idle ? logger.since : now;
    logger.idle = true;
}

/* Reduces the backlog by the slots that would have been written in idle time, once the logger's
 * speed is known. */
static void carry_backlog(void)
{
    uint64_t slots, all = need_count_backlog();

    if (all == 0 || logger.least == 0) {
        return;
    }
    slots = logger.idled / SLOWER(logger.least) * TRACE_BUFFER_SLOTS;
    slots = slots < all ? slots : all;
    for (uint32_t cpu = 0; cpu < CAPTURE_CPUS_MAX && slots != 0; cpu++) {
        cpus[cpu].backlog -= cpus[cpu].backlog * slots / all; /* each CPU gets its share */
    }
    logger.idled = 0;
}

void need_busy(uint64_t now)
{
    logger.idled += logger.idle ? now - logger.since : 0;
    logger.idle = false;
    logger.since = now;
    carry_backlog();
}

void need_carried(uint64_t now, unsigned buffers)
{
    uint64_t each = (now - logger.since) / buffers;

    each = each ? each : 1;
    if (logger.least == 0 || each < logger.least) {
        logger.least = each;
    }
    carry_backlog();
}

uint64_t need_slots(uint32_t cpu, const struct kymo_trace_loss *loss, uint64_t slots,
                    uint64_t written)
{
    bool meant = loss->lost_reason[KYMO_DROP_OVERWRITTEN] == 0; /* a ring's: not a loss */
    uint64_t missed = loss->lost_reason[KYMO_DROP_NOBUFFER] - cpus[cpu].missed;
    uint64_t more = 0;

    if (!meant && loss->buffers_overwritten > cpus[cpu].overwritten) {
        more = (loss->buffers_overwritten - cpus[cpu].overwritten) * TRACE_BUFFER_SLOTS;
    }
    more += written ? missed * slots / written : missed;
    more += cpus[cpu].backlog;
    return more > cpus[cpu].most ? more : cpus[cpu].most;
}
