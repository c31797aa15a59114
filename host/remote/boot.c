/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire to a board that is booted for it: QEMU with the image `work`, the demo workload over and
 * over, or with the image that is named, its console thrown away; it ends with the wire. So a first
 * one-liner works without -t.
 */
#include "host/output.h"
#include "host/remote/wire.h"
#include "host/run/run.h"
#include "host/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SOCKET_TRIES = 6000, PAUSE = 10000000 /* ns */ }; /* a minute: QEMU hangs */
/* So that the socket in it has a path that a socket can have. */
#define SOCKET_FOLDER (sizeof(((struct sockaddr_un *)0)->sun_path) - sizeof("link"))

struct wire_of_boot {
    struct wire base;
    struct wire *link;
    struct run run;
    char *text; /* the board, with its options; cut into parts */
    pid_t qemu;
    int folder_held; /* temporary_directory_hold()'s */
    char folder[SOCKET_FOLDER], spec[SOCKET_FOLDER + sizeof("unix:/link")];
    char lock[SOCKET_FOLDER + sizeof("/link.lock")];
    const char *noted[4]; /* what a signal that ends the command removes */
};

static struct wire_of_boot *remote_boot_wire_of(struct wire *wire)
{
    return (struct wire_of_boot *)wire;
}

static int boot_send(struct wire *wire, const void *message, size_t bytes)
{
    return remote_boot_wire_of(wire)->link->ops->send(remote_boot_wire_of(wire)->link, message,
                                                      bytes);
}

static long boot_receive(struct wire *wire, void *message, size_t room, int timeout_ms)
{
    return remote_boot_wire_of(wire)->link->ops->receive(remote_boot_wire_of(wire)->link, message,
                                                         room, timeout_ms);
}

static const char *boot_reason(struct wire *wire)
{
    return remote_boot_wire_of(wire)->link->ops->reason(remote_boot_wire_of(wire)->link);
}

static void remove_folder(struct wire_of_boot *w)
{
    unlink(w->spec + strlen("unix:"));
    unlink(w->lock);
    rmdir(w->folder);
    output_remove_folders(NULL);
    close(w->folder_held);
}

static void boot_close(struct wire *wire)
{
    struct wire_of_boot *w = remote_boot_wire_of(wire);

    if (w->link) {
        w->link->ops->close(w->link);
    }
    if (w->qemu > 0) {
        kill(w->qemu, SIGKILL);
        while (waitpid(w->qemu, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    run_release(&w->run);
    if (*w->folder) {
        remove_folder(w);
    }
    run_args_free(&w->run);
    free(w->text);
    free(w);
}

static struct wire *boot_beside(struct wire *wire, const char *service, const char **why)
{
    return remote_boot_wire_of(wire)->link->ops->beside(remote_boot_wire_of(wire)->link, service,
                                                        why);
}

static const struct wire_ops boot_ops = {boot_send, boot_receive, boot_reason, boot_close,
                                         boot_beside};

/* In the child. A ^C is for us, not for the board. */
static void become_qemu(const struct wire_of_boot *w, pid_t parent)
{
    int null = open("/dev/null", O_RDWR);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int fd = 0; fd < 3; fd++) {
        dup2(null, fd);
    }
    if (getppid() == parent && chdir(w->folder) == 0) {
        execvp(w->run.argv[0], w->run.argv);
    }
    _exit(127);
}

static bool make_folder(struct wire_of_boot *w)
{
    static const char *const files[] = {"link", "link.lock", NULL};

    sigset_t before;

    output_hold_signals(&before);
    w->folder_held = temporary_directory_hold("dtrace", files, w->folder, sizeof(w->folder));
    if (w->folder_held < 0) {
        w->folder[0] = '\0';
    } else {
        snprintf(w->spec, sizeof(w->spec), "unix:%s/link", w->folder);
        snprintf(w->lock, sizeof(w->lock), "%s/link.lock", w->folder);
        w->noted[0] = w->spec + strlen("unix:");
        w->noted[1] = w->lock;
        w->noted[2] = w->folder;
        output_remove_folders(w->noted);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return w->folder_held >= 0;
}

static bool start_qemu(struct wire_of_boot *w)
{
    pid_t parent = getpid();

    fflush(NULL);
    w->qemu = fork();
    if (w->qemu == 0) {
        become_qemu(w, parent);
    }
    return w->qemu > 0;
}

/* QEMU listens before the board's first instruction. A socket that is only there (bind() makes it)
 * isn't enough: until listen() it refuses. Returns NULL, or the reason why nobody will listen. */
static const char *wait_for_socket(struct wire_of_boot *w)
{
    const struct timespec pause = {0, PAUSE};

    for (int i = 0; i < SOCKET_TRIES; i++) {
        if (run_link_is_listening(w->spec + strlen("unix:"))) {
            return NULL;
        }
        if (waitpid(w->qemu, NULL, WNOHANG) == w->qemu) {
            w->qemu = 0;
            return "QEMU doesn't start";
        }
        nanosleep(&pause, NULL);
    }
    return "QEMU doesn't listen";
}

/* Cuts the text into board, options and image. Returns NULL, or what is wrong. */
static const char *remote_boot_parse(struct run *run, char *text)
{
    char *image = strstr(text, ",image="), *option = strchr(text, ',');

    run->board = text;
    run->image = "work";
    if (image) {
        *image = '\0';
        run->image = image + strlen(",image=");
    }
    if (option && option != image) {
        *option++ = '\0';
        run->icount = strcmp(option, "icount") == 0;
        if (!run->icount) {
            return "after the board there may be ,icount and ,image=IMAGE";
        }
    }
    if (!run_name_ok(run->board)) {
        return "not the name of a board";
    }
    return strchr(run->image, '/') || run_name_ok(run->image)
               ? NULL
               : "not the name of an image: a path has a slash in it";
}

/* Boots the board; returns NULL, or the reason why it can't. */
static const char *remote_boot_start(struct wire_of_boot *w)
{
    struct run *run = &w->run;
    const char *wrong = remote_boot_parse(run, w->text);

    if (wrong) {
        return wrong;
    }
    run->link = w->spec;
    run->quiet_build = true; /* it is no part of what is traced */
    if (run_find_home(run) != 0 || run_build(run) != 0) {
        return "no board to boot; -t names a target";
    }
    if (!make_folder(w)) {
        return errno == ENAMETOOLONG ? "TMPDIR is too long for the path of a socket"
                                     : strerror(errno);
    }
    if (run_args(run) != 0 || !start_qemu(w)) {
        return "QEMU doesn't start";
    }
    return wait_for_socket(w);
}

struct wire *wire_boot(const char *text, const char **why)
{
    struct wire_of_boot *w = calloc(1, sizeof(*w));

    if (w) {
        w->text = strdup(text ? text : "virt-a64");
    }
    *why = w && w->text ? remote_boot_start(w) : "Not enough space";
    if (!*why) {
        w->base.ops = &boot_ops;
        w->link = wire_link(w->spec, why);
    }
    if (w && !w->link) {
        boot_close(&w->base);
        return NULL;
    }
    return w ? &w->base : NULL;
}
