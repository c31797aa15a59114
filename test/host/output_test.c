/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/output.c: what it refuses to write to, what it replaces, and in which order it asks the
 * system to flush and to rename. The linker leads those calls here (--wrap, test/host/unit.mk):
 * they are recorded, made to fail, or end the process, as a power cut might.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/output.h"
#include "host/output_folder.h"
#include "host/temporary.h"
#include "test/host/support.h"

/* ---- the system, as it is or as a test wants it ------------------------------------ */

static char calls[64];    /* a letter each: w write, f flush a file, F a folder, r rename, l link */
static int fails_at = -1; /* this call fails with `failure`; */
static int failure;
static int dies_at = -1; /* the process ends before this call */
static int no_noreplace, no_links;

static int call(char letter)
{
    size_t n = strlen(calls);

    if ((int)n == dies_at) {
        _exit(0);
    }
    calls[n] = n + 1 < sizeof(calls) ? letter : '\0';
    if ((int)n == fails_at) {
        errno = failure;
        return -1;
    }
    return 0;
}

int __real_fsync(int fd);
ssize_t __real_write(int fd, const void *data, size_t bytes);
int __real_renameat2(int a, const char *from, int b, const char *to, unsigned flags);
int __real_renameat(int a, const char *from, int b, const char *to);
int __real_linkat(int a, const char *from, int b, const char *to, int flags);
int __wrap_fsync(int fd);
ssize_t __wrap_write(int fd, const void *data, size_t bytes);
int __wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags);
int __wrap_renameat(int a, const char *from, int b, const char *to);
int __wrap_linkat(int a, const char *from, int b, const char *to, int flags);

int __wrap_fsync(int fd)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    return call(S_ISDIR(st.st_mode) ? 'F' : 'f') ? -1 : __real_fsync(fd);
}

ssize_t __wrap_write(int fd, const void *data, size_t bytes)
{
    return fd > 2 && call('w') ? -1 : __real_write(fd, data, bytes);
}

int __wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    if (no_noreplace) {
        errno = EINVAL;
        return -1;
    }
    return call('r') ? -1 : __real_renameat2(a, from, b, to, flags);
}

int __wrap_renameat(int a, const char *from, int b, const char *to)
{
    return call('r') ? -1 : __real_renameat(a, from, b, to);
}

int __wrap_linkat(int a, const char *from, int b, const char *to, int flags)
{
    if (no_links) {
        errno = EPERM;
        return -1;
    }
    return call('l') ? -1 : __real_linkat(a, from, b, to, flags);
}

/* ---- a folder to work in ----------------------------------------------------------- */

static char place[PATH_MAX];

static int setup(void **state)
{
    (void)state;
    memset(calls, 0, sizeof(calls));
    fails_at = dies_at = -1;
    no_noreplace = no_links = 0;
    return temporary_directory("output", place, sizeof(place)) == 0 ? chdir(place) : -1;
}

static int teardown(void **state)
{
    char command[PATH_MAX + 16];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    return chdir("/") == 0 ? system(command) : -1;
}

static void make(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static bool holds(const char *path, const char *text)
{
    char room[256] = "";
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(room, 1, sizeof(room) - 1, file) : 0;

    if (file) {
        fclose(file);
    }
    return file && n == strlen(text) && strcmp(room, text) == 0;
}

static int parts(void)
{
    FILE *list = popen("ls -A | grep -c part", "r");
    int n = -1;

    assert_int_equal(fscanf(list, "%d", &n), 1);
    pclose(list);
    return n;
}

static int put(const char *path, const char *text, enum output_policy policy)
{
    struct output output;
    int result = output_open(&output, path, policy);

    if (result == 0) {
        output_write(&output, text, strlen(text));
        result = output_commit(&output);
    }
    return result;
}

/* ---- tests ------------------------------------------------------------------------- */

static void test_order(void **state)
{
    (void)state;
    assert_int_equal(put("a", "one", OUTPUT_NEW), 0);
    assert_string_equal(calls, "wfrF");
    assert_true(holds("a", "one"));
    memset(calls, 0, sizeof(calls));
    assert_int_equal(put("a", "two", OUTPUT_FORCE), 0);
    assert_string_equal(calls, "wfrF");
    assert_true(holds("a", "two"));
    assert_int_equal(parts(), 0);
}

static void test_mode(void **state)
{
    struct stat st;
    mode_t mask = umask(027);

    (void)state;
    assert_int_equal(put("a", "x", OUTPUT_NEW), 0);
    umask(mask);
    assert_int_equal(stat("a", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(chmod("a", 0604), 0);
    assert_int_equal(put("a", "y", OUTPUT_FORCE), 0);
    assert_int_equal(stat("a", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0604);
}

/* Whatever fails, it is said by the result; what was there stays as it was, until it is renamed. */
static void test_each_call_fails(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        memset(calls, 0, sizeof(calls));
        make("old", "old");
        fails_at = n;
        failure = n == 0 ? ENOSPC : EIO;
        assert_int_equal(put("old", "new", OUTPUT_FORCE), -failure);
        assert_true(holds("old", n < 3 ? "old" : "new"));
        unlink("new");
        memset(calls, 0, sizeof(calls));
        assert_int_equal(put("new", "new", OUTPUT_NEW), -failure);
        assert_int_equal(access("new", F_OK), n < 3 ? -1 : 0);
        assert_int_equal(parts(), 0);
    }
}

/* A file system on which nothing can be flushed, e.g. /proc. */
static void test_no_flush(void **state)
{
    (void)state;
    fails_at = 1;
    failure = EINVAL;
    assert_int_equal(put("a", "x", OUTPUT_NEW), 0);
    assert_true(holds("a", "x"));
}

/* Killed before each call: the name has the old bytes or the new ones. */
static void test_killed(void **state)
{
    char big[5000], was[5000];

    (void)state;
    memset(big, 'n', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    for (int n = 0; n <= 4; n++) {
        int status;

        make("old", "old");
        pid_t pid = fork();
        if (pid == 0) {
            dies_at = n;
            _exit(put("old", big, OUTPUT_FORCE) == 0 ? 0 : 1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        FILE *file = fopen("old", "rb");
        size_t got = fread(was, 1, sizeof(was), file);
        fclose(file);
        assert_true(n < 3 ? got == 3 && memcmp(was, "old", 3) == 0
                          : got == sizeof(big) - 1 && memcmp(was, big, got) == 0);
        assert_int_equal(parts(), n < 3); /* a kill leaves its part, the next one removes it */
    }
}

static void test_signal(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        int status;
        pid_t pid = fork();

        if (pid == 0) {
            struct output one, two;

            signal(signals[i], SIG_DFL);
            assert_int_equal(output_open(&one, "one", OUTPUT_NEW), 0);
            assert_int_equal(output_open(&two, "two", OUTPUT_NEW), 0);
            output_write(&two, "x", 1);
            raise(signals[i]);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
        assert_int_equal(parts(), 0);
    }
}

/* Of a folder nothing stays either, whichever of its files have their names already. */
static void test_signal_in_folder(void **state)
{
    static const char *const names[] = {"in/a", "in/b", "c"};

    (void)state;
    for (unsigned committed = 0; committed <= 3; committed++) {
        int status;
        pid_t pid = fork();

        if (pid == 0) {
            struct output_folder folder;
            struct output files[3];

            signal(SIGTERM, SIG_DFL);
            assert_int_equal(output_folder_open(&folder, "folder"), 0);
            assert_int_equal(output_folder_add(&folder, "in"), 0);
            for (unsigned i = 0; i < 3; i++) {
                char *path = output_folder_path(&folder, names[i]);

                assert_int_equal(output_folder_note(&folder, path), 0);
                assert_int_equal(output_open(&files[i], path, OUTPUT_NEW), 0);
            }
            for (unsigned i = 0; i < committed; i++) {
                assert_int_equal(output_commit(&files[i]), 0);
            }
            raise(SIGTERM);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        assert_int_not_equal(system("ls -d folder* >/dev/null 2>&1"), 0);
    }
}

static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static void files_begin(const char *name)
{
    struct output_folder folder;
    struct output file;

    assert_int_equal(output_folder_open(&folder, name), 0);
    assert_int_equal(output_folder_add(&folder, "in"), 0);
    assert_int_equal(output_open(&file, output_folder_path(&folder, "in/a"), OUTPUT_NEW), 0);
    output_write(&file, "x", 1);
}

static void part_begin(const char *text)
{
    struct output output;

    assert_int_equal(output_open(&output, "a", OUTPUT_FORCE), 0);
    output_write(&output, text, strlen(text));
}

/* In a process that is killed, or, if `stays` is one end of a pipe, lives until it is told. */
static pid_t begin_elsewhere(void (*begin)(const char *), const char *text, int stays)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        close(ready[0]);
        begin(text);
        assert_int_equal(write(ready[1], "", 1), 1);
        if (stays >= 0) {
            (void)!read(stays, &byte, 1);
        }
        raise(SIGKILL);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    if (stays < 0) {
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    return pid;
}

static unsigned folder_parts(const char *pattern)
{
    glob_t found;
    unsigned n = glob(pattern, 0, NULL, &found) == 0 ? (unsigned)found.gl_pathc : 0;

    globfree(&found);
    return n;
}

/* What a killed process has left of a folder goes when the folder is written again: not what a
 * living one has, not what only has such a name, not that of another folder. */
static void test_killed_in_folder(void **state)
{
    static const char *const names[] = {"out", "sub/out", "sub/out/", "./sub/../out"};
    struct output_folder folder;
    int ends[2];
    pid_t living;

    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    assert_int_equal(mkdir("out.part.backup", 0777), 0);
    make("out.part.backup/mine", "mine");
    assert_int_equal(mkdir("out.part.filled", 0777), 0);
    make("out.part.filled/" OUTPUT_FOLDER_MARK, "a mark has nothing in it");
    begin_elsewhere(files_begin, "other", -1);
    assert_int_equal(pipe(ends), 0);
    living = begin_elsewhere(files_begin, "out", ends[0]);
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        begin_elsewhere(files_begin, names[i], -1);
        begin_elsewhere(files_begin, names[i], -1); /* removes the first one's */
        assert_int_equal(output_folder_open(&folder, names[i]), 0);
        assert_true(is_there(folder.mark));
        assert_int_equal(folder_parts("out.part.*"), i % 3 == 0 ? 4 : 3);
        assert_int_equal(folder_parts("sub/out.part.*"), i % 3 == 0 ? 0 : 1);
        output_folder_abandon(&folder);
    }
    assert_true(is_there("out.part.backup/mine"));
    assert_int_equal(folder_parts("out.part.*"), 3);
    assert_int_equal(folder_parts("other.part.*"), 1);
    assert_int_equal(output_folder_open(&folder, "out"), 0);
    assert_int_equal(output_folder_commit(&folder), 0);
    assert_true(is_there("out") && !is_there("out/" OUTPUT_FOLDER_MARK));
    assert_int_equal(write(ends[1], "", 1), 1);
    assert_int_equal(waitpid(living, NULL, 0), living);
    assert_int_equal(rmdir("out"), 0);
    assert_int_equal(output_folder_open(&folder, "out"), 0);
    assert_int_equal(folder_parts("out.part.*"),
                     3); /* the living one's is gone, its own is there */
    output_folder_abandon(&folder);
}

/* Parts of folders that can't be removed keep their mark, so that a later command removes them. As
 * nobody: root removes anything. */
static void test_killed_in_folder_kept(void **state)
{
    struct output_folder folder;
    int status;
    pid_t pid;

    (void)state;
    assert_int_equal(chmod(".", 0777), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        glob_t marks;

        if (geteuid() == 0) {
            assert_int_equal(setuid(65534), 0);
        }
        for (unsigned i = 0; i < 16; i++) {
            char name[32], inner[64];

            snprintf(name, sizeof(name), "out.part.%06u", i);
            snprintf(inner, sizeof(inner), "%s/in", name);
            assert_true(mkdir(name, 0777) == 0 && mkdir(inner, 0777) == 0);
            strcat(inner, "/a");
            make(inner, "a");
            *strrchr(inner, '/') = '\0';
            assert_int_equal(chmod(inner, 0555), 0);
            snprintf(inner, sizeof(inner), "%s/" OUTPUT_FOLDER_MARK, name);
            make(inner, "");
        }
        assert_int_equal(output_folder_open(&folder, "out"), 0);
        output_folder_abandon(&folder);
        assert_int_equal(glob("out.part.*/" OUTPUT_FOLDER_MARK, 0, NULL, &marks), 0);
        assert_int_equal(marks.gl_pathc, 16);
        assert_int_equal(system("chmod 755 out.part.*/in"), 0);
        assert_int_equal(output_folder_open(&folder, "out"), 0);
        output_folder_abandon(&folder);
        _exit(folder_parts("out.part.*") == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* With any number of descriptors a folder is begun and given up without a trace, or refused with
 * the cause. */
static void test_folder_descriptors(void **state)
{
    unsigned refused = 0;

    (void)state;
    for (unsigned spare = 0; spare < 6; spare++) {
        int status;
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0) {
            struct output_folder folder;
            struct rlimit limit;
            int next = dup(0);
            bool opened;

            close(next);
            limit.rlim_cur = limit.rlim_max = (rlim_t)next + spare;
            assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
            errno = 0;
            opened = output_folder_open(&folder, "few") == 0;
            if (opened) {
                output_folder_add(&folder, "in");
                output_folder_abandon(&folder);
            }
            _exit(opened ? 0 : 1);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        refused += WEXITSTATUS(status) != 0;
        assert_int_equal(folder_parts("few*"), 0);
    }
    assert_in_range(refused, 1, 5);
}

static void test_policy(void **state)
{
    (void)state;
    make("text", "text");
    make("capture", "TRACE_FILE_NAME::x");
    make("disk", "KymoBlok....");
    make("empty", "");
    assert_int_equal(put("text", "n", OUTPUT_NEW), -EEXIST);
    assert_int_equal(put("capture", "n", OUTPUT_NEW), -EEXIST);
    assert_int_equal(put("capture", "n", OUTPUT_REPLACE), -EEXIST);
    assert_int_equal(put("disk", "n", OUTPUT_REPLACE), -EEXIST);
    assert_true(holds("text", "text") && holds("capture", "TRACE_FILE_NAME::x"));
    assert_int_equal(put("text", "n", OUTPUT_REPLACE), 0);
    assert_int_equal(put("empty", "n", OUTPUT_NEW), 0);
    assert_int_equal(put("capture", "n", OUTPUT_FORCE), 0);
    assert_true(holds("text", "n") && holds("empty", "n") && holds("capture", "n"));
    assert_int_equal(put(".", "n", OUTPUT_FORCE), -EISDIR);
    assert_int_equal(put("a/", "n", OUTPUT_FORCE), -EISDIR);
    assert_int_equal(put("nowhere/a", "n", OUTPUT_FORCE), -ENOENT);
    assert_int_equal(put("text/a", "n", OUTPUT_FORCE), -ENOTDIR);
}

static void expect_input(const char *path)
{
    struct output output;

    assert_true(output_is_read(path));
    for (int policy = OUTPUT_NEW; policy <= OUTPUT_FORCE; policy++) {
        assert_int_equal(put(path, "n", (enum output_policy)policy), -EEXIST);
        assert_int_equal(output_open_in_place(&output, path, (enum output_policy)policy), -EEXIST);
    }
    assert_true(holds("in", "in"));
}

static void test_inputs(void **state)
{
    int in, saved = dup(STDIN_FILENO);

    (void)state;
    make("in", "in");
    make("other", "other");
    assert_int_equal(mkdir("sub", 0777), 0);
    output_reads("other");
    output_reads("in");
    output_reads("not there");
    assert_int_equal(link("in", "hard"), 0);
    assert_int_equal(symlink("hard", "soft"), 0);
    assert_int_equal(symlink("../soft", "sub/deep"), 0);
    expect_input("in");
    expect_input("hard");
    expect_input("./sub/../in");
    expect_input("soft");
    expect_input("sub/deep");
    in = open("in", O_RDWR);
    dup2(in, STDIN_FILENO);
    expect_input("/dev/stdin");
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(in);
    /* the same bytes, but another file */
    make("copy", "in");
    assert_false(output_is_read("copy"));
    assert_int_equal(put("copy", "n", OUTPUT_FORCE), 0);
}

static void test_standard_streams(void **state)
{
    int saved = dup(STDIN_FILENO), out = dup(STDOUT_FILENO), one, in;
    int result, fd_result;

    (void)state;
    make("in2", "in");
    in = open("in2", O_RDONLY);
    dup2(in, STDIN_FILENO);
    output_reads("-");
    dup2(saved, STDIN_FILENO);
    assert_int_equal(put("in2", "n", OUTPUT_FORCE), -EEXIST);
    /* >> onto what is read */
    one = open("in2", O_WRONLY | O_APPEND);
    fflush(stdout);
    dup2(one, STDOUT_FILENO);
    result = put("-", "n", OUTPUT_FORCE);
    fd_result = put("/dev/fd/1", "n", OUTPUT_FORCE);
    bool is_read = output_stdout_is_read();
    close(one);
    one = open("out", O_WRONLY | O_CREAT | O_APPEND, 0666);
    dup2(one, STDOUT_FILENO);
    int good = put("-", "a", OUTPUT_NEW) | put("/dev/stdout", "b", OUTPUT_NEW) |
               put("/proc/self/fd/1", "c", OUTPUT_NEW);
    dup2(out, STDOUT_FILENO);
    assert_int_equal(result, -EEXIST);
    assert_int_equal(fd_result, -EEXIST);
    assert_true(is_read);
    assert_int_equal(good, 0);
    assert_true(holds("in2", "in"));
    assert_true(holds("out", "abc"));
    close(one);
    close(in);
    close(out);
    close(saved);
}

/* A disk has many names. Where no node can be made, only what every system has is asked. */
static void test_devices(void **state)
{
    (void)state;
    if (mknod("disk", S_IFBLK | 0600, makedev(7, 200)) == 0) {
        assert_int_equal(put("disk", "n", OUTPUT_FORCE), -EINVAL);
        output_reads("disk");
        assert_int_equal(mknod("alias", S_IFBLK | 0600, makedev(7, 200)), 0);
        assert_true(output_is_read("alias"));
        assert_int_equal(put("alias", "n", OUTPUT_FORCE), -EEXIST);
    }
    output_reads("/dev/null");
    output_reads("/dev/full");
    assert_int_equal(put("/dev/null", "n", OUTPUT_NEW), 0);
    assert_int_equal(put("/dev/full", "n", OUTPUT_NEW), -ENOSPC);
}

static void test_links(void **state)
{
    struct stat st;

    (void)state;
    assert_int_equal(mkdir("sub", 0777), 0);
    make("sub/real", "old");
    assert_int_equal(symlink("sub/real", "link"), 0);
    assert_int_equal(symlink("sub/later", "dangling"), 0);
    assert_int_equal(symlink("round", "round"), 0);
    assert_int_equal(put("link", "n", OUTPUT_NEW), -EEXIST);
    assert_int_equal(put("link", "new", OUTPUT_FORCE), 0);
    assert_int_equal(put("dangling", "later", OUTPUT_NEW), 0);
    assert_int_equal(put("round", "n", OUTPUT_NEW), -ELOOP);
    assert_true(holds("sub/real", "new") && holds("sub/later", "later"));
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

/* Someone else is quicker: on file systems of three kinds. */
static void test_taken(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct output output;

        no_noreplace = kind > 0;
        no_links = kind > 1;
        unlink("a");
        unlink("b");
        assert_int_equal(output_open(&output, "a", OUTPUT_NEW), 0);
        make("a", "theirs");
        output_write(&output, "mine", 4);
        assert_false(output_is_same(&output));
        assert_int_equal(output_try_commit(&output), -EEXIST);
        assert_int_equal(output_rename(&output, "b"), 0);
        assert_int_equal(output_try_commit(&output), 0);
        assert_true(holds("a", "theirs") && holds("b", "mine"));
        unlink("b");
        assert_int_equal(output_open(&output, "b", OUTPUT_NEW), 0);
        make("b", "theirs");
        assert_int_equal(output_commit(&output), -EEXIST);
        assert_true(holds("b", "theirs"));
        unlink("b");
        assert_int_equal(put("b", "mine", OUTPUT_NEW), 0);
        assert_true(holds("b", "mine"));
        assert_int_equal(parts(), 0);
    }
}

static void test_same(void **state)
{
    static const char *const others[] = {"mine", "min", "mine.", "mimi", ""};
    struct output output;

    (void)state;
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        unlink("a");
        assert_int_equal(output_open(&output, "a", OUTPUT_NEW), 0);
        output_write(&output, "mine", 4);
        make("a", others[i]);
        assert_int_equal(output_is_same(&output), i == 0);
        output_abandon(&output);
        output_abandon(&output);
        assert_true(holds("a", others[i]));
        assert_int_equal(parts(), 0);
    }
}

static void test_names(void **state)
{
    char name[NAME_MAX + 2];

    (void)state;
    memset(name, 'x', sizeof(name));
    name[NAME_MAX + 1] = '\0';
    assert_int_equal(put(name, "n", OUTPUT_NEW), -ENAMETOOLONG);
    for (size_t length = NAME_MAX; length > NAME_MAX - 16; length--) {
        name[length] = '\0';
        assert_int_equal(put(name, "long", OUTPUT_NEW), 0);
        assert_true(holds(name, "long"));
    }
    assert_int_equal(put("-x", "n", OUTPUT_NEW), 0);
    assert_true(holds("./-x", "n"));
}

static void test_stream_and_in_place(void **state)
{
    struct output output;

    (void)state;
    assert_int_equal(output_open(&output, "a", OUTPUT_NEW), 0);
    fputs("streamed", output_stream(&output));
    assert_int_equal(output_commit(&output), 0);
    assert_true(holds("a", "streamed"));
    assert_int_equal(output_open(&output, "/dev/full", OUTPUT_NEW), 0);
    fputs("streamed", output_stream(&output));
    assert_int_equal(output_commit(&output), -ENOSPC);
    assert_int_equal(output_open_in_place(&output, "b", OUTPUT_REPLACE), 0);
    output_write(&output, "grows", 5);
    assert_true(holds("b", "grows"));
    assert_int_equal(output_commit(&output), 0);
    assert_true(holds("b", "grows"));
}

/* A killed command's part goes when the file is written again: not one that is being written, not
 * a capture, which nobody can make again, not another file's, not a link. */
static void test_killed_part(void **state)
{
    int ends[2];

    (void)state;
    begin_elsewhere(part_begin, "half", -1);
    assert_int_equal(parts(), 1);
    assert_int_equal(put("a", "all", OUTPUT_FORCE), 0);
    assert_int_equal(parts(), 0);
    begin_elsewhere(part_begin, "TRACE_HEADER_BEGIN::TRACE_DATE::", -1);
    make("ab.kymo-aBcDeF.part", "another's");
    make("a.backup.part", "a person's");
    make("other", "other");
    assert_int_equal(symlink("other", "a.kymo-aBcDeF.part"), 0);
    assert_int_equal(pipe(ends), 0);
    pid_t living = begin_elsewhere(part_begin, "half", ends[0]);
    assert_int_equal(parts(), 5);
    assert_int_equal(put("a", "all", OUTPUT_FORCE), 0);
    assert_int_equal(parts(), 5);
    close(ends[1]);
    kill(living, SIGKILL);
    assert_int_equal(waitpid(living, NULL, 0), living);
    close(ends[0]);
    assert_int_equal(put("a", "all", OUTPUT_FORCE), 0);
    assert_int_equal(parts(), 4);
    assert_true(holds("a.backup.part", "a person's"));
    assert_true(holds("a", "all"));
}

static void test_leave_part(void **state)
{
    struct output output;
    int before = parts();

    (void)state;
    make("a", "old");
    assert_int_equal(output_open(&output, "a", OUTPUT_FORCE), 0);
    assert_int_equal(output_write(&output, "half", 4), 0);
    output_leave_part(&output);
    output_remove_parts(); /* it is no open output's any more */
    output_abandon(&output);
    assert_true(holds("a", "old"));
    assert_int_equal(parts(), before + 1);
    assert_int_equal(system("test \"$(cat a.*.part)\" = half"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_order),
        TEST(test_mode),
        TEST(test_each_call_fails),
        TEST(test_no_flush),
        TEST(test_killed),
        TEST(test_signal),
        TEST(test_policy),
        TEST(test_inputs),
        TEST(test_standard_streams),
        TEST(test_devices),
        TEST(test_links),
        TEST(test_taken),
        TEST(test_same),
        TEST(test_names),
        TEST(test_stream_and_in_place),
        TEST(test_leave_part),
        TEST(test_killed_part),
        TEST(test_signal_in_folder),
        TEST(test_killed_in_folder),
        TEST(test_killed_in_folder_kept),
        TEST(test_folder_descriptors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
