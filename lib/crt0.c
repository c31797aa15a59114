/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entry point of a program. The kernel enters _start() in the main thread with the address of
 * struct kymo_startup; the stack and, in a relocated program, all pointers are ready. Sets up errno
 * and thread-local data, the standard files, the constructors; then calls main() and exit().
 */
#include <stdlib.h>
#include <string.h>

#include "lib/include/sys/neutrino_r.h"
#include "lib/startup.h"
#include "lib/thread.h"

int main(int argc, char **argv, char **envp);
void __libc_init_array(void);
void _start(struct kymo_startup *startup) __attribute__((noreturn));

struct kymo_startup *kymo_startup;
static char *no_environment[1];

static const char *crt0_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* A start script's `name=` arrives as argv[0], which then differs from the program's name: names
 * the main thread so, for listings and the trace. */
static void name_main_thread(const struct kymo_startup *startup)
{
    struct kymo_proc_info info;
    char name[KYMO_THREAD_NAME_MAX];

    if (startup->argc == 0 || ProcInfo_r(startup->pid, &info) != startup->pid) {
        return;
    }
    strncpy(name, crt0_base_name(startup->argv[0]), sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    if (strcmp(crt0_base_name(startup->argv[0]), info.name) != 0) {
        struct _thread_name request = {(int32_t)strlen(name) + 1, sizeof(name), name};

        ThreadCtl_r(_NTO_TCTL_NAME, &request);
    }
}

void _start(struct kymo_startup *startup)
{
    kymo_startup = startup;
    if (kymo_tls_main(startup) != 0) {
        ProcExit(127);
    }
    kymo_io_start();
    kymo_libc_start();
    name_main_thread(startup);
    __libc_init_array();
    exit(main((int)startup->argc, startup->argv, no_environment));
}
