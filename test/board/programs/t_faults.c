/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D programs that fault: in every probe of the kernel while messages, threads and timers are busy,
 * at every kind of address that must not be read, and in ERROR itself. Faults are counted exactly,
 * the kernel and other consumers go on, and afterwards all is as before. `t_faults child` is the
 * process whose memory is nobody else's business. Its D programs are test/board/faults.
 */
#include "lib/include/kymo.h"
#include "test/board/programs/dcalls.h"

#include <stdio.h>
#include <stdlib.h>

#define NOPS 100
#define FAULTING 5     /* clauses a probe of faults_all.d */
#define FAULT_BYTES 56 /* the record that tells of a fault */
#define SECRET 0x5ec2e75ec2e7ull
enum { FIRED = 1, THEIRS, BEHIND, ERRORS }; /* the @variables of faults_all.d */

static void nop(void)
{
    const uintptr_t args[6] = {0};

    raw_call(0, args);
}

/* The other process's address of its secret. */
static struct link served;
static uint64_t secret_at;
static int secret_pid;

static int child(const char *to)
{
    static volatile uint64_t secret = SECRET;
    struct kymo_map map = {.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    int pid = 0, chid = 0;

    sscanf(to, "%d:%d", &pid, &chid);
    MemMap(&map);
    uint64_t at[2] = {(uintptr_t)&secret, map.vaddr};
    *(volatile uint64_t *)(uintptr_t)map.vaddr = secret;
    int coid = ConnectAttach(0, pid, chid, _NTO_SIDE_CHANNEL, 0);
    MsgSend(coid, at, sizeof(at), NULL, 0);
    for (;;) {
        sleep_ms(10);
    }
    return 0;
}

/* On a Cortex-M both addresses are the other's alone; elsewhere the first one is where this program
 * has its own. */
static void child_start(void)
{
    uint64_t at[2] = {0, 0};
    char to[24];

    served = make_link(0);
    snprintf(to, sizeof(to), "%d:%d", self_pid(), served.chid);
    secret_pid = spawn("t_faults", 0, 9, "child", to, NULL);
    EXPECT(secret_pid > 0);
    int rcvid = MsgReceive(served.chid, at, sizeof(at), NULL);
    MsgReply(rcvid, 0, NULL, 0);
    secret_at = at[1];
}

static void child_end(void)
{
    int status;

    EXPECT_EQ(SignalKill(0, secret_pid, 0, KYMO_SIGKILL, 0, 0), 0);
    EXPECT_EQ(ProcWait(secret_pid, &status, 0), secret_pid);
    drop_link(&served);
}

/* ---- every probe ------------------------------------------------------------------- */

static void *answers(void *arg)
{
    char text[16];

    for (int rcvid; (rcvid = MsgReceive(*(int *)arg, text, sizeof(text), NULL)) >= 0;) {
        if (rcvid > 0) {
            MsgReply(rcvid, 0, text, sizeof(text));
        }
    }
    return NULL;
}

static void *ends(void *arg)
{
    SchedYield();
    return arg;
}

/* A bit of everything that has probes. */
static void work(void)
{
    char text[16] = "";
    struct link to = make_link(0);
    int tid = start_thread(answers, &to.chid, 0);

    for (unsigned i = 0; i < NOPS; i++) {
        nop();
        if (i % 10 == 0) {
            EXPECT_EQ(MsgSend(to.coid, text, sizeof(text), text, sizeof(text)), 0);
            EXPECT_EQ(MsgSendPulse(to.coid, 10, 1, 2), 0);
            join(start_thread(ends, NULL, 0));
            sleep_ms(1);
        }
    }
    drop_link(&to);
    join(tid);
}

/* Clauses that faulted or, as they found no room for a record, did not run: of both the consumer
 * is told, by a record or by the count of drops. What tells of a fault may find no room either. */
static uint64_t faults_told(uint32_t handle)
{
    uint64_t told = 0;

    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        uint32_t bytes = d_take(handle, KYMO_D_BUFFER, cpu);
        EXPECT_EQ(bytes % FAULT_BYTES, 0);
        told += bytes / FAULT_BYTES + d_out[2];
    }
    return told;
}

static void t_every_probe(void)
{
    uint64_t twice, faults, fired, slack = cpu_count() > 1 ? 2 * cpu_count() : 0;
    uint32_t well = d_create("faults_nops.dif");
    uint32_t ill = d_create_at("faults_all.dif", secret_at);

    d_do(well, KYMO_D_GO);
    d_do(ill, KYMO_D_GO);
    work();
    d_do(ill, KYMO_D_STOP);
    d_do(well, KYMO_D_STOP);
    EXPECT_EQ(d_count_of(well, 1), NOPS);
    faults = d_faults(ill, &twice);
    struct counts n = d_counts(ill);
    fired = n.of[FIRED];
    say("faults: %lu firings, %lu faults", (unsigned long)fired, (unsigned long)faults);
    EXPECT(fired > 10 * NOPS);
    /* On several CPUs a probe may be firing when it is started and when it is stopped. */
    /* Where the other process runs, its secret may be read. */
    uint64_t told = faults_told(ill) + n.of[THEIRS];
    EXPECT(fired * FAULTING <= told + slack * FAULTING);
    EXPECT(told <= fired * FAULTING + slack * FAULTING);
    EXPECT(n.of[BEHIND] <= fired + slack && fired <= n.of[BEHIND] + slack);
    EXPECT_EQ(n.of[ERRORS], faults);
    EXPECT(n.of[THEIRS] < fired / 2);
    EXPECT_EQ(twice, 0);
    d_do(ill, KYMO_D_DESTROY);
    d_do(well, KYMO_D_DESTROY);
}

/* ---- addresses --------------------------------------------------------------------- */

/* Whether a nop's clause that reads there faults; if not, it has recorded that many bytes. */
static bool reads(const char *program, uint64_t address, uint32_t bytes)
{
    uint32_t handle = d_create_at(program, address), recorded = 0;

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    d_do(handle, KYMO_D_GO);
    nop();
    d_do(handle, KYMO_D_STOP);
    uint64_t faults = d_faults(handle, NULL);
    recorded = d_take(handle, KYMO_D_BUFFER, 0);
    EXPECT(faults <= 1);
    EXPECT_EQ(recorded, faults == 0 ? bytes : FAULT_BYTES);
    d_do(handle, KYMO_D_DESTROY);
    return faults == 0;
}

static bool read_any(uint64_t address)
{
    bool kernel = reads("faults_one.dif", address, 16),
         user = reads("faults_user.dif", address, 16);
    bool string = reads("faults_string.dif", address, 12 + 64);

    return kernel || user || string;
}

static void t_addresses(void)
{
    static char own[64] = "own";
    static const uint64_t toxic[] = {
        0,
        4,
        0x3fc, /* page 0, vectors */
        0x09000000,
        0x08000000,
        0x0a000000,
        0x40004000,
        0x40010000,
        0x4001f000, /* devices */
        0xe000e010,
        0xe000ed00,
        0xe0040000,
        0xfffffff0,
        0xffffffff,
        UINT64_MAX,
        UINT64_MAX - 3,
        1ull << 63,
        0x0001000000000000,
        0xffff000000000000,
        0xffffff80fffff000,
        0xffffff7ffffffffe,
        0xfffffffd0fe00000, /* on a PC the firmware's tables */
    };

    EXPECT(reads("faults_user.dif", (uintptr_t)own, 16));
    EXPECT(reads("faults_string.dif", (uintptr_t)own, 12 + 64));
    for (unsigned i = 0; i < COUNT(toxic); i++) {
        if (read_any(toxic[i])) {
            check_fail("read", __LINE__, "%lx%08lx", (unsigned long)(toxic[i] >> 32),
                       (unsigned long)(uint32_t)toxic[i]);
        }
    }
    EXPECT(!read_any(secret_at));
}

static void t_in_error(void)
{
    uint32_t handle = d_create("faults_twice.dif");
    uint64_t twice;

    d_do(handle, KYMO_D_GO);
    for (unsigned i = 0; i < NOPS; i++) {
        nop();
    }
    d_do(handle, KYMO_D_STOP);
    uint64_t faults = d_faults(handle, &twice);
    EXPECT_EQ(d_count_of(handle, 1), faults - twice);
    EXPECT_EQ(faults_told(handle), NOPS + faults - 2 * twice);
    EXPECT(twice > 10 && faults >= 2 * twice && faults <= 2 * NOPS);
    d_do(handle, KYMO_D_DESTROY);
}

/* ---- many mappings ----------------------------------------------------------------- */

#define MAPPED 100
#define LOOKED_AT 24 /* lowest and highest mappings: docs/inside/machine.md */
#define A64_KERNEL 0xffffff8000000000u
#define X86_KERNEL 0xffffffff80000000u

/* Returns whether BEGIN has recorded a word. It fires on CPU 0, where this thread is. */
static bool word_of(uint32_t handle, uint64_t *word)
{
    d_do(handle, KYMO_D_GO);
    d_do(handle, KYMO_D_STOP);
    uint64_t faults = d_faults(handle, NULL);
    uint32_t n = d_take(handle, KYMO_D_BUFFER, 0);
    if (faults == 0) { /* else the record is the fault's */
        EXPECT(n >= 12 + sizeof(*word));
        memcpy(word, (const char *)&d_out[5] + n - sizeof(*word), sizeof(*word));
    }
    d_do(handle, KYMO_D_DESTROY);
    return faults == 0;
}

static bool word_at(const char *program, uint64_t address, uint64_t *word)
{
    return word_of(d_create_at(program, address), word);
}

/* Where the kernel has all of RAM. */
static uint64_t kernel_base(void)
{
    uint64_t thread = 0;

    EXPECT(word_of(d_create("faults_thread.dif"), &thread));
    return thread >= X86_KERNEL ? X86_KERNEL : thread >= A64_KERNEL ? A64_KERNEL : 0;
}

static unsigned own_mappings(void)
{
    struct kymo_proc_info p = {0};

    EXPECT(ProcInfo(self_pid(), &p) == self_pid());
    return p.nmaps;
}

/* The process's own memory is read by its addresses in any number of mappings; by the kernel's only
 * in the lowest and the highest ones, wherever a list is longer than these. */
static void t_many_mappings(void)
{
    static struct kymo_map maps[MAPPED];
    unsigned n = 0, lowest = 0, highest = 0, own = own_mappings();
    uint64_t base, word = 0;

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    base = kernel_base();
    for (; n < MAPPED; n++) {
        maps[n] = (struct kymo_map){.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
        if (MemMap(&maps[n]) < 0) {
            break;
        }
        *(volatile uint64_t *)(uintptr_t)maps[n].vaddr = SECRET + n;
        EXPECT(n == 0 || maps[n].vaddr < maps[n - 1].vaddr || base == 0);
    }
    EXPECT(base == 0 ? n > 0 : n == MAPPED);
    for (unsigned i = 0; i < n; i++) {
        EXPECT(word_at("faults_copied.dif", maps[i].vaddr, &word) && word == SECRET + i);
        if (word_at("faults_word.dif", base + maps[i].phys, &word)) {
            EXPECT_EQ(word, SECRET + i);
            lowest += i >= n / 2;
            highest += i < n / 2;
            EXPECT(base == 0 || i < LOOKED_AT || i >= n - LOOKED_AT);
        }
    }
    say("faults: of %u mappings the %u lowest and the %u highest by the kernel's addresses, beside "
        "%u of the program",
        n, lowest, highest, own);
    /* The program's own are at both ends: they are looked at in place of as many of these. */
    EXPECT(base == 0 ? lowest + highest == n : lowest + highest == 2 * LOOKED_AT - own);
    EXPECT(lowest <= LOOKED_AT && highest <= LOOKED_AT);
    for (unsigned i = 0; i < n; i++) {
        EXPECT_EQ(MemUnmap((void *)(uintptr_t)maps[i].vaddr, (size_t)maps[i].len), 0);
    }
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)kymo_cpu_mask());
}

static void t_as_before(void)
{
    struct world before = d_world();

    t_every_probe();
    t_addresses();
    t_in_error();
    d_world_is(&before);
}

static const struct check table[] = {
    {"in every probe", t_every_probe}, {"at every address", t_addresses},
    {"in ERROR", t_in_error},          {"in many mappings", t_many_mappings},
    {"all is as before", t_as_before},
};

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "child") == 0) {
        return child(argv[2]);
    }
    child_start();
    int status = check_run("faults", table, COUNT(table));
    child_end();
    return status;
}
