/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Libraries of D: the one that is built in (or the .d files of `syslibdir`), and the .d files of
 * the -L directories, each after those it depends on. One whose provider or module is missing is
 * left out.
 */
#include "host/dt/registers.h"
#include "host/dt/session/compile.h"
#include "host/dt/syntax/pragma.h"

#include <errno.h> /* this machine's, before the boards' */

#include "abi/errno.h"
#include "abi/sys/states.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Built-in declarations, in this order. An enum is an int, so that it is recorded as one. */
static const char states_text[] = "enum thread_state {"
#define STATE(number, name, text, emitted) " STATE_" #name " = " #number ","
    THREAD_STATE_LIST(STATE)
#undef STATE
        " _STATE_WIDE = 0x7fffffff };\n";

static const char words_text[] =
#define LWPINFO(number, name, doc) "inline int _LWP_" #name " = " #number ";\n"
#include "trace/dtrace/lwpinfo.def"
#undef LWPINFO
    "";

static const char built_in[] =
    "typedef unsigned int uid_t;\n"
    "typedef unsigned int gid_t;\n"
    "inline int DTRACEFLT_UNKNOWN = 0;\n"
    "inline int DTRACEFLT_BADADDR = 1;\n"
    "inline int DTRACEFLT_BADALIGN = 2;\n"
    "inline int DTRACEFLT_ILLOP = 3;\n"
    "inline int DTRACEFLT_DIVZERO = 4;\n"
    "inline int DTRACEFLT_NOSCRATCH = 5;\n"
    "inline int DTRACEFLT_KPRIV = 6;\n"
    "inline int DTRACEFLT_UPRIV = 7;\n"
    "inline int DTRACEFLT_TUPOFLOW = 8;\n"
    "inline int DTRACEFLT_BADSTACK = 9;\n"
    /* Processes and threads: see docs/guide/d.md. */
    "typedef struct psinfo {\n"
    "    pid_t pr_pid, pr_ppid;\n"
    "    uid_t pr_uid;\n"
    "    gid_t pr_gid;\n"
    "    string pr_fname, pr_psargs;\n"
    "    uintptr_t pr_addr;\n"
    "    int pr_nlwp;\n"
    "} psinfo_t;\n"
    "typedef struct lwpsinfo {\n"
    "    id_t pr_lwpid;\n"
    "    char pr_state, pr_sname;\n"
    "    int pr_flag, pr_syscall, pr_pri, pr_onpro;\n"
    "    enum thread_state pr_kstate;\n"
    "    string pr_clname;\n"
    "    uintptr_t pr_wchan;\n"
    "} lwpsinfo_t;\n"
    "typedef struct cpuinfo { int cpu_id; } cpuinfo_t;\n"
    "inline int SSLEEP = 1;\n"
    "inline int SRUN = 2;\n"
    "inline int SZOMB = 3;\n"
    "inline int SSTOP = 4;\n"
    "inline int SIDL = 5;\n"
    "inline int SONPROC = 6;\n"
    "inline int PR_DETACH = 1;\n"
    "inline int PR_STOPPED = 2;\n"
    "inline int PR_ASLEEP = 4;\n"
    "enum _current { _CURRENT };\n"
    "struct _lwp { pid_t pid; id_t tid; };\n"
    "translator struct _lwp < enum _current c > { pid = pid; tid = tid; };\n"
    "translator psinfo_t < pid_t p > {\n"
    "    pr_pid = p; pr_ppid = lwpinfo(p, 0, _LWP_PPID); pr_uid = uid; pr_gid = gid;\n"
    "    pr_fname = pidname(p); pr_psargs = p == pid ? execargs : \"\";\n"
    "    pr_addr = lwpinfo(p, 0, _LWP_ADDRESS); pr_nlwp = lwpinfo(p, 0, _LWP_THREADS);\n"
    "};\n"
    "translator psinfo_t < enum _current c > {\n"
    "    pr_pid = pid; pr_ppid = ppid; pr_uid = uid; pr_gid = gid;\n"
    "    pr_fname = execname; pr_psargs = execargs;\n"
    "    pr_addr = lwpinfo(pid, 0, _LWP_ADDRESS); pr_nlwp = lwpinfo(pid, 0, _LWP_THREADS);\n"
    "};\n"
    "translator lwpsinfo_t < struct _lwp t > {\n"
    "    pr_lwpid = t.tid; pr_state = lwpinfo(t.pid, t.tid, _LWP_LIFE);\n"
    "    pr_sname = \"ZSRZTIO\"[lwpinfo(t.pid, t.tid, _LWP_LIFE)];\n"
    "    pr_flag = lwpinfo(t.pid, t.tid, _LWP_FLAGS);\n"
    "    pr_syscall = lwpinfo(t.pid, t.tid, _LWP_CALL);\n"
    "    pr_pri = lwpinfo(t.pid, t.tid, _LWP_PRIORITY);\n"
    "    pr_clname = lwpinfo(t.pid, t.tid, _LWP_POLICY) == 1 ? \"FIFO\" : \"RR\";\n"
    "    pr_onpro = lwpinfo(t.pid, t.tid, _LWP_CPU);\n"
    "    pr_wchan = lwpinfo(t.pid, t.tid, _LWP_WCHAN);\n"
    "    pr_kstate = lwpinfo(t.pid, t.tid, _LWP_STATE);\n"
    "};\n"
    "translator cpuinfo_t < enum _current c > { cpu_id = cpu; };\n"
    /* Requests to drivers: io:::start, io:::done. struct _io is the event (apps/io_probe.h). */
    "typedef struct bufinfo {\n"
    "    int b_flags;\n"
    "    size_t b_bcount, b_bufsize, b_resid;\n"
    "    uint64_t b_blkno, b_lblkno;\n"
    "    int b_error;\n"
    "} bufinfo_t;\n"
    "typedef struct devinfo {\n"
    "    int dev_major, dev_minor, dev_instance;\n"
    "    string dev_name, dev_statname, dev_pathname;\n"
    "} devinfo_t;\n"
    "inline int B_READ = 0x40;\n"
    "inline int B_WRITE = 0x100;\n"
    "inline int B_FLUSH = 0x10000;\n"
    "struct _io { uint32_t site, id, bytes; int flags, error, client; uint32_t low, high; };\n"
    "translator bufinfo_t < struct _io *io > {\n"
    "    b_flags = io->flags; b_bcount = io->bytes; b_bufsize = io->bytes;\n"
    "    b_resid = io->error ? io->bytes : 0; b_error = io->error;\n"
    "    b_blkno = (uint64_t)io->high << 32 | io->low;\n"
    "    b_lblkno = (uint64_t)io->high << 32 | io->low;\n"
    "};\n"
    "enum _device { _DEVICE_DISK, _DEVICE_CONSOLE };\n"
    "translator devinfo_t < enum _device d > {\n"
    "    dev_major = d; dev_minor = 0; dev_instance = 0;\n"
    "    dev_name = d == _DEVICE_DISK ? \"disk\" : \"console\";\n"
    "    dev_statname = d == _DEVICE_DISK ? \"disk0\" : \"console\";\n"
    "    dev_pathname = d == _DEVICE_DISK ? \"/dev/disk0\" : \"/dev/console\";\n"
    "};\n"
    "inline psinfo_t *curpsinfo =\n"
    "    xlate <psinfo_t *> ((enum _current)_CURRENT);\n"
    "inline lwpsinfo_t *curlwpsinfo =\n"
    "    xlate <lwpsinfo_t *> (xlate <struct _lwp> ((enum _current)_CURRENT));\n"
    "inline cpuinfo_t *curcpu =\n"
    "    xlate <cpuinfo_t *> ((enum _current)_CURRENT);\n";

/* errno_t, whose enumerators are the target's errors. */
static const char *errors_text(struct dt_session *d)
{
    static const struct {
        const char *name;
        int board, host;
    } errors[] = {
#define E(name, value) {#name, value, name},
        KYMO_ERRNO_LIST(E)
#undef E
    };
    const char *text = "enum _errno { EOK = 0, ";

    for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
        int value = d->model->is_host ? errors[i].host : errors[i].board;
        text = dt_sprintf(d, "%s%s = %d, ", text, errors[i].name, value);
    }
    return dt_sprintf(d, "%s_ERRNO_WIDE = 0x7fffffff };\ntypedef enum _errno errno_t;\n", text);
}

/* Constants: indexes in uregs[]. */
static const char *registers_text(struct dt_session *d)
{
    const unsigned machine = d->model->machine;
    const struct dt_registers *r = dt_registers_of(machine);
    char name[DT_REGISTER_NAME];
    const char *text = "";

    for (unsigned i = 0; dt_register_name(machine, i, name); i++) {
        text = dt_sprintf(d, "%sinline int %s = %u;\n", text, name, i);
    }
    for (const struct dt_register_alias *a = r ? r->shared : NULL; a && a->name; a++) {
        text = dt_sprintf(d, "%sinline int %s = %u;\n", text, a->name, a->index);
    }
    return text;
}

struct dependency {
    const char *name;
    struct dependency *next;
};

struct library {
    const char *path, *name, *text;
    size_t size;
    bool missing; /* something it depends on */
    enum { WAITING, LOADING, DONE } state;
    struct dependency *dependencies;
    struct library *next;
};

struct search {
    struct dt_session *d;
    struct library *libraries, **end, *current;
};

/* ---- finding them ------------------------------------------------------------------ */

static void note_dependency(void *arg, const char *line, size_t n)
{
    struct search *s = arg;
    struct dt_words w;

    if (!dt_is_pragma(s->d, line, n, "depends_on", &w) || w.n != 2) {
        return; /* what is wrong with it the parser says */
    }
    if (strcmp(w.word[0], "library") == 0) {
        struct dependency *x = dt_alloc(s->d, sizeof(*x));
        *x = (struct dependency){w.word[1], s->current->dependencies};
        s->current->dependencies = x;
    } else if (!dt_dependency_met(s->d, w.word[0], w.word[1])) {
        s->current->missing = true;
    }
}

static int is_library(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > 2 && strcmp(e->d_name + n - 2, ".d") == 0;
}

static void library_find_folder(struct search *s, const char *directory)
{
    struct dirent **list;
    int n = scandir(directory, &list, is_library, alphasort);

    /* The names are kept by the session, the list is freed before anything can fail. */
    const char **names = dt_alloc(s->d, (size_t)(n > 0 ? n : 0) * sizeof(*names) + 1);
    for (int i = 0; i < n; i++) {
        names[i] = dt_strdup(s->d, list[i]->d_name);
        free(list[i]);
    }
    if (n >= 0) {
        free(list);
    }
    for (int i = 0; i < n; i++) {
        struct library *l = dt_alloc(s->d, sizeof(*l));
        l->name = dt_strdup(s->d, names[i]);
        l->path = dt_sprintf(s->d, "%s/%s", directory, names[i]);
        l->text = dt_file_read(s->d, l->path, &l->size);
        s->current = l;
        dt_directives_each(l->text, l->size, note_dependency, s);
        *s->end = l;
        s->end = &l->next;
    }
}

/* ---- loading ----------------------------------------------------------------------- */

static void library_parse_text(struct dt_session *d, const char *path, const char *text,
                               size_t size)
{
    struct dt_source *source = dt_alloc(d, sizeof(*source));

    *source = (struct dt_source){.file = path, .spec = DT_SPEC_NAME};
    dt_pragma_options_scan(d, text, size);
    dt_source_parse(d, source, text, size, NULL);
}

/* False: it is left out. */
static bool library_load_file(struct search *s, struct library *l)
{
    struct dt_location location = {.file = l->path, .line = 1};

    if (l->state == LOADING) {
        dt_fail(s->d, location, "D_PRAGMA_DEPEND", "dependency cycle: library %s depends on itself",
                l->name);
    }
    if (l->state == DONE || l->missing) {
        return !l->missing;
    }
    l->state = LOADING;
    for (const struct dependency *x = l->dependencies; x; x = x->next) {
        struct library *other = s->libraries;
        while (other && strcmp(other->name, x->name) != 0) {
            other = other->next;
        }
        if (!other) {
            dt_fail(s->d, location, "D_PRAGMA_DEPEND",
                    "library %s depends on library %s, which was not found", l->name, x->name);
        }
        l->missing |= !library_load_file(s, other);
    }
    l->state = DONE;
    if (!l->missing) {
        library_parse_text(s->d, l->path, l->text, l->size);
    }
    return !l->missing;
}

void dt_libraries_load(struct dt_session *d)
{
    struct search s = {.d = d};

    s.end = &s.libraries;
    if (d->options.values[DT_O_nolibs]) {
        return;
    }
    if (d->options.texts[DT_O_syslibdir]) {
        library_find_folder(&s, d->options.texts[DT_O_syslibdir]);
    } else {
        const char *errors = errors_text(d), *registers = registers_text(d);
        library_parse_text(d, "(built in)", errors, strlen(errors));
        library_parse_text(d, "(built in)", states_text, sizeof(states_text) - 1);
        library_parse_text(d, "(built in)", words_text, sizeof(words_text) - 1);
        library_parse_text(d, "(built in)", built_in, sizeof(built_in) - 1);
        library_parse_text(d, "(built in)", registers, strlen(registers));
        /* The variable errno gets its type from them. */
        dt_ident_lookup(d->globals, "errno")->type = dt_type_lookup(d, NULL, "errno_t");
    }
    for (const struct dt_text_list *l = d->options.lists[DT_O_libdir]; l; l = l->next) {
        library_find_folder(&s, l->text);
    }
    for (struct library *l = s.libraries; l; l = l->next) {
        library_load_file(&s, l);
    }
}
