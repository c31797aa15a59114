/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkfbt: the table of the functions that D's provider fbt can probe, from a linked kernel.
 *
 *   mkfbt KERNEL.elf KERNEL.map OBJECTS TABLE.c LIST.txt   makes the table, and the list of reasons
 *   mkfbt --check KERNEL.elf IMAGE.elf                     have they the same functions?
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fbt/kernel.h"
#include "host/remote/elf_id.h"

enum { SLOT_BYTES = 36, OFFSET_MAX = 0x8000 };
/* kernel/dtrace/fbt_table.h */
enum { BEFORE = 14, TAIL = 16, HOP = 17, HOP_BITS = 11 };

static int by_name(const void *a, const void *b)
{
    const struct fbt_function *x = *(const struct fbt_function *const *)a;
    const struct fbt_function *y = *(const struct fbt_function *const *)b;
    int order = strcmp(x->name, y->name);

    return order ? order : x->at < y->at ? -1 : 1;
}

/* Returns the functions with a probe, by name: functions of one name share their probes. */
static struct fbt_function **probed(const struct fbt_kernel *k, size_t *n)
{
    struct fbt_function **list = calloc(k->nfunctions + 1, sizeof(*list));

    *n = 0;
    for (size_t i = 0; list && i < k->nfunctions; i++) {
        struct fbt_function *f = &k->functions[i];
        if (f->entry || f->nreturns) {
            list[(*n)++] = f;
        }
    }
    if (list) {
        qsort(list, *n, sizeof(*list), by_name);
    }
    return list;
}

static void print_functions(FILE *out, const struct fbt_kernel *k, struct fbt_function **list,
                            size_t n)
{
    unsigned returns = 0, name = 0;

    fprintf(out, "const struct fbt_function fbt_functions[] FBT_TABLE = {\n");
    for (size_t i = 0; i < n; i++) {
        const struct fbt_function *f = list[i];
        bool more = i + 1 < n && strcmp(f->name, list[i + 1]->name) == 0;
        fprintf(out, "    {%#llx, %u, %u, %u, %u, %d},\n",
                (unsigned long long)(f->at - k->text.base), name, returns, f->nreturns, f->entry,
                f->pad ? (int)(int64_t)(f->pad - f->at) : 0);
        returns += f->nreturns;
        name += more ? 0 : (unsigned)strlen(f->name) + 1;
    }
    fprintf(out, "};\nconst unsigned fbt_function_count = %zu;\n", n);
    if (name > UINT16_MAX || returns > UINT16_MAX) {
        fbt_die("the names or the returns are too many for the table");
    }
}

static uint32_t pack(const struct fbt_return *r, uint64_t offset)
{
    uint32_t hop = r->pad ? (uint32_t)(int32_t)((int64_t)(r->pad - r->at) / 2) : 0;

    return (uint32_t)(offset / 2) | (uint32_t)((r->insn - r->at) / 2) << BEFORE |
           (uint32_t)r->tail << TAIL | (hop & ((1u << HOP_BITS) - 1)) << HOP;
}

static void print_returns(FILE *out, struct fbt_function **list, size_t n)
{
    fprintf(out, "const uint32_t fbt_returns[] FBT_TABLE = {\n");
    for (size_t i = 0; i < n; i++) {
        const struct fbt_function *f = list[i];
        for (unsigned r = 0; r < f->nreturns; r++) {
            uint64_t offset = f->returns[r].insn - f->at;
            if (offset >= OFFSET_MAX) {
                fbt_die("%s is too long", f->name);
            }
            fprintf(out, "    %#x,\n", pack(&f->returns[r], offset));
        }
    }
    fprintf(out, "};\nconst char fbt_names[] FBT_TABLE =\n");
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(list[i]->name, list[i - 1]->name) != 0) {
            fprintf(out, "    \"%s\\0\"\n", list[i]->name);
        }
    }
    fprintf(out, "    \"\";\n");
}

static void print_id(FILE *out, const char *kernel)
{
    struct elf_id id;

    if (!elf_id_read(kernel, &id)) {
        fbt_die("%s: has no build id", kernel);
    }
    fprintf(out, "const uint8_t fbt_code_id[] FBT_TABLE = {");
    for (unsigned i = 0; i < ELF_ID_BYTES; i++) {
        fprintf(out, "%s%#x", i ? ", " : "", id.bytes[i]);
    }
    fprintf(out, "};\n");
}

static void write_table(const struct fbt_kernel *k, const char *kernel, const char *path)
{
    FILE *out = fopen(path, "w");
    size_t n;
    struct fbt_function **list = probed(k, &n);

    if (!out || !list) {
        err(1, "%s", path);
    }
    fprintf(out, "/* Made by mkfbt. */\n#include \"kernel/dtrace/fbt_table.h\"\n");
    print_functions(out, k, list, n);
    print_returns(out, list, n);
    print_id(out, kernel);
    fprintf(out, "FBT_SLOTS(%zu)\n", k->slots_needed * SLOT_BYTES);
    free(list);
    if (fclose(out)) {
        err(1, "%s", path);
    }
}

struct totals {
    size_t rest, entries, returns, places;
};

static void print_function(FILE *out, const struct fbt_function *f, struct totals *n)
{
    if (f->left_out) {
        fprintf(out, "%-40s left out: %s\n", f->name, f->left_out);
        return;
    }
    fprintf(out, "%-40s entry: %s; return: %s\n", f->name, f->no_entry ? f->no_entry : "yes",
            f->no_return ? f->no_return : "yes");
    n->rest++;
    n->entries += f->entry > 0;
    n->returns += f->nreturns > 0;
    n->places += f->nreturns;
}

static void print_totals(FILE *out, const struct fbt_kernel *k, const struct totals *n)
{
    double percent = n->rest ? 100.0 / (double)n->rest : 0;

    fprintf(out, "%zu functions, %zu left out; of the other %zu: entry %zu (%.1f %%), ",
            k->nfunctions, k->nfunctions - n->rest, n->rest, n->entries,
            (double)n->entries * percent);
    fprintf(out, "return %zu (%.1f %%) at %zu places\n", n->returns, (double)n->returns * percent,
            n->places);
}

static void write_list(const struct fbt_kernel *k, const char *path)
{
    FILE *out = fopen(path, "w");
    struct totals n = {0};

    if (!out) {
        err(1, "%s", path);
    }
    for (size_t i = 0; i < k->nfunctions; i++) {
        print_function(out, &k->functions[i], &n);
    }
    print_totals(out, k, &n);
    if (fclose(out)) {
        err(1, "%s", path);
    }
}

/* The table is of the one, the text of the other: they must not differ where it matters. */
static void check(const char *kernel, const char *image)
{
    struct fbt_kernel a = {0}, b = {0};

    fbt_kernel_read(&a, kernel);
    fbt_kernel_read(&b, image);
    bool same = a.nfunctions == b.nfunctions && a.text.base == b.text.base;
    for (size_t i = 0; same && i < a.nfunctions; i++) {
        const struct fbt_function *x = &a.functions[i], *y = &b.functions[i];
        same = x->at == y->at && x->size == y->size && strcmp(x->name, y->name) == 0;
    }
    if (!same) {
        fbt_die("%s has other functions than %s", image, kernel);
    }
    fbt_kernel_free(&a);
    fbt_kernel_free(&b);
}

int main(int argc, char **argv)
{
    struct fbt_kernel k = {0};

    if (argc == 4 && strcmp(argv[1], "--check") == 0) {
        check(argv[2], argv[3]);
        return 0;
    }
    if (argc != 6) {
        fbt_die("usage: mkfbt KERNEL.elf KERNEL.map OBJECTS TABLE.c LIST.txt");
    }
    fbt_kernel_read(&k, argv[1]);
    fbt_kernel_leave_out(&k, argv[2], argv[3]);
    fbt_kernel_scan(&k);
    write_table(&k, argv[1], argv[4]);
    write_list(&k, argv[5]);
    fbt_kernel_free(&k);
    return 0;
}
