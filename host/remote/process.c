/* SPDX-License-Identifier: BSD-2-Clause */
/* The ELF files and the processes of a session with a board, by which addresses are named. */
#include "host/remote/elf_files.h"
#include "host/remote/remote.h"

#include <stdlib.h>

bool remote_elf_files(struct target *t, struct dt_session *session, const char *const *paths,
                      unsigned n, bool quiet)
{
    struct remote *r = (struct remote *)t;
    const struct elf_files elf_files = {.build_id = r->info.build_id,
                                        .board = r->info.board,
                                        .command = "dtrace",
                                        .whose = "the target",
                                        .option = "--elf"};

    r->session = session;
    if (!(r->info.features & KYMO_D_FEATURE_HELPERS)) {
        dt_session_no_helpers(session);
    }
    return elf_files_add(&elf_files, session, paths, n, quiet);
}

static struct remote_process *ask_process(struct remote *r, int32_t pid)
{
    struct kymo_d_call call = {.command = KYMO_D_PROCESS, .id = (uint32_t)pid};
    struct remote_process *p = calloc(1, sizeof(*p));

    if (!p) {
        return NULL;
    }
    p->pid = pid;
    p->known = remote_ask(r, &call, &p->process, sizeof(p->process)) == 0 &&
               remote_text_ok(p->process.name, sizeof(p->process.name));
    p->next = r->processes;
    r->processes = p;
    return p;
}

/* Asked once, when a record or an aggregation's key has an address of it. It may have ended: the
 * target remembers the newest ones. */
bool remote_process(struct target *t, int32_t pid, const char **object, uint64_t *bias)
{
    struct remote *r = (struct remote *)t;
    struct remote_process *p = r->processes;

    while (p && p->pid != pid) {
        p = p->next;
    }
    p = p ? p : ask_process(r, pid);
    if (!p || !p->known) {
        return false;
    }
    *object = p->process.name;
    *bias = p->process.text - p->process.text_link;
    return true;
}

void remote_processes_free(struct remote *r)
{
    for (struct remote_process *p = r->processes, *next; p; p = next) {
        next = p->next;
        free(p);
    }
}
