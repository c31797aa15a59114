/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What probes of programs displace on x86-64: each class of instruction is executed by this CPU
 * where it is, and as isa/x86_64/step.h says, with the same registers, flags, memory and FP
 * registers: all of them are the same afterwards, and so is a fault. Then the same with random
 * bytes, as far as they are an instruction that would be executed elsewhere. And where a function
 * has places for probes. In children, as an instruction may do anything. SEED=<n> repeats what is
 * random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "isa/x86_64/effect.h"
#include "test/isa/found.h"

/* What x86_insns.S has. */
extern const struct row {
    const uint8_t *bytes;
    const char *text;
    uint32_t length, kind;
} x86_insns[];
extern const uint8_t x86_returns[], x86_returns_end[], x86_unknown[], x86_unknown_end[];

enum {
    CODE = 0x10000000, /* a page of traps, and the instruction in it */
    DATA = CODE + 0x1000,
    DATA_BYTES = 0x2000,
    STACK = 0x10010000,
    STACK_BYTES = 0x2000,
    SLOTS = 0x30000000,
    AT = CODE + 0x800,
    SLOT = SLOTS + 0x40,
    PAGE = 0x1000,
};
#define FLAGS 0x240cd5ull /* what a program may change, without IF and TF */
#define CHANGED 0xcd5ull  /* of these, what is random here */

/* ---- random numbers ---------------------------------------------------------------- */

static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed ^ seed >> 29) * 0x9e3779b97f4a7c15u;
}

static unsigned below(unsigned n)
{
    return (unsigned)((next_random() >> 33) % n);
}

/* ---- a machine's state ------------------------------------------------------------- */

static const int in_order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                 REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                 REG_R12, REG_R13, REG_R14, REG_R15};

struct state {
    uint64_t r[16], flags;
    uint64_t next;   /* where execution continues, or where it has faulted */
    int signo;       /* SIGTRAP: at `next` */
    uint64_t fault;  /* the address that could not be accessed */
    uint8_t fp[512]; /* as FXSAVE has it, without addresses */
    uint8_t data[DATA_BYTES], stack[STACK_BYTES];
};

static const struct state *entered;
static struct state *left;
static enum { IDLE, ENTER, RUN } phase;
static gregset_t saved;
static struct _libc_fpstate saved_fp;
static uint64_t start;
static const char *executing; /* its text */

/* The last x87 instruction's addresses, and what is reserved. */
static void fp_forget(uint8_t fp[512])
{
    memset(fp + 6, 0, 18);
    memset(fp + 28, 0, 4);
    memset(fp + 416, 0, 96);
}

static void came(int signo, siginfo_t *info, void *context)
{
    mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;

    if (phase == ENTER) {
        memcpy(saved, m->gregs, sizeof(saved));
        saved_fp = *m->fpregs;
        for (unsigned i = 0; i < 16; i++) {
            m->gregs[in_order[i]] = (greg_t)entered->r[i];
        }
        m->gregs[REG_EFL] = (greg_t)(entered->flags | X86_STEP_FLAG_I | 2);
        m->gregs[REG_RIP] = (greg_t)start;
        memcpy(m->fpregs, entered->fp, 416);
        phase = RUN;
        return;
    }
    if (phase != RUN) {
        static const char text[] = "a signal of the test's own\n";
        _exit(write(2, text, sizeof(text) - 1) ? 3 : 4);
    }
    for (unsigned i = 0; i < 16; i++) {
        left->r[i] = (uint64_t)m->gregs[in_order[i]];
    }
    left->flags = (uint64_t)m->gregs[REG_EFL] & FLAGS;
    left->next = (uint64_t)m->gregs[REG_RIP] - (signo == SIGTRAP);
    left->signo = signo;
    left->fault = signo == SIGSEGV || signo == SIGBUS ? (uint64_t)info->si_addr : 0;
    memcpy(left->fp, m->fpregs, sizeof(left->fp));
    fp_forget(left->fp);
    memcpy(m->gregs, saved, sizeof(saved));
    memcpy(m->fpregs, &saved_fp, 416);
    phase = IDLE;
}

static void state_copy(struct state *to, const struct state *from)
{
    *to = *from;
    memcpy((void *)(uintptr_t)DATA, from->data, DATA_BYTES);
    memcpy((void *)(uintptr_t)STACK, from->stack, STACK_BYTES);
}

static void state_memory(struct state *s)
{
    memcpy(s->data, (const void *)(uintptr_t)DATA, DATA_BYTES);
    memcpy(s->stack, (const void *)(uintptr_t)STACK, STACK_BYTES);
}

/* Executes what is at `from`, up to the next trap or fault. */
static void state_run(uint64_t from, const struct state *in, struct state *out)
{
    state_copy(out, in);
    entered = in;
    left = out;
    start = from;
    phase = ENTER;
    __asm__ volatile("int3" ::: "memory");
    state_memory(out);
}

/* ---- as the kernel would ------------------------------------------------------------- */

static bool is_canonical(uint64_t va)
{
    return (uint64_t)((int64_t)(va << 16) >> 16) == va;
}

static bool is_mapped(uint64_t at, unsigned bytes)
{
    return (at >= CODE && at - CODE <= PAGE + DATA_BYTES - bytes) ||
           (at >= STACK && at - STACK <= STACK_BYTES - bytes) ||
           (at >= SLOTS && at - SLOTS <= PAGE - bytes);
}

/* The first byte of 8 that is not there. */
static uint64_t first_missing(uint64_t at)
{
    return is_mapped(at, 1) ? (at | (PAGE - 1)) + 1 : at;
}

static void faulted(struct state *out, uint64_t at, bool stack)
{
    out->next = AT;
    out->signo = !is_canonical(at) && stack ? SIGBUS : SIGSEGV;
    out->fault = is_canonical(at) ? first_missing(at) : 0;
}

static void state_emulate(const struct x86_step *s, const struct state *in, struct state *out)
{
    uint64_t word = 0, at;

    state_copy(out, in);
    fp_forget(out->fp);
    if (x86_step_loads(s, AT, in->r, &at)) {
        if (!is_mapped(at, 8)) {
            faulted(out, at, s->op == X86_OP_RETURN || s->base == 4 || s->base == 5);
            return;
        }
        memcpy(&word, (const void *)(uintptr_t)at, sizeof(word));
    }
    const struct x86_step_effect does = x86_step_emulate(s, AT, in->r, in->flags, word);
    if (!is_canonical(does.next)) {
        faulted(out, does.next, false);
        return;
    }
    if (does.pushes && !is_mapped(does.rsp, 8)) {
        faulted(out, does.rsp, true);
        return;
    }
    if (does.pushes) {
        uint64_t pushed = does.pushed;
        pushed &= s->op == X86_OP_FLAGS ? FLAGS : UINT64_MAX;
        memcpy((void *)(uintptr_t)does.rsp, &pushed, sizeof(pushed));
    }
    out->r[X86_STEP_RCX] = does.rcx;
    out->r[X86_STEP_RSP] = does.rsp;
    out->next = does.next;
    out->signo = does.next - CODE < PAGE ? SIGTRAP : SIGSEGV;
    out->fault = does.next - CODE < PAGE ? 0 : does.next;
    state_memory(out);
}

static void code_write(const uint8_t *bytes, unsigned length)
{
    memset((void *)(uintptr_t)CODE, 0xcc, PAGE);
    memcpy((void *)(uintptr_t)AT, bytes, length);
}

/* As the kernel has it. */
static bool is_within_reach(const struct x86_step *s, const uint8_t *bytes)
{
    int32_t distance = 0;

    memcpy(&distance, bytes + s->near, sizeof(distance));
    const int64_t moved = (int64_t)distance + AT - SLOT;
    return !s->near || moved == (int32_t)moved;
}

static void state_move(const struct x86_step *s, const uint8_t *bytes, const struct state *in,
                       struct state *out)
{
    uint8_t *slot = (uint8_t *)(uintptr_t)SLOT;
    int32_t distance;

    memset((void *)(uintptr_t)SLOTS, 0xcc, PAGE);
    memcpy(slot, bytes, s->length);
    code_write(bytes, s->length);
    if (s->near) {
        memcpy(&distance, bytes + s->near, sizeof(distance));
        distance = (int32_t)((uint32_t)distance + AT - SLOT);
        memcpy(slot + s->near, &distance, sizeof(distance));
    }
    state_run(SLOT, in, out);
    if (out->next == SLOT || out->next == SLOT + (uint64_t)s->length) {
        out->next += AT - SLOT;
    }
}

/* ---- comparing ------------------------------------------------------------------------ */

/* Where a trap is. */
static uint64_t code_address(void)
{
    return CODE + below(AT - CODE - PAGE / 8);
}

static void state_make(struct state *s, unsigned round)
{
    memset(s, 0, sizeof(*s));
    for (unsigned i = 0; i < 16; i++) {
        s->r[i] = next_random() >> (below(4) ? 0 : below(64));
    }
    for (unsigned i = 0; i < 4; i++) {
        static const uint8_t pointers[] = {3, 5, 6, 7};
        s->r[pointers[i]] = DATA + 0x100 + 8 * below(0x200);
    }
    s->r[4] = STACK + 0x800 + 16 * below(0x40);
    s->r[11] = code_address();
    s->r[1] = round % 2 ? below(4) : s->r[1];
    s->r[2] = round % 3 ? below(4) : s->r[2];
    s->r[0] = round % 5 ? s->r[0] : code_address();
    if (round % 8 == 7) { /* an access that fails */
        static const uint64_t bad[] = {0, 1ull << 60, STACK - 4, STACK + STACK_BYTES - 4};
        s->r[(const uint8_t[]){3, 4, 6, 7}[below(4)]] = bad[below(4)];
    }
    s->flags = next_random() & CHANGED;
    for (unsigned i = 0; i < sizeof(s->data); i += 8) {
        uint64_t word = round % 4 < 2 ? code_address() : next_random() >> below(64);
        memcpy(s->data + i, &word, 8);
        word = round % 4 < 2 ? code_address() : next_random();
        memcpy(s->stack + i, &word, 8);
    }
    s->fp[0] = 0x7f; /* all exceptions are masked */
    s->fp[1] = 3;
    s->fp[24] = 0x80;
    s->fp[25] = 0x1f;
    for (unsigned i = 160; i < 416; i += 4) {
        const float real = (float)(int32_t)next_random() / 65536.0f;
        const uint32_t word = (uint32_t)next_random();
        memcpy(s->fp + i, round % 2 ? (const void *)&real : &word, 4);
    }
}

static bool differs(const char *text, const struct state *a, const struct state *b, unsigned round)
{
    char *to = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&to, &bytes);

    for (unsigned i = 0; f && i < 16; i++) {
        if (a->r[i] != b->r[i]) {
            fprintf(f, " r%u %llx, not %llx;", i, (unsigned long long)b->r[i],
                    (unsigned long long)a->r[i]);
        }
    }
    if (a->next != b->next || a->flags != b->flags || a->signo != b->signo ||
        a->fault != b->fault) {
        fprintf(f, " next %llx flags %llx signal %d at %llx, not %llx %llx %d %llx;",
                (unsigned long long)b->next, (unsigned long long)b->flags, b->signo,
                (unsigned long long)b->fault, (unsigned long long)a->next,
                (unsigned long long)a->flags, a->signo, (unsigned long long)a->fault);
    }
    fputs(memcmp(a->data, b->data, sizeof(a->data)) ? " data;" : "", f);
    fputs(memcmp(a->stack, b->stack, sizeof(a->stack)) ? " stack;" : "", f);
    fputs(memcmp(a->fp, b->fp, sizeof(a->fp)) ? " fp;" : "", f);
    fclose(f);
    if (bytes) {
        printf("%s: round %u:%s\n", text, round, to);
        fflush(stdout);
    }
    free(to);
    return bytes;
}

static uint8_t *on_stack(struct state *s, uint64_t at)
{
    return at >= STACK && at - STACK <= STACK_BYTES - 8 ? s->stack + (at - STACK) : NULL;
}

/* What PUSHF stores has flags that are not random. A call to an address that is not canonical
 * stores, on some CPUs, before it faults; or it is the store that faults. */
static void forgive(const struct x86_step *s, const struct state *in, struct state *native,
                    struct state *displaced)
{
    uint8_t *pushed = on_stack(native, in->r[4] - 8), *by_us = on_stack(displaced, in->r[4] - 8);
    uint64_t flags;

    if (s->kind != X86_STEP_EMULATED || (s->op != X86_OP_FLAGS && s->op != X86_OP_CALL_TO)) {
        return;
    }
    if (s->op == X86_OP_FLAGS && pushed && native->signo == SIGTRAP) {
        memcpy(&flags, pushed, sizeof(flags));
        flags &= FLAGS;
        memcpy(pushed, &flags, sizeof(flags));
    } else if (displaced->next == AT && displaced->fault == 0 && native->next == AT) {
        if (pushed) {
            memcpy(by_us, pushed, sizeof(flags));
        } else {
            displaced->signo = native->signo;
            displaced->fault = native->fault;
        }
    }
}

/* Returns false if the instruction does not do the same when it is displaced. */
static bool compares(const char *text, const uint8_t *bytes, unsigned rounds)
{
    static struct state in, native, displaced;
    const struct x86_step s = x86_step_read(bytes, X86_INSN_MOST);

    executing = text;
    for (unsigned round = 0; round < rounds; round++) {
        state_make(&in, round);
        code_write(bytes, s.length);
        state_run(AT, &in, &native);
        if (s.kind == X86_STEP_EMULATED) {
            state_emulate(&s, &in, &displaced);
        } else {
            state_move(&s, bytes, &in, &displaced);
        }
        forgive(&s, &in, &native, &displaced);
        if (differs(text, &native, &displaced, round)) {
            return false;
        }
    }
    return true;
}

static void hangs(int signo)
{
    (void)signo;
    _exit(write(2, executing, strlen(executing)) && write(2, ": hangs\n", 8) ? 5 : 6);
}

/* ---- children --------------------------------------------------------------------------- */

static void child_prepare(void)
{
    static const int signals[] = {SIGTRAP, SIGSEGV, SIGILL, SIGFPE, SIGBUS};
    static uint8_t stack[1 << 16];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
    struct sigaction action = {.sa_sigaction = came, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    const struct sigaction late = {.sa_handler = hangs, .sa_flags = SA_ONSTACK};
    static const struct {
        uintptr_t at;
        size_t bytes;
        int rights;
    } maps[] = {{CODE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC},
                {DATA, DATA_BYTES, PROT_READ | PROT_WRITE},
                {STACK, STACK_BYTES, PROT_READ | PROT_WRITE},
                {SLOTS, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC}};

    sigaltstack(&alternate, NULL);
    sigaction(SIGALRM, &late, NULL);
    alarm(120);
    for (unsigned i = 0; i < COUNT(signals); i++) {
        sigaction(signals[i], &action, NULL);
    }
    for (unsigned i = 0; i < COUNT(maps); i++) {
        if (mmap((void *)maps[i].at, maps[i].bytes, maps[i].rights,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED) {
            perror("mmap");
            _exit(2);
        }
    }
}

static void in_child(int (*fn)(void))
{
    int status = 0;

    fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        child_prepare();
        const int result = fn();
        fflush(stdout);
        _exit(result);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int run_classes(void)
{
    unsigned wrong = 0, n = 0;

    for (const struct row *row = x86_insns; row->bytes; row++) {
        if (row->kind >= X86_STEP_MOVED && x86_step_read(row->bytes, row->length).length) {
            wrong += !compares(row->text, row->bytes, 400);
            n++;
        }
    }
    printf("%u instructions executed, %u wrong\n", n, wrong);
    return wrong > 0;
}

static void does_the_same(void **state)
{
    (void)state;
    in_child(run_classes);
}

/* What differs from one execution to the next, or shows addresses of code by design. */
static bool is_exempt(const uint8_t *bytes, unsigned length)
{
    for (unsigned i = 0; i < length; i++) {
        const unsigned two = bytes[i] << 8 | bytes[i + 1];
        if (bytes[i] == 0x64 || bytes[i] == 0x65 || two == 0x0f31 || two == 0x0fa2 ||
            two == 0x0fae || two == 0x0fc7 || two == 0x0f01 || bytes[i] == 0xd9 ||
            bytes[i] == 0xdd) {
            return true;
        }
    }
    return false;
}

static int run_random(void)
{
    unsigned done = 0, wrong = 0;

    while (done < 40000 && wrong < 10) {
        uint8_t bytes[X86_INSN_MOST + 1];
        char text[64] = "";
        for (unsigned i = 0; i < sizeof(bytes); i++) {
            bytes[i] = (uint8_t)(next_random() >> 40);
        }
        if (below(2)) {
            bytes[below(3)] = 0x0f;
        }
        const struct x86_step s = x86_step_read(bytes, X86_INSN_MOST);
        if (s.kind != X86_STEP_MOVED || is_exempt(bytes, s.length) || !is_within_reach(&s, bytes)) {
            continue;
        }
        for (unsigned i = 0; i < s.length; i++) {
            snprintf(text + 3 * i, 4, "%02x ", bytes[i]);
        }
        wrong += !compares(text, bytes, 2);
        done++;
    }
    printf("%u random instructions executed, %u wrong\n", done, wrong);
    return wrong > 0;
}

static void random_bytes_do_the_same(void **state)
{
    const char *given = getenv("SEED");

    (void)state;
    seed = given ? strtoull(given, NULL, 0) : 1;
    printf("SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    in_child(run_random);
}

/* ---- classes ---------------------------------------------------------------------------- */

static void classes(void **state)
{
    unsigned n = 0;

    (void)state;
    for (const struct row *row = x86_insns; row->bytes; row++, n++) {
        const struct x86_step s = x86_step_read(row->bytes, row->length);
        if (s.kind != row->kind || s.length != (s.kind ? row->length : 0)) {
            fail_msg("%s: kind %u, of %u bytes", row->text, s.kind, s.length);
        }
    }
    assert_true(n > 250);
}

/* No instruction is read whose end was not given. */
static void cut(void **state)
{
    (void)state;
    for (const struct row *row = x86_insns; row->bytes; row++) {
        for (unsigned room = 0; row->kind && room < row->length; room++) {
            uint8_t *exact = malloc(room + !room);
            memcpy(exact, row->bytes, room);
            const struct x86_step s = x86_step_read(exact, room);
            free(exact);
            if (s.length > room) {
                fail_msg("%s: %u of %u bytes", row->text, s.length, room);
            }
        }
    }
}

/* ---- places ----------------------------------------------------------------------------- */

static struct found places_of(const uint8_t *from, const uint8_t *to)
{
    struct found f = {.n = 0};
    const struct pid_code c = {.name = "f",
                               .text = from,
                               .address = 0x400000,
                               .size = (size_t)(to - from),
                               .code = (size_t)(to - from),
                               .machine = EM_X86_64,
                               .starts = starts_at_1000};

    assert_null(pid_places(&c, take, &f));
    return f;
}

static void returns(void **state)
{
    /* Of each instruction of x86_returns: r returns, t a tail call, - refused. */
    static const char wanted[] = "  rt  t      t   --r";
    const struct found f = places_of(x86_returns, x86_returns_end);

    (void)state;
    assert_int_equal(f.n, sizeof(wanted) - 1);
    for (unsigned i = 0; i < f.n; i++) {
        const struct pid_place *p = &f.places[i];
        const char is = p->refuse ? '-' : p->tail ? 't' : p->returns ? 'r' : ' ';
        if (is != wanted[i] || (p->tail && !p->returns)) {
            fail_msg("instruction %u, at %x: '%c'", i, p->offset, is);
        }
        assert_memory_equal(&p->insn, x86_returns + p->offset, p->bytes < 4 ? p->bytes : 4);
    }
}

static void unknown_ends_it(void **state)
{
    const struct found f = places_of(x86_unknown, x86_unknown_end);

    (void)state;
    assert_int_equal(f.n, 2);
    assert_null(f.places[0].refuse);
    assert_non_null(f.places[1].refuse);
    assert_true(f.places[1].returns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),       cmocka_unit_test(cut),
        cmocka_unit_test(does_the_same), cmocka_unit_test(random_bytes_do_the_same),
        cmocka_unit_test(returns),       cmocka_unit_test(unknown_ends_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
