# SPDX-License-Identifier: BSD-2-Clause
"""The blocks of a page that `kymo report` has written: a second reader, for tests."""
import zlib

DIGITS = (b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
          b"!#$%()*+,-./:;=>?@[]^_`{|}~\"'")


def bytes_of(text):
    """Two characters are 13 bits."""
    number, count = 0, 0
    out = bytearray()
    for low, high in zip(text[::2], text[1::2]):
        number |= DIGITS.index(low) + 91 * DIGITS.index(high) << count
        count += 13
        while count >= 8:
            out.append(number & 255)
            number >>= 8
            count -= 8
    return bytes(out)


def text_of(data):
    out, number = bytearray(), int.from_bytes(data, "little")
    for at in range(0, 8 * len(data), 13):
        value = number >> at & 0x1fff
        out += bytes((DIGITS[value % 91], DIGITS[value // 91]))
    return bytes(out)


def blocks(path):
    with open(path, "rb") as f:
        page = f.read()
    for part in page.split(b'<script type="text/plain" data-stream="')[1:]:
        head, rest = part.split(b">", 1)
        words = head.replace(b'"', b"").split()
        rows, length, deflated = (int(w.split(b"=")[1]) for w in words[1:4])
        data = zlib.decompress(bytes_of(rest.split(b"<", 1)[0])[:deflated])
        assert len(data) == length
        yield words[0].decode(), rows, data
