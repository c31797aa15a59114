/* SPDX-License-Identifier: BSD-2-Clause */
/* kymo assert: its command line. See assert.h. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "host/assert/assert.h"
#include "host/kymo.h"
#include "host/output.h"

static const char assert_help[] =
    "Usage: kymo assert [options] RULE... FILE [ARGUMENT...]\n"
    "\n"
    "Checks that a capture keeps rules. Prints each breach with its time, and ends with status 1\n"
    "if there is one, or if nobody can tell because events are missing.\n"
    "\n"
    "  -s SCRIPT.d           a rule: each line that the D script prints is a breach\n"
    "  -n TEXT               a rule: the same of a D program; ARGUMENTs are $1 ... of both\n"
    "  --no-loss             no event was lost, no buffer is missing, nothing is damaged\n"
    "  --message T           no thread waits longer than T for the reply to a message\n"
    "  --inversion T         no thread waits longer than T for one of lower priority\n"
    "  --deadline A B T      after each user event A one B of the same thread comes within T\n"
    "  --deadline-any A B T  the same, of any thread\n"
    "  --list                print the ready rules\n"
    "\n"
    "  --junit FILE          write the verdicts as JUnit XML too\n"
    "  --json                print one JSON object a line\n"
    "  -q, --quiet           print only verdicts that are not \"kept\"\n"
    "  --accept WHAT         decide although the recording had a gate, pauses, or unknown\n"
    "                        filters: gate, pauses, unknown\n"
    "  -h, --help            print this text\n"
    "\n"
    "A time T is as 2ms, 500us, 1.5s. docs/guide/ci.md has examples.\n";

enum { OPT_JUNIT = 256, OPT_JSON, OPT_ACCEPT, OPT_LIST };

static const struct option assert_options[] = {
    {"no-loss", no_argument, NULL, OPT_RULE},
    {"message", required_argument, NULL, OPT_RULE + 1},
    {"inversion", required_argument, NULL, OPT_RULE + 2},
    {"deadline", required_argument, NULL, OPT_RULE + 3},
    {"deadline-any", required_argument, NULL, OPT_RULE + 4},
    {"list", no_argument, NULL, OPT_LIST},
    {"junit", required_argument, NULL, OPT_JUNIT},
    {"json", no_argument, NULL, OPT_JSON},
    {"quiet", no_argument, NULL, 'q'},
    {"accept", required_argument, NULL, OPT_ACCEPT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int assert_accept_use(struct assertion *a, const char *what)
{
    bool *flags[] = {&a->accept_gate, &a->accept_pauses, &a->accept_unknown};
    static const char *const names[] = {"gate", "pauses", "unknown"};

    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(what, names[i]) == 0) {
            *flags[i] = true;
            return KYMO_OK;
        }
    }
    return kymo_usage("assert", "assert: --accept gate, pauses or unknown, not %s", what);
}

/* A ready rule of several words takes those after its first. */
static int ready_use(struct assertion *a, unsigned ready, int argc, char **argv)
{
    char *more[RULE_ARGS] = {NULL};
    unsigned words, taken;

    rules_ready(ready, &words);
    for (unsigned i = 0; i + 1 < words && optind + (int)i < argc; i++) {
        more[i] = argv[optind + (int)i];
    }
    int status = rules_add_ready(a, ready, optarg, more, &taken);
    optind += (int)taken;
    return status;
}

static int assert_option_use(struct assertion *a, int option, int argc, char **argv)
{
    if (option >= OPT_RULE && option < OPT_RULE + READY_RULES) {
        return ready_use(a, (unsigned)(option - OPT_RULE), argc, argv);
    }
    switch (option) {
    case 's':
        return rules_add_script(a, optarg);
    case 'n':
        return rules_add_text(a, optarg);
    case 'q':
        a->quiet = true;
        return KYMO_OK;
    case OPT_JUNIT:
        a->junit = optarg;
        return KYMO_OK;
    case OPT_JSON:
        a->json = true;
        return KYMO_OK;
    case OPT_ACCEPT:
        return assert_accept_use(a, optarg);
    default:
        return kymo_bad_option("assert", assert_options, argc, argv, option);
    }
}

/* The words after the capture are the arguments of the user's rules. Returns as
 * assert_options_parse() does. */
static int arguments_give(struct assertion *a)
{
    unsigned users = 0;

    for (unsigned i = 0; i < a->nrules; i++) {
        users += !a->rules[i].counts;
    }
    if (users == 0 && a->nargs > 1) {
        return kymo_usage("assert", "assert: one capture at a time, not %s too", a->args[1]);
    }
    for (unsigned i = 0; i < a->nrules; i++) {
        if (!a->rules[i].counts) {
            a->rules[i].shares = users > 1;
            free(a->rules[i].args);
            a->rules[i].args = calloc(a->nargs, sizeof(*a->args));
            a->rules[i].nargs = a->rules[i].args ? a->nargs - 1 : 0;
            for (unsigned n = 0; n < a->rules[i].nargs; n++) {
                a->rules[i].args[n] = a->args[n + 1];
            }
        }
    }
    return -1;
}

/* Returns the exit status, -1 to continue. Words between the options are collected: the first is
 * the capture. */
static int assert_options_parse(struct assertion *a, int argc, char **argv)
{
    bool ended = false;
    int option;

    opterr = 0;
    optind = 1;
    while (optind < argc) {
        option = ended ? -1 : getopt_long(argc, argv, "+:s:n:qh", assert_options, NULL);
        if (option == -1) {
            ended |= optind > 1 && strcmp(argv[optind - 1], "--") == 0;
            if (optind < argc) {
                a->args[a->nargs++] = argv[optind++];
            }
            continue;
        }
        if (option == 'h') {
            return kymo_help(&kymo_assert_command);
        }
        if (option == OPT_LIST) {
            rules_list(stdout);
            return kymo_stdout_end(KYMO_OK);
        }
        int status = assert_option_use(a, option, argc, argv);
        if (status != KYMO_OK) {
            return status;
        }
    }
    if (a->nargs == 0) {
        return kymo_usage("assert", "assert: which capture?");
    }
    if (a->nrules == 0) {
        return kymo_usage("assert", "assert: which rule? --list prints the ready ones");
    }
    a->path = a->args[0];
    if (strcmp(a->path, "-") == 0) {
        return kymo_usage("assert", "assert: each rule reads the capture anew: give a file, not -");
    }
    return arguments_give(a);
}

static int assert_all(struct assertion *a)
{
    int status;

    output_reads(a->path);
    for (unsigned i = 0; i < a->nrules; i++) {
        if (a->rules[i].kind == RULE_SCRIPT) {
            output_reads(a->rules[i].source);
        }
    }
    if (a->junit && output_check(a->junit, OUTPUT_REPLACE) != 0) {
        return KYMO_FAILURE;
    }
    if (output_stdout_is_read()) {
        kymo_error("%s: would be written to while it is read: give another file", a->path);
        return KYMO_FAILURE;
    }
    if (!judge_open(a)) {
        return KYMO_FAILURE;
    }
    for (unsigned i = 0; i < a->nrules; i++) {
        judge_rule(a, &a->rules[i]);
        out_verdict(a, &a->rules[i]);
    }
    status = out_end(a);
    if (a->junit && !out_junit(a)) {
        status = KYMO_FAILURE;
    }
    return kymo_stdout_end(status);
}

static int assert_main(int argc, char **argv)
{
    struct assertion a = {.args = kymo_memory(calloc((size_t)argc + 1, sizeof(*a.args)))};
    int status = assert_options_parse(&a, argc, argv);

    status = status < 0 ? assert_all(&a) : status;
    rules_free(&a);
    free(a.args);
    return status;
}

const struct kymo_command kymo_assert_command = {
    .name = "assert",
    .summary = "check that a capture keeps rules",
    .run = assert_main,
    .help = assert_help,
};
