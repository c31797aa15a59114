/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace -r` on captures of an enemy. Whatever program and options a capture holds, without
 * -w nothing is executed, nothing is written but standard output and error, and no file is opened
 * that the user has not named: guard.h watches every system call. Rows, and a generator: SEED=n
 * repeats its captures, ROUNDS=n makes more of them.
 */
#include "host/kymo.h"
#include "host/temporary.h"
#include "test/host/dtrace/replay/guard.h"
#include "test/host/dtrace/replay/logged.h"
#include "test/tool/random.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[600], capture[700], script[700], script2[700], header[700], library[700];
static char out[65536], err[65536];
static int out_file, err_file;

/* ---- files ------------------------------------------------------------------------- */

static void put_file(char *path, const char *name, const char *text, unsigned mode)
{
    snprintf(path, sizeof(capture), "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
}

static int make_files(void **state)
{
    (void)state;
    assert_int_equal(temporary_directory("replay", folder, sizeof(folder)), 0);
    put_file(header, "header.h", "#define FROM_HEADER 1\n", 0600);
    put_file(library, "cpp", "#!/bin/sh\nexit 1\n", 0700);
    put_file(library, "library.d", "inline int from_library = 1;\n", 0600);
    snprintf(capture, sizeof(capture), "%s/capture.kev", folder);
    out_file = temporary_open();
    err_file = temporary_open();
    return 0;
}

static int remove_files(void **state)
{
    const char *const names[] = {header, library, capture, script, script2};
    char cpp[700];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        unlink(names[i]);
    }
    snprintf(cpp, sizeof(cpp), "%s/cpp", folder);
    unlink(cpp);
    return rmdir(folder);
}

/* ---- reading a capture under guard ------------------------------------------------- */

struct reading {
    const char *argv[8];
    int argc;
};

static int read_capture(void *arg)
{
    const struct reading *r = arg;

    dup2(out_file, 1);
    dup2(err_file, 2);
    kymo_messages_start();
    return logged_dtrace(r->argc, r->argv, NULL, NULL);
}

static void read_back(int file, char *to, size_t room)
{
    ssize_t n = pread(file, to, room - 1, 0);

    to[n > 0 ? n : 0] = '\0';
}

static struct guard_result replay(const char *more, const char *still_more)
{
    const char *const readable[] = {capture, NULL};
    struct reading r = {.argv = {"-r", capture, more, still_more}, .argc = 2};

    r.argc += more != NULL;
    r.argc += still_more != NULL;
    assert_int_equal(ftruncate(out_file, 0) | ftruncate(err_file, 0), 0);
    lseek(out_file, 0, SEEK_SET);
    lseek(err_file, 0, SEEK_SET);
    struct guard_result result = guard_run(read_capture, &r, readable);
    read_back(out_file, out, sizeof(out));
    read_back(err_file, err, sizeof(err));
    return result;
}

static void must_be_harmless(const struct guard_result *r)
{
    if (r->broken || r->signal) {
        fail_msg("%s, signal %d; it said:\n%s", r->broken ? r->what : "ended", r->signal, err);
    }
}

/* Nothing is done, status 1, and standard error has the text. */
static void must_refuse(const char *text)
{
    struct guard_result r = replay(NULL, NULL);

    must_be_harmless(&r);
    if (r.status != 1 || !strstr(err, text)) {
        fail_msg("status %d; it should say \"%s\":\n%s", r.status, text, err);
    }
}

static void must_print(const char *text)
{
    struct guard_result r = replay(NULL, NULL);

    must_be_harmless(&r);
    if (r.status != 0 || !strstr(out, text)) {
        fail_msg("status %d; it should print \"%s\":\n%s%s", r.status, text, out, err);
    }
}

/* ---- rows: actions ----------------------------------------------------------------- */

static void record_script(const char *text)
{
    put_file(script, "script.txt", text, 0600);
    assert_int_equal(logged_record("-q", "-s", script, NULL), 0);
    logged_save(capture);
}

static void test_honest(void **state)
{
    (void)state;
    logged_change = NULL;
    record_script("BEGIN { printf(\"hello %d\\n\", 42); @a[\"k\"] = count(); exit(0); }\n");
    must_print("hello 42\n");
    assert_non_null(strstr(out, "k"));
}

/* A guard that sees nothing proves nothing: with -w the user wants it done, and it is tried. */
static void test_guard_sees(void **state)
{
    (void)state;
    logged_change = NULL;
    record_script("#pragma D option destructive\nBEGIN { system(\"true\"); exit(0); }\n");
    struct guard_result r = replay("-w", NULL);
    assert_true(r.broken);
    record_script("#pragma D option destructive\nBEGIN { freopen(\"written\"); exit(0); }\n");
    r = replay("-w", NULL);
    assert_true(r.broken && strstr(r.what, "written"));
}

static void test_actions(void **state)
{
    static const char *const scripts[] = {
        "#pragma D option destructive\nBEGIN { system(\"touch written\"); exit(0); }\n",
        "#pragma D option destructive\nBEGIN { system(\"%s\", \"true\"); exit(0); }\n",
        "#pragma D option destructive\nBEGIN { exit(0); } END { system(\"true\"); }\n",
        "#pragma D option destructive\nBEGIN { freopen(\"written\"); exit(0); }\n",
        "#pragma D option destructive\nBEGIN { freopen(\"\"); exit(0); }\n",
        "#pragma D option destructive=1\nBEGIN { exit(0); }\n",
        "BEGIN { ftruncate(); exit(0); }\n",
        "#pragma D option quiet\n# 1 \"x\"\n#pragma D option destructive=on\n"
        "BEGIN { system(\"true\"); exit(0); }\n",
    };

    (void)state;
    logged_change = NULL;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
        record_script(scripts[i]);
        must_refuse("-w");
        struct guard_result r = replay("--json", NULL);
        must_be_harmless(&r);
        assert_int_equal(r.status, 1);
    }
}

/* The target accepted a program with -w; what is saved doesn't say so. */
static void forget_destructive(struct logged_strings *s)
{
    logged_remove(s, "flag", "destructive");
}

static void test_option_forgotten(void **state)
{
    (void)state;
    put_file(script, "script.txt", "BEGIN { system(\"true\"); freopen(\"x\"); exit(0); }\n", 0600);
    logged_change = forget_destructive;
    assert_int_equal(logged_record("-q", "-w", "-s", script, NULL), 0);
    logged_save(capture);
    must_refuse("-w");
    logged_change = NULL;
    assert_int_equal(logged_record("-q", "-w", "-s", script, NULL), 0);
    logged_save(capture);
    must_refuse("-w");
}

/* ---- rows: options ----------------------------------------------------------------- */

static const char *const option_names[] = {
#define OPTION(name, kind, when, initial, who) #name,
#include "host/dt/options.def"
};
enum { OPTIONS = sizeof(option_names) / sizeof(*option_names) };

/* Those that name files and programs, or change what a program that is started finds. */
static const char *const reaching[] = {"core",      "cpp",    "cpphdrs", "cpppath", "ctypes",
                                       "define",    "dtypes", "incdir",  "ldpath",  "libdir",
                                       "modpath",   "setenv", "stdc",    "undef",   "unsetenv",
                                       "syslibdir", NULL};
static const char *attacked; /* the option */

static const char *hostile_value(const char *option)
{
    static char value[800];

    if (strcmp(option, "stdc") == 0) {
        return "a";
    }
    if (strcmp(option, "setenv") == 0) {
        snprintf(value, sizeof(value), "PATH=%s", folder);
        return value;
    }
    snprintf(value, sizeof(value), "%s%s", folder, strcmp(option, "cpppath") == 0 ? "/cpp" : "");
    return value;
}

static void add_attacked(struct logged_strings *s)
{
    if (strncmp(attacked, "cpp", 3) == 0 && strcmp(attacked, "cpppath") != 0) {
        logged_add(s, "flag", attacked);
    } else {
        logged_add(s, "set", attacked);
        logged_add(s, "value", hostile_value(attacked));
    }
}

static void test_options(void **state)
{
    (void)state;
    for (const char *const *option = reaching; *option; option++) {
        attacked = *option;
        logged_change = add_attacked;
        record_script("BEGIN { printf(\"ok\\n\"); exit(0); }\n");
        must_refuse(*option);
        assert_null(strstr(out, "ok"));
    }
    logged_change = NULL;
}

/* The preprocessor reads what the text names. */
static void add_cpp(struct logged_strings *s)
{
    logged_add(s, "flag", "cpp");
}

static void test_include(void **state)
{
    char text[1000];

    (void)state;
    snprintf(text, sizeof(text),
             "#include \"%s\"\nBEGIN { printf(\"%%d\", FROM_HEADER); exit(0); }\n", header);
    put_file(script, "script.txt", text, 0600);
    logged_change = add_cpp;
    assert_int_equal(logged_record("-q", "-C", "-s", script, NULL), 0);
    logged_save(capture);
    must_refuse("cpp");
    /* What an honest -C saves is what came out of the preprocessor: -r needs none. */
    logged_change = NULL;
    assert_int_equal(logged_record("-q", "-C", "-s", script, NULL), 0);
    logged_save(capture);
    must_print("1");
    assert_int_equal(logged_record("-q", "-C", "-D", "NUMBER=17", "-n",
                                   "BEGIN { printf(\"<%d>\", NUMBER); exit(0); }", NULL),
                     0);
    logged_save(capture);
    must_print("<17>");
}

/* A pragma of one source is in force for the next one. */
static void test_pragma_for_the_next(void **state)
{
    static const char *const pragmas[] = {
        "cpp", "cpp=1", "libdir=/etc", "syslibdir=/etc", "core=/etc/passwd", "ctypes=/etc/passwd"};
    char text[1000];

    (void)state;
    logged_change = NULL;
    for (size_t i = 0; i < sizeof(pragmas) / sizeof(*pragmas); i++) {
        snprintf(text, sizeof(text), "#pragma D option %s\nBEGIN { printf(\"a\"); }\n", pragmas[i]);
        put_file(script, "script.txt", text, 0600);
        put_file(script2, "script2.txt", "BEGIN { printf(\"b\"); exit(0); }\n", 0600);
        int status = logged_record("-q", "-s", script, "-s", script2, NULL);
        logged_save(capture);
        if (status == 0) {
            must_refuse("a program from a capture or a target can't");
        }
    }
}

/* With its folder named by the user a library is read; without, the option is refused. */
static void test_library(void **state)
{
    (void)state;
    logged_change = NULL;
    assert_int_equal(logged_record("-q", "-L", folder, "-n",
                                   "BEGIN { printf(\"<%d>\", from_library); exit(0); }", NULL),
                     0);
    logged_save(capture);
    must_refuse("-L");
    const char *const readable[] = {capture, folder, library, NULL};
    struct reading r = {.argv = {"-r", capture, "-L", folder}, .argc = 4};
    struct guard_result result = guard_run(read_capture, &r, readable);
    must_be_harmless(&result);
    assert_int_equal(result.status, 0);
}

/* ---- what makes -r take for ever, or write for ever -------------------------------- */

static void test_widths(void **state)
{
    static const char *const scripts[] = {
        "BEGIN { printf(\"%1000000d|\", 1); exit(0); }\n",
        "BEGIN { printf(\"%-1000000s|\", \"a\"); exit(0); }\n",
        "BEGIN { printf(\"%*d|%.*d\", 2000000000, 1, 2000000000, 1); exit(0); }\n",
        "BEGIN { printf(\"%.1000000d|%01000000x\", 1, 2); exit(0); }\n",
        "#pragma D option stackindent=2000000000\nBEGIN { stack(); printf(\"|\"); exit(0); }\n",
        "BEGIN { @[1] = count(); printa(\"%1000000d %@1000000d|\", @); exit(0); }\n",
    };

    (void)state;
    logged_change = NULL;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++) {
        record_script(scripts[i]);
        struct guard_result r = replay(NULL, NULL);
        must_be_harmless(&r);
        assert_non_null(strstr(out, "|"));
        assert_true(lseek(out_file, 0, SEEK_END) < 65536);
    }
}

/* ---- a terminal -------------------------------------------------------------------- */

static int read_on_terminal(void *arg)
{
    int terminal = *(int *)arg;
    const char *const argv[] = {"-r", capture};

    dup2(terminal, 1);
    dup2(err_file, 2);
    kymo_messages_start();
    return logged_dtrace(2, argv, NULL, NULL);
}

static void test_terminal(void **state)
{
    const char *const readable[] = {capture, NULL};
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    (void)state;
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0);
    logged_change = NULL;
    record_script("BEGIN { printf(\"a\\033[31m%s\\n\", \"\\033]0;x\\007\"); exit(0); }\n");
    struct guard_result r = guard_run(read_on_terminal, &terminal, readable);
    must_be_harmless(&r);
    assert_int_equal(r.status, 0);
    ssize_t n = read(master, out, sizeof(out) - 1);
    out[n > 0 ? n : 0] = '\0';
    assert_non_null(strstr(out, "a\\033[31m\\033]0;x\\007"));
    close(terminal);
    close(master);
    must_print("a\033[31m"); /* into a file it goes as it is */
}

/* ---- the generator ----------------------------------------------------------------- */

static const char *const bodies[] = {
    "BEGIN { printf(\"%s %d\\n\", execname, pid); exit(0); }",
    "BEGIN { @a[\"x\", 1] = sum(5); @q = quantize(7); trace(\"text\"); exit(3); }",
    "BEGIN { tracemem(&`none, 1); exit(0); }",
    "BEGIN { stack(); ustack(); trace(1); printa(@z); @z = count(); exit(0); }",
    "BEGIN { system(\"true %d\", 1); exit(0); }",
    "BEGIN { freopen(\"/etc/passwd\"); printf(\"x\"); freopen(\"\"); exit(0); }",
    "BEGIN { setopt(\"cpp\"); setopt(\"destructive\"); setopt(\"quiet\"); exit(0); }",
    "BEGIN { setopt(\"libdir\", \"/etc\"); ftruncate(); exit(0); }",
    "BEGIN { raise(9); stop(); chill(1); exit(0); }",
    "#include \"/etc/passwd\"\nBEGIN { exit(0); }",
    "#pragma D depends_on library passwd\nBEGIN { exit(0); }",
    "# 1 \"/etc/passwd\"\nBEGIN { nonsense; exit(0); }",
};
enum { BODIES = sizeof(bodies) / sizeof(*bodies) };

static char generated[4096];

static const char *random_value(const char *option)
{
    static const char *const values[] = {
        "1",       "0",      "4096", "1t", "/etc/passwd",          "/etc",  "on",  "a",
        "PATH=/x", "-I/etc", "",     "-1", "18446744073709551615", "100hz", "ring"};

    return random_below(3) ? values[random_below(sizeof(values) / sizeof(*values))]
                           : hostile_value(option);
}

/* A program with pragmas of any options before it. */
static const char *random_text(void)
{
    size_t n = 0;

    for (unsigned i = random_below(4); i > 0; i--) {
        const char *option = option_names[random_below(OPTIONS)];
        n += (size_t)snprintf(generated + n, sizeof(generated) - n, "#pragma D option %s%s%s\n",
                              option, random_below(3) ? "=" : "",
                              random_below(3) ? random_value(option) : "");
    }
    if (random_below(2)) {
        n += (size_t)snprintf(generated + n, sizeof(generated) - n,
                              "#pragma D option destructive\n");
    }
    snprintf(generated + n, sizeof(generated) - n, "%s", bodies[random_below(BODIES)]);
    return generated;
}

static void change_at_random(struct logged_strings *s)
{
    static char kept[8][800];

    for (unsigned i = random_below(4); i > 0; i--) {
        const char *option = option_names[random_below(OPTIONS)];
        if (random_below(2)) {
            logged_add(s, "flag", option);
        } else {
            snprintf(kept[i], sizeof(kept[i]), "%s", random_value(option));
            logged_add(s, "set", option);
            logged_add(s, "value", kept[i]);
        }
    }
    if (random_below(3) == 0) {
        logged_remove(s, "flag", "destructive");
    }
    for (uint32_t i = 0; i < s->n; i += 2) {
        if (strcmp(s->text[i], "text") == 0 && random_below(2)) {
            s->text[i + 1] = random_text();
        } else if (strcmp(s->text[i], "-s") == 0 && random_below(4) == 0) {
            s->text[i + 1] = random_below(2) ? "/etc/passwd" : "a\n#pragma D option cpp\n";
        }
    }
    if (random_below(8) == 0) {
        logged_add(s, "-s", "/etc/passwd"); /* without a text */
    }
    if (random_below(8) == 0) {
        logged_add(s, "argument", "$(true)`true`");
    }
}

static void damage(void)
{
    int file = open(capture, O_RDWR | O_CLOEXEC);
    struct stat st;

    fstat(file, &st);
    for (unsigned i = 1 + random_below(4); i > 0; i--) {
        uint8_t byte = (uint8_t)random_below(256);
        (void)!pwrite(file, &byte, 1, st.st_size - 1 - (off_t)random_below(8192) % st.st_size);
    }
    close(file);
}

/* At most a minute. */
static void test_generated(void **state)
{
    const char *rounds = getenv("ROUNDS");
    unsigned n = rounds ? (unsigned)atoi(rounds) : 150, printed = 0;

    (void)state;
    random_start();
    for (unsigned i = 0; i < n; i++) {
        put_file(script, "script.txt", bodies[random_below(2)], 0600);
        bool honest = i % 8 == 0; /* so that the test knows that something is printed at all */

        logged_change = honest ? NULL : change_at_random;
        assert_true(logged_record("-q", "-s", script, honest ? NULL : "-w", NULL) != 2);
        logged_save(capture);
        if (!honest && random_below(4) == 0) {
            damage();
        }
        struct guard_result r = replay(random_below(3) ? NULL : "--json", NULL);
        must_be_harmless(&r);
        assert_in_range(r.status, 0, 3);
        printed += out[0] != '\0';
    }
    assert_true(printed >= (n + 7) / 8);
    logged_change = NULL;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest),
        cmocka_unit_test(test_guard_sees),
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_option_forgotten),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_include),
        cmocka_unit_test(test_pragma_for_the_next),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_generated),
    };

    return cmocka_run_group_tests(tests, make_files, remove_files);
}
