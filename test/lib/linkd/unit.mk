# SPDX-License-Identifier: BSD-2-Clause
#
# lib/linkd/ against a system, a host and a line that are made up here. test/lib/linkd/ is one program;
# its malloc() can fail.

LINKD_TEST := $(B)/unit/linkd
LINKD_TEST_SRCS := $(sort $(wildcard test/lib/linkd/*.c)) $(sort $(wildcard lib/linkd/*.c)) \
                   $(sort $(wildcard lib/link/*.c)) test/lib/link/line.c
LINKD_TEST_OBJS := $(LINKD_TEST_SRCS:%.c=$(B)/unit-linkd/%.o)
UNIT_TESTS += $(LINKD_TEST)

$(LINKD_TEST): $(LINKD_TEST_OBJS)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_SANITIZE) -Wl,--wrap=malloc -o $@ $^ -lcmocka

$(LINKD_TEST_OBJS): $(B)/unit-linkd/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -std=gnu11 -O1 $(HOST_DEBUG) -Wall -Wextra -Werror $(HOST_SANITIZE) -I. -MMD -MP -c -o $@ $<

-include $(LINKD_TEST_OBJS:.o=.d)
