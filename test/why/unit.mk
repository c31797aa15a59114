# SPDX-License-Identifier: BSD-2-Clause
#
# kymo why on planted captures, under ASan and UBSan; test/why/check is of the command.

UNIT_TESTS += $(B)/unit/why
$(B)/unit/why: $(B)/unit/host.o/test/why/test_why.o $(HOST_TEST_OBJS) $(HOST_TEST_LIB)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf -lz -lmicrohttpd
-include $(B)/unit/host.o/test/why/test_why.d
