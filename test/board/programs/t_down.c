/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D by abilities (docs/reference/security.md): `t_down own` has dtrace_user, `change`
 * dtrace_destructive beside, `kernel` and `places` only dtrace_kernel, `limited` too, `none`
 * neither of those that D needs; `stranger` makes the same calls without end. Its D programs are
 * test/board/down.
 */
#include "test/board/programs/dcalls.h"

#include <stdio.h>
#include <stdlib.h>

#define NOPS 10
#define MANY_NOPS 100000
#define TRIES 20
#define ITSELF 0x51u
#define CHILD 0x52u
#define STRANGER 0x53u
#define REASON_WORD 3 /* of struct dtrace_refusal */

enum {
    REASON_NONE,
#define DTRACE_REASON(name, error, text) REASON_##name,
#include "trace/dtrace/reasons.def"
};

static char text[8] = "text";

static void nops(unsigned n, uintptr_t mark)
{
    const uintptr_t args[6] = {mark, (uintptr_t)text};

    for (unsigned i = 0; i < n; i++) {
        raw_call(0, args);
    }
}

static void refused_as(const char *name, int error, unsigned reason)
{
    EXPECT_EQ(dt_try(name), 0);
    EXPECT_EQ(errno, error);
    EXPECT_EQ(((const uint32_t *)d_out)[REASON_WORD], reason);
}

static void refused(const char *name, unsigned reason)
{
    refused_as(name, EPERM, reason);
}

/* ---- own processes ----------------------------------------------------------------- */

static void t_own(void)
{
    uint32_t handle = d_create("own.dif");
    int status = -1;

    d_do(handle, KYMO_D_GO);
    nops(NOPS, ITSELF);
    int pid = spawn("t_down", 0, 10, "child", NULL, NULL);
    EXPECT(pid > 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    sleep_ms(500); /* the stranger's turn */
    d_do(handle, KYMO_D_STOP);
    struct counts n = d_counts(handle);
    EXPECT_EQ(n.of[1], NOPS);
    EXPECT_EQ(n.of[2], NOPS);
    EXPECT_EQ(n.of[3], 0);
    EXPECT_EQ(n.of[4], NOPS);
    EXPECT(n.of[5] >= 4);
    EXPECT(n.of[6] < n.of[5]);
    /* each load of the kernel's memory, and each tick in a stranger's time */
    EXPECT(d_faults(handle, NULL) >= NOPS + 1 && d_faults(handle, NULL) <= NOPS + n.of[5]);
    d_do(handle, KYMO_D_DESTROY);
}

#if defined(__aarch64__)
/* Again if it never fired: an emulator may notice an overflow late, in another's time. */
static uint32_t counted(struct counts *n, unsigned which, unsigned tries)
{
    uint32_t handle = d_create("counted.dif");

    d_do(handle, KYMO_D_GO);
    nops(MANY_NOPS, ITSELF);
    sleep_ms(500); /* the stranger's turn */
    d_do(handle, KYMO_D_STOP);
    *n = d_counts(handle);
    if (n->of[which] == 0 && tries > 1) {
        d_do(handle, KYMO_D_DESTROY);
        return counted(n, which, tries - 1);
    }
    return handle;
}

/* The CPU's cycles: cpc fires in its own time only, and `cycles` in a stranger's is a fault. */
static void t_own_counted(void)
{
    struct counts n;
    uint32_t handle = counted(&n, 1, TRIES);

    EXPECT(n.of[1] > 0);
    EXPECT_EQ(n.of[2], n.of[1]);
    EXPECT_EQ(n.of[3], 0);
    EXPECT(n.of[4] >= 4 && n.of[5] < n.of[4]);
    EXPECT_EQ(d_faults(handle, NULL), n.of[4] - n.of[5]);
    d_do(handle, KYMO_D_DESTROY);
}
/* Whoever may observe all has the same probe in each one's time. */
static void t_kernel_counted(void)
{
    struct counts n;
    uint32_t handle = counted(&n, 3, TRIES);

    EXPECT(n.of[3] > 0 && n.of[1] >= n.of[2] + n.of[3]);
    EXPECT(n.of[5] == n.of[4] && n.of[4] > 0);
    EXPECT_EQ(d_faults(handle, NULL), 0);
    d_do(handle, KYMO_D_DESTROY);
}
#else
/* The board has no counters. */
static void t_kernel_counted(void)
{
    EXPECT_EQ(dt_try("counted.dif"), 0);
}

static void t_own_counted(void)
{
    EXPECT_EQ(dt_try("counted.dif"), 0);
}
#endif

/* Its account has so many consumers, and what they take; others have the rest. */
static void t_own_quota(void)
{
    struct kymo_quota quota;
    uint32_t handles[16];
    unsigned n = 0;

    EXPECT(ProcLimits(0, 0, &quota) > 0);
    const uint64_t most = quota.limit[KYMO_LIMIT_CONSUMERS];
    EXPECT(most > 0 && most <= COUNT(handles) / 2);
    while (n < COUNT(handles) && (handles[n] = dt_try("own.dif")) != 0) {
        n++;
    }
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_EQ(n, most);
    EXPECT(ProcLimits(0, 0, &quota) > 0);
    EXPECT_EQ(quota.used[KYMO_LIMIT_CONSUMERS], n);
    EXPECT(quota.used[KYMO_LIMIT_TRACE] >= n * sizeof(uint64_t));
    while (n > 0) {
        d_do(handles[--n], KYMO_D_DESTROY);
    }
    EXPECT(ProcLimits(0, 0, &quota) > 0);
    EXPECT_EQ(quota.used[KYMO_LIMIT_CONSUMERS], 0);
    EXPECT_EQ(quota.used[KYMO_LIMIT_TRACE], 0);
}

/* ---- probes in programs ------------------------------------------------------------ */

/* Two instructions, the first of which is as long on all CPUs. */
#if defined(__x86_64__)
#define PROBED "down_probed: lea 8(%rdi), %rax\nret\n"
#elif defined(__ARM_ARCH_7EM__)
#define PROBED ".thumb_func\ndown_probed: add.w r0, r0, #8\nbx lr\n"
#else
#define PROBED "down_probed: add x0, x0, #8\nret\n"
#endif
__asm__(".pushsection .text\n.balign 8\n.type down_probed, %function\n" PROBED
        ".balign 8\n.popsection\n");
uintptr_t down_probed(uintptr_t n);

static void call_probed(unsigned times, uintptr_t mark)
{
    for (unsigned i = 0; i < times; i++) {
        EXPECT_EQ(down_probed(mark), mark + 8);
    }
}

/* The child of t_own_places(): begins when its parent says so. */
static int probed(int pid, int chid)
{
    const int coid = ConnectAttach(0, pid, chid, _NTO_SIDE_CHANNEL, 0);

    EXPECT_EQ(MsgSend(coid, NULL, 0, NULL, 0), 0);
    call_probed(NOPS, CHILD);
    return *check_failure() != '\0';
}

/* A place in a process that runs this program; pid 0: none is it. Returns 0, or errno. */
static int place_make(int pid)
{
    const struct kymo_d_user head = {.pid = pid, .count = 1};
    struct kymo_d_user_place place = {.size = sizeof(place) + 24, .bytes = 4};
    static const char names[24] = "down_probed\0entry";
    struct kymo_d_call call = {.id = (uint32_t)pid};

    if (d_call(&call, KYMO_D_PROCESS, 0, sizeof(struct kymo_d_process)) != 0) {
        return errno;
    }
    const struct kymo_d_process *process = (const void *)d_out;
    const uint64_t there = process->text;
    call = (struct kymo_d_call){.id = (uint32_t)self_pid()};
    EXPECT_EQ(d_call(&call, KYMO_D_PROCESS, 0, sizeof(struct kymo_d_process)), 0);
    const uintptr_t thumb = sizeof(void *) == 4; /* bit 0 of a function's address */
    const uintptr_t here = (uintptr_t)down_probed & ~thumb;
    place.address = here - process->text + there;
    memcpy(&place.insn, (const void *)here, sizeof(place.insn));
    memcpy(d_in, &head, sizeof(head));
    memcpy((char *)d_in + sizeof(head), &place, sizeof(place));
    memcpy((char *)d_in + sizeof(head) + sizeof(place), names, sizeof(names));
    call = (struct kymo_d_call){0};
    const int r =
        d_call(&call, KYMO_D_USER, sizeof(head) + place.size, sizeof(struct kymo_d_user_made));
    const struct kymo_d_user_made *made = (const void *)d_out;
    return r != 0 ? errno : -made->why;
}

/* Finds the first process that runs this program, too, and is neither this one nor its child; 0:
 * none. */
static int stranger(void)
{
    struct kymo_proc_info p = {0};
    int found = 0;

    for (int at = 1; !found && ProcInfo(at, &p) > 0; at = p.pid + 1) {
        if (strcmp(p.name, "t_down") == 0 && p.pid != self_pid() && p.ppid != self_pid()) {
            found = p.pid;
        }
    }
    return found;
}

/* Returns how many probes there are in a process's program, by the list of those that this process
 * may have. */
static unsigned places_listed(int pid)
{
    struct kymo_d_call call = {0};
    char provider[16];
    unsigned n = 0;

    snprintf(provider, sizeof(provider), "pid%d", pid);
    while (d_call(&call, KYMO_D_PROBES, 0, sizeof(d_out)) == 0) {
        for (uint32_t at = 0; at < call.out_bytes;) {
            const struct kymo_d_probe *p = (const void *)((const char *)d_out + at);
            n += strcmp(p->strings, provider) == 0;
            at += p->size;
        }
    }
    return n;
}

/* Its own and its child's places it may have; the stranger's not, although somebody who may has a
 * probe there, which the description matches, too: it is not even listed. */
static void t_own_places(void)
{
    struct link to = make_link(0);
    char chid[16], parent[16];
    int status = -1, bytes;

    snprintf(chid, sizeof(chid), "%d", to.chid);
    snprintf(parent, sizeof(parent), "%d", self_pid());
    EXPECT_EQ(places_listed(stranger()), 0);
    EXPECT_EQ(place_make(stranger()), EPERM);
    EXPECT_EQ(place_make(0x3fffffff), ESRCH);
    EXPECT_EQ(place_make(self_pid()), 0);
    EXPECT_EQ(places_listed(self_pid()), 1);
    const int pid = spawn("t_down", 0, 10, "probed", parent, chid);
    const int rcvid = MsgReceive(to.chid, &bytes, sizeof(bytes), NULL);
    EXPECT(pid > 0 && rcvid > 0);
    EXPECT_EQ(place_make(pid), 0);
    uint32_t handle = d_create("places.dif");
    d_do(handle, KYMO_D_GO);
    EXPECT_EQ(MsgReply(rcvid, 0, NULL, 0), 0);
    call_probed(NOPS, ITSELF);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    sleep_ms(500); /* the stranger's turn */
    d_do(handle, KYMO_D_STOP);
    struct counts n = d_counts(handle);
    EXPECT_EQ(n.of[1], NOPS);
    EXPECT_EQ(n.of[2], NOPS);
    EXPECT_EQ(n.of[3], 0);
    EXPECT_EQ(n.of[4], 2 * NOPS);
    EXPECT_EQ(d_faults(handle, NULL), 0);
    d_do(handle, KYMO_D_DESTROY);
    drop_link(&to);
}

static void t_own_refused(void)
{
    struct kymo_d_call call = {0};

    refused("others.dif", REASON_NEEDS_KERNEL);
    refused("change.dif", REASON_NEEDS_DESTRUCTIVE);
    refused("stop.dif", REASON_NEEDS_BOTH);
    EXPECT_ERR(d_call(&call, KYMO_D_CLAIM, 0, 0), EPERM);
    EXPECT_ERR(d_call(&call, KYMO_D_LOOK, 0, sizeof(d_out)), EPERM);
    call = (struct kymo_d_call){.id = 1};
    EXPECT_ERR(d_call(&call, KYMO_D_RESUME, 0, 0), EPERM);
    call = (struct kymo_d_call){0};
    unsigned n = 0;
    d_provide_calls();
    for (; d_call(&call, KYMO_D_PROBES, 0, sizeof(d_out)) == 0;) {
        for (uint32_t at = 0; at < call.out_bytes; n++) {
            const struct kymo_d_probe *p = (const void *)((const char *)d_out + at);
            EXPECT(strcmp(p->strings, "dtrace") == 0 || strcmp(p->strings, "profile") == 0 ||
                   strcmp(p->strings, "syscall") == 0 || strcmp(p->strings, "cpc") == 0 ||
                   strncmp(p->strings, "pid", 3) == 0);
            at += p->size;
        }
    }
    EXPECT(n > 50);
}

/* ---- changing ---------------------------------------------------------------------- */

/* It changes itself. The stranger, whom the same program would end, and who observes it live. */
static void t_change(void)
{
    uint32_t handle = d_create("change.dif");
    struct kymo_proc_info p = {0};
    unsigned found = 0;

    d_do(handle, KYMO_D_GO);
    nops(1, ITSELF);
    sleep_ms(300);
    d_do(handle, KYMO_D_STOP);
    EXPECT(strcmp(text, "mine") == 0);
    for (int at = 1; ProcInfo(at, &p) > 0; at = p.pid + 1) {
        found += strcmp(p.name, "t_down") == 0;
    }
    EXPECT_EQ(found, 3);
    refused("stop.dif", REASON_NEEDS_BOTH);
    d_do(handle, KYMO_D_DESTROY);
}

/* ---- all of the system, and nothing ------------------------------------------------ */

static void t_kernel(void)
{
    uint32_t handle = d_create("own.dif");

    EXPECT_EQ(places_listed(stranger()), 1);
    d_do(handle, KYMO_D_GO);
    nops(NOPS, ITSELF);
    sleep_ms(500);
    d_do(handle, KYMO_D_STOP);
    struct counts n = d_counts(handle);
    EXPECT_EQ(n.of[1], NOPS);
    EXPECT(n.of[3] > 0);
    EXPECT_EQ(d_faults(handle, NULL), 0);
    d_do(handle, KYMO_D_DESTROY);
    d_do(d_create("others.dif"), KYMO_D_DESTROY);
    refused("change.dif", REASON_NEEDS_DESTRUCTIVE);
    refused("stop.dif", REASON_NEEDS_BOTH);
    struct kymo_d_call call = {.flags = 2}; /* DTRACE_CREATE_LOG */
    long bytes = ImageRead("others.dif", 0, d_in, sizeof(d_in));
    EXPECT_ERR(d_call(&call, KYMO_D_CREATE, (size_t)bytes, sizeof(d_out)), EPERM);
    EXPECT_EQ(((const uint32_t *)d_out)[REASON_WORD], REASON_NEEDS_TRACE);
}

/* The start script has run `dlimit 1`. */
static void t_limited(void)
{
    struct kymo_d_call call = {0};

    refused_as("others.dif", E2BIG, REASON_MAX_COST);
    for (uint32_t steps = 0; steps < 3; steps++) {
        call = (struct kymo_d_call){.id = steps};
        EXPECT_EQ(d_call(&call, KYMO_D_LIMIT, 0, 0), 0);
        EXPECT_EQ(call.id, 1);
    }
}

static void t_none(void)
{
    for (unsigned command = KYMO_D_INFO; command <= KYMO_D_USER; command++) {
        struct kymo_d_call call = {0};
        EXPECT_ERR(d_call(&call, command, 0, sizeof(d_out)), EPERM);
    }
}

/* Who may observe all may have places in the stranger: for t_own_places() they are on from here to
 * the end. */
static void t_places(void)
{
    EXPECT_EQ(place_make(stranger()), 0);
    d_do(d_create("places.dif"), KYMO_D_GO);
    EXPECT(NameAttach("observer", ChannelCreate(0)) >= 0);
}

static const struct check own[] = {{"own processes", t_own},
                                   {"probes in its own programs", t_own_places},
                                   {"what it counts", t_own_counted},
                                   {"as many as its quota", t_own_quota},
                                   {"what it may not", t_own_refused}};
static const struct check places[] = {{"probes in any program", t_places}};
static const struct check change[] = {{"changing its own", t_change}};
static const struct check kernel[] = {{"all of the system", t_kernel},
                                      {"what all count", t_kernel_counted}};
static const struct check limited[] = {{"too dear", t_limited}};
static const struct check none[] = {{"none of D", t_none}};

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "stranger") == 0) {
        for (;;) {
            nops(1, STRANGER);
            call_probed(1, STRANGER);
        }
    }
    if (strcmp(what, "child") == 0) {
        nops(NOPS, CHILD);
        return 0;
    }
    if (strcmp(what, "probed") == 0) {
        return probed(atoi(argv[2]), atoi(argv[3]));
    }
    if (strcmp(what, "places") == 0) {
        const int status = check_run("down places", places, COUNT(places));

        while (status == 0) {
            sleep_ms(1000);
        }
        return status;
    }
    return strcmp(what, "own") == 0       ? check_run("down own", own, COUNT(own))
           : strcmp(what, "change") == 0  ? check_run("down change", change, COUNT(change))
           : strcmp(what, "kernel") == 0  ? check_run("down kernel", kernel, COUNT(kernel))
           : strcmp(what, "limited") == 0 ? check_run("down limited", limited, COUNT(limited))
                                          : check_run("down none", none, COUNT(none));
}
