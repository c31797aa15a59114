/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the layout of the structs of kev.h, and its constants: with the exported names they are
 * what compiled programs depend on. test/host/kev/check compares them with test/host/kev/abi.txt: a
 * member may be added at an end, nothing else changes.
 */
#include <kev.h>
#include <stdio.h>

#define MEMBER(type, member) \
    printf("struct %s.%s %zu %zu\n", #type, #member, offsetof(struct type, member), \
           sizeof(((struct type *)0)->member))
#define VALUE(name) printf("%s %lld\n", #name, (long long)(name))

int main(void)
{
#include "layout.inc.h"
    return 0;
}
