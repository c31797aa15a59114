# SPDX-License-Identifier: BSD-2-Clause
#
# Tests of the host command: cmocka programs under ASan and UBSan, and the capture fabricator that
# they and test/host/check use.

HOST_TEST_COMMON := test/host/mkcapture.c test/host/mkworkload.c test/host/support.c
HOST_TEST_LIB := $(filter-out $(B)/host-asan/host/main.o,$(HOST_ASAN_OBJS))
HOST_TEST_CFLAGS := $(HOST_CMD_CFLAGS) -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
HOST_TEST_NAMES := reader damage cut line format sample stat select output escape
HOST_TEST_NAMES += when owner temporary memory_stream
HOST_TEST_NAMES += core store
HOST_TEST_NAMES += check parts place top collect
HOST_TESTS := $(HOST_TEST_NAMES:%=$(B)/unit/host_%)
HOST_TEST_OBJS := $(patsubst %.c,$(B)/unit/host.o/%.o,$(HOST_TEST_COMMON))

UNIT_TESTS += $(HOST_TESTS)

$(B)/unit/host.o/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -MMD -MP -c -o $@ $<

# Calls of the system that a test takes the place of.
$(B)/unit/host_output: HOST_TEST_WRAPS := fsync write renameat2 renameat linkat
$(B)/unit/host_store: HOST_TEST_WRAPS := fsync renameat2 channel_send
$(B)/unit/host_memory_stream: HOST_TEST_WRAPS := realloc

$(HOST_TESTS): $(B)/unit/host_%: $(B)/unit/host.o/test/host/test_%.o $(HOST_TEST_OBJS) \
                      $(HOST_TEST_LIB)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) $(HOST_TEST_WRAPS:%=-Wl,--wrap=%) -o $@ $^ -lcmocka -lm \
	    -lpthread -ldw -lelf -lz -lmicrohttpd

# kymo stat against a simulated system.
UNIT_TESTS += $(B)/unit/host_known
$(B)/unit/host_known: $(B)/unit/host.o/test/host/test_known.o $(B)/unit/host.o/test/host/model.o \
                      $(HOST_TEST_OBJS) $(HOST_TEST_LIB)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -o $@ $^ -lcmocka -lm -lpthread -ldw -lelf -lz -lmicrohttpd
-include $(B)/unit/host.o/test/host/test_known.d $(B)/unit/host.o/test/host/model.d

$(B)/tools/mkcapture: test/host/mkcapture_main.c test/host/mkcapture.c test/host/mkworkload.c \
                      test/host/mkcapture.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -o $@ $(filter %.c,$^)

$(B)/tools/mkscript: test/export/mkscript.c test/host/mkcapture.c test/host/mkcapture.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -o $@ $(filter %.c,$^)

# KernelShark's library, which reads exports.
$(B)/tools/kshark: test/export/kshark.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -o $@ $< $$(pkg-config --cflags --libs libkshark)

tools: $(B)/tools/mkcapture $(B)/tools/mkscript

.PHONY: host-test
host-test: host $(B)/tools/mkcapture $(HOST_TESTS)
	$(Q)for test in $(HOST_TESTS); do $$test || exit 1; done
	$(Q)test/host/check

-include $(HOST_TEST_OBJS:.o=.d) $(HOST_TEST_NAMES:%=$(B)/unit/host.o/test/host/test_%.d)
