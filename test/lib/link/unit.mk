# SPDX-License-Identifier: BSD-2-Clause
#
# The link's protocol: two ends over a line that does what lines do. test/lib/link/ is one program.

LINK_TEST := $(B)/unit/link
LINK_TEST_SRCS := $(sort $(wildcard test/lib/link/*.c)) $(sort $(wildcard lib/link/*.c))
LINK_TEST_OBJS := $(LINK_TEST_SRCS:%.c=$(B)/unit-link/%.o)
UNIT_TESTS += $(LINK_TEST)

$(LINK_TEST): $(LINK_TEST_OBJS)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_SANITIZE) -o $@ $^ -lcmocka

$(LINK_TEST_OBJS): $(B)/unit-link/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -std=gnu11 -O1 $(HOST_DEBUG) -Wall -Wextra -Werror $(HOST_SANITIZE) -I. -MMD -MP -c -o $@ $<

-include $(LINK_TEST_OBJS:.o=.d)
