/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkd OUTPUT ARCH SCRIPT [OPTION=VALUE ...]: compiles a D script to an image for a target
 * that isn't there yet: for boot images (BOOT_D), boot tests and the benchmark. The boards' own
 * probes and the types of their args[] are known (host/target/board_probes.h); every other
 * description is taken to match a probe without args[]: the target finds out whether it does. The
 * option kernel=FILE.elf: with that kernel's types and symbols, and for it alone.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dt/dt.h"
#include "host/target/board_probes.h"

/* Whatever it is, there is one. */
static unsigned mkd_call_once(void *arg, const char *provider, const char *module,
                              const char *function, const char *name, uint32_t id,
                              bool (*fn)(void *fn_arg, const struct dt_probe_info *), void *fn_arg)
{
    const struct dt_probe_info info = {
        .id = id, .provider = provider, .module = module, .function = function, .name = name};

    (void)arg;
    unsigned n = id ? 0 : board_probes_each(provider, module, function, name, fn, fn_arg);
    if (n == 0) {
        fn(fn_arg, &info);
    }
    return n > 0 ? n : 1;
}

static const char *mkd_argument_type(void *arg, uint32_t id, unsigned n)
{
    (void)arg;
    return board_probe_type(id, n);
}

static int mkd_print_error(struct dt_session *d)
{
    const struct dt_error *e = dt_session_error(d);

    fprintf(stderr, "mkd: %s:%u: %s\n", e->file ? e->file : "?", e->line, e->text);
    return 1;
}

static int mkd_save_image(const char *path, const void *image, size_t size)
{
    FILE *out = fopen(path, "wb");

    if (!out || fwrite(image, size, 1, out) != 1 || fclose(out) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

static bool set_options(struct dt_session *d, char **options)
{
    for (; *options; options++) {
        char *value = strchr(*options, '=');
        if (value) {
            *value++ = '\0';
        }
        bool kernel = strcmp(*options, "kernel") == 0 && value;
        const char *why = kernel ? dt_session_add_elf(d, value, "kernel", true) ? NULL : "no ELF"
                                 : dt_option_set(d, *options, value, DT_FROM_COMMAND);
        if (why) {
            fprintf(stderr, "mkd: option %s: %s\n", *options, why);
            return false;
        }
    }
    return true;
}

/* A port of kernel/arch; NULL: there is none of that name. */
static const struct dt_model *model_of(const char *arch)
{
    static const struct {
        const char *arch;
        unsigned machine;
    } machines[] = {{"armv7m", EM_ARM}, {"aarch64", EM_AARCH64}, {"x86_64", EM_X86_64}};

    for (unsigned i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
        if (strcmp(arch, machines[i].arch) == 0) {
            return dt_model_of(machines[i].machine);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const struct dt_probe_source probes = {.each = mkd_call_once,
                                           .argument_type = mkd_argument_type};
    struct dt_source source = {.spec = DT_SPEC_NAME};
    size_t size;

    const struct dt_model *model = argc < 4 ? NULL : model_of(argv[2]);
    if (!model) {
        fputs("usage: mkd OUTPUT armv7m|aarch64|x86_64 SCRIPT [OPTION=VALUE ...]\n", stderr);
        return 2;
    }
    struct dt_session *d = dt_session_new(model, &probes);
    if (!set_options(d, argv + 4)) {
        return 1;
    }
    source.file = argv[3];
    struct dt_program *program = dt_compile(d, &source);
    if (!program) {
        return mkd_print_error(d);
    }
    void *image = dt_image_make(d, &program, 1, &size);
    int status = image ? mkd_save_image(argv[1], image, size) : mkd_print_error(d);
    free(image);
    dt_session_free(d);
    return status;
}
