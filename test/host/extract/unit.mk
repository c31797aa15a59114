# SPDX-License-Identifier: BSD-2-Clause
#
# What test/host/extract/check makes its disks with.

MKDISK_SRCS := test/host/extract/mkdisk.c $(sort $(wildcard lib/blocklog/*.c)) lib/link/crc32c.c
MKDISK_OBJS := $(MKDISK_SRCS:%.c=$(B)/mkdisk/%.o)

$(B)/tools/mkdisk: $(MKDISK_OBJS)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) -o $@ $^

$(B)/mkdisk/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CMD_CFLAGS) -MMD -MP -c -o $@ $<

tools: $(B)/tools/mkdisk

-include $(MKDISK_OBJS:.o=.d)
