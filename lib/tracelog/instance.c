/* SPDX-License-Identifier: BSD-2-Clause */
/* <sys/tracelog.h>: permission to record, and the settings before a recording. */
#include <errno.h>
#include <stdlib.h>
#include <sys/dispatch.h>

#include "abi/sys/neutrino.h"
#include "lib/include/kymo.h"
#include "lib/tracelog/instance.h"

#define NAME "tracelogger/library" /* of two that attach at once one succeeds */
#define LEAST 2
#define MOST 1024
#define EACH 8 /* tracelogger's defaults */
#define ALONE 32

static name_attach_t *tracelog_acquired_name;

bool tracelog_is_acquired(void)
{
    return tracelog_acquired_name != NULL;
}

int tracelog_acquire(void)
{
    uint32_t needs = ABILITY_TRACE | ABILITY_INTERRUPT;
    struct kymo_trace_owner owner;

    if ((kymo_abilities() & needs) != needs) {
        return EPERM;
    }
    if (TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner) == 0 && !owner.gone) {
        return EEXIST;
    }
    name_attach_t *name = tracelog_acquired_name ? NULL : kymo_name_attach(NAME, KYMO_NAME_FLAGS);
    if (!name) {
        return tracelog_acquired_name ? EEXIST : errno;
    }
    tracelog_acquired_name = name;
    return 0;
}

int tracelog_release(void)
{
    if (!tracelog_acquired_name || tracelog_records()) {
        return tracelog_acquired_name ? EBUSY : EPERM;
    }
    name_detach(tracelog_acquired_name, 0);
    tracelog_acquired_name = NULL;
    return 0;
}

int tracelog_instance_init(tracelog_instance_t **instance)
{
    if (!instance) {
        return EINVAL;
    }
    tracelog_instance_t *log = calloc(1, sizeof(*log));
    if (!log) {
        return ENOMEM;
    }
    log->kernel_buffers = kymo_cpus() == 1 ? ALONE : EACH;
    *instance = log;
    return 0;
}

/* Returns 0 if its settings may be changed. */
static int tracelog_check_settable(const tracelog_instance_t *log)
{
    if (!log) {
        return EINVAL;
    }
    return atomic_load(&log->phase) == IDLE ? 0 : EBUSY;
}

int tracelog_instance_destroy(tracelog_instance_t *log)
{
    int error = tracelog_check_settable(log);

    if (error == 0) {
        free(log);
    }
    return error;
}

int tracelog_setkbuffers(tracelog_instance_t *log, uint64_t paddr, int buffers, int keep, int reuse)
{
    int error = tracelog_check_settable(log);

    if (error != 0) {
        return error;
    }
    if ((paddr != 0 && paddr != TRACELOG_ANYWHERE) || keep != 0 || reuse != 0) {
        return ENOTSUP;
    }
    if (buffers < LEAST || buffers > MOST) {
        return EINVAL;
    }
    log->kernel_buffers = buffers;
    return 0;
}

int tracelog_setbuffers(tracelog_instance_t *log, void *memory, int buffers)
{
    int error = tracelog_check_settable(log);

    if (error != 0) {
        return error;
    }
    if (memory) {
        return ENOTSUP;
    }
    if (buffers < 0 || buffers > MOST) {
        return EINVAL;
    }
    log->more_buffers = buffers;
    return 0;
}

int tracelog_setwriter(tracelog_instance_t *log, tracelog_write_t write, void (*several)(void),
                       void *cookie)
{
    int error = tracelog_check_settable(log);

    if (error != 0 || several) {
        return error ? error : ENOTSUP;
    }
    log->write = write;
    log->cookie = cookie;
    return 0;
}

int tracelog_setring(tracelog_instance_t *log, bool ring)
{
    int error = tracelog_check_settable(log);

    if (error == 0) {
        log->ring = ring;
    }
    return error;
}

int tracelog_account(const tracelog_instance_t *log, struct tracelog_account *account)
{
    int error = account ? tracelog_check_settable(log) : EINVAL;

    if (error == 0) {
        *account = log->account;
    }
    return error;
}
