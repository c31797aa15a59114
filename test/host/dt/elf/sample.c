/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled for each CPU and never run: what elf_test.c looks for in its DWARF and symbols.
 */
#include <stdint.h>

struct hidden; /* only declared: it is defined in sample_more.c */

enum colour { RED, GREEN = 5, BLUE = -1 };

struct node {
    struct node *next;
    const char *name;
    long number;
    uint64_t wide;
    enum colour colour;
    unsigned bits : 3, more : 9;
    int negative : 20;
    union {
        int as_int;
        char as_text[12];
    };
    struct hidden *hidden;
    void (*call)(struct node *, int);
};

typedef struct node node_t;
typedef int (*callback_t)(const node_t *, ...);
typedef volatile unsigned char bytes_t[3][5];

struct node first = {.number = 7};
node_t *list = &first;
static int secret = 3;
callback_t callback;
bytes_t bytes;
char letter = 'x';
const char *const text = "text";
_Bool flag;
double real = 1.5;

int sample_add(int a, const node_t *n);
int sample_add(int a, const node_t *n)
{
    return a + (int)n->number + secret++;
}

int main(void);
int main(void)
{
    return sample_add(1, list) + (callback ? 1 : 0);
}
