/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory objects of the tracelogger: captures in memory, kept kernel buffers. */
#ifndef TRACELOGGER_OBJECT_H
#define TRACELOGGER_OBJECT_H

#include <stdint.h>

#include "tracelogger/options.h"

#define OBJECT_PREFIX "memory:"
#define OBJECT_DEFAULT "tracebuffer.kev" /* as QNX's file in /dev/shmem */
#define OBJECT_KEPT "ktrace.buffers"     /* by -P */

/* Returns the name without "memory:", "/dev/shmem/" or "/". */
const char *object_name(const char *name);
/* Creates an object of this size, replacing one of that name, for those with the ability trace.
 * Returns its id, or -1 and errno. */
int object_make(const char *name, uint64_t size, unsigned mode);
#define OBJECT_READ 0640u   /* the group may read it */
#define OBJECT_SHARED 0660u /* the group may also write it */
/* Reports an EACCES of an object of this name: its owner, and the remedy. */
void object_refused(const char *name);
/* --save: copies an object to the sink that -f names. --remove: it goes, as soon as nobody uses it;
 * after both only if it is saved. Exit status. */
int object_work(const struct options *options);

#endif
