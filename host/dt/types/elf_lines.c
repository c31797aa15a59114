/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From an address to its line of source, and through the functions that were inlined there, by
 * DWARF. libdw reads it; an ELF file without DWARF has no lines. Proof: test/host/symbols/check.
 */
#include "host/dt/dt.h"
#include "host/dt/types/elf_file.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

static struct dt_elf *elf_lines_find_elf(const struct dt_session *d, const char *object)
{
    struct dt_elf *e = d->elfs;

    while (e && (object ? e->kernel || strcmp(e->name, object) != 0 : !e->kernel)) {
        e = e->next;
    }
    return e;
}

enum dt_detail dt_object_detail(const struct dt_session *d, const char *object)
{
    const struct dt_elf *e = elf_lines_find_elf(d, object);

    if (!e || e->symbols.n == 0) {
        return DT_DETAIL_NONE;
    }
    return e->dwarf ? DT_DETAIL_LINES : DT_DETAIL_NAMES;
}

/* Where the inlined function `die` was called. */
static void place_of_call(Dwarf_Die *unit, Dwarf_Die *die, struct dt_frame *frame)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    Dwarf_Files *files;
    size_t n;

    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) == 0 &&
        dwarf_getsrcfiles(unit, &files, &n) == 0 && number < n) {
        frame->file = dwarf_filesrc(files, number, NULL, NULL);
    }
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number) == 0) {
        frame->line = (unsigned)number;
    }
}

static void place_of_address(Dwarf_Die *unit, uint64_t address, struct dt_frame *frame)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    int number = 0;

    if (line && dwarf_lineno(line, &number) == 0 && number > 0) {
        frame->file = dwarf_linesrc(line, NULL, NULL);
        frame->line = (unsigned)number;
    }
}

/* The scopes around the innermost one at an address, each inside the next. dwarf_getscopes() alone
 * continues after an inlined function with the place of its definition, not of its call. Returns
 * how many there are; *scopes is to be freed. */
static int scopes_at(Dwarf_Die *unit, uint64_t address, Dwarf_Die **scopes)
{
    int n = dwarf_getscopes(unit, address, scopes);

    if (n > 0) {
        Dwarf_Die innermost = (*scopes)[0];

        free(*scopes);
        n = dwarf_getscopes_die(&innermost, scopes);
    }
    if (n <= 0) {
        *scopes = NULL;
        return 0;
    }
    return n;
}

unsigned dt_frames_in(struct dt_session *d, const char *object, uint64_t address,
                      struct dt_frame *frames, unsigned most)
{
    struct dt_elf *e = elf_lines_find_elf(d, object);
    struct dt_frame next = {0};
    Dwarf_Die unit, *scopes;
    unsigned found = 0;

    if (!e || !e->dwarf || !dwarf_addrdie(e->dwarf, address, &unit)) {
        return 0;
    }
    place_of_address(&unit, address, &next);
    int n = scopes_at(&unit, address, &scopes);
    for (int i = 0; i < n && found < most && next.file; i++) {
        int tag = dwarf_tag(&scopes[i]);

        if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram) {
            frames[found] = next;
            frames[found++].function = dwarf_diename(&scopes[i]);
            next = (struct dt_frame){0};
        }
        if (tag == DW_TAG_subprogram) {
            break;
        }
        if (tag == DW_TAG_inlined_subroutine) {
            place_of_call(&unit, &scopes[i], &next);
        }
    }
    free(scopes);
    if (found == 0 && next.file && most > 0) {
        frames[found++] = next; /* assembler code has lines but no functions */
    }
    return found;
}
