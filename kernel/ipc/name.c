/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of channels: NameAttach, NameDetach, NameLookup. Kernel lock held. A process's names end
 * with it.
 *
 * The names are in a tree: each is on the path given by the bits of its hash followed by its own
 * bits, so a lookup passes few names whatever they are, and at most NAME_DEPTH, most of which it
 * distinguishes by their hashes.
 *
 * Errors: EEXIST: the name is taken; EPERM: it is reserved for a system server (abi/sys/names.h);
 * EINVAL: empty, or (detach) not one of the caller's; EBADF: no such channel of the caller's;
 * EAGAIN: table or quota full; ENOENT; ENAMETOOLONG; EFAULT.
 */
#include "abi/errno.h"
#include "abi/sys/names.h"
#include "kernel/base/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/ipc.h"
#include "kernel/base/string.h"

#define HASH_BITS 32
#define NAME_DEPTH (HASH_BITS + 8 * KYMO_NAME_MAX)

struct name {
    struct trie_node node; /* [k] must be first; its key is the hash */
    struct list link;      /* [k] in its process's names */
    struct process *proc;  /* [k] NULL: free */
    int32_t chid;          /* [I] */
    char name[KYMO_NAME_MAX];
};

static TABLE_OF(struct name, names, CONFIG_NAMES);
static struct trie tree;             /* [k] by hash and name */
static unsigned fresh;               /* [k] entries from here on were never used */
static struct trie_node *free_again; /* [k] entries that were freed, linked by their first child */

static const struct {
    const char *name;
    uint32_t ability;
} system_names[] = {
#define SYSTEM_NAME(name, able) {name, ABILITY_##able},
    SYSTEM_NAME_LIST(SYSTEM_NAME)
#undef SYSTEM_NAME
};

void name_init(void)
{
    TABLE_MAKE(names, struct name, TABLE_ENTRIES(NAMES));
}

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

/* FNV-1a with mixed bits, so that names that count up differ in the first bits. */
static uint32_t name_hash(const char *name)
{
    uint32_t hash = 0x811c9dc5u;

    for (; *name; name++) { /* bounded by KYMO_NAME_MAX */
        hash = (hash ^ (uint8_t)*name) * 0x01000193u;
    }
    return (hash ^ hash >> 15) * 0x9e3779b1u;
}

/* Returns a bit of the path to this name. Two names that differ do so at or before the end of the
 * shorter one. */
static unsigned name_bit(uint32_t hash, const char *name, unsigned i)
{
    if (i < HASH_BITS) {
        return hash >> (HASH_BITS - 1 - i) & 1;
    }
    return (uint8_t)name[(i - HASH_BITS) / 8] >> i % 8 & 1;
}

/* Returns the pointer to this name's node in the tree, or the pointer where it would be
 * inserted. */
static struct trie_node **name_place(uint32_t hash, const char *name)
{
    struct trie_node **place = &tree.root;

    for (unsigned i = 0; *place; i++) {
        const struct name *entry = (const struct name *)*place;
        if (entry->node.key == hash && strcmp(entry->name, name) == 0) {
            break;
        }
        kernel_assert(i < NAME_DEPTH);
        place = &(*place)->child[name_bit(hash, name, i)];
    }
    return place;
}

static struct name *name_new(void)
{
    struct trie_node *node = free_again;

    if (node) {
        free_again = node->child[0];
        return (struct name *)node;
    }
    struct name *entry = fresh < TABLE_ENTRIES(NAMES) ? TABLE_ADD(names, struct name, fresh) : NULL;
    fresh += entry != NULL;
    return entry;
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
    uint32_t hash = name_hash(name);
    struct trie_node **place = name_place(hash, name);
    if (*place) {
        return -EEXIST;
    }
    if (!quota_charge(&self->proc->quota, KYMO_LIMIT_NAMES, 1)) {
        return -EAGAIN;
    }
    struct name *entry = table_charged(name_new(), &self->proc->quota, KYMO_LIMIT_NAMES);
    if (!entry) {
        return -EAGAIN;
    }
    *entry = (struct name){.node.key = hash, .proc = self->proc, .chid = (int32_t)args[1]};
    memcpy(entry->name, name, (size_t)len + 1);
    list_push_back(&self->proc->names, &entry->link);
    *place = &entry->node;
    return (long)TABLE_INDEX(names, entry) + 1;
}

static void name_free(struct name *entry)
{
    struct trie_node **place = name_place(entry->node.key, entry->name);

    kernel_assert(*place == &entry->node);
    trie_cut(place);
    list_remove(&entry->link);
    quota_release(&entry->proc->quota, KYMO_LIMIT_NAMES, 1);
    entry->proc = NULL;
    entry->node.child[0] = free_again;
    free_again = &entry->node;
}

long ker_name_detach(struct thread *self, const uintptr_t *args)
{
    size_t i = args[0] - 1;

    if (i >= fresh || TABLE_AT(names, i)->proc != self->proc) {
        return -EINVAL;
    }
    name_free(TABLE_AT(names, i));
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
    const struct name *entry = (const struct name *)*name_place(name_hash(name), name);
    if (!entry) {
        return -ENOENT;
    }
    struct kymo_name found = {entry->proc->pid, entry->chid};
    return copy_out(self->proc, args[1], &found, sizeof(found));
}

bool name_process_gone(struct process *proc)
{
    unsigned freed = 0;

    kernel_assert(kernel_locked());
    while (!list_empty(&proc->names)) {
        if (freed++ == PROCESS_GONE_AT_ONCE) {
            return true;
        }
        name_free(list_entry(proc->names.next, struct name, link));
    }
    return false;
}
