# SPDX-License-Identifier: BSD-2-Clause
# `kymo dtrace` against a target that lies: the command with all its parts, under ASan and UBSan, but
# for target_open(), which the test has.

D_REMOTE_TEST := $(B)/unit/d_remote_hostile
UNIT_TESTS += $(D_REMOTE_TEST)
D_REMOTE_LIB := $(filter-out %/host/main.o %/host/target/target.o,$(HOST_ASAN_OBJS))

$(D_REMOTE_TEST).o: test/d_remote/hostile_test.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -O1 -fsanitize=address,undefined \
	    -fno-sanitize-recover=all -MMD -MP -c -o $@ $<

$(D_REMOTE_TEST): $(D_REMOTE_TEST).o $(D_REMOTE_LIB)
	$(Q)$(HOST_CC) -fsanitize=address,undefined -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf

-include $(D_REMOTE_TEST).d
