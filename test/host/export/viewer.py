#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""viewer.py [PICTURE]: speedscope itself, from npm (make install-speedscope), opens what
`kymo export --speedscope` writes, offline in Debian's chromium: it names the profiles, draws, and
complains of nothing. And its published schema accepts the files. For soak."""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tool"), os.path.join(HERE, "../report")]
# pylint: disable=wrong-import-position
import temporary  # noqa: E402,F401
from browser import Failed as BrowserFailed  # noqa: E402
from browser import opened  # noqa: E402
from common import MK, ROOT, Failed, export, same, want  # noqa: E402

RELEASE = os.path.join(ROOT, "build/speedscope/node_modules/speedscope/dist/release")
TYPES = {"object": dict, "array": list, "string": str, "number": (int, float)}


def accepts(schema, value, root):
    """What is wrong with a value, by the part of JSON Schema that speedscope's file uses; None."""
    if "$ref" in schema:
        return accepts(root["definitions"][schema["$ref"].rsplit("/", 1)[1]], value, root)
    if "anyOf" in schema:
        faults = [accepts(one, value, root) for one in schema["anyOf"]]
        return None if None in faults else faults[0]
    if "type" in schema and not isinstance(value, TYPES[schema["type"]]):
        return f"{str(value)[:80]} is no {schema['type']}"
    if "const" in schema and value != schema["const"] or value not in schema.get("enum", [value]):
        return f"{value} is not what it may be"
    if isinstance(value, list):
        return next((f for one in value if (f := accepts(schema["items"], one, root))), None)
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                return f"{name} is missing"
        return next((f for name, one in schema.get("properties", {}).items()
                     if name in value and (f := accepts(one, value[name], root))), None)
    return None


def check_schema(trace):
    with open(os.path.join(RELEASE, "file-format-schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    top = {"$ref": schema["$ref"]} if "$ref" in schema else \
        {"$ref": "#/definitions/FileFormat.File"}
    same(accepts(top, trace, schema), None, "speedscope's schema")
    want(accepts(top, dict(trace, profiles=[{"type": "evented"}]), schema), "a schema accepts all")


def check_page(raw, trace, picture):
    name = "made.speedscope.json"
    with open("made.js", "w", encoding="ascii") as f:
        f.write(f"speedscope.loadFileFromBase64({json.dumps(name)}, "
                f"{json.dumps(base64.b64encode(raw).decode('ascii'))})\n")
    with opened(arguments=["--allow-file-access-from-files"]) as browser:
        browser.open(os.path.join(RELEASE, "index.html"),
                     "#localProfilePath=" + os.path.abspath("made.js"))
        first = trace["profiles"][0]["name"]
        count = f"(1/{len(trace['profiles'])})"
        browser.until(f"document.body.innerText.includes({json.dumps(first)})", "its first profile")
        text = browser.run("return document.body.innerText")
        want(count in "".join(text.split()), f"{count} is not in {text[:300]!r}")
        want(browser.run("return document.querySelectorAll('canvas').length") >= 1, "it draws")
        if picture:
            browser.picture(picture)
        complaints = [x for x in browser.complaints() if re.search("rror|Uncaught|ailed", x)]
        want(not complaints, f"the console complains: {complaints}")


def main():
    if not os.path.exists(os.path.join(RELEASE, "index.html")):
        subprocess.run(["make", "-s", "install-speedscope"], cwd=ROOT, check=True)
    subprocess.run(["make", "-s", "build/kymo", "build/tools/mkcapture"], cwd=ROOT, check=True)
    picture = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
    captures = [os.path.join(ROOT, "test/host/golden", x)
                for x in ("virt-a64.kev", "mps2-an386.kev")]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([MK, "lossy.kev", "8", "3000", "5", "lossy"], check=True)
        for capture in captures + ["lossy.kev"]:
            raw = export("speedscope", capture)
            trace = json.loads(raw)
            try:
                check_schema(trace)
                check_page(raw, trace, picture)
                passed += 1
            except (Failed, BrowserFailed) as error:
                failed += 1
                print(f"FAIL {os.path.basename(capture)}: {error}")
            picture = None
        os.chdir(ROOT)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
