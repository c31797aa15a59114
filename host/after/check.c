/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a capture has what a program reads, decided before the first event: each built-in
 * variable, argument, subroutine and action of each clause, against what the events of its probes
 * carry in the form that was recorded. A message names the clause's line, what is missing and the
 * remedy. See after.h.
 */
#include "host/after/after.h"
#include "host/verify/verify.h"

#include "trace/slot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAID_MOST = 20 };

struct check {
    const struct dtrace_image *image;
    const struct after_about *about;
    const struct dtrace_image_ecb *ecb;
    char **said; /* messages so far, printed or only counted */
    unsigned nsaid;
    /* The variables that the clause reads. */
    uint32_t arguments; /* bit per argN; the last for all later ones */
    bool reads_thread, reads_errno;
};

uint32_t after_used;
bool after_wants_text;

/* ---- probes that a capture can't have ------------------------------------------------ */

static const struct {
    const char *provider, *name, *why;
} elsewhere[] = {
    {"fbt", NULL, "fbt: functions of the kernel are no events: trace live"},
    {"profile", "profile-", "where a CPU was is no event: trace live, or use tick-N"},
    {"pid", NULL, "pid: functions of programs are no events: trace live"},
};

const char *after_lacks(const char *provider, const char *function, const char *name,
                        const struct after_about *about)
{
    static char why[160];
    static const char *const classes[] = {
#define C(name) #name,
        AFTER_CLASSES(C)
#undef C
    };

    for (unsigned i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++) {
        const char *begin = elsewhere[i].name;
        if (strncmp(provider, elsewhere[i].provider, strlen(elsewhere[i].provider)) == 0 &&
            (!begin || strncmp(name, begin, strlen(begin)) == 0)) {
            return elsewhere[i].why;
        }
    }
    const struct after_row *row = after_row_find(provider, function, name);
    enum after_class class_of = row ? after_row_class(row) : AFTER_NOWHERE;
    if (row && class_of == AFTER_NOWHERE) {
        return "no event of the log has it: trace live";
    }
    if (row && class_of == AFTER_PROBES && about->off >> class_of & 1) {
        return "the capture was recorded without the system's probes: record with --probes";
    }
    if (row && about->off >> class_of & 1) {
        snprintf(why, sizeof(why), "the capture was recorded without class %s: record with it",
                 classes[class_of]);
        return why;
    }
    return NULL;
}

/* ---- messages ------------------------------------------------------------------------ */

static const char *after_check_string_at(const struct check *c, uint32_t at)
{
    return (const char *)c->image + c->image->strings.offset + at;
}

/* True if an equal message came before: of another clause of the probe, or of this one. */
static bool is_said(const struct check *c, const char *text)
{
    for (unsigned i = 0; i < c->nsaid; i++) {
        if (strcmp(c->said[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/* Says it once, however many clauses of a probe lack the same. */
static void after_check_report_lack(struct check *c, const char *what, const char *why)
{
    char text[512];

    snprintf(text, sizeof(text), "%s:%s:%s:%s: %s %s", after_check_string_at(c, c->ecb->provider),
             after_check_string_at(c, c->ecb->module), after_check_string_at(c, c->ecb->function),
             after_check_string_at(c, c->ecb->name), what, why);
    if (is_said(c, text)) {
        return;
    }
    if (c->nsaid < SAID_MOST) {
        fprintf(stderr, "dtrace: %s\n", text);
    }
    c->said = realloc(c->said, (c->nsaid + 1) * sizeof(*c->said));
    if (c->said == NULL || (c->said[c->nsaid++] = strdup(text)) == NULL) {
        fputs("dtrace: out of memory\n", stderr);
        exit(1);
    }
}

bool after_is_whole(const struct kev *kev)
{
    const struct kev_error *error = kev_ended_by(kev);

    if (error != NULL) {
        verify_refuse_d(error);
    } else if (kev_cut_doubt(kev) != NULL) {
        fprintf(stderr, "dtrace: %s: the capture that it was cut out of is cut short or damaged\n",
                kev_info(kev)->path);
    }
    return error == NULL && kev_cut_doubt(kev) == NULL;
}

/* ---- what an object reads ------------------------------------------------------------ */

static const char NOT_HERE[] = "is in no event of the log: trace live";

static void after_check_argument(struct check *c, uint64_t n)
{
    c->arguments |= 1u << (n < AFTER_WORDS ? n : AFTER_WORDS);
}

static void after_check_variable(struct check *c, unsigned number)
{
    switch (number) {
    case DIF_VAR_pid:
    case DIF_VAR_tid:
    case DIF_VAR_execname:
    case DIF_VAR_ppid:
        c->reads_thread = true;
        break;
    case DIF_VAR_errno:
        c->reads_errno = true;
        break;
#define MISSING(name) \
    case DIF_VAR_##name: \
        after_check_report_lack(c, #name, NOT_HERE); \
        break;
        MISSING(curthread)
        MISSING(ipl)
        MISSING(vtimestamp)
        MISSING(cycles)
        MISSING(instructions)
        MISSING(walltimestamp)
        MISSING(stackdepth)
        MISSING(ustackdepth)
        MISSING(caller)
        MISSING(ucaller)
#undef MISSING
    default:
        if (number >= DIF_VAR_arg0 && number <= DIF_VAR_arg9) {
            after_check_argument(c, number - DIF_VAR_arg0);
        }
    }
}

/* word: the third argument of lwpinfo(), UINT64_MAX: unknown. */
static void after_check_subroutine(struct check *c, unsigned number, uint64_t word)
{
    static const struct {
        uint8_t word;
        const char *member;
    } missing[] = {{DTRACE_LWPINFO_CALL, "pr_syscall"},
                   {DTRACE_LWPINFO_WCHAN, "pr_wchan"},
                   {DTRACE_LWPINFO_FLAGS, "pr_flag"},
                   {DTRACE_LWPINFO_THREADS, "pr_nlwp"},
                   {DTRACE_LWPINFO_ADDRESS, "pr_addr"}};

    switch (number) {
    case DIF_SUBR_copyin:
    case DIF_SUBR_copyinstr:
    case DIF_SUBR_copyinto:
    case DIF_SUBR_copyout:
    case DIF_SUBR_copyoutstr:
        after_check_report_lack(c, "memory of a process", NOT_HERE);
        break;
    case DIF_SUBR_progenyof:
        c->reads_thread = true;
        break;
    case DIF_SUBR_lwpinfo:
        for (unsigned i = 0; i < sizeof(missing) / sizeof(*missing); i++) {
            if (missing[i].word == word) {
                after_check_report_lack(c, missing[i].member, NOT_HERE);
            }
        }
        if ((word == DTRACE_LWPINFO_PRIORITY || word == DTRACE_LWPINFO_POLICY) &&
            c->about->form == AFTER_FAST) {
            after_check_report_lack(c, word == DTRACE_LWPINFO_PRIORITY ? "pr_pri" : "pr_clname",
                                    "isn't in fast events: record with tracelogger -w");
        }
        break;
    default:
        break;
    }
}

/* Constants are followed from register to register, as the compiler lays them out: without a
 * branch between a constant and its use. */
static void after_check_object(struct check *c, uint32_t number)
{
    uint64_t held[DIF_REGS], pushed[DIF_TUPLE_REGS];
    unsigned npushed = 0;
    struct dif_object o;

    if (number == 0) {
        return;
    }
    memset(held, 0xff, sizeof(held));
    held[0] = 0;
    dtrace_image_object_at(c->image, number - 1, &o);
    for (uint32_t i = 0; i < o.ntext; i++) {
        dif_insn insn = o.text[i];
        unsigned rd = DIF_INSN_RD(insn) % DIF_REGS, index = DIF_INSN_INDEX(insn);
        switch (DIF_INSN_OP(insn)) {
        case DIF_OP_setx:
            held[rd] = index < o.nints ? o.ints[index] : UINT64_MAX;
            continue;
        case DIF_OP_mov:
            held[rd] = held[DIF_INSN_R1(insn) % DIF_REGS];
            continue;
        case DIF_OP_ldgs:
            after_check_variable(c, index);
            break;
        case DIF_OP_ldga:
            if (DIF_INSN_VAR_A(insn) == DIF_VAR_args) {
                after_check_argument(c, held[DIF_INSN_R2(insn) % DIF_REGS]);
            } else {
                after_check_report_lack(c, "a register", NOT_HERE);
            }
            break;
        case DIF_OP_pushtv:
        case DIF_OP_pushtr:
            pushed[npushed % DIF_TUPLE_REGS] = held[rd];
            npushed++;
            continue;
        case DIF_OP_popts:
            npushed -= npushed > 0;
            continue;
        case DIF_OP_flushts:
            npushed = 0;
            continue;
        case DIF_OP_call:
            after_check_subroutine(c, index, npushed == 3 ? pushed[2] : UINT64_MAX);
            npushed = 0;
            break;
        case DIF_OP_uldsb ... DIF_OP_uldx:
            after_check_report_lack(c, "memory of a process", NOT_HERE);
            break;
        default:
            break;
        }
        held[rd] = rd ? UINT64_MAX : 0;
    }
}

/* Checks ustack(): only programs that record their functions have a user stack. */
static void user_stack(struct check *c)
{
    c->reads_thread = true;
    after_used |= 1u << TRACE_CLASS_SYSTEM;
    if (c->about->gate) {
        after_check_report_lack(c, "ustack()",
                                "is unknown: tracelogger -x let pass only some of its events");
    } else if (c->about->off >> AFTER_SYSTEM & 1) {
        after_check_report_lack(c, "ustack()",
                                "is unknown: the capture was recorded without class SYSTEM");
    }
}

static void after_check_action(struct check *c, const struct dtrace_image_action *a)
{
    after_check_object(c, a->object);
    after_check_object(c, a->weight);
    switch (a->kind) {
    case DTRACE_ACT_STACK:
        after_check_report_lack(c, "stack()", NOT_HERE);
        break;
    case DTRACE_ACT_USTACK:
    case DTRACE_ACT_JSTACK:
        user_stack(c);
        break;
    case DTRACE_ACT_LOGSTOP:
        after_check_report_lack(c, "logstop()", "can't stop what is over");
        break;
    default:
        if (DTRACE_ACT_IS_DESTRUCTIVE(a->kind) && a->kind != DTRACE_ACT_SYSTEM &&
            a->kind != DTRACE_ACT_FREOPEN) {
            after_check_report_lack(c, "a destructive action", "can't change what is over");
        }
    }
}

/* ---- against the probes -------------------------------------------------------------- */

static void check_arguments(struct check *c, const struct after_row *row)
{
    uint32_t carried = after_row_carries(row, c->about->form);
    uint32_t widest = after_row_carries(row, AFTER_WIDE);
    char what[96];

    for (unsigned n = 0; n < AFTER_WORDS; n++) {
        uint32_t bit = 1u << row->words[n];
        if (!(c->arguments >> n & 1)) {
            continue;
        }
        if (!(carried & bit)) {
            snprintf(what, sizeof(what), "arg%u of %s:%s%s%s", n, row->provider, row->function,
                     *row->function ? ":" : "", row->name);
            after_check_report_lack(
                c, what,
                widest & bit ? "isn't in fast events: record with tracelogger -w" : NOT_HERE);
        }
        if (after_site_of_message(row->site) && bit == 2 && c->about->off >> AFTER_COMM & 1) {
            after_check_report_lack(c, "the client",
                                    "is unknown: the capture was recorded without class COMM");
        }
        after_needed[row->site] |= bit;
    }
    if (c->reads_errno && row->site != TRACE_EV_kercall_exit) {
        after_check_report_lack(c, "errno", "is known where a call returns: use syscall:::return");
    }
}

static bool after_check_probe_matches(const struct check *c, const struct dtrace_probe_names *names)
{
    const struct dtrace_image_ecb *e = c->ecb;

    if (e->probe) {
        return e->probe == names->id;
    }
    return dtrace_glob(after_check_string_at(c, e->provider), names->provider->name) &&
           dtrace_glob(after_check_string_at(c, e->module), names->module) &&
           dtrace_glob(after_check_string_at(c, e->function), names->function) &&
           dtrace_glob(after_check_string_at(c, e->name), names->name);
}

static void check_probes(struct check *c)
{
    struct dtrace_probe_names names = {.id = 0};
    bool threads_off = c->about->off >> AFTER_THREAD & 1;

    while (dtrace_probe_next(names.id, &names)) {
        const struct after_row *row =
            after_row_find(names.provider->name, names.function, names.name);
        if (row && after_check_probe_matches(c, &names) &&
            !after_lacks(names.provider->name, names.function, names.name, c->about)) {
            check_arguments(c, row);
            after_used |= after_row_slot_classes(row);
            after_wants_text |=
                row->site == TRACE_EV_user_event && strcmp(row->name, "string") == 0;
        }
    }
    after_used |= c->reads_thread ? 1u << TRACE_CLASS_PR_TH : 0;
    if (c->reads_thread && (threads_off || c->about->gate)) {
        after_check_report_lack(
            c, "the current thread",
            threads_off ? "is unknown: the capture was recorded without class THREAD"
                        : "is unknown: tracelogger -x let pass only some of its events");
    }
}

bool after_check(const struct dtrace_image *image, const struct after_about *about)
{
    struct check c = {.image = image, .about = about};
    const struct dtrace_image_ecb *ecbs = DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb);
    const struct dtrace_image_action *actions =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action);

    for (uint32_t i = 0; i < image->ecbs.count; i++) {
        c.ecb = &ecbs[i];
        c.arguments = 0;
        c.reads_thread = c.reads_errno = false;
        after_check_object(&c, c.ecb->predicate);
        for (uint32_t n = 0; n < c.ecb->nactions; n++) {
            after_check_action(&c, &actions[c.ecb->first_action + n]);
        }
        if (c.ecb->clause != DTRACE_CLAUSE_FAULT) {
            check_probes(&c);
        }
    }
    if (c.nsaid > SAID_MOST) {
        fprintf(stderr, "dtrace: and %u more\n", c.nsaid - SAID_MOST);
    }
    for (unsigned i = 0; i < c.nsaid; i++) {
        free(c.said[i]);
    }
    free(c.said);
    return c.nsaid == 0;
}
