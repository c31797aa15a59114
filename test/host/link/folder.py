#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""folder.py [CASE...]: the folder of the link's broker in TMPDIR, where any user may have made one
of that name: kymo uses it only if it is this user's alone, and makes it so if there is none."""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "test/board"), os.path.join(ROOT, "test/tool")]
import patience  # noqa: E402
import temporary  # noqa: E402,F401
from guest import expect, run_tests  # noqa: E402

KYMO = os.environ.get("KYMO", os.path.join(ROOT, "build/kymo"))


def capture(place):
    """Of a target that isn't there. (status, message)"""
    env = {k: v for k, v in os.environ.items() if k not in ("XDG_RUNTIME_DIR", "KYMO_TARGET")}
    done = subprocess.run([KYMO, "capture", "-t", f"unix:{place}/none"], cwd=place, text=True,
                          env=dict(env, TMPDIR=place), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=patience.seconds(60), check=False)
    return done.returncode, done.stderr


def folder_of(place):
    return os.path.join(place, f"kymo-{os.geteuid()}")


def a_new_one_is_the_users_alone(place):
    old = os.umask(0)
    status, _ = capture(place)
    os.umask(old)
    mode = stat.S_IMODE(os.lstat(folder_of(place)).st_mode)
    expect(status == 1 and mode == 0o700, f"{status} {mode:o}")


def one_that_others_can_use_is_refused(place):
    """Whether they can write there, or it is a link to a folder, or no folder; or it is another
    user's, if this is root, who can make one."""
    folder, real = folder_of(place), os.path.join(place, "real")
    os.mkdir(real, 0o700)

    def made(mode, owner=None):
        os.mkdir(folder)
        os.chmod(folder, mode)
        if owner is not None:
            os.chown(folder, owner, owner)
    for make in (lambda: made(0o777), lambda: made(0o710), lambda: made(0o701),
                 lambda: os.symlink(real, folder),
                 lambda: open(folder, "w", encoding="ascii").close(),
                 *([lambda: made(0o700, 12345)] if os.geteuid() == 0 else [])):
        make()
        status, said = capture(place)
        expect(status == 1 and f"{folder}: is not a directory of yours alone" in said,
               f"{status} {said}")
        if os.path.isdir(folder) and not os.path.islink(folder):
            expect(not os.listdir(folder), os.listdir(folder))
            os.rmdir(folder)
        else:
            os.unlink(folder)
    expect(not os.listdir(real), os.listdir(real))


def main():
    def in_a_place(test):
        # A socket's path is short.
        place = tempfile.mkdtemp(dir="/var/tmp" if len(temporary.PLACE) > 60 else temporary.PLACE)
        try:
            test(place)
        finally:
            shutil.rmtree(place)
    tests = [a_new_one_is_the_users_alone, one_that_others_can_use_is_refused]
    return run_tests(tests, sys.argv[1:], in_a_place)


if __name__ == "__main__":
    sys.exit(main())
