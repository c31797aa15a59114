/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a boot image: a newc cpio archive that depends on the files' names and contents only
 * (owner, time and inode are fixed), so equal inputs give equal images on every machine.
 *
 * Usage: mkcpio OUT NAME=FILE...     Runs on the build machine. Contents start at multiples of 4.
 * The names of all ELF files, a line each, are the contents of one more file, boot/programs, which
 * the shell lists. Read by kernel/program/cpio.c; refuses names without '=', different files of one
 * name, and files over 4 GB. The same NAME=FILE twice is one file.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void write_header(FILE *out, unsigned inode, unsigned mode, size_t bytes, const char *name)
{
    size_t namesize = strlen(name) + 1;
    int n = fprintf(out, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", inode, mode,
                    0, 0, 1, 0, (unsigned)bytes, 0, 0, 0, 0, (unsigned)namesize, 0);

    fwrite(name, 1, namesize, out);
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

/* Appends the file's name to the list of programs if it is an ELF. */
static void list_program(FILE *programs, const char *name, const char *data, size_t bytes)
{
    if (bytes >= 4 && memcmp(data, "\177ELF", 4) == 0) {
        fprintf(programs, "%s\n", name);
    }
}

static void write_file(FILE *out, unsigned inode, const char *name, const char *data, size_t bytes)
{
    write_header(out, inode, 0100644, bytes, name);
    fwrite(data, 1, bytes, out);
    pad(out, bytes);
}

static void write_member(FILE *out, unsigned inode, const char *spec, FILE *programs)
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
    write_file(out, inode, name, data, bytes);
    list_program(programs, name, data, bytes);
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
    FILE *out = argc > 1 ? fopen(argv[1], "wb") : NULL;
    char *names = NULL;
    size_t bytes = 0;
    FILE *programs = open_memstream(&names, &bytes);

    if (out == NULL) {
        die("usage: mkcpio OUT NAME=FILE...", argc > 1 ? argv[1] : "no output");
    }
    for (int i = 2; i < argc; i++) {
        if (!is_repeated(argv + 2, i - 2)) {
            write_member(out, (unsigned)i - 1, argv[i], programs);
        }
    }
    fclose(programs);
    write_file(out, (unsigned)argc - 1, "boot/programs", names, bytes);
    free(names);
    write_header(out, 0, 0, 0, "TRAILER!!!");
    if (ferror(out) || fclose(out) != 0) {
        die("can't write", argv[1]);
    }
    return 0;
}
