# SPDX-License-Identifier: BSD-2-Clause
# `kymo dtrace -r` on captures that are made here, sound ones and hostile ones, under ASan and UBSan:
# the command with all its parts but for target_open(), which records (logged.c).

D_REPLAY_TESTS := $(B)/unit/d_replay_attack
UNIT_TESTS += $(D_REPLAY_TESTS) $(B)/unit/d_replay_many
D_REPLAY_OBJS := $(B)/unit/d_replay/logged.o $(B)/unit/d_replay/guard.o \
	$(call host_test_objs,$(addprefix test/host/fabricate/,mkcapture.c mkworkload.c))
D_REPLAY_LIB := $(filter-out %/host/main.o %/host/target/target.o,$(HOST_ASAN_OBJS))

$(B)/unit/d_replay/%.o: test/host/dtrace/replay/%.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(D_REPLAY_TESTS): $(B)/unit/d_replay_%: $(B)/unit/d_replay/%_test.o $(D_REPLAY_OBJS) $(D_REPLAY_LIB)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf -lz -lmicrohttpd

# Without sanitizers: the basic blocks that host/dtrace executes are counted.
D_REPLAY_COUNTED := $(patsubst %.c,$(B)/unit/d_replay_counted/%.o,$(HOST_DTRACE_SRCS))
D_REPLAY_PLAIN := $(patsubst %.c,$(B)/unit/d_replay_counted/%.o,test/host/dtrace/replay/many_test.c \
	test/host/dtrace/replay/logged.c test/host/fabricate/mkcapture.c test/host/fabricate/mkworkload.c)
D_REPLAY_REST := $(filter-out %/host/main.o %/host/target/target.o $(B)/host/host/dtrace/%,$(HOST_OBJS))

$(D_REPLAY_COUNTED): HOST_CMD_CFLAGS += -fsanitize-coverage=trace-pc
$(D_REPLAY_COUNTED) $(D_REPLAY_PLAIN): $(B)/unit/d_replay_counted/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -O1 -MMD -MP -c -o $@ $<

$(B)/unit/d_replay_many: $(D_REPLAY_PLAIN) $(D_REPLAY_COUNTED) $(D_REPLAY_REST)
	$(Q)$(HOST_CC) -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf -lz -lmicrohttpd

-include $(D_REPLAY_COUNTED:.o=.d) $(D_REPLAY_PLAIN:.o=.d) $(wildcard $(B)/unit/d_replay/*.d)
