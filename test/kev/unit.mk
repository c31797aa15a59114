# SPDX-License-Identifier: BSD-2-Clause
#
# Tests of libkev under ASan and UBSan: a cmocka program, and kev-walk, to which
# test/host/every_command.py gives damaged captures. The examples, and the program that test/kev/check
# compares with `kymo print --json`, are built by test/kev/check, as a user builds them.

KEV_TEST_OBJS := $(LIBKEV_SHARED:%.c=$(B)/host-asan/%.o) $(LIBKEV_ASAN_OBJS) \
	$(addprefix $(B)/unit/host.o/test/,host/mkcapture.o host/mkworkload.o kev/see.o)
UNIT_TESTS += $(B)/unit/kev
$(B)/unit/kev: $(B)/unit/host.o/test/kev/test_kev.o $(KEV_TEST_OBJS)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lcmocka -lelf -lpthread
tools: $(B)/tools/kev-walk
$(B)/tools/kev-walk: $(B)/unit/host.o/test/kev/walk.o $(LIBKEV_SHARED:%.c=$(B)/host-asan/%.o) $(LIBKEV_ASAN_OBJS)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lelf
-include $(B)/unit/host.o/test/kev/walk.d $(B)/unit/host.o/test/kev/test_kev.d $(B)/unit/host.o/test/kev/see.d
