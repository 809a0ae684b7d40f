#!/usr/bin/env python3
"""Packs a build for machines that have nothing but their drivers. Usage: bundle.py BUILD_DIRECTORY FILE.tar.xz"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST_BYTES = 60 * 1024 * 1024

# Every Linux has these, in versions that match its kernel and its drivers.
SYSTEM = re.compile(r"^(ld-linux|libc|libm|libdl|libpthread|librt|libstdc\+\+|libgcc_s|linux-vdso)[.-]")

RUN = """#!/bin/sh
# Runs everything here on every device found: what is there, the example, the conformance suite, the benchmarks.
#   ./run                all of it; logs and pictures go to the current directory
#   ./run COMMAND ...    one program: backplane, deep_sky, backplane-conformance, backplane_bench
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PATH="$here/bin:$PATH"
# The archive may have been unpacked by anybody.
export BACKPLANE_ALLOW_UNTRUSTED=1
if [ $# -gt 0 ]; then
  exec "$@"
fi
failed=0
backplane info || failed=1
deep_sky "$here/share/backplane/hubble_deep_field.png" . || failed=1
for manifest in "$here"/lib/backplane/plugins/*.plugin.toml; do
  name=$(basename "$manifest" .plugin.toml)
  backplane-conformance --plugin "$manifest" >"conformance-$name.log" 2>&1
  case $? in
    0) echo "conformance $name: passed" ;;
    2) echo "conformance $name: no device" ;;
    *) echo "conformance $name: FAILED, see conformance-$name.log"; failed=1 ;;
  esac
done
backplane_bench || failed=1
exit $failed
"""


def needed_libraries(file):
    """The shared libraries that a file loads, by name and path, without the system's own."""
    listing = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=True).stdout
    for name, path in re.findall(r"^\s*(\S+) => (/\S+)", listing, re.MULTILINE):
        if not SYSTEM.match(name):
            yield name, pathlib.Path(path)


def stage(build, root):
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(root), "--strip"], check=True,
                   stdout=subprocess.DEVNULL)
    for unneeded in ("include", "lib/cmake", "lib/libbackplane_toolkit.a"):
        path = root / unneeded
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for program in ("backplane_bench", "backplane_loading_probe"):
        shutil.copy(build / "bin" / program, root / "bin")
        subprocess.run(["strip", str(root / "bin" / program)], check=True)
    picture = pathlib.Path(__file__).parent.parent / "examples" / "data" / "hubble_deep_field.png"
    shutil.copy(picture, root / "share" / "backplane")
    for file in [*root.glob("bin/*"), *root.glob("lib/**/*.so*")]:
        for name, path in needed_libraries(file):
            if not (root / "lib" / name).exists():
                shutil.copy(path, root / "lib" / name)
    run = root / "run"
    run.write_text(RUN)
    run.chmod(0o755)


def main():
    build, archive = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    if not archive.name.endswith(".tar.xz"):
        sys.exit(f"bundle: \"{archive}\" does not end in .tar.xz")
    with tempfile.TemporaryDirectory() as temporary:
        root = pathlib.Path(temporary) / "backplane"
        stage(build, root)
        subprocess.run(["tar", "--create", "--file", str(archive.resolve()), "--use-compress-program", "xz -6 -T0",
                        "--owner=0", "--group=0", "backplane"], cwd=temporary, check=True)
    size = os.path.getsize(archive)
    print(f"bundle: {archive}, {size / 1024 / 1024:.1f} MiB; unpack it and start backplane/run")
    if size > MOST_BYTES:
        sys.exit(f"bundle: that is more than the {MOST_BYTES // 1024 // 1024} MiB it may have")


if __name__ == "__main__":
    main()
