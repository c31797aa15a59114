/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts programs of the boot image through POSIX's interface. All return 0 or an error number, and
 * leave errno alone. Any thread. Implemented by ProcSpawn(); tested by
 * test/board/programs/t_port.c.
 *
 * A program inherits no file descriptors (0 to 2, the console, are its own) and has no environment:
 * file actions must be none, envp is ignored.
 */
#ifndef LIB_SPAWN_H
#define LIB_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "abi/sys/quota.h"
#include "lib/include/sys/_pthreadtypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSIX_SPAWN_SETSCHEDPARAM 0x1 /* use the attributes' priority */
#define POSIX_SPAWN_SETSCHEDULER 0x2  /* use their priority and policy */
#define POSIX_SPAWN_EXPLICIT_CPU 0x4  /* use their CPUs */

typedef struct {
    short flags; /* POSIX_SPAWN_* */
    struct sched_param param;
    int policy;
    uint32_t runmask;
    uint32_t ability; /* a subset of the caller's */
    uint32_t stack, heap;
    uint32_t limits, group;
    uint64_t limit[KYMO_LIMITS];
} posix_spawnattr_t;
typedef struct {
    int unused;
} posix_spawn_file_actions_t;

/*
 * path: a program of the boot image, with or without folders: only the last part counts. attr NULL:
 * the caller's priority, policy, CPUs and abilities, the default stack and heap. argv[0] NULL: just
 * the program's name. pid may be NULL. ENOENT: no such program; ENOEXEC, ENOMEM, EAGAIN, EPERM (the
 * ability spawn), E2BIG, ENAMETOOLONG, EINVAL: as for kymo_spawn().
 */
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions);
int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions);

int posix_spawnattr_init(posix_spawnattr_t *attr);
int posix_spawnattr_destroy(posix_spawnattr_t *attr);
int posix_spawnattr_setflags(posix_spawnattr_t *attr, short flags); /* EINVAL */
int posix_spawnattr_getflags(const posix_spawnattr_t *attr, short *flags);
int posix_spawnattr_setschedparam(posix_spawnattr_t *attr, const struct sched_param *param);
int posix_spawnattr_setschedpolicy(posix_spawnattr_t *attr, int policy); /* EINVAL */
int posix_spawnattr_setrunmask(posix_spawnattr_t *attr, uint32_t cpus);
int posix_spawnattr_setstackmax(posix_spawnattr_t *attr, uint32_t bytes);
/* Kymo's own: bytes of heap; abilities (ABILITY_*), initially all of the caller's. */
int posix_spawnattr_setheap_np(posix_spawnattr_t *attr, uint32_t bytes);
int posix_spawnattr_setability_np(posix_spawnattr_t *attr, uint32_t abilities);
/* A limit (enum kymo_limit) of the new process, at most the caller's own (else EPERM at the spawn).
 * KYMO_LIMIT_MOST: the caller's. Without this call it gets the board's default, or the caller's if
 * that is less. EINVAL: no such limit. setgroup: the limits are those of a new group, of the
 * process and all its descendants together (EAGAIN at the spawn: no group left). */
int posix_spawnattr_setlimit_np(posix_spawnattr_t *attr, enum kymo_limit what, uint64_t most);
int posix_spawnattr_setgroup_np(posix_spawnattr_t *attr, int group);

#ifdef __cplusplus
}
#endif

#endif
