/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program may say to the kernel of probes in programs (KYMO_D_USER): malformed requests,
 * places that can't be, random ones; and of a probe in a block whose rights change while it is on.
 * What else probes do: test/board/pid.py.
 */
#include "test/board/programs/dcalls.h"

#include "lib/include/kymo.h"

#define HEAD sizeof(struct kymo_d_user)
#define PLACE (sizeof(struct kymo_d_user_place) + 16)

extern const char _start[], __preinit_array_start[]; /* ldscripts/user.ld: code and constants */

static uint64_t text_sum(void)
{
    const uint32_t *at = (const uint32_t *)(uintptr_t)_start;
    uint64_t sum = 0;

    for (; (uintptr_t)at < ((uintptr_t)__preinit_array_start & ~(uintptr_t)3); at++) {
        sum = sum * 33 + *at;
    }
    return sum;
}

static struct kymo_d_user_place *place(unsigned i)
{
    return (void *)((char *)d_in + HEAD + i * PLACE);
}

/* Two instructions of 4 bytes, then 8 bytes, one instruction where it can have so many. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        "places_code: lea 8(%rdi), %rax\n"
        "lea 16(%rax), %rax\n"
        "movq $0x12345678, 8(%rdi)\n"
        "ret\n"
        ".popsection\n");
extern const char places_code[];
static const int long_ones = 0, behind = 0;
#elif defined(__ARM_ARCH_7EM__)
__asm__(".pushsection .text\n"
        ".balign 4\n"
        "places_code: add.w r0, r0, #8\n"
        "add.w r0, r0, #16\n"
        "ldrd r0, r1, [r0]\n"
        "bx lr\n"
        ".popsection\n");
extern const char places_code[];
static const int long_ones = ENOTSUP, behind = ENOTSUP;
#else
#define places_code ((const char *)(uintptr_t)text_sum)
static const int long_ones = ENOTSUP, behind = 0;
#endif

/* A request for n places at an instruction of this program, each right. */
static void request(unsigned n)
{
    const uintptr_t at = (uintptr_t)places_code;
    const struct kymo_d_user head = {.pid = self_pid(), .count = n};
    static const char names[] = "text_sum\0entry";

    memset(d_in, 0, sizeof(d_in));
    memcpy(d_in, &head, sizeof(head));
    for (unsigned i = 0; i < n; i++) {
        *place(i) = (struct kymo_d_user_place){
            .address = at, .insn = *(const uint32_t *)at, .size = PLACE, .bytes = 4};
        memcpy(place(i)->strings, names, sizeof(names));
    }
}

static int ask(size_t in_bytes)
{
    struct kymo_d_call call = {0};

    return d_call(&call, KYMO_D_USER, in_bytes, sizeof(struct kymo_d_user_made));
}

/* The answer to a request for one place: 0, or why not. */
static int why(void)
{
    const struct kymo_d_user_made *made = (const void *)d_out;

    EXPECT_EQ(ask(HEAD + PLACE), 0);
    EXPECT_EQ(made->made + made->refused, 1);
    return -made->why;
}

static void t_malformed(void)
{
    struct kymo_d_call call = {.flags = 1};

    request(1);
    EXPECT_EQ(why(), 0);
    EXPECT_EQ(why(), 0); /* it is there already */
    EXPECT_ERR(d_call(&call, KYMO_D_USER, HEAD + PLACE, sizeof(d_out)), EINVAL);
    call = (struct kymo_d_call){0};
    EXPECT_ERR(d_call(&call, KYMO_D_USER, HEAD + PLACE, 8), EMSGSIZE);
    EXPECT_ERR(ask(HEAD - 1), EMSGSIZE);
    EXPECT_ERR(ask(HEAD), EINVAL);
    EXPECT_ERR(ask(HEAD + PLACE - 1), EINVAL);
    EXPECT_ERR(ask(HEAD + PLACE + 8), EINVAL); /* more than was said */
    for (unsigned i = 0; i < 6; i++) {
        request(2);
        place(1)->size = i == 0 ? PLACE + 8 : i == 1 ? PLACE - 4 : i == 2 ? 0 : PLACE;
        place(1)->pad = i == 3;
        place(1)->kind = i == 4 ? KYMO_D_USER_OFFSET + 1 : 0;
        place(1)->strings[0] = i == 5 ? '\n' : 't';
        EXPECT_ERR(ask(HEAD + 2 * PLACE), EINVAL);
    }
    request(1);
    memset(place(0)->strings, 'x', 16); /* no end */
    EXPECT_ERR(ask(HEAD + PLACE), EINVAL);
    for (int pid = -1; pid < 2; pid++) { /* no process; the kernel */
        request(1);
        memcpy(d_in, &pid, sizeof(pid));
        EXPECT_ERR(ask(HEAD + PLACE), ESRCH);
    }
}

static void t_refused(void)
{
    static uint32_t data;
    const uintptr_t at = (uintptr_t)places_code;
    const struct {
        uint64_t address;
        uint32_t insn;
        int why;
    } rows[] = {{0, 0, EFAULT},
                {(uintptr_t)&data, 0, EFAULT},
                {(uintptr_t)&rows, 0, EFAULT},
                {(uintptr_t)0xffffff8040a00000, 0xd10083ff, EFAULT},
                {UINTPTR_MAX - 3, 0, EFAULT},
                {at + 2, 0xd10083ff, ENOTSUP},
                {at + 4, ~((const uint32_t *)at)[1], ENOTSUP},
                {at + 4, ((const uint32_t *)at)[1] ^ 1, EINVAL},
                {at, *(const uint32_t *)at ^ 1, EINVAL},
                {at + 4, 0xd503201f, ENOTSUP},
                {at + 4, 0xd4000001, ENOTSUP},
                {at + 4, 0xd4200000, ENOTSUP}};

    for (unsigned i = 0; i < COUNT(rows); i++) {
        request(1);
        place(0)->address = rows[i].address;
        place(0)->insn = rows[i].insn;
        const int is = why();
        if (is != rows[i].why && !(rows[i].why == ENOTSUP && is == EINVAL)) {
            check_fail(__FILE__, __LINE__, "row %u: %d, not %d", i, is, rows[i].why);
        }
    }
    request(1);
    place(0)->bytes = 2;
    place(0)->address = at + 4;
    EXPECT_EQ(why(), ENOTSUP);
}

/* An instruction of more than 4 bytes: the rest follows the names. */
static void t_long(void)
{
    const struct kymo_d_user_made *made = (const void *)d_out;
    const char *at = places_code + 8;
    const unsigned names = sizeof("text_sum") + sizeof("entry");
    enum { CUT, OTHER, LONGER, MOST, RIGHT, WAYS };

    for (unsigned way = 0; way < WAYS; way++) {
        const size_t size = PLACE + (way == CUT ? 0 : 16);
        request(1);
        *place(0) = (struct kymo_d_user_place){.address = (uintptr_t)at,
                                               .size = (uint16_t)size,
                                               .bytes = way == LONGER ? 9
                                                        : way == MOST ? 16
                                                                      : 8};
        memcpy(&place(0)->insn, at, 4);
        memcpy(place(0)->strings + names, at + 4, way == CUT ? 1 : 13);
        place(0)->strings[names + 3] = (char)(place(0)->strings[names + 3] ^ (way == OTHER));
        if (way == CUT) {
            EXPECT_ERR(ask(HEAD + size), EINVAL);
            continue;
        }
        EXPECT_EQ(ask(HEAD + size), 0);
        const int wanted = way == OTHER ? EINVAL : way == RIGHT ? 0 : ENOTSUP;
        EXPECT_EQ(-made->why, long_ones ? long_ones : wanted);
    }
}

/* At the end of a block of code, after which there may have to be room for a second trap. */
static void t_last(void)
{
    struct kymo_map map = {.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    const unsigned at[] = {4096 - 8, 4096 - 4};

    EXPECT_EQ(MemMap(&map), 0);
    for (unsigned i = 0; i < COUNT(at); i++) {
        memcpy((char *)(uintptr_t)map.vaddr + at[i], places_code, 4);
    }
    EXPECT_EQ(MemProtect((void *)(uintptr_t)map.vaddr, 4096, KYMO_PROT_READ | KYMO_PROT_EXEC), 0);
    for (unsigned i = 0; i < COUNT(at); i++) {
        request(1);
        place(0)->address = map.vaddr + at[i];
        EXPECT_EQ(why(), i ? behind : 0);
    }
    EXPECT_EQ(MemUnmap((void *)(uintptr_t)map.vaddr, 0), 0);
}

#define THUMB 0
#if defined(__x86_64__)
#define EIGHT_MORE "lea 8(%rdi), %rax\nret\n"
#elif defined(__ARM_ARCH_7EM__)
#undef THUMB
#define THUMB 1
#define EIGHT_MORE "add.w r0, r0, #8\nbx lr\n"
#else
#define EIGHT_MORE "add x0, x0, #8\nret\n"
#endif
__asm__(".pushsection .text\n.balign 4\nplaces_more: " EIGHT_MORE ".balign 8\n.popsection\n");
extern const char places_more[];

/* The program takes the right to execute from a block in which a probe is on, and gives it back
 * when the probe is gone: nothing of it is left there. */
static void t_rights(void)
{
    struct kymo_map map = {.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    const unsigned executable = KYMO_PROT_READ | KYMO_PROT_EXEC;

    EXPECT_EQ(MemMap(&map), 0);
    void *block = (void *)(uintptr_t)map.vaddr;
    memcpy(block, places_more, 8);
    EXPECT_EQ(MemProtect(block, 4096, executable), 0);
    uintptr_t (*more)(uintptr_t) = (uintptr_t(*)(uintptr_t))((uintptr_t)block | THUMB);
    request(1);
    place(0)->address = map.vaddr;
    place(0)->insn = *(const uint32_t *)block;
    EXPECT_EQ(why(), 0);
    uint32_t handle = d_create("places_on.dif");
    d_do(handle, KYMO_D_GO);
    EXPECT_EQ(more(34), 42);
    EXPECT(memcmp(block, places_more, 4) != 0);
    EXPECT_EQ(d_count_of(handle, 1), 1);
    EXPECT_EQ(MemProtect(block, 4096, KYMO_PROT_READ | KYMO_PROT_WRITE), 0);
    d_do(handle, KYMO_D_STOP);
    d_do(handle, KYMO_D_DESTROY);
    EXPECT_EQ(memcmp(block, places_more, 8), 0);
    EXPECT_EQ(MemProtect(block, 4096, executable), 0);
    EXPECT_EQ(more(34), 42);
    EXPECT_EQ(MemUnmap(block, 0), 0);
}

/* Requests with some bytes changed. */
static void t_random(void)
{
    const uint64_t sum = text_sum();
    uint64_t seed = 20261126;

    for (unsigned i = 0; i < 4000; i++) {
        request(1 + i % 8);
        for (unsigned n = 0; n < 1 + i % 5; n++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            ((uint8_t *)d_in)[seed >> 33 & 511] ^= (uint8_t)(1u << (seed >> 60 & 7));
        }
        ask((seed >> 20 & 3) ? HEAD + (1 + i % 8) * PLACE : seed >> 40 & 511);
    }
    EXPECT_EQ(text_sum() == sum, true);
    request(1);
    EXPECT_EQ(why(), 0);
}

static const struct check table[] = {
    {"malformed requests", t_malformed}, {"places that can't be", t_refused},
    {"long instructions", t_long},       {"the last instruction of a block", t_last},
    {"rights that change", t_rights},    {"random requests", t_random},
};

int main(void)
{
    return check_run("places", table, COUNT(table));
}
