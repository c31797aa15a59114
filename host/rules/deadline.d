/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * After each user event $1 comes a user event $2 within $3 ns: of the same thread, or, if $4 is 1,
 * of any. Of several events $1 before one $2 the first counts; $1 and $2 may be the same event. If
 * $2 has not come at the capture's end and its time has passed, that is a breach.
 *
 *   kymo assert --deadline 1 2 5ms FILE          --deadline-any 1 2 5ms: of any thread
 */
inline pid_t OWNER = $4 ? 0 : pid;
inline id_t THREAD = $4 ? 0 : tid;
uint64_t began[pid_t, id_t];

user:::simple, user:::combine, user:::string
/arg0 == $2 && began[OWNER, THREAD]/
{
        @checked = count();
        @due[OWNER, THREAD] = sum(-(began[OWNER, THREAD] + $3));
        this->ns = timestamp - began[OWNER, THREAD];
}

user:::simple, user:::combine, user:::string
/arg0 == $2 && began[OWNER, THREAD] && this->ns > $3/
{
        printf("%d.%06d ms from user event %d to %d", this->ns / 1000000, this->ns % 1000000, $1, $2);
}

user:::simple, user:::combine, user:::string
/arg0 == $2/
{
        began[OWNER, THREAD] = 0;
}

user:::simple, user:::combine, user:::string
/arg0 == $1 && ($4 || pid) && !began[OWNER, THREAD]/
{
        began[OWNER, THREAD] = timestamp;
        @due[OWNER, THREAD] = sum(timestamp + $3);
}
