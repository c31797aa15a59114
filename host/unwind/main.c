/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkunwind: the unwind table (abi/unwind.h) of a linked program or kernel, and a program's index of
 * functions (abi/functions.h).
 *
 *   mkunwind PROGRAM TABLE   writes the table as it goes into the program's ELF in a boot image
 *   mkunwind -f PROGRAM TABLE   likewise the index, of the symbols as they stand in this file
 *   mkunwind -c KERNEL       prints it as C, for the kernel
 *   mkunwind -d ELF          prints what it knows of each instruction, for tests
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/functions.h"
#include "host/unwind/unwind.h"

/* Returns the beginning of the segment that has the text: programs are loaded by segments. */
static uint64_t unwind_segment_of(const char *path, uint64_t text)
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

static void unwind_write_table(const struct unwind_table *t, const char *path)
{
    FILE *out = fopen(path, "wb");

    if (!out || fwrite(t->words, sizeof(*t->words), t->nwords, out) != t->nwords || fclose(out)) {
        err(1, "%s", path);
    }
}

static void unwind_print_place(char name, const struct unwind_place *p)
{
    if (p->where == UNWIND_AT_STACK) {
        printf(" %c=%+d", name, p->at);
    } else {
        printf(" %c=%s", name, p->where == UNWIND_AT_HOME ? "home" : "?");
    }
}

/* Returns true for a no-op, which after a jump is only padding. */
static bool is_nop(const struct fbt_text *t, uint64_t at)
{
    if (t->x86) {
        return unwind_is_filling(t, at);
    }
    static const uint8_t thumb[] = {0x00, 0xbf}, wide[] = {0xaf, 0xf3, 0x00, 0x80},
                         a64[] = {0x1f, 0x20, 0x03, 0xd5};
    const uint8_t *b = t->bytes + (at - t->base);

    return t->thumb ? memcmp(b, thumb, 2) == 0 || memcmp(b, wide, 4) == 0 : memcmp(b, a64, 4) == 0;
}

static void unwind_dump_states(const struct fbt_kernel *k, const struct unwind_state *states)
{
    for (size_t i = 0; i < k->nfunctions; i++) {
        const struct fbt_function *f = &k->functions[i];
        printf("%s %#llx %#llx\n", f->name, (unsigned long long)f->at, (unsigned long long)f->size);
        for (uint64_t at = f->at; at < f->at + f->size && at < k->text.base + k->text.size;) {
            const struct unwind_state *s = &states[unwind_slot(&k->text, at)];
            bool code = !fbt_marked(&k->text, at, FBT_MARK_DATA);
            if (code && !s->reached && !is_nop(&k->text, at)) {
                printf(" %llx sp? fp? r=? f=?\n", (unsigned long long)at);
            } else if (s->reached) {
                printf(" %llx", (unsigned long long)at);
                printf(s->sp_known ? " sp%+d" : " sp?", s->sp);
                printf(s->fp_known ? " fp%+d" : " fp?", s->fp);
                unwind_print_place('r', &s->ra);
                unwind_print_place('f', &s->fp_saved);
                printf("\n");
            }
            at += fbt_decode_at(&k->text, at).length;
        }
    }
}

/* ---- the index of functions -------------------------------------------------------- */

struct symbol {
    uint64_t at;
    const char *name;
    uint32_t number;
};

static int unwind_by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    return x->at != y->at ? (x->at < y->at ? -1 : 1) : strcmp(x->name, y->name);
}

/* Stores the symbols of functions. Returns their number. */
static size_t read_functions(Elf *elf, struct symbol **out)
{
    Elf_Scn *section = NULL;
    GElf_Ehdr file;
    GElf_Shdr h = {0};
    size_t n = 0;

    while ((section = elf_nextscn(elf, section)) && gelf_getshdr(section, &h) &&
           h.sh_type != SHT_SYMTAB) {
    }
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    if (!data || !gelf_getehdr(elf, &file) || h.sh_entsize == 0) {
        return 0;
    }
    size_t count = h.sh_size / h.sh_entsize;
    *out = calloc(count, sizeof(**out));
    for (size_t i = 0; *out && i < count; i++) {
        GElf_Sym s;
        const char *name = NULL;
        if (gelf_getsym(data, (int)i, &s) && GELF_ST_TYPE(s.st_info) == STT_FUNC &&
            s.st_shndx != SHN_UNDEF) {
            name = elf_strptr(elf, h.sh_link, s.st_name);
        }
        if (name) {
            uint64_t thumb = file.e_machine == EM_ARM;
            (*out)[n++] = (struct symbol){s.st_value & ~thumb, name, (uint32_t)i};
        }
    }
    return n;
}

/* If an address has several names, the first in the alphabet stays. */
static int write_functions(const char *program, const char *path)
{
    int fd = open(program, O_RDONLY);
    struct symbol *symbols = NULL;

    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    size_t n = elf ? read_functions(elf, &symbols) : 0;
    FILE *out = fopen(path, "wb");
    if (n == 0 || !out) {
        errx(1, "%s: %s", n == 0 ? program : path,
             n == 0 ? "no ELF file with symbols of functions" : strerror(errno));
    }
    qsort(symbols, n, sizeof(*symbols), unwind_by_address);
    for (size_t i = 0; i <= n; i++) {
        uint32_t word = i == 0 ? FUNCTIONS_MAGIC : symbols[i - 1].number;
        for (unsigned shift = 0; (i < 2 || symbols[i - 1].at != symbols[i - 2].at) && shift < 32;
             shift += 8) {
            putc((int)(word >> shift & 0xff), out);
        }
    }
    if (ferror(out) || fclose(out)) {
        err(1, "%s", path);
    }
    free(symbols);
    elf_end(elf);
    close(fd);
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
        fprintf(stderr,
                "usage: mkunwind [-f] PROGRAM TABLE | mkunwind -c KERNEL | mkunwind -d ELF\n");
        return 2;
    }
    const char *path = argv[option ? 2 : 1];
    fbt_kernel_read(&k, path);
    struct unwind_state *states = unwind_flow(&k);
    if (option && argv[1][1] == 'd') {
        unwind_dump_states(&k, states);
    } else {
        uint64_t base = option ? k.text.base : unwind_segment_of(path, k.text.base);
        unwind_table_make(&table, &k, states, base);
        option ? print_c(&table) : unwind_write_table(&table, argv[2]);
        free(table.words);
    }
    free(states);
    fbt_kernel_free(&k);
    return fflush(stdout) || ferror(stdout);
}
