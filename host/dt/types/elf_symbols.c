/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols of an ELF: by name, and the one that an address lies in.
 */
#include "host/dt/types/elf.h"
#include "host/dt/types/elf_file.h"

#include <stdlib.h>
#include <string.h>

static void read_table(struct dt_session *d, struct dt_elf *e, Elf_Scn *section, const GElf_Shdr *h,
                       bool is_arm)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym s;

    for (int i = 0; data && gelf_getsym(data, i, &s); i++) {
        const char *name = elf_strptr(e->elf, h->sh_link, s.st_name);
        unsigned kind = GELF_ST_TYPE(s.st_info);
        /* $a, $d, $t, $x mark code and data on ARM. */
        if (name && *name && *name != '$' && s.st_shndx != SHN_UNDEF && s.st_shndx != SHN_ABS &&
            (kind == STT_FUNC || kind == STT_OBJECT || kind == STT_NOTYPE)) {
            bool function = kind == STT_FUNC;
            dt_room(d, &e->symbols, sizeof(struct dt_elf_symbol));
            ((struct dt_elf_symbol *)e->symbols.data)[e->symbols.n++] = (struct dt_elf_symbol){
                .name = dt_strdup(d, name),
                .address = function && is_arm ? s.st_value & ~(uint64_t)1 : s.st_value,
                .size = s.st_size,
                .is_function = function,
                .is_global = GELF_ST_BIND(s.st_info) != STB_LOCAL,
            };
        }
    }
}

static void read_segments(struct dt_session *d, struct dt_elf *e)
{
    size_t n = 0;
    GElf_Phdr h;

    elf_getphdrnum(e->elf, &n);
    for (size_t i = 0; i < n; i++) {
        if (gelf_getphdr(e->elf, (int)i, &h) && h.p_type == PT_LOAD) {
            dt_room(d, &e->segments, sizeof(struct dt_elf_segment));
            ((struct dt_elf_segment *)e->segments.data)[e->segments.n++] =
                (struct dt_elf_segment){h.p_vaddr, h.p_vaddr + h.p_memsz, (h.p_flags & PF_X) != 0};
        }
    }
}

/* By address; of several at one the best name last: the one that dt_symbol_at() takes. */
static int elf_symbols_compare_address(const void *a, const void *b)
{
    const struct dt_elf_symbol *x = a, *y = b;

    if (x->address != y->address) {
        return x->address < y->address ? -1 : 1;
    }
    if ((x->size != 0) != (y->size != 0)) {
        return x->size ? 1 : -1;
    }
    if (x->is_global != y->is_global) {
        return x->is_global ? 1 : -1;
    }
    return strcmp(y->name, x->name);
}

/* .symtab has all that .dynsym has. */
void dt_elf_symbols_read(struct dt_session *d, struct dt_elf *e)
{
    static const GElf_Word kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
    GElf_Ehdr header = {0};
    bool is_arm = gelf_getehdr(e->elf, &header) && header.e_machine == EM_ARM;

    for (unsigned i = 0; i < 2 && e->symbols.n == 0; i++) {
        Elf_Scn *section = NULL;
        while ((section = elf_nextscn(e->elf, section)) != NULL) {
            GElf_Shdr h;
            if (gelf_getshdr(section, &h) && h.sh_type == kinds[i]) {
                read_table(d, e, section, &h, is_arm);
            }
        }
    }
    read_segments(d, e);
    if (e->symbols.n) {
        qsort(e->symbols.data, e->symbols.n, sizeof(struct dt_elf_symbol),
              elf_symbols_compare_address);
    }
}

const struct dt_elf_symbol *dt_elf_symbol_by_name(const struct dt_elf *e, const char *name)
{
    const struct dt_elf_symbol *s = e->symbols.data, *found = NULL;

    for (unsigned i = 0; i < e->symbols.n; i++) {
        if (strcmp(s[i].name, name) == 0 && (!found || s[i].is_global)) {
            found = &s[i];
        }
    }
    return found;
}

unsigned dt_elf_functions_named(const struct dt_elf *e, const char *name)
{
    const struct dt_elf_symbol *s = e->symbols.data;
    unsigned n = 0;

    for (unsigned i = 0; i < e->symbols.n; i++) {
        n += s[i].is_function && strcmp(s[i].name, name) == 0;
    }
    return n;
}

/* The last symbol at or below the address; one of size 0 reaches up to the next. */
static const struct dt_elf_symbol *symbol_at(const struct dt_elf *e, uint64_t address)
{
    const struct dt_elf_symbol *s = e->symbols.data;
    unsigned low = 0, high = e->symbols.n;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (s[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return NULL;
    }
    s += low - 1;
    return s->size == 0 || address - s->address < s->size ? s : NULL;
}

static const struct dt_elf_segment *elf_symbols_segment_of(const struct dt_elf *e, uint64_t address)
{
    const struct dt_elf_segment *s = e->segments.data;

    for (unsigned i = 0; i < e->segments.n; i++) {
        if (address >= s[i].start && address < s[i].end) {
            return &s[i];
        }
    }
    return NULL;
}

static bool has_address(const struct dt_elf *e, uint64_t address)
{
    return elf_symbols_segment_of(e, address) != NULL;
}

bool dt_elf_is_text(const struct dt_session *d, uint64_t address)
{
    for (const struct dt_elf *e = d->elfs; e; e = e->next) {
        const struct dt_elf_segment *s = elf_symbols_segment_of(e, address);
        if (s && s->is_text) {
            return true;
        }
    }
    return false;
}

static struct dt_symbol symbol_of(const struct dt_elf *e, uint64_t linked)
{
    const struct dt_elf_symbol *s = symbol_at(e, linked);
    const struct dt_elf_segment *first = e->segments.data;

    return (struct dt_symbol){.object = e->name,
                              .name = s ? s->name : NULL,
                              .offset = s ? linked - s->address : 0,
                              .location = linked - first->start};
}

bool dt_symbol_at(struct dt_session *d, uint64_t address, bool user, struct dt_symbol *symbol)
{
    for (struct dt_elf *e = d->elfs; e; e = e->next) {
        if (e->kernel != user && has_address(e, address - e->bias)) {
            *symbol = symbol_of(e, address - e->bias);
            return true;
        }
    }
    return false;
}

bool dt_object_text(const struct dt_session *d, const char *object, uint64_t *start)
{
    for (const struct dt_elf *e = d->elfs; e; e = e->next) {
        const struct dt_elf_segment *s = e->segments.data;

        for (unsigned i = 0; !e->kernel && i < e->segments.n; i++) {
            if (s[i].is_text && strcmp(e->name, object) == 0) {
                *start = s[i].start;
                return true;
            }
        }
    }
    return false;
}

bool dt_symbol_in(struct dt_session *d, const char *object, uint64_t address,
                  struct dt_symbol *symbol)
{
    for (struct dt_elf *e = d->elfs; e; e = e->next) {
        if (!e->kernel && strcmp(e->name, object) == 0 && has_address(e, address)) {
            *symbol = symbol_of(e, address);
            return true;
        }
    }
    return false;
}
