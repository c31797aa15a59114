/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <spawn.h>, implemented by kymo_spawn(), and waiting for children by POSIX's names. Tested by
 * test/board/programs/t_port.c.
 */
#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/include/kymo.h"

_Static_assert(WNOHANG == KYMO_WAIT_NOHANG, "the C library's number");

int posix_spawnattr_init(posix_spawnattr_t *attr)
{
    memset(attr, 0, sizeof(*attr));
    attr->ability = kymo_abilities();
    return 0;
}

int posix_spawnattr_destroy(posix_spawnattr_t *attr)
{
    (void)attr;
    return 0;
}

int posix_spawnattr_setflags(posix_spawnattr_t *attr, short flags)
{
    const int all = POSIX_SPAWN_SETSCHEDPARAM | POSIX_SPAWN_SETSCHEDULER | POSIX_SPAWN_EXPLICIT_CPU;

    if (flags & ~all) {
        return EINVAL;
    }
    attr->flags = flags;
    return 0;
}

int posix_spawnattr_getflags(const posix_spawnattr_t *attr, short *flags)
{
    *flags = attr->flags;
    return 0;
}

int posix_spawnattr_setschedparam(posix_spawnattr_t *attr, const struct sched_param *param)
{
    attr->param = *param;
    return 0;
}

int posix_spawnattr_setschedpolicy(posix_spawnattr_t *attr, int policy)
{
    if (policy < SCHED_NOCHANGE || policy > SCHED_OTHER) {
        return EINVAL;
    }
    attr->policy = policy;
    return 0;
}

int posix_spawnattr_setrunmask(posix_spawnattr_t *attr, uint32_t cpus)
{
    attr->runmask = cpus;
    return 0;
}

int posix_spawnattr_setstackmax(posix_spawnattr_t *attr, uint32_t bytes)
{
    attr->stack = bytes;
    return 0;
}

int posix_spawnattr_setheap_np(posix_spawnattr_t *attr, uint32_t bytes)
{
    attr->heap = bytes;
    return 0;
}

int posix_spawnattr_setability_np(posix_spawnattr_t *attr, uint32_t abilities)
{
    attr->ability = abilities;
    return 0;
}

int posix_spawnattr_setlimit_np(posix_spawnattr_t *attr, enum kymo_limit what, uint64_t most)
{
    if ((unsigned)what >= KYMO_LIMITS) {
        return EINVAL;
    }
    attr->limits |= UINT32_C(1) << what;
    attr->limit[what] = most;
    return 0;
}

int posix_spawnattr_setgroup_np(posix_spawnattr_t *attr, int group)
{
    attr->group = group != 0;
    return 0;
}

int posix_spawn_file_actions_init(posix_spawn_file_actions_t *actions)
{
    actions->unused = 0;
    return 0;
}

int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *actions)
{
    (void)actions;
    return 0;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
    struct kymo_spawn_attr how = {.ability = kymo_abilities()};
    const char *slash = strrchr(path, '/');
    int saved = errno;

    (void)actions;
    (void)envp;
    if (attr) {
        how.ability = attr->ability;
        how.stack_size = attr->stack;
        how.heap_size = attr->heap;
        how.flags = attr->group ? KYMO_SPAWN_GROUP : 0;
        how.limits = attr->limits;
        memcpy(how.limit, attr->limit, sizeof(how.limit));
        how.runmask = attr->flags & POSIX_SPAWN_EXPLICIT_CPU ? attr->runmask : 0;
        how.policy = attr->flags & POSIX_SPAWN_SETSCHEDULER ? attr->policy : SCHED_NOCHANGE;
        how.priority = attr->flags & (POSIX_SPAWN_SETSCHEDPARAM | POSIX_SPAWN_SETSCHEDULER)
                           ? attr->param.sched_priority
                           : 0;
    }
    int child = kymo_spawn(slash ? slash + 1 : path, argv && argv[0] ? argv : NULL, &how);
    int error = child < 0 ? errno : 0;
    errno = saved;
    if (error == 0 && pid) {
        *pid = child;
    }
    return error;
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
    return posix_spawn(pid, file, actions, attr, argv, envp);
}

/* There are no process groups: 0 means any child, like -1. */
pid_t waitpid(pid_t pid, int *status, int options)
{
    if (pid < -1 || (options & ~(WNOHANG | WUNTRACED))) {
        errno = EINVAL;
        return -1;
    }
    return ProcWait(pid > 0 ? pid : 0, status, options & WNOHANG);
}

pid_t wait(int *status)
{
    return waitpid(-1, status, 0);
}
