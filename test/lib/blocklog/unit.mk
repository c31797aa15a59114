# SPDX-License-Identifier: BSD-2-Clause
#
# The block log on a disk as bad as one may be. Programs <name>_test.c; model and story are theirs.

BLOCKLOG_TESTS := $(patsubst test/lib/blocklog/%_test.c,%,$(wildcard test/lib/blocklog/*_test.c))
BLOCKLOG_SRCS := test/lib/blocklog/model.c test/lib/blocklog/story.c $(sort $(wildcard lib/blocklog/*.c)) \
	lib/link/crc32c.c lib/capture/check.c host/extract/captures.c
BLOCKLOG_OBJS := $(BLOCKLOG_SRCS:%.c=$(B)/unit-blocklog/%.o)
BOUNDED_OBJS := $(patsubst %,$(B)/unit-blocklog/host/extract/%.o,disk scan)
UNIT_TESTS += $(BLOCKLOG_TESTS:%=$(B)/unit/blocklog_%)

$(BLOCKLOG_TESTS:%=$(B)/unit/blocklog_%): $(B)/unit/blocklog_%: \
		$(B)/unit-blocklog/test/lib/blocklog/%_test.o $(BLOCKLOG_OBJS)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_SANITIZE) -o $@ $^ -lcmocka

$(B)/unit/blocklog_bounded: $(BOUNDED_OBJS)

$(B)/unit-blocklog/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -std=gnu11 -O2 $(HOST_DEBUG) -Wall -Wextra -Werror $(HOST_SANITIZE) -I. -MMD -MP -c -o $@ $<

-include $(BLOCKLOG_OBJS:.o=.d) $(BOUNDED_OBJS:.o=.d) $(wildcard $(B)/unit-blocklog/test/lib/blocklog/*.d)
