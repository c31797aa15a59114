/* SPDX-License-Identifier: BSD-2-Clause */
/* <kymo.h>: starting programs, and a program's queries about itself. */
#include "lib/include/kymo.h"

#include <errno.h>
#include <string.h>

#include "abi/sys/states.h"
#include "lib/include/sys/neutrino_r.h"
#include "lib/startup.h"

static int pack_args(struct kymo_spawn *spawn, const char *program, char *const argv[])
{
    char *const only[] = {(char *)program, NULL};

    for (char *const *arg = argv ? argv : only; *arg; arg++) {
        size_t bytes = strlen(*arg) + 1;

        if (bytes > sizeof(spawn->args) - spawn->arg_bytes) {
            errno = E2BIG;
            return -1;
        }
        memcpy(spawn->args + spawn->arg_bytes, *arg, bytes);
        spawn->arg_bytes += (uint32_t)bytes;
        spawn->argc++;
    }
    return 0;
}

int kymo_spawn(const char *program, char *const argv[], const struct kymo_spawn_attr *attr)
{
    struct kymo_spawn spawn;
    size_t length = strlen(program);

    memset(&spawn, 0, sizeof(spawn));
    if (length >= sizeof(spawn.program)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(spawn.program, program, length);
    if (attr) {
        spawn.priority = attr->priority;
        spawn.policy = attr->policy;
        spawn.ability = attr->ability;
        spawn.runmask = attr->runmask;
        spawn.stack_size = attr->stack_size;
        spawn.heap_size = attr->heap_size;
        spawn.flags = attr->flags;
        spawn.limits = attr->limits;
        memcpy(spawn.limit, attr->limit, sizeof(spawn.limit));
    }
    return pack_args(&spawn, program, argv) == 0 ? ProcSpawn(&spawn) : -1;
}

int kymo_run(const char *program, char *const argv[], const struct kymo_spawn_attr *attr)
{
    int status = 0;
    int pid = kymo_spawn(program, argv, attr);

    if (pid < 0 || ProcWait(pid, &status, 0) < 0) {
        return -1;
    }
    return status;
}

uint32_t kymo_abilities(void)
{
    return kymo_startup->ability;
}

unsigned kymo_cpus(void)
{
    return kymo_startup->ncpu;
}

uint32_t kymo_cpu_mask(void)
{
    return kymo_startup->cpus;
}

uint64_t kymo_cycles_per_sec(void)
{
    return kymo_startup->cycles_per_sec;
}

int kymo_thread_name_of(int tid, const char *name)
{
    char text[KYMO_THREAD_NAME_MAX];
    struct _thread_name request = {0, sizeof(text), text};

    if (tid < 0 || tid > KYMO_TID_MAX) {
        return -ESRCH;
    }
    strncpy(text, name, sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    request.new_name_len = (int32_t)strlen(text) + 1;
    return ThreadCtl_r(KYMO_TCTL_NAME_OF(tid), &request);
}

int kymo_thread_name(const char *name)
{
    int error = kymo_thread_name_of(0, name);

    errno = error ? -error : errno;
    return error ? -1 : 0;
}

int kymo_signal_pulse(uint64_t signals, const struct sigevent *pulse)
{
    struct _signal_event request = {.signals = signals};

    request.event = signals ? *pulse : request.event;
    return ThreadCtl(_NTO_TCTL_SIGNAL_EVENT, &request);
}

const char *kymo_state_name(int state)
{
    static const char *const names[STATE_MAX] = {
#define STATE(number, name, text, emitted) [number] = #name,
        THREAD_STATE_LIST(STATE)
#undef STATE
    };

    return state >= 0 && state < STATE_MAX && names[state] ? names[state] : "?";
}
