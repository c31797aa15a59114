#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""password.py [CASE...]: kymo load shows the password of ClickHouse to nobody. A curl of the test's
own sees it where only the user can read it, no program that is started has it in arguments or
environment, and no message repeats it."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "test/board"), os.path.join(ROOT, "test/tool")]
import patience  # noqa: E402
import temporary  # noqa: E402
from guest import expect, run_tests  # noqa: E402

KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))
GOLDEN = os.path.join(ROOT, "test/host/golden/virt-a64.kev")
SECRET = 'let "me\\ in'
# In place of each program that kymo load starts. It refuses as a server does.
PROGRAM = """#!/usr/bin/python3
import json, os, sys
seen = {"arguments": sys.argv, "environment": dict(os.environ), "configuration": ""}
if "-K" in sys.argv:
    with open(sys.argv[sys.argv.index("-K") + 1], encoding="utf-8") as f:
        seen["configuration"] = f.read()
with open(os.path.join(os.path.dirname(sys.argv[0]), "seen"), "a", encoding="utf-8") as f:
    f.write(json.dumps(seen) + chr(10))
print("Code: 516, e.displayText() = DB::Exception: Authentication failed" + chr(10) + "403", end="")
"""


def load(folder, url, password=None):
    """(status, what it wrote, what the programs that it started saw)"""
    for name in ("curl", "sha256sum"):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(PROGRAM)
        os.chmod(path, 0o755)
    seen = os.path.join(folder, "seen")
    if os.path.exists(seen):
        os.unlink(seen)
    env = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
    env.pop("CLICKHOUSE_PASSWORD", None)
    if password is not None:
        env["CLICKHOUSE_PASSWORD"] = password
    done = subprocess.run([KYMO, "load", url, GOLDEN], env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=patience.seconds(60), check=False)
    found = []
    if os.path.exists(seen):
        with open(seen, encoding="utf-8") as f:
            found = [json.loads(line) for line in f]
    return done.returncode, done.stdout + done.stderr, found


def only_the_configuration_has_it(folder):
    """A pipe that curl inherits."""
    status, said, seen = load(folder, "clickhouse://guarded@127.0.0.1:1/fleet", SECRET)
    expect(status == 1 and "Authentication failed" in said, f"{status} {said}")
    expect(seen, "curl was not started")
    escaped = SECRET.replace("\\", "\\\\").replace('"', '\\"')
    for one in seen:
        expect(SECRET not in str(one["arguments"]), one["arguments"])
        expect(SECRET not in one["environment"].values(), "the environment has it")
        expect(f'"X-ClickHouse-Key: {escaped}"' in one["configuration"], one["configuration"])
    expect(SECRET not in said, said)


def an_address_with_a_password_is_not_repeated(folder):
    """It is refused, because arguments can be read by all; the message says where it belongs."""
    for url in ("clickhouse://guarded:hunter2@h/fleet", "clickhouse://hunter2@2@h/fleet",
                "http://guarded:hunter2@h/fleet", "clickhouse://:hunter2@", "hunter2@h"):
        status, said, seen = load(folder, url)
        expect(status == 2 and not seen, f"{url}: {status} {seen}")
        expect("hunter2" not in said, f"{url}: {said}")
    expect("CLICKHOUSE_PASSWORD" in load(folder, "clickhouse://guarded:hunter2@h/fleet")[1],
           "no word where it belongs")
    status, said, _ = load(folder, "clickhouse://h")
    expect(status == 2 and "clickhouse://h:" in said, f"{status} {said}")


def a_password_that_no_header_holds_is_refused(folder):
    """It was left out without a word, so that a server of another user's rights answered."""
    for password in ("two\nlines", "a\rb"):
        status, said, seen = load(folder, "clickhouse://guarded@127.0.0.1:1/fleet", password)
        expect(status == 2 and not seen and "CLICKHOUSE_PASSWORD" in said, f"{status} {said}")
        expect("lines" not in said, said)


def main():
    tests = [only_the_configuration_has_it, an_address_with_a_password_is_not_repeated,
             a_password_that_no_header_holds_is_refused]
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        return run_tests(tests, sys.argv[1:], lambda test: test(folder))


if __name__ == "__main__":
    sys.exit(main())
