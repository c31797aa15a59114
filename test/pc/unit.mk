# SPDX-License-Identifier: BSD-2-Clause
# Parts of the board pc, on this machine.

PC_UNIT_TESTS := acpi_test pci_test multiboot2_test screen_test
UNIT_TESTS += $(PC_UNIT_TESTS:%=$(B)/unit/%)
$(PC_UNIT_TESTS:%=$(B)/unit/%): $(B)/unit/%_test: test/pc/%_test.c boards/drivers/%.c boards/drivers/%.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^) -lcmocka

# The text lies where nothing else of a program is, and its second mapping below it.
UNIT_TESTS += $(B)/unit/text_test
$(B)/unit/text_test: test/pc/text_test.c kernel/arch/x86_64/text.c kernel/arch/x86_64/none/probe.c test/failed.c $(wildcard kernel/arch/x86_64/*.h)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(ASSERT_FLAGS_1) -DKYMO_KERNEL -DCONFIG_CPUS=8 -fno-pie -no-pie \
		-DARCH_OPS_H='"kernel/arch/x86_64/ops.h"' -DARCH_PAGES_H='"kernel/arch/x86_64/pages.h"' \
		-Wl,--defsym=__kernel_start=0x60000000,--defsym=__text_end=0x60004000 \
		-fsanitize=undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^) -lcmocka

# The driver's side of PCI, and virtio over it; the test has the device's memory.
UNIT_TESTS += $(B)/unit/virtio_pci_test
$(B)/unit/virtio_pci_test: test/pc/virtio_pci_test.c apps/pci/pci.c apps/virtio/virtio_pci.c apps/virtio/virtio.c \
		$(wildcard apps/virtio/*.h) apps/pci/pci.h abi/pci.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		-idirafter lib/include -idirafter abi -o $@ $(filter %.c,$^) -lcmocka

# The link's line over a virtio console; the test is the device.
UNIT_TESTS += $(B)/unit/line_virtio_test
$(B)/unit/line_virtio_test: test/pc/line_virtio_test.c apps/linkd/line_virtio.c apps/virtio/virtio.c \
		$(wildcard apps/virtio/*.h) apps/linkd/line.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		-idirafter lib/include -idirafter abi -o $@ $(filter %.c,$^) -lcmocka

# The local APIC as an x2APIC; the test has its registers.
UNIT_TESTS += $(B)/unit/lapic_test
$(B)/unit/lapic_test: test/pc/lapic_test.c kernel/arch/x86_64/lapic.c $(wildcard kernel/arch/x86_64/*.h)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -DKYMO_KERNEL -DCONFIG_CPUS=8 \
		-DARCH_OPS_H='"kernel/arch/x86_64/ops.h"' -DARCH_PAGES_H='"kernel/arch/x86_64/pages.h"' \
		-fsanitize=undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^) -lcmocka

# The TLBs of CPUs with PCIDs and without; the test is the CPUs.
UNIT_TESTS += $(B)/unit/tlb_test
$(B)/unit/tlb_test: test/pc/tlb_test.c kernel/arch/x86_64/tlb.c test/failed.c $(wildcard kernel/arch/x86_64/*.h)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(ASSERT_FLAGS_1) -DKYMO_KERNEL -DCONFIG_CPUS=8 -DCONFIG_PROCESSES=1280 \
		-DARCH_OPS_H='"kernel/arch/x86_64/ops.h"' -DARCH_PAGES_H='"kernel/arch/x86_64/pages.h"' \
		-fsanitize=undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^) -lcmocka

UNIT_TESTS += $(B)/unit/clock_test
$(B)/unit/clock_test: test/pc/clock_test.c kernel/arch/x86_64/clock.h
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ $(filter %.c,$^) -lcmocka
