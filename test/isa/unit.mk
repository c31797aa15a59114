# SPDX-License-Identifier: BSD-2-Clause
# Displaced instructions of programs (isa/), and where probes may be (host/pid).

STEP_PLACES := $(addprefix host/pid/,places.c thumb.c x86_places.c)
$(call unit_program,step_test,test/isa/step_test.c $(STEP_PLACES),$(HOST_SANITIZE))
$(call unit_program,thumb_test,test/isa/thumb_test.c $(STEP_PLACES),$(HOST_SANITIZE))
# Against this CPU. Without the address sanitizer, whose memory the instructions share.
$(call unit_program,step_x86_test,test/isa/x86_test.c test/isa/x86_insns.S $(STEP_PLACES),-D_GNU_SOURCE $(UNIT_UBSAN))
