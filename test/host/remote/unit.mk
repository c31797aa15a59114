# SPDX-License-Identifier: BSD-2-Clause
# `kymo dtrace` against a target that lies and one that poses as a board: the command with all its
# parts, under ASan and UBSan, but for target_open(), which the tests have.

D_REMOTE_TESTS := $(addprefix $(B)/unit/d_remote_,hostile board helper_note)
UNIT_TESTS += $(D_REMOTE_TESTS)
D_REMOTE_LIB := $(filter-out %/host/main.o %/host/target/target.o,$(HOST_ASAN_OBJS))

$(B)/unit/d_remote_%.o: test/host/remote/%_test.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -O1 $(HOST_SANITIZE) -MMD -MP -c -o $@ $<

$(B)/unit/d_remote_helper_note: $(filter %/host/target/target.o,$(HOST_ASAN_OBJS))
$(D_REMOTE_TESTS): %: %.o $(D_REMOTE_LIB)
	$(Q)$(HOST_CC) $(HOST_SANITIZE) -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf -lz -lmicrohttpd

-include $(D_REMOTE_TESTS:%=%.d)
