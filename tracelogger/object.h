/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory objects of the tracelogger: captures in memory, kept kernel buffers. */
#ifndef TRACELOGGER_OBJECT_H
#define TRACELOGGER_OBJECT_H

#include <stdint.h>

#include "tracelogger/options.h"

#define OBJECT_PREFIX "memory:"
#define OBJECT_DEFAULT "tracebuffer.kev" /* as QNX's file in /dev/shmem */
#define OBJECT_KEPT "ktrace.buffers"     /* by -P */

/* Without "memory:", "/dev/shmem/", "/". */
const char *object_name(const char *name);
/* A new one of this size in the place of what has the name, for those with the ability trace. Its
 * id, or -1 and errno. */
int object_make(const char *name, uint64_t size, unsigned mode);
#define OBJECT_READ 0640u   /* they read it */
#define OBJECT_SHARED 0660u /* and write it */
/* EACCES of an object of this name: whose it is, and what helps. */
void object_refused(const char *name);
/* --save: copies an object to the sink that -f names. --remove: it goes, as soon as nobody uses it;
 * after both only if it is saved. Exit status. */
int object_work(const struct options *options);

#endif
