# SPDX-License-Identifier: BSD-2-Clause
# Parts of programs, on this machine. Drivers run against a model of their device, which the test is;
# the target's headers come after this machine's.

APPS_TARGET := -idirafter lib/include -idirafter abi

# The console's line editor; init's start script, and what it does with programs that end.
$(call unit_program,console_edit,test/apps/console/edit_test.c apps/console/edit.c,$(HOST_SANITIZE))
$(call unit_program,init_script,test/apps/init/script_test.c apps/init/line.c apps/init/options.c,$(HOST_SANITIZE) -DKYMO_KERNEL)
$(call unit_program,init_children,test/apps/init/children_test.c apps/init/children.c,$(HOST_SANITIZE))

# Which part of a disk diskd gives out; its drivers of SD cards and of SATA disks, which their tests
# include.
$(call unit_program,partition_test,test/apps/diskd/partition_test.c apps/diskd/partition.c,$(HOST_SANITIZE))
DISKD_FLAGS := $(HOST_SANITIZE) -DDISK_REGISTERS_H='"test/apps/diskd/registers.h"' $(APPS_TARGET)
$(call unit_program,sdhci_test,test/apps/diskd/sdhci_test.c apps/diskd/partition.c,\
	$(DISKD_FLAGS) -DSDHCI_BASE=0 -DSDHCI_IRQ=1 -DSDHCI_HZ=250000000u)
$(call unit_program,ahci_test,test/apps/diskd/ahci_test.c apps/diskd/partition.c,$(DISKD_FLAGS))

# The driver's side of PCI, and virtio over it; the link's line over a virtio console.
$(call unit_program,virtio_pci_test,test/apps/virtio/virtio_pci_test.c apps/pci/pci.c apps/virtio/virtio_pci.c \
	apps/virtio/virtio.c,$(HOST_SANITIZE) $(APPS_TARGET))
$(call unit_program,line_virtio_test,test/apps/linkd/line_virtio_test.c apps/linkd/line_virtio.c \
	apps/virtio/virtio.c,$(HOST_SANITIZE) $(APPS_TARGET))
