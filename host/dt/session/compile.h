/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From sources to programs. Internal to host/dt.
 */
#ifndef HOST_DT_SESSION_COMPILE_H
#define HOST_DT_SESSION_COMPILE_H

#include "host/dt/base/session.h"

/* Parses and compiles a source into the program; NULL: a library, which has no clauses. */
void dt_source_parse(struct dt_session *, const struct dt_source *, const char *text, size_t size,
                     struct dt_program *);
/* Returns the file's text. Fails if it can't be read. */
const char *dt_file_read(struct dt_session *, const char *path, size_t *size);
/* Defines an inline with a name of its own, which is returned. */
const char *dt_inline_define(struct dt_session *, const char *type, const char *text);
/* Compiles the helpers that were found; returns the program of their objects. */
struct dt_program *dt_helpers_make(struct dt_session *);
/* Loads the built-in library or that of -x syslibdir, and those of -L. */
void dt_libraries_load(struct dt_session *);
/* Returns the output of the system's preprocessor. */
const char *dt_preprocess(struct dt_session *, const struct dt_source *, const char *text,
                          size_t *size);
/* Enters built-in variables, subroutines, actions and aggregating functions into `globals`. */
void dt_builtins_define(struct dt_session *);

#endif
