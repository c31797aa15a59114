/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs each rule in a process of its own, takes its breaches and what it says from two pipes, and
 * decides. What the engine prints on standard error is passed on, and kept as the reason why
 * nobody can tell. See assert.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/assert/assert.h"
#include "host/kymo.h"
#include "host/verify/verify.h"

/* ---- the capture ------------------------------------------------------------------- */

static void doubt_add(struct assertion *a, const char *text, const char *remedy)
{
    size_t n = strlen(a->doubt);

    snprintf(a->doubt + n, sizeof(a->doubt) - n, "%s%s%s%s", n ? "; " : "", text,
             *remedy ? ": " : "", remedy);
}

/* Reports the events that the capture says it leaves out, which a program can't see to be
 * missing. */
static void assert_judge_doubt_scope(struct assertion *a, const struct kev_loss *scope)
{
    switch (scope->kind) {
    case KEV_SCOPE_GATE:
        if (!a->accept_gate) {
            doubt_add(a, scope->text, "what it left out may be a breach (--accept gate)");
        }
        break;
    case KEV_SCOPE_PAUSES:
        if (!a->accept_pauses) {
            doubt_add(a, scope->text, "what happened in a pause may be a breach (--accept pauses)");
        }
        break;
    case KEV_SCOPE_UNKNOWN:
        if (!a->accept_unknown) {
            doubt_add(a, scope->text, "what was left out is unknown (--accept unknown)");
        }
        break;
    case KEV_SCOPE_FOREIGN:
        doubt_add(a, scope->text, "");
        break;
    default: /* rings and cuts begin later; which classes are missing each rule finds itself */
        break;
    }
}

bool judge_open(struct assertion *a)
{
    struct kev_capture *capture = kev_capture_new();
    const struct kev_item *item;
    int outcome = capture ? kev_capture_open(capture, a->path) : KEV_FAILED;

    kymo_progress_end();
    if (outcome == KEV_FAILED) {
        char text[1024] = "out of memory";

        if (capture != NULL) {
            verify_fault_text(kev_capture_fault(capture), VERIFY_CUT, text, sizeof(text));
        }
        kymo_error("%s", text);
        kev_capture_free(capture);
        return false;
    }
    a->hz = kev_capture_facts(capture)->cycles_per_second;
    a->start = kev_capture_facts(capture)->start;
    while (kev_capture_next(capture, &item) == KEV_GIVEN && item->kind == KEV_ITEM_SCOPE) {
        assert_judge_doubt_scope(a, item->loss);
    }
    kev_capture_free(capture);
    return true;
}

/* ---- a rule ------------------------------------------------------------------------ */

void judge_reason(struct rule *rule, const char *text)
{
    size_t n = strlen(rule->reasons), more = strlen(text);

    if (n > 0 && n + 3 < sizeof(rule->reasons)) {
        memcpy(rule->reasons + n, "; ", 2);
        n += 2;
    }
    more = more < sizeof(rule->reasons) - 1 - n ? more : sizeof(rule->reasons) - 1 - n;
    memcpy(rule->reasons + n, text, more);
    rule->reasons[n + more] = '\0';
}

enum verdict judge_verdict(const struct rule *rule)
{
    return rule->breaches ? VERDICT_BREACHED : rule->reasons[0] ? VERDICT_UNDECIDED : VERDICT_KEPT;
}

/* The bytes that a rule's process has written and that are not taken yet. */
struct incoming {
    size_t n;
    uint8_t bytes[sizeof(struct note) + sizeof(struct breach)];
};

/* Takes what is complete of the notes. */
static void notes_take(struct assertion *a, struct rule *rule, struct incoming *in)
{
    static struct breach b;
    struct note note;

    while (in->n >= sizeof(note)) {
        memcpy(&note, in->bytes, sizeof(note));
        size_t need = sizeof(note) + (note.kind == NOTE_BREACH ? sizeof(b) : 0);
        if (in->n < need) {
            return;
        }
        if (note.kind == NOTE_BREACH) {
            memcpy(&b, in->bytes + sizeof(note), sizeof(b));
            out_breach(a, rule, &b);
        } else if (note.kind == NOTE_CHECKED) {
            rule->has_checked = true;
            rule->checked = note.number;
        } else if (note.kind == NOTE_REASON) {
            judge_reason(rule, note.text);
        } else {
            rule->done = true;
        }
        in->n -= need;
        memmove(in->bytes, in->bytes + need, in->n);
    }
}

/* Passes on what the engine says; of the first lines its words are reasons, if there is any. */
static void words_take(char *said, const char *text, size_t n)
{
    size_t have = strlen(said), room = RULE_REASONS - 1 - have;

    kymo_progress_end();
    fwrite(text, 1, n, stderr);
    memcpy(said + have, text, n < room ? n : room);
    said[have + (n < room ? n : room)] = '\0';
}

/* Reads both pipes to their ends. */
static void assert_judge_read_output(struct assertion *a, struct rule *rule, int notes, int words,
                                     char *said)
{
    static struct incoming in;
    struct pollfd fds[2] = {{.fd = notes, .events = POLLIN}, {.fd = words, .events = POLLIN}};
    char text[4096];

    in.n = 0;
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            break;
        }
        if (fds[0].fd >= 0 && fds[0].revents) {
            ssize_t n = read(notes, in.bytes + in.n, sizeof(in.bytes) - in.n);
            if (n > 0) {
                in.n += (size_t)n;
                notes_take(a, rule, &in);
            } else if (n == 0 || errno != EINTR) {
                fds[0].fd = -1;
            }
        }
        if (fds[1].fd >= 0 && fds[1].revents) {
            ssize_t n = read(words, text, sizeof(text));
            if (n > 0) {
                words_take(said, text, (size_t)n);
            } else if (n == 0 || errno != EINTR) {
                fds[1].fd = -1;
            }
        }
    }
}

/* The engine's words, a line a reason, without its name. */
static void reasons_of_words(struct rule *rule, char *said)
{
    char *rest = NULL;

    for (char *line = strtok_r(said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        judge_reason(rule, strncmp(line, "dtrace: ", 8) == 0 ? line + 8 : line);
    }
}

static void rule_process(const struct assertion *a, const struct rule *rule, int notes, int words)
{
    int terminal = dup(STDERR_FILENO);
    FILE *out = fdopen(notes, "w");

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    kymo_progress_on(terminal);
    if (!out || dup2(words, STDERR_FILENO) < 0) {
        _exit(KYMO_FAILURE);
    }
    close(words);
    engine_run(a, rule, out);
}

static void program_rule(struct assertion *a, struct rule *rule)
{
    int notes[2], words[2], status = 0;
    char said[RULE_REASONS] = "", text[80];

    fflush(stdout);
    if (pipe2(notes, 0) != 0 || pipe2(words, 0) != 0) {
        judge_reason(rule, strerror(errno));
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        close(notes[0]);
        close(words[0]);
        rule_process(a, rule, notes[1], words[1]);
    }
    close(notes[1]);
    close(words[1]);
    if (child > 0) {
        assert_judge_read_output(a, rule, notes[0], words[0], said);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    } else {
        judge_reason(rule, strerror(errno));
    }
    close(notes[0]);
    close(words[0]);
    if (child > 0 && !rule->done) {
        snprintf(text, sizeof(text),
                 WIFSIGNALED(status) ? "the rule's process ended by signal %d"
                                     : "the rule's process ended with status %d",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        judge_reason(rule, text);
    }
    if (rule->reasons[0]) {
        reasons_of_words(rule, said);
    }
}

void judge_rule(struct assertion *a, struct rule *rule)
{
    if (rule->kind == RULE_LOSS) {
        loss_rule(a, rule);
    } else {
        if (rule->kind == RULE_WAITS) {
            waits_rule(a, rule);
        } else {
            program_rule(a, rule);
        }
        if (a->doubt[0]) {
            judge_reason(rule, a->doubt);
        }
    }
    if (rule->counts && rule->checked == 0 && rule->breaches == 0 && !rule->reasons[0]) {
        judge_reason(rule, "there is nothing in the capture to check");
    }
}
