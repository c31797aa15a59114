/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -C: the source through the system's C preprocessor, which leaves alone what it doesn't know:
 * `#pragma D`, $ and `. Its line markers keep the locations of errors right.
 */
#include "host/dt/session/compile.h"
#include "host/temporary.h"

#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { ARGUMENTS_MAX = 512 };

static _Noreturn void cpp_report_failure(struct dt_session *d)
{
    dt_fail(d, (struct dt_location){0}, "", "Preprocessor failed to process input program");
}

struct command {
    const char *words[ARGUMENTS_MAX + 1];
    unsigned n;
};

static void cpp_add_word(struct dt_session *d, struct command *c, const char *word)
{
    if (c->n == ARGUMENTS_MAX) {
        cpp_report_failure(d);
    }
    c->words[c->n++] = word;
}

static void make_command(struct dt_session *d, struct command *c, const struct dt_source *s)
{
    const struct dt_options *o = &d->options;
    unsigned version = dt_session_version(d);
    const char *path = o->texts[DT_O_cpppath], *standard = o->texts[DT_O_stdc];

    cpp_add_word(d, c, path ? path : "cpp");
    cpp_add_word(d, c, "-w");
    if (standard && *standard == 's') {
        cpp_add_word(d, c, "-traditional-cpp");
    }
    if (o->values[DT_O_cpphdrs]) {
        cpp_add_word(d, c, "-H");
    }
    cpp_add_word(d, c, "-D__SUNW_D=1");
    cpp_add_word(d, c,
                 dt_sprintf(d, "-D__SUNW_D_VERSION=0x%08x",
                            (version >> 16) << 24 | (version >> 8 & 255) << 12 | (version & 255)));
    for (const struct dt_text_list *l = o->lists[DT_O_define]; l; l = l->next) {
        cpp_add_word(d, c, l->text);
    }
    const char *slash = s->file ? strrchr(s->file, '/') : NULL;
    cpp_add_word(d, c, "-iquote");
    cpp_add_word(d, c,
                 !slash             ? "."
                 : slash == s->file ? "/"
                                    : dt_strndup(d, s->file, (size_t)(slash - s->file)));
    cpp_add_word(d, c, "-");
}

/* The text into a file, without a first line that is for the shell. */
static FILE *cpp_write_input(const struct dt_source *s, const char *text, size_t size)
{
    FILE *f = temporary_stream();
    const char *start = text;

    if (!f) {
        return NULL;
    }
    if (size > 2 && text[0] == '#' && text[1] == '!') {
        const char *newline = memchr(text, '\n', size);
        start = newline ? newline : text + size;
    }
    fprintf(f, "# 1 \"%s\"\n", s->file ? s->file : "");
    fwrite(start, 1, size - (size_t)(start - text), f);
    if (fflush(f) != 0 || ferror(f) || fseek(f, 0, SEEK_SET) != 0) {
        fclose(f);
        return NULL;
    }
    return f;
}

static bool cpp_run_command(char *const *words, FILE *in, FILE *out)
{
    posix_spawn_file_actions_t actions;
    int status = 0;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
    int error = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error == 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

const char *dt_preprocess(struct dt_session *d, const struct dt_source *s, const char *text,
                          size_t *size)
{
    struct command c = {.n = 0};
    char *result = NULL;

    make_command(d, &c, s);
    FILE *in = cpp_write_input(s, text, *size), *out = temporary_stream();
    if (in && out && cpp_run_command((char *const *)c.words, in, out)) {
        long n = fseek(out, 0, SEEK_END) == 0 ? ftell(out) : -1;
        result = n < 0 ? NULL : dt_alloc(d, (size_t)n + 1);
        rewind(out);
        *size = result ? fread(result, 1, (size_t)n, out) : 0;
    }
    if (in) {
        fclose(in);
    }
    if (out) {
        fclose(out);
    }
    if (!result) {
        cpp_report_failure(d);
    }
    return result;
}
