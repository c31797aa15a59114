/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target elf:PATH: a kernel that is not running, of which there is only its ELF. Programs can
 * be compiled for it (--compile, -e). The types of args[] are known of the probes that all boards
 * have (board_probes.h) and of function probes that are named in full: the ELF's DWARF has them
 * (host/dt/check/argument.c); those of static probes are in the programs' ELFs. Descriptions of
 * what a target makes or finds itself (profile, fbt) are taken as they are. Tested by
 * test/host/check, test/host/remote/board_test.c.
 */
#include "host/target/offline.h"

#include "host/log/log.h"
#include "host/remote/elf_files.h"
#include "host/remote/elf_id.h"
#include "host/target/board_probes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct offline {
    struct target base;
    char *path;
    const struct dt_model *model;
    unsigned machine; /* e_machine */
    uint8_t build_id[ELF_ID_BYTES];
};

/* Accepts any function: only the target can find out whether it exists. */
static unsigned offline_each(void *arg, const char *provider, const char *module,
                             const char *function, const char *name, uint32_t id,
                             bool (*fn)(void *fn_arg, const struct dt_probe_info *), void *fn_arg)
{
    const struct dt_probe_info info = {
        .provider = provider, .module = module, .function = function, .name = name};
    bool entry = strcmp(name, "entry") == 0, known = entry || strcmp(name, "return") == 0;

    (void)arg;
    unsigned n = id ? 0 : board_probes_each(provider, module, function, name, fn, fn_arg);
    if (n > 0 || strcmp(provider, "fbt") != 0 || !known || !*function ||
        strpbrk(function, "*?[\\")) {
        return n;
    }
    fn(fn_arg, &info);
    return 1;
}

static const char *offline_argument(void *arg, uint32_t id, unsigned n)
{
    (void)arg;
    return board_probe_type(id, n);
}

static bool offline_begins_with(const char *field, const char *with)
{
    return !*field || strpbrk(field, "*?[\\") || strncmp(field, with, strlen(with)) == 0;
}

/* Probes that no table of all boards has: the provider dtrace, timers of any interval, functions of
 * the kernel, places in programs. */
static bool offline_may_have(const char *provider, const char *function, const char *name)
{
    bool of_dtrace =
        dtrace_glob(name, "BEGIN") || dtrace_glob(name, "END") || dtrace_glob(name, "ERROR");
    bool of_profile = offline_begins_with(name, "tick-") || offline_begins_with(name, "profile-");

    return (dtrace_glob(provider, "dtrace") && !*function && of_dtrace) ||
           (dtrace_glob(provider, "profile") && !*function && of_profile) ||
           (dtrace_glob(provider, "fbt") &&
            (dtrace_glob(name, "entry") || dtrace_glob(name, "return"))) ||
           strncmp(provider, "pid", 3) == 0;
}

static const struct dt_probe_source *offline_probes(struct target *t)
{
    static const struct dt_probe_source source = {
        .each = offline_each, .argument_type = offline_argument, .may_have = offline_may_have};

    (void)t;
    return &source;
}

static const struct dt_model *offline_model(struct target *t)
{
    return ((struct offline *)t)->model;
}

/* Returns the boards' default, as far as it can be determined: small ones have short pointers. */
static uint64_t offline_option_default(struct target *t, const char *option)
{
    static const struct {
        const char *name;
        uint64_t small, large;
    } table[] = {{"bufsize", 16 << 10, 256 << 10},
                 {"aggsize", 8 << 10, 256 << 10},
                 {"specsize", 4 << 10, 32 << 10},
                 {"dynvarsize", 8 << 10, 256 << 10},
                 {"strsize", 64, 256}};
    bool small = offline_model(t)->pointer == 4;

    for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (strcmp(option, table[i].name) == 0) {
            return small ? table[i].small : table[i].large;
        }
    }
    return DT_OPTION_UNSET;
}

static void offline_count_program(void *arg, const char *name, const void *data, size_t bytes)
{
    (void)name;
    (void)data;
    *(size_t *)arg += bytes;
}

/* Why it has no build id to be read. */
static const char *id_trouble(const char *path)
{
    const char *why = elf_id_trouble(path);

    return why ? why : elf_id_missing;
}

/* A program for a kernel that has no boot image yet. */
static bool offline_add_program(const struct offline *o, struct dt_session *session,
                                const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct elf_id id;
    const bool has_id = elf_id_read(path, &id);

    if (!has_id || id.machine != o->machine || !dt_session_add_elf(session, path, name, false)) {
        fprintf(stderr, "dtrace: --elf %s: %s\n", path,
                has_id ? "it is no program of that kernel's CPU" : id_trouble(path));
        return false;
    }
    log_probes_add(session, path, name);
    return true;
}

/* As on a board, programs are those of the boot image. */
static bool add_image(const struct offline *o, struct dt_session *session, const char *const *paths,
                      unsigned n, bool quiet)
{
    const struct elf_files files = {.build_id = o->build_id,
                                    .board = "",
                                    .command = "dtrace",
                                    .whose = "that kernel",
                                    .option = "--elf"};
    const char **all = calloc(n + 1u, sizeof(*all));

    if (!all) {
        return false;
    }
    all[0] = o->path;
    for (unsigned i = 0; i < n; i++) {
        all[i + 1] = paths[i];
    }
    bool ok = elf_files_add(&files, session, all, n + 1, quiet);
    free(all);
    return ok;
}

/* Without a boot image (kernel.elf of a build) programs are those that are named. */
static bool offline_elf_files(struct target *t, struct dt_session *session,
                              const char *const *paths, unsigned n, bool quiet)
{
    const struct offline *o = (struct offline *)t;
    size_t bytes = 0;

    dt_session_no_helpers(session); /* what is compiled brings none along */
    elf_boot_image(o->path, offline_count_program, &bytes);
    if (bytes) {
        return add_image(o, session, paths, n, quiet);
    }
    bool ok = dt_session_add_elf(session, o->path, "kernel", true);
    for (unsigned i = 0; ok && i < n; i++) {
        ok = offline_add_program(o, session, paths[i]);
    }
    return ok;
}

/* Only a machine itself knows what it lacks; but none of these has counters. */
static const char *offline_lacks(struct target *t, const char *variable)
{
    (void)variable;
    return ((struct offline *)t)->machine == EM_AARCH64 ? NULL
                                                        : "kernels of this CPU have no counters";
}

/* A program for the boot has none. */
static int32_t offline_consumer(struct target *t)
{
    (void)t;
    return 0;
}

static void offline_close(struct target *t)
{
    free(((struct offline *)t)->path);
    free(t);
}

static const struct target_ops offline_ops = {
    .only_compiles = true,
    .close = offline_close,
    .model = offline_model,
    .probes = offline_probes,
    .consumer = offline_consumer,
    .option_default = offline_option_default,
    .lacks = offline_lacks,
    .elf_files = offline_elf_files,
};

struct target *offline_target_open(const char *path, const char **why)
{
    struct offline *t = calloc(1, sizeof(*t));
    struct elf_id id;

    if (!t || !elf_id_read(path, &id)) {
        *why = t ? id_trouble(path) : strerror(ENOMEM);
        free(t);
        return NULL;
    }
    t->base.ops = &offline_ops;
    t->path = strdup(path);
    t->model = dt_model_of(id.machine);
    t->machine = id.machine;
    memcpy(t->build_id, id.bytes, sizeof(t->build_id));
    return &t->base;
}
