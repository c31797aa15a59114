/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of channels: NameAttach, NameDetach, NameLookup. Kernel lock held. A fixed table, searched
 * linearly; a process's names end with it.
 *
 * EEXIST: the name is taken; EPERM: it is a system server's (abi/sys/names.h); EINVAL: empty, or
 * (detach) not one of the caller's; EBADF: no such channel of the caller's; EAGAIN: table or quota
 * full; ENOENT; ENAMETOOLONG; EFAULT.
 */
#include "abi/errno.h"
#include "abi/sys/names.h"
#include "kernel/base/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/ipc.h"
#include "kernel/base/string.h"

static struct {
    struct process *proc; /* [k] NULL: free */
    int32_t chid;         /* [k] */
    char name[KYMO_NAME_MAX];
} names[CONFIG_NAMES];

static const struct {
    const char *name;
    uint32_t ability;
} system_names[] = {
#define SYSTEM_NAME(name, able) {name, ABILITY_##able},
    SYSTEM_NAME_LIST(SYSTEM_NAME)
#undef SYSTEM_NAME
};

/* Returns whether the process may attach this name. */
static bool name_allowed(const struct process *proc, const char *name)
{
    for (unsigned i = 0; i < sizeof(system_names) / sizeof(system_names[0]); i++) {
        size_t n = strlen(system_names[i].name);
        if (strncmp(name, system_names[i].name, n) == 0 && (name[n] == '\0' || name[n] == '/')) {
            return process_able(proc, system_names[i].ability);
        }
    }
    return true;
}

static int name_find(const char *name)
{
    for (int i = 0; i < CONFIG_NAMES; i++) {
        if (names[i].proc && strcmp(names[i].name, name) == 0) {
            return i;
        }
    }
    return -ENOENT;
}

static int name_free_entry(void)
{
    for (int i = 0; i < CONFIG_NAMES; i++) {
        if (!names[i].proc) {
            return i;
        }
    }
    return -EAGAIN;
}

long ker_name_attach(struct thread *self, const uintptr_t *args)
{
    char name[KYMO_NAME_MAX];
    long len = copy_in_string(self->proc, name, args[0], sizeof(name));

    if (len <= 0) {
        return len ? len : -EINVAL;
    }
    if (!channel_find(self->proc, (int)args[1])) {
        return -EBADF;
    }
    if (!name_allowed(self->proc, name)) {
        return -EPERM;
    }
    if (name_find(name) >= 0) {
        return -EEXIST;
    }
    if (!quota_charge(&self->proc->quota, KYMO_LIMIT_NAMES, 1)) {
        return -EAGAIN;
    }
    int i = name_free_entry();
    kernel_assert(i >= 0); /* the system's account has counted them */
    names[i].proc = self->proc;
    names[i].chid = (int32_t)args[1];
    memcpy(names[i].name, name, (size_t)len + 1);
    return i + 1;
}

static void name_free(size_t i)
{
    quota_release(&names[i].proc->quota, KYMO_LIMIT_NAMES, 1);
    names[i].proc = NULL;
}

long ker_name_detach(struct thread *self, const uintptr_t *args)
{
    size_t i = args[0] - 1;

    if (i >= CONFIG_NAMES || names[i].proc != self->proc) {
        return -EINVAL;
    }
    name_free(i);
    return 0;
}

long ker_name_lookup(struct thread *self, const uintptr_t *args)
{
    char name[KYMO_NAME_MAX];
    long len = copy_in_string(self->proc, name, args[0], sizeof(name));

    if (len < 0) {
        return len;
    }
    trace_pathmgr_open((uint32_t)self->proc->pid, (uint32_t)self->tid, name);
    int i = name_find(name);
    if (i < 0) {
        return i;
    }
    struct kymo_name found = {names[i].proc->pid, names[i].chid};
    return copy_out(self->proc, args[1], &found, sizeof(found));
}

bool name_process_gone(struct process *proc)
{
    unsigned freed = 0;

    kernel_assert(kernel_locked());
    for (size_t i = 0; i < CONFIG_NAMES; i++) {
        if (names[i].proc != proc) {
            continue;
        }
        if (freed++ == PROCESS_GONE_AT_ONCE) {
            return true;
        }
        name_free(i);
    }
    return false;
}
