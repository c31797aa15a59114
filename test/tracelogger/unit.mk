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
