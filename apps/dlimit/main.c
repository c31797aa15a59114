/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dlimit INSTRUCTIONS: from now on no D program is accepted whose clauses may add more instructions
 * to one probe firing (docs/inside/machine.md): `[ability=dtrace_kernel] dlimit 100000` in a start
 * script, before linkd. Only a reset raises the limit. Without a number prints it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/dtrace.h>

static int dlimit_exit_with(const char *what)
{
    fprintf(stderr, "dlimit: %s\n", what);
    return 1;
}

int main(int argc, char **argv)
{
    struct kymo_d_call call = {.command = KYMO_D_LIMIT};
    char *end = "";

    errno = 0;
    unsigned long most = argc > 1 ? strtoul(argv[1], &end, 10) : 0;
    if (argc > 2 || *end || errno || most > UINT32_MAX || (argc > 1 && most == 0)) {
        return dlimit_exit_with("usage: dlimit [INSTRUCTIONS], from 1 to 4294967295");
    }
    call.id = (uint32_t)most;
    if (DtraceControl(&call, NULL, NULL) < 0) {
        return dlimit_exit_with(errno == EPERM ? "it needs the ability dtrace_kernel"
                                               : strerror(errno));
    }
    if (argc < 2) {
        printf("dtrace_max_cost %u\n", (unsigned)call.id);
    } else if (call.id < most) {
        return dlimit_exit_with("the limit is lower already, and only a reset raises it");
    }
    return 0;
}
