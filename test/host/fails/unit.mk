# SPDX-License-Identifier: BSD-2-Clause
#
# What test/host/fails/check.py has loaded before the host command's libraries.

tools: $(B)/tools/fails.so
$(B)/tools/fails.so: test/host/fails/fails.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC -o $@ $<
