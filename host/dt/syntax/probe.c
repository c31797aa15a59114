/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probe descriptions: fields taken from the right, macro variables inside them.
 */
#include "host/dt/syntax/parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 4 };

static _Noreturn void probe_report_bad(struct dt_parse *p, struct dt_location location,
                                       const char *text, const char *why)
{
    dt_fail(p->session, location, "D_PDESC_INVAL", "invalid probe description \"%s\": %s", text,
            why);
}

/* With defaultargs, too: an empty field would mean all that there are. */
static void needs_argument(struct dt_parse *p, struct dt_location location, const char *text,
                           const char *name)
{
    long number = isdigit((unsigned char)*name) ? strtol(name, NULL, 10) : 0;

    if (number >= p->source->argc) {
        probe_report_bad(p, location, text,
                         dt_sprintf(p->session, "macro argument $%ld is not given", number));
    }
}

/* The macro variable at `at`, after its $; *end is set after it. */
static const char *probe_macro_text(struct dt_parse *p, struct dt_location location,
                                    const char *text, const char *at, const char **end)
{
    const char *name = at + (*at == '$'), *value; /* $$1 is $1 here */
    size_t n = 0;

    while (isdigit((unsigned char)*name) ? isdigit((unsigned char)name[n])
                                         : (isalnum((unsigned char)name[n]) || name[n] == '_')) {
        n++;
    }
    *end = name + n;
    needs_argument(p, location, text, name);
    return dt_macro_value(p, name, n, &value) ? value : NULL;
}

static const char *probe_expand_text(struct dt_parse *p, struct dt_location location,
                                     const char *text)
{
    const char *dollar = strchr(text, '$'), *end;
    const char *result = "";

    for (; dollar; dollar = strchr(text, '$')) {
        const char *value = probe_macro_text(p, location, text, dollar + 1, &end);
        if (!value) {
            probe_report_bad(p, location, text, "undefined macro variable");
        }
        result = dt_sprintf(p->session, "%s%.*s%s", result, (int)(dollar - text), text, value);
        text = end;
    }
    return *result ? dt_sprintf(p->session, "%s%s", result, text) : text;
}

static struct dt_node *probe_make_node(struct dt_parse *p, struct dt_location location,
                                       const char *text, const char *const *fields)
{
    struct dt_node *n = dt_node_new(p->session, DT_NODE_PROBE, location);
    const unsigned targets = p->targets_named;

    n->provider = probe_expand_text(p, location, fields[0]);
    n->module = probe_expand_text(p, location, fields[1]);
    n->function = probe_expand_text(p, location, fields[2]);
    n->probe_name = probe_expand_text(p, location, fields[3]);
    n->is_target = p->targets_named != targets;
    n->text = text;
    return n;
}

/* Without a colon the text is the field that the command's option says; each colon moves one field
 * to the left. */
struct dt_node *dt_probe_by_text(struct dt_parse *p, struct dt_location location, const char *text)
{
    const char *fields[FIELDS] = {"", "", "", ""}, *end = text + strlen(text);
    enum dt_spec spec = p->source->spec;
    int field = spec <= DT_SPEC_NAME ? (int)spec : DT_SPEC_NAME;

    for (;;) {
        const char *start = end;
        while (start > text && start[-1] != ':') {
            start--;
        }
        if (field < 0) {
            probe_report_bad(p, location, text,
                             "too many fields (expected provider:module:function:name)");
        }
        fields[field--] = dt_strndup(p->session, start, (size_t)(end - start));
        if (start == text) {
            return probe_make_node(p, location, text, fields);
        }
        end = start - 1;
    }
}

struct dt_node *dt_probe_by_id(struct dt_parse *p, struct dt_location location, uint64_t id)
{
    struct dt_node *n = dt_node_new(p->session, DT_NODE_PROBE, location);

    if (id == 0 || id > UINT32_MAX) {
        dt_fail(p->session, location, "D_PDESC_INVAL",
                "probe identifier %llu does not match any probes", (unsigned long long)id);
    }
    n->provider = n->module = n->function = n->probe_name = "";
    n->probe_id = (uint32_t)id;
    return n;
}
