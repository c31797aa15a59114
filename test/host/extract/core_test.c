/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo extract --core: an image that becomes shorter while it is read, by any amount, ends the
 * command with a message and status 1. The work is bounded by the image's size, however often its
 * segments or its windows of retained memory claim the same bytes.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/extract/core.h"
#include "host/temporary.h"
#include "lib/retain/sum.h"
#include "test/host/support.h"

#define BYTES (64 * 4096)

/* What the command would do of an image that has `left` bytes once it is open; its status. */
static int status_of(off_t left)
{
    char path[256];
    int fd = temporary_file("core", path, sizeof(path)), status;

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, BYTES), 0);
    pid_t pid = fork();
    if (pid == 0) {
        static struct core_window window;
        struct core_search search = {0};
        struct core core;

        if (core_open(&core, path, NULL) != 0 || ftruncate(fd, left) != 0) {
            _exit(3);
        }
        bool found = core_find(&core, &search, &window);
        _exit(found ? 4 : core_is_shorter(&core));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(fd);
    unlink(path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_shorter(void **state)
{
    (void)state;
    assert_int_equal(status_of(BYTES), 0);
    assert_int_equal(status_of(BYTES + 1), 0);
    for (off_t left = 0; left < BYTES; left += 4096 + 512) {
        assert_int_equal(status_of(left), 1);
    }
    assert_int_equal(status_of(BYTES - 1), 1);
}

static uint8_t made[BYTES];

/* Opens an image of these bytes: core_open()'s result. */
static int open_made(struct core *core)
{
    static char path[256];
    int fd = temporary_file("core", path, sizeof(path));

    assert_true(fd >= 0);
    assert_int_equal(write(fd, made, sizeof(made)), sizeof(made));
    close(fd);
    int result = core_open(core, path, NULL);
    unlink(path);
    return result;
}

/* An ELF core of so many segments, each of which is the whole file. */
static int open_segments(unsigned count, uint64_t *bytes)
{
    Elf64_Ehdr header = {
        .e_phoff = sizeof(header), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = (Elf64_Half)count};
    Elf64_Phdr segment = {.p_type = PT_LOAD, .p_filesz = BYTES};
    struct core core;

    memset(made, 0, sizeof(made));
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(made, &header, sizeof(header));
    for (unsigned i = 0; i < count; i++) {
        memcpy(made + sizeof(header) + i * sizeof(segment), &segment, sizeof(segment));
    }
    int result = open_made(&core);

    *bytes = 0;
    for (size_t i = 0; result == 0 && i < core.count; i++) {
        *bytes += core.part[i].size;
    }
    if (result == 0) {
        core_close(&core);
    }
    return result;
}

static void test_segments(void **state)
{
    uint64_t bytes;

    (void)state;
    assert_int_equal(open_segments(2, &bytes), 0);
    assert_int_equal(bytes, 2 * BYTES);
    assert_int_equal(open_segments(4000, &bytes), -1);
}

/* A sound header every so many bytes, of windows that reach beyond the image. */
static void put_windows(size_t step)
{
    struct kymo_retain_header header = {.magic = KYMO_RETAIN_MAGIC,
                                        .version = KYMO_RETAIN_VERSION,
                                        .bytes = sizeof(header),
                                        .boots = 1,
                                        .word_bits = 64,
                                        .window = 1 << 20};
    size_t from = offsetof(struct kymo_retain_header, boots);

    memset(made, 0, sizeof(made));
    header.crc = retain_crc((const uint8_t *)&header + from, sizeof(header) - from);
    for (size_t at = 0; at + sizeof(header) <= sizeof(made); at += step) {
        memcpy(made + at, &header, sizeof(header));
    }
}

static void test_windows(void **state)
{
    static struct core_window window;

    (void)state;
    for (size_t step = BYTES / 2; step >= 256; step /= 2) {
        struct core_search search = {0};
        struct core core;
        uint64_t bytes = 0;
        unsigned count = 0;

        put_windows(step);
        assert_int_equal(open_made(&core), 0);
        for (; core_find(&core, &search, &window); count++) {
            bytes += window.memory.bytes;
        }
        assert_true(bytes <= (uint64_t)(CORE_TIMES_MOST + 1) * BYTES);
        assert_int_equal(search.crowded, count < BYTES / step);
        assert_true(search.crowded || step >= BYTES / 16);
        core_close(&core);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shorter),
                                       cmocka_unit_test(test_segments),
                                       cmocka_unit_test(test_windows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
