# SPDX-License-Identifier: BSD-2-Clause
#
# What becomes of a linked program in a boot image: it keeps its symbols (for crash reports), gets an
# index of its functions by address, an unwind table, and where programs are relocated a table for that
# instead of the linker's relocations. It has no DWARF, and no formats of log text. For scripts/board.mk
# and scripts/app.mk, after the board's board.mk, with Q set.
#
#   KYMO_TREE        the tree, with a "/" at its end, if it is not this folder
#   NO_UNWIND        no unwind table: host/unwind does not know the CPU's instructions
#   NO_RELOC_TABLE   programs that keep the linker's relocations, like one that was made by other means

RELOCATED := $(findstring --emit-relocs,$(USER_LDFLAGS))
STRIP_TOOLS := $(addprefix $(KYMO_TREE)build/tools/,mkunwind $(if $(RELOCATED),mkreloc))

with_table = $(if $(RELOCATED),$(if $(filter $(notdir $(1)),$(NO_RELOC_TABLE)),,yes))
# Relocations name the section of log formats, though none changes an address in it.
keeps_relocs = $(if $(RELOCATED),$(if $(with_table),,yes))
# $(call strip_program,PROGRAM,STRIPPED). The index has numbers of symbols. objcopy gives each new section a
# symbol, some only in the next copy; so the index replaces other contents in a copy that has them all.
define strip_program
	$(Q)$(KYMO_TREE)build/tools/mkunwind $(if $(NO_UNWIND),-f) $(1) $(2).unwind
	$(if $(with_table),$(Q)$(KYMO_TREE)build/tools/mkreloc $(1) $(2).reloc)
	$(Q)$(CROSS)objcopy --strip-debug $(if $(keeps_relocs),,--remove-section .kymo_log) \
		--add-section .kymo_functions=$(2).unwind \
		$(if $(NO_UNWIND),,--add-section .kymo_unwind=$(2).unwind) \
		$(if $(with_table),--add-section .kymo_reloc=$(2).reloc --remove-relocations='.*') $(1) $(2)
	$(Q)$(CROSS)objcopy $(2)
	$(Q)$(KYMO_TREE)build/tools/mkunwind -f $(2) $(2).functions
	$(Q)$(CROSS)objcopy --update-section .kymo_functions=$(2).functions $(2)
endef
