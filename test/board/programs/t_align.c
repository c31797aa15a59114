/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of all lengths between addresses of all alignments: what the kernel copies, and
 * where. */
#include "test/board/programs/check.h"

static struct link to;

enum { ODD_MOST = 330, ODD_ROOM = ODD_MOST + 16, GUARD = 0xa5 };
static unsigned char odd_out[ODD_ROOM], odd_in[ODD_ROOM], odd_back[ODD_ROOM];
static size_t odd_length; /* of the message; 0: the last one */

/* Offset to which the server receives the n-th message. */
static size_t odd_offset(unsigned n)
{
    return n / 4 % 4;
}

/* Only these bytes of the buffer were written, and as the message has them. */
static void odd_check(const unsigned char *buffer, size_t at, const unsigned char *message)
{
    bool good = memcmp(buffer + at, message, odd_length) == 0;

    for (size_t i = 0; i < ODD_ROOM; i++) {
        good = good && (i - at < odd_length || buffer[i] == GUARD);
    }
    if (!good) {
        check_fail(__FILE__, __LINE__, "%u bytes to offset %u", (unsigned)odd_length, (unsigned)at);
    }
}

static void *odd_server(void *unused)
{
    (void)unused;
    for (unsigned n = 0;; n++) {
        unsigned char *in = odd_in + odd_offset(n);
        int rcvid = MsgReceive(to.chid, in, ODD_MOST, NULL);
        bool last = odd_length == 0;

        MsgReply(rcvid, 0, in, odd_length);
        if (last) {
            return NULL;
        }
    }
}

/* Messages of all lengths between addresses of all alignments. */
static void t_alignments(void)
{
    to = make_link(0);
    int tid = start_thread(odd_server, NULL, 0);

    for (unsigned i = 0; i < ODD_ROOM; i++) {
        odd_out[i] = (unsigned char)(i * 7 + i / 256);
    }
    for (odd_length = ODD_MOST; odd_length > 0; odd_length--) {
        for (unsigned n = 0; n < 16; n++) {
            size_t from = n % 4, back = (n + odd_length) % 4;

            memset(odd_in, GUARD, ODD_ROOM);
            memset(odd_back, GUARD, ODD_ROOM);
            EXPECT_EQ(MsgSend(to.coid, odd_out + from, odd_length, odd_back + back, ODD_MOST), 0);
            odd_check(odd_in, odd_offset(n), odd_out + from);
            odd_check(odd_back, back, odd_out + from);
        }
    }
    EXPECT_EQ(MsgSend(to.coid, odd_out, 0, NULL, 0), 0);
    join(tid);
    drop_link(&to);
}

static const struct check table[] = {{"alignments", t_alignments}};

int main(void)
{
    return check_run("align", table, COUNT(table));
}
