/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo capture's files: the target is told that a capture is safe after fsync() of the file, its
 * rename and fsync() of the folder, and only if each of them worked; captures of one name all stay;
 * a target does not choose a path. The linker leads those calls and channel_send() here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/collect/collect.h"
#include "host/link/store.h"
#include "host/temporary.h"
#include "lib/link/service.h"
#include "test/host/support.h"

static char calls[64]; /* f, F: file and folder flushed; r: renamed; S: told that it is safe; E:
                          told of an error */
static int fails_at, failure;

static int call(char letter)
{
    size_t n = strlen(calls);

    calls[n] = n + 1 < sizeof(calls) ? letter : '\0';
    errno = failure;
    return (int)n == fails_at ? -1 : 0;
}

int __real_fsync(int fd);
int __real_renameat2(int a, const char *from, int b, const char *to, unsigned flags);
int __wrap_fsync(int fd);
int __wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags);
int __wrap_channel_send(struct channel *channel, const void *bytes, size_t count);

int __wrap_fsync(int fd)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    return call(S_ISDIR(st.st_mode) ? 'F' : 'f') ? -1 : __real_fsync(fd);
}

int __wrap_renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    return call('r') ? -1 : __real_renameat2(a, from, b, to, flags);
}

int __wrap_channel_send(struct channel *channel, const void *bytes, size_t count)
{
    struct link_capture word;

    (void)channel;
    assert_int_equal(count, sizeof(word));
    memcpy(&word, bytes, sizeof(word));
    assert_int_equal(word.kind, LINK_CAPTURE_STORED);
    assert_true(word.result <= 0);
    call(word.result == 0 ? 'S' : 'E');
    return 0;
}

static char place[256];

static int setup(void **state)
{
    (void)state;
    memset(calls, 0, sizeof(calls));
    fails_at = -1;
    return temporary_directory("store", place, sizeof(place)) == 0 && chdir(place) == 0 &&
                   mkdir("in", 0777) == 0
               ? chdir("in")
               : -1;
}

static int teardown(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    return chdir("/") == 0 ? system(command) : -1;
}

static int say(struct store *store, uint32_t kind, uint64_t bytes, const void *data, size_t count)
{
    uint8_t message[sizeof(struct link_capture) + 8192];
    struct link_capture head = {.kind = kind, .bytes = bytes};

    memcpy(message, &head, sizeof(head));
    memcpy(message + sizeof(head), data, count);
    return store_message(store, message, sizeof(head) + count);
}

static int send_one(struct store *store, const char *name, const char *text)
{
    int result = say(store, LINK_CAPTURE_BEGIN, 0, name, strlen(name));

    result = result == 0 ? say(store, LINK_CAPTURE_DATA, 0, text, strlen(text)) : result;
    return result == 0 ? say(store, LINK_CAPTURE_END, strlen(text), "", 0) : result;
}

/* How many files are in a folder, whatever their names; *same: with these bytes. */
static int files(const char *text, int *same)
{
    FILE *list = popen("find . -type f", "r");
    char path[512];
    int n = 0;

    *same = 0;
    while (fgets(path, sizeof(path), list)) {
        char room[256] = "";

        path[strcspn(path, "\n")] = '\0';
        FILE *file = fopen(path, "rb");
        size_t got = file ? fread(room, 1, sizeof(room) - 1, file) : 0;

        if (file) {
            fclose(file);
        }
        *same += got == strlen(text) && strcmp(room, text) == 0;
        n++;
    }
    pclose(list);
    return n;
}

static void test_order(void **state)
{
    struct store store = {.channel = NULL};
    int same;

    (void)state;
    assert_int_equal(send_one(&store, "trace.kev", "one"), 0);
    assert_string_equal(calls, "frFS");
    assert_string_equal(store.name, "trace.kev");
    assert_int_equal(files("one", &same), 1);
    assert_int_equal(same, 1);
}

/* Any of them fails: the target is never told that it is safe. */
static void test_failures(void **state)
{
    static const int errors[] = {EIO, ENOSPC, EDQUOT};

    (void)state;
    for (int n = 0; n < 3; n++) {
        for (unsigned e = 0; e < 3; e++) {
            struct store store = {.channel = NULL};

            memset(calls, 0, sizeof(calls));
            fails_at = n;
            failure = errors[e];
            assert_true(send_one(&store, "trace.kev", "one") < 0);
            assert_null(strchr(calls, 'S'));
            assert_non_null(strchr(calls, 'E'));
            assert_int_equal(store.stored, 0);
            assert_false(store_incomplete(&store));
            unlink("trace.kev");
        }
    }
}

static void test_one_name(void **state)
{
    struct store store = {.channel = NULL};
    char text[32];
    int same;

    (void)state;
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof(text), "capture %d", i);
        memset(calls, 0, sizeof(calls));
        assert_int_equal(send_one(&store, "trace.kev", text), 0);
        assert_non_null(strchr(calls, 'S'));
    }
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof(text), "capture %d", i);
        assert_int_equal(files(text, &same), 100);
        assert_int_equal(same, 1);
    }
}

static void test_names(void **state)
{
    static const char *const names[] = {
        "../up.kev",     "/abs.kev", "..",           ".",       "",     "a/",   "-rf",
        "a\x1b[2Jb.kev", "Trace",    "TRACE",        ".bashrc", "link", "fifo", "folder",
        "dangling",      "a\nb",     "../../../../x"};
    char long_name[4000];
    struct store store = {.channel = NULL};
    int n = sizeof(names) / sizeof(names[0]), same;

    (void)state;
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(symlink("../outside", "dangling"), 0);
    assert_int_equal(symlink("/dev/null", "link"), 0);
    assert_int_equal(mkfifo("fifo", 0666), 0);
    for (int i = 0; i < n; i++) {
        assert_int_equal(send_one(&store, names[i], "text"), 0);
    }
    assert_int_equal(send_one(&store, long_name, "text"), 0);
    assert_int_equal(send_one(&store, long_name, "text"), 0);
    assert_int_equal(files("text", &same), n + 2);
    assert_int_equal(same, n + 2);
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(files("text", &same), n + 2); /* nothing beside the folder */
}

/* Names that mean something in a collection's folder are no captures' names: all of these are there
 * as captures of which the next collection has nothing to count, and its index is its own. */
static void test_names_with_a_meaning(void **state)
{
    static const char *const names[] = {"x.kymo-ABCDEF.part",
                                        "x.kev.kymo-ABCDEF.part",
                                        "x.ABCDEF.part",
                                        "x.part",
                                        "X.PART",
                                        "collect.jsonl",
                                        "_kymo",
                                        "x.part.ABCDEF",
                                        "x.txt",
                                        "CON"};
    struct device device = {.name = "in", .target = "unix:/x"};
    struct collect collect = {.path = "all", .devices = &device, .ndevices = 1};
    struct store store = {.channel = NULL};
    int n = sizeof(names) / sizeof(names[0]), same;

    (void)state;
    for (int i = 0; i < n; i++) {
        memset(calls, 0, sizeof(calls));
        assert_int_equal(send_one(&store, names[i], "text"), 0);
        assert_non_null(strchr(calls, 'S'));
        assert_string_equal(strrchr(store.name, '.'), ".kev");
    }
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(mkdir("all", 0777), 0);
    assert_true(index_open(&collect)); /* makes the index, which says that the folder is its own */
    close(collect.journal.fd);
    close(collect.folder);
    assert_int_equal(rmdir("all/in"), 0);
    assert_int_equal(rename("in", "all/in"), 0);
    collect.most = UINT64_MAX;
    assert_true(index_open(&collect));
    assert_int_equal(device.incomplete, 0);
    assert_int_equal(files("text", &same), n + 1);
    assert_int_equal(same, n);
    /* Each of them is one of those that go when there is no room. */
    collect.most = 0;
    disk_bound(&collect);
    assert_int_equal(device.deleted, n);
    close(collect.journal.fd);
    close(collect.folder);
}

static void test_incomplete(void **state)
{
    struct store store = {.channel = NULL};
    int same;

    (void)state;
    assert_int_equal(send_one(&store, "trace.kev", "whole"), 0);
    assert_int_equal(say(&store, LINK_CAPTURE_BEGIN, 0, "trace.kev", 9), 0);
    assert_int_equal(say(&store, LINK_CAPTURE_DATA, 0, "part", 4), 0);
    assert_true(store_incomplete(&store));
    assert_int_equal(files("part", &same), 2);
    assert_int_equal(same, 1);
    assert_int_equal(files("whole", &same), 2);
    assert_int_equal(same, 1);
    assert_int_equal(say(&store, LINK_CAPTURE_BEGIN, 0, "trace.kev", 9), 0);
    assert_true(store_incomplete(&store));
    assert_int_equal(files("", &same), 2);
    assert_false(store_incomplete(&store));
}

static void test_the_users_file(void **state)
{
    struct store store = {.channel = NULL, .output = "../mine.kev"};
    int same;

    (void)state;
    assert_int_equal(store_check(&store), 0);
    assert_int_equal(send_one(&store, "trace.kev", "one"), 0);
    assert_int_equal(store_check(&store), -EEXIST);
    assert_int_equal(send_one(&store, "trace.kev", "two"), -EEXIST);
    store.force = true;
    assert_int_equal(store_check(&store), 0);
    assert_int_equal(send_one(&store, "trace.kev", "three"), 0);
    assert_int_equal(say(&store, LINK_CAPTURE_BEGIN, 0, "trace.kev", 9), 0);
    assert_int_equal(say(&store, LINK_CAPTURE_DATA, 0, "part", 4), 0);
    assert_true(store_incomplete(&store)); /* which does not replace a whole one */
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(files("three", &same), 2);
    assert_int_equal(same, 1);
    assert_int_equal(files("part", &same), 2);
    assert_int_equal(same, 1);
}

static void test_wrong_order(void **state)
{
    struct store store = {.channel = NULL};

    (void)state;
    assert_int_equal(say(&store, LINK_CAPTURE_DATA, 0, "x", 1), -EPROTO);
    assert_int_equal(say(&store, LINK_CAPTURE_END, 0, "", 0), -EPROTO);
    assert_int_equal(say(&store, LINK_CAPTURE_BEGIN, 0, "a", 1), 0);
    assert_int_equal(say(&store, LINK_CAPTURE_BEGIN, 0, "a", 1), -EPROTO);
    assert_int_equal(say(&store, LINK_CAPTURE_END, 1, "", 0), -EPROTO);
    assert_int_equal(store_message(&store, (const uint8_t *)"x", 1), -EPROTO);
    assert_int_equal(say(&store, 77, 1, "", 0), -EPROTO);
    assert_true(store_incomplete(&store));
    assert_string_equal(calls, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_order),
        TEST(test_failures),
        TEST(test_one_name),
        TEST(test_names),
        TEST(test_names_with_a_meaning),
        TEST(test_incomplete),
        TEST(test_the_users_file),
        TEST(test_wrong_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
