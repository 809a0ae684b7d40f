#!/usr/bin/env python3
"""Runs clang-tidy over every source file of a build. Usage: run_tidy.py BUILD_DIRECTORY

A file that passed is not looked at again until it, a header of the project that it includes, its command, or the
rules change."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

TIDY = "clang-tidy-19"
COMPILER = "clang++-19"
ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONS = ["--quiet", "--warnings-as-errors=*", "--extra-arg=-Wno-unknown-warning-option"]


def source_files(build, passed):
    """The project's own source files with one command each, as clang understands it; also written to
    passed/compile_commands.json."""
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"]).resolve()
        if path.is_relative_to(ROOT) and not path.is_relative_to(build) and path.suffix == ".cpp":
            # g++ alone knows the one, and the compiler's own warnings are the build's affair.
            entry["command"] = entry["command"].replace(" -fno-gnu-unique", "").replace(" -Werror", "")
            entries.setdefault(path, entry)
    (passed / "compile_commands.json").write_text(json.dumps(list(entries.values())))
    return {path: entry["command"] for path, entry in entries.items()}


def own_headers(command, directory):
    """The project's files that a command reads, as the compiler lists them."""
    words = shlex.split(command)
    compiler = next(i for i, word in enumerate(words) if word.endswith(("c++", "g++", "clang++", COMPILER)))
    arguments, skip = [], False
    for word in words[compiler + 1 :]:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT"):
            skip = True
        elif word not in ("-c", "-MD"):
            arguments.append(word)
    listing = subprocess.run([COMPILER, *arguments, "-MM"], cwd=directory, capture_output=True, text=True, check=True)
    names = listing.stdout.replace("\\\n", " ").split()[1:]
    return sorted(pathlib.Path(directory, name).resolve() for name in names)


def fingerprint(command, build):
    digest = hashlib.sha256(command.encode())
    digest.update((ROOT / ".clang-tidy").read_bytes())
    digest.update(" ".join([TIDY, *OPTIONS]).encode())
    for path in own_headers(command, build):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def check(path, command, build, passed):
    """None if the file passes, else what is wrong with it."""
    try:
        stamp = passed / fingerprint(command, build)
    except subprocess.CalledProcessError as failure:
        return failure.stderr
    if stamp.exists():
        return None
    result = subprocess.run([TIDY, "-p", str(passed), *OPTIONS, str(path)], capture_output=True, text=True)
    if result.returncode == 0:
        stamp.touch()
        return None
    return result.stdout + result.stderr


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    passed = build / "tidy"
    passed.mkdir(exist_ok=True)
    files = source_files(build, passed)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {pool.submit(check, path, command, build, passed): path for path, command in files.items()}
        for run in concurrent.futures.as_completed(runs):
            if complaint := run.result():
                failures += 1
                print(f"{runs[run].relative_to(ROOT)}:\n{complaint}", flush=True)
    print(f"clang-tidy: {len(files) - failures} of {len(files)} files pass")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
