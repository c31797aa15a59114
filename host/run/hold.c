/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exclusive resources of a run: the folder where a guest's files go, a capture, a disk, a link's
 * socket. Each is locked with flock() until the run ends; the system drops the locks of a process
 * that is killed, so none goes stale. A second run is refused, with the holder's process and
 * command. Proof: test/host/run/check.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "host/run/run.h"

/* The process that has a lock on this file, from /proc/locks; 0: it isn't known. */
static int holder_find(const struct stat *file)
{
    FILE *locks = fopen("/proc/locks", "re");
    char line[256];
    unsigned major, minor;
    unsigned long inode;
    int pid = 0, found;

    while (pid == 0 && locks != NULL && fgets(line, sizeof(line), locks) != NULL) {
        found = sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major, &minor, &inode);
        if (found != 4 || major != major(file->st_dev) || minor != minor(file->st_dev) ||
            inode != file->st_ino) {
            pid = 0;
        }
    }
    if (locks != NULL) {
        fclose(locks);
    }
    return pid;
}

/* "process 4711 (kymo run --image shell)". */
static void holder_text(const struct stat *file, char *text, size_t room)
{
    char path[40], command[200] = "";
    int pid = holder_find(file);
    size_t length = 0;
    FILE *from;

    if (pid == 0) {
        snprintf(text, room, "another process");
        return;
    }
    snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
    from = fopen(path, "re");
    if (from != NULL) {
        length = fread(command, 1, sizeof(command) - 1, from);
        fclose(from);
    }
    for (size_t i = 0; i + 1 < length; i++) {
        if (command[i] == '\0') {
            command[i] = ' ';
        }
    }
    snprintf(text, room, length > 0 ? "process %d (%s)" : "process %d", pid, command);
}

int run_hold(struct run *run, int fd, const char *path, const char *remedy)
{
    char holder[300];
    struct stat file;

    if (fstat(fd, &file) != 0) {
        kymo_error("%s: %s", path, strerror(errno));
        return -1;
    }
    for (unsigned i = 0; i < run->holds; i++) {
        struct stat other;

        if (fstat(run->held[i], &other) == 0 && other.st_dev == file.st_dev &&
            other.st_ino == file.st_ino) {
            kymo_error("%s: two options name this file", path);
            return -1;
        }
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        run->held[run->holds++] = fd;
        return 0;
    }
    if (errno == EWOULDBLOCK) {
        holder_text(&file, holder, sizeof(holder));
        kymo_error("%s is in use by %s%s", path, holder, remedy);
    } else {
        kymo_error("%s: cannot lock: %s", path, strerror(errno));
    }
    return -1;
}

int run_hold_path(struct run *run, const char *path, const char *remedy)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        kymo_error("%s: %s", path, strerror(errno));
        return -1;
    }
    if (run_hold(run, fd, path, remedy) != 0) {
        close(fd);
        return -1;
    }
    return 0;
}

/* Returns true if the path still names the file that was locked: a run that ended may have removed
 * it, or put another one in its place. */
static bool is_still(int fd, const char *path)
{
    struct stat locked, there;

    return fstat(fd, &locked) == 0 && stat(path, &there) == 0 && locked.st_dev == there.st_dev &&
           locked.st_ino == there.st_ino;
}

int run_hold_file(struct run *run, const char *path, const char *shown, const char *remedy)
{
    for (;;) {
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

        if (fd < 0) {
            kymo_error("%s: cannot write: %s", shown, strerror(errno));
            return -1;
        }
        if (run_hold(run, fd, shown, remedy) != 0) {
            close(fd);
            return -1;
        }
        if (is_still(fd, path)) {
            return 0;
        }
        run->holds--;
        close(fd);
    }
}

/* ---- a link's socket ------------------------------------------------------------------
 *
 * QEMU removes whatever is at the path before it listens there, and a socket can't be locked: the
 * lock is on a file beside it, PATH.lock, which is removed while it is held. */

/* By the system's list of sockets: connecting would take the place of the one for whom it is. */
bool run_link_is_listening(const char *path)
{
    FILE *sockets = fopen("/proc/net/unix", "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    unsigned flags;
    int at;

    while (!found && sockets != NULL && getline(&line, &room, sockets) > 0) {
        at = 0;
        line[strcspn(line, "\n")] = '\0';
        found = sscanf(line, "%*s %*s %*s %x %*s %*s %*s %n", &flags, &at) == 1 && at > 0 &&
                (flags & 0x10000) != 0 && strcmp(line + at, path) == 0; /* __SO_ACCEPTCON */
    }
    free(line);
    if (sockets != NULL) {
        fclose(sockets);
    }
    return found;
}

int run_hold_link(struct run *run, const char *path)
{
    struct stat there;
    int length = snprintf(run->link_lock, sizeof(run->link_lock), "%s.lock", path);

    if (length >= (int)sizeof(run->link_lock) ||
        run_hold_file(run, run->link_lock, run->link_lock, ": --link with another path") != 0) {
        run->link_lock[0] = '\0';
        return -1;
    }
    if (lstat(path, &there) == 0 && !S_ISSOCK(there.st_mode)) {
        kymo_error("%s: exists and is not a socket; --link would replace it", path);
        return -1;
    }
    if (run_link_is_listening(path)) {
        kymo_error("%s: another process listens there: --link with another path", path);
        return -1;
    }
    return 0;
}

void run_release(struct run *run)
{
    if (run->link_lock[0] != '\0') {
        unlink(run->link_lock);
        run->link_lock[0] = '\0';
    }
    while (run->holds > 0) {
        close(run->held[--run->holds]);
    }
}
