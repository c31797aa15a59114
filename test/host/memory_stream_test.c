/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host/memory_stream.h: the text is what was written, or fclose() says that memory was short. The
 * linker leads realloc() here (--wrap, test/host/unit.mk), so each call of it can be the one that
 * fails.
 */
#include <string.h>

#include "host/memory_stream.h"
#include "test/host/support.h"
#include "test/tool/random.h"

#define MOST 300000

void *__real_realloc(void *bytes, size_t size);
void *__wrap_realloc(void *bytes, size_t size);

static int calls, fails_at; /* the call that fails; 0: none */

void *__wrap_realloc(void *bytes, size_t size)
{
    return ++calls == fails_at ? NULL : __real_realloc(bytes, size);
}

/* Writes the first `n` bytes of `from` in pieces; what fclose() returns. */
static int stream_fill(const char *from, size_t n, int failing, char **text, size_t *size)
{
    FILE *stream = memory_stream(text, size);

    assert_non_null(stream);
    calls = 0;
    fails_at = failing;
    for (size_t at = 0, piece; at < n; at += piece) {
        piece = 1 + random_below(random_below(4) == 0 ? 30000 : 100);
        piece = piece < n - at ? piece : n - at;
        fwrite(from + at, 1, piece, stream);
        if (random_below(50) == 0) {
            fflush(stream);
        }
    }
    int status = fclose(stream);
    fails_at = 0;
    return status;
}

static void test_all_or_nothing(void **state)
{
    static char from[MOST];
    char *text;
    size_t size;

    (void)state;
    random_start();
    for (size_t i = 0; i < MOST; i++) {
        from[i] = (char)random_below(256);
    }
    for (int round = 0; round < 100; round++) {
        size_t n = random_below(round % 2 == 0 ? 20 : MOST);

        assert_int_equal(stream_fill(from, n, 0, &text, &size), 0);
        assert_int_equal(size, n);
        assert_memory_equal(text, from, n);
        assert_int_equal(text[n], 0);
        free(text);
    }
    for (int failing = 1; failing < 100; failing++) {
        size_t n = 1 + random_below(MOST - 1);
        int status = stream_fill(from, n, failing, &text, &size);

        /* A call may be the last one, which only takes room away. */
        assert_true(status == 0 ? size == n && memcmp(text, from, n) == 0
                                : calls == failing && text == NULL && size == 0);
        free(text);
    }
    assert_int_equal(stream_fill(from, MOST, 1, &text, &size), EOF);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_or_nothing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
