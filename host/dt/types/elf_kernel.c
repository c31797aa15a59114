/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which kernel an ELF is, as kernel/dtrace/build.c has it: all images of one build are the same
 * one, whatever programs and boot image they carry. Tested by test/host/remote/board_test.c, and
 * against the boards by test/board/gate.py and dlog.py.
 */
#include "host/dt/types/elf_file.h"

#include <elfutils/libdwelf.h>
#include <string.h>

enum { ID_BYTES = 20 };

/* Returns the file's bytes at an address; NULL: none. */
static const uint8_t *elf_kernel_bytes_at(Elf *elf, uint64_t address, size_t size)
{
    Elf_Scn *section = NULL;
    GElf_Shdr h;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &h) && h.sh_type == SHT_PROGBITS && h.sh_flags & SHF_ALLOC &&
            address >= h.sh_addr && address - h.sh_addr < h.sh_size &&
            h.sh_size - (address - h.sh_addr) >= size) {
            const Elf_Data *data = elf_rawdata(section, NULL);
            return data && data->d_size == h.sh_size
                       ? (const uint8_t *)data->d_buf + (address - h.sh_addr)
                       : NULL;
        }
    }
    return NULL;
}

void dt_elf_kernel_id(const struct dt_elf *e, uint8_t id[ID_BYTES])
{
    static const uint8_t none[ID_BYTES];
    const struct dt_elf_symbol *s = dt_elf_symbol_by_name(e, "fbt_code_id");
    const uint8_t *code = s ? elf_kernel_bytes_at(e->elf, s->address, ID_BYTES) : NULL;
    const void *build = NULL;

    if (code && memcmp(code, none, ID_BYTES) != 0) {
        memcpy(id, code, ID_BYTES);
    } else if (dwelf_elf_gnu_build_id(e->elf, &build) == ID_BYTES) {
        memcpy(id, build, ID_BYTES);
    }
}
