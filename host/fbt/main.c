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
#include "host/gen/short_texts.h"
#include "host/remote/elf_id.h"

enum { SLOT_BYTES = 36, OFFSET_MAX = 0x8000, NUMBER_MOST = 25 };
/* kernel/dtrace/fbt_table.h describes the table. */
enum {
    FBT_HEAD_BITS = 1,
    FBT_OTHER_BITS = 0,
    FBT_ADDRESS_BITS = 3,
    FBT_PAD_BITS = 9,
    FBT_RETURN_BITS = 6,
    FBT_DISPLACED = 3,
    FBT_USUAL = 2, /* halfwords displaced */
    FBT_SAME_NAME = 4,
    FBT_RETURN_PAD = 4,
    FBT_RETURN_TAIL = 8,
    FBT_REST = 3,
    FBT_PLACE_BITS = 14, /* on Cortex-M */
    FBT_NAME_MOST = 64
};
#define FBT_HEADS 10, 18, 26, 19, 11, 34, 9, 2, 27, 17, 1, 35
#define FBT_RETURN_KINDS 1, 8, 0, 4, 2

static int fbt_compare_names(const void *a, const void *b)
{
    const struct fbt_function *x = *(const struct fbt_function *const *)a;
    const struct fbt_function *y = *(const struct fbt_function *const *)b;
    int order = strcmp(x->name, y->name);

    return order ? order : x->at < y->at ? -1 : 1;
}

/* Returns the functions with a probe, by name: functions of one name share their probes. */
static struct fbt_function **fbt_probed_functions(const struct fbt_kernel *k, size_t *n)
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
        qsort(list, *n, sizeof(*list), fbt_compare_names);
    }
    return list;
}

/* Prints the bytes of a table. */
struct printer {
    FILE *out;
    unsigned column; /* bytes so far */
    int unit;        /* bytes that code is a multiple of */
    unsigned byte;   /* the next one */
    unsigned bits;   /* of it so far */
};

static void print_byte(struct printer *p, unsigned byte)
{
    fprintf(p->out, "%s%u,", p->column++ % 16 ? " " : "\n    ", byte & 0xff);
}

static void print_bits(struct printer *p, uint64_t value, unsigned n)
{
    for (; n > 0; n--, value >>= 1) {
        p->byte |= (unsigned)(value & 1) << p->bits++;
        if (p->bits == 8) {
            print_byte(p, p->byte);
            p->byte = p->bits = 0;
        }
    }
}

/* A number of so many bits, or more. */
static void fbt_print_number(struct printer *p, unsigned bits, uint64_t number)
{
    unsigned zeros = 0;

    for (number += 1ull << bits; number >> bits > 1; bits++) {
        zeros++;
    }
    if (1 + bits > NUMBER_MOST) {
        fbt_die("a number of the table is too large");
    }
    print_bits(p, 1ull << zeros, zeros + 1);
    print_bits(p, number, bits);
}

/* The distance of a pad. */
static void print_pad(struct printer *p, int64_t bytes)
{
    int64_t n = bytes / p->unit;

    fbt_print_number(p, FBT_PAD_BITS, (uint64_t)(n < 0 ? -2 * n - 1 : 2 * n));
}

static const unsigned char fbt_head_codes[] = {FBT_HEADS}, fbt_kind_codes[] = {FBT_RETURN_KINDS};

/* Returns where the value is in the list, or the length of the list. */
static unsigned place_in(const unsigned char *list, unsigned n, unsigned value)
{
    unsigned place = 0;

    while (place < n && list[place] != value) {
        place++;
    }
    return place;
}

static void fbt_print_head(struct printer *p, unsigned head)
{
    unsigned place = place_in(fbt_head_codes, sizeof(fbt_head_codes), head);

    fbt_print_number(p, FBT_HEAD_BITS, place < sizeof(fbt_head_codes) ? place : place + head);
}

static void print_returns(struct printer *p, const struct fbt_function *f)
{
    uint64_t before = f->at;

    for (unsigned i = 0; i < f->nreturns; i++) {
        const struct fbt_return *r = &f->returns[i];
        if (r->insn - f->at >= OFFSET_MAX || r->insn < before) {
            fbt_die("%s is too long, or its returns have no order", f->name);
        }
        unsigned bits = (unsigned)(r->insn - r->at) / 2 | (r->pad ? FBT_RETURN_PAD : 0) |
                        (r->tail ? FBT_RETURN_TAIL : 0);
        unsigned kind = place_in(fbt_kind_codes, sizeof(fbt_kind_codes), bits);
        if (kind == sizeof(fbt_kind_codes)) {
            fbt_print_number(p, FBT_RETURN_BITS, 0);
            fbt_print_number(p, FBT_OTHER_BITS, bits);
            kind = 0;
        }
        fbt_print_number(p, FBT_RETURN_BITS,
                         1 + (r->insn - before) / (unsigned)p->unit * sizeof(fbt_kind_codes) +
                             kind);
        if (r->pad) {
            print_pad(p, (int64_t)(r->pad - r->at));
        }
        before = r->insn;
    }
}

/* Prints a function's address, from where the one before ends; returns where it ends itself. */
static uint64_t fbt_print_address(struct printer *p, const struct fbt_function *f, uint64_t before)
{
    bool down = f->at <= before;

    if (down) {
        fbt_print_number(p, FBT_ADDRESS_BITS, 0);
    }
    fbt_print_number(p, FBT_ADDRESS_BITS,
                     (down ? before - f->at : f->at - before) / (unsigned)p->unit);
    return f->nreturns ? f->returns[f->nreturns - 1].insn : f->at;
}

static void print_functions(FILE *out, const struct fbt_kernel *k, struct fbt_function **list,
                            size_t n)
{
    struct printer p = {.out = out, .unit = k->text.x86 ? 1 : 2};

    uint64_t before = k->text.base;

    fprintf(out, "const uint8_t fbt_functions[] FBT_TABLE = {");
    for (size_t i = 0; i < n; i++) {
        const struct fbt_function *f = list[i];
        bool same = i > 0 && strcmp(f->name, list[i - 1]->name) == 0;
        unsigned displaced = k->text.x86 ? (f->entry > 0 ? FBT_USUAL : 0) : f->entry / 2;
        if (f->at % (unsigned)p.unit || displaced > FBT_DISPLACED || (displaced == 1) != !!f->pad) {
            fbt_die("%s does not fit the table", f->name);
        }
        print_bits(&p, 0, p.bits % 2);
        fbt_print_head(&p, displaced | (same ? FBT_SAME_NAME : 0) | f->nreturns << FBT_REST);
        before = fbt_print_address(&p, f, before);
        if (f->pad) {
            print_pad(&p, (int64_t)(f->pad - f->at));
        }
        print_returns(&p, f);
    }
    if (k->text.thumb &&
        (p.column >> (FBT_PLACE_BITS + 1 - 3) || k->text.size >> (32 - FBT_PLACE_BITS))) {
        fbt_die("the table has no room for so many functions");
    }
    print_bits(&p, UINT64_MAX, 64);
    fprintf(out, "\n};\nconst unsigned fbt_function_count = %zu;\n", n);
}

static void fbt_print_bytes(FILE *out, const char *name, const unsigned char *bytes, size_t n)
{
    struct printer p = {.out = out};

    fprintf(out, "const uint8_t %s[] FBT_TABLE = {", name);
    for (size_t i = 0; i < n; i++) {
        print_byte(&p, bytes[i]);
    }
    fprintf(out, "\n};\n");
}

static void print_names(FILE *out, struct fbt_function **list, size_t n)
{
    const char **names = calloc(n + 1, sizeof(*names));
    struct short_texts s;
    size_t different = 0;

    if (!names) {
        fbt_die("no memory");
    }
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(list[i]->name, list[i - 1]->name) != 0) {
            names[different++] = list[i]->name;
        }
    }
    short_texts_make(&s, names, different, FBT_NAME_MOST);
    fbt_print_bytes(out, "fbt_names", s.bytes, s.n);
    fbt_print_bytes(out, "fbt_codes", s.codes, s.ncodes);
    free(s.bytes);
    free(names);
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

static void fbt_write_table(const struct fbt_kernel *k, const char *kernel, const char *path)
{
    FILE *out = fopen(path, "w");
    size_t n;
    struct fbt_function **list = fbt_probed_functions(k, &n);

    if (!out || !list) {
        err(1, "%s", path);
    }
    fprintf(out, "/* Made by mkfbt. */\n#include \"kernel/dtrace/fbt_table.h\"\n");
    print_functions(out, k, list, n);
    print_names(out, list, n);
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
static void fbt_check_image(const char *kernel, const char *image)
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
        fbt_check_image(argv[2], argv[3]);
        return 0;
    }
    if (argc != 6) {
        fbt_die("usage: mkfbt KERNEL.elf KERNEL.map OBJECTS TABLE.c LIST.txt");
    }
    fbt_kernel_read(&k, argv[1]);
    fbt_kernel_leave_out(&k, argv[2], argv[3]);
    fbt_kernel_scan(&k);
    fbt_write_table(&k, argv[1], argv[4]);
    write_list(&k, argv[5]);
    fbt_kernel_free(&k);
    return 0;
}
