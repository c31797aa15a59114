/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider pid: a description pidN:module:function:name, before the target is asked for what
 * matches it. This side has the ELF file of the process's program, so it finds the functions, reads
 * their instructions, and says to the target where the probes are to be (KYMO_D_USER), which
 * believes nothing of it. Proof: test/board/pid.py, test/isa.
 */
#include "host/remote/remote.h"

#include "host/pid/places.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 32 << 10, SHOWN_MOST = 10 };

struct pid_making {
    struct remote *remote;
    const char *provider, *object;
    const char *const *pattern;
    uint64_t bias; /* where the program is, minus where it was linked */
    uint8_t *message;
    size_t bytes, room;
    uint32_t count;
    bool offsets; /* a function's instructions, too, if the name is a pattern */
    const struct dt_function *function;
    /* The function's facts: its kinds of return, and why one of them can't be probed. */
    unsigned returns;
    const char *no_return;
    unsigned refused;
    unsigned wanted, made;   /* places */
    const char *no_function; /* why the last function that was left out can't be probed */
    int error;
};

/* The number of a provider pidN; 0: another name. */
static int32_t remote_pid_of_provider(const char *provider)
{
    char *end;

    if (!provider || strncmp(provider, "pid", 3) != 0 || !isdigit((unsigned char)provider[3])) {
        return 0;
    }
    const long pid = strtol(provider + 3, &end, 10);
    return *end || pid > INT32_MAX ? 0 : (int32_t)pid;
}

static bool is_exact(const char *pattern)
{
    return *pattern && !strpbrk(pattern, "*?[\\");
}

/* ---- a request --------------------------------------------------------------------- */

static void send_places(struct pid_making *m)
{
    struct kymo_d_user head = {.pid = remote_pid_of_provider(m->provider), .count = m->count};
    struct kymo_d_call call = {.command = KYMO_D_USER,
                               .in_bytes = (uint32_t)m->bytes,
                               .out_bytes = sizeof(struct kymo_d_user_made)};
    struct kymo_d_user_made made;
    const uint8_t *out;

    m->wanted += m->count;
    if (m->count == 0 || m->error) {
        return;
    }
    memcpy(m->message, &head, sizeof(head));
    m->error = m->bytes > KYMO_D_IN_MOST ? -E2BIG : remote_call(m->remote, &call, m->message, &out);
    if (!m->error && call.out_bytes != sizeof(made)) {
        m->error = remote_nonsense(m->remote, "the probes of a process");
    }
    if (!m->error) {
        memcpy(&made, out, sizeof(made));
        m->error = made.refused ? remote_error(made.why) : 0;
        m->made += made.made;
    }
    m->bytes = sizeof(head);
    m->count = 0;
}

static void add_place(struct pid_making *m, const struct pid_place *p, enum kymo_d_user_kind kind,
                      const char *name)
{
    const size_t function = strlen(m->function->name) + 1, texts = function + strlen(name) + 1;
    const size_t more = p->bytes > sizeof(p->insn) ? p->bytes - sizeof(p->insn) : 0;
    const size_t size = (sizeof(struct kymo_d_user_place) + texts + more + 7) & ~(size_t)7;
    struct kymo_d_user_place place = {.address = m->function->address + m->bias + p->offset,
                                      .insn = p->insn,
                                      .offset = p->offset,
                                      .size = (uint16_t)size,
                                      .bytes = p->bytes,
                                      .kind = (uint8_t)kind};

    if (m->bytes + size > m->room) {
        uint8_t *bigger = realloc(m->message, m->room * 2 + size);
        m->error = bigger ? m->error : -ENOMEM;
        if (!bigger) {
            return;
        }
        m->message = bigger;
        m->room = m->room * 2 + size;
    }
    uint8_t *to = m->message + m->bytes;
    memset(to, 0, size);
    memcpy(to, &place, sizeof(place));
    memcpy(to + sizeof(place), m->function->name, function);
    memcpy(to + sizeof(place) + function, name, strlen(name) + 1);
    memcpy(to + sizeof(place) + texts, m->function->text + p->offset + sizeof(p->insn), more);
    m->bytes += size;
    m->count++;
}

/* ---- a function -------------------------------------------------------------------- */

/* Says which probe there is not; the first ones of a description. */
static void say_refused(struct pid_making *m, const char *name, const char *why)
{
    if (m->refused++ < SHOWN_MOST) {
        fprintf(stderr, "dtrace: no probe %s:%s:%s:%s: %s\n", m->provider, m->object,
                m->function->name, name, why);
    }
    snprintf(m->remote->pid_why, sizeof(m->remote->pid_why), "%s", why);
}

static void take_entry(void *arg, const struct pid_place *p)
{
    struct pid_making *m = arg;

    if (p->offset == 0 && p->refuse) {
        say_refused(m, "entry", p->refuse);
    } else if (p->offset == 0) {
        add_place(m, p, KYMO_D_USER_ENTRY, "entry");
    }
}

/* All returns or none: half of them would mislead. */
static void look_at_return(void *arg, const struct pid_place *p)
{
    struct pid_making *m = arg;

    m->returns += p->returns;
    m->no_return = p->returns && p->refuse ? p->refuse : m->no_return;
}

static void take_return(void *arg, const struct pid_place *p)
{
    if (p->returns) {
        add_place(arg, p, p->tail ? KYMO_D_USER_TAIL : KYMO_D_USER_RETURN, "return");
    }
}

static void take_offset(void *arg, const struct pid_place *p)
{
    struct pid_making *m = arg;
    char name[KYMO_D_USER_NAME + 4];

    snprintf(name, sizeof(name), "%x", p->offset);
    if (strlen(name) >= KYMO_D_USER_NAME || !dtrace_glob(m->pattern[3], name)) {
        return;
    }
    if (p->refuse) {
        say_refused(m, name, p->refuse);
    } else {
        add_place(m, p, KYMO_D_USER_OFFSET, name);
    }
}

static bool remote_pid_take_start(void *arg, uint64_t address)
{
    const struct pid_making *m = arg;

    return dt_object_starts(m->remote->session, m->object, address);
}

static void take_function(void *arg, const struct dt_function *f)
{
    struct pid_making *m = arg;
    const struct pid_code code = {.name = f->name,
                                  .text = f->text,
                                  .address = f->address,
                                  .size = f->size,
                                  .code = f->code,
                                  .data = f->data,
                                  .data_count = f->data_count,
                                  .machine = m->remote->info.machine,
                                  .starts = remote_pid_take_start,
                                  .arg = m};

    if (!dtrace_glob(m->pattern[2], f->name) || m->error) {
        return;
    }
    m->function = f;
    m->returns = 0;
    m->no_return = NULL;
    const char *why = strlen(f->name) < KYMO_D_USER_FUNCTION ? pid_places(&code, look_at_return, m)
                                                             : "its name is too long";
    if (why) {
        m->no_function = why;
        if (is_exact(m->pattern[2])) {
            say_refused(m, m->pattern[3], why);
        }
        return;
    }
    if (dtrace_glob(m->pattern[3], "entry")) {
        pid_places(&code, take_entry, m);
    }
    if (dtrace_glob(m->pattern[3], "return") && m->no_return) {
        say_refused(m, "return", m->no_return);
    } else if (dtrace_glob(m->pattern[3], "return") && m->returns) {
        pid_places(&code, take_return, m);
    } else if (is_exact(m->pattern[2]) && strcmp(m->pattern[3], "return") == 0) {
        say_refused(m, "return", "it never returns");
    }
    if (m->offsets) {
        pid_places(&code, take_offset, m);
    }
    if (m->bytes > BATCH) {
        send_places(m);
    }
}

/* ---- a description ----------------------------------------------------------------- */

void remote_pid_provide(struct remote *r, const char *const pattern[4])
{
    struct pid_making m = {.remote = r,
                           .provider = pattern[0],
                           .pattern = pattern,
                           .room = BATCH,
                           .bytes = sizeof(struct kymo_d_user)};

    *r->pid_why = '\0';
    if (!r->session || !remote_pid_of_provider(pattern[0]) ||
        !remote_process(&r->base, remote_pid_of_provider(pattern[0]), &m.object, &m.bias) ||
        !dtrace_glob(pattern[1], m.object)) {
        return;
    }
    m.message = malloc(m.room);
    m.error = m.message ? 0 : -ENOMEM;
    m.offsets = is_exact(pattern[2]) || isdigit((unsigned char)*pattern[3]);
    dt_object_functions(r->session, m.object, take_function, &m);
    send_places(&m);
    if (m.refused > SHOWN_MOST) {
        fprintf(stderr, "dtrace: … and %u more of %s\n", m.refused - SHOWN_MOST, m.provider);
    }
    if (m.wanted == 0 && m.no_function) {
        snprintf(r->pid_why, sizeof(r->pid_why), "%s", m.no_function);
    }
    if (m.error) {
        snprintf(r->pid_why, sizeof(r->pid_why), "%s",
                 m.error == -ENOTSUP || m.error == -EINVAL
                     ? "the target's kernel can't have probes in this text (is it in flash?)"
                 : m.error == -ENOSPC ? "the target has no room for so many (what nobody uses is "
                                        "given away after 10 s)"
                 : m.error == -EPERM  ? "the process is not linkd's: that takes the ability "
                                        "dtrace_kernel"
                                      : strerror(-m.error));
        fprintf(stderr, "dtrace: %u of %u places of %s could not be made: %s\n", m.wanted - m.made,
                m.wanted, m.provider, r->pid_why);
    }
    free(m.message);
}

/* a.out is the program, whatever its name. */
const char *remote_pid_module(void *arg, const char *provider, const char *module)
{
    struct remote *r = arg;
    const char *object;
    uint64_t bias;

    return remote_pid_of_provider(provider) && module && strcmp(module, "a.out") == 0 &&
                   remote_process(&r->base, remote_pid_of_provider(provider), &object, &bias)
               ? object
               : NULL;
}

static void remote_pid_take_nothing(void *arg, const struct dt_function *f)
{
    const char **wanted = arg;

    *wanted = *wanted && strcmp(f->name, *wanted) == 0 ? NULL : *wanted;
}

const char *remote_pid_why_none(void *arg, struct dt_session *session, const char *const fields[4])
{
    struct remote *r = arg;
    static char text[300];
    const char *object, *near, *missing = fields[2];
    const int32_t pid = remote_pid_of_provider(fields[0]);
    uint64_t bias;

    if (strcmp(fields[0], "pid0") == 0) {
        return ": $target is the process of -c or -p";
    }
    if (strcmp(fields[0], "pid") == 0) {
        return ": a process is named by its number or its name: pidN::…, pid:NAME:…";
    }
    if (!pid) {
        return NULL;
    }
    if (!remote_process(&r->base, pid, &object, &bias)) {
        snprintf(text, sizeof(text), ": there is no process %d", pid);
    } else if (dt_object_functions(session, object, remote_pid_take_nothing, &missing) == 0) {
        snprintf(text, sizeof(text), ": no ELF file here has functions of %s (--elf FILE)", object);
    } else if (!dtrace_glob(fields[1], object)) {
        snprintf(text, sizeof(text), ": process %d runs %s", pid, object);
    } else if (is_exact(fields[2]) && missing) {
        near = dt_object_nearest(session, object, fields[2]);
        snprintf(text, sizeof(text), ": no function %s in %s%s%s%s", fields[2], object,
                 near ? "; " : "", near ? near : "", near ? "?" : "");
    } else {
        snprintf(text, sizeof(text), "%s%s", *r->pid_why ? ": " : "", r->pid_why);
    }
    return text;
}
