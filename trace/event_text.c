/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables as text, put together by the preprocessor. See trace/event_text.h; format in
 * abi/syspage.h. Proof: test/unit/test_rows.c, test_calls.c.
 */
#include "trace/event_text.h"

#include "trace/event_args.h"
#include "trace/slot.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

#define TEXT_A(type, name) #type ":" #name
#define TEXT_LIST(...) TRACE_EACH(TEXT_, TRACE_SEP_TEXT, , __VA_ARGS__)
#define TEXT_FAST(...) TEXT_LIST(__VA_ARGS__)
#define TEXT_WIDE(...) TEXT_LIST(__VA_ARGS__)
#define TEXT_SAME "="

const char trace_event_text[] =
#define EVENT(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    STRING(TRACE_CLASS_##CLASS) " " #number " " #NAME " " TEXT_##fast " " TEXT_##wide "\n"
#include "trace/events.def"
#undef EVENT
    ;
const unsigned trace_event_text_len = sizeof(trace_event_text) - 1;

/* Kernel calls: a0..a5 take the argument's name from the A() list, given as context. */
#define NAME_VAL(name) #name
#define NAME_IN(name, ...) #name
#define NAME_OUT(name, ...) #name
#define NAME_INOUT(name, ...) #name
#define NAME_STR(name) #name
#define NAME_MSG(name) #name
#define WORD_a0(a, ...) "P:" NAME_##a
#define WORD_a1(a, b, ...) "P:" NAME_##b
#define WORD_a2(a, b, c, ...) "P:" NAME_##c
#define WORD_a3(a, b, c, d, ...) "P:" NAME_##d
#define WORD_a4(a, b, c, d, e, ...) "P:" NAME_##e
#define WORD_a5(a, b, c, d, e, f, ...) "P:" NAME_##f
#define WORD_m0(...) "P:msg0"
#define WORD_m1(...) "P:msg1"
#define WORD_m2(...) "P:msg2"
#define WORD_r0(...) "P:rmsg0"
#define WORD_r1(...) "P:rmsg1"
#define WORD_r2(...) "P:rmsg2"
#define WORD_owner(...) "H:owner"
#define WORD_F(n, structure, member, type, name) #type ":" #name WORD_NO_CONTEXT
#define WORD_W(n, c_type, type, name) #type ":" #name WORD_NO_CONTEXT
#define WORD_NO_CONTEXT(...)

/* The lists without their wrappers, and "-" for an empty one. */
#define CTX_A(...) (__VA_ARGS__)
#define LIST_ENTER(...) __VA_ARGS__
#define LIST_ENTERW(...) __VA_ARGS__
#define LIST_EXITW(...) __VA_ARGS__
#define WORDS(ctx, ...) WORDS_(ctx __VA_OPT__(, ) __VA_ARGS__)
#define WORDS_(ctx, ...) \
    TRACE_PICK_EMPTY(__VA_OPT__("", ) "-") TRACE_EACH(WORD_, TRACE_SEP_TEXT, ctx, __VA_ARGS__)
#define TRACE_PICK_EMPTY(a, ...) a

/* Exits begin with the returned value; the fast form adds the list's first word, if it is one
 * word. */
#define EXIT_WIDE(...) EXIT_WIDE_(__VA_ARGS__)
#define EXIT_WIDE_(...) \
    "P:ret_val" __VA_OPT__(",") TRACE_EACH(WORD_, TRACE_SEP_TEXT, (), __VA_ARGS__)
#define EXIT_FAST(...) EXIT_FAST_(__VA_ARGS__)
#define EXIT_FAST_(...) "P:ret_val" __VA_OPT__(EXIT_FIRST(__VA_ARGS__, ))
#define EXIT_FIRST(first, ...) FIRST_##first
#define FIRST_r0 ",P:rmsg0"
#define FIRST_owner ",H:owner"
#define FIRST_F(n, structure, member, type, name) FIRST_##type(#type ":" #name)
#define FIRST_W(n, c_type, type, name) FIRST_##type(#type ":" #name)
#define FIRST_D(text) "," text
#define FIRST_H(text) "," text
#define FIRST_P(text) "," text
#define FIRST_E(text)
#define FIRST_X(text)

const char trace_kercall_text[] =
#define KERCALL(number, NAME, handler, FLAGS, args, enter, enterw, exitw, doc) \
#number " " #NAME " " WORDS(CTX_##args, LIST_##enter) " " WORDS( \
        CTX_##args, LIST_##enterw) " " EXIT_FAST(LIST_##exitw) " " EXIT_WIDE(LIST_##exitw) "\n"
#include "abi/kercalls.def"
#undef KERCALL
    ;
const unsigned trace_kercall_text_len = sizeof(trace_kercall_text) - 1;
