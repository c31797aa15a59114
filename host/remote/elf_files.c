/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which ELFs belong to a kernel, found by its build id: see elf_files.h. So symbols can't be of
 * another build. Proof: test/host/remote/board_test.c, test/board/events.py.
 */
#include "host/remote/elf_files.h"

#include "host/dt/dt.h"
#include "host/home.h"
#include "host/log/log.h"
#include "host/remote/elf_id.h"
#include "host/remote/helper_note.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_id(const struct elf_files *e)
{
    static const uint8_t none[ELF_ID_BYTES];

    return memcmp(e->build_id, none, sizeof(none)) != 0;
}

static bool is_folder(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static void elf_files_report_mismatch(const struct elf_files *e, const char *name,
                                      const uint8_t *id, const char *path)
{
    if (e->found) {
        e->found(e->arg, &(struct elf_found){name, id, path});
    }
}

/* ---- the kernel's ------------------------------------------------------------------ */

static bool is_kernels(const struct elf_files *e, const char *path)
{
    struct elf_id id;

    return elf_id_read(path, &id) && memcmp(id.bytes, e->build_id, sizeof(id.bytes)) == 0;
}

/* Among what the user named, then among the boards' images. malloc'ed; NULL: nowhere, or, with
 * errno ENOMEM, no memory. */
static char *find_kernel(const struct elf_files *e, const char *const *paths, unsigned n)
{
    struct home home;
    char *found = NULL;

    errno = 0;
    for (unsigned i = 0; i < n && !found && errno != ENOMEM; i++) {
        if (is_folder(paths[i])) {
            found = elf_id_find(e->build_id, paths[i], e->board);
        } else if (is_kernels(e, paths[i])) {
            found = strdup(paths[i]);
        }
    }
    if (!found && errno != ENOMEM && home_find(&home)) {
        found = elf_id_find(e->build_id, home.boards, e->board);
    }
    return found;
}

/* ---- programs ---------------------------------------------------------------------- */

struct programs {
    const struct elf_files *files;
    struct dt_session *session;
    const char *const *paths; /* the user's */
    unsigned npaths;
    bool *used;         /* by path */
    const char *kernel; /* its ELF's path */
    bool starved;       /* there was no memory for one of them */
};

static bool has_same_id(struct programs *p, const char *path, const struct elf_id *id)
{
    struct elf_id theirs;
    bool read = elf_id_read(path, &theirs);

    p->starved |= !read && errno == ENOMEM;
    return read && memcmp(theirs.bytes, id->bytes, sizeof(id->bytes)) == 0;
}

static bool elf_files_add_one(struct programs *p, const char *path, const char *name, bool kernel)
{
    errno = 0;
    bool added = dt_session_add_elf(p->session, path, name, kernel);

    p->starved |= !added && errno == ENOMEM;
    return added;
}

/* Where programs run from flash each is linked for its place in the image IMAGE.elf, and is in
 * IMAGE.placed/. */
static bool placed_path(const char *kernel, const char *name, char path[PATH_MAX])
{
    const char *slash = strrchr(kernel, '/'), *dot = strrchr(kernel, '.');
    int length = dot > (slash ? slash : kernel) ? (int)(dot - kernel) : (int)strlen(kernel);

    return snprintf(path, PATH_MAX, "%.*s.placed/%s", length, kernel, name) < PATH_MAX;
}

/* An unstripped ELF with this build id: one that the user named, in the image's own folder, or in
 * the folder programs beside the kernel's or above it. Kernels with assertions boot the programs of
 * the board's own folder. */
static bool find_program(struct programs *p, const char *name, const struct elf_id *id,
                         char path[PATH_MAX])
{
    static const char *const folders[] = {"", "../", "../%s/", "../../%s/"}; /* %s: the board */
    const char *slash = strrchr(p->kernel, '/');
    int length = slash ? (int)(slash - p->kernel) : 1;

    for (unsigned i = 0; i < p->npaths; i++) {
        if (!is_folder(p->paths[i]) && has_same_id(p, p->paths[i], id)) {
            p->used[i] = true;
            snprintf(path, PATH_MAX, "%s", p->paths[i]);
            return true;
        }
    }
    if (placed_path(p->kernel, name, path) && has_same_id(p, path, id)) {
        return true;
    }
    for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char folder[64];
        int n = snprintf(folder, sizeof(folder), folders[i], p->files->board);

        if (n < (int)sizeof(folder)) {
            n = snprintf(path, PATH_MAX, "%.*s/%sprograms/%s", length, slash ? p->kernel : ".",
                         folder, name);
        }
        if (n < PATH_MAX && has_same_id(p, path, id)) {
            return true;
        }
    }
    return false;
}

/* The boot image's own copy, as a file. */
static void add_from_memory(struct programs *p, const char *name, const void *data, size_t bytes)
{
    int fd = memfd_create("kymo-program", MFD_CLOEXEC);
    char path[32];

    if (fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        elf_files_add_one(p, path, name, false);
    }
    if (fd >= 0) {
        close(fd); /* the session has opened it anew */
    }
}

static void elf_files_add_program(void *arg, const char *name, const void *data, size_t bytes)
{
    struct programs *p = arg;
    errno = 0;
    Elf *elf = bytes ? elf_memory((char *)data, bytes) : NULL;
    struct elf_id id;
    char path[PATH_MAX];

    p->starved |= bytes && !elf && errno == ENOMEM;
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        bool has = elf_id_of(elf, &id), is_file = has && find_program(p, name, &id, path);

        if (is_file) {
            elf_files_add_one(p, path, name, false);
            log_probes_add(p->session, path, name);
            helper_note_add(p->session, path, name);
        } else {
            add_from_memory(p, name, data, bytes);
        }
        elf_files_report_mismatch(p->files, name, has ? id.bytes : NULL, is_file ? path : NULL);
    }
    elf_end(elf);
}

/* ---- all of them ------------------------------------------------------------------- */

/* Reports those that can't be read, and returns whether there are none. They go before any that is
 * the wrong one: what it is wrong for may be in them. */
static bool elf_files_readable(const struct elf_files *e, const char *const *paths, unsigned n)
{
    bool ok = true;

    for (unsigned i = 0; i < n; i++) {
        const char *why = elf_id_trouble(paths[i]);

        if (why) {
            fprintf(stderr, "%s: %s %s: %s\n", e->command, e->option, paths[i], why);
            ok = false;
        }
    }
    return ok;
}

/* Refuses an ELF named by the user that nothing on the target matches. */
static bool elf_files_refuse_path(const struct elf_files *e, const char *path)
{
    char theirs[ELF_ID_TEXT], wanted[ELF_ID_TEXT];
    struct elf_id id;

    if (!elf_id_read(path, &id)) {
        fprintf(stderr, "%s: %s %s: %s\n", e->command, e->option, path, elf_id_missing);
        return false;
    }
    elf_id_text(id.bytes, theirs);
    elf_id_text(e->build_id, wanted);
    fprintf(stderr,
            "%s: %s is not what %s runs: its build id is %s, the kernel's is %s, and no program of "
            "the boot image has it\n",
            e->command, path, e->whose, theirs, wanted);
    return false;
}

static bool add_all(const struct elf_files *e, struct dt_session *session, const char *kernel,
                    const char *const *paths, unsigned n)
{
    struct programs p = {e, session, paths, n, calloc(n + 1u, sizeof(bool)), kernel, false};
    bool ok = p.used && elf_files_add_one(&p, kernel, "kernel", true);

    if (ok) {
        elf_files_report_mismatch(e, "kernel", e->build_id, kernel);
        elf_boot_image(kernel, elf_files_add_program, &p);
    }
    if (!p.used || p.starved) {
        fprintf(stderr, "%s: out of memory\n", e->command);
        ok = false;
    }
    for (unsigned i = 0; ok && i < n; i++) {
        ok = p.used[i] || is_folder(paths[i]) || is_kernels(e, paths[i]) ||
             elf_files_refuse_path(e, paths[i]);
    }
    free(p.used);
    return ok;
}

bool elf_files_add(const struct elf_files *e, struct dt_session *session, const char *const *paths,
                   unsigned n, bool quiet)
{
    if (!elf_files_readable(e, paths, n)) {
        return false;
    }
    errno = 0;
    char *kernel = has_id(e) ? find_kernel(e, paths, n) : NULL, id[ELF_ID_TEXT];
    bool ok = kernel || errno != ENOMEM;

    if (!ok) {
        fprintf(stderr, "%s: out of memory\n", e->command);
    } else if (kernel) {
        ok = add_all(e, session, kernel, paths, n);
    } else {
        for (unsigned i = 0; ok && i < n; i++) {
            ok = is_folder(paths[i]) || elf_files_refuse_path(e, paths[i]);
        }
    }
    if (!kernel && has_id(e) && ok && !quiet) {
        elf_id_text(e->build_id, id);
        fprintf(stderr,
                "%s: no ELF here has %s's build id %s: its addresses have no names (%s FILE)\n",
                e->command, e->whose, id, e->option);
    }
    free(kernel);
    return ok;
}
