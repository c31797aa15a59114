# SPDX-License-Identifier: BSD-2-Clause
"""How far apart the colours of the page's states are, as CIE Lab distances, for people with normal
sight and without one kind of cone (matrices of Vienot, Brettel and Mollon, in linear sRGB)."""
import itertools
import re

SIGHTS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.11238, 0.88762, 0), (0.11238, 0.88762, 0), (0.00401, -0.00401, 1)),
    "no green": ((0.29275, 0.70725, 0), (0.29275, 0.70725, 0), (-0.02234, 0.02234, 1)),
    "no blue": ((1, 0.14461, -0.14461), (0, 0.85924, 0.14076), (0, 0.85924, 0.14076)),
}


def linear(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def lab(rgb):
    r, g, b = (min(1, max(0, c)) for c in rgb)
    xyz = ((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b,
           (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089)
    x, y, z = (c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116 for c in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(colour, matrix):
    rgb = linear(colour)
    return lab([sum(m * c for m, c in zip(row, rgb)) for row in matrix])


def between(one, two, matrix):
    """The distance of two colours as somebody sees them."""
    return sum((u - v) ** 2 for u, v in zip(seen(one, matrix), seen(two, matrix))) ** 0.5


def series(path):
    """(distance, sight, two colours) of the nearest two series of the views' charts."""
    with open(path, encoding="utf-8") as f:
        lines = "".join(line for line in f if re.match("const (SERIES|OTHERS)_COLOUR", line))
    return min((between(a, b, matrix), sight, a, b) for a, b in
               itertools.combinations(re.findall(r"#[0-9a-f]{6}", lines), 2)
               for sight, matrix in SIGHTS.items())


def nearest(path):
    """(distance, sight, two states) of the nearest two whose bars are equally high."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    styles = re.findall(r'^    (\d+): \{colour: "(#[0-9a-f]{6})", height: ([0-9.]+)', text, re.M)
    found = []
    for (a, one, high), (b, two, tall) in itertools.combinations(styles, 2):
        for sight, matrix in SIGHTS.items():
            if high == tall:
                found.append((between(one, two, matrix), sight, a, b))
    return len(styles), min(found)
