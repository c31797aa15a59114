# SPDX-License-Identifier: BSD-2-Clause
# Boards' drivers, on this machine: the device tree's reader, and those of the board pc.

$(foreach d,acpi pci multiboot2 screen fdt,$(call unit_program,$(d)_test,\
	test/boards/drivers/$(d)_test.c boards/drivers/$(d).c,$(HOST_SANITIZE)))
