# SPDX-License-Identifier: BSD-2-Clause
# Parts of the board pc, on this machine.

PC_UNIT_TESTS := multiboot2_test screen_test
UNIT_TESTS += $(PC_UNIT_TESTS:%=$(B)/unit/%)
$(PC_UNIT_TESTS:%=$(B)/unit/%): $(B)/unit/%_test: test/pc/%_test.c boards/drivers/%.c boards/drivers/%.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka
