/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of the programs that the session has ELFs of, with their code, for probes in them.
 */
#include "host/dt/types/elf_file.h"

#include <stdlib.h>
#include <string.h>

/* The kind of the bytes from an address of the text on, by the symbols $a, $t, $x and $d of ARM's
 * ELF files. */
struct mapping {
    uint64_t address;
    bool is_data;
};

static int compare_mappings(const void *a, const void *b)
{
    const struct mapping *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

static void read_mappings(struct dt_session *d, struct dt_elf *e, struct dt_array *to)
{
    Elf_Scn *section = NULL;
    GElf_Shdr h;
    GElf_Sym s;

    while ((section = elf_nextscn(e->elf, section)) != NULL) {
        Elf_Data *data = gelf_getshdr(section, &h) && h.sh_type == SHT_SYMTAB
                             ? elf_getdata(section, NULL)
                             : NULL;
        for (int i = 0; data && gelf_getsym(data, i, &s); i++) {
            const char *name = elf_strptr(e->elf, h.sh_link, s.st_name);
            if (name && name[0] == '$' && strchr("atxd", name[1]) && name[1]) {
                dt_room(d, to, sizeof(struct mapping));
                ((struct mapping *)to->data)[to->n++] =
                    (struct mapping){s.st_value, name[1] == 'd'};
            }
        }
    }
    if (to->n) {
        qsort(to->data, to->n, sizeof(struct mapping), compare_mappings);
    }
}

/* ELF files of other machines have no such symbols: compilers keep data out of their text. */
static bool is_all_code(const struct dt_elf *e)
{
    GElf_Ehdr h;

    return gelf_getehdr(e->elf, &h) && h.e_machine == EM_X86_64;
}

/* The function's bytes in the file; NULL: it has none there. */
static const uint8_t *elf_text_function_bytes(const struct dt_elf *e, uint64_t address,
                                              uint64_t size)
{
    size_t n = 0, bytes = 0;
    const char *file = elf_rawfile(e->elf, &bytes);
    GElf_Phdr h;

    elf_getphdrnum(e->elf, &n);
    for (size_t i = 0; file && i < n; i++) {
        if (gelf_getphdr(e->elf, (int)i, &h) && h.p_type == PT_LOAD && h.p_flags & PF_X &&
            address >= h.p_vaddr && address - h.p_vaddr <= h.p_filesz &&
            size <= h.p_filesz - (address - h.p_vaddr) && h.p_offset <= bytes &&
            h.p_filesz <= bytes - h.p_offset) {
            return (const uint8_t *)file + h.p_offset + (address - h.p_vaddr);
        }
    }
    return NULL;
}

/* Finds the data in a function, from the mapping `at`, which is the one that it begins in. A file
 * without mappings has no code, or nothing else. */
static void read_data(struct dt_session *d, struct dt_function *f, const struct dt_array *mappings,
                      unsigned at, bool all_code, struct dt_array *to)
{
    const struct mapping *m = mappings->data;
    const uint64_t end = f->address + f->size;

    f->code = all_code || at < mappings->n ? f->size : 0;
    to->n = 0;
    for (unsigned k = at; k < mappings->n && m[k].address < end; k++) {
        const bool last = k + 1 == mappings->n || m[k + 1].address >= end;
        const uint64_t from = m[k].address < f->address ? 0 : m[k].address - f->address;
        if (!m[k].is_data) {
            continue;
        }
        f->code = to->n ? f->code : from;
        dt_room(d, to, sizeof(struct dt_data));
        ((struct dt_data *)to->data)[to->n++] =
            (struct dt_data){from, last ? f->size : m[k + 1].address - f->address};
    }
    f->data = to->data;
    f->data_count = to->n;
}

static const struct dt_elf *elf_text_of_program(const struct dt_session *d, const char *object)
{
    const struct dt_elf *e = d->elfs;

    while (e && (e->kernel || strcmp(e->name, object) != 0)) {
        e = e->next;
    }
    return e;
}

static bool elf_text_starts_function(const struct dt_elf *e, uint64_t address)
{
    const struct dt_elf_symbol *s = e->symbols.data;

    for (unsigned i = 0; i < e->symbols.n && s[i].address <= address; i++) {
        const char *cold = strstr(s[i].name, ".cold"); /* a part of another function */
        if (s[i].is_function && s[i].address == address && !cold) {
            return true;
        }
    }
    return false;
}

bool dt_object_starts(const struct dt_session *d, const char *object, uint64_t address)
{
    const struct dt_elf *e = elf_text_of_program(d, object);

    return e && elf_text_starts_function(e, address);
}

unsigned dt_object_functions(struct dt_session *d, const char *object,
                             void (*fn)(void *arg, const struct dt_function *), void *arg)
{
    struct dt_elf *e = (struct dt_elf *)elf_text_of_program(d, object);
    struct dt_array mappings = {.n = 0}, data = {.n = 0};
    unsigned n = 0;

    if (!e) {
        return 0;
    }
    read_mappings(d, e, &mappings);
    const struct dt_elf_symbol *s = e->symbols.data;
    const struct mapping *m = mappings.data;
    const bool all_code = is_all_code(e);
    for (unsigned i = 0, at = 0; i < e->symbols.n; i++) {
        struct dt_function f = {.name = s[i].name, .address = s[i].address, .size = s[i].size};
        f.text = s[i].is_function && f.size ? elf_text_function_bytes(e, f.address, f.size) : NULL;
        if (!f.text) {
            continue;
        }
        while (at + 1 < mappings.n && m[at + 1].address <= f.address) {
            at++;
        }
        read_data(d, &f, &mappings, at, all_code, &data);
        fn(arg, &f);
        n++;
    }
    return n;
}
