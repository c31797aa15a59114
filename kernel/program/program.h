/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs: the boot image, its files, spawning, signals. Kernel lock held, except for the
 * readers. */
#ifndef KERNEL_PROGRAM_PROGRAM_H
#define KERNEL_PROGRAM_PROGRAM_H

#include "kernel/proc/proc.h"
#include "kernel/program/cpio.h"
#include "kernel/program/elf.h"

/* Finds a file of the boot image by its name. Returns false if there is none. Any context. */
bool boot_file(const char *name, struct cpio_file *file);
/* Loads "init", with all abilities, at boot. Returns 0 or a negative errno. */
int spawn_first(void);
/* Called when the thread ends: removes the process that it was spawning. */
void spawn_abandon(struct thread *t);
/* Returns whether the signal has ended the process. SIGCONT starts a held process and ends none. */
bool process_signal(struct process *proc, int signo);

#endif
