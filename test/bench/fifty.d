/* SPDX-License-Identifier: BSD-2-Clause
 * Fifty lines of all sorts, for the time that compiling them takes. */
#pragma D option quiet
#pragma D option strsize=64

struct point { int x; int y; struct point *next; };
typedef enum { RED, GREEN = 4, BLUE } color_t;
struct seen { long sum; string name; };
translator struct seen < struct point *p > { sum = p->x + p->y; name = "point"; };
inline int LIMIT = 100;
inline int clamp[int v, int top] = v > top ? top : v;

struct point origin;
color_t paint;
string last;
self long start;
int total[string, int];

BEGIN
{
	origin.x = 3;
	origin.y = clamp[LIMIT, 50];
	paint = BLUE;
	total["begin", pid] = origin.x * origin.y - (origin.y >> 2);
	printf("%-10s %5d %x\n", "begin", total["begin", pid], (uint16_t)origin.x);
}

profile-97, profile-199
/arg0 != 0 && pid == $pid/
{
	self->start = timestamp;
	this->key = strjoin(execname, strjoin(":", lltostr(cpu)));
	@by_key[this->key, paint == RED ? "red" : "other"] = count();
	@spread = quantize(walltimestamp % LIMIT);
	@lines[probename] = lquantize(timestamp & 0xfff, 0, 4096, 64);
	total[this->key, 1]++;
}

tick-10ms
{
	this->p = (struct point *)alloca(sizeof(struct point));
	this->p->x = total["begin", pid];
	last = substr(xlate<struct seen>(this->p).name, 1, 3);
	if (this->p->x > LIMIT) { n++; } else { n += 2; }
	@avg = avg(n); @max = max(n); @dev = stddev(n);
}

tick-1s /n > 3/ { printa("%s %s %@d\n", @by_key); clear(@by_key); exit(0); }

END { trunc(@lines, 5); printf("%s %d\n", last, n); }
