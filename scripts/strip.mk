# SPDX-License-Identifier: BSD-2-Clause
#
# What becomes of a linked program in a boot image: it gets a table of its functions, by address, instead
# of symbols (for crash reports), an unwind table, and where programs are relocated a table for that
# instead of the linker's relocations. It has no DWARF. For scripts/board.mk and scripts/app.mk, after the board's board.mk, with Q set.
#
#   KYMO_TREE        the tree, with a "/" at its end, if it is not this folder
#   NO_RELOC_TABLE   programs that keep the linker's relocations, like one that was made by other means

RELOCATED := $(findstring --emit-relocs,$(USER_LDFLAGS))
STRIP_TOOLS := $(addprefix $(KYMO_TREE)build/tools/,mkunwind $(if $(RELOCATED),mkreloc))

with_table = $(if $(RELOCATED),$(if $(filter $(notdir $(1)),$(NO_RELOC_TABLE)),,yes))
# $(call strip_program,PROGRAM,STRIPPED)
define strip_program
	$(Q)$(KYMO_TREE)build/tools/mkunwind $(1) $(2).unwind
	$(Q)$(KYMO_TREE)build/tools/mkunwind -f $(1) $(2).functions
	$(if $(with_table),$(Q)$(KYMO_TREE)build/tools/mkreloc $(1) $(2).reloc)
	$(Q)$(CROSS)objcopy $(if $(RELOCATED),$(if $(with_table),--strip-all,--strip-debug),--strip-all) \
		--add-section .kymo_unwind=$(2).unwind --add-section .kymo_functions=$(2).functions \
		$(if $(with_table),--add-section .kymo_reloc=$(2).reloc --remove-relocations='.*') $(1) $(2)
endef
