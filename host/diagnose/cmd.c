/* SPDX-License-Identifier: BSD-2-Clause */
/* kymo diagnose: its command line. kymo-diagnose(1), docs/guide/diagnose.md; see diagnose.h. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/assert/assert.h"
#include "host/diagnose/diagnose.h"
#include "host/kymo.h"
#include "host/verify/verify.h"

static const char diagnose_help[] =
    "Usage: kymo diagnose [options] FILE\n"
    "       kymo diagnose --list\n"
    "\n"
    "Says what is wrong with the system of a capture: a line for each finding, with the evidence\n"
    "and the command that shows it, the worst kinds first. Of what events are missing for it says\n"
    "that it can't tell. FILE - is standard input.\n"
    "\n"
    "  --only KIND[,KIND]  look for these kinds of findings only\n"
    "  --rules SCRIPT.d    a rule of one's own, as of kymo assert -s; may be repeated\n"
    "  --list              print the kinds\n"
    "  --json              print one JSON object a line\n"
    "  --strict            end with 1, too, if there is a kind that can't be told\n"
    "  --recover           read the undamaged parts of a damaged file\n"
    "  -h, --help          print this text\n"
    "\n"
    "Exit status: 0 no finding, 1 findings or failure, 2 usage error.\n";

enum { OPT_ONLY = 256, OPT_RULES, OPT_LIST, OPT_JSON, OPT_STRICT, OPT_RECOVER };

static const struct option diagnose_options[] = {
    {"rules", required_argument, NULL, OPT_RULES},
    {"only", required_argument, NULL, OPT_ONLY},
    {"list", no_argument, NULL, OPT_LIST},
    {"json", no_argument, NULL, OPT_JSON},
    {"strict", no_argument, NULL, OPT_STRICT},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct diagnose_request {
    const char *path;
    uint32_t only;
    bool json, strict, recover;
    struct assertion rules; /* of --rules */
};

static int diagnose_list(void)
{
    for (unsigned kind = 0; kind < FINDINGS; kind++) {
        printf("%-14s %s\n", finding_name(kind), finding_title(kind));
    }
    return kymo_stdout_end(KYMO_OK);
}

/* Returns the exit status, -1 to continue. */
static int diagnose_only(struct diagnose_request *r, const char *names)
{
    for (bool more = true; more;) {
        size_t n = strcspn(names, ",");
        unsigned kind = 0;

        while (kind < FINDINGS &&
               (strlen(finding_name(kind)) != n || strncmp(finding_name(kind), names, n) != 0)) {
            kind++;
        }
        if (kind == FINDINGS) {
            return kymo_usage("diagnose", "diagnose: --only: %s%.*s: --list prints them",
                              n == 0 ? "a kind is missing" : "unknown kind ", (int)n, names);
        }
        r->only |= 1u << kind;
        more = names[n] == ',';
        names += n + more;
    }
    return -1;
}

/* Returns the exit status, -1 to continue. */
static int diagnose_options_parse(struct diagnose_request *r, int argc, char **argv)
{
    int option, status;

    opterr = 0;
    optind = 1;
    while ((option = getopt_long(argc, argv, ":h", diagnose_options, NULL)) != -1) {
        switch (option) {
        case 'h':
            return kymo_help(&kymo_diagnose_command);
        case OPT_LIST:
            return diagnose_list();
        case OPT_ONLY:
            status = diagnose_only(r, optarg);
            if (status >= 0) {
                return status;
            }
            break;
        case OPT_RULES:
            status = rules_add_script(&r->rules, optarg);
            if (status != KYMO_OK) {
                return status;
            }
            break;
        case OPT_JSON:
            r->json = r->rules.json = true;
            break;
        case OPT_STRICT:
            r->strict = true;
            break;
        case OPT_RECOVER:
            r->recover = true;
            break;
        default:
            return kymo_bad_option("diagnose", diagnose_options, argc, argv, option);
        }
    }
    if (optind + 1 != argc) {
        return kymo_usage("diagnose", optind == argc ? "diagnose: which capture?"
                                                     : "diagnose: one capture at a time");
    }
    r->path = r->rules.path = argv[optind];
    if (r->rules.nrules > 0 && strcmp(r->path, "-") == 0) {
        return kymo_usage("diagnose",
                          "diagnose: each rule reads the capture anew: give a file, not -");
    }
    r->only = r->only == 0 ? UINT32_MAX : r->only;
    return -1;
}

static int diagnose_capture(const struct diagnose_request *r, struct kev_capture *capture)
{
    struct diagnosis_result result;
    int outcome = diagnose_run(capture, r->only, &result), status;
    bool untold = false;

    for (unsigned kind = 0; kind < FINDINGS; kind++) {
        untold |= result.untold[kind].reason[0] != '\0';
    }
    if (r->json) {
        diagnose_json(&result, r->path);
    } else {
        diagnose_text(&result, r->path);
    }
    status = result.count > 0 || (r->strict && untold) ? KYMO_FAILURE : KYMO_OK;
    if (outcome == KEV_FAILED) {
        kymo_error("%s", result.fault);
        status = KYMO_FAILURE;
    }
    diagnose_free(&result);
    return status;
}

/* Runs the user's rules as `kymo assert` does. Returns the exit status. */
static int diagnose_rules(struct assertion *rules)
{
    int status = KYMO_OK;

    if (rules->nrules == 0) {
        return KYMO_OK;
    }
    if (!judge_open(rules)) {
        return KYMO_FAILURE;
    }
    for (unsigned i = 0; i < rules->nrules; i++) {
        judge_rule(rules, &rules->rules[i]);
        out_verdict(rules, &rules->rules[i]);
        status = judge_verdict(&rules->rules[i]) == VERDICT_KEPT ? status : KYMO_FAILURE;
    }
    return status;
}

static int diagnose_main(int argc, char **argv)
{
    struct diagnose_request r = {.only = 0};
    int status = diagnose_options_parse(&r, argc, argv);
    struct kev_capture *capture;

    if (status >= 0) {
        rules_free(&r.rules);
        return status;
    }
    capture = kymo_memory(kev_capture_new());
    if ((r.recover && kev_capture_set_recover(capture, 1) < 0) ||
        kev_capture_open(capture, r.path) < 0) {
        kymo_progress_end();
        verify_refuse_fault(kev_capture_fault(capture));
        status = KYMO_FAILURE;
    } else {
        status = diagnose_capture(&r, capture);
    }
    kev_capture_free(capture);
    status = diagnose_rules(&r.rules) == KYMO_OK ? status : KYMO_FAILURE;
    rules_free(&r.rules);
    return kymo_stdout_end(status);
}

const struct kymo_command kymo_diagnose_command = {
    .name = "diagnose",
    .summary = "say what is wrong with a system",
    .run = diagnose_main,
    .help = diagnose_help,
};
