/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See symbols.h. As long as no THRUNNING of a CPU has been seen (its class was off), its process is
 * unknown. Tested by test/board/events.py and test/host/symbols/check.
 */
#include "host/print/symbols.h"

#include "host/reader/kev.h"
#include "abi/sys/states.h"
#include "trace/slot.h"

/* trace/events.def, class SYSTEM */
#define ADDRESS 9
#define FUNCTION_EXIT 11

_Static_assert(sizeof(((struct print_symbols *)0)->runs) == KEV_CPUS * sizeof(uint32_t),
               "runs has one element for each CPU of a capture");

void print_symbols_follow(struct print_symbols *own, const struct kev_event *event)
{
    own->cpu = event->cpu;
    if (event->class == TRACE_CLASS_PR_TH && event->number == STATE_RUNNING) {
        own->runs[event->cpu] = kev_word(event, 0);
    }
    symbols_learn(own->symbols, event);
}

bool print_symbols_apply(const struct kev_event *event)
{
    unsigned number = event->number & ~TRACE_EVENT_64;

    return event->class == TRACE_CLASS_SYSTEM && number >= ADDRESS && number <= FUNCTION_EXIT;
}

void print_symbols_put(const struct print_symbols *own, struct out *out, uint64_t address)
{
    char text[SYMBOLS_NAME_MOST];

    if (symbols_name(own->symbols, own->runs[own->cpu], address, text)) {
        out_str(out, " (");
        out_str(out, text);
        out_char(out, ')');
    }
}
