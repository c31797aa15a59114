/* SPDX-License-Identifier: BSD-2-Clause */
/* A linked kernel, or program, as fbt and host/unwind need it: its text with all marks, and its
 * functions by address. */
#ifndef HOST_FBT_KERNEL_H
#define HOST_FBT_KERNEL_H

#include "host/fbt/scan.h"

/* An edge that the code does not show: a site that is patched to jump, a fault that continues
 * there, an entry of a jump's table in the read-only data (x86-64). */
struct fbt_edge {
    uint64_t from, to;
};

struct fbt_kernel {
    struct fbt_text text;
    struct fbt_function *functions;
    size_t nfunctions;
    struct fbt_edge *edges;
    size_t nedges;
    size_t slots_needed; /* fbt_kernel_scan() */
    bool labels; /* set before it is read: functions without a size, too, up to the next one */
};

/* Reads it; on failure says why and exits. */
void fbt_kernel_read(struct fbt_kernel *, const char *elf);
void fbt_kernel_free(struct fbt_kernel *);
/* Leaves out what left_out.def says; the linker's map tells which object a function is of, and
 * `objects` is the path of the objects' folder. Then scans all functions. */
void fbt_kernel_leave_out(struct fbt_kernel *, const char *map, const char *objects);
void fbt_kernel_scan(struct fbt_kernel *);
/* By its address; NULL: none begins there. */
struct fbt_function *fbt_kernel_find(const struct fbt_kernel *, uint64_t address);

void fbt_die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
