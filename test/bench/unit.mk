# SPDX-License-Identifier: BSD-2-Clause
# d_bench: the D machine as it is counted, with the flags of the host's command. No test: `bench`
# runs it.

D_BENCH_OBJS := $(patsubst %.c,$(B)/bench/d/%.o,$(filter-out %/subr_none.c trace/dtrace/control% trace/dtrace/helper%,$(wildcard \
	trace/dtrace/*.c)) test/bench/d_bench.c test/bench/d_bench_port.c host/self/port_nolog.c trace/dtrace/none/retained.c test/trace/dtrace/machine/assemble.c \
	test/trace/dtrace/machine/builder.c)

$(B)/bench/d/%.o: %.c | $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -DDTRACE_PORT_OPS_H='"test/bench/d_bench_ops.h"' -MMD -MP -c -o $@ $<

$(B)/bench/d_bench: $(D_BENCH_OBJS)
	$(Q)$(HOST_CC) -o $@ $^


-include $(D_BENCH_OBJS:.o=.d)
