/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Physical memory: buddies, in O(log n) a call. Kernel lock held, or boot. docs/inside/design.md
 * describes it.
 *
 * A free block of order k is 2^k granules, aligned to its size. Each order has a set of its free
 * blocks (a bitmap with a summary of each level above it), which finds its lowest member in one
 * step a level. Blocks of the highest order, at most TOPS_MAX of them, are bits of one short
 * bitmap, in which longer pieces are searched: so these are not rounded up to a power of two. The
 * sets lie at the start of the RAM itself; the RAM's size is not a build-time setting. A granule is
 * 256 bytes up to 16 MB and grows to 4 KB, so the sets are small on every board.
 *
 * An allocation takes the lowest of the smallest blocks that it fits into, and frees the rest of
 * the block. The same holds for an allocation below an address: if the lowest block of a size is
 * too high, all blocks of that size are. Allocations return 0 on failure. Tested by
 * test/kernel/mem/phys_test.c (against a model, with a bound on the steps of each call) and
 * memory_test.c.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/irq.h"
#include "kernel/base/string.h"
#include "kernel/mem/mem.h"
#include "kernel/base/cpu.h"
#include "kernel/base/window.h"

#define GRANULES_WANTED 65536u
#define GRANULE_MAX 4096u
#define TOPS_MAX 256u
#define ORDERS_MAX 24u /* orders below the highest: 2^24 * TOPS_MAX granules of RAM */
#define NONE SIZE_MAX

typedef uintptr_t word_t;
#define WORD (8 * sizeof(word_t))
#define TOPS_WORDS (TOPS_MAX / WORD)
#define LEVELS_MAX 6u /* levels of a set: WORD^6 blocks */

/* Blocks of one order. words[] holds a bit for each; then, for each word of this level, a bit that
 * says whether it isn't 0; and so on up to a level of one word. */
struct phys_set {
    word_t *words;
    size_t bits; /* of the lowest level */
};

static struct {
    paddr_t base;     /* [I] address of granule 0: multiple of a highest block */
    size_t granules;  /* [I] number of granules of RAM, which may begin above granule 0 */
    size_t available; /* [k] number of free granules */
    unsigned shift;   /* [I] log2 of the granule */
    unsigned top;     /* [I] the highest order */
    unsigned tops;    /* [I] number of highest blocks, partly RAM at both ends */
    uint32_t orders;  /* [k] bit k: there is a free block of order k, below top */
    struct phys_set free[ORDERS_MAX]; /* [k] below top */
    word_t tops_free[TOPS_WORDS];     /* [k] */
} phys;

static inline word_t bit_of(size_t i)
{
    return (word_t)1 << i % WORD;
}

static inline unsigned log2_down(size_t n)
{
    return (unsigned)(8 * sizeof(long)) - 1 - (unsigned)__builtin_clzl(n);
}

static inline size_t words_for(size_t bits)
{
    return (bits + WORD - 1) / WORD;
}

/* ---- sets -------------------------------------------------------------------------- */

static inline bool set_has(const struct phys_set *set, size_t i)
{
    return set->words[i / WORD] & bit_of(i);
}

static void set_add(struct phys_set *set, size_t i)
{
    word_t *level = set->words;

    for (size_t bits = set->bits;; bits = words_for(bits)) {
        word_t was = level[i / WORD];

        level[i / WORD] = was | bit_of(i);
        if (was || bits <= WORD) {
            return;
        }
        level += words_for(bits);
        i /= WORD;
    }
}

/* Removes a member. Returns whether the set is empty now. */
static bool set_remove(struct phys_set *set, size_t i)
{
    word_t *level = set->words;

    for (size_t bits = set->bits;; bits = words_for(bits)) {
        level[i / WORD] &= ~bit_of(i);
        if (level[i / WORD]) {
            return false;
        }
        if (bits <= WORD) {
            return true;
        }
        level += words_for(bits);
        i /= WORD;
    }
}

/* Returns the lowest member of a set that isn't empty. */
static size_t set_first(const struct phys_set *set)
{
    const word_t *levels[LEVELS_MAX] = {set->words};
    unsigned n = 1;
    size_t i = 0;

    for (size_t bits = set->bits; bits > WORD; bits = words_for(bits), n++) {
        levels[n] = levels[n - 1] + words_for(bits);
    }
    while (n-- > 0) {
        i = i * WORD + (size_t)__builtin_ctzl(levels[n][i]);
    }
    return i;
}

/* ---- the highest blocks ------------------------------------------------------------ */

static void tops_mark(size_t first, size_t n, bool is_free)
{
    while (n > 0) {
        size_t some = WORD - first % WORD < n ? WORD - first % WORD : n;
        word_t mask = ((word_t)-1 >> (WORD - some)) << first % WORD;
        word_t *word = &phys.tops_free[first / WORD];

        *word = is_free ? *word | mask : *word & ~mask;
        first += some;
        n -= some;
    }
}

/* Computes x &= x >> by for the whole bitmap. */
static void tops_and_shifted(word_t *x, unsigned by)
{
    for (unsigned i = 0, from = by / WORD; i < TOPS_WORDS; i++, from++) {
        word_t low = from < TOPS_WORDS ? x[from] >> by % WORD : 0;
        word_t high = from + 1 < TOPS_WORDS ? x[from + 1] << 1 << (WORD - 1 - by % WORD) : 0;

        x[i] &= low | high;
    }
}

/* Returns the lowest member of x whose address has this alignment, or NONE. */
static size_t tops_aligned(const word_t *x, size_t align)
{
    unsigned shift = phys.shift + phys.top;
    size_t every = align >> shift ? align >> shift : 1; /* one in this many is aligned */
    size_t first = (0 - (phys.base >> shift)) & (every - 1);
    word_t mask = bit_of(first);

    if (every < WORD) {
        mask *= (word_t)-1 / (((word_t)1 << every) - 1);
    }
    for (size_t i = first / WORD; i<TOPS_WORDS; i += every> WORD ? every / WORD : 1) {
        if (x[i] & mask) {
            return i * WORD + (size_t)__builtin_ctzl(x[i] & mask);
        }
    }
    return NONE;
}

/* Takes the lowest n consecutive highest blocks of which the first is aligned and begins at granule
 * `last` at most. Returns its first granule, or NONE. */
static size_t tops_take(unsigned n, size_t align, size_t last)
{
    word_t x[TOPS_WORDS]; /* bits where `row` consecutive blocks begin */

    memcpy(x, phys.tops_free, sizeof(x));
    for (unsigned row = 1, more; row < n; row += more) {
        more = row < n - row ? row : n - row;
        tops_and_shifted(x, more);
    }
    size_t first = tops_aligned(x, align);
    if (first == NONE || first << phys.top > last) {
        return NONE;
    }
    tops_mark(first, n, false);
    return first << phys.top;
}

/* ---- blocks ------------------------------------------------------------------------ */

static void block_add(unsigned order, size_t block)
{
    if (order == phys.top) {
        tops_mark(block, 1, true);
        return;
    }
    set_add(&phys.free[order], block);
    phys.orders |= 1u << order;
}

static void block_remove(unsigned order, size_t block)
{
    if (set_remove(&phys.free[order], block)) {
        phys.orders &= ~(1u << order);
    }
}

/* Frees a block: merges it with its free buddies, and adds the result. */
static void block_merge(unsigned order, size_t block)
{
    while (order < phys.top && set_has(&phys.free[order], block ^ 1)) {
        block_remove(order, block ^ 1);
        order++;
        block /= 2;
    }
    block_add(order, block);
}

/*
 * Frees the granules [first, first + n) as blocks, from the end down. An allocation begins at a
 * multiple of the power of two that it fits into, so its blocks grow in this direction, and each
 * merges only up to the next one's size: all of them together pass each order once.
 */
static void granules_free(size_t first, size_t n)
{
    size_t top = (size_t)1 << phys.top;

    for (size_t end = first + n; n > 0;) {
        size_t size = n & ~(top - 1);

        if (end % top == 0 && size) {
            tops_mark((end - size) >> phys.top, size >> phys.top, true);
        } else {
            unsigned aligned = (unsigned)__builtin_ctzl(end), order = log2_down(n);

            order = aligned < order ? aligned : order;
            size = (size_t)1 << order;
            block_merge(order, (end - size) >> order);
        }
        end -= size;
        n -= size;
    }
}

/* For assertions: returns whether no granule of [first, first + n) is free. */
static inline bool granules_are_used(size_t first, size_t n)
{
    for (unsigned order = 0; order <= phys.top; order++) {
        const word_t *bits = order < phys.top ? phys.free[order].words : phys.tops_free;
        size_t i = first >> order, end = ((first + n - 1) >> order) + 1;

        while (i < end) {
            if (i % WORD == 0 && bits[i / WORD] == 0) {
                i += WORD;
            } else if (bits[i / WORD] & bit_of(i)) {
                return false;
            } else {
                i++;
            }
        }
    }
    return true;
}

/* ---- boot -------------------------------------------------------------------------- */

/* Chooses the granule and the highest order. */
static void phys_shape(paddr_t start, paddr_t end)
{
    phys.shift = 8;
    while (((end - start) >> phys.shift) > GRANULES_WANTED && (1u << phys.shift) < GRANULE_MAX) {
        phys.shift++;
    }
    paddr_t mask = ((paddr_t)1 << phys.shift) - 1;
    unsigned shift = phys.shift;
    while (((end - 1) >> shift) - (start >> shift) >= TOPS_MAX) {
        shift++;
    }
    phys.top = shift - phys.shift;
    phys.base = start >> shift << shift;
    phys.tops = (unsigned)(((end - 1) >> shift) - (start >> shift) + 1);
    phys.granules = ((end & ~mask) - ((start + mask) & ~mask)) >> phys.shift;
}

void phys_init(paddr_t start, size_t len)
{
    size_t words = 0;

    memset(&phys, 0, sizeof(phys));
    phys_shape(start, start + len);
    size_t first = (start - phys.base + ((size_t)1 << phys.shift) - 1) >> phys.shift;
    word_t *sets = arch_phys_to_virt(phys.base + ((paddr_t)first << phys.shift));
    for (unsigned order = 0; order < phys.top; order++) {
        size_t bits = (size_t)phys.tops << (phys.top - order);

        phys.free[order] = (struct phys_set){sets + words, bits};
        for (words += words_for(bits); bits > WORD; words += words_for(bits)) {
            bits = words_for(bits);
        }
    }
    memset(sets, 0, words * sizeof(word_t));
    size_t taken = (words * sizeof(word_t) + ((size_t)1 << phys.shift) - 1) >> phys.shift;
    phys.available = phys.granules - taken;
    granules_free(first + taken, phys.available);
}

/* ---- the calls --------------------------------------------------------------------- */

/* Takes the lowest of the smallest free blocks of at least this order (at most the highest) that
 * begins at granule `last` at most. Returns its first granule, or NONE; *size: its number of
 * granules. */
static size_t block_take(unsigned order, size_t last, size_t *size)
{
    for (uint32_t fits = phys.orders & ~(uint32_t)0 << order; fits; fits &= fits - 1) {
        order = (unsigned)__builtin_ctz(fits);
        size_t block = set_first(&phys.free[order]);
        if (block << order <= last) {
            block_remove(order, block);
            *size = (size_t)1 << order;
            return block << order;
        }
    }
    *size = (size_t)1 << phys.top;
    return tops_take(1, 1, last);
}

/* Like phys_alloc_raw(), beginning at granule `last` at most. */
static __attribute__((noinline)) paddr_t phys_take(size_t len, size_t align, size_t last)
{
    size_t granule = (size_t)1 << phys.shift, top = granule << phys.top;
    size_t first, size;

    kernel_assert(kernel_locked());
    kernel_assert((align & (align - 1)) == 0);
    if (len == 0 || len > phys.available << phys.shift) {
        return 0;
    }
    size_t n = (len + granule - 1) >> phys.shift;
    if (len <= top && align <= top) {
        size_t least = align > granule ? align >> phys.shift : 1;
        size_t span = n > least ? n : least;
        first = block_take(span > 1 ? log2_down(span - 1) + 1 : 0, last, &size);
    } else {
        unsigned tops = (unsigned)((len - 1) >> (phys.shift + phys.top)) + 1;
        size = (size_t)tops << phys.top;
        first = tops_take(tops, align, last);
    }
    if (first == NONE) {
        return 0;
    }
    phys.available -= n;
    granules_free(first + n, size - n);
    return phys.base + ((paddr_t)first << phys.shift);
}

paddr_t phys_alloc_raw(size_t len, size_t align)
{
    return phys_take(len, align, NONE);
}

paddr_t phys_alloc_below(size_t len, size_t align, paddr_t end)
{
    bool room = end > phys.base && end - phys.base >= len;

    return room ? phys_take(len, align, (end - phys.base - len) >> phys.shift) : 0;
}

/* Returns the order of the free block that contains this granule, or an order above the highest if
 * it isn't free. */
static unsigned block_order_of(size_t granule)
{
    unsigned order = 0;

    while (order < phys.top && !set_has(&phys.free[order], granule >> order)) {
        order++;
    }
    bool is_free =
        order < phys.top || (phys.tops_free[(granule >> order) / WORD] & bit_of(granule >> order));
    return is_free ? order : phys.top + 1;
}

/* Takes one step for each free block that the range overlaps. */
bool phys_alloc_at(paddr_t pa, size_t len)
{
    size_t granule = (size_t)1 << phys.shift;
    size_t first = (pa - phys.base) >> phys.shift;
    size_t end = first + ((len + granule - 1) >> phys.shift);
    unsigned order;

    kernel_assert(kernel_locked() && len > 0);
    if (pa < phys.base || ((pa - phys.base) & (granule - 1)) ||
        end > (size_t)phys.tops << phys.top) {
        return false;
    }
    for (size_t at = first; at < end; at = ((at >> order) + 1) << order) {
        order = block_order_of(at);
        if (order > phys.top) {
            return false;
        }
    }
    for (size_t at = first; at < end; at = ((at >> order) + 1) << order) {
        order = block_order_of(at);
        size_t from = at >> order << order, to = from + ((size_t)1 << order);
        if (order < phys.top) {
            block_remove(order, at >> order);
        } else {
            tops_mark(at >> order, 1, false);
        }
        granules_free(from, first > from ? first - from : 0);
        granules_free(end, to > end ? to - end : 0);
    }
    phys.available -= end - first;
    return true;
}

void phys_clear(paddr_t pa, size_t len)
{
    uint8_t *p = arch_phys_to_virt(pa);

    while (len > CONFIG_CLEAR_CHUNK) {
        arch_clear(p, CONFIG_CLEAR_CHUNK);
        p += CONFIG_CLEAR_CHUNK;
        len -= CONFIG_CLEAR_CHUNK;
        kernel_window();
    }
    arch_clear(p, len);
}

paddr_t phys_alloc(size_t len, size_t align)
{
    paddr_t pa = phys_alloc_raw(len, align);

    if (pa) {
        phys_clear(pa, len);
    }
    return pa;
}

void phys_free(paddr_t pa, size_t len)
{
    size_t granule = (size_t)1 << phys.shift;
    size_t first = (pa - phys.base) >> phys.shift, n = (len + granule - 1) >> phys.shift;

    kernel_assert(kernel_locked());
    kernel_assert(len > 0 && pa >= phys.base && ((pa - phys.base) & (granule - 1)) == 0);
    kernel_assert(n <= phys.granules && granules_are_used(first, n));
    phys.available += n;
    granules_free(first, n);
}

size_t phys_granule(void)
{
    return (size_t)1 << phys.shift;
}

size_t phys_available(void)
{
    return phys.available << phys.shift;
}
