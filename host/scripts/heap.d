#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a program's heap grows, for whose calls; what is not freed.
 *
 * Ten times a second how much of the memory that the process has for it
 * malloc() has taken since tracing began, and how much of that is in use, if either has changed; at
 * the end for whose calls it was taken, and what was not freed. IN USE counts what was asked for;
 * it may be a little off if several threads allocate at the same time.
 *
 *   kymo dtrace -c PROGRAM -s heap.d              until the program ends
 *   kymo dtrace -p PROGRAM -s heap.d SECONDS      of one that runs
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1;

BEGIN
{
        printf("%8s %10s %10s\n", "MS", "TAKEN", "IN USE");
        begun = timestamp;
}

pid$target::malloc:entry
{
        self->size = arg0;
        self->by = ucaller;
}

/* A malloc() that ends with a jump to another function (newlib's) returns when that one does. */
pid$target::*malloc*:return
/self->size && arg1 && !arg2 && (probefunc == "malloc" || probefunc == "_malloc_r")/
{
        size[arg1] = self->size;
        by[arg1] = self->by;
        used += self->size;
        @kept[ufunc(self->by)] = sum(self->size);
        self->size = 0;
}

pid$target::free:entry
/size[arg0]/
{
        used -= size[arg0];
        @kept[ufunc(by[arg0])] = sum(-size[arg0]);
        size[arg0] = 0;
        by[arg0] = 0;
}

pid$target::kymo_sbrk:entry
{
        self->more = (long)arg0;
}

pid$target::kymo_sbrk:return
/self->more && (long)arg1 != -1/
{
        taken += self->more;
        @taken[ufunc(self->by)] = sum(self->more);
        self->more = 0;
}

tick-100ms
/taken != shown || used != was_used/
{
        shown = taken;
        was_used = used;
        printf("%8d %10d %10d\n", (timestamp - begun) / 1000000, taken, used);
}

tick-1s
/SECONDS && ++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("%8s %10d %10d\n", "end", taken, used);
        printf("\n%-40s %10s\n", "TAKEN FOR CALLS BY", "BYTES");
        printa("%-40A %@10d\n", @taken);
        printf("\n%-40s %10s\n", "NOT FREED, ALLOCATED BY", "BYTES");
        printa("%-40A %@10d\n", @kept);
}
