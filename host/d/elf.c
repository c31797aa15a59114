/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ELFs whose types and symbols a session knows.
 */
#include "host/d/front.h"

bool d_elf_is_open(const struct d_session *d, const char *name)
{
    (void)d;
    (void)name;
    return false;
}

const struct d_type *d_elf_type(struct d_session *d, const char *object, enum d_type_kind kind,
                                const char *name)
{
    (void)d;
    (void)object;
    (void)kind;
    (void)name;
    return NULL;
}

bool d_elf_symbol(struct d_session *d, const char *object, const char *name, uint64_t *address,
                  const struct d_type **type)
{
    (void)d;
    (void)object;
    (void)name;
    (void)address;
    (void)type;
    return false;
}

void d_elfs_close(struct d_session *d)
{
    (void)d;
}

bool d_session_add_elf(struct d_session *d, const char *path, const char *name, bool kernel)
{
    (void)d;
    (void)path;
    (void)name;
    (void)kernel;
    return false;
}

bool d_symbol_at(struct d_session *d, uint64_t address, bool user, struct d_symbol *symbol)
{
    (void)d;
    (void)address;
    (void)user;
    (void)symbol;
    return false;
}
