# SPDX-License-Identifier: BSD-2-Clause
# Displaced instructions of programs (abi/a64_step.h), and where probes may be (host/pid).

UNIT_TESTS += $(B)/unit/step_test
$(B)/unit/step_test: test/step/step_test.c host/pid/places.c host/pid/x86_places.c host/pid/places.h abi/a64_step.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka

# x86-64's, against this CPU. Without the address sanitizer, whose memory the instructions share.
UNIT_TESTS += $(B)/unit/step_x86_test
$(B)/unit/step_x86_test: test/step/x86_test.c test/step/x86_insns.S host/pid/places.c host/pid/x86_places.c \
		host/pid/places.h abi/x86_effect.h abi/x86_step.h abi/x86_insn.h abi/a64_step.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -D_GNU_SOURCE -fsanitize=undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c %.S,$^) -lcmocka
