/* SPDX-License-Identifier: BSD-2-Clause */
/* What ends the machine: `t_system panic`, `t_system reset`. Neither may come back. */
#include "test/boot/programs/check.h"

int main(int argc, char **argv)
{
    bool reset = argc > 1 && strcmp(argv[1], "reset") == 0;

    SystemCtl(reset ? KYMO_SYSTEM_RESET : KYMO_SYSTEM_PANIC, 0);
    say("still here, errno %d", errno);
    return 1;
}
