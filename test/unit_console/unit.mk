# SPDX-License-Identifier: BSD-2-Clause
# The console's line editor, on this machine.

UNIT_TESTS += $(B)/unit/console_edit
$(B)/unit/console_edit: test/unit_console/edit_test.c apps/console/edit.c apps/console/edit.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka
