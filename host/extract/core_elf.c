/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF core (QEMU's dump-guest-memory, gcore): its segments are the memory. Of 32 or 64 bits,
 * little-endian. A segment that the file does not have whole is taken as far as it goes. See
 * core.h.
 */
#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "host/extract/core.h"
#include "host/kymo.h"

#define SEGMENTS_MOST 65535

/* Fields used of both classes' headers. */
struct header {
    uint64_t table;
    uint32_t entry_bytes, count;
    bool wide;
};

/* Bytes at an offset, copied: nothing in a file is aligned. False: they aren't all there. */
static bool core_elf_get_bytes(const struct core *core, uint64_t offset, void *to, size_t bytes)
{
    if (offset > core->size || bytes > core->size - offset) {
        return false;
    }
    memcpy(to, core->data + offset, bytes);
    return true;
}

/* More segments than 16 bits can say are in the first section's header. */
static bool core_elf_many_segments(const struct core *core, uint64_t sections, bool wide,
                                   uint32_t *count)
{
    Elf64_Shdr long_section;
    Elf32_Shdr section;

    if (wide ? !core_elf_get_bytes(core, sections, &long_section, sizeof(long_section))
             : !core_elf_get_bytes(core, sections, &section, sizeof(section))) {
        return false;
    }
    *count = wide ? long_section.sh_info : section.sh_info;
    return true;
}

static bool core_elf_read_header(const struct core *core, struct header *header)
{
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;
    uint64_t sections;

    header->wide = core->size > EI_CLASS && core->data[EI_CLASS] == ELFCLASS64;
    if (header->wide ? !core_elf_get_bytes(core, 0, &wide, sizeof(wide))
                     : !core_elf_get_bytes(core, 0, &narrow, sizeof(narrow))) {
        return false;
    }
    header->table = header->wide ? wide.e_phoff : narrow.e_phoff;
    header->entry_bytes = header->wide ? wide.e_phentsize : narrow.e_phentsize;
    header->count = header->wide ? wide.e_phnum : narrow.e_phnum;
    sections = header->wide ? wide.e_shoff : narrow.e_shoff;
    if (header->count == PN_XNUM &&
        !core_elf_many_segments(core, sections, header->wide, &header->count)) {
        return false;
    }
    return header->entry_bytes == (header->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) &&
           header->count <= SEGMENTS_MOST;
}

static bool read_segment(const struct core *core, const struct header *header, uint32_t i,
                         Elf64_Phdr *segment)
{
    uint64_t at = header->table + (uint64_t)i * header->entry_bytes;
    Elf32_Phdr narrow;

    if (header->wide) {
        return core_elf_get_bytes(core, at, segment, sizeof(*segment));
    }
    if (!core_elf_get_bytes(core, at, &narrow, sizeof(narrow))) {
        return false;
    }
    segment->p_type = narrow.p_type;
    segment->p_offset = narrow.p_offset;
    segment->p_paddr = narrow.p_paddr;
    segment->p_filesz = narrow.p_filesz;
    return true;
}

/* Debuggers leave the physical address 0 where they don't know it. */
static int core_elf_add_segment(struct core *core, const Elf64_Phdr *segment, uint64_t *bytes)
{
    uint64_t left = segment->p_offset < core->size ? core->size - segment->p_offset : 0;
    uint64_t size = segment->p_filesz < left ? segment->p_filesz : left;

    if (segment->p_type != PT_LOAD || size == 0) {
        return 0;
    }
    *bytes += size;
    if (*bytes / CORE_TIMES_MOST > core->size) {
        kymo_error("%s: an ELF file whose segments are the same bytes again and again: it is "
                   "damaged; if the memory is in it, say where it was: --base ADDRESS",
                   core->path);
        return -1;
    }
    return core_add(core, (struct core_part){core->data + segment->p_offset, size, segment->p_paddr,
                                             segment->p_paddr != 0});
}

int core_read_elf(struct core *core)
{
    struct header header;
    Elf64_Phdr segment;
    uint64_t bytes = 0;

    if (core->size > EI_DATA && core->data[EI_DATA] == ELFDATA2MSB) {
        kymo_error("%s: a big-endian ELF file: Kymo runs on no such machine", core->path);
        return -1;
    }
    if (!core_elf_read_header(core, &header)) {
        kymo_error("%s: an ELF file whose header is cut off or damaged; if the memory is in it, "
                   "say where it was: --base ADDRESS",
                   core->path);
        return -1;
    }
    for (uint32_t i = 0; i < header.count; i++) {
        if (!read_segment(core, &header, i, &segment)) {
            break; /* cut off: the rest is used */
        }
        if (core_elf_add_segment(core, &segment, &bytes) != 0) {
            return -1;
        }
    }
    if (core->count == 0) {
        kymo_error("%s: an ELF file without memory: a program, or a core that was cut off",
                   core->path);
        return -1;
    }
    return 0;
}
