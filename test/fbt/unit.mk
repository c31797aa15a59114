# SPDX-License-Identifier: BSD-2-Clause
# How fbt reads instructions and functions (host/fbt), on this machine.

UNIT_TESTS += $(B)/unit/fbt_scan_test
$(B)/unit/fbt_scan_test: test/fbt/scan_test.c host/fbt/a64.c host/fbt/thumb.c host/fbt/x86.c host/fbt/scan.c \
		host/fbt/text.c host/fbt/insn.h host/fbt/scan.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka
