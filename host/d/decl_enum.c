/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enumerators: members of their type and global names.
 */
#include "host/d/front.h"

#include <limits.h>
#include <string.h>

static int64_t value_of(struct d_parse *p, struct d_place place, const char *name,
                        struct d_node *value)
{
    if (value) {
        d_check_expression(p->session, value);
        if (value->kind != D_NODE_INT) {
            d_fail(p->session, place, "D_DECL_ENCONST",
                   "enumerator '%s' must be assigned to an integral constant expression", name);
        }
        p->scope->next_value = (int64_t)value->value;
    }
    if (p->scope->next_value > INT_MAX || p->scope->next_value < INT_MIN) {
        d_fail(p->session, place, "D_DECL_ENOFLOW", "enumerator '%s' value overflows INT_MAX",
               name);
    }
    return p->scope->next_value++;
}

static void keep(struct d_parse *p, const char *name, int64_t value)
{
    struct d_scope *s = p->scope;
    struct d_type *t = s->type;

    if (t->nenumerators == s->room) {
        unsigned room = s->room ? s->room * 2 : 8;
        struct d_enumerator *list = d_alloc(p->session, room * sizeof(*list));
        if (s->room) {
            memcpy(list, s->enumerators, s->room * sizeof(*list));
        }
        s->enumerators = list;
        s->room = room;
    }
    s->enumerators[t->nenumerators++] = (struct d_enumerator){name, value};
}

static bool is_in(const struct d_scope *s, const char *name)
{
    for (unsigned i = 0; i < s->type->nenumerators; i++) {
        if (strcmp(s->enumerators[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

void d_enumerator_add(struct d_parse *p, struct d_place place, const char *name,
                      struct d_node *node)
{
    struct d_session *d = p->session;

    if (strchr(name, '`')) {
        d_fail(d, place, "D_DECL_SCOPE", "an enumerator's name can't have a `: %s", name);
    }
    int64_t value = value_of(p, place, name, node);
    if (is_in(p->scope, name)) {
        d_fail(d, place, "D_UNKNOWN", "there is an enumerator %s already", name);
    }
    if (d_ident_lookup(d->globals, name)) {
        d_fail(d, place, "D_DECL_IDRED", "identifier redeclared: %s", name);
    }
    keep(p, name, value);
    struct d_ident *i = d_ident_add(d, d->globals, name, D_IDENT_ENUMERATOR);
    i->flags = D_IDENT_DECLARED;
    i->value = value;
    i->type = d->basics[D_BASIC_INT];
}
