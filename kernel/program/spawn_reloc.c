/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Relocates a loaded program on ports where programs are moved: a word that holds an address in one
 * of the segments is increased by the distance by which that segment has moved. Kernel lock held.
 *
 * The words are listed in the program's relocation table (abi/reloc.h), which is made with the boot
 * image. For a program without a table the linker's relocations of allocated sections are used,
 * which takes ten times as long, because each has to be interpreted. Both are untrusted: nothing is
 * written outside the file bytes of a segment; -ENOEXEC: the table refers to a word outside, or is
 * truncated; a relocation is of a kind that can't be applied.
 *
 * Tested by test/kernel/program/loader_test.c, with correct, wrong and damaged tables, and by
 * test/host/reloc/tables.py, which compares each program's table with its relocations.
 */
#include "abi/errno.h"
#include "abi/reloc.h"
#include "kernel/arch/elf.h"
#include "kernel/program/spawn.h"

/* Work, in the unit of spawn_work. */
#define WORK_NEAR 24 /* a word with a code of its own */
#define WORK_ROW 8   /* a word in a run */
#define WORK_PART 64 /* a group, a run, or consecutive words: in addition to the words' own work */
#define WORK_RELOC 128
#define WORK_SECTION 64

#define FAR_LENGTH 4 /* bytes of the code for a far word */

/* ---- by the table ------------------------------------------------------------------ */

static inline void relocate_word(uint8_t *at, uint32_t moved)
{
    uint32_t value;

    __builtin_memcpy(&value, at, sizeof(value)); /* one instruction each */
    value += moved;
    __builtin_memcpy(at, &value, sizeof(value));
}

static const struct spawn_segment *segment_linked_at(const struct spawn_job *job, uint32_t vaddr)
{
    for (unsigned i = 0; i < job->nsegments; i++) {
        if (job->segments[i].elf.vaddr == vaddr) {
            return &job->segments[i];
        }
    }
    return NULL;
}

static int group_begin(struct spawn_job *job, struct spawn_relocs *r)
{
    if (r->len < RELOC_GROUP_BYTES) {
        return -ENOEXEC;
    }
    const struct spawn_segment *in = segment_linked_at(job, elf_get32(r->at));
    const struct spawn_segment *to = segment_linked_at(job, elf_get32(r->at + 4));
    uint32_t codes = elf_get32(r->at + 8);

    r->at += RELOC_GROUP_BYTES;
    r->len -= RELOC_GROUP_BYTES;
    if (!in || !to || codes > r->len) {
        return -ENOEXEC;
    }
    r->codes = codes;
    r->len -= codes;
    r->place = in->kva;
    r->room = in->elf.file_len;
    r->moved = (uint32_t)to->vaddr - (uint32_t)to->elf.vaddr;
    return 1;
}

static size_t far_bytes(const uint8_t *at)
{
    return elf_get32(at) >> 8;
}

/* Executes consecutive codes that stand for one word each, and codes for far words between them;
 * stops at any other code, and before it has read more than n bytes. Returns the number of codes,
 * or -ENOEXEC. */
static __attribute__((noinline)) long relocate_near(struct spawn_relocs *r, size_t n)
{
    const uint8_t *at = r->at, *end = at + n;
    uint8_t *place = r->place;
    size_t room = r->room;
    uint32_t moved = r->moved;

    while (at != end) {
        unsigned code = *at++;
        size_t bytes = code * sizeof(uint32_t);
        if (code > RELOC_NEAR) {
            at--;
            if (code != RELOC_FAR || end - at < FAR_LENGTH || far_bytes(at) > room) {
                break;
            }
            place += far_bytes(at);
            room -= far_bytes(at);
            at += FAR_LENGTH;
            continue;
        }
        if (bytes > room) {
            return -ENOEXEC;
        }
        place += bytes;
        room -= bytes;
        if (bytes > 0) {
            relocate_word(place - sizeof(uint32_t), moved);
        }
    }
    n = (size_t)(at - r->at);
    r->at = at;
    r->codes -= n;
    r->place = place;
    r->room = room;
    return (long)n;
}

/* A separate function, so that the values stay in registers. */
static __attribute__((noinline)) void relocate_row(uint8_t *at, size_t words, uint32_t moved)
{
    for (const uint8_t *end = at + words * sizeof(uint32_t); at != end; at += sizeof(uint32_t)) {
        relocate_word(at, moved);
    }
}

/* Executes the next code, which stands for no single word. Returns the bytes by which it moves the
 * position, or -ENOEXEC. */
static long relocate_far(struct spawn_relocs *r)
{
    bool far = *r->at == RELOC_FAR;
    size_t length = far ? FAR_LENGTH : 1;

    if (length > r->codes) {
        return -ENOEXEC;
    }
    size_t bytes = far ? far_bytes(r->at) : (*r->at - RELOC_NEAR) * sizeof(uint32_t);
    if (bytes > r->room) {
        return -ENOEXEC;
    }
    if (!far) {
        relocate_row(r->place, bytes / sizeof(uint32_t), r->moved);
    }
    r->at += length;
    r->codes -= length;
    r->place += bytes;
    r->room -= bytes;
    return far ? 0 : (long)bytes;
}

/* Relocates by the table. Returns 1, 0 at the end of the table, or -ENOEXEC. */
static int relocate_by_table(struct spawn_job *job, size_t *work)
{
    struct spawn_relocs *r = &job->relocs;

    spawn_work(work, WORK_PART);
    if (r->codes == 0) {
        return r->len > 0 ? group_begin(job, r) : 0;
    }
    if (*r->at > RELOC_NEAR) {
        long bytes = relocate_far(r);
        spawn_work(work, bytes > 0 ? (size_t)bytes / sizeof(uint32_t) * WORK_ROW : 0);
        return bytes < 0 ? (int)bytes : 1;
    }
    size_t most = *work / WORK_NEAR + 1;
    long n = relocate_near(r, r->codes < most ? r->codes : most);
    spawn_work(work, n > 0 ? (size_t)n * WORK_NEAR : 0);
    return n < 0 ? (int)n : 1;
}

/* ---- by the linker's relocations --------------------------------------------------- */

/* Returns the distance by which the linked address's segment has moved; a segment's end address
 * counts as inside if no other segment begins there (`_end`). */
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

static int relocate_by_type(const struct spawn_job *job, const struct elf_reloc *reloc)
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
    __builtin_memcpy(&value, word, sizeof(value));
    relocate_word(word, (uint32_t)moved_by(job, value));
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

static int relocate_next_section(struct spawn_job *job)
{
    job->index++;
    job->offset = 0;
    return 1;
}

/* Applies one relocation, or advances to the next section. Returns 1, 0 at the end, or -ENOEXEC. */
static int relocate_by_linker(struct spawn_job *job, size_t *work)
{
    struct elf_section sec;
    struct elf_reloc reloc;

    spawn_work(work, WORK_SECTION);
    if (!elf_section(&job->elf, job->index, &sec)) {
        return 0;
    }
    if (!section_counts(job, &sec)) {
        return relocate_next_section(job);
    }
    while (*work > 0) {
        if (!elf_reloc(&job->elf, &sec, job->offset, &reloc)) {
            return relocate_next_section(job);
        }
        job->offset++;
        spawn_work(work, WORK_RELOC);
        int error = relocate_by_type(job, &reloc);
        if (error) {
            return error;
        }
    }
    return 1;
}

void spawn_reloc_begin(struct spawn_job *job)
{
    struct spawn_relocs *r = &job->relocs;

    r->at = elf_table(&job->elf, RELOC_MAGIC, &r->len);
    if (r->at) {
        r->at += sizeof(uint32_t);
        r->len -= sizeof(uint32_t);
    }
}

int spawn_reloc_some(struct spawn_job *job, size_t *work)
{
    if (!arch_elf_relocates() || job->in_place) {
        return 0;
    }
    return job->relocs.at ? relocate_by_table(job, work) : relocate_by_linker(job, work);
}
