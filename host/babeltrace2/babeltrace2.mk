# SPDX-License-Identifier: BSD-2-Clause
#
# The babeltrace2 plugin (docs/guide/python.md). Included by host/host.mk. Adds the goal
# `babeltrace2`, which needs Debian's libbabeltrace2-dev:
# build/babeltrace2/babeltrace-plugin-kymo.so, which stands alone.

BABELTRACE2 := $(B)/babeltrace2
BABELTRACE2_OBJS := $(patsubst %.c,$(BABELTRACE2)/%.o,$(sort $(wildcard host/babeltrace2/*.c)) \
	host/escape.c host/memory_stream.c)

babeltrace2: $(BABELTRACE2)/babeltrace-plugin-kymo.so

$(BABELTRACE2_OBJS): $(BABELTRACE2)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -fPIC -MMD -MP -c -o $@ $<
# Its sections of descriptors are arrays between two addresses; nothing else is seen from outside.
$(BABELTRACE2)/babeltrace-plugin-kymo.so: $(BABELTRACE2_OBJS) $(LIBKEV)/libkev.a
	$(Q)$(HOST_CC) -shared -Wl,-z,defs -Wl,--exclude-libs,ALL -o $@ $^ -lbabeltrace2 -lelf

# The plugin under the sanitizers, for test/host/every_command.py: babeltrace2 is started with libasan.so
# preloaded.
BABELTRACE2_ASAN := $(B)/babeltrace2-asan
BABELTRACE2_ASAN_OBJS := $(BABELTRACE2_OBJS:$(BABELTRACE2)/%=$(BABELTRACE2_ASAN)/%) \
	$(LIBKEV_OBJS:$(LIBKEV)/%=$(BABELTRACE2_ASAN)/%)
BABELTRACE2_ASAN_OBJS := $(sort $(BABELTRACE2_ASAN_OBJS))
$(BABELTRACE2_ASAN_OBJS): $(BABELTRACE2_ASAN)/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) $(HOST_ASAN_CFLAGS) -fPIC -MMD -MP -c -o $@ $<
$(BABELTRACE2_ASAN)/babeltrace-plugin-kymo.so: $(BABELTRACE2_ASAN_OBJS)
	$(Q)$(HOST_CC) $(HOST_ASAN_CFLAGS) -shared -o $@ $^ -lbabeltrace2 -lelf

-include $(BABELTRACE2_OBJS:.o=.d) $(BABELTRACE2_ASAN_OBJS:.o=.d)
