/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "Did you mean": the existing name nearest to an unknown one, for error messages; and QNX's names
 * of kernel calls (MsgSend) for those of the provider syscall (msg_sendv). Context: an error, or a
 * description that matched nothing, so a walk through all probes is cheap enough. Tested by
 * test/dtrace/rows/suggestions.rows, test/dtrace/provider_rows.py.
 */
#include "host/dt/check/suggest.h"

#include "host/nearest.h"

#include <ctype.h>
#include <string.h>

enum { FIELDS = 4 };

struct suggest_nearest {
    struct dt_session *session;
    const char *wanted, *name; /* name NULL: nothing is near enough */
    unsigned distance;
};

static struct suggest_nearest nearest_to(struct dt_session *d, const char *wanted)
{
    return (struct suggest_nearest){
        .session = d, .wanted = wanted, .distance = nearest_most(strlen(wanted)) + 1};
}

static size_t length_apart(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);

    return na < nb ? nb - na : na - nb;
}

static void suggest_consider_name(struct suggest_nearest *n, const char *name)
{
    unsigned is = nearest_slips(n->wanted, name);
    bool better = is < n->distance;

    /* Among equally near ones prefers the same length, then alphabetical order. */
    if (is == n->distance && n->name) {
        size_t a = length_apart(n->wanted, name), b = length_apart(n->wanted, n->name);
        better = a != b ? a < b : strcmp(name, n->name) < 0;
    }
    if (better) {
        n->distance = is;
        n->name = dt_strdup(n->session, name);
    }
}

static const char *suggest_print_question(struct dt_session *d, const char *before,
                                          const char *name)
{
    return name ? dt_sprintf(d, "; did you mean %s%s?", before, name) : "";
}

static void consider_in_object(void *arg, const struct dt_function *f)
{
    suggest_consider_name(arg, f->name);
}

const char *dt_object_nearest(struct dt_session *d, const char *object, const char *name)
{
    struct suggest_nearest n = nearest_to(d, name);

    dt_object_functions(d, object, consider_in_object, &n);
    return n.name;
}

/* ---- functions and variables ------------------------------------------------------- */

static void consider_function(void *arg, const struct dt_ident *i)
{
    struct suggest_nearest *n = arg;

    if (i->version <= dt_session_version(n->session) &&
        (i->kind == DT_IDENT_FUNCTION || i->kind == DT_IDENT_ACTION ||
         i->kind == DT_IDENT_AGGFUNC)) {
        suggest_consider_name(n, i->name);
    }
}

const char *dt_suggest_function(struct dt_session *d, const char *name)
{
    struct suggest_nearest n = nearest_to(d, name);

    dt_ident_each(d->globals, consider_function, &n);
    return suggest_print_question(d, "", n.name);
}

static void consider_variable(void *arg, const struct dt_ident *i)
{
    struct suggest_nearest *n = arg;
    bool value = i->kind == DT_IDENT_SCALAR || i->kind == DT_IDENT_ARRAY ||
                 i->kind == DT_IDENT_INLINE || i->kind == DT_IDENT_ENUMERATOR;

    if (value && i->version <= dt_session_version(n->session) && i->name[0] != '%' &&
        (i->type || i->kind == DT_IDENT_ENUMERATOR)) {
        suggest_consider_name(n, i->name);
    }
}

const char *dt_suggest_variable(struct dt_session *d, const char *scope, const char *name)
{
    struct suggest_nearest n = nearest_to(d, name);
    bool self = scope && strcmp(scope, "self") == 0, this = scope && strcmp(scope, "this") == 0;

    if (scope && !self && !this) {
        return "";
    }
    dt_ident_each(self ? d->threads : this ? d->locals : d->globals, consider_variable, &n);
    return suggest_print_question(d, self ? "self->" : this ? "this->" : "", n.name);
}

static void consider_aggregation(void *arg, const struct dt_ident *i)
{
    struct suggest_nearest *n = arg;

    if (i->aggregation) {
        suggest_consider_name(n, i->name);
    }
}

const char *dt_suggest_aggregation(struct dt_session *d, const char *name)
{
    struct suggest_nearest n = nearest_to(d, name);

    dt_ident_each(d->aggregations, consider_aggregation, &n);
    return suggest_print_question(d, "@", n.name);
}

/* ---- probes ------------------------------------------------------------------------ */

struct search {
    struct suggest_nearest nearest;
    unsigned field;
};

static bool consider_probe(void *arg, const struct dt_probe_info *info)
{
    struct search *s = arg;
    const char *const fields[FIELDS] = {info->provider, info->module, info->function, info->name};

    suggest_consider_name(&s->nearest, fields[s->field]);
    return s->nearest.distance != 0;
}

/* The nearest value of that field among the probes that match the others. */
static const char *nearest_field(struct dt_session *d, const char *const fields[FIELDS],
                                 unsigned field)
{
    const struct dt_probe_source *probes = d->probes;
    struct search s = {nearest_to(d, fields[field]), field};
    const char *open[FIELDS];

    memcpy(open, fields, sizeof(open));
    open[field] = "";
    probes->each(probes->arg, open[0], open[1], open[2], open[3], 0, consider_probe, &s);
    dt_derived_each(d, open[0], open[1], open[2], open[3], consider_probe, &s);
    return s.nearest.name;
}

static bool is_pattern(const char *text)
{
    return strpbrk(text, "*?[\\") != NULL;
}

static bool suggest_take_probe(void *arg, const struct dt_probe_info *info)
{
    (void)arg;
    (void)info;
    return false;
}

/* Corrects a single field; if that is not enough, and it was the provider, others after it. */
static bool suggest_correct_fields(struct dt_session *d, const char *fields[FIELDS])
{
    for (unsigned i = FIELDS; i-- > 0;) {
        const char *was = fields[i];
        const char *better = *was && !is_pattern(was) ? nearest_field(d, fields, i) : NULL;
        if (better && *better) {
            const struct dt_probe_source *probes = d->probes;
            fields[i] = better;
            if (probes->each(probes->arg, fields[0], fields[1], fields[2], fields[3], 0,
                             suggest_take_probe, NULL) > 0 ||
                dt_derived_each(d, fields[0], fields[1], fields[2], fields[3], suggest_take_probe,
                                NULL) > 0) {
                return true;
            }
            fields[i] = was;
        }
    }
    return false;
}

const char *dt_suggest_probe(struct dt_session *d, const struct dt_node *n)
{
    const char *fields[FIELDS] = {n->provider, n->module, n->function, n->probe_name};

    if (!suggest_correct_fields(d, fields)) {
        /* A provider that nothing has: the rest can only be looked at once it is the right one. */
        const char *const alone[FIELDS] = {fields[0], "", "", ""};
        const char *provider =
            *fields[0] && !is_pattern(fields[0]) ? nearest_field(d, alone, 0) : "";
        fields[0] = provider ? provider : "";
        if (!*fields[0] || !suggest_correct_fields(d, fields)) {
            return "";
        }
    }
    return dt_sprintf(d, "; did you mean %s:%s:%s:%s?", fields[0], fields[1], fields[2], fields[3]);
}

/* ---- QNX's names of kernel calls --------------------------------------------------- */

/* Lower case, without the underscores: MsgSendPulse and msg_send_pulse are the same. A cover
 * function's `_r` is left out. */
static const char *suggest_squeeze_name(struct dt_session *d, const char *name)
{
    size_t length = strlen(name);
    char *text = dt_alloc(d, length + 1), *to = text;

    if (length > 2 && strcmp(name + length - 2, "_r") == 0) {
        length -= 2;
    }
    for (size_t i = 0; i < length; i++) {
        if (name[i] != '_') {
            *to++ = (char)tolower((unsigned char)name[i]);
        }
    }
    return text;
}

/* Cover functions of the C library end in a call of another name: MsgSend(), MsgSendsv(),
 * MsgSendvs() in msg_sendv, MsgSendnc() in msg_sendvnc, InterruptAttachEvent()
 * in interrupt_attach. */
static const struct {
    const char *cover, *call; /* how their names end; squeezed */
} ends[] = {{"", "v"},
            {"sv", "v"},
            {"vs", "v"},
            {"nc", "vnc"},
            {"svnc", "vnc"},
            {"vsnc", "vnc"},
            {"interruptattachevent", "interruptattach"},
            {"dtracecontrol", "dtrace"}};

/* The call has that name, or a name that fits the pattern; both are squeezed. */
static bool suggest_is_named(struct dt_session *d, const char *call, const char *wanted)
{
    if (dtrace_glob(wanted, call)) {
        return true;
    }
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        size_t length = strlen(call), tail = strlen(ends[i].call);
        if (length >= tail && strcmp(call + length - tail, ends[i].call) == 0) {
            int stem = (int)(strlen(call) - strlen(ends[i].call));
            if (dtrace_glob(wanted, dt_sprintf(d, "%.*s%s", stem, call, ends[i].cover))) {
                return true;
            }
        }
    }
    return false;
}

struct calls {
    struct dt_session *session;
    const struct dt_node *asked;
    const char *name; /* squeezed */
    struct dt_node *first, *last;
};

static bool suggest_take_call(void *arg, const struct dt_probe_info *info)
{
    struct calls *c = arg;
    const char *call = suggest_squeeze_name(c->session, info->function);
    const struct dt_node *same = c->first;

    while (same && strcmp(same->function, info->function) != 0) {
        same = same->next;
    }
    if (strcmp(info->provider, "syscall") == 0 && !same &&
        suggest_is_named(c->session, call, c->name)) {
        struct dt_node *n = dt_node_new(c->session, DT_NODE_PROBE, c->asked->location);
        *n = *c->asked;
        n->next = NULL;
        n->provider = "syscall";
        n->function = dt_strdup(c->session, info->function);
        *(c->last ? &c->last->next : &c->first) = n;
        c->last = n;
    }
    return true;
}

bool dt_probe_by_qnx_name(struct dt_session *d, struct dt_node *n)
{
    const struct dt_probe_source *probes = d->probes;
    struct calls c = {.session = d, .asked = n};
    const char *capital = n->function;

    if (n->probe_id || !dtrace_glob(n->provider, "syscall")) {
        return false;
    }
    /* QNX's names begin with a capital. A pattern for them has one anywhere: a pattern in lower
     * case is for the kernel's names. */
    while (is_pattern(n->function) && *capital && !isupper((unsigned char)*capital)) {
        capital++;
    }
    if (!isupper((unsigned char)*capital)) {
        return false;
    }
    c.name = suggest_squeeze_name(d, n->function);
    probes->each(probes->arg, "syscall", n->module, "", n->probe_name, 0, suggest_take_call, &c);
    if (!c.first) {
        return false;
    }
    c.last->next = n->next;
    *n = *c.first;
    return true;
}
