# SPDX-License-Identifier: BSD-2-Clause
#
# Tests of the host command: cmocka programs under ASan and UBSan, and the capture fabricator that
# they and test/host/check use. A test is in the folder of what it tests.

HOST_TEST_LIB := $(filter-out $(B)/host-asan/host/main.o,$(HOST_ASAN_OBJS))
HOST_TEST_CFLAGS := $(HOST_CMD_CFLAGS) -O0 $(HOST_SANITIZE)
host_test_objs = $(patsubst %.c,$(B)/unit/host.o/%.o,$(1))
HOST_TEST_COMMON := $(addprefix test/host/,fabricate/mkcapture.c fabricate/mkhostile.c fabricate/mkworkload.c support.c)
HOST_TEST_SIM := $(addprefix test/host/fabricate/,$(addprefix sim_,sched.c sync.c ipc.c life.c run.c write.c seen.c) truth.c)
HOST_TEST_OBJS := $(call host_test_objs,$(HOST_TEST_COMMON))

# build/unit/host_NAME; and, of those that are alone in their folder, build/unit/NAME.
HOST_TEST_SRCS := $(patsubst %,test/host/%_test.c,select output escape when owner temporary memory_stream journal name id_tree \
	$(addprefix reader/,reader damage cut sample check parts place) print/line print/format stat/stat stat/known \
	extract/core flow/capacity link/store top/top collect/collect view/named)
HOST_TEST_ALONE := $(foreach f,diff log timeline why,test/host/$(f)/$(f)_test.c)
host_test = $(patsubst %_test.c,$(B)/unit/$(2)%,$(notdir $(1)))
HOST_TESTS := $(call host_test,$(HOST_TEST_SRCS),host_) $(call host_test,$(HOST_TEST_ALONE))
UNIT_TESTS += $(HOST_TESTS)

$(B)/unit/host.o/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) -MMD -MP -c -o $@ $<

# Calls of the system that a test takes the place of.
$(B)/unit/host_output: HOST_TEST_WRAPS := fsync write renameat2 renameat linkat
$(B)/unit/host_store: HOST_TEST_WRAPS := fsync renameat2 channel_send
$(B)/unit/host_memory_stream: HOST_TEST_WRAPS := realloc
$(B)/unit/host_journal: HOST_TEST_WRAPS := fdatasync ftruncate64

$(foreach t,$(HOST_TEST_SRCS),$(eval $(call host_test,$(t),host_): $(call host_test_objs,$(t))))
$(foreach t,$(HOST_TEST_ALONE),$(eval $(call host_test,$(t)): $(call host_test_objs,$(t))))
# The timeline against the simulator's truth.
HOST_TEST_ORACLE := $(addprefix test/host/timeline/,oracle_test.c oracle.c) $(HOST_TEST_SIM)
HOST_TESTS += $(B)/unit/timeline_oracle
$(B)/unit/timeline_oracle: $(call host_test_objs,$(HOST_TEST_ORACLE))

# These are of a simulated system.
HOST_TEST_MODEL := test/host/fabricate/model.c
$(B)/unit/host_known $(B)/unit/timeline: $(call host_test_objs,$(HOST_TEST_MODEL))

$(HOST_TESTS): $(HOST_TEST_OBJS) $(HOST_TEST_LIB)
	$(Q)$(HOST_CC) $(HOST_TEST_CFLAGS) $(HOST_TEST_WRAPS:%=-Wl,--wrap=%) -o $@ $^ -lcmocka -lm \
	    -lpthread -ldw -lelf -lz -lmicrohttpd

$(B)/tools/mkcapture: $(addprefix test/host/fabricate/mk,capture_main.c capture.c hostile.c workload.c capture.h) $(HOST_TEST_SIM) \
    $(addprefix test/host/fabricate/,sim.h simulate.h truth.h)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -o $@ $(filter %.c,$^)

$(B)/tools/mkscript: test/host/export/mkscript.c test/host/fabricate/mkcapture.c test/host/fabricate/mkcapture.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -o $@ $(filter %.c,$^)

# KernelShark's library, which reads exports.
$(B)/tools/kshark: test/host/export/kshark.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -o $@ $< $$(pkg-config --cflags --libs libkshark)

tools: $(B)/tools/mkcapture $(B)/tools/mkscript

.PHONY: host-test
host-test: host $(B)/tools/mkcapture $(HOST_TESTS)
	$(Q)for test in $(HOST_TESTS); do $$test || exit 1; done
	$(Q)test/host/check

-include $(patsubst %.o,%.d,$(call host_test_objs,$(HOST_TEST_COMMON) $(HOST_TEST_MODEL) $(HOST_TEST_ORACLE) $(HOST_TEST_SRCS) $(HOST_TEST_ALONE)))
