/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cortex-M: every way into and out of the kernel uses the process's own stack. Each kind of abuse
 * ends that process alone, with the right signal; a thread of this one counts beside it, and must
 * neither stop nor be wrong. `t_armv7m child KIND` is the process.
 */
#include "test/board/armv7m/kinds.h"
#include "test/board/programs/check.h"

#include <stdlib.h>

#define REGIONS 8

static volatile unsigned beats;
static volatile bool stop;

static void *witness(void *arg)
{
    (void)arg;
    while (!stop) {
        beats++;
        sleep_ms(1);
    }
    return NULL;
}

static void one(const struct kind *kind)
{
    int pid = spawn("t_armv7m", 0, 9, "child", kind->name, NULL), status = -1;
    unsigned before = beats;

    EXPECT(pid > 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    sleep_ms(3);
    EXPECT(beats > before);
    int signal = KYMO_STATUS_SIGNAL(status);
    if (signal == kind->signal || (signal != 0 && signal == kind->signal2)) {
        if (signal == 0) {
            EXPECT_EQ(status, 0);
        }
        return;
    }
    check_fail(__FILE__, __LINE__, "%s: status %#x", kind->name, status);
}

static void all_kinds(void)
{
    for (unsigned i = 0; i < kinds_count; i++) {
        one(&kinds[i]);
    }
}

/* Twice, so that what a first one has left behind is met by the second. */
static void t_kinds(void)
{
    int tid = start_thread(witness, NULL, 12);

    all_kinds();
    all_kinds();
    stop = true;
    join(tid);
}

/* A process has all eight regions, the last of which is the kernel stack's guard until then: what
 * is mapped there can be used, and the guard comes back. */
static void t_regions(void)
{
    struct kymo_proc_info info = {0};
    struct kymo_map maps[REGIONS] = {{0}};

    EXPECT_EQ(ProcInfo(self_pid(), &info), self_pid());
    for (unsigned round = 0; round < 2; round++) {
        unsigned n = 0;

        while (n < REGIONS) {
            maps[n] = (struct kymo_map){.len = 256, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
            if (MemMap(&maps[n]) != 0) {
                break;
            }
            memset((void *)(uintptr_t)maps[n++].vaddr, 0xff, 256);
            sleep_ms(1);
        }
        EXPECT_EQ(n + info.nmaps, REGIONS);
        while (n > 0) {
            EXPECT_EQ(MemUnmap((void *)(uintptr_t)maps[--n].vaddr, 0), 0);
        }
    }
}

static int child(const char *name)
{
    for (unsigned i = 0; i < kinds_count; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            kinds[i].run();
            sleep_ms(20); /* for a thread that is to die */
            return 0;
        }
    }
    return 99;
}

int main(int argc, char **argv)
{
    static const struct check table[] = {
        {"FP registers", t_fp}, {"stacks and frames", t_kinds}, {"all regions", t_regions}};

    if (argc == 3 && strcmp(argv[1], "child") == 0) {
        return child(argv[2]);
    }
    return check_run("armv7m", table, COUNT(table));
}
