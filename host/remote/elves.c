/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which ELFs a session with a board has: the kernel's, found by the build id that the target says,
 * and the programs of the boot image in it, with the DWARF of their unstripped ELFs where those are
 * at hand. So symbols can't be of another build.
 */
#include "host/remote/elf_id.h"
#include "host/remote/remote.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_id(const struct remote *r)
{
    static const uint8_t none[sizeof(r->info.build_id)];

    return memcmp(r->info.build_id, none, sizeof(none)) != 0;
}

static bool is_folder(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* ---- the kernel's ------------------------------------------------------------------------------
 */

static bool is_kernels(const struct remote *r, const char *path)
{
    struct elf_id id;

    return elf_id_read(path, &id) && memcmp(id.bytes, r->info.build_id, sizeof(id.bytes)) == 0;
}

/* Among what the user named, then in the source tree. malloc'ed; NULL: nowhere. */
static char *find_kernel(const struct remote *r, const char *const *paths, unsigned n)
{
    char build[PATH_MAX], *found = NULL;

    for (unsigned i = 0; i < n && !found; i++) {
        if (is_folder(paths[i])) {
            found = elf_id_find(r->info.build_id, paths[i], r->info.board);
        } else if (is_kernels(r, paths[i])) {
            found = strdup(paths[i]);
        }
    }
    if (!found && elf_id_build_folder(build, sizeof(build))) {
        found = elf_id_find(r->info.build_id, build, r->info.board);
    }
    return found;
}

/* ---- programs ----------------------------------------------------------------------------------
 */

struct programs {
    struct remote *r;
    struct d_session *session;
    const char *const *paths; /* the user's */
    unsigned npaths;
    bool *used;         /* by path */
    const char *kernel; /* its ELF's path */
};

/* An unstripped ELF with this build id: one that the user named, or beside the kernel's. */
static bool find_program(const struct programs *p, const char *name, const struct elf_id *id,
                         char path[PATH_MAX])
{
    struct elf_id theirs;
    const char *slash = strrchr(p->kernel, '/');

    for (unsigned i = 0; i < p->npaths; i++) {
        if (!is_folder(p->paths[i]) && elf_id_read(p->paths[i], &theirs) &&
            memcmp(theirs.bytes, id->bytes, sizeof(id->bytes)) == 0) {
            p->used[i] = true;
            snprintf(path, PATH_MAX, "%s", p->paths[i]);
            return true;
        }
    }
    int n = snprintf(path, PATH_MAX, "%.*s/programs/%s", slash ? (int)(slash - p->kernel) : 1,
                     slash ? p->kernel : ".", name);
    return n < PATH_MAX && elf_id_read(path, &theirs) &&
           memcmp(theirs.bytes, id->bytes, sizeof(id->bytes)) == 0;
}

/* The boot image's own copy, as a file. */
static void add_from_memory(struct d_session *session, const char *name, const void *data,
                            size_t bytes)
{
    int fd = memfd_create("kymo-program", MFD_CLOEXEC);
    char path[32];

    if (fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        d_session_add_elf(session, path, name, false);
    }
    if (fd >= 0) {
        close(fd); /* the session has opened it anew */
    }
}

static void add_program(void *arg, const char *name, const void *data, size_t bytes)
{
    const struct programs *p = arg;
    Elf *elf = bytes ? elf_memory((char *)data, bytes) : NULL;
    struct elf_id id;
    char path[PATH_MAX];

    if (elf && elf_kind(elf) == ELF_K_ELF) {
        if (elf_id_of(elf, &id) && find_program(p, name, &id, path)) {
            d_session_add_elf(p->session, path, name, false);
        } else {
            add_from_memory(p->session, name, data, bytes);
        }
    }
    elf_end(elf);
}

/* ---- all of them -------------------------------------------------------------------------------
 */

/* What the user named but nobody on the target has. */
static bool refuse(const struct remote *r, const char *path)
{
    char theirs[ELF_ID_TEXT] = "none", wanted[ELF_ID_TEXT];
    struct elf_id id;

    if (access(path, R_OK) != 0) {
        fprintf(stderr, "dtrace: %s: %s\n", path, strerror(errno));
        return false;
    }
    if (elf_id_read(path, &id)) {
        elf_id_text(id.bytes, theirs);
    }
    elf_id_text(r->info.build_id, wanted);
    fprintf(
        stderr,
        "dtrace: %s is not what the target runs: its build id is %s, the kernel's is %s, and no "
        "program of the boot image has it\n",
        path, theirs, wanted);
    return false;
}

static bool add_all(struct remote *r, struct d_session *session, const char *kernel,
                    const char *const *paths, unsigned n)
{
    struct programs p = {r, session, paths, n, calloc(n + 1u, sizeof(bool)), kernel};
    bool ok = p.used && d_session_add_elf(session, kernel, "kernel", true);

    if (ok) {
        elf_boot_image(kernel, add_program, &p);
    }
    for (unsigned i = 0; ok && i < n; i++) {
        ok = p.used[i] || is_folder(paths[i]) || is_kernels(r, paths[i]) || refuse(r, paths[i]);
    }
    free(p.used);
    return ok;
}

bool remote_elves(struct target *t, struct d_session *session, const char *const *paths, unsigned n,
                  bool quiet)
{
    struct remote *r = (struct remote *)t;
    char *kernel = has_id(r) ? find_kernel(r, paths, n) : NULL, id[ELF_ID_TEXT];
    bool ok = true;

    if (kernel) {
        ok = add_all(r, session, kernel, paths, n);
    } else {
        for (unsigned i = 0; ok && i < n; i++) {
            ok = is_folder(paths[i]) || refuse(r, paths[i]);
        }
    }
    if (!kernel && has_id(r) && ok && !quiet) {
        elf_id_text(r->info.build_id, id);
        fprintf(stderr,
                "dtrace: no ELF here has the target's build id %s: its addresses have no "
                "names (--elf FILE)\n",
                id);
    }
    free(kernel);
    return ok;
}

/* ---- whose an address is -----------------------------------------------------------------------
 */

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

/* Asked once, when a stack of it is printed: if it is gone by then, its addresses have no names. */
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
