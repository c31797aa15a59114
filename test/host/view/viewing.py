# SPDX-License-Identifier: BSD-2-Clause
"""Imported by the tests of kymo view: the command, as it serves one capture."""
import http.client
import os
import re
import signal
import subprocess

import patience
from guest import expect

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))
GOLDEN = os.path.join(ROOT, "test/host/golden/virt-a64.kev")


class View:
    def __init__(self, *words, env=None):
        self.process = subprocess.Popen([KYMO, "view", *words], stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.PIPE, env=dict(os.environ, **(env or {})))
        self.url = self.process.stdout.readline().strip()
        self.found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.url)
        expect(self.found, self.url or self.process.stderr.read())
        self.port = int(self.found[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, sign=signal.SIGINT):
        self.process.send_signal(sign)
        out, said = self.process.communicate(timeout=patience.seconds(60))
        return self.process.returncode, out, said

    def get(self, path, method="GET", host=None, body=None):
        """Status and body; path: after the secret, or from / on."""
        path = path if path.startswith("/") else f"/{self.found[2]}/{path}"
        to = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience.seconds(30))
        to.putrequest(method, path, skip_host=True)
        to.putheader("Host", host or f"127.0.0.1:{self.port}")
        if body is not None:
            to.putheader("Content-Length", str(len(body)))
        to.endheaders(body)
        answer = to.getresponse()
        self.headers = dict(answer.getheaders())
        data = answer.read()
        to.close()
        return answer.status, data

    def works(self):
        status, page = self.get("")
        expect(status == 200 and b"</html>" in page, f"the page: {status}")
        status, blocks = self.get("whole")
        expect(status == 200 and blocks, f"the events: {status}")

    def status(self, key):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(rf"^{key}:\s*(\d+)", f.read(), re.M)[1])
