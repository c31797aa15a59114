/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A compiled program in a file: see saved.h. After the image stand a magic, the number of strings,
 * and the strings, each with its NUL: an option and its value in turn, as on the command line;
 * "text" follows the name of a script and is its content. A source is kept as the preprocessor left
 * it, and options that only the user may set are not kept, so a reader needs no file and no program
 * of the machine that wrote it.
 */
#include "host/dtrace/saved.h"
#include "host/kymo.h"
#include "host/memory_stream.h"
#include "host/output.h"
#include "host/output_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAVED_MAGIC 0x7344796bu /* "kyDs" */
enum { STRINGS_MAX = 100000 };

struct saved_head {
    uint32_t magic;
    uint32_t strings;
};

/* ---- writing ----------------------------------------------------------------------- */

struct strings {
    FILE *out;
    uint32_t n;
};

static void saved_put_pair(struct strings *s, const char *name, const char *value)
{
    fwrite(name, 1, strlen(name) + 1, s->out);
    fwrite(value, 1, strlen(value) + 1, s->out);
    s->n += 2;
}

/* A description is kept without the preprocessor's line markers, which name no file. */
static bool put_source(struct strings *s, const struct program_source *p)
{
    static const char *const names[] = {"-P", "-m", "-f", "-n", "-i"};
    size_t size;
    const char *compiled = dt_program_text(p->program, &size);
    char *text = strndup(compiled, size), *at = text;

    if (text && p->is_script) {
        saved_put_pair(s, "-s", p->text);
        saved_put_pair(s, "text", text);
    } else if (text) {
        while (at[0] == '#' && at[1] == ' ' && at[2] >= '0' && at[2] <= '9' && strchr(at, '\n')) {
            at = strchr(at, '\n') + 1;
        }
        saved_put_pair(s, names[p->spec], at);
    }
    free(text);
    return text != NULL;
}

static void saved_put_pid(struct strings *s, const char *name, int32_t pid)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", (int)pid);
    saved_put_pair(s, name, text);
}

char *saved_strings(const struct command *c, size_t *size)
{
    char *bytes = NULL;
    struct strings s = {memory_stream(&bytes, size), 0};
    struct saved_head head = {SAVED_MAGIC, 0};
    bool ok = s.out != NULL;

    if (!ok) {
        return NULL;
    }
    fwrite(&head, sizeof(head), 1, s.out);
    for (unsigned i = 0; i < c->nsettings; i++) {
        const char *name = c->settings[i].name;
        /* A reader without -w or -L must learn that it needs them. */
        if (dt_option_is_users(name) && strcmp(name, "destructive") != 0 &&
            strcmp(name, "libdir") != 0) {
            continue;
        }
        saved_put_pair(&s, c->settings[i].value ? "set" : "flag", name);
        if (c->settings[i].value) {
            saved_put_pair(&s, "value", c->settings[i].value);
        }
    }
    for (unsigned i = 0; i < c->nsources && ok; i++) {
        ok = put_source(&s, &c->sources[i]);
    }
    for (int i = 0; i < c->nargs; i++) {
        saved_put_pair(&s, "argument", c->args[i]);
    }
    for (unsigned i = 0; i < c->ntargets; i++) {
        saved_put_pid(&s, "target", c->targets[i].pid);
    }
    for (unsigned i = 0; i < c->nprocesses; i++) {
        for (unsigned k = 0; k < c->processes[i].n; k++) {
            saved_put_pair(&s, "process", c->processes[i].name);
            saved_put_pid(&s, "pid", c->processes[i].pids[k]);
        }
    }
    if (fclose(s.out) != 0) {
        return NULL;
    }
    if (!ok) {
        free(bytes);
        return NULL;
    }
    memcpy(bytes + offsetof(struct saved_head, strings), &s.n, sizeof(s.n));
    return bytes;
}

/* Replaces a program that was compiled before, but neither a script of this one nor a capture. */
int saved_write(const struct command *c, const void *image, size_t size)
{
    struct output output;
    size_t n = 0;
    int result;

    for (unsigned i = 0; i < c->nsources; i++) {
        if (c->sources[i].is_script) {
            output_reads(c->sources[i].text);
        }
    }
    if (output_is_capture(c->compile_to)) {
        kymo_error("%s: is a capture: give another file", c->compile_to);
        result = -EEXIST;
    } else {
        result = output_open(&output, c->compile_to, OUTPUT_FORCE);
    }
    if (result == 0) {
        char *strings = saved_strings(c, &n);

        output_write(&output, image, size);
        output_write(&output, strings, n);
        if (strings) {
            result = output_commit(&output);
        } else {
            output_abandon(&output);
            result = -ENOENT;
        }
        free(strings);
    }
    if (result != 0) {
        fprintf(stderr, "dtrace: failed to write '%s': %s\n", c->compile_to, strerror(-result));
    }
    return result != 0;
}

/* ---- reading ----------------------------------------------------------------------- */

struct reading {
    const char *at, *end;
    uint32_t left; /* strings */
};

static const char *saved_next_string(struct reading *r)
{
    const char *text = r->at;
    const char *nul = r->left ? memchr(text, '\0', (size_t)(r->end - text)) : NULL;

    if (!nul) {
        return NULL;
    }
    r->left--;
    r->at = nul + 1;
    return text;
}

/* Returns the string after the next one, which must be `name`. */
static const char *saved_next_value(struct reading *r, const char *name)
{
    const char *is = saved_next_string(r);

    return is && strcmp(is, name) == 0 ? saved_next_string(r) : NULL;
}

/* The user's -L replaces the folders that the program was compiled with. */
static void take_setting(struct command *c, const char *name, const char *value)
{
    for (unsigned i = 0; i < c->nsettings; i++) {
        if (strcmp(name, "libdir") == 0 && strcmp(c->settings[i].name, name) == 0 &&
            c->settings[i].origin == DT_FROM_COMMAND) {
            return;
        }
    }
    command_set(c, name, value, NULL);
    c->settings[c->nsettings - 1].origin = DT_FROM_CAPTURE;
}

/* Returns 0 if the text is no pid. */
static pid_t saved_pid_of(const char *text)
{
    char *end;
    const long pid = strtol(text, &end, 10);

    return *end == '\0' && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static bool saved_take_option(struct command *c, struct reading *r, const char *name,
                              const char *value)
{
    static const char kinds[] = "Pmfni";
    const char *more = NULL;

    if (strcmp(name, "flag") == 0) {
        take_setting(c, value, NULL);
    } else if (strcmp(name, "set") == 0 && (more = saved_next_value(r, "value")) != NULL) {
        take_setting(c, value, more);
    } else if (strcmp(name, "-s") == 0 && (more = saved_next_value(r, "text")) != NULL) {
        command_source(c, true, DT_SPEC_NAME, value)->contents = more;
    } else if (strcmp(name, "argument") == 0) {
        command_argument(c, value);
    } else if (strcmp(name, "target") == 0) { /* $target */
        return saved_pid_of(value) > 0 && command_add_target(c, saved_pid_of(value));
    } else if (strcmp(name, "process") == 0 && (more = saved_next_value(r, "pid")) != NULL) {
        return saved_pid_of(more) > 0 && command_knows_process(c, value, saved_pid_of(more));
    } else if (name[0] == '-' && name[1] && strchr(kinds, name[1]) && !name[2]) {
        command_source(c, false, (enum dt_spec)(strchr(kinds, name[1]) - kinds), value);
    } else {
        return false;
    }
    return true;
}

bool saved_read(struct command *c, const void *bytes, size_t size)
{
    const struct dtrace_image *image = bytes;

    return size >= sizeof(*image) && image->size <= size &&
           saved_read_strings(c, (const char *)bytes + image->size, size - image->size);
}

bool saved_read_strings(struct command *c, const void *bytes, size_t size)
{
    struct saved_head head;
    const unsigned given = c->ntargets;

    if (size < sizeof(head)) {
        return false;
    }
    memcpy(&head, bytes, sizeof(head));
    struct reading r = {(const char *)bytes + sizeof(head), (const char *)bytes + size,
                        head.strings};
    if (head.magic != SAVED_MAGIC || head.strings > STRINGS_MAX) {
        return false;
    }
    while (r.left) {
        const char *name = saved_next_string(&r), *value = saved_next_string(&r);
        if (!name || !value || !saved_take_option(c, &r, name, value)) {
            return false;
        }
    }
    command_replace_targets(c, given);
    return true;
}

bool saved_options(struct command *c, const void *bytes, size_t size)
{
    const struct dtrace_image *image = bytes;
    const struct dtrace_image_option *o =
        (const void *)((const char *)bytes + image->options.offset);

    if (size < sizeof(*image) || image->magic != DTRACE_IMAGE_MAGIC || image->size > size ||
        image->options.offset % 8 || image->options.offset > size ||
        image->options.count > (size - image->options.offset) / sizeof(*o)) {
        return false;
    }
    for (uint32_t i = 0; i < image->options.count; i++) {
        const char *name = dt_image_option_name(o[i].option);
        if (!name ||
            (o[i].option == DTRACE_OPT_STRSIZE && (o[i].value == 0 || o[i].value > 1u << 20))) {
            return false;
        }
        dt_option_put(c->session, name, o[i].value);
    }
    return true;
}
