# SPDX-License-Identifier: BSD-2-Clause
#
# The timeline against a simulated system, under ASan and UBSan.

UNIT_TESTS += $(B)/unit/timeline
$(B)/unit/timeline: $(B)/unit/host.o/test/timeline/test_timeline.o \
		$(addprefix $(B)/unit/host.o/test/,host/model.o) $(HOST_TEST_OBJS) $(HOST_TEST_LIB)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf -lz -lmicrohttpd
-include $(B)/unit/host.o/test/timeline/test_timeline.d
