# SPDX-License-Identifier: BSD-2-Clause
# Which part of a disk diskd gives out, on this machine.

UNIT_TESTS += $(B)/unit/partition_test
$(B)/unit/partition_test: test/diskd/partition_test.c apps/diskd/partition.c apps/diskd/partition.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka

# The driver of SD cards against a model; the test includes it.
UNIT_TESTS += $(B)/unit/sdhci_test
$(B)/unit/sdhci_test: test/diskd/sdhci_test.c apps/diskd/partition.c apps/diskd/sdhci.c apps/diskd/csd.h apps/diskd/wait.h \
		test/diskd/registers.h test/diskd/time.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		-DDISK_REGISTERS_H='"test/diskd/registers.h"' -DSDHCI_BASE=0 -DSDHCI_IRQ=1 -DSDHCI_HZ=250000000u \
		-idirafter lib/include -idirafter abi \
		-o $@ test/diskd/sdhci_test.c apps/diskd/partition.c -lcmocka

# The driver of SATA disks against a model; the test includes it.
UNIT_TESTS += $(B)/unit/ahci_test
$(B)/unit/ahci_test: test/diskd/ahci_test.c apps/diskd/partition.c apps/diskd/ahci.c apps/diskd/wait.h apps/pci/pci.h \
		test/diskd/registers.h test/diskd/time.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		-DDISK_REGISTERS_H='"test/diskd/registers.h"' -idirafter lib/include -idirafter abi \
		-o $@ test/diskd/ahci_test.c apps/diskd/partition.c -lcmocka
