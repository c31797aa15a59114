/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The section .kymo_log of an ELF file. Internal to host/log.
 */
#ifndef HOST_LOG_ELF_H
#define HOST_LOG_ELF_H

#include "host/log/log.h"
#include "host/remote/elf_id.h"

/* The formats of an ELF file, as long as it is open. */
struct log_formats {
    const uint8_t *bytes;
    size_t size;
    struct elf_id id;
    uint32_t id_word; /* its first four bytes, as an event has them */
};
/* False: it has none, or no build id. */
bool log_formats_of(Elf *, struct log_formats *);
/* Reads what is at an offset of the formats, with a NUL after their last byte. Returns false if
 * that is no site. */
bool log_site_read(const uint8_t *bytes, size_t size, uint32_t offset, struct log_site *);

#endif
