/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sizes of the D machine's structures on a small board, as sizes of symbols: d_size.py reads them.
 * Nothing of it runs.
 */
#include "trace/dtrace/consumer.h"

#define SIZE(name, type) char size_##name[sizeof(type)]

SIZE(consumer, struct dtrace_consumer);
SIZE(cpu, struct dtrace_consumer_cpu);
SIZE(ecb, struct dtrace_ecb);
SIZE(shape, struct dtrace_shape);
SIZE(action, struct dtrace_action);
SIZE(aggregation, struct dtrace_aggregation);
SIZE(object, struct dtrace_object);
SIZE(insn, struct dtrace_insn);
SIZE(speculation, struct dtrace_speculation);
SIZE(buffer, struct dtrace_buffer);
SIZE(chunk, struct dtrace_chunk);
SIZE(chain, struct dtrace_chain);
SIZE(probe, struct dtrace_probe);
