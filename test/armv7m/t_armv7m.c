/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cortex-M: every way into and out of the kernel uses the process's own stack. Each kind of abuse
 * ends that process alone, with the right signal; a thread of this one counts beside it, and must
 * neither stop nor be wrong. `t_armv7m child KIND` is the process.
 */
#include "test/armv7m/kinds.h"
#include "test/boot/programs/check.h"

#include <stdlib.h>

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
    static const struct check table[] = {{"FP registers", t_fp}, {"stacks and frames", t_kinds}};

    if (argc == 3 && strcmp(argv[1], "child") == 0) {
        return child(argv[2]);
    }
    return check_run("armv7m", table, COUNT(table));
}
