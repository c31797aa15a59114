/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target whose answers are spoilt on their way: bits flipped, words replaced, cut off, longer
 * than said, swapped for others. Whatever comes, `kymo dtrace` ends, with a message and without
 * touching memory that is not its own (the sanitizers watch). And a target that goes away at each
 * of its answers in turn: status 1 and "lost the target". SEED=n repeats a run, STEPS=n says how
 * many.
 */
#include "host/kymo.h"
#include "host/remote/target.h"
#include "host/remote/wire.h"
#include "host/temporary.h"
#include "abi/sys/dtrace.h"
#include "test/tool/random.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <sanitizer/common_interface_defs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ANSWERS_MOST = 60, NEVER = 1000000 };

/* The wire of `loop`, with somebody on it. */
struct tapped {
    struct wire base;
    struct wire *inner;
};

static unsigned answers; /* of this run */
static bool missed;      /* an answer, for it had gone away */
static unsigned last;    /* answers that it gives before it goes away */
static unsigned one_in;  /* how often one is spoilt */
static uint32_t focus;   /* only those to this command, and only what they carry; 0: any */
static uint32_t silent;  /* a command that is never answered; 0: none */
static unsigned presses; /* of ^C, while it waits for that */
static uint32_t asked;
static const char *seconds; /* --timeout; NULL: as it is */
static uint32_t stranger;   /* a probe that every record is said to be of; 0: the truth */

static uint32_t command_of(const void *message)
{
    struct kymo_d_call call;

    memcpy(&call, message, sizeof(call));
    return call.command;
}

static int tapped_send(struct wire *wire, const void *message, size_t bytes)
{
    struct wire *inner = ((struct tapped *)wire)->inner;

    if (answers >= last) {
        /* That its consumer is gone, a program doesn't hear at its end. */
        missed |= command_of(message) != KYMO_D_DESTROY;
        return -EPIPE;
    }
    asked = command_of(message);
    if (silent && asked == silent) {
        return 0;
    }
    return inner->ops->send(inner, message, bytes);
}

static uint32_t any_word(void)
{
    static const uint32_t words[] = {0,          1,      2,          0x7f,       0xff,
                                     0x7fff,     0xffff, 0x7fffffff, 0x80000000, 0xfffffff8,
                                     0xffffffff, 24,     40,         4096,       1u << 20};
    unsigned i = random_below(sizeof(words) / sizeof(*words) + 1);

    return i < sizeof(words) / sizeof(*words) ? words[i] : random_below(UINT32_MAX);
}

static void spoil_word(uint8_t *message, size_t bytes)
{
    uint32_t word = any_word();
    size_t at = random_below((uint32_t)(bytes / 4)) * 4;

    memcpy(message + at, &word, sizeof(word));
}

/* What an answer carries, a few places of it. */
static long spoil_body(uint8_t *message, long bytes)
{
    size_t head = sizeof(struct kymo_d_call), body = (size_t)bytes - head;

    for (unsigned n = 1 + random_below(4); body >= 4 && n > 0; n--) {
        if (random_below(2)) {
            spoil_word(message + head, body);
        } else {
            message[head + random_below((uint32_t)body)] ^= 1u << random_below(8);
        }
    }
    return bytes;
}

static long spoil(uint8_t *message, long bytes, size_t room)
{
    struct kymo_d_call call;

    memcpy(&call, message, sizeof(call));
    switch (random_below(8)) {
    case 0:
        return random_below((uint32_t)bytes + 1);
    case 1: /* cut off, and says so: what is there is well-formed as far as it goes */
        call.out_bytes = random_below(call.out_bytes + 1);
        memcpy(message, &call, sizeof(call));
        return (long)(sizeof(call) + call.out_bytes);
    case 2:
        memset(message + bytes, 0x5a, room - (size_t)bytes);
        return (long)room;
    case 3:
        spoil_word(message, sizeof(call));
        return bytes;
    default:
        return spoil_body(message, bytes);
    }
}

/* An answer to EPID with a probe that there isn't: nobody can say its name. */
static void name_stranger(uint8_t *message, long bytes)
{
    size_t at = sizeof(struct kymo_d_call) + offsetof(struct dtrace_epid_desc, probe);

    if (stranger && command_of(message) == KYMO_D_EPID && (size_t)bytes >= at + sizeof(stranger)) {
        memcpy(message + at, &stranger, sizeof(stranger));
    }
}

static long tapped_receive(struct wire *wire, void *message, size_t room, int timeout_ms)
{
    struct wire *inner = ((struct tapped *)wire)->inner;

    if (silent && asked == silent) {
        usleep(1000);
        if (presses && presses--) {
            raise(SIGINT);
        }
        return -EAGAIN;
    }
    long bytes = inner->ops->receive(inner, message, room, timeout_ms);

    answers++;
    if (bytes > 0) {
        name_stranger(message, bytes);
    }
    if (bytes <= 0 || (focus && command_of(message) != focus) || random_below(one_in)) {
        return bytes;
    }
    return focus ? spoil_body(message, bytes) : spoil(message, bytes, room);
}

static const char *tapped_reason(struct wire *wire)
{
    (void)wire;
    return "the plug was pulled";
}

static void tapped_close(struct wire *wire)
{
    struct tapped *t = (struct tapped *)wire;

    t->inner->ops->close(t->inner);
    free(t);
}

static const struct wire_ops tapped_ops = {tapped_send, tapped_receive, tapped_reason, tapped_close,
                                           NULL};

struct target *target_open(const char *spec, const char **why)
{
    struct tapped *t = calloc(1, sizeof(*t));

    (void)spec;
    assert_non_null(t);
    t->base.ops = &tapped_ops;
    t->inner = wire_loop(why);
    assert_non_null(t->inner);
    return remote_target_open(&t->base, true, why);
}

/* ---- programs that have all kinds of records --------------------------------------- */

static const char *const programs[][6] = {
    {"-n",
     "BEGIN { trace(1); trace(\"text\"); printf(\"%d %s %x\\n\", pid, execname, 5); exit(0); }"},
    {"-qn", "BEGIN { @a[execname, pid] = count(); @b[probefunc] = quantize(pid); @c = avg(3);"
            "@d = stddev(4); @e = lquantize(5, 0, 100, 10); @f = llquantize(6, 10, 0, 6, 20);"
            "printa(\"%s %d %@d\\n\", @a); printa(@b); clear(@c); trunc(@d, 1); exit(0); }"},
    {"-n", "BEGIN { stack(3); ustack(4); sym(1); mod(2); usym(3); umod(4); uaddr(5); exit(1); }"},
    {"-qn", "struct s { int a; char b[8]; struct { short c, d; } e; };"
            "BEGIN { print(*(struct s *)curthread); exit(0); }"},
    {"-n", "BEGIN { tracemem(curthread, 40); tracemem(curthread, 64, 3); exit(0); }"},
    {"--json", "-n",
     "BEGIN { printf(\"%s %d\", \"x\", 2); trace(\"y\"); @[stack(2), ustack(2)] = count();"
     "@q[1] = quantize(4); stack(2); usym(1); exit(0); }"},
    {"-Fn", "BEGIN { trace(1); } BEGIN { s = speculation(); } BEGIN { speculate(s); trace(2); }"
            "BEGIN { commit(s); } BEGIN { x = *(int *)8; } BEGIN { exit(0); } END { trace(3); }"},
    {"-x", "bufpolicy=ring", "-n",
     "BEGIN { trace(execname); } END { trace(probename); } BEGIN { exit(0); }"},
    {"-x", "bufpolicy=fill", "-n", "BEGIN, END { trace(timestamp); exit(2); }"},
    {"-lvn", "profile:::,dtrace:::,tick-3ms"},
    {"-l"},
    {"-n", "tick-7ms,profile-997 { @[cpu] = count(); } tick-10ms { exit(0); }"},
    {"-qx", "aggpack", "-n",
     "BEGIN { @[1] = quantize(2); @z[\"a\"] = quantize(3); setopt(\"agghist\"); exit(0); }"},
    {"-i", "1", "-i", "2{ trace(id); }", "-n", "BEGIN{ exit(0); }"},
};

static int devnull, saved_out, saved_err;

/* Standard output and error go nowhere, or error to a file. */
static int run(unsigned program, const char *error_file)
{
    char *argv[12] = {"dtrace", "-o", "/dev/null"}; /* what follows is written to */
    int argc = 3, error = error_file ? open(error_file, O_RDWR | O_CREAT | O_TRUNC, 0600) : devnull;

    if (seconds) {
        argv[argc++] = strdup("--timeout");
        argv[argc++] = strdup(seconds);
    }
    for (unsigned i = 0; i < 6 && programs[program][i]; i++) {
        argv[argc++] = strdup(programs[program][i]);
    }
    fflush(NULL);
    dup2(error, 2);
    dup2(devnull, 1);
    answers = 0;
    missed = false;
    int status = kymo_dtrace_command.run(argc, argv);
    fflush(NULL);
    dup2(saved_out, 1);
    dup2(saved_err, 2);
    if (error_file) {
        close(error);
    }
    while (argc > 3) {
        free(argv[--argc]);
    }
    return status;
}

static int start(void **state)
{
    (void)state;
    devnull = open("/dev/null", O_RDWR);
    saved_out = dup(1);
    saved_err = dup(2);
    __sanitizer_set_report_fd((void *)(intptr_t)saved_err); /* not to where run() sends stderr */
    return devnull < 0;
}

enum { PROGRAMS = sizeof(programs) / sizeof(*programs) };

static void test_honest(void **state)
{
    static const int wanted[] = {0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0};

    (void)state;
    last = one_in = NEVER;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        int status = run(i, NULL);
        assert_int_equal(status, wanted[i]);
    }
}

static void test_spoilt(void **state)
{
    const char *steps = getenv("STEPS");
    unsigned n = steps ? (unsigned)(strtoul(steps, NULL, 0) / 100) : 400;

    (void)state;
    random_start();
    last = ANSWERS_MOST;
    for (unsigned i = 0; i < n; i++) {
        focus = random_below(KYMO_D_PROCESS + 1);
        one_in = 1 + random_below(focus ? 3 : 30);
        int status = run(random_below(PROGRAMS), NULL);
        assert_in_range(status, 0, 255);
    }
}

static void test_unknown_probes(void **state)
{
    static const uint32_t strangers[] = {0x7fffffff, 0xffffffff, 1000000, 4097};

    (void)state;
    last = one_in = NEVER;
    for (unsigned i = 0; i < PROGRAMS * 4; i++) {
        stranger = strangers[i % 4];
        int status = run(i / 4, NULL);
        assert_in_range(status, 0, 255);
    }
    stranger = 0;
}

static bool says(const char *file, const char *text)
{
    char all[4096] = "";
    int fd = open(file, O_RDONLY);
    ssize_t n = read(fd, all, sizeof(all) - 1);

    close(fd);
    return n > 0 && strstr(all, text);
}

/* Pulled after each number of answers, until the program gets to its end. */
static void test_lost(void **state)
{
    focus = 0;
    char file[PATH_MAX];

    (void)state;
    one_in = NEVER;
    close(temporary_file("hostile", file, sizeof(file)));
    for (unsigned i = 0; i < PROGRAMS; i++) {
        last = NEVER;
        run(i, NULL);
        unsigned all = answers;
        for (last = 0; last < all; last += 1 + all / 20) {
            int status = run(i, file);
            if (missed) {
                assert_int_equal(status, 1);
                assert_true(says(file, "dtrace: lost the target: the plug was pulled") ||
                            says(file, "dtrace: failed to open target boot: the plug was pulled"));
            }
        }
    }
    unlink(file);
}

/* A link that is alive and a target that never answers: said, within the time that the user gives,
 * and ended by ^C. */
static void test_silent(void **state)
{
    static const uint32_t commands[] = {KYMO_D_INFO, KYMO_D_CREATE, KYMO_D_BUFFER, KYMO_D_EPID};
    char file[PATH_MAX];

    (void)state;
    focus = 0;
    last = one_in = NEVER;
    close(temporary_file("hostile", file, sizeof(file)));
    seconds = "1";
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        silent = commands[i];
        assert_int_equal(run(0, file), 1);
        assert_true(says(file, "the target did not answer for 1 s (--timeout)"));
    }
    seconds = "86400"; /* a test that waits for that hangs, and fails */
    silent = KYMO_D_STATUS;
    for (unsigned n = 1; n <= 2; n++) {
        presses = n;
        assert_int_equal(run(0, file), 1);
        assert_true(says(file, "lost the target: interrupted while the target did not answer"));
    }
    silent = 0;
    for (unsigned i = 0; i < 4; i++) {
        static const char *const wrong[] = {"0", "x", "-1", "86401"};
        seconds = wrong[i];
        assert_int_equal(run(0, file), 2);
        assert_true(says(file, "--timeout takes 1 to 86400 seconds"));
    }
    seconds = NULL;
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest), cmocka_unit_test(test_unknown_probes),
        cmocka_unit_test(test_spoilt), cmocka_unit_test(test_lost),
        cmocka_unit_test(test_silent),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
