# SPDX-License-Identifier: BSD-2-Clause
#
# Log text on the host: the formatter against the C library's, hostile ELF files; under ASan and UBSan.

UNIT_TESTS += $(B)/unit/log
$(B)/unit/log: $(B)/unit/host.o/test/log/test_log.o $(HOST_TEST_OBJS) $(HOST_TEST_LIB)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf -lz -lmicrohttpd
-include $(B)/unit/host.o/test/log/test_log.d
