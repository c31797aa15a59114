/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Crash reports beside other work: the parent hears of an end before the report is printed, too
 * many are counted, a driver's is kept, and others print meanwhile. `t_crashes fault` crashes,
 * `t_crashes noise N` prints N lines, each of several steps of ConsoleWrite(), `t_crashes server N`
 * by the console server. test/board/crash.py looks at the console's lines. All but `t_crashes
 * beside` is for one CPU, where nobody prints while this program runs. Documented in
 * docs/reference/security.md.
 */
#include "test/board/programs/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/include/kymo.h"

#define WAITING 4 /* CONFIG_CRASH_REPORTS */
#define LOW 70    /* above what the thread that prints may have */
#define HOG 65    /* keeps the CPU from it */
#define TEXT_MOST 8192

static char text[TEXT_MOST];
static uint64_t position;

static size_t have;

/* Reads what has been printed meanwhile. The kernel keeps the newest 2 KB. */
static void look(void)
{
    long n;

    while (have + 128 < TEXT_MOST && (n = ConsoleRead(text + have, 128, &position)) > 0) {
        have += (size_t)n;
    }
    text[have] = '\0';
}

static void begin(void)
{
    do {
        have = 0;
        look();
    } while (have > 0);
}

/* Gives the thread that prints what is more than enough time. */
static void let_print(void)
{
    for (unsigned i = 0; i < 200; i++) {
        sleep_ms(1);
        look();
    }
}

static bool reported(int pid)
{
    char line[64];

    snprintf(line, sizeof(line), "\nProcess %d (t_crashes) terminated: SIGSEGV", pid);
    return strstr(text, line) != NULL;
}

static volatile bool hogs;

static void *hog(void *unused)
{
    while (hogs) {
    }
    return unused;
}

/* From now on nothing is printed, until hog_end(). */
static int hog_begin(void)
{
    hogs = true;
    return start_thread(hog, NULL, HOG);
}

static void hog_end(int tid)
{
    hogs = false;
    join(tid);
    let_print();
}

/* Ends by a fault; returns its pid when its end is known. */
static int crashes(uint32_t ability, int priority)
{
    int status, pid = spawn("t_crashes", ability, priority, "fault", NULL, NULL);

    EXPECT(pid > 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT_EQ(status, KYMO_SIGSEGV);
    return pid;
}

static void t_parent_first(void)
{
    begin();
    int pid = crashes(0, LOW);
    look();
    EXPECT(!reported(pid));
    let_print();
    EXPECT(reported(pid));
}

static void t_left_out(void)
{
    int pids[WAITING + 3], n = 0;

    begin();
    int tid = hog_begin();
    for (unsigned i = 0; i < COUNT(pids); i++) {
        pids[i] = crashes(0, LOW);
    }
    hog_end(tid);
    for (unsigned i = 0; i < COUNT(pids); i++) {
        EXPECT_EQ(reported(pids[i]), i < WAITING);
        n += reported(pids[i]);
    }
    EXPECT_EQ(n, WAITING);
    EXPECT(strstr(text, "\n3 more crash reports were left out\n") != NULL);
}

/* The newest of the others makes room for a higher priority's, and that for a driver's. */
static void t_rank(void)
{
    int pids[WAITING], high, driver;

    begin();
    int tid = hog_begin();
    for (unsigned i = 0; i < WAITING; i++) {
        pids[i] = crashes(0, LOW);
    }
    high = crashes(0, LOW + 1);
    driver = crashes(ABILITY_INTERRUPT, LOW);
    hog_end(tid);
    EXPECT(reported(driver));
    EXPECT(reported(high));
    EXPECT(reported(pids[0]));
    EXPECT(reported(pids[1]));
    EXPECT(!reported(pids[2]));
    EXPECT(!reported(pids[3]));
    EXPECT(strstr(text, "\n2 more crash reports were left out\n") != NULL);
}

#define WRITERS 6 /* more than one step of the thread that prints wakes */
static const char waited[] = "waited for the console\n";

static void *writer(void *unused)
{
    EXPECT_EQ(ConsoleWrite(waited, sizeof(waited) - 1), sizeof(waited) - 1);
    return unused;
}

static unsigned count_waited(void)
{
    unsigned n = 0;

    for (const char *at = text; (at = strstr(at, waited)); at++) {
        n++;
    }
    return n;
}

/* They begin while a report has the console, and all come back. */
static void t_writers(void)
{
    const uint64_t ns = 10000;
    int tids[WRITERS];

    begin();
    int pid = crashes(0, LOW);
    while (have == 0) {
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
        look();
    }
    EXPECT(!reported(pid) || !strstr(text, "_start+"));
    for (unsigned i = 0; i < WRITERS; i++) {
        tids[i] = start_thread(writer, NULL, own_priority() - 1);
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        join(tids[i]);
    }
    let_print();
    const char *end = strstr(text, "_start+");
    EXPECT(reported(pid) && end && end < strstr(text, waited));
    EXPECT_EQ(count_waited(), WRITERS);
}

/* Of processes that print all the time, through the kernel and through the console server. */
static void t_noise(void)
{
    int status, noise[2], pid = 0;

    noise[0] = spawn("t_crashes", 0, 30, "noise", "300", NULL);
    noise[1] = spawn("t_crashes", 0, 20, "server", "300", NULL);
    for (unsigned i = 0; i < 5; i++) {
        pid = spawn("t_crashes", 0, 12, "fault", NULL, NULL);
        EXPECT(pid > 0);
        EXPECT_EQ(ProcWait(pid, &status, 0), pid);
        sleep_ms(10);
    }
    for (unsigned i = 0; i < COUNT(noise); i++) {
        EXPECT_EQ(ProcWait(noise[i], &status, 0), noise[i]);
        EXPECT_EQ(status, 0);
    }
    let_print();
}

static void noise(const char *way, int lines)
{
    char line[160];

    for (int i = 0; i < lines; i++) {
        const uint64_t ns = 100000;
        int n = snprintf(line, sizeof(line), "a line of %s, number %d.%0100d.\n", way, i, i);

        if (strcmp(way, "noise") == 0) {
            ConsoleWrite(line, (size_t)n);
        } else {
            fputs(line, stdout);
            fflush(stdout);
        }
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
    }
}

static const struct check beside[] = {{"others print meanwhile", t_noise}};
static const struct check table[] = {
    {"the parent hears of it before the report is printed", t_parent_first},
    {"reports that find no room are counted", t_left_out},
    {"a driver's report is kept", t_rank},
    {"many wait for the console", t_writers},
    {"others print meanwhile", t_noise},
};

int main(int argc, char **argv)
{
    if (argc > 2) {
        noise(argv[1], atoi(argv[2]));
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "beside") == 0) {
        return check_run("crashes", beside, COUNT(beside));
    }
    if (argc > 1) {
        *(volatile int *)0 = 1;
    }
    return check_run("crashes", table, COUNT(table));
}
