# SPDX-License-Identifier: BSD-2-Clause
"""A browser to be driven by tests: Debian's chromium through its chromedriver, over W3C WebDriver
with nothing but the standard library. It has no network but the driver's port."""
import base64
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tool"))
import patience  # noqa: E402
import temporary  # noqa: E402

KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Home": "\ue011", "End": "\ue010",
        "Tab": "\ue004", "Shift": "\ue008"}
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Failed(Exception):
    """The driver's own message."""



class Browser:
    """One session; a context manager. Its profile is a temporary folder."""

    def __init__(self, folder, width=1280, height=800, arguments=()):
        self.port, self.folder, self.words = None, folder, os.path.join(folder, "driver.txt")
        self.starts = 1
        self.start_driver()
        self.session = None
        try:
            self.port = self.wait_for(self.port_of_driver, "chromedriver's port")
            self.wait_for(self.answers, "chromedriver")
            self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
                # The driver's own 30 s for a script are short on a busy machine.
                "timeouts": {"script": round(patience.seconds(30) * 1000)},
                "goog:chromeOptions": {"args": [
                    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--no-first-run", "--disable-background-networking", "--disable-extensions",
                    "--force-color-profile=srgb", f"--user-data-dir={folder}/profile",
                    f"--window-size={width},{height}", *arguments]}}}})["sessionId"]
        except BaseException:
            self.close()
            raise

    def start_driver(self):
        # Chromium keeps its reports of crashes and its settings below HOME. A port that was free
        # when this test looked may be another's when the driver comes: so it takes one itself.
        with open(self.words, "wb") as words:
            self.driver = subprocess.Popen(
                ["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=words,
                stderr=subprocess.STDOUT, start_new_session=True,
                env=dict(os.environ, HOME=self.folder, XDG_CONFIG_HOME=self.folder,
                         XDG_CACHE_HOME=self.folder))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.session:
            with contextlib.suppress(Failed, OSError):
                self.call("DELETE", f"/session/{self.session}")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.driver.pid, signal.SIGTERM)
        self.driver.wait()

    def port_of_driver(self):
        """The driver takes a port for IPv4, then the same for IPv6, and ends if another has that:
        then it is started again."""
        try:
            return self.port_taken()
        except Failed:
            self.starts += 1
            if self.starts > 3:
                raise
            self.start_driver()
            return None

    def port_taken(self):
        with open(self.words, encoding="utf-8", errors="replace") as words:
            said = words.read()
        found = re.search(r"started successfully on port (\d+)", said)
        if not found and self.driver.poll() is not None:
            raise Failed(f"chromedriver has ended with {self.driver.returncode}: {said[-500:]}")
        return int(found[1]) if found else None

    def answers(self):
        with contextlib.suppress(OSError):
            return self.call("GET", "/status")["ready"]
        return False

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=patience.seconds(120)) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise Failed(json.load(e)["value"]["message"]) from None

    def ask(self, method, path, body=None):
        return self.call(method, f"/session/{self.session}{path}", body)

    @staticmethod
    def wait_for(condition, what, seconds=30):
        began = time.monotonic()
        while not patience.is_over(began, seconds):
            value = condition()
            if value:
                return value
            time.sleep(0.02)
        raise Failed(f"{what}: nothing came in {time.monotonic() - began:.0f} s")

    # ---- the page ---------------------------------------------------------------------------

    def open(self, path, fragment=""):
        self.ask("POST", "/url", {"url": "about:blank"})
        self.ask("POST", "/url", {"url": "file://" + os.path.abspath(path) + fragment})

    def run(self, script, *arguments):
        """The value of a function's body; arguments[0] ... are its arguments."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def until(self, script, what):
        return self.wait_for(lambda: self.run("return " + script), what)

    def element(self, selector):
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.ask("POST", f"/element/{self.element(selector)}/click", {})

    def keys(self, *names, hold=None):
        """Presses keys one after the other, perhaps with another one held."""
        actions = [{"type": "keyDown", "value": KEYS[hold]}] if hold else []
        for name in names:
            actions += [{"type": kind, "value": KEYS.get(name, name)}
                        for kind in ("keyDown", "keyUp")]
        actions += [{"type": "keyUp", "value": KEYS[hold]}] if hold else []
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys",
                                                   "actions": actions}]})

    def pointer(self, *steps, kind="mouse", hold=None):
        """Steps are (x, y) in the window's pixels, "down" and "up"."""
        actions = []
        for step in steps:
            if isinstance(step, tuple):
                actions.append({"type": "pointerMove", "duration": 0, "x": round(step[0]),
                                "y": round(step[1])})
            else:
                actions.append({"type": "pointer" + step.capitalize(), "button": 0})
        sources = [{"type": "pointer", "id": kind, "parameters": {"pointerType": kind},
                    "actions": actions}]
        if hold:
            pauses = [{"type": "pause"}] * (len(actions) - 1)
            sources.insert(0, {"type": "key", "id": "keys", "actions": [
                {"type": "keyDown", "value": KEYS[hold]}, *pauses,
                {"type": "keyUp", "value": KEYS[hold]}]})
            actions.insert(0, {"type": "pause"})
        self.ask("POST", "/actions", {"actions": sources})

    def touch(self, first, second):
        """Two fingers, each from one point to another."""
        def finger(name, from_, to):
            moves = [{"type": "pointerMove", "duration": 0, "x": from_[0], "y": from_[1]},
                     {"type": "pointerDown", "button": 0},
                     {"type": "pointerMove", "duration": 60, "x": to[0], "y": to[1]},
                     {"type": "pointerUp", "button": 0}]
            return {"type": "pointer", "id": name, "parameters": {"pointerType": "touch"},
                    "actions": moves}
        self.ask("POST", "/actions", {"actions": [finger("a", *first), finger("b", *second)]})

    def wheel(self, x, y, dx, dy):
        self.ask("POST", "/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "duration": 0, "x": round(x), "y": round(y), "deltaX": dx,
             "deltaY": dy}]}]})

    def complaints(self):
        """What the console has said since the last time."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.ask("GET", "/screenshot")))


def opened(width=1280, height=800, arguments=()):
    """A context manager that gives a browser, and removes its profile in the end."""
    @contextlib.contextmanager
    def both():
        with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder, \
                Browser(folder, width, height, arguments) as browser:
            yield browser
    return both()
