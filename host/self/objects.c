/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of this process's own code, for stack(), ustack(), sym() … : what is mapped, as the
 * loader has it. Asked for when the first address is printed, as reading libraries takes time.
 */
#include "host/self/target.h"

#include <errno.h>
#include <link.h>
#include <string.h>

static const char *self_objects_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The program itself has no name here; what is mapped without a file (the vDSO) has no symbols. */
static int self_objects_add(struct dl_phdr_info *info, size_t size, void *session)
{
    const char *path = info->dlpi_name;

    (void)size;
    if (!path || !*path) {
        dt_session_add_elf_at(session, "/proc/self/exe", program_invocation_short_name, false,
                              info->dlpi_addr);
    } else if (*path == '/') {
        dt_session_add_elf_at(session, path, self_objects_base_name(path), false, info->dlpi_addr);
    }
    return 0;
}

void self_objects(struct target *t, struct dt_session *session)
{
    (void)t;
    dl_iterate_phdr(self_objects_add, session);
}
