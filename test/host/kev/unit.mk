# SPDX-License-Identifier: BSD-2-Clause
#
# Tests of libkev under ASan and UBSan: a cmocka program, and kev-walk, to which
# test/host/every_command.py gives damaged captures. The examples, and the program that test/host/kev/check
# compares with `kymo print --json`, are built by test/host/kev/check, as a user builds them.

KEV_TEST_OBJS := $(LIBKEV_SHARED:%.c=$(B)/host-asan/%.o) $(LIBKEV_ASAN_OBJS) \
	$(call host_test_objs,$(addprefix test/host/,fabricate/mkcapture.c fabricate/mkworkload.c kev/see.c))
UNIT_TESTS += $(B)/unit/kev
$(B)/unit/kev: $(B)/unit/host.o/test/host/kev/kev_test.o $(KEV_TEST_OBJS)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lcmocka -lelf -lpthread
tools: $(B)/tools/kev-walk
$(B)/tools/kev-walk: $(B)/unit/host.o/test/host/kev/walk.o $(LIBKEV_SHARED:%.c=$(B)/host-asan/%.o) $(LIBKEV_ASAN_OBJS)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lelf
-include $(B)/unit/host.o/test/host/kev/walk.d $(B)/unit/host.o/test/host/kev/kev_test.d $(B)/unit/host.o/test/host/kev/see.d
