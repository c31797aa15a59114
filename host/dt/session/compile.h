/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From sources to programs. Internal to host/dt.
 */
#ifndef HOST_DT_SESSION_COMPILE_H
#define HOST_DT_SESSION_COMPILE_H

#include "host/dt/base/session.h"

/* program: NULL for a library, which has no clauses. */
void dt_source_parse(struct dt_session *, const struct dt_source *, const char *text, size_t size,
                     struct dt_program *);
/* Fails if the file can't be read. */
const char *dt_file_read(struct dt_session *, const char *path, size_t *size);
/* Fails as a compilation does. */
void dt_libraries_load(struct dt_session *);
/* The source through the system's preprocessor. */
const char *dt_preprocess(struct dt_session *, const struct dt_source *, const char *text,
                          size_t *size);
/* Enters built-in variables, subroutines, actions and aggregating functions into `globals`. */
void dt_builtins_define(struct dt_session *);

#endif
