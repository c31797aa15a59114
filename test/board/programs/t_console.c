/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ConsoleRead(): what the kernel and ConsoleWrite() have printed, from the boot's first line on,
 * and what is lost of it. With the argument `refused`: run without the ability device.
 */
#include "test/board/programs/check.h"

#define MOST 4096

static char text[MOST];

/* All there is from *position on; how many bytes of it are in text. */
static size_t read_all(uint64_t *position)
{
    size_t have = 0;
    long n;

    while (have + 128 < MOST && (n = ConsoleRead(text + have, 128, position)) > 0) {
        EXPECT(n <= 128);
        have += (size_t)n;
    }
    text[have] = '\0';
    return have;
}

static void t_all_there(void)
{
    uint64_t position = 0;
    size_t n;

    ConsoleWrite("a mark 4711\n", 12);
    n = read_all(&position);
    EXPECT(strncmp(text, "kymo on ", 8) == 0);
    EXPECT(strstr(text, "a mark 4711\n") != NULL);
    EXPECT_EQ(position, n);
    EXPECT_EQ(ConsoleRead(text, 128, &position), 0);
    EXPECT_EQ(position, n);
    ConsoleWrite("more\n", 5);
    EXPECT_EQ(ConsoleRead(text, 2, &position), 2);
    EXPECT_EQ(ConsoleRead(text + 2, 128, &position), 3);
    EXPECT(strncmp(text, "more\n", 5) == 0);
    EXPECT_EQ(position, n + 5);
}

static void t_the_oldest_goes(void)
{
    static const char line[] = "0123456789 0123456789 0123456789 0123456789 0123456789 012345678\n";
    uint64_t from = 0, position = 0;

    read_all(&from);
    for (int i = 0; i < 40; i++) {
        ConsoleWrite(line, 65);
    }
    position = from;
    size_t n = read_all(&position);
    EXPECT_EQ(position, from + 40 * 65);
    EXPECT(n > 500 && n < 40 * 65);
    EXPECT(strcmp(text + n - 65, line) == 0);
    position += 1000000; /* of another boot */
    EXPECT_EQ(read_all(&position), n);
    EXPECT_EQ(position, from + 40 * 65);
}

static void t_errors(void)
{
    uint64_t position = 0;

    EXPECT_ERR(ConsoleRead(text, 128, NULL), EFAULT);
    EXPECT_ERR(ConsoleRead((void *)8, 128, &position), EFAULT);
    EXPECT_EQ(position, 0);
    EXPECT_EQ(ConsoleRead(text, 0, &position), 0);
}

static void t_refused(void)
{
    uint64_t position = 0;

    EXPECT_ERR(ConsoleRead(text, 128, &position), EPERM);
}

static const struct check table[] = {{"what is printed is read", t_all_there},
                                     {"the oldest goes", t_the_oldest_goes},
                                     {"errors", t_errors}};
static const struct check refused[] = {{"not for everybody", t_refused}};

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 1 ? check_run("console", refused, 1) : check_run("console", table, COUNT(table));
}
