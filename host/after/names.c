/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of addresses: the session gets the ELF files of the capture's build when the first address
 * is to be named, because most programs print none. See after.h. Tested by test/host/symbols/check.
 */
#include "host/after/after.h"
#include "host/dt/dt.h"
#include "host/remote/elf_files.h"
#include "host/remote/elf_id.h"
#include "host/target/target.h"

static struct {
    const struct kev *kev;
    struct dt_session *session;
    bool added, quiet; /* the ELF files were looked for; no message if there are none */
} names;

void after_names_init(const struct kev *kev)
{
    names.kev = kev;
}

/* False after a message. */
static bool after_names_add_path(const char *const *paths, unsigned n)
{
    const struct kev_info *info = kev_info(names.kev);
    const uint8_t none[ELF_ID_BYTES] = {0};
    bool has_id = info->build_id && info->build_id_len == ELF_ID_BYTES;
    struct elf_files files = {.build_id = has_id ? info->build_id : none,
                              .board = info->board,
                              .command = "dtrace",
                              .whose = "the recorded system",
                              .option = "--elf"};

    names.added = true;
    return elf_files_add(&files, names.session, paths, n, names.quiet);
}

/* Static probes: of the build's programs, and of ELF files where log text is looked for. */
static void after_names_find_probes(void *arg, struct dt_session *session)
{
    const char *path = kev_info(names.kev)->path;

    (void)arg;
    if (!names.added) {
        after_names_add_path(NULL, 0);
    }
    log_probes_find(session, path ? path : "./");
}

bool after_elf_files(struct target *t, struct dt_session *session, const char *const *paths,
                     unsigned n, bool quiet)
{
    (void)t;
    names.session = session;
    names.quiet = quiet;
    dt_session_derive_from(session, after_names_find_probes, NULL);
    return n == 0 || after_names_add_path(paths, n); /* what the user names is looked at now */
}

void after_objects(struct target *t, struct dt_session *session)
{
    (void)t, (void)session;
    if (!names.added) {
        after_names_add_path(NULL, 0);
    }
}

bool after_process(struct target *t, int32_t pid, const char **object, uint64_t *bias)
{
    const struct after_process *p = after_process_find(pid);
    uint64_t linked;

    if (!p || !p->text || p->moved) {
        return false;
    }
    after_objects(t, names.session);
    if (!dt_object_text(names.session, p->name, &linked)) {
        return false;
    }
    *object = p->name;
    *bias = p->text - linked;
    return true;
}
