/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See children.h. The first failure makes 1 the exit status of every later shutdown, whichever
 * program asks for it: the kernel keeps that status (KYMO_SYSTEM_STATUS).
 */
#include "apps/init/children.h"

#include <stdio.h>
#include <string.h>

static struct child {
    int pid; /* 0: this entry is free */
    const char *name;
    bool background, may_fail;
    enum line_server server;
} children[CHILDREN_MOST];

static const char *first_failed;

static struct child *child_find(int pid)
{
    for (struct child *child = children; child < children + CHILDREN_MOST; child++) {
        if (child->pid == pid) {
            return child;
        }
    }
    return NULL;
}

int children_add(int pid, const struct line *line)
{
    struct child *child = child_find(0);

    if (!child) {
        return -1;
    }
    *child = (struct child){.pid = pid,
                            .name = line->words[0],
                            .background = line->background,
                            .server = line->server,
                            .may_fail = line->may_fail};
    return 0;
}

void children_named(int pid)
{
    struct child *child = child_find(pid);

    if (child && child->server == SERVER_IF_NAMED) {
        child->server = SERVER_YES;
    }
}

static void child_report(const struct child *child, int status)
{
    if (KYMO_STATUS_SIGNAL(status)) {
        printf("init: %s (pid %d) was ended by signal %d\n", child->name, child->pid,
               KYMO_STATUS_SIGNAL(status));
    } else if (KYMO_STATUS_CODE(status)) {
        printf("init: %s (pid %d) exited with status %d\n", child->name, child->pid,
               KYMO_STATUS_CODE(status));
    }
}

/* Removes a child whose pid ProcWait() has returned. */
static void children_take_status(int pid, int status)
{
    struct child *child = child_find(pid);

    if (!child) {
        return;
    }
    child_report(child, status);
    if (status != 0 && !child->may_fail && !first_failed) {
        first_failed = child->name;
        SystemCtl(KYMO_SYSTEM_STATUS, 1);
    }
    child->pid = 0;
}

int children_wait_any(void)
{
    int status = 0;
    int pid = ProcWait(0, &status, 0);

    if (pid < 0) {
        return -1;
    }
    children_take_status(pid, status);
    return 0;
}

int children_wait(int pid)
{
    while (child_find(pid)) {
        if (children_wait_any() != 0) {
            return -1;
        }
    }
    return 0;
}

static bool background_runs(void)
{
    for (const struct child *child = children; child < children + CHILDREN_MOST; child++) {
        if (child->pid && child->background && child->server != SERVER_YES) {
            return true;
        }
    }
    return false;
}

int children_wait_background(void)
{
    while (background_runs()) {
        if (children_wait_any() != 0) {
            return -1;
        }
    }
    return 0;
}

void children_reap(void)
{
    int status = 0;
    int pid;

    while ((pid = ProcWait(0, &status, KYMO_WAIT_NOHANG)) > 0) {
        children_take_status(pid, status);
    }
}

const char *children_failed(void)
{
    return first_failed;
}
