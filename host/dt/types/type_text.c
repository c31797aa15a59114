/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types as text. A type without a name to declare is written as print() shows it: "int [3]",
 * "char *", "int (*)()"; such texts are kept, for they are asked for again and again. Messages have
 * the parameters of functions, too: "int (*)(int, char *)".
 */
#include "host/dt/base/session.h"

struct dt_type_text { /* the text of a type, made once */
    const struct dt_type *type;
    const char *text;
    struct dt_type_text *next;
};

static const char *type_text_declare_around(struct dt_session *d, const struct dt_type *t,
                                            const char *inner, bool named);

static const char *base_text(struct dt_session *d, const struct dt_type *t)
{
    enum dt_type_kind kind = t->kind == DT_TYPE_FORWARD ? t->tag_kind : t->kind;
    const char *word = kind == DT_TYPE_STRUCT  ? "struct"
                       : kind == DT_TYPE_UNION ? "union"
                       : kind == DT_TYPE_ENUM  ? "enum"
                                               : NULL;

    if (!word) {
        return t->name ? t->name : "";
    }
    return t->name ? dt_sprintf(d, "%s %s", word, t->name) : word;
}

static const char *parameters_text(struct dt_session *d, const struct dt_type *t, bool named)
{
    const char *text = "";

    if (!named) {
        return text;
    }
    for (unsigned i = 0; i < t->nmembers; i++) {
        text = dt_sprintf(d, "%s%s%s", text, i ? ", " : "",
                          type_text_declare_around(d, t->members[i].type, "", named));
    }
    return t->varargs ? dt_sprintf(d, "%s%s...", text, *text ? ", " : "") : text;
}

static const char *type_text_with_qualifiers(struct dt_session *d, const struct dt_type *t,
                                             const char *inner, bool named)
{
    const char *word = t->kind == DT_TYPE_CONST      ? "const"
                       : t->kind == DT_TYPE_VOLATILE ? "volatile"
                                                     : "restrict";

    if (t->to->kind == DT_TYPE_POINTER) {
        return type_text_declare_around(d, t->to,
                                        *inner ? dt_sprintf(d, "%s %s", word, inner) : word, named);
    }
    return dt_sprintf(d, "%s %s", word, type_text_declare_around(d, t->to, inner, named));
}

/* The declaration of `inner`, of type t. */
static const char *type_text_declare_around(struct dt_session *d, const struct dt_type *t,
                                            const char *inner, bool named)
{
    switch (t->kind) {
    case DT_TYPE_POINTER: {
        bool derived = t->to->kind == DT_TYPE_ARRAY || t->to->kind == DT_TYPE_FUNCTION;
        return type_text_declare_around(d, t->to, dt_sprintf(d, derived ? "(*%s)" : "*%s", inner),
                                        named);
    }
    case DT_TYPE_ARRAY:
        inner = t->count ? dt_sprintf(d, "%s[%llu]", inner, (unsigned long long)t->count)
                         : dt_sprintf(d, "%s[]", inner);
        return type_text_declare_around(d, t->to, inner, named);
    case DT_TYPE_FUNCTION:
        inner = dt_sprintf(d, "%s(%s)", inner, parameters_text(d, t, named));
        return type_text_declare_around(d, t->to, inner, named);
    case DT_TYPE_CONST:
    case DT_TYPE_VOLATILE:
    case DT_TYPE_RESTRICT:
        return type_text_with_qualifiers(d, t, inner, named);
    default:
        return *inner ? dt_sprintf(d, "%s %s", base_text(d, t), inner) : base_text(d, t);
    }
}

static const char *kept_text(struct dt_session *d, const struct dt_type *t)
{
    struct dt_type_text **bucket = &d->type_texts[(uintptr_t)t / 16 % DT_TEXT_BUCKETS];
    struct dt_type_text *x = *bucket;

    while (x && x->type != t) {
        x = x->next;
    }
    if (!x) {
        x = dt_alloc(d, sizeof(*x));
        *x = (struct dt_type_text){t, type_text_declare_around(d, t, "", false), *bucket};
        *bucket = x;
    }
    return x->text;
}

const char *dt_type_full_text(struct dt_session *d, const struct dt_type *t)
{
    return type_text_declare_around(d, t, "", true);
}

const char *dt_type_text(struct dt_session *d, const struct dt_type *t, const char *name)
{
    return name ? type_text_declare_around(d, t, name, true) : kept_text(d, t);
}
