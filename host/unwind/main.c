/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkunwind: the unwind table (abi/unwind.h) of a linked program or kernel, and a program's table of
 * functions (abi/functions.h).
 *
 *   mkunwind PROGRAM TABLE   writes the table as it goes into the program's ELF in a boot image
 *   mkunwind -f PROGRAM TABLE   likewise the table of functions
 *   mkunwind -c KERNEL       prints it as C, for the kernel
 *   mkunwind -d ELF          prints what it knows of each instruction, for tests
 */
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/functions.h"
#include "host/unwind/unwind.h"

/* Returns the beginning of the segment that has the text: programs are loaded by segments. */
static uint64_t segment_of(const char *path, uint64_t text)
{
    int fd = open(path, O_RDONLY);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    uint64_t base = text;
    size_t n = 0;

    if (!elf || elf_getphdrnum(elf, &n)) {
        fbt_die("%s: %s", path, elf_errmsg(-1));
    }
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr h;
        if (gelf_getphdr(elf, (int)i, &h) && h.p_type == PT_LOAD && h.p_vaddr <= text &&
            text - h.p_vaddr < h.p_memsz) {
            base = h.p_vaddr;
        }
    }
    elf_end(elf);
    close(fd);
    return base;
}

static void print_c(const struct unwind_table *t)
{
    printf("const uint32_t kernel_unwind[] FBT_TABLE = {\n");
    for (size_t i = 0; i < t->nwords; i++) {
        printf("%s%#x,%s", i % 8 ? " " : "    ", t->words[i], i % 8 == 7 ? "\n" : "");
    }
    printf("\n};\nconst unsigned kernel_unwind_words = %zu;\n", t->nwords);
}

static void write_table(const struct unwind_table *t, const char *path)
{
    FILE *out = fopen(path, "wb");

    if (!out || fwrite(t->words, sizeof(*t->words), t->nwords, out) != t->nwords || fclose(out)) {
        err(1, "%s", path);
    }
}

static void print_place(char name, const struct unwind_place *p)
{
    if (p->where == UNWIND_AT_STACK) {
        printf(" %c=%+d", name, p->at);
    } else {
        printf(" %c=%s", name, p->where == UNWIND_AT_HOME ? "home" : "?");
    }
}

/* Returns true for a no-op, which behind a jump is only padding. */
static bool is_nop(const struct fbt_text *t, uint64_t at)
{
    static const uint8_t thumb[] = {0x00, 0xbf}, wide[] = {0xaf, 0xf3, 0x00, 0x80},
                         a64[] = {0x1f, 0x20, 0x03, 0xd5};
    const uint8_t *b = t->bytes + (at - t->base);

    return t->thumb ? memcmp(b, thumb, 2) == 0 || memcmp(b, wide, 4) == 0 : memcmp(b, a64, 4) == 0;
}

static void dump(const struct fbt_kernel *k, const struct unwind_state *states)
{
    for (size_t i = 0; i < k->nfunctions; i++) {
        const struct fbt_function *f = &k->functions[i];
        printf("%s %#llx %#llx\n", f->name, (unsigned long long)f->at, (unsigned long long)f->size);
        for (uint64_t at = f->at; at < f->at + f->size && at < k->text.base + k->text.size;) {
            const struct unwind_state *s = &states[(at - k->text.base) / 2];
            bool code = !fbt_marked(&k->text, at, FBT_MARK_DATA);
            if (code && !s->reached && !is_nop(&k->text, at)) {
                printf(" %llx sp? fp? r=? f=?\n", (unsigned long long)at);
            } else if (s->reached) {
                printf(" %llx", (unsigned long long)at);
                printf(s->sp_known ? " sp%+d" : " sp?", s->sp);
                printf(s->fp_known ? " fp%+d" : " fp?", s->fp);
                print_place('r', &s->ra);
                print_place('f', &s->fp_saved);
                printf("\n");
            }
            at += fbt_decode_at(&k->text, at).length;
        }
    }
}

/* ---- the table of functions -------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    const struct fbt_function *x = a, *y = b;

    return x->at != y->at ? (x->at < y->at ? -1 : 1) : strcmp(x->name, y->name);
}

static void put_word(FILE *out, uint64_t word)
{
    for (unsigned shift = 0; shift < 32; shift += 8) {
        putc((int)(word >> shift & 0xff), out);
    }
}

/* Of several names of one address the first in the alphabet stays. Returns how many are left. */
static size_t functions_unique(struct fbt_function *f, size_t n)
{
    size_t kept = 0;

    qsort(f, n, sizeof(*f), by_address);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || f[kept - 1].at != f[i].at) {
            struct fbt_function other = f[kept];
            f[kept++] = f[i];
            f[i] = other; /* its name is freed with the rest */
        }
    }
    return kept;
}

static int write_functions(const char *program, const char *path)
{
    struct fbt_kernel k = {.labels = true};

    fbt_kernel_read(&k, program);
    FILE *out = fopen(path, "wb");
    if (!out) {
        err(1, "%s", path);
    }
    size_t n = functions_unique(k.functions, k.nfunctions);
    uint64_t name_at = FUNCTIONS_HEADER_BYTES + FUNCTIONS_ENTRY_BYTES * n;
    put_word(out, FUNCTIONS_MAGIC);
    put_word(out, n);
    for (size_t i = 0; i < n; i++) {
        if (k.functions[i].at > UINT32_MAX || name_at > UINT32_MAX) {
            errx(1, "%s: %s lies above 4 GB: link it lower", program, k.functions[i].name);
        }
        put_word(out, k.functions[i].at);
        put_word(out, name_at);
        name_at += strlen(k.functions[i].name) + 1;
    }
    for (size_t i = 0; i < n; i++) {
        fputs(k.functions[i].name, out);
        putc('\0', out);
    }
    if (ferror(out) || fclose(out)) {
        err(1, "%s", path);
    }
    fbt_kernel_free(&k);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "-f") == 0) {
        return write_functions(argv[2], argv[3]);
    }
    bool option = argc == 3 && argv[1][0] == '-' && strchr("cd", argv[1][1]) && !argv[1][2];
    struct fbt_kernel k = {.labels = true};
    struct unwind_table table;

    if (argc != 3) {
        fprintf(stderr, "usage: mkunwind [-f] PROGRAM TABLE | mkunwind -c KERNEL | mkunwind -d ELF\n");
        return 2;
    }
    const char *path = argv[option ? 2 : 1];
    fbt_kernel_read(&k, path);
    struct unwind_state *states = unwind_flow(&k);
    if (option && argv[1][1] == 'd') {
        dump(&k, states);
    } else {
        uint64_t base = option ? k.text.base : segment_of(path, k.text.base);
        unwind_table_make(&table, &k, states, base);
        option ? print_c(&table) : write_table(&table, argv[2]);
        free(table.words);
    }
    free(states);
    fbt_kernel_free(&k);
    return fflush(stdout) || ferror(stdout);
}
