/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * KYMO_D_USER: creates probes of a process at the locations that the host has found in its ELF
 * file. None of this is trusted: a location must be in the process's own text, and have the
 * instruction that the host has read. Control context: see user.h.
 */
#include "kernel/dtrace/user/user.h"

#include "abi/errno.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/step.h"
#include "kernel/base/cpu.h"
#include "kernel/base/string.h"
#include "kernel/base/window.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/user/hook.h"
#include "kernel/proc/proc.h"
#include "trace/dtrace/port.h"

struct user_making {
    unsigned group, probe; /* the most recently created or found probe; 0: none */
    int32_t pid;
    bool own;
};

/* Returns whether a printable text of at most `room` bytes with its NUL is at this address. */
static bool text_ok(const char *text, size_t room)
{
    for (size_t i = 0; i < room; i++) {
        if (!text[i]) {
            return i > 0;
        }
        if (text[i] <= ' ' || text[i] > '~') {
            return false;
        }
    }
    return false;
}

/* Returns the length of the instruction's bytes, which follow the names. */
static size_t bytes_after_names(const struct kymo_d_user_place *p)
{
    return p->bytes > sizeof(p->insn) ? p->bytes - sizeof(p->insn) : 0;
}

/* Returns the name after the function's, or NULL if the entry is malformed. */
static const char *place_name(const struct kymo_d_user_place *p, size_t left)
{
    if (left < sizeof(*p) || p->size > left || p->size < sizeof(*p) || p->size % 8 || p->pad ||
        p->kind > KYMO_D_USER_OFFSET || p->address > UINTPTR_MAX) {
        return NULL;
    }
    const size_t bytes = p->size - sizeof(*p);
    if (!text_ok(p->strings, bytes < KYMO_D_USER_FUNCTION ? bytes : KYMO_D_USER_FUNCTION)) {
        return NULL;
    }
    const size_t name_at = strlen(p->strings) + 1, rest = bytes - name_at;
    const char *name = p->strings + name_at;
    if (!text_ok(name, rest < KYMO_D_USER_NAME ? rest : KYMO_D_USER_NAME)) {
        return NULL;
    }
    return rest - (strlen(name) + 1) >= bytes_after_names(p) ? name : NULL;
}

/* Returns the instruction that the kernel will expect at the location. */
static struct arch_step place_step(const struct kymo_d_user_place *p, const char *name)
{
    struct arch_step step = {.address = (uintptr_t)p->address, .insn = p->insn, .bytes = p->bytes};

    if (p->bytes <= sizeof(step.code)) {
        memcpy(step.code + sizeof(p->insn), name + strlen(name) + 1, bytes_after_names(p));
    }
    return step;
}

static bool is_same(const struct arch_step *a, const struct arch_step *b)
{
    return a->bytes == b->bytes && memcmp(a->code, b->code, sizeof(a->code)) == 0;
}

static bool is_named(unsigned probe, unsigned group, const char *function, const char *name)
{
    const struct user_probe *p = &user.probes[probe];

    return probe && p->group == group && strcmp(p->function, function) == 0 &&
           strcmp(p->name, name) == 0;
}

/* Returns the number of the site's place of a probe with these names, or 0. */
static unsigned place_find(unsigned site, unsigned group, const char *function, const char *name)
{
    unsigned i = user.sites[site].places;

    while (i && !is_named(user.places[i].probe, group, function, name)) {
        i = user.places[i].at_site;
    }
    return i;
}

/* Returns the site's number, or a negative errno. */
static int site_of(const struct user_making *m, const struct arch_step *step)
{
    const struct user_site site = {.step = *step, .pid = m->pid};
    const unsigned found = user_site_find(m->pid, step->address);

    if (found) {
        return is_same(&user.sites[found].step, step) ? (int)found : -EINVAL;
    }
    struct process *proc = process_find(m->pid);
    if (!proc) {
        return -ESRCH;
    }
    const void *at = user_text(&site, KYMO_PROT_EXEC);
    if (!at) {
        at = vm_user_ptr(proc, site.step.address, site.step.bytes, KYMO_PROT_EXEC);
        return at ? -ENOTSUP : -EFAULT;
    }
    if (!arch_step_able(&site.step)) {
        return -ENOTSUP;
    }
    if (!arch_step_is_there(at, &site.step, false)) {
        return -EINVAL;
    }
    const unsigned made = user_site_add(m->pid, &site.step);
    return made ? (int)made : -ENOSPC;
}

static int place_make(struct user_making *m, const struct kymo_d_user_place *p, const char *name)
{
    const struct process *proc = process_find(m->pid);
    const struct arch_step step = place_step(p, name);

    if (!proc) {
        return -ESRCH;
    }
    m->group = m->group ? m->group : user_group_of(proc, m->own);
    const unsigned at = user_site_find(m->pid, (uintptr_t)p->address);
    const unsigned there = at && m->group && is_same(&user.sites[at].step, &step)
                               ? place_find(at, m->group, p->strings, name)
                               : 0;
    if (there) {
        m->probe = user.places[there].probe;
        return 0;
    }
    /* Tests for room first, so that nothing is created without a probe. */
    if (!m->group || !user.free_places.room || !user.free_probes.room ||
        (!user.free_probes.first && !dtrace_probe_room())) {
        return -ENOSPC;
    }
    const int site = site_of(m, &step);
    if (site < 0) {
        return site;
    }
    if (!is_named(m->probe, m->group, p->strings, name)) {
        m->probe = user_probe_add(m->group, p->strings, name);
    }
    return m->probe && user_place_add((unsigned)site, m->probe, p) ? 0 : -ENOSPC;
}

static int head_check(const struct kymo_d_call *call, const struct kymo_d_user *head)
{
    if (call->handle || call->cpu || call->id || call->flags) {
        return -EINVAL;
    }
    if (call->in_bytes < sizeof(*head) || call->out_bytes < sizeof(struct kymo_d_user_made)) {
        return -EMSGSIZE;
    }
    return 0;
}

static int rights_check(const struct process *asker, uint32_t rights, int32_t pid)
{
    const struct process *proc = process_find(pid);

    if (!proc || proc == kernel_process) {
        return -ESRCH;
    }
    return rights & DTRACE_MAY_KERNEL || proc == asker || proc->ppid == asker->pid ? 0 : -EPERM;
}

/* Some tables may be full of objects without a clause. */
static void room_make(int32_t pid, bool own, unsigned count)
{
    user_groups_free(true);
    if (!user_group_room(pid, own) || user.free_places.room < count ||
        user.free_probes.room < count || user.free_sites.room < count) {
        user_groups_free(false);
    }
}

static int places_make(struct user_making *m, const struct kymo_d_call *call,
                       const struct kymo_d_user *head, struct kymo_d_user_made *made)
{
    size_t at = sizeof(*head);
    uint32_t i = 0;

    for (; i < head->count; i++) {
        const struct kymo_d_user_place *p = (const void *)((const char *)head + at);
        const char *name = place_name(p, call->in_bytes - at);

        if (!name) {
            break;
        }
        const int error = place_make(m, p, name);
        made->why = error && !made->refused ? error : made->why;
        made->first = error && !made->refused ? i : made->first;
        made->refused += error != 0;
        made->made += error == 0;
        at += p->size;
        kernel_window();
    }
    user_settle();
    return i == head->count && at == call->in_bytes ? 0 : -EINVAL;
}

int dtrace_user_command(const struct process *asker, uint32_t rights, struct kymo_d_call *call,
                        const void *in, void *out)
{
    const struct kymo_d_user *head = in;
    struct kymo_d_user_made made = {0};
    int error = head_check(call, head);

    kernel_assert(kernel_locked());
    error = error ? error : rights_check(asker, rights, head->pid);
    error = error ? error : user_tables_make() ? 0 : -ENOMEM;
    if (!error) {
        struct user_making m = {.pid = head->pid, .own = !(rights & DTRACE_MAY_KERNEL)};
        room_make(m.pid, m.own, head->count);
        error = places_make(&m, call, head, &made);
    }
    if (!error) {
        memcpy(out, &made, sizeof(made));
    }
    call->out_bytes = error ? 0 : sizeof(made);
    call->in_bytes = 0;
    call->result = error;
    return error;
}

void dtrace_user_init(void)
{
    static const struct dtrace_provider provider = {"pid", &user_ops};

    dtrace_provider_register(&provider);
}
