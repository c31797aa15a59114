# SPDX-License-Identifier: BSD-2-Clause
# Parts of the port to x86-64, on this machine: the test is the CPU.

X86_FLAGS := -DKYMO_KERNEL -DCONFIG_CPUS=8 -DARCH_OPS_H='"kernel/arch/x86_64/ops.h"' \
	-DARCH_PAGES_H='"kernel/arch/x86_64/pages.h"' $(UNIT_UBSAN)
x86_sources = test/kernel/arch/x86_64/$(1)_test.c kernel/arch/x86_64/$(1).c

# The text lies where nothing else of a program is, and its second mapping below it.
X86_TEXT := -fno-pie -no-pie -Wl,--defsym=__kernel_start=0x60000000,--defsym=__text_end=0x60004000
$(call unit_program,text_test,$(call x86_sources,text) kernel/arch/x86_64/none/probe.c test/tool/failed.c,\
	$(X86_FLAGS) $(ASSERT_FLAGS_1) $(X86_TEXT))
# The local APIC as an x2APIC; the TLBs of CPUs with PCIDs and without; the clock.
$(call unit_program,lapic_test,$(call x86_sources,lapic),$(X86_FLAGS))
$(call unit_program,tlb_test,$(call x86_sources,tlb) test/tool/failed.c,\
	$(X86_FLAGS) $(ASSERT_FLAGS_1) -DCONFIG_PROCESSES=1280)
$(call unit_program,clock_test,test/kernel/arch/x86_64/clock_test.c,$(HOST_SANITIZE))
