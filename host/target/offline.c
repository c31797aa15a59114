/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target elf:PATH: a kernel that is not running, of which there is only its ELF. Programs can
 * be compiled for it (--compile, -e). The types of args[] are known of the probes that all boards
 * have (board_probes.h) and of function probes that are named in full: the ELF's DWARF has them
 * (host/dt/check/argument.c). Descriptions of what a target makes or finds itself (profile, fbt)
 * are taken as they are. Tested by test/host/check, test/d_remote/board_test.c.
 */
#include "host/target/offline.h"

#include "host/remote/elf_id.h"
#include "host/target/board_probes.h"

#include <stdlib.h>
#include <string.h>

struct offline {
    struct target base;
    char *path;
    const struct dt_model *model;
    unsigned machine; /* e_machine */
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

static bool begins(const char *field, const char *with)
{
    return !*field || strpbrk(field, "*?[\\") || strncmp(field, with, strlen(with)) == 0;
}

/* Probes that no table of all boards has: the provider dtrace, timers of any interval, functions of
 * the kernel, places in programs. */
static bool offline_may_have(const char *provider, const char *function, const char *name)
{
    bool of_dtrace =
        dtrace_glob(name, "BEGIN") || dtrace_glob(name, "END") || dtrace_glob(name, "ERROR");
    bool of_profile = begins(name, "tick-") || begins(name, "profile-");

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

static bool offline_elf_files(struct target *t, struct dt_session *session,
                              const char *const *paths, unsigned n, bool quiet)
{
    const char *path = ((struct offline *)t)->path;

    (void)quiet;
    if (n) {
        fprintf(stderr, "dtrace: --elf %s: the target is an ELF already\n", paths[0]);
        return false;
    }
    return dt_session_add_elf(session, path, "kernel", true);
}

/* What a machine has, only it knows; but of these none has counters. */
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

    *why = "it is no ELF with a build id";
    if (!t || !elf_id_read(path, &id)) {
        free(t);
        return NULL;
    }
    t->base.ops = &offline_ops;
    t->path = strdup(path);
    t->model = dt_model_of(id.machine);
    t->machine = id.machine;
    return &t->base;
}
