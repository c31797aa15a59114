# SPDX-License-Identifier: BSD-2-Clause
# The link's broker without descriptors, under ASan and UBSan: accept4() is counted.

BROKER_TEST := $(B)/unit/broker
UNIT_TESTS += $(BROKER_TEST)
BROKER_TEST_LIB := $(filter-out %/host/main.o,$(HOST_ASAN_OBJS))

$(B)/unit/broker_test.o: test/host/link/broker_test.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -MMD -MP -c -o $@ $<

$(BROKER_TEST): $(B)/unit/broker_test.o $(BROKER_TEST_LIB)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -Wl,--wrap=accept4 -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf -lz -lmicrohttpd

-include $(B)/unit/broker_test.d
