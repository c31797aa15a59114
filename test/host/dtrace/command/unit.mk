# SPDX-License-Identifier: BSD-2-Clause
# `kymo dtrace` with a target of the test's own instead of those of host/target, under ASan and
# UBSan.

D_COMMAND_TEST := $(B)/unit/d_command_scripted
UNIT_TESTS += $(D_COMMAND_TEST)
D_COMMAND_OBJS := $(B)/unit/d_command/scripted.o $(B)/unit/d_command/scripted_test.o
D_COMMAND_LIB := $(filter-out $(B)/host-asan/host/main.o $(B)/host-asan/host/target/target.o, \
	$(HOST_ASAN_OBJS))

$(D_COMMAND_OBJS): $(B)/unit/d_command/%.o: test/host/dtrace/command/%.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(D_COMMAND_TEST): $(D_COMMAND_OBJS) $(D_COMMAND_LIB)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf -lz -lmicrohttpd

-include $(D_COMMAND_OBJS:.o=.d)
