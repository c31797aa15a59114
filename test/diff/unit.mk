# SPDX-License-Identifier: BSD-2-Clause
#
# kymo diff's statistics on simulated pairs, under ASan and UBSan. test/host/unit.mk, which is read
# later, has the rules of the objects.

UNIT_TESTS += $(B)/unit/diff
$(B)/unit/diff: $(patsubst %,$(B)/unit/host.o/test/%.o,diff/test_diff host/mkcapture \
		host/mkworkload host/support) $(filter-out %/host/main.o,$(HOST_ASAN_OBJS))
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf -lz -lmicrohttpd
-include $(B)/unit/host.o/test/diff/test_diff.d
