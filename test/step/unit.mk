# SPDX-License-Identifier: BSD-2-Clause
# Displaced instructions of programs (abi/*_step.h), and where probes may be (host/pid).

STEP_PLACES := test/step/found.h host/pid/places.h host/pid/places.c host/pid/thumb.c host/pid/x86_places.c
STEP_ABI := $(wildcard abi/*_step.h) abi/t2_kind.h abi/x86_effect.h abi/x86_insn.h
STEP_TEST = $(Q)mkdir -p $(@D) && $(HOST_CC) $(HOST_CFLAGS) $(1) -fno-sanitize-recover=all -o $@ \
	$(filter %.c %.S,$^) -lcmocka

UNIT_TESTS += $(B)/unit/step_test $(B)/unit/thumb_test $(B)/unit/step_x86_test
$(B)/unit/step_test: test/step/step_test.c $(STEP_PLACES) $(STEP_ABI)
	$(call STEP_TEST,-fsanitize=address -fsanitize=undefined)
$(B)/unit/thumb_test: test/step/thumb_test.c $(STEP_PLACES) $(STEP_ABI)
	$(call STEP_TEST,-fsanitize=address -fsanitize=undefined)
# Against this CPU. Without the address sanitizer, whose memory the instructions share.
$(B)/unit/step_x86_test: test/step/x86_test.c test/step/x86_insns.S $(STEP_PLACES) $(STEP_ABI)
	$(call STEP_TEST,-D_GNU_SOURCE -fsanitize=undefined)
