# SPDX-License-Identifier: BSD-2-Clause
# tracelogger's command line, on this machine; what it prints is looked at.

$(call unit_program,tracelogger_options,test/tracelogger/options_test.c tracelogger/options.c \
	$(wildcard tracelogger/option_*.c),$(HOST_SANITIZE) -DKYMO_KERNEL -include test/tracelogger/said.h)
$(call unit_program,tracelogger_filters,test/tracelogger/filters_test.c tracelogger/filters.c,$(HOST_SANITIZE))
$(call unit_program,tracelogger_need,test/tracelogger/need_test.c tracelogger/need.c,$(HOST_SANITIZE))

# The sinks, each with what it talks to. The target's headers before the C library's, which then may
# define a name again.
SAME_SRCS := test/tracelogger/same_test.c test/tracelogger/board.c test/lib/blocklog/model.c \
	$(addprefix tracelogger/,carry.c filters.c header.c need.c recycled.c refused.c sink.c sink_block.c sink_host.c \
	sink_link.c sink_memory.c) $(sort $(wildcard lib/capture/*.c lib/blocklog/*.c)) lib/link/crc32c.c \
	host/extract/captures.c
$(call unit_program,tracelogger_same,$(SAME_SRCS),$(HOST_SANITIZE) $$(SAME_FLAGS) -idirafter lib/include)
$(patsubst %.c,$(B)/unit/tracelogger_same.o/%.o,$(filter-out %_test.c,$(SAME_SRCS))): SAME_FLAGS := -include abi/sys/neutrino.h
