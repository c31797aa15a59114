#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A capture too large for a browser becomes a page that opens: memory of the command and size of
the page are bounded, whatever the capture's size. EVENTS=n; the last line counts."""
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test"))
import temporary  # noqa: E402
import browser  # noqa: E402

EVENTS = os.environ.get("EVENTS", "90000000")
MEMORY_MOST, PAGE_MOST = 400 << 10, 32 << 20  # KB, bytes


def main():
    os.chdir(ROOT)
    bad = []
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        capture, page = f"{folder}/big.kev", f"{folder}/big.html"
        maker = subprocess.Popen(["build/tools/mkcapture", capture, "4", EVENTS, "7"])
        bad += ["mkcapture"] if os.wait4(maker.pid, 0)[1] else []
        size, began = os.path.getsize(capture), time.monotonic()
        command = subprocess.Popen(["build/kymo", "report", capture, "-o", page],
                                   env=dict(os.environ, TMPDIR=folder))
        _, status, used = os.wait4(command.pid, 0)
        took = time.monotonic() - began
        bad += [f"kymo report: status {status}"] if status else []
        bad += [f"{used.ru_maxrss} KB of memory"] if used.ru_maxrss > MEMORY_MOST else []
        length = os.path.getsize(page)
        bad += [f"a page of {length} bytes"] if length > PAGE_MOST else []
        began = time.monotonic()
        with browser.opened() as b:
            b.open(page)
            b.until("document.documentElement.dataset.ready", "the page")
            opened = time.monotonic() - began
            b.run("draw()")
            bad += b.complaints() + b.run("return report.faults")
            bad += [] if b.run("return report.loaded.levels !== null") else ["it has all events"]
    print(f"a capture of {size >> 20} MB: {took:.1f} s, {used.ru_maxrss >> 10} MB of memory, a page"
          f" of {length >> 10} KB, open {opened:.1f} s after the browser was started")
    for what in bad:
        print("FAIL", what)
    print(f"{4 - min(len(bad), 4)} passed, {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
