/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads a program's contents in pieces, so that the kernel can be left between them: clears the
 * memory, copies the segments, relocates, makes the text visible to instruction fetch. Kernel lock
 * held. The whole file is untrusted: elf.c bounds all reads of it, and nothing here is written
 * outside the bytes of a segment.
 *
 * A relocation adds, to a word that holds an address in one of the segments, the distance by which
 * that segment moved. Of the linker's relocations only those of allocated sections count.
 */
#include "abi/errno.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/elf.h"
#include "kernel/program/spawn.h"
#include "kernel/base/string.h"
#include "kernel/base/cpu.h"
#include "kernel/arch/irq.h"

enum {
    SPAWN_PHASE_CLEAR,
    SPAWN_PHASE_COPY,
    SPAWN_PHASE_RELOCATE,
    SPAWN_PHASE_SYNC,
    SPAWN_PHASE_DONE
};

#define RELOCS_A_STEP 24    /* of those that are read field by field */
#define REL_WORDS_A_STEP 64 /* of the others, a quarter as long each */
#define SECTIONS_A_STEP 4

static int next_phase(struct spawn_job *job)
{
    job->phase++;
    job->index = 0;
    job->offset = 0;
    return 1;
}

/* Returns the bytes of the next piece, at most `most`, of an object with `total` bytes; advances to
 * the next object at its end. */
static size_t next_piece(struct spawn_job *job, size_t total, size_t most)
{
    kernel_assert(job->offset <= total);
    size_t n = total - job->offset;

    if (n <= most) {
        job->index++;
        job->offset = 0;
        return n;
    }
    job->offset += most;
    return most;
}

static int step_clear(struct spawn_job *job)
{
    if (job->index == job->nclears) {
        return next_phase(job);
    }
    const struct spawn_clear *c = &job->clears[job->index];
    uint8_t *at = c->at + job->offset;
    arch_clear(at, next_piece(job, c->len, CONFIG_CLEAR_CHUNK));
    return 1;
}

static int step_copy(struct spawn_job *job)
{
    if (job->index == job->nsegments) {
        return next_phase(job);
    }
    const struct spawn_segment *s = &job->segments[job->index];
    size_t at = job->offset;
    memcpy(s->kva + at, s->elf.data + at, next_piece(job, s->elf.file_len, CONFIG_COPY_CHUNK));
    return 1;
}

/* Returns the distance by which the linked address's segment has moved; a segment's end address
 * counts as inside if nothing begins there (`_end`). */
static uintptr_t moved_by(const struct spawn_job *job, uint32_t value)
{
    uintptr_t displacement = 0;

    for (unsigned i = 0; i < job->nsegments; i++) {
        const struct spawn_segment *s = &job->segments[i];
        uint64_t offset = value - s->elf.vaddr;
        if (offset < s->elf.mem_len) {
            return s->vaddr - (uintptr_t)s->elf.vaddr;
        }
        if (offset == s->elf.mem_len) {
            displacement = s->vaddr - (uintptr_t)s->elf.vaddr;
        }
    }
    return displacement;
}

/* Returns the loaded word at a linked address, or NULL if it is not entirely in a segment's file
 * bytes. */
static uint8_t *loaded_word(const struct spawn_job *job, uint64_t link)
{
    for (unsigned i = 0; i < job->nsegments; i++) {
        const struct spawn_segment *s = &job->segments[i];
        uint64_t offset = link - s->elf.vaddr;
        if (offset < s->elf.file_len && s->elf.file_len - offset >= sizeof(uint32_t)) {
            return s->kva + offset;
        }
    }
    return NULL;
}

static int spawn_load_relocate(const struct spawn_job *job, const struct elf_reloc *reloc)
{
    int kind = arch_elf_reloc_kind(reloc->type);
    uint32_t value;

    if (kind != ELF_RELOCATE_WORD) {
        return kind < 0 ? -ENOEXEC : 0;
    }
    uint8_t *word = loaded_word(job, reloc->offset);
    if (!word) {
        return -ENOEXEC;
    }
    __builtin_memcpy(&value, word, sizeof(value)); /* one instruction each */
    value += (uint32_t)moved_by(job, value);
    __builtin_memcpy(word, &value, sizeof(value));
    return 0;
}

/* Returns whether this section contains relocations of loaded contents. */
static bool section_counts(const struct spawn_job *job, const struct elf_section *sec)
{
    struct elf_section target;

    if (sec->type != ELF_SHT_REL && sec->type != ELF_SHT_RELA) {
        return false;
    }
    return elf_section(&job->elf, sec->info, &target) && (target.flags & ELF_SHF_ALLOC);
}

/* ---- the usual form: 32-bit entries, read as words ---------------------------------- */

/* What a relocation needs to know of a segment. */
struct reloc_span {
    uint32_t link, mem_len;
    uint32_t words; /* so many offsets have a word in the file */
    uint32_t moved; /* the distance */
    uint8_t *kva;
};

struct reloc_spans {
    struct reloc_span span[SPAWN_SEGMENTS];
    unsigned n;
};

static void reloc_spans_note(const struct spawn_job *job, struct reloc_spans *spans)
{
    spans->n = job->nsegments;
    for (unsigned i = 0; i < job->nsegments; i++) {
        const struct spawn_segment *s = &job->segments[i];
        size_t bytes = s->elf.file_len;
        spans->span[i] = (struct reloc_span){
            .link = (uint32_t)s->elf.vaddr,
            .mem_len = (uint32_t)s->elf.mem_len,
            .words = bytes < sizeof(uint32_t) ? 0 : (uint32_t)(bytes - sizeof(uint32_t) + 1),
            .moved = (uint32_t)s->vaddr - (uint32_t)s->elf.vaddr,
            .kva = s->kva,
        };
    }
}

/* Returns the segment that loaded_word() finds, or NULL. */
static const struct reloc_span *reloc_place(const struct reloc_spans *spans, uint32_t link)
{
    for (unsigned i = 0; i < spans->n; i++) {
        if (link - spans->span[i].link < spans->span[i].words) {
            return &spans->span[i];
        }
    }
    return NULL;
}

/* Returns the segment by which moved_by() moves the address, or NULL. */
static const struct reloc_span *reloc_target(const struct reloc_spans *spans, uint32_t value)
{
    const struct reloc_span *ends = NULL;

    for (unsigned i = 0; i < spans->n; i++) {
        uint32_t offset = value - spans->span[i].link;
        if (offset < spans->span[i].mem_len) {
            return &spans->span[i];
        }
        ends = offset == spans->span[i].mem_len ? &spans->span[i] : ends;
    }
    return ends;
}

/* Relocates by n entries of two words each. Most are of the type, and about the segments, of the
 * one before. Returns 0, or -ENOEXEC. */
static __attribute__((noinline)) int relocate_words(const struct spawn_job *job,
                                                    const uint32_t *entry, size_t n)
{
    struct reloc_spans spans;
    unsigned type = UINT32_MAX;
    int kind = 0;

    reloc_spans_note(job, &spans);
    const struct reloc_span *place = spans.span, *target = spans.span;
    for (const uint32_t *end = entry + 2 * n; entry != end; entry += 2) {
        if ((entry[1] & 0xff) != type) {
            type = entry[1] & 0xff;
            kind = arch_elf_reloc_kind(type);
        }
        if (kind == 0) {
            continue;
        }
        uint32_t link = entry[0], value;
        if (kind < 0) {
            return -ENOEXEC;
        }
        if (link - place->link >= place->words && !(place = reloc_place(&spans, link))) {
            return -ENOEXEC;
        }
        uint8_t *word = place->kva + (link - place->link);
        __builtin_memcpy(&value, word, sizeof(value)); /* one instruction each */
        if (value - target->link >= target->mem_len) {
            const struct reloc_span *found = reloc_target(&spans, value);
            if (!found) {
                continue; /* it is in no segment */
            }
            target = found;
        }
        value += target->moved;
        __builtin_memcpy(word, &value, sizeof(value));
    }
    return 0;
}

/* ---- a step ------------------------------------------------------------------------ */

static int relocate_next_section(struct spawn_job *job)
{
    job->index++;
    job->offset = 0;
    return 1;
}

static int relocate_some(struct spawn_job *job, const struct elf_section *sec)
{
    struct elf_reloc reloc;
    size_t n = REL_WORDS_A_STEP;
    const uint32_t *words = elf_reloc_words(&job->elf, sec, job->offset, &n);

    if (words) {
        int error = relocate_words(job, words, n);
        job->offset += n;
        return error ? error : n < REL_WORDS_A_STEP ? relocate_next_section(job) : 1;
    }
    for (n = 0; n < RELOCS_A_STEP; n++) {
        if (!elf_reloc(&job->elf, sec, job->offset, &reloc)) {
            return relocate_next_section(job);
        }
        job->offset++;
        int error = spawn_load_relocate(job, &reloc);
        if (error) {
            return error;
        }
    }
    return 1;
}

static int step_relocate(struct spawn_job *job)
{
    struct elf_section sec;

    for (unsigned i = 0; i < SECTIONS_A_STEP; i++) {
        if (!arch_elf_relocates() || !elf_section(&job->elf, job->index, &sec)) {
            return next_phase(job);
        }
        if (section_counts(job, &sec)) {
            return relocate_some(job, &sec);
        }
        job->index++;
    }
    return 1;
}

static int step_sync(struct spawn_job *job)
{
    if (job->index == job->nsegments) {
        return next_phase(job);
    }
    const struct spawn_segment *s = &job->segments[job->index];
    size_t at = job->offset, n = next_piece(job, (size_t)s->elf.mem_len, CONFIG_CLEAR_CHUNK);
    if (s->elf.flags & ELF_PF_X) {
        arch_text_sync(s->kva + at, n);
    }
    return 1;
}

int spawn_load_step(struct spawn_job *job)
{
    kernel_assert(kernel_locked() && job->child);
    switch (job->phase) {
    case SPAWN_PHASE_CLEAR:
        return step_clear(job);
    case SPAWN_PHASE_COPY:
        return step_copy(job);
    case SPAWN_PHASE_RELOCATE:
        return step_relocate(job);
    case SPAWN_PHASE_SYNC:
        return step_sync(job);
    default:
        return 0;
    }
}

/* ---- the startup block ------------------------------------------------------------- */

/* A program finds it above its main thread's stack: struct kymo_startup, argv[] and the argument
 * strings. The request has been checked. */
uint32_t spawn_block_size(const struct kymo_spawn *s)
{
    size_t size = sizeof(struct kymo_startup) + (s->argc + 1) * sizeof(uintptr_t) + s->arg_bytes;

    return (uint32_t)((size + 31) & ~(size_t)31);
}

/* Points argv[i] to the i-th string; the strings lie at `strings` in the process. */
static void write_argv(uintptr_t *argv, uintptr_t strings, const struct kymo_spawn *s)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < s->argc; i++) {
        argv[i] = strings + at;
        at += (uint32_t)strlen(s->args + at) + 1;
    }
}

void spawn_block_write(struct spawn_job *job, const struct kymo_spawn *s)
{
    struct kymo_startup *startup = (struct kymo_startup *)job->block_kva;
    size_t argv_bytes = (s->argc + 1) * sizeof(uintptr_t);
    uintptr_t argv = job->block + sizeof(*startup);

    memset(job->block_kva, 0, job->block_size);
    startup->size = sizeof(*startup);
    startup->argc = s->argc;
    startup->argv = (char **)argv;
    startup->heap_start = (void *)job->heap_low;
    startup->heap_end = (void *)job->heap_high;
    startup->stack_low = (void *)job->stack_low;
    startup->stack_high = (void *)job->stack_high;
    startup->pid = job->child->pid;
    startup->ppid = job->child->ppid;
    startup->ability = s->ability;
    startup->ncpu = arch_cpu_count();
    startup->cycles_per_sec = arch_clock_hz();
    write_argv((uintptr_t *)(startup + 1), argv + argv_bytes, s);
    memcpy(job->block_kva + sizeof(*startup) + argv_bytes, s->args, s->arg_bytes);
}
