/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enumerators: members of their type and global names.
 */
#include "host/dt/check/check.h"
#include "host/dt/syntax/parse.h"

#include <limits.h>
#include <string.h>

static int64_t value_of(struct dt_parse *p, struct dt_location location, const char *name,
                        struct dt_node *value)
{
    if (value) {
        dt_target_refuse(p, value);
        dt_check_expression(p->session, value);
        if (value->kind != DT_NODE_INT) {
            dt_fail(p->session, location, "D_DECL_ENCONST",
                    "enumerator '%s' must be assigned to an integral constant expression", name);
        }
        p->scope->next_value = (int64_t)value->value;
    }
    if (p->scope->next_value > INT_MAX || p->scope->next_value < INT_MIN) {
        dt_fail(p->session, location, "D_DECL_ENOFLOW", "enumerator '%s' value overflows INT_MAX",
                name);
    }
    return p->scope->next_value++;
}

static bool is_in(const struct dt_scope *s, const char *name)
{
    for (unsigned i = 0; i < s->type->nenumerators; i++) {
        if (strcmp(s->enumerators[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

void dt_enumerator_add(struct dt_parse *p, struct dt_location location, const char *name,
                       struct dt_node *node)
{
    struct dt_session *d = p->session;

    if (strchr(name, '`')) {
        dt_fail(d, location, "D_DECL_SCOPE",
                "scoping operator (`) may not be used in an enumerator's name: %s", name);
    }
    int64_t value = value_of(p, location, name, node);
    if (is_in(p->scope, name)) {
        dt_fail(d, location, "D_UNKNOWN", "redefinition of enumerator '%s'", name);
    }
    if (dt_ident_lookup(d->globals, name)) {
        dt_fail(d, location, "D_DECL_IDRED", "identifier redeclared: %s", name);
    }
    struct dt_scope *s = p->scope;
    struct dt_type *t = s->type;

    if (t->nenumerators == s->room) {
        unsigned room = s->room ? s->room * 2 : 8;
        struct dt_enumerator *list = dt_alloc(p->session, room * sizeof(*list));
        if (s->room) {
            memcpy(list, s->enumerators, s->room * sizeof(*list));
        }
        s->enumerators = list;
        s->room = room;
    }
    s->enumerators[t->nenumerators++] = (struct dt_enumerator){name, value};
    struct dt_ident *i = dt_ident_add(d, d->globals, name, DT_IDENT_ENUMERATOR);
    i->flags = DT_IDENT_DECLARED;
    i->value = value;
    i->type = d->basics[DT_BASIC_INT];
}
