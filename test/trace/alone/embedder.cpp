/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An embedder in C++17 (docs/guide/elsewhere.md): includes every header that the page promises, in
 * one extern "C" as the page says, and logs an event at a site of its own. headers.h is generated:
 * test/trace/alone/alone.mk.
 */
extern "C" {
#include "build/trace-alone/headers.h"
#include "test/trace/alone/alone.h"
}

extern "C" void alone_cxx_event(uint32_t i)
{
    trace_comm_snd_message(i, 7);
}
