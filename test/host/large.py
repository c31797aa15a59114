#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Captures larger than memory: large.py [EVENTS]

Each command that reads a capture reads one of 1 GB while its process may have only DATA bytes of
memory of its own (RLIMIT_DATA: heap, private mappings), a report DATA_REPORT, and none takes more
than that at its peak; a limit that is too small is noticed. The last line counts. For soak."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test/tool"))
import temporary  # noqa: E402

EVENTS = sys.argv[1] if len(sys.argv) > 1 else "90000000"
DATA, DATA_REPORT = 64 << 20, 256 << 20
FORMS = (["print", "-n"], ["print", "--json"], ["stat"], ["export", "--csv"], ["export", "--jsonl"],
         ["export", "--chrome"], ["export", "--perfetto", "-o", "OUT"],
         ["export", "--speedscope", "-o", "OUT"], ["export", "--ctf", "-o", "OUT"],
         ["export", "--trace-dat", "-o", "OUT"],
         ["report", "-o", "OUT"], ["cut", "-o", "OUT"],
         ["dtrace", "-qn", "sched:::on-cpu, msg:::send { @[probename, execname] = count(); }",
          "-r"], ["assert", "--no-loss"])


def run(form, capture, data):
    """Status and peak memory in bytes."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (data, data))

    child = subprocess.Popen([f"{ROOT}/build/kymo", *form, capture], stdout=subprocess.DEVNULL,
                             stdin=subprocess.DEVNULL, stderr=open("err", "wb"), preexec_fn=limit)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_maxrss << 10


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory(dir=temporary.PLACE) as folder:
        os.chdir(folder)
        os.environ["TMPDIR"] = folder
        subprocess.run([f"{ROOT}/build/tools/mkcapture", "large.kev", "4", EVENTS, "7"], check=True)
        print(f"a capture of {os.path.getsize('large.kev') >> 20} MB, {DATA >> 20} MB of memory, "
              f"{DATA_REPORT >> 20} MB for a report")
        for form in FORMS:
            data = DATA_REPORT if form[0] == "report" else DATA
            status, peak = run([word.replace("OUT", "out") for word in form], "large.kev", data)
            good = status == 0 and peak <= data
            passed, failed = passed + good, failed + (not good)
            print(f"{'' if good else 'FAIL '}{' '.join(form)[:40]}: status {status}, "
                  f"{peak / (1 << 20):.1f} MB", flush=True)
            if not good:
                print(open("err", encoding="utf-8", errors="replace").read()[:500])
            if os.path.isdir("out"):
                shutil.rmtree("out")
            elif os.path.exists("out"):
                os.unlink("out")
        noticed = run(["print"], "large.kev", 1 << 20)[0] != 0
        passed, failed = passed + noticed, failed + (not noticed)
        print("" if noticed else "FAIL a limit of 1 MB is not noticed\n", end="")
        os.chdir(ROOT)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
