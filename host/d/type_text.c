/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types as text. A type without a name to declare is written as print() shows it: "int [3]",
 * "char *", "int (*)()"; such texts are kept, for they are asked for again and again. Messages have
 * the parameters of functions, too: "int (*)(int, char *)".
 */
#include "host/d/front.h"

static const char *around(struct d_session *d, const struct d_type *t, const char *inner,
                          bool named);

static bool is_derived(const struct d_type *t)
{
    return t->kind == D_TYPE_ARRAY || t->kind == D_TYPE_FUNCTION;
}

static const char *base_text(struct d_session *d, const struct d_type *t)
{
    enum d_type_kind kind = t->kind == D_TYPE_FORWARD ? t->tag_kind : t->kind;
    const char *word = kind == D_TYPE_STRUCT  ? "struct"
                       : kind == D_TYPE_UNION ? "union"
                       : kind == D_TYPE_ENUM  ? "enum"
                                              : NULL;

    if (!word) {
        return t->name ? t->name : "";
    }
    return t->name ? d_sprintf(d, "%s %s", word, t->name) : word;
}

static const char *parameters_text(struct d_session *d, const struct d_type *t, bool named)
{
    const char *text = "";

    if (!named) {
        return text;
    }
    for (unsigned i = 0; i < t->nmembers; i++) {
        text =
            d_sprintf(d, "%s%s%s", text, i ? ", " : "", around(d, t->members[i].type, "", named));
    }
    return t->varargs ? d_sprintf(d, "%s%s...", text, *text ? ", " : "") : text;
}

static const char *qualified(struct d_session *d, const struct d_type *t, const char *inner,
                             bool named)
{
    const char *word = t->kind == D_TYPE_CONST      ? "const"
                       : t->kind == D_TYPE_VOLATILE ? "volatile"
                                                    : "restrict";

    if (t->to->kind == D_TYPE_POINTER) {
        return around(d, t->to, *inner ? d_sprintf(d, "%s %s", word, inner) : word, named);
    }
    return d_sprintf(d, "%s %s", word, around(d, t->to, inner, named));
}

static const char *pointer(struct d_session *d, const struct d_type *t, const char *inner,
                           bool named)
{
    const char *text = d_sprintf(d, is_derived(t->to) ? "(*%s)" : "*%s", inner);

    return around(d, t->to, text, named);
}

/* The declaration of `inner`, of type t. */
static const char *around(struct d_session *d, const struct d_type *t, const char *inner,
                          bool named)
{
    switch (t->kind) {
    case D_TYPE_POINTER:
        return pointer(d, t, inner, named);
    case D_TYPE_ARRAY:
        inner = t->count ? d_sprintf(d, "%s[%llu]", inner, (unsigned long long)t->count)
                         : d_sprintf(d, "%s[]", inner);
        return around(d, t->to, inner, named);
    case D_TYPE_FUNCTION:
        inner = d_sprintf(d, "%s(%s)", inner, parameters_text(d, t, named));
        return around(d, t->to, inner, named);
    case D_TYPE_CONST:
    case D_TYPE_VOLATILE:
    case D_TYPE_RESTRICT:
        return qualified(d, t, inner, named);
    default:
        return *inner ? d_sprintf(d, "%s %s", base_text(d, t), inner) : base_text(d, t);
    }
}

static unsigned bucket_of(const struct d_type *t)
{
    return (unsigned)((uintptr_t)t / 16 % D_TEXT_BUCKETS);
}

static const char *kept_text(struct d_session *d, const struct d_type *t)
{
    struct d_type_text **bucket = &d->texts[bucket_of(t)], *x = *bucket;

    while (x && x->type != t) {
        x = x->next;
    }
    if (!x) {
        x = d_alloc(d, sizeof(*x));
        *x = (struct d_type_text){t, around(d, t, "", false), *bucket};
        *bucket = x;
    }
    return x->text;
}

const char *d_type_full_text(struct d_session *d, const struct d_type *t)
{
    return around(d, t, "", true);
}

const char *d_type_text(struct d_session *d, const struct d_type *t, const char *name)
{
    return name ? around(d, t, name, true) : kept_text(d, t);
}
