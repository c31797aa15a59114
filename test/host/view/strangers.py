#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""strangers.py [CASE...]: kymo view beside other users of the machine: --open shows the address to
nobody, names of other hosts are refused on each port, and the owner gets in whatever connections
strangers hold."""
import fcntl
import glob
import html
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "test/board"), os.path.join(ROOT, "test/tool")]
import patience  # noqa: E402
import temporary  # noqa: E402
from guest import expect, run_tests  # noqa: E402
from viewing import GOLDEN, View  # noqa: E402

STRANGERS = 200
STRANGERS_MOST = 32  # VISITORS_STRANGE in host/view/visitors.h
# What kymo starts instead of a browser: it writes down what every user could see of it.
XDG_OPEN = """#!/usr/bin/python3
import json, os, stat, sys, urllib.parse
path = urllib.parse.unquote(urllib.parse.urlsplit(sys.argv[-1]).path)
seen = {"arguments": sys.argv, "environment": dict(os.environ), "file": None}
if os.path.isfile(path):
    with open(path, encoding="utf-8") as f:
        seen["file"] = f.read()
    seen["mode"] = stat.S_IMODE(os.stat(path).st_mode)
    seen["folder"] = stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode)
    seen["path"] = path
with open(SEEN + ".part", "w", encoding="utf-8") as f:
    json.dump(seen, f)
os.rename(SEEN + ".part", SEEN)
"""


def until(condition, what):
    began = time.monotonic()
    while not condition():
        expect(not patience.is_over(began, 20), f"never: {what}")
        time.sleep(0.01)


def with_browser(folder):
    """(environment whose xdg-open is XDG_OPEN, the file that it writes); TMPDIR has characters that
    an address escapes."""
    place, seen = os.path.join(folder, "a b#c%41"), os.path.join(folder, "seen.json")
    for name in ("bin", "a b#c%41"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    program = os.path.join(folder, "bin/xdg-open")
    with open(program, "w", encoding="ascii") as f:
        f.write(XDG_OPEN.replace("SEEN", repr(seen)))
    os.chmod(program, 0o755)
    if os.path.exists(seen):
        os.unlink(seen)
    return {"PATH": f"{folder}/bin:{os.environ['PATH']}", "TMPDIR": place}, seen


def opened(view, seen):
    until(lambda: os.path.exists(seen) or view.process.poll() is not None, "xdg-open is started")
    with open(seen, encoding="utf-8") as f:
        return json.load(f)


def left_in(env):
    return glob.glob(os.path.join(glob.escape(env["TMPDIR"]), "kymo-*"))


def open_shows_the_secret_to_nobody(folder):
    """Neither arguments nor environment have it; the file that has it is the user's alone, leads to
    the page, and goes with the command, however it ends."""
    env, seen = with_browser(folder)
    old = os.umask(0)
    try:
        view = View("--open", GOLDEN, env=env)
    finally:
        os.umask(old)
    with view:
        had = opened(view, seen)
        secret = view.found[2]
        for key in ("arguments", "environment"):
            expect(secret not in json.dumps(had[key]), f"{key}: {had[key]}")
        expect(len(had["arguments"]) == 2 and had["arguments"][1].startswith("file:///"), had)
        expect(had["file"] is not None, "no file is opened")
        expect(had["mode"] == 0o600 and had["folder"] == 0o700, had)
        to = re.search(r'http-equiv="refresh" content="0; *url=([^"]+)"', had["file"])
        expect(to and html.unescape(to[1]) == view.url, had["file"])
        status, page = view.get(urllib.parse.urlsplit(html.unescape(to[1])).path)
        expect(status == 200 and b"</html>" in page, f"the page: {status}")
        with open(f"/proc/{view.process.pid}/cmdline", encoding="ascii") as f:
            expect(secret not in f.read(), "its own arguments")
        status, _, said = view.end(signal.SIGTERM)
        expect(status == 0 and not said and secret not in said, f"{status} {said}")
    expect(not os.path.exists(had["path"]) and not left_in(env), left_in(env))


def a_killed_view_leaves_its_file_to_the_next(folder):
    env, seen = with_browser(folder)
    with View("--open", GOLDEN, env=env) as view:
        path = opened(view, seen)["path"]
        view.process.kill()
        view.process.wait()
    expect(os.path.exists(path), "nothing to clean up")
    os.unlink(seen)
    with View("--open", GOLDEN, env=env) as view:
        opened(view, seen)
        expect(not os.path.exists(path) and len(left_in(env)) == 1, left_in(env))
        view.end()
    expect(not left_in(env), left_in(env))


def without_a_browser_it_serves(folder):
    """A message says that there is no xdg-open, without the secret."""
    env, _ = with_browser(folder)
    with View("--open", GOLDEN, env=dict(env, PATH=folder)) as view:
        said = view.process.stderr.readline()
        expect("--open: xdg-open" in said and view.found[2] not in said, said)
        view.works()
        status, _, said = view.end()
        expect(status == 0 and not said, f"{status} {said}")


# ---- connections -------------------------------------------------------------------------------


class Strangers(threading.Thread):
    """Holds connections and sends a byte on each now and then, so that none of them is idle; opens
    another one for each that is closed."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.held, self.ends = port, [], threading.Event()
        self.opened = 0

    def run(self):
        while not self.ends.is_set():
            while len(self.held) < STRANGERS and not self.ends.is_set():
                s = socket.socket()
                s.setblocking(False)
                s.connect_ex(("127.0.0.1", self.port))
                self.held.append(s)
                self.opened += 1
            for s in list(self.held):
                try:
                    s.send(b"G" if self.opened % 2 else b"\r")
                except BlockingIOError:
                    pass
                except OSError:
                    s.close()
                    self.held.remove(s)
            self.ends.wait(0.05)

    def __enter__(self):
        self.start()
        until(lambda: self.opened >= STRANGERS, "the strangers' connections")
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.join()
        for s in self.held:
            s.close()


def the_owner_gets_in(_):
    """While strangers hold all that they may: new connections, one that stays, and one that waits
    for news."""
    with View(GOLDEN) as view:
        stays = socket.create_connection(("127.0.0.1", view.port), patience.seconds(30))
        version = json.loads(view.get("state")[1])["version"]
        head = f"HTTP/1.1\r\nHost: localhost:{view.port}\r\n\r\n"
        stays.sendall(f"GET /{view.found[2]}/state?after={version} {head}".encode())
        with Strangers(view.port) as strangers:
            for _ in range(5):
                view.works()
            news = stays.recv(4096)
            expect(news.startswith(b"HTTP/1.1 200 "), f"the page that waits: {news}")
            stays.sendall(f"GET /{view.found[2]}/state {head}".encode())
            news = stays.recv(4096)
            expect(news.startswith(b"HTTP/1.1 200 "), f"the connection that stays: {news}")
            print(f"{strangers.opened} connections of strangers")
        stays.close()
        view.works()
        status, _, said = view.end()
        expect(status == 0 and not said, f"{status} {said}")


def strangers_have_half(_):
    """Of connections that never show the secret the oldest are closed, idle or not."""
    with View(GOLDEN) as view:
        held = [socket.create_connection(("127.0.0.1", view.port)) for _ in range(STRANGERS)]

        def open_ones():
            count = 0
            for s in held:
                try:
                    s.send(b"G")
                    count += s.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) != b""
                except BlockingIOError:
                    count += 1
                except (BrokenPipeError, ConnectionResetError):
                    pass
            return count
        until(lambda: open_ones() <= STRANGERS_MOST, f"at most {STRANGERS_MOST} are left")
        view.works()
        for s in held:
            s.close()


# ---- port 80 -----------------------------------------------------------------------------------


def loopback_up():
    """In a new network name space, where port 80 is anybody's."""
    with socket.socket() as s:
        request = struct.pack("16sh14x", b"lo", 0x41)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(s, 0x8914, request)  # SIOCSIFFLAGS


def inside(port):
    loopback_up()
    with View("--port", str(port), GOLDEN) as view:
        # What a browser sends: it leaves out the port if that is 80.
        rest = "" if port == 80 else f":{port}"
        for host in ("127.0.0.1", "localhost", "LocalHost", "[::1]"):
            expect(view.get("", host=host + rest)[0] == 200, host + rest)
            expect(view.get("", host=f"{host}:{port}")[0] == 200, f"{host}:{port}")
            for other in ("" if rest else ":81", f":{port}0", ":", f":0{port}", f":{port}x", ".",
                          ".evil.example"):
                expect(view.get("", host=host + other)[0] == 403, f"{host}{other} is accepted")
        for host in ("evil.example", "evil.example:80", "localhost.", "0.0.0.0", "127.0.0.1.nip.io",
                     "::1", "[::2]", "127.1", "x127.0.0.1", f"127.0.0.1@evil.example:{port}", "@"):
            expect(view.get("", host=host)[0] == 403, f"{host} is accepted")
        status, _, said = view.end()
        expect(status == 0 and not said, f"{status} {said}")


def browsers_names_of_this_machine_are_accepted(_):
    """On port 80, whose number no browser sends, and on another one. Both in a network name space
    of the test; where none is allowed that is said."""
    words = ["unshare", "-rn"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode != 0:
        print("no network name space here: port 80 is not tried; the names are host_name's")
        return
    for port in (80, 8080):
        done = subprocess.run([*words, sys.executable, __file__, "--inside", str(port)], text=True,
                              capture_output=True, timeout=patience.seconds(120), check=False)
        expect(done.returncode == 0, f"port {port}: {done.stdout}{done.stderr[-2000:]}")


def main():
    if sys.argv[1:2] == ["--inside"]:
        inside(int(sys.argv[2]))
        return 0
    tests = [open_shows_the_secret_to_nobody, a_killed_view_leaves_its_file_to_the_next,
             without_a_browser_it_serves, the_owner_gets_in, strangers_have_half,
             browsers_names_of_this_machine_are_accepted]
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        return run_tests(tests, sys.argv[1:], lambda test: test(folder))


if __name__ == "__main__":
    sys.exit(main())
