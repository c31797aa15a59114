/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a boot image: a newc cpio archive that depends on the files' names and contents only
 * (owner, time and inode are fixed), so equal inputs give equal images on every machine.
 *
 * Usage: mkcpio [-a ADDRESS] OUT NAME=FILE...     Runs on the build machine. Contents start at
 * multiples of 4. -a: the archive will lie at ADDRESS, and each program runs in it: its file is
 * placed so that its text is at the address for which it was linked (scripts/place), by NULs behind
 * its name.
 * The names of all ELF files, a line each, are the contents of one more file, boot/programs, which
 * the shell lists. If a file is a D program by its name, NAME.dif, the texts of D's refusals follow
 * in boot/d_reasons, for kernel/dtrace/reason.c: offsets of all reasons' texts and of the end, two
 * bytes each, the lower first; then the texts. Read by kernel/program/cpio.c; refuses names without
 * '=', different files of one name, and files over 4 GB. The same NAME=FILE twice is one file.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 110

static const char *const reasons[] = {
#define DTRACE_REASON(name, error, text) text,
#include "trace/dtrace/reasons.def"
};
enum { REASONS = sizeof(reasons) / sizeof(*reasons) };

static void die(const char *what, const char *name)
{
    fprintf(stderr, "mkcpio: %s: %s\n", what, name);
    exit(1);
}

/* Pads the archive to a multiple of 4 bytes. */
static void pad(FILE *out, size_t written)
{
    static const char zero[4];

    fwrite(zero, 1, (4 - written % 4) % 4, out);
}

/* namesize: bytes of the name's field; those behind the name are NULs. */
static void write_header(FILE *out, unsigned inode, unsigned mode, size_t bytes, const char *name,
                         size_t namesize)
{
    size_t length = strlen(name);
    int n = fprintf(out, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", inode, mode,
                    0, 0, 1, 0, (unsigned)bytes, 0, 0, 0, 0, (unsigned)namesize, 0);

    fwrite(name, 1, length, out);
    for (size_t i = length; i < namesize; i++) {
        fputc(0, out);
    }
    pad(out, (size_t)n + namesize);
}

static char *read_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    long end;
    char *data;

    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (end = ftell(f)) < 0) {
        die("can't read", path);
    }
    if ((unsigned long)end > UINT32_MAX) {
        die("too big", path);
    }
    rewind(f);
    *bytes = (size_t)end;
    data = malloc(*bytes + 1);
    if (data == NULL || fread(data, 1, *bytes, f) != *bytes) {
        die("can't read", path);
    }
    fclose(f);
    return data;
}

/* Returns the program's first loaded segment, if that is its text; else NULL. */
static const Elf32_Phdr *text_of(const char *data, size_t bytes)
{
    const Elf32_Ehdr *header = (const Elf32_Ehdr *)(const void *)data;

    if (bytes < sizeof(*header) || header->e_phoff > bytes ||
        (bytes - header->e_phoff) / sizeof(Elf32_Phdr) < header->e_phnum) {
        return NULL;
    }
    const Elf32_Phdr *segments = (const Elf32_Phdr *)(const void *)(data + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD) {
            return segments[i].p_flags & PF_X ? &segments[i] : NULL;
        }
    }
    return NULL;
}

/* Returns the size of the name's field that puts the program's text at its address. */
static size_t placed_namesize(FILE *out, uint32_t archive, const char *name, const char *data,
                              size_t bytes)
{
    const Elf32_Phdr *text = text_of(data, bytes);
    long here = ftell(out) + HEADER_BYTES;

    if (!text) {
        die("its text is not its first segment", name);
    }
    long namesize = (long)text->p_vaddr - (long)text->p_offset - (long)archive - here;
    if (namesize <= (long)strlen(name)) {
        die("no room before its address: it has become larger since scripts/place", name);
    }
    return (size_t)namesize;
}

static bool is_program(const char *data, size_t bytes)
{
    return bytes >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

/* archive: where it will lie; 0: programs don't run in it. */
static void write_file(FILE *out, unsigned inode, const char *name, const char *data, size_t bytes,
                       uint32_t archive)
{
    size_t namesize = strlen(name) + 1;

    if (archive && is_program(data, bytes)) {
        namesize = placed_namesize(out, archive, name, data, bytes);
    }
    write_header(out, inode, 0100644, bytes, name, namesize);
    fwrite(data, 1, bytes, out);
    pad(out, bytes);
}

/* Appends the file's name to the list of programs if it is an ELF. */
static void list_program(FILE *programs, const char *name, const char *data, size_t bytes)
{
    if (is_program(data, bytes)) {
        fprintf(programs, "%s\n", name);
    }
}

static void write_member(FILE *out, unsigned inode, const char *spec, FILE *programs,
                         uint32_t archive)
{
    const char *path = strchr(spec, '=');
    char name[256];
    size_t bytes;
    char *data;

    if (path == NULL || (size_t)(path - spec) >= sizeof(name)) {
        die("not NAME=FILE", spec);
    }
    snprintf(name, sizeof(name), "%.*s", (int)(path - spec), spec);
    data = read_file(path + 1, &bytes);
    write_file(out, inode, name, data, bytes, archive);
    list_program(programs, name, data, bytes);
    free(data);
}

static bool is_d_program(const char *spec)
{
    size_t length = strcspn(spec, "=");

    return length > 4 && strncmp(spec + length - 4, ".dif", 4) == 0;
}

static void write_reasons(FILE *out, unsigned inode)
{
    char *data = NULL;
    size_t bytes = 0, offset = 2 * (REASONS + 1);
    FILE *file = open_memstream(&data, &bytes);

    for (size_t i = 0; i <= REASONS; i++) {
        if (!file || offset > UINT16_MAX) {
            die("no room for its offsets", "boot/d_reasons");
        }
        fputc((int)(offset & 0xff), file);
        fputc((int)(offset >> 8), file);
        offset += i < REASONS ? strlen(reasons[i]) : 0;
    }
    for (size_t i = 0; i < REASONS; i++) {
        fputs(reasons[i], file);
    }
    fclose(file);
    write_file(out, inode, "boot/d_reasons", data, bytes, 0);
    free(data);
}

/* True if the same was asked for before; another file of that name is refused. */
static bool is_repeated(char **specs, int at)
{
    size_t length = strcspn(specs[at], "=");

    for (int i = 0; i < at; i++) {
        if (strcmp(specs[i], specs[at]) == 0) {
            return true;
        }
        if (strncmp(specs[i], specs[at], length) == 0 && specs[i][length] == '=') {
            die("two files of one name", specs[at]);
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    uint32_t archive = 0;

    if (argc > 2 && strcmp(argv[1], "-a") == 0) {
        archive = (uint32_t)strtoul(argv[2], NULL, 0);
        argc -= 2;
        argv += 2;
    }
    FILE *out = argc > 1 ? fopen(argv[1], "wb") : NULL;
    char *names = NULL;
    size_t bytes = 0;
    FILE *programs = open_memstream(&names, &bytes);
    bool has_d = false;

    if (out == NULL) {
        die("usage: mkcpio [-a ADDRESS] OUT NAME=FILE...", argc > 1 ? argv[1] : "no output");
    }
    for (int i = 2; i < argc; i++) {
        has_d = has_d || is_d_program(argv[i]);
        if (!is_repeated(argv + 2, i - 2)) {
            write_member(out, (unsigned)i - 1, argv[i], programs, archive);
        }
    }
    fclose(programs);
    write_file(out, (unsigned)argc - 1, "boot/programs", names, bytes, 0);
    free(names);
    if (has_d) {
        write_reasons(out, (unsigned)argc);
    }
    write_header(out, 0, 0, 0, "TRAILER!!!", sizeof("TRAILER!!!"));
    if (ferror(out) || fclose(out) != 0) {
        die("can't write", argv[1]);
    }
    return 0;
}
