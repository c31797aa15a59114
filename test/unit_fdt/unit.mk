# SPDX-License-Identifier: BSD-2-Clause
# The device tree reader of the boards, on this machine.

UNIT_TESTS += $(B)/unit/fdt_test
$(B)/unit/fdt_test: test/unit_fdt/fdt_test.c boards/drivers/fdt.c boards/drivers/fdt.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka
