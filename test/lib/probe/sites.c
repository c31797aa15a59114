/* SPDX-License-Identifier: BSD-2-Clause */
/* Sites of each number of arguments, for check.py. Also compiled as C++. */
#ifdef __cplusplus
extern "C" {
#endif
#include <kymo_probe.h>

struct unknown;

int counter;
short row[40];

int sites(int i, unsigned u, const char *text, struct unknown *p, signed char c, unsigned long l);

#ifdef __cplusplus
enum class tiny : signed char { least = -1 };
enum class plain { one = 1 };
enum class large : unsigned long { one = 1 };
enum class bit : bool { set = true };
enum old { old_one = -1 };

int scoped(plain, large, old);

int scoped(plain p, large l, old o)
{
    KYMO_PROBE(sites, scoped, tiny::least, p, l, o, bit::set);
    return 1;
}
#endif

/* What is called only where a place is on, and that has a place itself. */
static __attribute__((cold, noinline)) void report(int i)
{
    KYMO_PROBE(sites, reported, i);
}

int sites(int i, unsigned u, const char *text, struct unknown *p, signed char c, unsigned long l)
{
    KYMO_PROBE(sites, none);
    KYMO_PROBE(sites, one, i);
    KYMO_PROBE(sites, two__args, 5, -7L);
    KYMO_PROBE(sites, three, i, u, text);
    KYMO_PROBE(sites, four, p, c, l, u);
    KYMO_PROBE(sites, five, i, u, text, p, c);
    KYMO_PROBE(sites, six, i, u, text, p, c, l);
    if (KYMO_PROBE_ENABLED()) {
        report(i * 3);
    }
    KYMO_PROBE(sites, global, counter, row, row[30], 0x12345678L, &counter, "text");
    return i;
}

int dropped(void);

int dropped(void)
{
    KYMO_PROBE(sites, dropped);
    return 1;
}

int _start(void);

int _start(void)
{
#ifdef __cplusplus
    scoped(plain::one, large::one, old_one);
#endif
    return sites(1, 2, "3", 0, 5, 6);
}

#ifdef REFUSED
void refused(double wide);

void refused(double wide)
{
    KYMO_PROBE(sites, refused, wide);
}
#endif

/* What a probe that is on calls, and what the program's start names. */
void kymo_probe_fire(const void *site, const unsigned long *args, unsigned n, unsigned wide);

void kymo_probe_fire(const void *site, const unsigned long *args, unsigned n, unsigned wide)
{
    (void)site;
    (void)args;
    (void)n;
    (void)wide;
}

#ifdef __cplusplus
}
#endif
