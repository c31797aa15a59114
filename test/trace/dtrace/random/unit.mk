# SPDX-License-Identifier: BSD-2-Clause
# Random programs on the whole D machine and on a naive one, under ASan and UBSan; optimised, for
# there are many, and as the bound on basic blocks is meant.

#
# What the machine does is counted: -fsanitize-coverage=trace-pc has every basic block of trace/dtrace
# tell, counted.h has its copies tell. So assertions, which would count, are off.

D_RANDOM_FLAGS := $(filter-out $(ASSERT_FLAGS_1),$(D_MACHINE_FLAGS)) -O2
D_RANDOM_OBJS := $(patsubst %.c,$(B)/unit/d_random/%.o,$(filter-out %/subr_none.c \
	trace/dtrace/control%,$(wildcard \
	trace/dtrace/*.c)) test/trace/dtrace/machine/fake.c $(filter-out %_test.c,$(wildcard test/trace/dtrace/random/*.c)))
D_RANDOM_TESTS := $(addprefix $(B)/unit/d_random_,$(patsubst test/trace/dtrace/random/%_test.c,%,$(sort \
	$(wildcard test/trace/dtrace/random/*_test.c))))
UNIT_TESTS += $(D_RANDOM_TESTS)

$(B)/unit/d_random/%.o: %.c | $(TRACE_GEN)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(D_RANDOM_FLAGS) -MMD -MP -c -o $@ $<

$(B)/unit/d_random/trace/dtrace/%.o: D_RANDOM_FLAGS += -fsanitize-coverage=trace-pc \
	-include test/trace/dtrace/random/counted.h

$(D_RANDOM_TESTS): $(B)/unit/d_random_%: $(B)/unit/d_random/test/trace/dtrace/random/%_test.o $(D_RANDOM_OBJS)
	$(Q)$(HOST_CC) $(D_RANDOM_FLAGS) -o $@ $^

-include $(D_RANDOM_OBJS:.o=.d) \
	$(D_RANDOM_TESTS:$(B)/unit/d_random_%=$(B)/unit/d_random/test/trace/dtrace/random/%_test.d)
