/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target that says it runs an image of virt-a64 (which must be built): `kymo dtrace` finds the
 * kernel's ELF and the programs in its boot image, and names addresses by them; it refuses an ELF
 * of something else; and damage to the boot image, or to what its service "program" answers,
 * touches no memory that isn't its own.
 */
#include "host/kymo.h"
#include "host/remote/elf_id.h"
#include "host/remote/target.h"
#include "host/remote/wire.h"
#include "host/self/self.h"
#include "host/self/target.h"
#include "host/temporary.h"
#include "abi/sys/dtrace.h"
#include "lib/link/service.h"
#include "test/tool/random.h"
#include "trace/dtrace/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define KERNEL "build/virt-a64/demo.elf"

/* The wire of `loop`; what the target is, and what its process is, are changed. */
struct posing {
    struct wire base;
    struct wire *inner;
};

static uint8_t build_id[20];
static bool is_later, has_later_image; /* the target is of a later kymo; its boot's program is */

static int posing_send(struct wire *wire, const void *message, size_t bytes)
{
    struct wire *inner = ((struct posing *)wire)->inner;

    return inner->ops->send(inner, message, bytes);
}

static long posing_receive(struct wire *wire, void *message, size_t room, int timeout_ms)
{
    struct wire *inner = ((struct posing *)wire)->inner;
    long bytes = inner->ops->receive(inner, message, room, timeout_ms);
    struct kymo_d_call *call = message;
    struct kymo_d_info *info = (void *)(call + 1);
    struct kymo_d_process *process = (void *)(call + 1);

    if (call->command == KYMO_D_INFO) {
        memcpy(info->build_id, build_id, sizeof(build_id));
        strcpy(info->board, "virt-a64");
        info->strsize = 64;
        info->version = is_later ? 99 : info->version;
    } else if (call->command == KYMO_D_LOOK && has_later_image && bytes > 100) {
        ((struct dtrace_image *)(void *)(call + 1))->version = 99;
    } else if (call->command == KYMO_D_PROCESS && call->result == 0) {
        strcpy(process->name, "sensor");
        process->text = 0x10400000;
        process->text_link = 0x400000;
    }
    return bytes;
}

static const char *posing_reason(struct wire *wire)
{
    (void)wire;
    return "no reason";
}

static void posing_close(struct wire *wire)
{
    struct posing *t = (struct posing *)wire;

    t->inner->ops->close(t->inner);
    free(t);
}

/* The service "program": a program that has ended when it was asked for the third time, or,
 * damaged, anything. The processes sensor (4711), idle (12), sleeper (13) and sleeper (14). */
static bool damaged;
static unsigned asked, ran; /* of the last program */
static struct link_program request;
static char request_text[LINK_PROGRAM_LINE + 1];
static unsigned sleeper_comes; /* after so many questions */
/* Both sleepers end, one after the other, after so many questions; 0: they stay. */
static unsigned sleepers_end;

static int program_send(struct wire *wire, const void *message, size_t bytes)
{
    (void)wire;
    assert_in_range(bytes, sizeof(request), sizeof(request) + LINK_PROGRAM_LINE);
    memcpy(&request, message, sizeof(request));
    memset(request_text, 0, sizeof(request_text));
    memcpy(request_text, (const char *)message + sizeof(request), bytes - sizeof(request));
    ran += request.kind == LINK_PROGRAM_RUN;
    return damaged && random_below(20) == 0 ? -EPIPE : 0;
}

/* Half of the damaged answers are nearly right. */
static size_t program_damage(struct link_program *answer, char *text, size_t room)
{
    size_t bytes = random_below(4) ? random_below(40) : random_below((uint32_t)room + 1);

    for (size_t i = 0; i < bytes; i++) {
        text[i] = (char)random_below(256);
    }
    if (random_below(2)) {
        answer->result = -(int)random_below(8);
    } else {
        ((uint8_t *)answer)[random_below(sizeof(*answer))] ^= (uint8_t)(1u << random_below(8));
    }
    return bytes;
}

/* sensor has ended when it was asked for by its number for the fourth time. Returns the name's
 * bytes. */
static size_t program_find(struct link_program *answer, char *text)
{
    static const struct {
        int pid;
        const char *name;
    } all[] = {{12, "idle"}, {13, "sleeper"}, {14, "sleeper"}, {15, "late"}, {4711, "sensor"}};

    sleeper_comes -= sleeper_comes > 0;
    sleepers_end -= sleepers_end > 2;
    asked += request.pid == 4711;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (all[i].pid >= request.pid && (!*request_text || !strcmp(request_text, all[i].name)) &&
            (all[i].pid != 15 || !sleeper_comes) && (all[i].pid != 4711 || asked < 4) &&
            (all[i].pid != 13 || sleepers_end != 3) &&
            (strcmp(all[i].name, "sleeper") != 0 || sleepers_end != 2)) {
            answer->pid = all[i].pid;
            strcpy(text, all[i].name);
            return strlen(text);
        }
    }
    answer->result = -ESRCH;
    return 0;
}

static long program_receive(struct wire *wire, void *message, size_t room, int timeout_ms)
{
    struct link_program answer = {.kind = request.kind};
    char *text = (char *)message + sizeof(answer);
    size_t bytes = 0;

    (void)wire;
    (void)timeout_ms;
    if (request.kind == LINK_PROGRAM_START) {
        answer.pid = 4711;
        asked = 0;
    } else if (request.kind == LINK_PROGRAM_ENDED) {
        answer.result = ++asked < 3 ? -EAGAIN : 0;
        answer.status = asked < 3 ? 0 : 5 << 8;
    } else if (request.kind == LINK_PROGRAM_FIND) {
        bytes = program_find(&answer, text);
    }
    if (damaged) {
        bytes = program_damage(&answer, text, room - sizeof(answer));
        if (random_below(10) == 0) {
            return (long)random_below(sizeof(answer)) - 2;
        }
    }
    memcpy(message, &answer, sizeof(answer));
    return (long)(sizeof(answer) + bytes);
}

static void program_close(struct wire *wire)
{
    free(wire);
}

static struct wire *posing_beside(struct wire *wire, const char *service, const char **why)
{
    static const struct wire_ops ops = {program_send, program_receive, posing_reason, program_close,
                                        NULL};
    struct wire *w = malloc(sizeof(*w));

    (void)wire;
    (void)why;
    assert_string_equal(service, "program");
    w->ops = &ops;
    return w;
}

static const struct wire_ops posing_ops = {posing_send, posing_receive, posing_reason, posing_close,
                                           posing_beside};

struct target *target_open(const char *spec, const char **why)
{
    struct posing *t = calloc(1, sizeof(*t));

    (void)spec;
    t->base.ops = &posing_ops;
    t->inner = wire_loop(why);
    return remote_target_open(&t->base, false, why);
}

/* ---- running it -------------------------------------------------------------------- */

static char output[65536];

static void read_back(int fd)
{
    ssize_t n = pread(fd, output, sizeof(output) - 1, 0);

    output[n > 0 ? n : 0] = '\0';
}

/* Its status; standard output and error together are in `output`. */
static int dtrace(const char *a, const char *b, const char *c, const char *d)
{
    char *argv[6] = {"dtrace"};
    const char *given[] = {a, b, c, d};
    int argc = 1, fd = temporary_open(), out = dup(1), err = dup(2);

    for (int i = 0; i < 4 && given[i]; i++) {
        argv[argc++] = strdup(given[i]);
    }
    fflush(NULL);
    dup2(fd, 1);
    dup2(fd, 2);
    int status = kymo_dtrace_command.run(argc, argv);
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    read_back(fd);
    close(fd);
    while (argc > 1) {
        free(argv[--argc]);
    }
    return status;
}

static void must_end(int status, int wanted)
{
    if (status != wanted) {
        fail_msg("status %d, not %d:\n%s", status, wanted, output);
    }
}

static void must_say(const char *text)
{
    if (!strstr(output, text)) {
        fail_msg("\"%s\" is not in:\n%s", text, output);
    }
}

static int start(void **state)
{
    struct elf_id id;

    (void)state;
    if (!elf_id_read(KERNEL, &id)) {
        print_error("%s is not there: make boards\n", KERNEL);
        return 1;
    }
    memcpy(build_id, id.bytes, sizeof(build_id));
    random_start();
    return 0;
}

/* ---- tests ------------------------------------------------------------------------- */

static void test_names(void **state)
{
    (void)state;
    int status = dtrace("--elf", "build", "-qn",
                        "BEGIN { printf(\"%d \", sizeof(struct process) > 100);"
                        "sym((uintptr_t)&`kernel_process); func((uintptr_t)&`process_find);"
                        "usym((uintptr_t)&sensor`main + 0x10000000); umod(0x10400000); usym(0x30);"
                        "printf(\"%s\", \"x\"); exit(0); }");
    must_end(status, 0);
    must_say("1   kernel`kernel_process");
    must_say("kernel`process_find");
    must_say("sensor`main ");
    must_say("  sensor  ");
    must_say("  0x30 ");
}

/* The defaults are the target's. */
static void test_defaults(void **state)
{
    (void)state;
    assert_int_equal(dtrace("--elf", "build", "-qn", "BEGIN { trace(sizeof(string)); exit(0); }"),
                     0);
    must_say("64");
}

static void test_wrong(void **state)
{
    (void)state;
    must_end(dtrace("--elf", "build/virt-a64/test-images/test.elf", "-n", "BEGIN"), 1);
    must_say("build/virt-a64/test-images/test.elf is not what the target runs: its build id is ");
    must_end(dtrace("--elf", "README.md", "-n", "BEGIN"), 1);
    must_say("dtrace: --elf README.md: no ELF file: an ELF file or a folder of them is wanted\n");
    must_end(dtrace("--elf", "no/such/file", "-n", "BEGIN"), 1);
    must_say("dtrace: --elf no/such/file: No such file or directory\n");
    must_end(dtrace("--elf", KERNEL, "-n", "BEGIN { exit(0); }"), 0);
    build_id[3] ^= 1;
    must_end(dtrace("-n", "BEGIN { exit(0); }", NULL, NULL), 0);
    must_say("no ELF here has the target's build id ");
    build_id[3] ^= 1;
}

/* ---- -c
 * ---------------------------------------------------------------------------------------- */

static void test_program(void **state)
{
    (void)state;
    ran = 0;
    must_end(dtrace("-c", "any one", "-n", "BEGIN, END { trace($target); }"), 0);
    must_say("4711");
    must_say("dtrace: pid 4711 exited with status 5\n");
    must_say(":END ");
    assert_int_equal(ran, 1);
    must_end(dtrace("-c", "any one", "-en", "BEGIN"), 0);
    must_end(dtrace("-c", "any one", "-n", "no:such:probe:here"), 1);
    assert_int_equal(ran, 1); /* neither of them has let it run */
}

/* Whatever is answered, it ends; a program that never does is ended by exit(). */
static void test_program_damaged(void **state)
{
    (void)state;
    damaged = true;
    for (unsigned i = 0; i < 150; i++) {
        int status = dtrace("-c", "any one", "-xstatusrate=1ms",
                            "-n tick-1ms { trace(pid); } tick-20ms { exit(0); }");
        assert_in_range(status, 0, 1);
    }
    damaged = false;
}

/* ---- -p ---------------------------------------------------------------------------- */

static void test_process(void **state)
{
    (void)state;
    asked = 0;
    must_end(dtrace("-p", "sensor", "-n", "BEGIN, END { trace($target); }"), 0);
    must_say("4711");
    must_say("dtrace: pid 4711 has exited\n");
    asked = 0;
    must_end(dtrace("-p", "4711", "-n", "BEGIN { exit(0); }"), 0);
    must_end(dtrace("-p", "4712", "-n", "BEGIN { exit(0); }"), 1);
    must_say("failed to grab pid 4712: no such process\n");
    must_end(dtrace("-p", "4000", "-n", "BEGIN { exit(0); }"), 1);
    must_end(dtrace("-p", "nobody", "-n", "BEGIN { exit(0); }"), 1);
    must_say("no process is called nobody; there are: idle, sleeper, late, sensor\n");
    sleeper_comes = 5;
    must_end(dtrace("-Zp", "late", "-n", "BEGIN { trace($target); exit(0); }"), 0);
    must_say("dtrace: waiting for late\n");
    must_say(" 15\n");
    must_end(dtrace("-n", "pid:sleeper::", NULL, NULL), 1);
    must_say("probe description pid13:a.out:: does not match any probes");
}

/* A clause that names $target is compiled once for each process of the name. */
static void test_processes_of_one_name(void **state)
{
    static const struct {
        const char *program, *prints;
    } rows[] = {
        {"BEGIN { printf(\"<%d>\", $target); } BEGIN { exit(0); }", "<13><14>"},
        {"BEGIN /$target == 14/ { printf(\"<%s>\", $$target); } BEGIN { exit(0); }", "<14>"},
        {"inline int t = $target + 1; inline int u = t * 2; BEGIN { printf(\"<%d>\", u); }"
         "BEGIN { printf(\"<once>\"); exit(0); }",
         "<28><30><once>"},
        {"BEGIN { if ($target > 13) { printf(\"<%d>\", -$target); } } BEGIN { exit(0); }", "<-14>"},
        {"BEGIN { @[$target] = count(); } BEGIN { exit(0); } END { printa(\"<%d %@d>\", @); }",
         "<13 1><14 1>"},
        {"struct s { int n; }; translator struct s < int x > { n = $target; }; BEGIN { exit(0); }",
         NULL},
        {"enum e { E = $target }; BEGIN { exit(0); }", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        must_end(dtrace("-p", "sleeper", "-qn", rows[i].program), rows[i].prints ? 0 : 1);
        must_say(rows[i].prints ? rows[i].prints : "$target is 2 processes: ");
    }
    must_end(dtrace("-p", "sleeper", "-ln", "pid$target:a.out:none:entry"), 1);
    must_say("failed to match pid13:a.out:none:entry: ");
    must_say("failed to match pid14:a.out:none:entry: ");
}

/* The end of the last one ends tracing; each end is reported. */
static void test_all_of_one_name_end(void **state)
{
    (void)state;
    sleepers_end = 6;
    must_end(dtrace("-p", "sleeper", "-xstatusrate=1ms", "-n BEGIN, END { trace($target); }"), 0);
    sleepers_end = 0;
    must_say("dtrace: pid 13 has exited\ndtrace: pid 14 has exited\n");
}

static void test_process_damaged(void **state)
{
    static const char *const names[] = {"sensor", "4711", "sleeper", "nobody"};

    (void)state;
    damaged = true;
    for (unsigned i = 0; i < 150; i++) {
        asked = 0;
        int status = dtrace("-p", names[i % 4], "-xstatusrate=1ms",
                            "-n tick-1ms { trace(pid); } tick-20ms { exit(0); }");
        assert_in_range(status, 0, 1);
    }
    damaged = false;
}

/* ---- what the boot traces ---------------------------------------------------------- */

static _Alignas(8) char image[65536]; /* stays: the machine's, as if it were in the kernel's ELF */

static size_t compile(const char *options, const char *program)
{
    char file[PATH_MAX];
    int fd = temporary_file("image", file, sizeof(file));

    close(fd);
    must_end(dtrace("--compile", file, options, program), 0);
    /* It is another file now: what is written takes the place of the old one when it is whole. */
    fd = open(file, O_RDONLY);
    ssize_t n = read(fd, image, sizeof(image));
    close(fd);
    unlink(file);
    assert_in_range(n, 100, sizeof(image) - 1);
    return (size_t)n;
}

static void boot(size_t size)
{
    struct dtrace_refusal why;

    self_lock();
    int error = dtrace_control_boot(image, size, &why);
    self_unlock();
    if (error != 0) {
        fail_msg("%s", why.text);
    }
}

/* Its source comes with it; once; and not if it is another one, or may do harm here. */
static void test_claim(void **state)
{
    (void)state;
    must_end(dtrace("-a", NULL, NULL, NULL), 1);
    must_say("no anonymous tracing state");
    boot(compile(
        "-qn",
        "BEGIN { printf(\"%s %d\\n\", \"since boot\", 6 * 7); @n[\"key\"] = count(); exit(3); }"));
    must_end(dtrace("-a", NULL, NULL, NULL), 3);
    must_say("since boot 42");
    must_say("key ");
    must_end(dtrace("-a", NULL, NULL, NULL), 1);
    boot(compile("-qn", "BEGIN { trace(1); }"));
    must_end(dtrace("-qn", "BEGIN { trace(2); }", "-a", NULL), 1);
    must_say("another program than this");
    must_end(dtrace("-qn", "BEGIN { trace(", "-a", NULL), 1);
    must_end(dtrace("-ae", NULL, NULL, NULL), 0); /* who was refused has taken nothing */
    boot(compile("-qn", "BEGIN { trace(\"no end\"); }"));
    must_end(dtrace("-ae", NULL, NULL, NULL), 0);
    must_say("no end");
    boot(compile("-wqn", "BEGIN { system(\"echo harm\"); exit(0); }"));
    must_end(dtrace("-a", NULL, NULL, NULL), 1);
    must_say("-w allows it");
    must_end(dtrace("-wa", NULL, NULL, NULL), 0);
    must_say("harm");
}

/* A later kymo's: both versions are named. */
static void test_later(void **state)
{
    (void)state;
    is_later = true;
    must_end(dtrace("-qn", "BEGIN { exit(0); }", NULL, NULL), 1);
    must_say("D of version 99, this kymo has version");
    is_later = false;
    boot(compile("-qn", "BEGIN { exit(0); }"));
    has_later_image = true;
    must_end(dtrace("-a", NULL, NULL, NULL), 1);
    must_say("an image of version 99, this kymo has version");
    has_later_image = false;
    must_end(dtrace("-a", NULL, NULL, NULL), 0);
}

/* What came with it, damaged: it ends, with a message or as it would. */
static void test_claim_damaged(void **state)
{
    static char whole[sizeof(image)];
    size_t n = compile("-qn", "BEGIN { printf(\"%s\", execname); @[1] = count(); exit(0); }");

    (void)state;
    memcpy(whole, image, n);
    for (unsigned i = 0; i < 200; i++) {
        const struct dtrace_image *head = (void *)image;
        memcpy(image, whole, n);
        for (unsigned k = 0; k < 1 + random_below(3); k++) {
            image[head->size + random_below((uint32_t)n - head->size)] ^= 1u << random_below(8);
        }
        boot(n);
        int status = dtrace("-a", NULL, NULL, NULL);
        assert_in_range(status, 0, 2);
    }
}

/* ---- damage ------------------------------------------------------------------------ */

static void count(void *arg, const char *name, const void *data, size_t bytes)
{
    volatile uint8_t last = 0;

    (void)name;
    ++*(unsigned *)arg;
    if (bytes) {
        last = ((const uint8_t *)data)[bytes - 1];
    }
    (void)last;
}

/* Copies of the kernel's ELF with the heads of the archive's files damaged. */
static void test_damaged_image(void **state)
{
    char file[PATH_MAX];
    int from = open(KERNEL, O_RDONLY), fd = temporary_file("elf", file, sizeof(file));
    static char whole[8 << 20];
    ssize_t n = read(from, whole, sizeof(whole));
    unsigned files = 0;

    (void)state;
    close(from);
    assert_in_range(n, 1000, sizeof(whole) - 1);
    assert_true(elf_boot_image(KERNEL, count, &files) && files > 5);
    const char *at = memmem(whole, (size_t)n, "070701", 6);
    assert_non_null(at);
    for (unsigned i = 0; i < 300; i++) {
        char was[110], *spot = (char *)at + (i % 2 ? 54 : 94);
        memcpy(was, at, sizeof(was));
        for (unsigned k = 0; k < 1 + random_below(8); k++) {
            spot[random_below(8)] = "0123456789ABCDEFx"[random_below(17)];
        }
        assert_int_equal(pwrite(fd, whole, (size_t)n, 0), n);
        elf_boot_image(file, count, &files);
        memcpy((char *)at, was, sizeof(was));
    }
    close(fd);
    unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_program_damaged),
        cmocka_unit_test(test_process),
        cmocka_unit_test(test_processes_of_one_name),
        cmocka_unit_test(test_all_of_one_name_end),
        cmocka_unit_test(test_process_damaged),
        cmocka_unit_test(test_claim),
        cmocka_unit_test(test_claim_damaged),
        cmocka_unit_test(test_damaged_image),
        cmocka_unit_test(test_later),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
