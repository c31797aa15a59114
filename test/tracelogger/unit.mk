# SPDX-License-Identifier: BSD-2-Clause
# tracelogger's command line, on this machine; what it prints is looked at.

UNIT_TESTS += $(B)/unit/tracelogger_options
$(B)/unit/tracelogger_options: test/tracelogger/options_test.c tracelogger/options.c \
		$(wildcard tracelogger/option_*.c) tracelogger/options.def tracelogger/options.h \
		tracelogger/option_set.h test/tracelogger/said.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -DKYMO_KERNEL -include test/tracelogger/said.h \
		-fsanitize=address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) -lcmocka

UNIT_TESTS += $(B)/unit/tracelogger_filters
$(B)/unit/tracelogger_filters: test/tracelogger/filters_test.c tracelogger/filters.c \
		tracelogger/filters.h tracelogger/options.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) -lcmocka

UNIT_TESTS += $(B)/unit/tracelogger_need
$(B)/unit/tracelogger_need: test/tracelogger/need_test.c tracelogger/need.c tracelogger/need.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) -lcmocka

# The sinks, each with what it talks to. The target's headers before the C library's, which then may
# define a name again.
UNIT_TESTS += $(B)/unit/tracelogger_same
SAME_SRCS := test/tracelogger/same_test.c test/tracelogger/board.c test/blocklog/model.c \
	$(addprefix tracelogger/,carry.c filters.c header.c need.c recycled.c refused.c sink.c sink_block.c sink_host.c \
	sink_link.c sink_memory.c) $(sort $(wildcard lib/capture/*.c lib/blocklog/*.c)) lib/link/crc32c.c \
	host/extract/captures.c
SAME_OBJS := $(SAME_SRCS:%.c=$(B)/unit-same/%.o)
$(B)/unit/tracelogger_same: $(SAME_OBJS)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -fsanitize=address,undefined -o $@ $^ -lcmocka
$(filter-out %_test.o,$(SAME_OBJS)): SAME_FLAGS := -include abi/sys/neutrino.h
$(B)/unit-same/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(SAME_FLAGS) -idirafter lib/include -fsanitize=address,undefined \
		-fno-sanitize-recover=all -MMD -MP -c -o $@ $<
-include $(SAME_OBJS:.o=.d)

UNIT_TESTS += $(B)/unit/tracelogger_idle
$(B)/unit/tracelogger_idle: test/tracelogger/idle_test.c lib/capture/idle.c lib/capture/idle.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) -lcmocka
