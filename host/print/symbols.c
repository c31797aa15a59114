/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See symbols.h. As long as no THRUNNING of a CPU has been seen (its class was off), its process is
 * unknown: then an address has a name if all programs that have it in their text agree on it. The
 * capture may hold anything. Tested by test/boot/events.py and test/host/check.
 */
#include "host/print/symbols.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dt/dt.h"
#include "host/dt/type.h"
#include "host/remote/elf_id.h"
#include "host/remote/elf_files.h"
#include "abi/sys/states.h"
#include "trace/slot.h"

#define NAME_MOST 64
#define PROCESSES_MOST 65536 /* whose texts are kept */
/* trace/events.def, class SYSTEM */
#define MAPNAME 8
#define ADDRESS 9
#define FUNCTION_EXIT 11

struct text {
    uint32_t pid;
    uint64_t start, bytes;
    char name[NAME_MOST];
};

struct symbols {
    const struct kev *kev;
    struct dt_session *session;
    struct text *texts; /* the newest last */
    unsigned ntexts;
    uint32_t runs[KEV_CPUS]; /* pid; 0: not known */
    unsigned cpu;            /* of the last event */
};

struct symbols *symbols_new(const struct kev *kev, const char *const *paths, unsigned n)
{
    const struct kev_info *info = kev_info(kev);
    const uint8_t none[ELF_ID_BYTES] = {0};
    struct elf_files elf_files = {none, info->board, "kymo", "the recorded system", "--symbols"};
    struct symbols *symbols = calloc(1, sizeof(*symbols));

    if (symbols == NULL) {
        return NULL;
    }
    if (info->build_id != NULL && info->build_id_len == ELF_ID_BYTES) {
        elf_files.build_id = info->build_id;
    }
    symbols->kev = kev;
    symbols->session =
        dt_session_new(dt_model_of(info->word_bits == 32 ? EM_ARM : EM_AARCH64), NULL);
    if (!elf_files_add(&elf_files, symbols->session, paths, n, false)) {
        symbols_free(symbols);
        return NULL;
    }
    return symbols;
}

void symbols_free(struct symbols *symbols)
{
    if (symbols != NULL) {
        dt_session_free(symbols->session);
        free(symbols->texts);
        free(symbols);
    }
}

/* ---- the texts of processes --------------------------------------------------------- */

static struct text *text_of(const struct symbols *symbols, uint32_t pid)
{
    for (unsigned i = symbols->ntexts; i > 0; i--) {
        if (symbols->texts[i - 1].pid == pid) {
            return &symbols->texts[i - 1];
        }
    }
    return NULL;
}

void symbols_learn(struct symbols *symbols, const struct kev_event *event)
{
    const struct kev_desc *desc;
    struct kev_field fields[KEV_ARGS_MAX];
    unsigned n = symbols->ntexts;

    if (event->class != TRACE_CLASS_SYSTEM || (event->number & ~TRACE_EVENT_64) != MAPNAME) {
        return;
    }
    desc = kev_describe(symbols->kev, event->class, event->number);
    if (desc == NULL || kev_decode(event, desc, fields) != 4 || fields[3].text == NULL ||
        fields[3].len >= NAME_MOST) {
        return;
    }
    struct text *text = text_of(symbols, (uint32_t)fields[0].value);
    if (text == NULL && n < PROCESSES_MOST) {
        struct text *bigger = symbols->texts;
        if ((n & (n + 1)) == 0) { /* full, at 0, 1, 3, 7 … elements */
            bigger = realloc(bigger, (2 * (size_t)n + 1) * sizeof(*bigger));
        }
        if (bigger != NULL) {
            symbols->texts = bigger;
            symbols->ntexts++;
            text = &bigger[n];
        }
    }
    if (text != NULL) {
        *text = (struct text){(uint32_t)fields[0].value, fields[1].value, fields[2].value, ""};
        memcpy(text->name, fields[3].text, fields[3].len);
    }
}

void symbols_follow(struct symbols *symbols, const struct kev_event *event)
{
    symbols->cpu = event->cpu;
    if (event->class == TRACE_CLASS_PR_TH && event->number == STATE_RUNNING) {
        symbols->runs[event->cpu] = kev_word(event, 0);
    }
    symbols_learn(symbols, event);
}

/* ---- names ------------------------------------------------------------------------- */

bool symbols_apply(const struct kev_event *event)
{
    unsigned number = event->number & ~TRACE_EVENT_64;

    return event->class == TRACE_CLASS_SYSTEM && number >= ADDRESS && number <= FUNCTION_EXIT;
}

static bool find(const struct symbols *symbols, const struct text *text, uint64_t address,
                 struct dt_symbol *symbol)
{
    uint64_t linked;

    return address - text->start < text->bytes &&
           dt_object_text(symbols->session, text->name, &linked) &&
           dt_symbol_in(symbols->session, text->name, address - text->start + linked, symbol) &&
           symbol->name != NULL;
}

/* Looks the address up in all programs that have it. */
static bool find_any(const struct symbols *symbols, uint64_t address, struct dt_symbol *symbol)
{
    struct dt_symbol other;
    bool found = false;

    for (unsigned i = 0; i < symbols->ntexts; i++) {
        const struct text *text = &symbols->texts[i];

        if (address - text->start >= text->bytes) {
            continue;
        }
        if (!find(symbols, text, address, &other)) {
            return false;
        }
        if (found && (strcmp(symbol->object, other.object) != 0 ||
                      strcmp(symbol->name, other.name) != 0 || symbol->offset != other.offset)) {
            return false;
        }
        *symbol = other;
        found = true;
    }
    return found;
}

void symbols_put(const struct symbols *symbols, struct out *out, uint64_t address)
{
    uint32_t pid = symbols->runs[symbols->cpu];
    const struct text *text = pid == 0 ? NULL : text_of(symbols, pid);
    struct dt_symbol symbol;

    if (kev_info(symbols->kev)->word_bits == 32) {
        address &= ~(uint64_t)1; /* a Thumb function's */
    }
    if (pid == 0 ? !find_any(symbols, address, &symbol)
                 : text == NULL || !find(symbols, text, address, &symbol)) {
        return;
    }
    out_str(out, " (");
    out_str(out, symbol.object);
    out_char(out, '`');
    out_str(out, symbol.name);
    if (symbol.offset != 0) {
        char offset[24];

        snprintf(offset, sizeof(offset), "+0x%llx", (unsigned long long)symbol.offset);
        out_str(out, offset);
    }
    out_char(out, ')');
}
