# SPDX-License-Identifier: BSD-2-Clause
# The whole D machine on this machine: consumers whose probes the tests fire, on a port that is none
# (test/trace/dtrace/machine/fake.c), under ASan and UBSan.

D_FIRE_TESTS := $(addprefix $(B)/unit/d_fire_,$(patsubst test/trace/dtrace/fire/%_test.c,%,$(sort $(wildcard \
	test/trace/dtrace/fire/*_test.c))))
UNIT_TESTS += $(D_FIRE_TESTS)
D_FIRE_OBJS := $(patsubst %.c,$(B)/unit/d_machine/%.o,$(filter-out %/subr_none.c,$(wildcard \
	trace/dtrace/provider/*.c \
	trace/dtrace/*.c)) test/tool/failed.c test/trace/dtrace/machine/fake.c test/trace/dtrace/machine/assemble.c test/trace/dtrace/machine/builder.c \
	test/trace/dtrace/fire/target.c)

$(B)/unit/d_fire_%.o: test/trace/dtrace/fire/%_test.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(D_MACHINE_FLAGS) -MMD -MP -c -o $@ $<

# Who reads the window.
D_FIRE_RETAIN_OBJS := $(patsubst %.c,$(B)/unit/d_machine/%.o,$(sort $(wildcard lib/retain/*.c)) \
	lib/link/crc32c.c)
$(B)/unit/d_fire_retain: $(D_FIRE_RETAIN_OBJS)

$(D_FIRE_TESTS): %: %.o $(D_FIRE_OBJS)
	$(Q)$(HOST_CC) $(D_MACHINE_FLAGS) -o $@ $^ -lcmocka

-include $(D_FIRE_OBJS:.o=.d) $(D_FIRE_RETAIN_OBJS:.o=.d) $(D_FIRE_TESTS:%=%.d)
