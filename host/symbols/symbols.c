/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See symbols.h. Texts of processes are kept by pid in a hash table. Names are kept too, by process
 * and address, because DWARF answers slowly and a capture asks for few places often; where a text
 * comes or changes, all kept names go.
 */
#include "host/symbols/symbols.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dt/type.h"
#include "host/event_numbers.h"
#include "host/id_tree.h"
#include "host/kymo.h"
#include "host/reader/kev.h"
#include "host/remote/elf_id.h"
#include "trace/slot.h"

#define NAME_MOST 64
#define PROCESSES_MOST 65536 /* whose texts are kept */
#define KEPT 4096            /* names, a power of two */
#define FRAMES_MOST 16       /* of one address */

struct text {
    struct id_node node;
    uint32_t pid;
    uint64_t start, bytes;
    char name[NAME_MOST];
};

struct kept_name {
    bool used;
    uint32_t pid;
    uint64_t address;
    char *text; /* NULL: the address has no name */
};

struct symbols {
    const struct kev *kev; /* NULL: it was opened without a reader */
    unsigned word_bits;
    struct dt_session *session;
    struct text **texts; /* the newest last */
    unsigned ntexts;
    struct id_tree pids; /* of texts */
    struct kept_name kept[KEPT];
};

static struct symbols *symbols_open_files(const struct elf_files *elf_files, unsigned word_bits,
                                          const char *const *paths, unsigned n)
{
    struct symbols *symbols = kymo_memory(calloc(1, sizeof(*symbols)));

    symbols->word_bits = word_bits;
    symbols->session = dt_session_new(dt_model_of(word_bits == 32 ? EM_ARM : EM_AARCH64), NULL);
    if (!elf_files_add(elf_files, symbols->session, paths, n, elf_files->found != NULL)) {
        symbols_close(symbols);
        return NULL;
    }
    return symbols;
}

struct symbols *symbols_open_build(const uint8_t *build_id, const char *board, unsigned word_bits,
                                   const char *option, const char *const *paths, unsigned n)
{
    const uint8_t none[ELF_ID_BYTES] = {0};
    struct elf_files elf_files = {.build_id = build_id == NULL ? none : build_id,
                                  .board = board,
                                  .command = "kymo",
                                  .whose = "the recorded system",
                                  .option = option};

    return symbols_open_files(&elf_files, word_bits, paths, n);
}

struct symbols *symbols_open(const struct kev *kev, const char *option, const char *const *paths,
                             unsigned n, void (*found)(void *arg, const struct elf_found *),
                             void *arg)
{
    const struct kev_info *info = kev_info(kev);
    const uint8_t none[ELF_ID_BYTES] = {0};
    struct elf_files elf_files = {.build_id = none,
                                  .board = info->board,
                                  .command = "kymo",
                                  .whose = "the recorded system",
                                  .option = option,
                                  .found = found,
                                  .arg = arg};
    struct symbols *symbols;

    if (info->build_id != NULL && info->build_id_len == ELF_ID_BYTES) {
        elf_files.build_id = info->build_id;
    }
    symbols = symbols_open_files(&elf_files, info->word_bits, paths, n);
    if (symbols != NULL) {
        symbols->kev = kev;
    }
    return symbols;
}

static void names_forget(struct symbols *symbols)
{
    for (unsigned i = 0; i < KEPT; i++) {
        free(symbols->kept[i].text);
        symbols->kept[i] = (struct kept_name){0};
    }
}

void symbols_close(struct symbols *symbols)
{
    if (symbols != NULL) {
        names_forget(symbols);
        dt_session_free(symbols->session);
        for (unsigned i = 0; i < symbols->ntexts; i++) {
            free(symbols->texts[i]);
        }
        free(symbols->texts);
        free(symbols);
    }
}

enum dt_detail symbols_detail(const struct symbols *symbols, const char *object)
{
    return dt_object_detail(symbols->session, object);
}

/* ---- the texts of processes --------------------------------------------------------- */

static struct text *symbols_text_of(const struct symbols *symbols, uint32_t pid)
{
    return (struct text *)id_tree_find(&symbols->pids, pid);
}

static struct text *symbols_text_add(struct symbols *symbols, uint32_t pid)
{
    unsigned n = symbols->ntexts;
    struct text *text;

    if (n == PROCESSES_MOST) {
        return NULL;
    }
    if ((n & (n + 1)) == 0) { /* full, at 0, 1, 3, 7 … elements */
        struct text **bigger = realloc(symbols->texts, (2 * (size_t)n + 1) * sizeof(struct text *));

        if (bigger == NULL) {
            kymo_no_memory();
        }
        symbols->texts = bigger;
    }
    text = kymo_memory(calloc(1, sizeof(*text)));
    text->pid = pid;
    id_tree_add(&symbols->pids, &text->node, pid);
    symbols->texts[symbols->ntexts++] = text;
    return text;
}

bool symbols_learn_text(struct symbols *symbols, uint32_t pid, uint64_t start, uint64_t bytes,
                        const char *name, size_t length)
{
    struct text *text = symbols_text_of(symbols, pid);

    if (text == NULL) {
        text = symbols_text_add(symbols, pid);
    }
    if (text == NULL || length >= NAME_MOST) {
        return false;
    }
    text->start = start;
    text->bytes = bytes;
    memset(text->name, 0, sizeof(text->name));
    memcpy(text->name, name, length);
    names_forget(symbols);
    return true;
}

bool symbols_learn(struct symbols *symbols, const struct kev_event *event)
{
    const struct kev_desc *desc;
    struct kev_field fields[KEV_ARGS_MAX];

    if (event->class != TRACE_CLASS_SYSTEM || (event->number & ~TRACE_EVENT_64) != NUMBER_mapname) {
        return false;
    }
    desc = kev_describe(symbols->kev, event->class, event->number);
    if (desc == NULL || kev_decode(event, desc, fields) != 4 || fields[3].text == NULL ||
        fields[3].len >= NAME_MOST) {
        return false;
    }
    return symbols_learn_text(symbols, (uint32_t)fields[0].value, fields[1].value, fields[2].value,
                              fields[3].text, fields[3].len);
}

void symbols_programs(const struct symbols *symbols,
                      void (*fn)(void *arg, const char *program, uint32_t pid), void *arg)
{
    for (unsigned i = 0; i < symbols->ntexts; i++) {
        fn(arg, symbols->texts[i]->name, symbols->texts[i]->pid);
    }
}

/* ---- names ------------------------------------------------------------------------- */

/* Where an address is: a program's, as its ELF file has it. */
struct place {
    struct dt_symbol symbol;
    uint64_t linked;
};

static bool symbols_find_place(const struct symbols *symbols, const struct text *text,
                               uint64_t address, struct place *place)
{
    uint64_t linked;

    if (address - text->start >= text->bytes ||
        !dt_object_text(symbols->session, text->name, &linked)) {
        return false;
    }
    place->linked = address - text->start + linked;
    return dt_symbol_in(symbols->session, text->name, place->linked, &place->symbol) &&
           place->symbol.name != NULL;
}

/* Looks the address up in all programs that have it. */
static bool find_any(const struct symbols *symbols, uint64_t address, struct place *place)
{
    struct place other;
    bool found = false;

    for (unsigned i = 0; i < symbols->ntexts; i++) {
        const struct text *text = symbols->texts[i];

        if (address - text->start >= text->bytes) {
            continue;
        }
        if (!symbols_find_place(symbols, text, address, &other)) {
            return false;
        }
        if (found && (strcmp(place->symbol.object, other.symbol.object) != 0 ||
                      place->linked != other.linked)) {
            return false;
        }
        *place = other;
        found = true;
    }
    return found;
}

/* Adds a word; one that does not fit is left out. */
static void symbols_put_word(char text[SYMBOLS_NAME_MOST], size_t *n, const char *before,
                             const char *word)
{
    int wrote = snprintf(text + *n, SYMBOLS_NAME_MOST - *n, "%s%s", before, word);

    *n += wrote > 0 && (size_t)wrote < SYMBOLS_NAME_MOST - *n ? (size_t)wrote : 0;
    text[*n] = '\0';
}

static void symbols_put_frames(struct symbols *symbols, const char *object, uint64_t linked,
                               char text[SYMBOLS_NAME_MOST], size_t *n)
{
    struct dt_frame frames[FRAMES_MOST];
    unsigned nframes = dt_frames_in(symbols->session, object, linked, frames, FRAMES_MOST);
    char place[SYMBOLS_NAME_MOST];

    for (unsigned i = 0; i < nframes; i++) {
        if (frames[i].file == NULL) {
            break;
        }
        const char *file = frames[i].file;

        /* From the folder in which a library was compiled up to that of its sources. */
        while (strncmp(file, "./", 2) == 0 || strncmp(file, "../", 3) == 0) {
            file = strchr(file, '/') + 1;
        }
        snprintf(place, sizeof(place), "%s:%u", file, frames[i].line);
        symbols_put_word(text, n, i == 0 ? " " : ", inlined at ", place);
        if (nframes > 1 && frames[i].function != NULL) {
            symbols_put_word(text, n, " in ", frames[i].function);
        }
    }
}

static void name_make(struct symbols *symbols, const struct place *place, const char *object,
                      char text[SYMBOLS_NAME_MOST])
{
    char offset[24];
    size_t n = 0;

    symbols_put_word(text, &n, "", place->symbol.object);
    symbols_put_word(text, &n, "`", place->symbol.name);
    if (place->symbol.offset != 0) {
        snprintf(offset, sizeof(offset), "+0x%llx", (unsigned long long)place->symbol.offset);
        symbols_put_word(text, &n, "", offset);
    }
    symbols_put_frames(symbols, object, place->linked, text, &n);
}

/* A Thumb function's address has bit 0 set. */
static uint64_t address_plain(const struct symbols *symbols, uint64_t address)
{
    return symbols->word_bits == 32 ? address & ~(uint64_t)1 : address;
}

static struct kept_name *kept_at(struct symbols *symbols, uint32_t pid, uint64_t address)
{
    uint64_t mixed = (address ^ (uint64_t)pid << 32) * 0x9e3779b97f4a7c15u;

    return &symbols->kept[mixed >> 52 & (KEPT - 1)];
}

bool symbols_name(struct symbols *symbols, uint32_t pid, uint64_t address,
                  char text[SYMBOLS_NAME_MOST])
{
    address = address_plain(symbols, address);
    struct kept_name *kept = kept_at(symbols, pid, address);

    if (!kept->used || kept->pid != pid || kept->address != address) {
        const struct text *own = pid == 0 ? NULL : symbols_text_of(symbols, pid);
        struct place place;
        bool found = pid == 0 ? find_any(symbols, address, &place)
                              : own != NULL && symbols_find_place(symbols, own, address, &place);

        if (found) {
            name_make(symbols, &place, place.symbol.object, text);
        }
        free(kept->text);
        *kept = (struct kept_name){true, pid, address, found ? strdup(text) : NULL};
        kept->used = !found || kept->text != NULL;
        return found;
    }
    if (kept->text != NULL) {
        snprintf(text, SYMBOLS_NAME_MOST, "%s", kept->text);
    }
    return kept->text != NULL;
}

bool symbols_name_linked(struct symbols *symbols, const char *object, uint64_t address,
                         char text[SYMBOLS_NAME_MOST])
{
    struct place place = {.linked = address_plain(symbols, address)};
    bool found = object == NULL
                     ? dt_symbol_at(symbols->session, place.linked, false, &place.symbol)
                     : dt_symbol_in(symbols->session, object, place.linked, &place.symbol);

    if (!found || place.symbol.name == NULL) {
        return false;
    }
    name_make(symbols, &place, object, text);
    return true;
}
