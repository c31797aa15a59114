/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The static probes of a program (<kymo_probe.h>) as derived probes of D. Such a probe is an event
 * of log text, so its base is the event that programs insert, and its predicate compares the words
 * that say which place of which program it is (abi/sys/log.h): two programs may have the same
 * addresses, but not the same build id. Arguments are loaded from the words after them. See log.h.
 * Proof: test/host/log/check, test/board/statics.py.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/sys/log.h"
#include "host/dt/dt.h"
#include "host/kymo.h"
#include "host/log/elf.h"
#include "host/memory_stream.h"

enum { NAME_ROOM = 128, VALUE_ROOM = 160, ARGUMENTS_MOST = 6, TESTS_IN_A_ROW = 4 };

/* Places one after the other, of one probe: what the words say of the first and of the last. */
struct run {
    uint32_t first, last;
    unsigned next; /* number of the place after it */
};

/* A probe while it is read. Places of one name belong together if their arguments agree. */
struct probe {
    char provider[NAME_ROOM], name[NAME_ROOM], types[ARGUMENTS_MOST + 1];
    char arguments[ARGUMENTS_MOST][NAME_ROOM];
    unsigned level; /* whose it is: KYMO_LOG_PROBE, KYMO_LOG_SYSTEM */
    struct run *runs;
    unsigned nruns, room;
    struct probe *next;
};

/* An event without arguments is one of two words, but for the system's. */
static bool is_simple(const struct probe *p)
{
    return p->types[0] == '\0' && p->level != KYMO_LOG_SYSTEM;
}

/* ---- reading ------------------------------------------------------------------------- */

/* Copies a piece of the source. Returns false if it is empty or too long. */
static bool piece_copy(const char **at, char to[NAME_ROOM])
{
    const char *from, *end = log_piece_next(at, &from);
    size_t length = end == NULL ? 0 : (size_t)(end - from);

    if (length == 0 || length >= NAME_ROOM) {
        return false;
    }
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}

/* "__" is "-" in a name. */
static void dashes_put(char *name)
{
    char *to = name;

    for (const char *from = name; *from != '\0'; to++) {
        bool dash = from[0] == '_' && from[1] == '_';

        *to = dash ? '-' : *from;
        from += dash ? 2 : 1;
    }
    *to = '\0';
}

static bool is_identifier(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
           strlen(text);
}

/* Returns false if that is no probe as the header makes them. */
static bool probe_read(struct probe *p, const struct log_site *site)
{
    const char *at = site->format;
    size_t n = strlen(site->types);

    if (!log_level_is_probe(site->level) || n > ARGUMENTS_MOST ||
        strspn(site->types, "iuIUpP") != n || !piece_copy(&at, p->provider) ||
        !piece_copy(&at, p->name)) {
        return false;
    }
    strcpy(p->types, site->types);
    p->level = site->level;
    for (size_t i = 0; i < n; i++) {
        if (!piece_copy(&at, p->arguments[i])) {
            return false;
        }
    }
    dashes_put(p->name);
    return is_identifier(p->provider) && is_identifier(p->name);
}

static bool log_probes_is_same(const struct probe *p, const struct probe *q)
{
    return strcmp(p->provider, q->provider) == 0 && strcmp(p->name, q->name) == 0 &&
           strcmp(p->types, q->types) == 0 && p->level == q->level;
}

static bool run_add(struct probe *p, unsigned number, uint32_t word)
{
    if (p->nruns > 0 && p->runs[p->nruns - 1].next == number) {
        p->runs[p->nruns - 1].last = word;
        p->runs[p->nruns - 1].next++;
        return true;
    }
    if (p->nruns == p->room) {
        const unsigned room = 2 * p->room + 1;
        struct run *more = realloc(p->runs, room * sizeof(*more));
        if (more == NULL) {
            return false;
        }
        p->runs = more;
        p->room = room;
    }
    p->runs[p->nruns++] = (struct run){word, word, number + 1};
    return true;
}

/* Adds a place to the probe of its name and types, or a new probe to the list. False: no memory. */
static bool place_add(struct probe **list, const struct log_site *site, unsigned number,
                      uint32_t word)
{
    struct probe *new = calloc(1, sizeof(*new)), *p = *list, **end = list;

    if (new == NULL || !probe_read(new, site)) {
        const bool had_memory = new != NULL; /* and it is no probe */
        free(new);
        return had_memory;
    }
    for (; p != NULL && !log_probes_is_same(p, new); p = p->next) {
        end = &p->next;
    }
    if (p == NULL) {
        *end = p = new;
    } else {
        free(new);
    }
    return run_add(p, number, word);
}

/* The sites lie one after the other. False: there was no memory for some. */
static bool probes_read(const struct log_formats *formats, const uint8_t *bytes,
                        struct probe **list)
{
    struct log_site site;
    size_t offset = 0;
    bool all = true;

    for (unsigned number = 0;
         offset < formats->size && log_site_read(bytes, formats->size, (uint32_t)offset, &site);
         number++) {
        all &= place_add(list, &site, number, KYMO_LOG_BASE + (uint32_t)offset);
        offset = (size_t)((const uint8_t *)site.format - bytes) + strlen(site.format) + 1;
        offset = (offset + 3) & ~(size_t)3;
    }
    return all;
}

/* Writes the test whether the event's first two words, as one number, are those of a place of the
 * run: the place below, the program above. */
static void run_put(FILE *to, uint64_t id, const struct run *run)
{
    if (run->first == run->last) {
        fprintf(to, "arg3 == 0x%llxull", (unsigned long long)(id | run->first));
    } else {
        fprintf(to, "(arg3 >= 0x%llxull && arg3 <= 0x%llxull)",
                (unsigned long long)(id | run->first), (unsigned long long)(id | run->last));
    }
}

/* The test whether they are in one of the runs, which are in order: halves of them, until few are
 * left. */
static void runs_put(FILE *to, uint64_t id, const struct run *runs, unsigned n)
{
    const unsigned half = n / 2;

    if (n <= TESTS_IN_A_ROW) {
        for (unsigned i = 0; i < n; i++) {
            fputs(i > 0 ? " || " : "", to);
            run_put(to, id, &runs[i]);
        }
        return;
    }
    fprintf(to, "(arg3 < 0x%llxull ? (", (unsigned long long)(id | runs[half].first));
    runs_put(to, id, runs, half);
    fputs(") : (", to);
    runs_put(to, id, runs + half, n - half);
    fputs("))", to);
}

/* Returns the probe's predicate (malloc'ed); NULL: no memory. The words first: nearly all events
 * of others are told by them; if the places take many tests, by the program's alone. */
static char *predicate_make(const struct probe *p, uint32_t word)
{
    const bool system = p->level == KYMO_LOG_SYSTEM;
    const uint64_t id = (uint64_t)word << 32;
    char *text = NULL;
    size_t size;
    FILE *to = memory_stream(&text, &size);

    if (to == NULL) {
        return NULL;
    }
    if (p->nruns > TESTS_IN_A_ROW) {
        run_put(to, id, &(struct run){0, UINT32_MAX, 0});
        fputs(" && ", to);
    }
    fputs("(", to);
    runs_put(to, id, p->runs, p->nruns);
    fprintf(to, ") && arg0 == %u", system ? KYMO_LOG_SYSTEM_CODE : KYMO_LOG_CODE);
    fclose(to);
    return text;
}

/* ---- as derived probes --------------------------------------------------------------- */

static const char *log_probes_type_of(char letter)
{
    switch (letter) {
    case 'i':
        return "int";
    case 'u':
        return "uint32_t";
    case 'I':
        return "int64_t";
    case 'U':
        return "uint64_t";
    default:
        return "void *";
    }
}

/* Writes the load of an argument that begins with that word; returns its words. */
static unsigned log_probes_value_put(char text[VALUE_ROOM], char letter, unsigned word)
{
    const unsigned at = 4 * word;

    if (letter == 'i' || letter == 'u' || letter == 'p') {
        snprintf(text, VALUE_ROOM, "*(%s *)(arg1 + %u)", letter == 'i' ? "int32_t" : "uint32_t",
                 at);
        return 1;
    }
    /* The words of one of 64 bits need not be aligned to 8. */
    snprintf(text, VALUE_ROOM,
             "(uint64_t)*(uint32_t *)(arg1 + %u) << 32 | *(uint32_t *)(arg1 + %u)", at + 4, at);
    return 2;
}

/* io:::start and io:::done of a driver (apps/io_probe.h): Solaris's structs, made of the words. */
static void derive_io(struct dt_derived *derived, const char *program)
{
    const struct dt_derived_argument made[] = {
        {.type = "bufinfo_t *", .args = "xlate <bufinfo_t *> ((struct _io *)arg1)"},
        {.type = "devinfo_t *",
         .args = strcmp(program, "console") == 0
                     ? "xlate <devinfo_t *> ((enum _device)_DEVICE_CONSOLE)"
                     : "xlate <devinfo_t *> ((enum _device)_DEVICE_DISK)"},
        {.type = "pid_t", .args = derived->args[3].value},
    };

    if (strcmp(derived->provider, "io") != 0 || derived->nargs != ARGUMENTS_MOST) {
        return;
    }
    for (unsigned n = 0; n < sizeof(made) / sizeof(*made); n++) {
        derived->args[n].type = made[n].type;
        derived->args[n].args = made[n].args;
    }
}

/* Returns false if there is no memory. */
static bool log_probes_derive(struct dt_session *session, const struct probe *p,
                              const char *program, uint32_t id)
{
    char *const predicate = predicate_make(p, id), values[ARGUMENTS_MOST][VALUE_ROOM];
    const bool simple = is_simple(p), system = p->level == KYMO_LOG_SYSTEM;
    unsigned word = 2;
    struct dt_derived derived = {
        .provider = p->provider,
        .module = program,
        .function = "",
        .name = p->name,
        .base = "user",
        .base_function = "",
        .base_name = system   ? "system"
                     : simple ? "simple"
                              : "combine",
        .base_args = 4,
        .predicate = predicate,
    };

    if (predicate == NULL || p->nruns == 0) {
        free(predicate);
        return predicate != NULL;
    }
    for (; p->types[derived.nargs] != '\0'; derived.nargs++) {
        const unsigned n = derived.nargs;

        word += log_probes_value_put(values[n], p->types[n], word);
        derived.args[n] = (struct dt_derived_argument){
            .type = log_probes_type_of(p->types[n]), .name = p->arguments[n], .value = values[n]};
    }
    if (system) {
        derive_io(&derived, program);
    }
    dt_session_derive(session, &derived);
    free(predicate);
    return true;
}

static void formats_add(struct dt_session *session, const struct log_formats *formats,
                        const char *program)
{
    uint8_t *bytes = calloc(1, formats->size + 1); /* with the NUL after the last one */
    struct probe *list = NULL, *next;
    bool all = bytes != NULL;

    if (bytes != NULL) {
        memcpy(bytes, formats->bytes, formats->size);
        all = probes_read(formats, bytes, &list);
    }
    for (; list != NULL; list = next) {
        next = list->next;
        all &= log_probes_derive(session, list, program, formats->id_word);
        free(list->runs);
        free(list);
    }
    if (!all) {
        kymo_error("%s: out of memory: some of its static probes, or places of them, are missing",
                   program);
    }
    free(bytes);
}

void log_probes_add(struct dt_session *session, const char *path, const char *program)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct log_formats formats;
    Elf *elf;

    if (fd < 0 || elf_version(EV_CURRENT) == EV_NONE) {
        return;
    }
    elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf_kind(elf) == ELF_K_ELF && log_formats_of(elf, &formats) && formats.size > 0) {
        formats_add(session, &formats, program);
    }
    elf_end(elf);
    close(fd);
}
