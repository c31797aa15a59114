/* SPDX-License-Identifier: BSD-2-Clause */
/* Which functions fbt leaves out, by left_out.def: of these objects, called by those. */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fbt/kernel.h"

static const struct rule {
    const char *prefix, *reason;
    bool somewhere; /* not every kernel has such objects */
} objects[] = {
#define OBJECTS(prefix, reason) {prefix, reason, false},
#define SOMEWHERE(prefix, reason) {prefix, reason, true},
#define CALLED(root, reason)
#include "host/fbt/left_out.def"
};
static const struct rule leave_out_root_rules[] = {
#define OBJECTS(prefix, reason)
#define SOMEWHERE(prefix, reason)
#define CALLED(root, reason) {root, reason, false},
#include "host/fbt/left_out.def"
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static bool is_there[COUNT(objects)]; /* an object of that rule is in the map */

/* ---- by object --------------------------------------------------------------------- */

static const char *reason_of_object(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    if (strncmp(path, folder, n) != 0 || path[n] != '/') {
        return "the compiler's library";
    }
    for (size_t i = 0; i < COUNT(objects); i++) {
        if (strncmp(path + n + 1, objects[i].prefix, strlen(objects[i].prefix)) == 0) {
            is_there[i] = true;
            return objects[i].reason;
        }
    }
    return NULL;
}

static void leave_out_range(struct fbt_kernel *k, uint64_t at, uint64_t size, const char *reason)
{
    for (size_t i = 0; i < k->nfunctions; i++) {
        struct fbt_function *f = &k->functions[i];
        if (f->at >= at && f->at < at + size && !f->left_out) {
            f->left_out = reason;
        }
    }
}

/* A line of the map: " .text[.name]  address  size  object"; a long name has a line of its own. */
static void by_object(struct fbt_kernel *k, const char *map, const char *folder)
{
    FILE *f = fopen(map, "r");
    char line[4096], path[4096];
    bool open = false;
    unsigned long long at, size;
    int used;

    if (!f) {
        err(1, "%s", map);
    }
    while (fgets(line, sizeof(line), f)) {
        const char *rest = line;
        if (line[0] == ' ' && line[1] != ' ') {
            open = strncmp(line, " .text", 6) == 0;
            rest = line + 1 + strcspn(line + 1, " \n");
        }
        if (open && sscanf(rest, " 0x%llx 0x%llx%n", &at, &size, &used) == 2 &&
            sscanf(rest + used, " %4095[^\n]", path) == 1) {
            const char *reason = reason_of_object(path, folder);
            if (reason && size > 0) {
                leave_out_range(k, at, size, reason);
            }
            open = false;
        }
    }
    fclose(f);
}

/* A file that has moved would lose its rule, unseen until a probe hangs the kernel. */
static void rules_have_objects(void)
{
    for (size_t i = 0; i < COUNT(objects); i++) {
        if (!is_there[i] && !objects[i].somewhere &&
            strncmp(objects[i].prefix, "kernel/arch/", 12) != 0) {
            fbt_die("left_out.def: no object in %s", objects[i].prefix);
        }
    }
}

/* ---- by who calls it --------------------------------------------------------------- */

struct closure {
    struct fbt_kernel *k;
    bool *seen;
    size_t *todo;
    size_t n;
};

static void leave_out_add_function(struct closure *c, const struct fbt_function *f)
{
    size_t i = (size_t)(f - c->k->functions);

    if (!c->seen[i]) {
        c->seen[i] = true;
        c->todo[c->n++] = i;
    }
}

static void add_called(struct closure *c, const struct fbt_function *f)
{
    const struct fbt_text *t = &c->k->text;

    for (uint64_t at = f->at; at < f->at + f->size;) {
        struct fbt_insn i = fbt_decode_at(t, at);
        const struct fbt_function *to = i.has_target ? fbt_kernel_find(c->k, i.target) : NULL;
        if (to) {
            leave_out_add_function(c, to);
        }
        at += i.length;
    }
}

/* A function whose name has been made longer by the compiler is the function. */
static bool leave_out_is_named(const char *name, const char *wanted)
{
    size_t n = strlen(wanted);

    if (wanted[n - 1] == '*') {
        return strncmp(name, wanted, n - 1) == 0;
    }
    return strncmp(name, wanted, n) == 0 && (name[n] == 0 || name[n] == '.');
}

/* Its name says that it is of another architecture's port. */
static bool is_others(const struct fbt_kernel *k, const char *name)
{
    static const char *const prefixes[] = {"a64_", "armv7m_", "x86_"};
    size_t own = k->text.x86 ? 2 : k->text.thumb;

    for (size_t i = 0; i < COUNT(prefixes); i++) {
        if (i != own && strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void by_caller(struct fbt_kernel *k, const char *root, const char *reason)
{
    struct closure c = {k, calloc(k->nfunctions, sizeof(bool)),
                        calloc(k->nfunctions, sizeof(size_t)), 0};

    for (size_t i = 0; c.seen && c.todo && i < k->nfunctions; i++) {
        if (leave_out_is_named(k->functions[i].name, root)) {
            leave_out_add_function(&c, &k->functions[i]);
        }
    }
    if (c.n == 0 && !is_others(k, root)) {
        fbt_die("left_out.def: no function %s", root);
    }
    for (size_t done = 0; done < c.n; done++) {
        struct fbt_function *f = &k->functions[c.todo[done]];
        f->left_out = f->left_out ? f->left_out : reason;
        add_called(&c, f);
    }
    free(c.seen);
    free(c.todo);
}

/* Pieces that the compiler has split off are no functions. */
static void leave_out_check_names(struct fbt_kernel *k)
{
    for (size_t i = 0; i < k->nfunctions; i++) {
        struct fbt_function *f = &k->functions[i];
        if (strstr(f->name, ".cold")) {
            f->left_out = "a piece of a function";
        }
    }
}

void fbt_kernel_leave_out(struct fbt_kernel *k, const char *map, const char *folder)
{
    by_object(k, map, folder);
    rules_have_objects();
    leave_out_check_names(k);
    for (size_t i = 0; i < COUNT(leave_out_root_rules); i++) {
        by_caller(k, leave_out_root_rules[i].prefix, leave_out_root_rules[i].reason);
    }
}

void fbt_kernel_scan(struct fbt_kernel *k)
{
    k->slots_needed = 0;
    for (size_t i = 0; i < k->nfunctions; i++) {
        struct fbt_function *f = &k->functions[i];
        fbt_scan(&k->text, f);
        k->slots_needed += (f->entry > 0) + f->nreturns;
    }
}
