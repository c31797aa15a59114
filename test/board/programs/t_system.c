/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ends the machine: `t_system panic`, `t_system reset`; neither may come back. `t_system arm`
 * starts the watchdog and leaves; `t_system hang` never gives the CPU back, so that nobody sets it
 * back: where there is none, and without the ability, it says so and leaves. `t_system calls`:
 * arguments that SystemCtl() refuses.
 */
#include "test/board/programs/check.h"

#define BITES_MS 100

static int arm(void)
{
    int result = SystemCtl(KYMO_SYSTEM_WATCHDOG, BITES_MS);

    say("watchdog of %d ms: %d, errno %d", BITES_MS, result, result ? errno : 0);
    return result;
}

static void hang(void)
{
    while (arm() == 0) {
        for (;;) {
            __asm__ volatile("");
        }
    }
}

static void refused(void)
{
    EXPECT_ERR(SystemCtl(KYMO_SYSTEM_ON_PANIC, 2), EINVAL);
    EXPECT_ERR(SystemCtl(KYMO_SYSTEM_ON_PANIC, -1), EINVAL);
    EXPECT_ERR(SystemCtl(KYMO_SYSTEM_WATCHDOG, -1), EINVAL);
    EXPECT_ERR(SystemCtl(0, 0), EINVAL);
    EXPECT_ERR(SystemCtl(KYMO_SYSTEM_STATUS, 256), EINVAL);
    EXPECT_ERR(SystemCtl(KYMO_SYSTEM_STATUS, -1), EINVAL);
    EXPECT_ERR(SystemCtl(7, 0), EINVAL);
    EXPECT_EQ(SystemCtl(KYMO_SYSTEM_ON_PANIC, KYMO_PANIC_RESETS), 0);
    EXPECT_EQ(SystemCtl(KYMO_SYSTEM_ON_PANIC, KYMO_PANIC_STOPS), 0);
}

static int calls(void)
{
    static const struct check table[] = {{"refused", refused}};

    return check_run("system", table, COUNT(table));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "arm") == 0) {
        arm();
        return 0;
    }
    if (strcmp(what, "hang") == 0) {
        hang();
        return 0;
    }
    if (strcmp(what, "calls") == 0) {
        return calls();
    }
    SystemCtl(strcmp(what, "reset") == 0 ? KYMO_SYSTEM_RESET : KYMO_SYSTEM_PANIC, 0);
    say("still here, errno %d", errno);
    return 1;
}
