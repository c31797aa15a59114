/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device's child: it does what `kymo capture -n 0` does, in the device's folder, and reports each
 * capture to its parent through a pipe. Its messages go through another one, so that the parent can
 * say whose they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/collect/collect.h"
#include "host/kymo.h"
#include "host/link/cmd.h"
#include "host/link/store.h"

#define WAIT_MOST 30 /* seconds between two tries */

static int report_to; /* the child's end of the pipe */

static void collect_device_report_state(const struct store *store, bool is_whole)
{
    struct collect_report message = {.bytes = store->bytes, .is_whole = is_whole};

    snprintf(message.name, sizeof(message.name), "%s", store->name);
    /* A pipe takes a message of this size whole. The parent may be gone; then so is this one. */
    if (write(report_to, &message, sizeof(message)) != sizeof(message)) {
        _exit(KYMO_FAILURE);
    }
}

static _Noreturn void collect_device_child_run(const struct collect *collect,
                                               const struct device *device, pid_t parent,
                                               const int reports[2], const int words[2])
{
    struct store store = {.placed = collect_device_report_state};

    /* An incomplete capture stays a part then, which the next collection finds and counts. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(collect->journal.fd); /* its lock is the parent's alone: a broker would keep it */
    setpgid(0, 0);              /* ^C at the terminal is the parent's */
    if (getppid() != parent || dup2(words[1], STDERR_FILENO) < 0 || fchdir(collect->folder) != 0 ||
        chdir(device->name) != 0) {
        _exit(KYMO_FAILURE);
    }
    setvbuf(stderr, NULL, _IONBF, 0);
    report_to = reports[1];
    cmd_interrupted = 0;
    cmd_catch_signals();
    _exit(cmd_capture(device->target, &store, 0));
}

bool device_start(struct collect *collect, struct device *device)
{
    int reports[2], words[2];
    pid_t parent = getpid();

    if (pipe2(reports, O_CLOEXEC) != 0) {
        kymo_error("collect: %s: %s", device->name, strerror(errno));
        return false;
    }
    if (pipe2(words, O_CLOEXEC) != 0) {
        kymo_error("collect: %s: %s", device->name, strerror(errno));
        close(reports[0]);
        close(reports[1]);
        return false;
    }
    fflush(stdout);
    device->pid = fork();
    if (device->pid == 0) {
        collect_device_child_run(collect, device, parent, reports, words);
    }
    close(reports[1]);
    close(words[1]);
    if (device->pid < 0) {
        kymo_error("collect: %s: %s", device->name, strerror(errno));
        device->pid = 0;
        close(reports[0]);
        close(words[0]);
        return false;
    }
    fcntl(reports[0], F_SETFL, O_NONBLOCK);
    fcntl(words[0], F_SETFL, O_NONBLOCK);
    device->reports = reports[0];
    device->words = words[0];
    device->used = 0;
    return true;
}

/* A message of the child's, without its newline. The reason why a target can't be reached is
 * printed once, not at each try. */
static void message_show(struct device *device, const char *line)
{
    static const char prefix[] = "kymo: ";

    if (strncmp(line, prefix, sizeof(prefix) - 1) == 0) {
        line += sizeof(prefix) - 1;
    }
    if (strcmp(line, device->said) != 0) {
        snprintf(device->said, sizeof(device->said), "%s", line);
        kymo_error("%s: %s", device->name, line);
    }
}

static void words_read(struct device *device)
{
    char text[4096];
    ssize_t n;

    while ((n = read(device->words, text, sizeof(text))) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] == '\n') {
                device->line[device->used] = '\0';
                message_show(device, device->line);
                device->used = 0;
            } else if (device->used + 1 < sizeof(device->line)) {
                device->line[device->used++] = text[i];
            }
        }
    }
    if (n == 0) {
        close(device->words);
        device->words = -1;
    }
}

static void report_take(struct collect *collect, struct device *device,
                        const struct collect_report *message)
{
    device->wait = 0;
    device->said[0] = '\0';
    if (message->is_whole) {
        device->stored++;
        device->stored_bytes += message->bytes;
    } else {
        device->incomplete++;
        device->incomplete_bytes += message->bytes;
    }
    index_put(collect, device, message->is_whole ? "stored" : "incomplete", message->name,
              message->bytes);
}

void device_read(struct collect *collect, struct device *device)
{
    struct collect_report message;
    ssize_t n;

    if (device->words >= 0) {
        words_read(device);
    }
    while (device->reports >= 0 && (n = read(device->reports, &message, sizeof(message))) != -1) {
        if (n != sizeof(message)) {
            close(device->reports);
            device->reports = -1;
        } else {
            message.name[sizeof(message.name) - 1] = '\0';
            report_take(collect, device, &message);
        }
    }
}

void device_stop(struct device *device)
{
    if (device->pid > 0) {
        device->is_asked = true;
        kill(device->pid, SIGTERM);
    }
}

void device_ended(struct collect *collect, struct device *device, time_t now)
{
    device_read(collect, device); /* its latest message */
    if (device->reports >= 0) {
        close(device->reports);
    }
    if (device->words >= 0) {
        close(device->words);
    }
    device->reports = device->words = -1;
    device->pid = 0;
    device->breaks += !device->is_asked;
    device->is_asked = false;
    device->wait = device->wait == 0              ? 1
                   : device->wait < WAIT_MOST / 2 ? 2 * device->wait
                                                  : WAIT_MOST;
    device->again = now + device->wait;
}
