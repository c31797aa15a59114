# SPDX-License-Identifier: BSD-2-Clause
# Displaced instructions of programs (abi/a64_step.h), and where probes may be (host/pid).

UNIT_TESTS += $(B)/unit/step_test
$(B)/unit/step_test: test/step/step_test.c host/pid/places.c host/pid/places.h abi/a64_step.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka
