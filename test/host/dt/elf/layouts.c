/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled for each CPU and never run: types of every shape, with what this compiler says of them.
 * layouts_test.c reads `expected` out of the ELF and has D compute the same expressions from DWARF.
 */
#include <stddef.h>
#include <stdint.h>

struct plain {
    char a;
    short b;
    char c;
    int d;
    char e;
    long f;
    char g;
    long long h;
    char i;
    void *j;
    char k;
    double l;
    float m;
};

struct nested {
    char first;
    struct {
        char x;
        int64_t y;
    } inner;
    union {
        char bytes[7];
        short half;
        struct {
            char deep;
            long deeper[3];
        } in_union;
    } choice;
    struct plain plain[2];
    char last;
};

struct anonymous {
    char tag;
    union {
        int number;
        struct {
            short low, high;
        };
        struct {
            char byte[4];
            union {
                long more;
                char text[3];
            };
        };
    };
    struct {
        char after;
    };
};

struct flexible {
    short count;
    char kind;
    long items[];
};

struct zero_size {
    int count;
    char none[0];
};

struct __attribute__((packed)) packed {
    char a;
    long b;
    short c;
    void *d;
};

struct aligned {
    char a;
    int b __attribute__((aligned(16)));
    char c;
} __attribute__((aligned(32)));

struct functions {
    char a;
    int (*plain)(void);
    void (*with_arguments)(struct functions *, int, const char *);
    struct plain *(*of_pointer)(struct nested *(*)(int));
    int (*table[4])(long);
    int (**pointer)(char);
};

struct arrays {
    char grid[2][3][4];
    struct anonymous many[3];
    char *names[5];
    const volatile unsigned short *const constant[2];
};

union mixed {
    char a;
    long long b;
    char c[13];
    struct plain d;
};

enum small { SMALL_A, SMALL_B = 200 };
enum wide { WIDE_A = -1, WIDE_B = 100000 };
enum byte { BYTE_A = -128, BYTE_B = 127 };

struct enums {
    char a;
    enum small small;
    char b;
    enum wide wide;
    char c;
    enum byte byte;
    char d;
    enum { LOCAL_A = 5, LOCAL_B = 70000 } local;
};

typedef struct {
    char a;
    struct untagged_inner {
        int16_t b;
        char c[3];
    } inner;
} untagged_t;
typedef untagged_t again_t;
typedef const again_t matrix_t[3][2];
typedef union mixed *mixed_p;

struct links {
    struct links *next, **handle;
    struct other *other;
    untagged_t untagged;
    mixed_p mixed;
};
struct other {
    struct links links[2];
    char name[1];
};

struct bits {
    unsigned a : 3, b : 5, c : 9;
    unsigned d : 20;
    int e : 1;
    unsigned char f;
    unsigned char g : 2, h : 7;
    unsigned : 0;
    unsigned i : 4;
    unsigned : 3;
    unsigned j : 30;
    unsigned long long k : 40, l : 20, m : 11;
    char n;
    short o : 10;
};

#define SIZE(type) \
    { \
        "sizeof(" #type ")", sizeof(type) \
    }
#define AT(type, member) \
    { \
        "offsetof(" #type ", " #member ")", offsetof(type, member) \
    }
#define MEMBER(type, member) \
    AT(type, member), \
    { \
        "sizeof(((" #type " *)0)->" #member ")", sizeof(((type *)0)->member) \
    }
#define INSIDE(type, member) \
    { \
        "sizeof(((" #type " *)0)->" #member ")", sizeof(((type *)0)->member) \
    }
#define ENUM(name) \
    { \
#name, (uint64_t)(int64_t)(name) \
    }

const struct {
    char expression[88];
    uint64_t value;
} expected[] = {
    SIZE(char),
    SIZE(short),
    SIZE(int),
    SIZE(long),
    SIZE(long long),
    SIZE(void *),
    SIZE(float),
    SIZE(double),
    SIZE(size_t),
    SIZE(struct plain),
    SIZE(struct nested),
    SIZE(struct anonymous),
    SIZE(struct flexible),
    SIZE(struct zero_size),
    SIZE(struct packed),
    SIZE(struct aligned),
    SIZE(struct functions),
    SIZE(struct arrays),
    SIZE(union mixed),
    SIZE(struct enums),
    SIZE(untagged_t),
    SIZE(again_t),
    SIZE(matrix_t),
    SIZE(mixed_p),
    SIZE(struct links),
    SIZE(struct other),
    SIZE(struct bits),
    SIZE(struct untagged_inner),
    MEMBER(struct plain, a),
    MEMBER(struct plain, b),
    MEMBER(struct plain, c),
    MEMBER(struct plain, d),
    MEMBER(struct plain, e),
    MEMBER(struct plain, f),
    MEMBER(struct plain, g),
    MEMBER(struct plain, h),
    MEMBER(struct plain, i),
    MEMBER(struct plain, j),
    MEMBER(struct plain, k),
    MEMBER(struct plain, l),
    MEMBER(struct plain, m),
    MEMBER(struct nested, inner),
    MEMBER(struct nested, choice),
    MEMBER(struct nested, plain),
    MEMBER(struct nested, last),
    INSIDE(struct nested, inner.y),
    INSIDE(struct nested, choice.bytes),
    INSIDE(struct nested, choice.in_union),
    INSIDE(struct nested, choice.in_union.deeper),
    INSIDE(struct nested, choice.in_union.deeper[1]),
    INSIDE(struct nested, plain[1]),
    INSIDE(struct nested, plain[1].h),
    MEMBER(struct anonymous, tag),
    MEMBER(struct anonymous, number),
    MEMBER(struct anonymous, low),
    MEMBER(struct anonymous, high),
    MEMBER(struct anonymous, byte),
    MEMBER(struct anonymous, more),
    MEMBER(struct anonymous, text),
    MEMBER(struct anonymous, after),
    MEMBER(struct flexible, kind),
    AT(struct flexible, items),
    AT(struct zero_size, none),
    MEMBER(struct packed, b),
    MEMBER(struct packed, c),
    MEMBER(struct packed, d),
    MEMBER(struct aligned, b),
    MEMBER(struct aligned, c),
    MEMBER(struct functions, plain),
    MEMBER(struct functions, with_arguments),
    MEMBER(struct functions, of_pointer),
    MEMBER(struct functions, table),
    MEMBER(struct functions, pointer),
    MEMBER(struct arrays, grid),
    MEMBER(struct arrays, many),
    MEMBER(struct arrays, names),
    MEMBER(struct arrays, constant),
    INSIDE(struct arrays, grid[1]),
    INSIDE(struct arrays, grid[1][2]),
    INSIDE(struct arrays, grid[1][2][3]),
    INSIDE(struct arrays, many[2].text),
    INSIDE(struct arrays, names[0]),
    MEMBER(union mixed, b),
    MEMBER(union mixed, c),
    MEMBER(union mixed, d),
    MEMBER(struct enums, small),
    MEMBER(struct enums, wide),
    MEMBER(struct enums, byte),
    MEMBER(struct enums, local),
    MEMBER(struct enums, d),
    MEMBER(untagged_t, inner),
    INSIDE(untagged_t, inner.c),
    MEMBER(struct links, next),
    MEMBER(struct links, handle),
    MEMBER(struct links, other),
    MEMBER(struct links, untagged),
    MEMBER(struct links, mixed),
    INSIDE(struct links, next->handle),
    INSIDE(struct links, other->links),
    INSIDE(struct links, other->links[1].untagged.inner.b),
    INSIDE(struct links, mixed->d),
    MEMBER(struct other, name),
    MEMBER(struct bits, f),
    MEMBER(struct bits, n),
    ENUM(SMALL_A),
    ENUM(SMALL_B),
    ENUM(WIDE_A),
    ENUM(WIDE_B),
    ENUM(BYTE_A),
    ENUM(BYTE_B),
    ENUM(LOCAL_A),
    ENUM(LOCAL_B),
};
const unsigned expected_count = sizeof(expected) / sizeof(*expected);

/* One bit-field each with all bits set. */
const struct bits bits_a = {.a = 7}, bits_b = {.b = 31}, bits_c = {.c = 511},
                  bits_d = {.d = 0xfffff}, bits_e = {.e = -1}, bits_f = {.f = 255},
                  bits_g = {.g = 3}, bits_h = {.h = 127}, bits_i = {.i = 15},
                  bits_j = {.j = 0x3fffffff}, bits_k = {.k = 0xffffffffff}, bits_l = {.l = 0xfffff},
                  bits_m = {.m = 0x7ff}, bits_n = {.n = -1}, bits_o = {.o = -1};

/* What the compiler would leave out of DWARF otherwise. */
struct plain plain;
struct nested nested;
struct anonymous anonymous;
struct zero_size zero_size;
struct packed packed;
struct aligned aligned;
struct functions functions;
struct arrays arrays;
union mixed mixed;
struct enums enums;
again_t again;
matrix_t *matrix;
struct links links;
struct other other;
enum small small;
enum wide wide;
enum byte byte;
size_t size;
short a_short;
float a_float;
struct flexible *flexible;

int main(void);
int main(void)
{
    return (int)expected_count;
}
