# SPDX-License-Identifier: BSD-2-Clause
# Displaced instructions of programs (abi/a64_step.h, abi/t2_step.h), and where probes may be (host/pid).

UNIT_TESTS += $(B)/unit/step_test
$(B)/unit/step_test: test/step/step_test.c host/pid/places.c host/pid/thumb.c host/pid/x86_places.c \
		host/pid/places.h abi/a64_step.h abi/t2_step.h abi/t2_kind.h abi/x86_step.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka

# x86-64's, against this CPU. Without the address sanitizer, whose memory the instructions share.
UNIT_TESTS += $(B)/unit/step_x86_test
$(B)/unit/step_x86_test: test/step/x86_test.c test/step/x86_insns.S host/pid/places.c host/pid/thumb.c host/pid/x86_places.c \
		host/pid/places.h abi/x86_effect.h abi/x86_step.h abi/x86_insn.h abi/a64_step.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -D_GNU_SOURCE -fsanitize=undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c %.S,$^) -lcmocka

UNIT_TESTS += $(B)/unit/thumb_test
$(B)/unit/thumb_test: test/step/thumb_test.c host/pid/places.c host/pid/thumb.c host/pid/x86_places.c abi/t2_step.h abi/t2_kind.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka

# What test/step/thumb.py asks about each instruction.
UNIT_TESTS += $(B)/unit/thumb_kinds
$(B)/unit/thumb_kinds: test/step/thumb_kinds.c abi/t2_step.h abi/t2_kind.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -o $@ $<
