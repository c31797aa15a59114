/* SPDX-License-Identifier: BSD-2-Clause */
/* pidin's columns. */
#ifndef APPS_PIDIN_PRINT_H
#define APPS_PIDIN_PRINT_H

#include "lib/include/kymo.h"

void print_threads_head(void);
void print_thread(const struct kymo_proc_info *proc, const struct kymo_thread_info *thread);
void print_info_head(void);
void print_info(const struct kymo_proc_info *proc);
void print_limits_head(void);
/* and of the groups that it belongs to, each once */
void print_limits(const struct kymo_proc_info *proc);
void print_limits_system(void);
void print_objects_head(void);
void print_object(const struct kymo_object_info *object);

#endif
