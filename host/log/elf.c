/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The section .kymo_log of an ELF file: formats of log text, and static probes (abi/sys/log.h). The
 * file is not trusted. See log.h. Proof: test/host/log/.
 */
#include "host/log/elf.h"

#include <stddef.h>
#include <string.h>

#include "abi/sys/log.h"

static bool is_formats(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    size_t names;
    const char *name;

    if (elf_getshdrstrndx(elf, &names) != 0) {
        return false;
    }
    name = elf_strptr(elf, names, header->sh_name);
    return name != NULL && strcmp(name, ".kymo_log") == 0 && header->sh_addr == KYMO_LOG_BASE &&
           header->sh_type != SHT_NOBITS && elf_getdata(section, NULL) != NULL;
}

bool log_formats_of(Elf *elf, struct log_formats *formats)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL || !is_formats(elf, section, &header) ||
            !elf_id_of(elf, &formats->id)) {
            continue;
        }
        const Elf_Data *data = elf_getdata(section, NULL);
        const uint8_t *id = formats->id.bytes;

        formats->id_word =
            (uint32_t)id[0] | (uint32_t)id[1] << 8 | (uint32_t)id[2] << 16 | (uint32_t)id[3] << 24;
        formats->bytes = data->d_buf;
        formats->size = data->d_buf != NULL ? data->d_size : 0;
        return true;
    }
    return false;
}

bool log_site_read(const uint8_t *bytes, size_t size, uint32_t offset, struct log_site *site)
{
    struct kymo_log_site raw;
    const char *text = (const char *)bytes + offset + sizeof(raw);

    if (offset % 4 != 0 || offset > size || size - offset <= sizeof(raw)) {
        return false;
    }
    memcpy(&raw, bytes + offset, sizeof(raw));
    if (raw.file_bytes == 0 || raw.file_bytes >= size - offset - sizeof(raw) ||
        text[raw.file_bytes - 1] != '\0' || raw.types[sizeof(raw.types) - 1] != '\0' ||
        strspn(raw.types, "iuIUfspP") != strlen(raw.types)) {
        return false;
    }
    *site = (struct log_site){.line = raw.line,
                              .level = raw.level,
                              .types = (const char *)bytes + offset +
                                       offsetof(struct kymo_log_site, types),
                              .file = text,
                              .format = text + raw.file_bytes};
    return true;
}
