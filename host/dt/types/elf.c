/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ELFs whose types and symbols a session knows: of the kernel, whose names need no object
 * before the backquote, and of programs.
 */
#include "host/dt/types/elf.h"
#include "host/dt/types/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool elf_open_file(struct dt_elf *e, const char *path)
{
    e->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (e->fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        return false;
    }
    e->elf = elf_begin(e->fd, ELF_C_READ_MMAP, NULL);
    if (!e->elf || elf_kind(e->elf) != ELF_K_ELF) {
        return false;
    }
    errno = 0;
    e->dwarf = dwarf_begin_elf(e->elf, DWARF_C_READ, NULL);
    return e->dwarf || errno != ENOMEM; /* many ELF files have none */
}

static void close_elf(struct dt_elf *e)
{
    if (e->dwarf) {
        dwarf_end(e->dwarf);
    }
    if (e->elf) {
        elf_end(e->elf);
    }
    if (e->fd >= 0) {
        close(e->fd);
    }
}

void dt_elfs_close(struct dt_session *d)
{
    for (struct dt_elf *e = d->elfs; e; e = e->next) {
        close_elf(e);
    }
}

bool dt_session_add_elf_at(struct dt_session *d, const char *path, const char *name, bool kernel,
                           uint64_t bias)
{
    struct dt_elf *e = dt_alloc(d, sizeof(*e));

    e->name = dt_strdup(d, name);
    e->kernel = kernel;
    e->bias = bias;
    if (!elf_open_file(e, path)) {
        int error = errno;
        close_elf(e);
        errno = error;
        return false;
    }
    dt_elf_symbols_read(d, e);
    if (kernel) {
        dt_elf_kernel_id(e, d->kernel_id);
    }
    *d->elfs_end = e;
    d->elfs_end = &e->next;
    return true;
}

bool dt_session_add_elf(struct dt_session *d, const char *path, const char *name, bool kernel)
{
    return dt_session_add_elf_at(d, path, name, kernel, 0);
}

/* object: NULL or "": the kernel's. */
static bool elf_is_wanted(const struct dt_elf *e, const char *object)
{
    return object && *object ? strcmp(e->name, object) == 0 : e->kernel;
}

bool dt_elf_is_open(const struct dt_session *d, const char *name)
{
    const struct dt_elf *e = d->elfs;

    while (e && strcmp(e->name, name) != 0) {
        e = e->next;
    }
    return e != NULL;
}

const struct dt_type *dt_elf_type(struct dt_session *d, const char *object, enum dt_type_kind space,
                                  const char *name)
{
    Dwarf_Die die;

    for (struct dt_elf *e = d->elfs; e; e = e->next) {
        if (elf_is_wanted(e, object) && dt_elf_find(d, e, (int)space, name, &die)) {
            return dt_elf_type_of(d, e, &die);
        }
    }
    return NULL;
}

const struct dt_type *dt_elf_function(struct dt_session *d, const char *object, const char *name)
{
    Dwarf_Die die;

    for (struct dt_elf *e = d->elfs; e; e = e->next) {
        if (elf_is_wanted(e, object) && dt_elf_functions_named(e, name) == 1 &&
            dt_elf_find(d, e, DT_ELF_FUNCTION, name, &die)) {
            return dt_elf_type_of_object(d, e, &die);
        }
    }
    return NULL;
}

bool dt_elf_symbol(struct dt_session *d, const char *object, const char *name, uint64_t *address,
                   const struct dt_type **type)
{
    for (struct dt_elf *e = d->elfs; e; e = e->next) {
        const struct dt_elf_symbol *s =
            elf_is_wanted(e, object) ? dt_elf_symbol_by_name(e, name) : NULL;
        if (s) {
            *address = s->address + e->bias;
            Dwarf_Die die;
            bool known = dt_elf_find(d, e, DT_ELF_VARIABLE, name, &die) ||
                         dt_elf_find(d, e, DT_ELF_FUNCTION, name, &die);
            *type = known ? dt_elf_type_of_object(d, e, &die) : NULL;
            return true;
        }
    }
    return false;
}

bool dt_elf_enumerator(struct dt_session *d, const char *object, const char *name, int64_t *value)
{
    Dwarf_Die die;

    for (struct dt_elf *e = d->elfs; e; e = e->next) {
        if (elf_is_wanted(e, object) && dt_elf_find(d, e, DT_ELF_ENUMERATOR, name, &die)) {
            *value = dt_elf_enumerator_value(&die);
            return true;
        }
    }
    return false;
}
