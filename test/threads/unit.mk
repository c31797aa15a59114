# SPDX-License-Identifier: BSD-2-Clause
# CPUs that are threads of this machine, under a race detector: what QEMU on an x86 host can't show,
# because that host keeps stores in order. A weaker memory order or a lock left out is a reported race.

UNIT_THREADS := $(addprefix $(B)/unit/threads_,ring dynvar speculate)
UNIT_TESTS += $(UNIT_THREADS)
THREADS_FLAGS := $(HOST_CFLAGS) -O1 -D_GNU_SOURCE -include test/threads/yield.h \
	-fsanitize=thread --param=tsan-distinguish-volatile=1
THREADS_TRACE_FLAGS := -DTRACE_PORT_OPS_H='"trace/port/host.h"' \
	-DD_PORT_OPS_H='"test/threads/d_ops.h"'
THREADS_COMMA := ,
THREADS_WRAP := $(addprefix -Wl$(THREADS_COMMA)--wrap=__tsan_atomic32_,load store \
	compare_exchange_strong)

$(B)/unit/threads_ring: test/threads/ring_test.c test/threads/volatile.c trace/ring.c
$(B)/unit/threads_dynvar: test/threads/dynvar_test.c test/threads/volatile.c trace/d/dynvar.c \
	trace/d/dynvar_memory.c
$(B)/unit/threads_speculate: test/threads/speculate_test.c test/threads/volatile.c \
	test/threads/atomic_yield.c trace/d/speculate.c trace/d/buffer.c
$(B)/unit/threads_speculate: THREADS_LINK := $(THREADS_WRAP)

$(UNIT_THREADS): $(wildcard test/threads/*.h trace/*.h trace/d/*.h trace/port/host.h)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(THREADS_FLAGS) $(THREADS_TRACE_FLAGS) -o $@ $(filter %.c,$^) $(THREADS_LINK) -lcmocka -lpthread
