/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See foreground.h. A program may itself request ^C from the console (another shell does): each
 * line and each wait requests it again.
 */
#include "apps/shell/foreground.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/dispatch.h>

#include "apps/console/protocol.h"
#include "lib/include/kymo.h"
#include "lib/include/signal.h"

#define FAMILY_MOST 32 /* processes that one ^C ends */

static atomic_int foreground_pid; /* pid, 0: none is waited for */
static pthread_mutex_t
    foreground_lock = /* held while a family is signalled: the prompt waits for it */
    PTHREAD_MUTEX_INITIALIZER;
static int foreground_console = -1, foreground_channel = -1;

static void ask_for_interrupts(void)
{
    const struct console_listen ask = {.type = CONSOLE_INTERRUPTS, .chid = foreground_channel};

    if (foreground_console >= 0 && foreground_channel >= 0) {
        MsgSend(foreground_console, &ask, sizeof(ask), NULL, 0);
    }
}

static bool is_among(const int *family, int count, int pid)
{
    for (int i = 0; i < count; i++) {
        if (family[i] == pid) {
            return true;
        }
    }
    return false;
}

/* Lists the process and its descendants. A child may have a lower pid than its parent, so the table
 * is searched until nothing is added. */
static int family_of(int pid, int *family)
{
    int count = 0, before;

    family[count++] = pid;
    do {
        struct kymo_proc_info info;

        before = count;
        for (int at = 1; (at = ProcInfo(at, &info)) > 0 && count < FAMILY_MOST; at++) {
            if (is_among(family, count, info.ppid) && !is_among(family, count, at)) {
                family[count++] = at;
            }
        }
    } while (count > before);
    return count;
}

/* The program is the first, as it would report how its children ended; the others follow by falling
 * pid: a server mostly has a lower one than its clients, which would report that it has gone. */
static void end_family(const int *family, int count)
{
    if (count > 0) {
        kill(family[0], SIGINT);
    }
    for (int i = count - 1; i > 0; i--) {
        kill(family[i], SIGINT);
    }
}

static void *take_interrupts(void *unused)
{
    struct _pulse pulse;

    while (MsgReceivePulse(foreground_channel, &pulse, sizeof(pulse), NULL) == 0) {
        int family[FAMILY_MOST];

        pthread_mutex_lock(&foreground_lock);
        int pid = atomic_load(&foreground_pid);
        int count = pid > 0 ? family_of(pid, family) : 0;

        end_family(family, count);
        pthread_mutex_unlock(&foreground_lock);
        if (count == 0) { /* it came between the prompt and the read, and took the line */
            printf("$ ");
            fflush(stdout);
        }
    }
    return unused;
}

void foreground_begin(void)
{
    pthread_t thread;

    foreground_console = name_open("console", 0);
    foreground_channel = ChannelCreate(0);
    if (foreground_channel >= 0 && pthread_create(&thread, NULL, take_interrupts, NULL) != 0) {
        ChannelDestroy(foreground_channel);
        foreground_channel = -1;
    }
}

void foreground_none(void)
{
    ask_for_interrupts();
}

int foreground_wait(int pid, int *status)
{
    atomic_store(&foreground_pid, pid);
    int ended = ProcWait(pid, status, 0);
    atomic_store(&foreground_pid, 0);
    pthread_mutex_lock(&foreground_lock);
    pthread_mutex_unlock(&foreground_lock);
    return ended;
}
