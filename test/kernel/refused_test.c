/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each kernel call (abi/kercalls.def), where memory, a table or a quota ends: the n-th thing that
 * the call asks for is refused, for each n. A call that then fails has changed no account, no table
 * and no memory, and succeeds when it is made again; what a call leaves, the end of its process
 * gives back, also if that comes at the n-th preemption point of the call. A call without a row
 * fails the test, and so does one that asks for less than its row says, or for anything if that is
 * nothing.
 */
#include "test/kernel/world/stepwise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/elf.h"
#include "kernel/observe/observe.h"
#include "kernel/program/program.h"
#include "test/kernel/program/elf_make.h"
#include "trace/filter.h"
#include "trace/trace.h"

#define CPU_OF_PROGRAMS 183 /* EM_AARCH64 */

/* sys/wait.h brings another struct sigevent. */
pid_t waitpid(pid_t pid, int *status, int options);

/* ---- what is asked for ---------------------------------------------------------------- */

static unsigned asked, refused_at; /* refused_at: the n-th from now on; 0: none */

static bool refuse(void)
{
    return ++asked == refused_at;
}

paddr_t __real_phys_alloc(size_t len, size_t align);
paddr_t __wrap_phys_alloc(size_t len, size_t align);
paddr_t __real_phys_alloc_raw(size_t len, size_t align);
paddr_t __wrap_phys_alloc_raw(size_t len, size_t align);
bool __real_quota_charge(struct quota *quota, enum kymo_limit kind, size_t n);
bool __wrap_quota_charge(struct quota *quota, enum kymo_limit kind, size_t n);
bool __real_quota_has(const struct quota *quota, enum kymo_limit kind, size_t n);
bool __wrap_quota_has(const struct quota *quota, enum kymo_limit kind, size_t n);
struct quota *__real_quota_group_new(struct quota *up, uint32_t which, const uint64_t *limits);
struct quota *__wrap_quota_group_new(struct quota *up, uint32_t which, const uint64_t *limits);
int __real_arch_aspace_create(struct arch_aspace *as);
int __wrap_arch_aspace_create(struct arch_aspace *as);
int __real_arch_aspace_map(struct arch_aspace *as, struct mapping *m,
                           const struct mapping_list *others);
int __wrap_arch_aspace_map(struct arch_aspace *as, struct mapping *m,
                           const struct mapping_list *others);

paddr_t __wrap_phys_alloc(size_t len, size_t align)
{
    return refuse() ? 0 : __real_phys_alloc(len, align);
}

paddr_t __wrap_phys_alloc_raw(size_t len, size_t align)
{
    return refuse() ? 0 : __real_phys_alloc_raw(len, align);
}

/* What quota_has() has promised is charged. */
bool __wrap_quota_charge(struct quota *quota, enum kymo_limit kind, size_t n)
{
    bool promised = kind == KYMO_LIMIT_MAPPINGS || kind == KYMO_LIMIT_PULSES;

    return !(!promised && refuse()) && __real_quota_charge(quota, kind, n);
}

bool __wrap_quota_has(const struct quota *quota, enum kymo_limit kind, size_t n)
{
    return !refuse() && __real_quota_has(quota, kind, n);
}

struct quota *__wrap_quota_group_new(struct quota *up, uint32_t which, const uint64_t *limits)
{
    return refuse() ? NULL : __real_quota_group_new(up, which, limits);
}

int __wrap_arch_aspace_create(struct arch_aspace *as)
{
    return refuse() ? -ENOMEM : __real_arch_aspace_create(as);
}

int __wrap_arch_aspace_map(struct arch_aspace *as, struct mapping *m,
                           const struct mapping_list *others)
{
    if (refuse()) {
        return -ENOMEM;
    }
    return m->vaddr ? 0 : __real_arch_aspace_map(as, m, others);
}

/* ---- the only program of the boot image ------------------------------------------------ */

static struct made64 program;
bool trace_system_wanted;

bool boot_file(const char *name, struct cpio_file *file)
{
    *file = (struct cpio_file){"prog", (const uint8_t *)&program, sizeof(program)};
    return strcmp(name, "prog") == 0;
}

uint16_t arch_elf_machine(void)
{
    return CPU_OF_PROGRAMS;
}

uint8_t arch_elf_class(void)
{
    return 2;
}

bool arch_elf_relocates(void)
{
    return false;
}

unsigned arch_cpu_count(void)
{
    return CONFIG_CPUS;
}

bool arch_device_allowed(paddr_t pa, size_t len)
{
    (void)pa;
    (void)len;
    return false;
}

void *trace_buffers(uint64_t *paddr, uint64_t *bytes)
{
    *paddr = *bytes = 0;
    return NULL;
}

void arch_context_set_tls(struct thread *t, uintptr_t tls)
{
    (void)t;
    (void)tls;
}

void retain_process(const struct process *proc)
{
    (void)proc;
}

int arch_elf_reloc_kind(unsigned r_type)
{
    (void)r_type;
    return 0;
}

/* ---- the world that each call is made in ------------------------------------------------ */

#define EVENT AT(3)                /* a pulse to who makes the calls */
#define CLIENTS_EVENT (EVENT + 64) /* a pulse to the one whose message it has received */
#define ATTR AT(4)
#define PARAM (ATTR + 128)
#define NAME AT(5)  /* of no channel yet; the next is CLIENT's */
#define NAMED AT(6) /* also an object's */
#define MAP(n) (AT(7) + 0x40u * (n))
#define TIME AT(8)
#define SEM AT(9)
#define MUTEX (SEM + 8)
#define SPAWN(n) (AT(0x10) + 0x1400u * (n))

/* Arguments that are known when the test runs. */
enum {
    OWN_COID = 0x7a000000,
    CLIENTS_COID,
    RCVID,
    SERVER_PID,
    TIMER,
    NAME_ID,
    OBJECT,
    MAPPED,
    INTR,
    CHILD,
    KNOWN
};
static uintptr_t known[KNOWN - OWN_COID];

static struct thread *server, *client;

static uintptr_t *value(unsigned which)
{
    return &known[which - OWN_COID];
}

/* A call that must succeed. */
#define MUST(t, ...) must(CALL(t, __VA_ARGS__), __LINE__)
static uintptr_t must(long result, int line)
{
    if (result < 0 && result != BLOCKED) {
        fail_msg("line %d: %ld", line, result);
    }
    return (uintptr_t)result;
}

/* What is charged and in no mapping is in objects: world_end() finds what stays. */
static size_t bytes_of_objects(void)
{
    size_t bytes = quota_system.used[KYMO_LIMIT_RAM];

    for (unsigned slot = 0; slot < CONFIG_PROCESSES; slot++) {
        const struct process *proc = process_in_slot(slot);
        bytes -= proc ? proc->space.owned_bytes : 0;
    }
    return bytes;
}

static void fill(void)
{
    struct sigevent event = {0};
    struct kymo_spawn spawn = {.program = "prog",
                               .argc = 1,
                               .arg_bytes = 5,
                               .args = "prog",
                               .stack_size = 1024,
                               .heap_size = 1024};

    SIGEV_PULSE_INIT(&event, (int)*value(OWN_COID), 15, 3, 4);
    memcpy(world_at(client, EVENT), &event, sizeof(event));
    event.sigev_coid = (int)*value(CLIENTS_COID);
    memcpy(world_at(client, CLIENTS_EVENT), &event, sizeof(event));
    ((struct sched_param_kymo *)world_at(client, PARAM))->sched_priority = 10;
    *(struct _thread_attr *)world_at(client, ATTR) =
        (struct _thread_attr){.stackaddr = (void *)AT(0), .stacksize = 64};
    strcpy(world_at(client, NAME), "/new");
    strcpy(world_at(client, NAMED), "/old");
    const struct kymo_map maps[] = {{.len = 0x300, .flags = 3},
                                    {.phys = *value(OBJECT), .flags = 1 | KYMO_MAP_OBJECT},
                                    {.len = 0x300, .flags = 3 | KYMO_MAP_STACK}};
    for (unsigned i = 0; i < 3; i++) {
        memcpy(world_at(client, MAP(i)), &maps[i], sizeof(maps[i]));
    }
    *(uint64_t *)world_at(client, TIME) = 1000000;
    ((sync_t *)world_at(client, SEM))[0] = (sync_t){1, SYNC_OWNER_SEM};
    memcpy(world_at(client, SPAWN(0)), &spawn, sizeof(spawn));
    spawn.flags = KYMO_SPAWN_GROUP;
    memcpy(world_at(client, SPAWN(1)), &spawn, sizeof(spawn));
}

static void begin(void)
{
    server = world_process(ABILITY_EVERY, 20, DATA);
    client = world_process(ABILITY_EVERY, 10, DATA);
    struct thread *partner = world_process(0, 8, DATA);
    uintptr_t pid = (uintptr_t)server->proc->pid;

    MUST(server, CHANNEL_CREATE, 0);
    MUST(client, CONNECT_ATTACH, 0, pid, 1, 0, 0);
    MUST(client, CHANNEL_CREATE, 0);
    *value(OWN_COID) = MUST(client, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0);
    MUST(partner, CONNECT_ATTACH, 0, (uintptr_t)client->proc->pid, 1, 0, 0);
    MUST(partner, CHANNEL_CREATE, 0);
    *value(CLIENTS_COID) = MUST(partner, CONNECT_ATTACH, 0, 0, 1, _NTO_SIDE_CHANNEL, 0);
    MUST(partner, MSG_SENDV, 0, AT(0), LEN(8), AT(0), LEN(8));
    *value(RCVID) = MUST(client, MSG_RECEIVEV, 1, AT(0), LEN(8), 0);
    *value(SERVER_PID) = pid;
    fill();
    *value(TIMER) = MUST(client, TIMER_CREATE, 0, EVENT);
    *value(NAME_ID) = MUST(client, NAME_ATTACH, NAMED, 1);
    *value(OBJECT) = MUST(client, OBJECT_OPEN, NAMED, KYMO_OBJECT_CREATE | KYMO_OBJECT_WRITE, 0666);
    MUST(client, OBJECT_SIZE, *value(OBJECT), 0x200);
    fill();
    MUST(client, MEM_MAP, MAP(0));
    *value(MAPPED) = (uintptr_t)((struct kymo_map *)world_at(client, MAP(0)))->vaddr;
    *value(INTR) = MUST(client, INTERRUPT_ATTACH, 5, EVENT, 0);
    world_thread(client, 9);
    *value(CHILD) = (uintptr_t)world_child(client, 0, 9, DATA)->proc->pid;
    fill();
}

/* ---- the calls ---------------------------------------------------------------------------- */

struct row {
    unsigned number, least; /* least: how much it asks for, at least; 0: nothing */
    uintptr_t args[6];
};
#define R(NAME, least, ...) \
    { \
        KER_##NAME, least, \
        { \
            __VA_ARGS__ \
        } \
    }
/* Not in this program: says where its memory is tested. */
#define ELSEWHERE 99
#define FAILS 98 /* always, and asks for nothing */

static const struct row rows[] = {
    R(NOP, 0),
    R(TRACE_EVENT, ELSEWHERE), /* test/trace/control_test.c */
    R(MSG_CURRENT, 0, RCVID),
    R(MSG_SENDV, 0, 0, AT(0), LEN(8), AT(0), LEN(8)),
    R(MSG_SENDVNC, 0, 0, AT(0), LEN(8), AT(0), LEN(8)),
    R(MSG_ERROR, 0, RCVID, 1),
    R(MSG_RECEIVEV, 0, 1, AT(0), LEN(64), 0),
    R(MSG_REPLYV, 0, RCVID, 0, AT(0), LEN(8)),
    R(MSG_READV, 0, RCVID, AT(0), LEN(8), 0, 0),
    R(MSG_WRITEV, 0, RCVID, AT(0), LEN(8), 0, 0),
    R(MSG_INFO, 0, RCVID, AT(0)),
    R(MSG_SEND_PULSE, 2, OWN_COID, 10, 5, 77),
    R(MSG_SEND_PULSE, 2, 0, 10, 5, 77),
    R(MSG_DELIVER_EVENT, 2, RCVID, CLIENTS_EVENT),
    R(MSG_RECEIVEPULSEV, 0, 1, AT(0), LEN(64), 0),
    R(SIGNAL_KILL, 0, 0, SERVER_PID, 0, 0, 0, 0),
    R(SIGNAL_KILL, 0, 0, CHILD, 0, 9, 0, 0),
    R(CHANNEL_CREATE, 2, 0),
    R(CHANNEL_DESTROY, 0, 1),
    R(CONNECT_ATTACH, 2, 0, SERVER_PID, 1, 0, 0),
    R(CONNECT_ATTACH, 2, 0, 0, 1, _NTO_SIDE_CHANNEL, 0),
    R(CONNECT_DETACH, 0, 0),
    R(CONNECT_SERVER_INFO, 0, 0, 0, AT(0)),
    R(CONNECT_CLIENT_INFO, FAILS, 77, AT(0), 0),
    R(CONNECT_FLAGS, 0, 0, 0, 0, 0),
    R(THREAD_CREATE, 2, 0, 0, 0, ATTR),
    R(THREAD_DESTROY, 0, 0, 0, 0),
    R(THREAD_DETACH, 0, 1),
    R(THREAD_JOIN, 0, 2, 0),
    R(THREAD_CANCEL, 0, 1, 1),
    R(THREAD_CTL, 0, _NTO_TCTL_RUNMASK, 1),
    R(INTERRUPT_ATTACH, 1, 6, EVENT, 0),
    R(INTERRUPT_DETACH, 0, INTR),
    R(INTERRUPT_WAIT, 0, 0, 0),
    R(INTERRUPT_MASK, 0, 5, INTR),
    R(INTERRUPT_UNMASK, 0, 5, INTR),
    R(CLOCK_TIME, 0, 0, TIME, AT(0)),
    R(CLOCK_ADJUST, 0, 0, 0, AT(0)),
    R(CLOCK_PERIOD, 0, 0, 0, AT(0)),
    R(CLOCK_ID, 0, 0, 1),
    R(TIMER_CREATE, 2, 0, EVENT),
    R(TIMER_DESTROY, 0, TIMER),
    R(TIMER_SETTIME, 0, TIMER, 0, TIME, 0),
    R(TIMER_INFO, 0, 0, TIMER, 0, AT(0)),
    R(TIMER_ALARM, 1, 0, TIME, 0),
    R(TIMER_TIMEOUT, 0, 0, 0, 0, TIME, 0),
    R(SYNC_CREATE, 0, 0, MUTEX, 0),
    R(SYNC_DESTROY, 0, SEM),
    R(SYNC_MUTEX_LOCK, 0, MUTEX),
    R(SYNC_MUTEX_UNLOCK, FAILS, MUTEX),
    R(SYNC_CONDVAR_WAIT, FAILS, MUTEX, MUTEX),
    R(SYNC_CONDVAR_SIGNAL, 0, MUTEX, 1),
    R(SYNC_SEM_POST, 0, SEM),
    R(SYNC_SEM_WAIT, 0, SEM, 0),
    R(SYNC_CTL, FAILS, 0, MUTEX, 0),
    R(SYNC_MUTEX_REVIVE, FAILS, MUTEX),
    R(SCHED_GET, 0, 0, 0, AT(0)),
    R(SCHED_SET, 0, 0, 0, 0, PARAM),
    R(SCHED_YIELD, 0),
    R(SCHED_INFO, 0, 0, SCHED_RR, AT(0)),
    R(PROC_SPAWN, 12, SPAWN(0)),
    R(PROC_SPAWN, 13, SPAWN(1)),
    R(PROC_EXIT, 0, 1),
    R(PROC_WAIT, 0, CHILD, 0, 0),
    R(PROC_INFO, 0, 0, AT(0)),
    R(THREAD_INFO, 0, 0, 1, AT(0)),
    R(PROC_SELF, 0, AT(0), AT(0)),
    R(MEM_MAP, 4, MAP(0)),
    R(MEM_MAP, 2, MAP(1)),
    R(MEM_MAP, 4, MAP(2)),
    R(MEM_UNMAP, 0, MAPPED, 0),
    R(NAME_ATTACH, 1, NAME, 1),
    R(NAME_DETACH, 0, NAME_ID),
    R(NAME_LOOKUP, 0, NAMED, AT(0)),
    R(IMAGE_READ, ELSEWHERE), /* these four: no memory; test/board (t_proc, t_pointers) */
    R(HOST_CALL, ELSEWHERE),
    R(SYSTEM_CTL, ELSEWHERE),
    R(SYSPAGE_READ, ELSEWHERE),
    R(LIB_WORD, 0, 0),
    R(CONSOLE_WRITE, 0, NAME, 4),
    R(CLOCK_CYCLES, 0, AT(0)),
    R(DTRACE, ELSEWHERE), /* test/trace/dtrace/fire/refusal_test.c */
    R(CONSOLE_READ, 0, AT(0), 4, TIME),
    R(OBJECT_OPEN, 1, NAME, KYMO_OBJECT_CREATE | KYMO_OBJECT_WRITE, 0666),
    R(OBJECT_OPEN, 0, NAMED, 0, 0),
    R(OBJECT_CLOSE, 0, OBJECT),
    R(OBJECT_SIZE, 0, OBJECT, 0x100),
    R(OBJECT_INFO, 0, OBJECT, AT(0)),
    R(OBJECT_UNLINK, 0, NAMED),
    R(MEM_PROTECT, 0, MAPPED, 0x300, 1),
    R(PROC_LIMITS, 0, 0, 0, AT(0)),
};

/* ---- each of them --------------------------------------------------------------------------- */

/* What the system has given. */
struct account {
    size_t ram, used[KYMO_LIMITS], of_client[KYMO_LIMITS], of_server[KYMO_LIMITS];
    unsigned objects, processes, groups;
};

static struct account taken(void)
{
    struct account a;

    memset(&a, 0, sizeof(a));
    a.ram = phys_available();
    memcpy(a.used, quota_system.used, sizeof(a.used));
    memcpy(a.of_client, client->proc->quota.used, sizeof(a.used));
    memcpy(a.of_server, server->proc->quota.used, sizeof(a.used));
    a.objects = fake_pools_used();
    for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
        a.processes += process_in_slot(slot) != NULL;
    }
    for (unsigned n = 1; n <= CONFIG_GROUPS; n++) {
        const struct quota *group = quota_group_at(n);
        a.groups += group && group->members;
    }
    return a;
}

static long make_call(const struct row *row, unsigned nth)
{
    uintptr_t args[6];

    for (unsigned i = 0; i < 6; i++) {
        bool is_known = row->args[i] >= OWN_COID && row->args[i] < KNOWN;
        args[i] = is_known ? *value((unsigned)row->args[i]) : row->args[i];
    }
    asked = 0;
    refused_at = nth;
    fake_memory_short = refuse;
    long result = world_call(client, row->number, args);
    fake_memory_short = NULL;
    refused_at = 0;
    return result;
}

static bool is_error(long result)
{
    return result < 0 && result != BLOCKED;
}

static void wrong_row(const struct row *row, unsigned nth, const char *text, long value_of)
{
    fprintf(stderr, "call %u, row %u, thing %u refused: %s %ld\n", row->number,
            (unsigned)(row - rows), nth, text, value_of);
}

/* Ends all, and this process with what it has found. */
enum { REFUSED = 1, WRONG = 2 };
static void end(unsigned found)
{
    strcpy(world_at(server, NAME), "/new"); /* a name keeps an object */
    strcpy(world_at(server, NAMED), "/old");
    CALL(server, OBJECT_UNLINK, NAME);
    CALL(server, OBJECT_UNLINK, NAMED);
    world_end();
    _exit((int)found);
}

static void refuse_one(const struct row *row, unsigned nth)
{
    begin();
    struct account before = taken();
    long result = make_call(row, nth);
    unsigned found = asked >= nth ? REFUSED : 0;

    if (found && is_error(result)) {
        struct account after = taken();
        if (memcmp(&before, &after, sizeof(before)) != 0) {
            wrong_row(row, nth, "something is left after error", -result);
            found |= WRONG;
        }
        result = make_call(row, 0);
    }
    if (is_error(result) != (row->least == FAILS)) {
        wrong_row(row, nth, "and made again, the result is", result);
        found |= WRONG;
    }
    end(found);
}

static void kill_client(void)
{
    world_do(stepwise_free_cpu(), stepwise_end_process, client->proc);
}

/* Another CPU ends the caller's process at the n-th preemption point of the call. */
static void kill_at(const struct row *row, unsigned nth)
{
    begin();
    stepwise = (struct stepwise){.act_at = nth, .act = kill_client};
    fake_lock_window = stepwise_window;
    fake_lock_wanted = true;
    make_call(row, 0);
    fake_lock_window = NULL;
    fake_lock_wanted = false;
    end(stepwise.windows > nth ? REFUSED : 0);
}

/* Returns whether the row asked for an n-th thing, which it didn't get, or had an n-th preemption
 * point. In a process of its own: tables that have grown stay so. */
static bool happens(void (*once)(const struct row *row, unsigned nth), const struct row *row,
                    unsigned nth, unsigned *wrong)
{
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        once(row, nth);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (status & ~((REFUSED | WRONG) << 8)) {
        wrong_row(row, nth, "ended with status", status);
        ++*wrong;
        return false;
    }
    *wrong += (status >> 8 & WRONG) != 0;
    return status >> 8 & REFUSED;
}

static void each_refused_call_leaves_all_as_it_was(void **state)
{
    unsigned points = 0, wrong = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned n = 0, least = rows[i].least == FAILS ? 0 : rows[i].least;
        if (least == ELSEWHERE) {
            continue;
        }
        do {
            n++;
        } while (happens(refuse_one, &rows[i], n, &wrong));
        if (n - 1 < least || (least == 0 && n > 1)) {
            wrong_row(&rows[i], n, "things that it asks for, as its row does not say:", n - 1);
            wrong++;
        }
        points += n - 1;
    }
    printf("%u things refused\n", points);
    assert_int_equal(wrong, 0);
}

static void each_call_ends_with_its_process(void **state)
{
    unsigned points = 0, wrong = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned n = 0;
        while (rows[i].least != ELSEWHERE && happens(kill_at, &rows[i], n, &wrong)) {
            n++;
        }
        points += n;
        assert_true(n > 3 || rows[i].number != KER_PROC_SPAWN);
        assert_true(n > 0 || rows[i].number != KER_MEM_MAP || rows[i].args[0] == MAP(1));
    }
    printf("%u preemption points\n", points);
    assert_int_equal(wrong, 0);
}

static void each_call_has_a_row(void **state)
{
#define KERCALL(number, NAME, ...) [number] = #NAME,
    static const char *const names[KERCALL_MAX] = {
#include "abi/kercalls.def"
    };
#undef KERCALL

    (void)state;
    for (unsigned number = 0; number < KERCALL_MAX; number++) {
        bool has = names[number] == NULL;
        for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            has |= rows[i].number == number;
        }
        if (!has) {
            fail_msg("kernel call %s has no row in %s", names[number], __FILE__);
        }
    }
}

static int group(void **state)
{
    make_elf64(&program, MADE_TEXT, MADE_DATA);
    int result = world_group(state);
    name_init();
    world_bytes_of_objects = bytes_of_objects;
    return result;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_has_a_row),
        cmocka_unit_test(each_refused_call_leaves_all_as_it_was),
        cmocka_unit_test(each_call_ends_with_its_process),
    };

    return cmocka_run_group_tests(tests, group, NULL);
}
