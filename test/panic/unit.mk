# SPDX-License-Identifier: BSD-2-Clause
# What a kernel's last record says in a capture.

UNIT_TESTS += $(B)/unit/panic_text
$(B)/unit/panic_text: test/panic/text_test.c lib/panic/text.c lib/panic/text.h abi/sys/panic.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		-o $@ $(filter %.c,$^) -lcmocka
