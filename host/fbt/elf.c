/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a kernel's ELF for fbt, and a program's for host/unwind: text, functions, data within text,
 * places that are taken. */
#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/fbt/kernel.h"

struct reading {
    struct fbt_kernel *k;
    const char *path;
    Elf *elf;
    size_t word;       /* bytes of a pointer */
    size_t text_index; /* of the section .text */
    Elf_Data *symbols;
    GElf_Shdr symbols_header;
    uint64_t sites, sites_end, fixups, fixups_end, probes, probes_end; /* the tables' addresses */
    uint64_t system, system_end;                                       /* of the library's probes */
};

void fbt_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "mkfbt: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

static void take_section(struct reading *r, Elf_Scn *section, size_t names)
{
    GElf_Shdr h;
    const char *name;

    if (!gelf_getshdr(section, &h) || !(name = elf_strptr(r->elf, names, h.sh_name))) {
        fbt_die("%s: %s", r->path, elf_errmsg(-1));
    }
    Elf_Data *data = elf_getdata(section, NULL);
    if (h.sh_type == SHT_SYMTAB) {
        r->symbols = data;
        r->symbols_header = h;
    } else if (strcmp(name, ".text") == 0 && data && data->d_size == h.sh_size) {
        r->text_index = elf_ndxscn(section);
        r->k->text.base = h.sh_addr;
        r->k->text.size = h.sh_size;
        r->k->text.bytes = malloc(h.sh_size);
        r->k->text.marks = calloc(h.sh_size + 1, 1);
        if (!r->k->text.bytes || !r->k->text.marks) {
            fbt_die("no memory");
        }
        memcpy((void *)r->k->text.bytes, data->d_buf, h.sh_size);
    }
}

static void read_sections(struct reading *r)
{
    Elf_Scn *section = NULL;
    size_t names;

    if (elf_getshdrstrndx(r->elf, &names)) {
        fbt_die("%s: %s", r->path, elf_errmsg(-1));
    }
    while ((section = elf_nextscn(r->elf, section))) {
        take_section(r, section, names);
    }
    if (!r->symbols || !r->k->text.bytes) {
        fbt_die("%s: has no symbols or no .text", r->path);
    }
}

/* ---- symbols ----------------------------------------------------------------------- */

struct region {
    uint64_t at;
    bool data;
};

static int fbt_elf_by_address(const void *a, const void *b)
{
    const struct region *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

static int functions_by_address(const void *a, const void *b)
{
    const struct fbt_function *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

static void fbt_elf_add_function(struct fbt_kernel *k, const GElf_Sym *s, const char *name)
{
    k->functions = realloc(k->functions, (k->nfunctions + 1) * sizeof(*k->functions));
    char *copy = strdup(name);
    if (!k->functions || !copy) {
        fbt_die("no memory");
    }
    k->functions[k->nfunctions++] = (struct fbt_function){
        .name = copy, .at = s->st_value & ~(uint64_t)k->text.thumb, .size = s->st_size};
}

/* newlib's assembler for x86-64 doesn't say that what it exports is a function. */
static bool is_function(const struct reading *r, const GElf_Sym *s)
{
    bool untyped = r->k->text.x86 && GELF_ST_TYPE(s->st_info) == STT_NOTYPE &&
                   GELF_ST_BIND(s->st_info) == STB_GLOBAL;

    return GELF_ST_TYPE(s->st_info) == STT_FUNC ? s->st_size > 0 || r->k->labels
                                                : untyped && r->k->labels;
}

static size_t take_symbol(struct reading *r, const GElf_Sym *s, const char *name,
                          struct region *region)
{
    bool in_text = s->st_shndx == r->text_index;

    const struct {
        const char *name;
        uint64_t *at;
    } tables[] = {{"__trace_sites_start", &r->sites},
                  {"__trace_sites_end", &r->sites_end},
                  {"__fixups_start", &r->fixups},
                  {"__fixups_end", &r->fixups_end},
                  {"__kymo_probes_start", &r->probes},
                  {"__kymo_probes_end", &r->probes_end},
                  {"__kymo_system_probes_start", &r->system},
                  {"__kymo_system_probes_end", &r->system_end}};

    for (unsigned i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        if (strcmp(name, tables[i].name) == 0) {
            *tables[i].at = s->st_value;
        }
    }
    if (in_text && name[0] == '$' && name[1] && strchr("dxt", name[1]) && strchr(".", name[2])) {
        *region = (struct region){s->st_value, name[1] == 'd'};
        return 1;
    }
    if (in_text && is_function(r, s)) {
        fbt_elf_add_function(r->k, s, name);
    }
    return 0;
}

static void mark_data(struct fbt_text *t, struct region *regions, size_t n)
{
    qsort(regions, n, sizeof(*regions), fbt_elf_by_address);
    for (size_t i = 0; i < n; i++) {
        uint64_t end = i + 1 < n ? regions[i + 1].at : t->base + t->size;
        for (uint64_t at = regions[i].at; regions[i].data && at < end; at += 2) {
            fbt_mark(t, at, FBT_MARK_DATA);
        }
    }
}

/* Labels within a function are no functions. By address. */
static void drop_inner(struct fbt_kernel *k)
{
    uint64_t end = 0;
    size_t n = 0;

    for (size_t i = 0; i < k->nfunctions; i++) {
        const struct fbt_function f = k->functions[i];
        if (f.size == 0 && f.at < end && k->text.x86) {
            free((void *)f.name);
            continue;
        }
        k->functions[n++] = f;
        end = f.at + f.size > end ? f.at + f.size : end;
    }
    k->nfunctions = n;
}

/* By address. */
static void size_labels(struct fbt_kernel *k)
{
    uint64_t end = k->text.base + k->text.size;

    for (size_t i = k->nfunctions; i > 0; i--) {
        struct fbt_function *f = &k->functions[i - 1];
        uint64_t next = i < k->nfunctions ? f[1].at : end;
        if (f->size == 0 && i < k->nfunctions && next == f->at) {
            f->size = f[1].size; /* another name of the same function */
        } else if (f->size == 0) {
            f->size = next - f->at;
        }
    }
}

static void read_symbols(struct reading *r)
{
    size_t n = r->symbols_header.sh_size / r->symbols_header.sh_entsize, nregions = 0;
    struct region *regions = calloc(n + 1, sizeof(*regions));

    for (size_t i = 0; regions && i < n; i++) {
        GElf_Sym s;
        const char *name = NULL;
        if (gelf_getsym(r->symbols, (int)i, &s)) {
            name = elf_strptr(r->elf, r->symbols_header.sh_link, s.st_name);
        }
        if (name) {
            nregions += take_symbol(r, &s, name, &regions[nregions]);
        }
    }
    mark_data(&r->k->text, regions, nregions);
    free(regions);
    qsort(r->k->functions, r->k->nfunctions, sizeof(*r->k->functions), functions_by_address);
    drop_inner(r->k);
    size_labels(r->k);
}

/* ---- what others patch or know by its address -------------------------------------- */

/* NULL: the file has none there. */
static const uint8_t *bytes_find(struct reading *r, uint64_t address, uint64_t end)
{
    Elf_Scn *section = NULL;
    GElf_Shdr h;

    while ((section = elf_nextscn(r->elf, section))) {
        Elf_Data *data = elf_getdata(section, NULL);
        if (gelf_getshdr(section, &h) && (h.sh_flags & SHF_ALLOC) && data && data->d_buf &&
            address >= h.sh_addr && end <= h.sh_addr + data->d_size) {
            return (const uint8_t *)data->d_buf + (address - h.sh_addr);
        }
    }
    return NULL;
}

static const uint8_t *fbt_elf_bytes_at(struct reading *r, uint64_t address, uint64_t end)
{
    const uint8_t *bytes = bytes_find(r, address, end);

    if (!bytes) {
        fbt_die("%s: no trace sites", r->path);
    }
    return bytes;
}

static bool fbt_elf_in_text(const struct fbt_text *t, uint64_t address)
{
    return address - t->base < t->size;
}

static void add_edge(struct fbt_kernel *k, uint64_t from, uint64_t to)
{
    fbt_mark(&k->text, from, FBT_MARK_EDGE);
    fbt_mark(&k->text, to, FBT_MARK_TARGET);
    k->edges = realloc(k->edges, (k->nedges + 1) * sizeof(*k->edges));
    if (!k->edges) {
        fbt_die("no memory");
    }
    k->edges[k->nedges++] = (struct fbt_edge){from, to};
}

/* Rows of `words`: the first is an instruction that others patch or know, what follows of those in
 * the text is where it leads. */
static void read_pins(struct reading *r, uint64_t start, uint64_t end, unsigned words)
{
    const uint8_t *p =
        start < end ? fbt_elf_bytes_at(r, start, end) : NULL; /* a program has none */
    const struct fbt_text *t = &r->k->text;
    uint64_t site = 0;

    for (unsigned n = 0; start + (n + 1) * r->word <= end; n++) {
        uint64_t value = 0;
        memcpy(&value, p + n * r->word, r->word);
        value &= ~(uint64_t)t->thumb;
        fbt_mark(&r->k->text, value,
                 n % words ? FBT_MARK_TARGET : FBT_MARK_PINNED | FBT_MARK_TARGET);
        if (n % words == 0) {
            site = value;
        } else if (fbt_elf_in_text(t, value)) {
            add_edge(r->k, site, value);
        }
    }
}

/* ---- tables of jumps --------------------------------------------------------------- */

struct jump {
    uint64_t at, table;
};

static int fbt_elf_jumps_by_table(const void *a, const void *b)
{
    const struct jump *x = a, *y = b;

    return x->table < y->table ? -1 : x->table > y->table;
}

/* Returns the jumps of x86-64 through a table, by the table's address; their number in *n. */
static struct jump *find_jumps(const struct fbt_kernel *k, size_t *n)
{
    const struct fbt_text *t = &k->text;
    struct jump *jumps = NULL;

    *n = 0;
    for (size_t i = 0; i < k->nfunctions; i++) {
        const struct fbt_function *f = &k->functions[i];
        for (uint64_t at = f->at; at < f->at + f->size && fbt_elf_in_text(t, at);) {
            struct fbt_insn insn = fbt_decode_at(t, at);
            if (insn.kind == FBT_INDIRECT && insn.target) {
                jumps = realloc(jumps, (*n + 1) * sizeof(*jumps));
                if (!jumps) {
                    fbt_die("no memory");
                }
                jumps[(*n)++] = (struct jump){at, insn.target};
            }
            at += insn.length;
        }
    }
    if (jumps) {
        qsort(jumps, *n, sizeof(*jumps), fbt_elf_jumps_by_table);
    }
    return jumps;
}

/* A table ends where the next one begins, or an entry leads to no piece of a function. */
static void read_jumps(struct reading *r)
{
    size_t n;
    struct jump *jumps = find_jumps(r->k, &n);

    for (size_t i = 0; i < n; i++) {
        uint64_t at = jumps[i].table, end = UINT64_MAX, to;
        for (size_t j = i + 1; j < n && end == UINT64_MAX; j++) {
            end = jumps[j].table > at ? jumps[j].table : end;
        }
        for (const uint8_t *entry; at < end && (entry = bytes_find(r, at, at + sizeof(to)));
             at += sizeof(to)) {
            memcpy(&to, entry, sizeof(to));
            if (!fbt_elf_in_text(&r->k->text, to) || fbt_marked(&r->k->text, to, FBT_MARK_START)) {
                break;
            }
            add_edge(r->k, jumps[i].at, to);
        }
    }
    free(jumps);
}

/* ---- pads -------------------------------------------------------------------------- */

/* The compiler leaves two NOPs before each function (-fpatchable-function-entry=2,2). What comes
 * before it in the text doesn't run into them: the pieces of text are functions, too. */
static void find_pads(struct fbt_kernel *k)
{
    struct fbt_text *t = &k->text;
    uint64_t end = t->base; /* of the functions so far */

    t->pads = calloc(k->nfunctions + 1, sizeof(*t->pads));
    if (!t->pads) {
        fbt_die("no memory");
    }
    for (size_t i = 0; t->thumb && i < k->nfunctions; i++) {
        const struct fbt_function *f = &k->functions[i];
        uint64_t pad = f->at - FBT_SITE_BYTES;
        bool free = pad >= end && fbt_is_nop(t, pad) && fbt_is_nop(t, pad + 2);
        if (free && !fbt_marked(t, pad, FBT_MARK_TARGET)) {
            t->pads[t->npads++].at = pad;
        }
        end = f->at + f->size > end ? f->at + f->size : end;
    }
}

static void mark_starts(struct fbt_kernel *k)
{
    for (size_t i = 0; i < k->nfunctions; i++) {
        if (!strstr(k->functions[i].name, ".cold")) {
            fbt_mark(&k->text, k->functions[i].at, FBT_MARK_START);
        }
    }
}

void fbt_kernel_read(struct fbt_kernel *k, const char *path)
{
    struct reading r = {.k = k, .path = path};
    int fd = open(path, O_RDONLY);
    GElf_Ehdr header;

    elf_version(EV_CURRENT);
    if (fd < 0) {
        err(1, "%s", path);
    }
    r.elf = elf_begin(fd, ELF_C_READ, NULL);
    if (!r.elf || !gelf_getehdr(r.elf, &header) ||
        (header.e_machine != EM_ARM && header.e_machine != EM_AARCH64 &&
         header.e_machine != EM_X86_64)) {
        fbt_die("%s: not a kernel", path);
    }
    r.word = header.e_machine == EM_ARM ? 4 : 8;
    k->text.thumb = header.e_machine == EM_ARM;
    k->text.x86 = header.e_machine == EM_X86_64;
    read_sections(&r);
    read_symbols(&r);
    read_pins(&r, r.sites, r.sites_end, 4);
    read_pins(&r, r.fixups, r.fixups_end, 2);
    read_pins(&r, r.probes, r.probes_end, 2);
    read_pins(&r, r.system, r.system_end, 2);
    mark_starts(k);
    if (k->text.x86) {
        read_jumps(&r);
    }
    elf_end(r.elf);
    close(fd);
    fbt_text_mark(&k->text);
    find_pads(k);
}

void fbt_kernel_free(struct fbt_kernel *k)
{
    for (size_t i = 0; i < k->nfunctions; i++) {
        free((void *)k->functions[i].name);
    }
    free(k->functions);
    free(k->edges);
    free((void *)k->text.bytes);
    free(k->text.marks);
    free(k->text.pads);
}

struct fbt_function *fbt_kernel_find(const struct fbt_kernel *k, uint64_t address)
{
    struct fbt_function key = {.at = address};

    return k->nfunctions
               ? bsearch(&key, k->functions, k->nfunctions, sizeof(key), functions_by_address)
               : NULL;
}
