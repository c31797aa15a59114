#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program allocates, by function and by path of calls.
 *
 * Sizes by the function that calls malloc(), and the paths of calls that ask for most, in bytes. calloc() and realloc() call malloc() themselves.
 *
 *   kymo dtrace -c PROGRAM -s malloc.d            until the program ends
 *   kymo dtrace -p PROGRAM -s malloc.d SECONDS    of one that runs
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1;

pid$target::malloc:entry
{
        @sizes[ufunc(ucaller)] = quantize(arg0);
        @bytes[ustack(5)] = sum(arg0);
        @calls = count();
}

tick-1s
/SECONDS && ++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printf("Bytes asked for, by caller\n");
        printa("\n%A%@d", @sizes);
        trunc(@bytes, 5);
        printf("\nMost bytes, by path\n");
        printa("%k%@12d bytes\n", @bytes);
        printa("\nof %@d calls\n", @calls);
}
