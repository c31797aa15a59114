/* SPDX-License-Identifier: BSD-2-Clause */
/* See fake.h. */
#include "test/trace/dtrace/machine/fake.h"

#include "abi/sys/dtrace.h"
#include "trace/dtrace/port.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;

void fake_reset(void)
{
    memset(&fake, 0, sizeof(fake));
    fake.thread = 7;
    fake.elements_max = FAKE_ELEMENTS;
    fake.execname = "kymo-test";
}

static void add_map(const void *memory, size_t size, bool kernel, bool user, bool toxic)
{
    assert(fake.nmaps < FAKE_MAPS);
    fake.maps[fake.nmaps++] = (struct fake_map){(uintptr_t)memory, size, user, kernel, toxic};
}

void fake_map(const void *memory, size_t size, bool kernel, bool user)
{
    add_map(memory, size, kernel, user, false);
}

void fake_toxic(const void *memory, size_t size)
{
    add_map(memory, size, true, true, true);
}

void *dtrace_port_alloc(size_t bytes)
{
    fake.allocs++;
    if (fake.alloc_limit && fake.allocated + bytes > fake.alloc_limit) {
        return NULL;
    }
    fake.allocated += bytes;
    return calloc(1, bytes);
}

void *dtrace_port_keep(size_t bytes)
{
    void *block = dtrace_port_alloc(bytes);

    fake.forever += block ? bytes : 0;
    return block;
}

/* ---- retained memory --------------------------------------------------------------- */

_Alignas(64) uint8_t fake_window[FAKE_WINDOW];

int dtrace_port_retaining(void)
{
    return fake.retaining;
}

/* From the end on, each below the lowest one that is there. */
void *dtrace_port_retain(size_t bytes)
{
    uint32_t lowest = FAKE_WINDOW, n = FAKE_KEPT;

    for (uint32_t i = 0; i < FAKE_KEPT; i++) {
        lowest = fake.kept[i].at && fake.kept[i].at < lowest ? fake.kept[i].at : lowest;
        n = fake.kept[i].at == 0 ? i : n;
    }
    if (n == FAKE_KEPT || bytes > lowest - FAKE_FREE) {
        return NULL;
    }
    fake.kept[n].at = (lowest - (uint32_t)bytes) & ~63u;
    fake.kept[n].bytes = (uint32_t)bytes;
    return memset(fake_window + fake.kept[n].at, 0, bytes);
}

uint32_t dtrace_port_retained_at(const void *block)
{
    return (uint32_t)((const uint8_t *)block - fake_window);
}

int dtrace_port_retained_put(struct kymo_retain_d *is)
{
    if (fake.directory_full) {
        return -28;
    }
    is->id = 0x1ff;
    fake.is = is;
    return 0;
}

void dtrace_port_retained_drop(const struct kymo_retain_d *is)
{
    fake.is = fake.is == is ? NULL : fake.is;
}

static bool free_kept(const void *block)
{
    for (uint32_t i = 0; i < FAKE_KEPT; i++) {
        if (fake.kept[i].at && block == fake_window + fake.kept[i].at) {
            memset(fake_window + fake.kept[i].at, 0xee, fake.kept[i].bytes);
            fake.kept[i].at = 0;
            return true;
        }
    }
    return false;
}

void dtrace_port_free(void *block, size_t bytes)
{
    if (free_kept(block)) {
        return;
    }
    fake.allocated -= bytes;
    free(block);
}

static bool overlaps(const struct fake_map *m, uint64_t address, size_t bytes)
{
    return address < m->address + m->size && m->address < address + bytes;
}

bool dtrace_port_toxic(uint64_t address, size_t bytes, bool user)
{
    (void)user;
    for (unsigned i = 0; i < fake.nmaps; i++) {
        if (fake.maps[i].toxic && overlaps(&fake.maps[i], address, bytes)) {
            return true;
        }
    }
    return address < 4096;
}

static bool mapped(uint64_t address, size_t bytes, bool user)
{
    for (unsigned i = 0; i < fake.nmaps; i++) {
        const struct fake_map *m = &fake.maps[i];
        if (address - m->address < m->size && bytes <= m->size - (address - m->address)) {
            return user ? m->user : m->kernel;
        }
    }
    return false;
}

bool dtrace_port_peek(void *to, uint64_t address, size_t bytes, bool user)
{
    fake.peeks++;
    fake.toxic_read += dtrace_port_toxic(address, bytes, user);
    if (!mapped(address, bytes, user)) {
        memset(to, 0xee, bytes); /* undefined */
        return false;
    }
    memcpy(to, (const void *)(uintptr_t)address, bytes);
    return true;
}

bool dtrace_port_poke_user(uint64_t address, const void *from, size_t bytes)
{
    if (!mapped(address, bytes, true)) {
        return false;
    }
    memcpy((void *)(uintptr_t)address, from, bytes);
    return true;
}

unsigned dtrace_port_cpu_count(void)
{
    return FAKE_CPUS;
}

uint64_t dtrace_port_vtimestamp(void)
{
    return 100 + fake.lookups++;
}

uint64_t dtrace_port_counter(unsigned which)
{
    return 300 + 100 * which + fake.lookups++;
}

int dtrace_port_counters(unsigned which, bool on)
{
    if (on && fake.no_counter[which]) {
        return fake.no_counter[which];
    }
    fake.counted[which] += on ? 1u : -1u;
    return 0;
}

uint64_t dtrace_port_walltimestamp(void)
{
    return 200 + fake.lookups++;
}

unsigned dtrace_port_stack(bool user, uint64_t *to, unsigned max)
{
    unsigned depth = (user ? 5 : 3) + (to ? 0 : fake.lookups++);

    for (unsigned i = 0; to && i < depth && i < max; i++) {
        to[i] = 0x1000u * (i + 1) + user;
    }
    return depth < max ? depth : max;
}

/* The same frames, each 0x10 bytes above the one that it has called. */
unsigned dtrace_port_frames(void (*found)(void *arg, uint64_t pc, uint64_t sp), void *arg,
                            unsigned max)
{
    uint64_t pcs[DTRACE_PORT_DEPTH_MOST];
    unsigned n = dtrace_port_stack(true, pcs, max < DTRACE_PORT_DEPTH_MOST ? max : 0);

    for (unsigned i = 0; i < n; i++) {
        found(arg, pcs[i], fake.stack + 0x10 * i);
    }
    return n;
}

void dtrace_port_moved(uint64_t *text, uint64_t *data)
{
    *text = 0x100;
    *data = 0x200;
}

uint64_t dtrace_port_caller(bool user)
{
    return user ? 0x2222 : 0x1111;
}

bool dtrace_port_register(bool user, unsigned n, uintptr_t *value)
{
    *value = n < 4 ? (user ? 0x200 : 0x100) + n : *value;
    return n < 4;
}

int32_t dtrace_port_pid(void)
{
    return 42;
}

int32_t dtrace_port_tid(void)
{
    return -3; /* so that its sign shows */
}

int32_t dtrace_port_ppid(void)
{
    return 41;
}

uint32_t dtrace_port_uid(void)
{
    return 0xfffffffe;
}

uint32_t dtrace_port_gid(void)
{
    return 12;
}

int32_t dtrace_port_errno(void)
{
    return 2;
}

uint32_t dtrace_port_ipl(void)
{
    return 1;
}

uint64_t dtrace_port_curthread(void)
{
    return 0xabcd;
}

bool dtrace_port_descends(int32_t pid)
{
    return pid == 42 || pid == 1;
}

const char *dtrace_port_pidname(int32_t pid)
{
    return pid == 42 ? "answer" : pid == 1 ? "kymo" : "";
}

uint64_t dtrace_port_lwpinfo(int32_t pid, int32_t tid, uint32_t word)
{
    return pid == 42 ? (uint64_t)(uint32_t)tid << 8 | word : 0;
}

const char *dtrace_port_execname(void)
{
    return fake.execname;
}

const char *dtrace_port_execargs(void)
{
    return "kymo-test -v";
}

uint64_t dtrace_port_random(void)
{
    return fake.random;
}

void dtrace_port_run_on(unsigned cpu, void (*fn)(void *arg), void *arg)
{
    unsigned before = fake.cpu;

    fake.cpu = cpu;
    fn(arg);
    fake.cpu = before;
}

void dtrace_port_stop_process(void)
{
    fake.stops++;
}

bool dtrace_port_raise(int signal)
{
    fake.raised = signal;
    return true;
}

bool dtrace_port_is_kernel(const uint8_t *id, char *text)
{
    if (text) {
        strcpy(text, "another");
    }
    return memcmp(id, fake.kernel, sizeof(fake.kernel)) == 0;
}

void dtrace_port_logstop(void)
{
    fake.logstops++;
}

void dtrace_port_panic(void)
{
    fake.panics++;
}

void dtrace_port_breakpoint(void)
{
    fake.breakpoints++;
}

void dtrace_port_chill(uint64_t ns)
{
    fake.now += ns;
}

/* ---- the event log ----------------------------------------------------------------- */

bool dtrace_port_log(unsigned number, const uint32_t *words, unsigned nwords, const void *bytes,
                     size_t size)
{
    struct fake_log *to = &fake.log[fake.nlog];

    if (!fake.logging || fake.nlog == FAKE_LOG || size > sizeof(to->bytes)) {
        return false;
    }
    *to = (struct fake_log){.number = number, .cpu = fake.cpu, .size = size};
    memcpy(to->words, words, nwords * sizeof(*words));
    memcpy(to->bytes, bytes ? bytes : "", size);
    fake.nlog++;
    return true;
}

void dtrace_port_notes(uint32_t id, const void *bytes, uint32_t n)
{
    (void)id;
    (void)bytes;
    (void)n;
}

bool dtrace_port_logging(void)
{
    return fake.logging;
}

bool dtrace_port_log_room(void)
{
    return fake.nlog < FAKE_LOG - fake.log_kept;
}

int32_t dtrace_port_next_process(int32_t after, struct kymo_d_process *process)
{
    memset(process, 0, sizeof(*process));
    return after < 77 ? 77 : 0;
}
