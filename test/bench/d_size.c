/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sizes of the D machine's structures on a small board, as sizes of symbols: d_size.py reads them.
 * Nothing of it runs.
 */
#include "trace/d/consumer.h"

#define SIZE(name, type) char size_##name[sizeof(type)]

SIZE(consumer, struct d_consumer);
SIZE(cpu, struct d_consumer_cpu);
SIZE(ecb, struct d_ecb);
SIZE(shape, struct d_shape);
SIZE(action, struct d_action);
SIZE(aggregation, struct d_aggregation);
SIZE(object, struct d_object);
SIZE(insn, struct d_insn);
SIZE(speculation, struct d_speculation);
SIZE(buffer, struct d_buffer);
SIZE(chunk, struct d_chunk);
SIZE(chain, struct d_chain);
SIZE(probe, struct d_probe);
