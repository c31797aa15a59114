# SPDX-License-Identifier: BSD-2-Clause
#
# Test programs of a few sources, each with flags of its own:
# $(call unit_program,NAME,SOURCES,FLAGS,LIBRARIES) makes build/unit/NAME, with its objects in
# build/unit/NAME.o/. LIBRARIES come after cmocka's. Which are there: the unit.mk of their folders.

UNIT_UBSAN := -fsanitize=undefined -fno-sanitize-recover=all

define UNIT_PROGRAM
UNIT_TESTS += $(B)/unit/$(1)
$(B)/unit/$(1): $(patsubst %,$(B)/unit/$(1).o/%.o,$(basename $(2)))
	$$(Q)$$(HOST_CC) $(3) -o $$@ $$^ -lcmocka $(4)
$(B)/unit/$(1).o/%.o: %.c | $$(TRACE_GEN)
	@mkdir -p $$(@D)
	$$(Q)$$(HOST_CC) $$(HOST_CFLAGS) $(3) -MMD -MP -c -o $$@ $$<
$(B)/unit/$(1).o/%.o: %.S
	@mkdir -p $$(@D)
	$$(Q)$$(HOST_CC) $$(HOST_CFLAGS) $(3) -MMD -MP -c -o $$@ $$<
-include $(patsubst %,$(B)/unit/$(1).o/%.d,$(basename $(2)))
endef
unit_program = $(eval $(call UNIT_PROGRAM,$(1),$(2),$(3),$(4)))
