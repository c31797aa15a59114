#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""make bench-host: the report's page. report.py [EVENTS [BYTES]]

Fabricates a capture of 10 million events and makes a page of it (kymo report), opens it in headless
Chromium, and draws 300 random views, from all of the capture to a millionth of it, one an animation
frame. Prints bytes of the page for a million events, seconds to an open page, and how long a frame
takes: to draw it, and from one frame to the next. Then a capture of 1 GB to an open page, which has
levels of detail. Figures, never a test."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "test/tool"), os.path.join(ROOT, "test/host/report")]
# pylint: disable=wrong-import-position
import temporary  # noqa: E402
from big import Page  # noqa: E402

EVENTS, LARGE = 10_000_000, 1_000_000_000
WORKLOAD = 1.94  # what mkcapture is asked for, for each event of its capture
EVENT_BYTES = 21.8
VIEWS = 300
# The same views in each run: a multiplicative generator.
FRAMES = """
const all = [view.from, view.to], drawn = [], apart = [];
let seed = 1, last = 0;
const random = () => (seed = seed * 48271 % 2147483647) / 2147483647;
window.bench = null;
function step(now) {
    if (last) {
        apart.push(now - last);
    }
    last = now;
    const span = (all[1] - all[0]) * Math.pow(10, -6 * random());
    view.from = all[0] + random() * (all[1] - all[0] - span);
    view.to = view.from + span;
    const began = performance.now();
    draw();
    drawn.push(performance.now() - began);
    if (drawn.length < arguments_views) {
        requestAnimationFrame(step);
    } else {
        const order = list => list.sort((a, b) => a - b);
        window.bench = [order(drawn), order(apart)];
    }
}
requestAnimationFrame(step);
"""


def at(values, share):
    return values[min(len(values) - 1, int(share * len(values)))]


def main():
    os.chdir(ROOT)
    events = int(float(sys.argv[1])) if len(sys.argv) > 1 else EVENTS
    large = int(float(sys.argv[2])) if len(sys.argv) > 2 else LARGE
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        with Page(folder, int(events * WORKLOAD)) as page:
            n = page.browser.run("return report.loaded.tables.events")
            page.browser.run(FRAMES.replace("arguments_views", str(VIEWS)))
            drawn, apart = page.browser.until("window.bench", "frames")
            print(f"a page of {n / 1e6:.1f} million events: {page.length / n:.1f} bytes an event; "
                  f"kymo report {page.took:.1f} s, {page.memory >> 10} MB; "
                  f"open {page.opened:.1f} s after the browser was started")
            for name, values in (("to draw a frame", drawn), ("from frame to frame", apart)):
                print(f"{name}: {at(values, 0.5):.1f} ms in the median, "
                      f"{at(values, 0.9):.1f} ms at the 90th percentile, "
                      f"{values[-1]:.1f} ms at most, of {len(values)}")
        with Page(folder, int(large / EVENT_BYTES * WORKLOAD)) as page:
            print(page.text())


main()
