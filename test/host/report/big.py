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
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import temporary  # noqa: E402
import browser  # noqa: E402

EVENTS = os.environ.get("EVENTS", "90000000")
MEMORY_MOST, PAGE_MOST = 400 << 10, 32 << 20  # KB, bytes


class Page:
    """A fabricated capture, its page, and a browser that has opened it; a context manager."""

    def __init__(self, folder, events):
        capture, page = f"{folder}/big.kev", f"{folder}/big.html"
        subprocess.run(["build/tools/mkcapture", capture, "4", str(events), "7"], check=True)
        self.size, began = os.path.getsize(capture), time.monotonic()
        command = subprocess.Popen(["build/kymo", "report", "--force", capture, "-o", page],
                                   env=dict(os.environ, TMPDIR=folder))
        _, self.status, used = os.wait4(command.pid, 0)
        command.returncode = os.waitstatus_to_exitcode(self.status)
        self.took, self.memory = time.monotonic() - began, used.ru_maxrss
        self.length = os.path.getsize(page)
        began = time.monotonic()
        self.context = browser.opened()
        self.browser = self.context.__enter__()
        self.browser.open(page)
        self.browser.until("document.documentElement.dataset.ready", "the page")
        self.opened = time.monotonic() - began

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return self.context.__exit__(*error)

    def text(self):
        return f"a capture of {self.size >> 20} MB: {self.took:.1f} s, {self.memory >> 10} MB of " \
            f"memory, a page of {self.length >> 10} KB, open {self.opened:.1f} s after the " \
            "browser was started"


def main():
    os.chdir(ROOT)
    bad = []
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder, Page(folder, EVENTS) as page:
        bad += [f"kymo report: status {page.status}"] if page.status else []
        bad += [f"{page.memory} KB of memory"] if page.memory > MEMORY_MOST else []
        bad += [f"a page of {page.length} bytes"] if page.length > PAGE_MOST else []
        page.browser.run("draw()")
        bad += page.browser.complaints() + page.browser.run("return report.faults")
        bad += [] if page.browser.run("return report.loaded.levels !== null") \
            else ["it has all events"]
        print(page.text())
    for what in bad:
        print("FAIL", what)
    print(f"{4 - min(len(bad), 4)} passed, {len(bad)} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
