#!/usr/bin/env python3
"""Checks who includes whom. Usage: check_includes.py ROOT

  sdk/contract      nothing but itself and the standard library
  sdk/toolkit       the contract, itself
  sdk/translator    the contract, itself
  core              the contract, itself; never the toolkit, never a plugin
  plugins/NAME      the SDK, its own folder, the header of its driver
  conformance, examples   core and the contract, as a user would
and the heavy headers each stay in at most two source files."""

import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".inl"}

# Where a header under <backplane/...> lives.
TOOLKIT = re.compile(r"^backplane/(toolkit\.h|toolkit/)")
CONTRACT = re.compile(r"^backplane/(sdk\.h|contract/)")

HEAVY = {
    "Boost.DLL": re.compile(r"^boost/dll"),
    "Boost.Stacktrace": re.compile(r"^boost/stacktrace"),
    "toml++": re.compile(r"^toml\+\+"),
    "spdlog": re.compile(r"^spdlog/"),
    "CLI11": re.compile(r"^CLI/"),
}
MOST_FILES = 2


def area(path):
    """The folder whose rules hold for a file: "sdk/contract", "core", "plugins/cpu"."""
    parts = path.parts
    return "/".join(parts[:2]) if parts[0] in ("sdk", "plugins") and len(parts) > 2 else parts[0]


def allowed(area_name, header):
    """Whether a file of this area may include <backplane/...>."""
    if CONTRACT.match(header):
        return True
    if area_name == "sdk/contract" or area_name == "sdk/translator":
        return False
    if TOOLKIT.match(header):
        return area_name == "sdk/toolkit" or area_name.startswith("plugins/")
    return area_name in ("core", "conformance", "examples")


def resolves_within(root, path, header):
    """Whether a quoted header is found beside the file or in its area, and not in another's."""
    base = root / area(path)
    candidates = [root / path.parent, base, base / "src", base / "cli"]
    for candidate in candidates:
        found = (candidate / header).resolve()
        if found.exists():
            return found.is_relative_to(base.resolve())
    return False


def complaints(root):
    heavy = {name: set() for name in HEAVY}
    for folder in ("sdk", "core", "plugins", "conformance", "examples"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            path = file.relative_to(root)
            # A plugin project made for a test, or an example, stands for somebody outside.
            outside = "package_test" in path.parts or "test_plugins" in path.parts or path.parts[0] == "examples"
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                quoted, header = match.group(1) == '"', match.group(2)
                where = f"{path}:{number}"
                if header.startswith("backplane/"):
                    if not outside and not allowed(area(path), header):
                        yield f"{where}: {area(path)} must not include <{header}>"
                elif quoted and not outside and not resolves_within(root, path, header):
                    yield f'{where}: "{header}" is not in {area(path)}, which includes nothing else by quotes'
                elif area(path) == "sdk/contract" and not quoted and ("/" in header or "." in header):
                    if not path.stem.endswith("_test"):
                        yield f"{where}: the contract includes the standard library alone, not <{header}>"
                for name, pattern in HEAVY.items():
                    if pattern.match(header):
                        heavy[name].add(path)
    for name, files in heavy.items():
        headers = [file for file in files if file.suffix != ".cpp"]
        if headers or len(files) > MOST_FILES:
            listed = ", ".join(str(file) for file in sorted(files))
            yield f"{name} is included by {listed}; it belongs in at most {MOST_FILES} source files and in no header"


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    found = list(complaints(pathlib.Path(arguments[0]).resolve()))
    print("\n".join(found) if found else "Every include is where it may be.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
