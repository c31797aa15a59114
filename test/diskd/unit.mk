# SPDX-License-Identifier: BSD-2-Clause
# Which part of a disk diskd gives out, on this machine.

UNIT_TESTS += $(B)/unit/partition_test
$(B)/unit/partition_test: test/diskd/partition_test.c apps/diskd/partition.c apps/diskd/partition.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka
