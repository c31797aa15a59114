/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every kernel call with every pointer argument bad in every way, generated from kercalls.def: the
 * call fails with an errno, and nothing dies. A NULL that a call allows may also succeed.
 */
#include "test/board/programs/check.h"

struct row {
    uint16_t number;
    const char *name;
    char args[7]; /* v value, i IN, o OUT, b INOUT, s STR, m MSG */
};

/* `VAL(name)` and kin inside A() become one character each. */
#define VAL(n) 'v'
#define IN(n, bytes) 'i'
#define OUT(n, bytes) 'o'
#define INOUT(n, bytes) 'b'
#define STR(n) 's'
#define MSG(n) 'm'
#define NONE 0
#define A(...) \
    { \
        __VA_ARGS__ \
    }
#define KERCALL(number, NAME, handler, flags, args, ...) {number, #NAME, args},
static const struct row rows[] = {
#include "abi/kercalls.def"
};

#if defined(__arm__)
#define PLACES 0x00000400u, 0x20000000u, 0x40004000u, 0xe000ed08u, 0xa0000000u
#elif defined(__x86_64__)
#define PLACES 0x00a00000u, 0xfee00000u, 0xf0000000u, 0xffffffff80a00000u, 0xdead00000000beefu
#else
#define PLACES 0x40200000u, 0x09000000u, 0xf0000000u, 0xffffff8040200000u, 0xdead00000000beefu
#endif
static const uintptr_t bad[] = {0, 1, 3, PLACES, (uintptr_t)-1, (uintptr_t)-4, (uintptr_t)-64};
static const uintptr_t values[] = {0, 1, (uintptr_t)-1, 0x7fffffff, 0x40000000, 64};

static union {
    uint64_t align;
    char bytes[1024];
} good;

/* Calls that end the caller by value arguments alone. */
static bool deadly(const struct row *row)
{
    return strcmp(row->name, "PROC_EXIT") == 0 || strcmp(row->name, "THREAD_DESTROY") == 0;
}

/* No call may block for ever: every state is given a timeout first. */
static struct raw_result guarded(unsigned number, const uintptr_t args[6])
{
    uint64_t ns = MS;

    TimerTimeout(CLOCK_MONOTONIC, 0xffffffffu & ~_NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
    return raw_call(number, args);
}

static void one(const struct row *row, unsigned at, uintptr_t pointer, uintptr_t value)
{
    uintptr_t args[6] = {0};
    struct raw_result r;

    memset(&good, 0, sizeof(good));
    for (unsigned i = 0; i < 6; i++) {
        args[i] = row->args[i] == 'v' ? value : (uintptr_t)good.bytes;
    }
    args[at] = pointer;
    r = guarded(row->number, args);
    if (pointer == 0 ? r.error < 0 || r.error > 200 : r.error <= 0 || r.error > 200) {
        check_fail(row->name, (int)at, "pointer %#lx, values %#lx: result %ld, errno %ld",
                   (unsigned long)pointer, (unsigned long)value, r.value, r.error);
    }
}

/* The call that test_row() tests. */
static const struct row *current;

static bool is_pointer(char kind)
{
    return kind != 0 && kind != 'v';
}

static void test_row(void)
{
    for (unsigned at = 0; at < 6; at++) {
        for (unsigned p = 0; is_pointer(current->args[at]) && p < COUNT(bad); p++) {
            for (unsigned v = 0; v < COUNT(values); v++) {
                /* A message of no bytes needs no memory. */
                if (current->args[at] != 'm' || values[v] != 0) {
                    one(current, at, bad[p], values[v]);
                }
            }
        }
    }
}

/* A name that can't be read is EFAULT. */
static bool ends_at_nothing(const struct kymo_map *map)
{
    const uintptr_t args[6] = {(uintptr_t)(map->vaddr + map->len)};

    return raw_call(111, args).error == EFAULT; /* IMAGE_READ */
}

static void unmap(struct kymo_map *map)
{
    if (map->len != 0) {
        EXPECT_EQ(MemUnmap((void *)(uintptr_t)map->vaddr, map->len), 0);
    }
    map->len = 0;
}

/* A mapping after whose end is nothing of this process, not even its text: the next one may well
 * be its own, then that goes. */
static bool map_with_end(struct kymo_map *maps, unsigned count, struct kymo_map **last)
{
    for (unsigned i = 0; i < count; i++) {
        maps[i] = (struct kymo_map){.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
        EXPECT_EQ(MemMap(&maps[i]), 0);
    }
    for (unsigned i = 0; i < count; i++) {
        *last = &maps[i];
        if (ends_at_nothing(&maps[i])) {
            return true;
        }
    }
    unmap(&maps[count - 1]);
    *last = &maps[0];
    for (unsigned i = 1; i < count - 1; i++) {
        *last = maps[i].vaddr > (*last)->vaddr ? &maps[i] : *last;
    }
    return ends_at_nothing(*last);
}

/* What begins inside a mapping and ends after it is EFAULT. */
static void t_edge(void)
{
    struct kymo_map maps[3], *map;
    uintptr_t args[6] = {0};

    if (!map_with_end(maps, COUNT(maps), &map)) {
        check_fail(__FILE__, __LINE__, "no mapping that ends at nothing");
        return;
    }
    args[0] = 1;
    args[1] = (uintptr_t)(map->vaddr + map->len - 4);
    EXPECT_EQ(raw_call(103, args).error, EFAULT); /* PROC_INFO writes more than 4 bytes */
    args[0] = (uintptr_t)(map->vaddr + map->len - 1);
    args[1] = 2;
    EXPECT_EQ(raw_call(116, args).error, EFAULT); /* CONSOLE_WRITE of 2 bytes */
    for (unsigned i = 0; i < COUNT(maps); i++) {
        unmap(&maps[i]);
    }
    args[1] = 1;
    EXPECT_EQ(raw_call(116, args).error, EFAULT); /* not mapped any more */
}

/* Text is readable, never writable: an OUT there is EFAULT. */
static void t_text(void)
{
    uintptr_t args[6] = {1, (uintptr_t)t_edge & ~(uintptr_t)7};

    EXPECT_EQ(raw_call(103, args).error, EFAULT);
    args[0] = CLOCK_MONOTONIC;
    args[2] = args[1];
    args[1] = 0;
    EXPECT_EQ(raw_call(65, args).error, EFAULT);
}

static void t_unknown_calls(void)
{
    uintptr_t args[6] = {0};
    bool known[1024] = {false};

    for (unsigned i = 0; i < COUNT(rows); i++) {
        known[rows[i].number] = true;
    }
    for (unsigned n = 0; n < COUNT(known); n++) {
        if (!known[n]) {
            EXPECT_EQ(raw_call(n, args).error, ENOSYS);
        }
    }
    EXPECT_EQ(raw_call(0x7fffffff, args).error, ENOSYS);
    EXPECT_EQ(raw_call(0xffffffff, args).error, ENOSYS);
    EXPECT_EQ(raw_call(0, args).error, 0); /* NOP */
}

int main(void)
{
    static const struct check others[] = {
        {"end of a mapping", t_edge},
        {"text is not writable", t_text},
        {"unknown calls", t_unknown_calls},
    };
    int bad_rows = 0;

    for (unsigned i = 0; i < COUNT(rows); i++) {
        struct check check = {rows[i].name, test_row};

        current = &rows[i];
        if (!deadly(current)) {
            bad_rows += check_run("pointers", &check, 1);
        }
    }
    return check_run("pointers", others, COUNT(others)) || bad_rows != 0;
}
