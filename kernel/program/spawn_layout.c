/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory layout of a new program. Kernel lock held.
 *
 * Where programs are relocated (an MPU): one piece of RAM [stack | startup block | data | bss |
 * heap], so that a stack overflow leaves it, and one for each read-only segment. Otherwise: stack
 * with the startup block at its top, the segments where they were linked, heap. In both the
 * writable memory is mapped first, because the mappings are searched in order.
 *
 * A board may have its boot image in flash, with programs that are linked to run at their address
 * in it (scripts/place). Such a program's text is mapped there and not copied, and nothing is
 * relocated; its data is at the address for which it was linked, if that RAM is free: else -ENOMEM.
 *
 * Errors: -ENOEXEC: segments that overlap, are writable and executable, or are too many, or an
 * entry point outside the text; -ENOMEM, -EAGAIN: from vm_map().
 */
#include "abi/errno.h"
#include "abi/unwind.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/elf.h"
#include "kernel/program/spawn.h"
#include "kernel/base/cpu.h"

#define LINE 32 /* alignment of a segment's linked address that relocation preserves */

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

static void to_clear(struct spawn_job *job, uint8_t *from, uint8_t *to)
{
    kernel_assert(job->nclears < SPAWN_CLEARS || to <= from);
    if (to > from) {
        job->clears[job->nclears++] = (struct spawn_clear){from, (size_t)(to - from)};
    }
}

/* Allocates RAM and maps it, not cleared. */
static int spawn_layout_place(struct spawn_job *job, size_t len, unsigned flags, uintptr_t vaddr,
                              struct mapping *m)
{
    size_t rounded, align;
    int error = arch_map_shape(len, flags, &rounded, &align);

    if (error) {
        return error;
    }
    *m = (struct mapping){.vaddr = vaddr, .len = rounded, .flags = flags | MAPPING_OWNED};
    m->phys = ram_alloc(&job->child->quota, rounded, align);
    if (!m->phys) {
        return -ENOMEM;
    }
    error = vm_map(job->child, m);
    if (error) {
        ram_free(&job->child->quota, m->phys, rounded);
    }
    return error;
}

static unsigned segment_prot(const struct spawn_segment *s)
{
    return KYMO_PROT_READ | (s->elf.flags & ELF_PF_W ? KYMO_PROT_WRITE : 0) |
           (s->elf.flags & ELF_PF_X ? KYMO_PROT_EXEC : 0);
}

/* Returns whether the boot image has this text at the address for which it was linked. */
static bool segment_in_place(const struct elf_segment *s)
{
    return arch_elf_relocates() && !(s->flags & ELF_PF_W) && s->file_len == s->mem_len &&
           arch_virt_to_phys(s->data) == s->vaddr;
}

/* Reads the program headers. */
static int find_segments(struct spawn_job *job)
{
    for (unsigned i = 0; i < job->elf.phnum; i++) {
        struct elf_segment segment;
        int kind = elf_segment(&job->elf, i, &segment);
        if (kind == 0) {
            continue;
        }
        bool both = (segment.flags & ELF_PF_W) && (segment.flags & ELF_PF_X);
        if (kind < 0 || both || job->nsegments == SPAWN_SEGMENTS) {
            return -ENOEXEC;
        }
        job->segments[job->nsegments++].elf = segment;
        job->in_place |= segment_in_place(&segment);
    }
    return job->nsegments ? 0 : -ENOEXEC;
}

/* Places a segment of a program that was linked for its address. */
static int place_segment_there(struct spawn_job *job, struct spawn_segment *s)
{
    size_t rounded, align;
    int error = arch_map_shape((size_t)s->elf.mem_len, segment_prot(s), &rounded, &align);
    bool data = s->elf.flags & ELF_PF_W;

    if (error || (s->elf.vaddr & (align - 1)) || (!data && !segment_in_place(&s->elf))) {
        return error ? error : -ENOEXEC;
    }
    struct mapping m = {.vaddr = (uintptr_t)s->elf.vaddr,
                        .phys = (paddr_t)s->elf.vaddr,
                        .len = rounded,
                        .flags = segment_prot(s) | (data ? MAPPING_OWNED : 0)};
    if (data && !ram_alloc_at(&job->child->quota, m.phys, rounded)) {
        return -ENOMEM;
    }
    error = vm_map(job->child, &m);
    if (error && data) {
        ram_free(&job->child->quota, m.phys, rounded);
    }
    s->vaddr = m.vaddr;
    s->kva = arch_phys_to_virt(m.phys);
    if (!error && data) {
        to_clear(job, s->kva + s->elf.file_len, s->kva + rounded);
    }
    return error;
}

/* Allocates RAM for one segment: where it was linked if `fixed`, otherwise anywhere. */
static int place_segment(struct spawn_job *job, struct spawn_segment *s, bool fixed)
{
    struct mapping m;
    size_t align, rounded;
    int error = arch_map_shape(1, segment_prot(s), &rounded, &align);

    if (error) {
        return error;
    }
    size_t lead = (size_t)s->elf.vaddr & ((fixed ? rounded : LINE) - 1);
    uintptr_t vaddr = fixed ? (uintptr_t)s->elf.vaddr - lead : 0;
    if (fixed && (vaddr == 0 || s->elf.vaddr > UINT32_MAX - s->elf.mem_len)) {
        return -ENOEXEC;
    }
    error = spawn_layout_place(job, lead + (size_t)s->elf.mem_len, segment_prot(s), vaddr, &m);
    if (error) {
        return error == -EINVAL ? -ENOEXEC : error;
    }
    uint8_t *kva = arch_phys_to_virt(m.phys);
    s->vaddr = m.vaddr + lead;
    s->kva = kva + lead;
    to_clear(job, kva, s->kva);
    to_clear(job, s->kva + s->elf.file_len, kva + m.len);
    return 0;
}

/* Returns the segment placed in turn n, or NULL. The writable ones come first, unless they have
 * been placed together. */
static struct spawn_segment *placed_at_turn(struct spawn_job *job, unsigned n, bool together)
{
    struct spawn_segment *s = &job->segments[n % job->nsegments];
    bool writable = n < job->nsegments;

    return !(s->elf.flags & ELF_PF_W) == writable || (writable && together) ? NULL : s;
}

/* Returns the only writable segment, or NULL; *several: there are more. */
static struct spawn_segment *written_segment(struct spawn_job *job, bool *several)
{
    struct spawn_segment *found = NULL;

    *several = false;
    for (unsigned i = 0; i < job->nsegments; i++) {
        if (job->segments[i].elf.flags & ELF_PF_W) {
            *several = *several || found;
            found = &job->segments[i];
        }
    }
    return found;
}

/* Places [stack | startup block | data | bss | heap] as one piece. */
static int place_writable_together(struct spawn_job *job)
{
    bool several;
    struct spawn_segment *data = written_segment(job, &several);
    size_t stack = round_up(job->stack_size, LINE);
    size_t data_at = stack + job->block_size, data_end = data_at;
    struct mapping m;
    int error = several ? -ENOEXEC : 0;

    if (!error && data && job->in_place) { /* first, because no other address is possible */
        error = place_segment_there(job, data);
        data = NULL;
    }
    if (error) {
        return error;
    }
    if (data) {
        data_at += (size_t)data->elf.vaddr & (LINE - 1);
        data_end = data_at + (size_t)data->elf.mem_len;
    }
    size_t heap_at = round_up(data_end, 16);
    if (heap_at < stack || heap_at + job->heap_size < heap_at) {
        return -ENOMEM;
    }
    error =
        spawn_layout_place(job, heap_at + job->heap_size, KYMO_PROT_READ | KYMO_PROT_WRITE, 0, &m);
    if (error) {
        return error;
    }
    uint8_t *kva = arch_phys_to_virt(m.phys);
    job->stack_low = m.vaddr;
    job->stack_high = job->block = m.vaddr + stack;
    job->block_kva = kva + stack;
    job->heap_low = m.vaddr + heap_at;
    job->heap_high = m.vaddr + m.len;
    to_clear(job, kva, job->block_kva);
    to_clear(job, job->block_kva + job->block_size, kva + data_at);
    if (data) {
        data->vaddr = m.vaddr + data_at;
        data->kva = kva + data_at;
        data_at += data->elf.file_len;
    }
    to_clear(job, kva + data_at, kva + m.len);
    return 0;
}

/* Places the stack, with the startup block at its top. */
static int place_stack(struct spawn_job *job)
{
    struct mapping m;
    int error = spawn_layout_place(job, (size_t)job->stack_size + job->block_size,
                                   KYMO_PROT_READ | KYMO_PROT_WRITE | KYMO_MAP_STACK, 0, &m);

    if (error) {
        return error;
    }
    uint8_t *kva = arch_phys_to_virt(m.phys);
    job->stack_low = m.vaddr;
    job->stack_high = job->block = m.vaddr + m.len - job->block_size;
    job->block_kva = kva + m.len - job->block_size;
    to_clear(job, kva, job->block_kva);
    return 0;
}

static int place_heap(struct spawn_job *job)
{
    struct mapping m;
    int error = spawn_layout_place(job, job->heap_size, KYMO_PROT_READ | KYMO_PROT_WRITE, 0, &m);

    if (error) {
        return error;
    }
    uint8_t *kva = arch_phys_to_virt(m.phys);
    job->heap_low = m.vaddr;
    job->heap_high = m.vaddr + m.len;
    to_clear(job, kva, kva + m.len);
    return 0;
}

uintptr_t spawn_placed(const struct spawn_job *job, uint64_t link)
{
    for (unsigned i = 0; i < job->nsegments; i++) {
        const struct spawn_segment *s = &job->segments[i];
        if (link - s->elf.vaddr < s->elf.mem_len) {
            return s->vaddr + (uintptr_t)(link - s->elf.vaddr);
        }
    }
    return 0;
}

/* Remembers the program for reports: its text is the segment with the entry point. */
static int note_program(struct spawn_job *job)
{
    struct program *program = &job->child->program;
    bool several;
    const struct spawn_segment *data = written_segment(job, &several);

    program->data_moved = data ? data->vaddr - (uintptr_t)data->elf.vaddr : 0;
    for (unsigned i = 0; i < job->nsegments; i++) {
        const struct spawn_segment *s = &job->segments[i];
        if ((s->elf.flags & ELF_PF_X) && job->elf.entry - s->elf.vaddr < s->elf.mem_len) {
            program->elf = job->elf.base;
            program->elf_len = job->elf.len;
            program->text = s->vaddr;
            program->text_len = (size_t)s->elf.mem_len;
            program->text_link = (uintptr_t)s->elf.vaddr;
            program->unwind = elf_table(&job->elf, UNWIND_MAGIC, &program->unwind_len);
            spawn_reloc_begin(job);
            return 0;
        }
    }
    return -ENOEXEC;
}

enum { SPAWN_LAYOUT_HEADERS, SPAWN_LAYOUT_STACK, SPAWN_LAYOUT_FIRST };

/* Places a segment or, after all of them, the heap; afterwards the layout is complete. */
static int layout_rest(struct spawn_job *job, unsigned n, bool together)
{
    unsigned turns = 2 * job->nsegments;
    struct spawn_segment *s = NULL;
    int error = 0;

    while (n < turns && !(s = placed_at_turn(job, n, together))) {
        n = job->laid++ - SPAWN_LAYOUT_FIRST;
    }
    if (n < turns) {
        error = job->in_place ? place_segment_there(job, s) : place_segment(job, s, !together);
    } else if (n == turns && !together) {
        error = place_heap(job);
    } else {
        return note_program(job);
    }
    return error ? error : 1;
}

int spawn_layout_step(struct spawn_job *job)
{
    bool together = arch_elf_relocates();
    unsigned step = job->laid++;
    int error;

    kernel_assert(kernel_locked() && job->child);
    switch (step) {
    case SPAWN_LAYOUT_HEADERS:
        error = find_segments(job);
        break;
    case SPAWN_LAYOUT_STACK:
        error = together ? place_writable_together(job) : place_stack(job);
        break;
    default:
        return layout_rest(job, step - SPAWN_LAYOUT_FIRST, together);
    }
    return error ? error : 1;
}
