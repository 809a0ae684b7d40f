#!/usr/bin/env python3
"""Reads a plugin's ELF file as the loader will: exactly one exported symbol, the entry point; none that the whole
process would share (STB_GNU_UNIQUE); no undefined one of ours. Usage: check_exports.py LIBRARY..."""

import re
import subprocess
import sys

ENTRY_POINT = "backplane_plugin_v1"


def symbols(library):
    """Name, binding and section index of every dynamic symbol."""
    text = subprocess.run(["readelf", "--dyn-syms", "--wide", library], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].rstrip(":").isdigit():
            yield re.split("@", fields[7])[0], fields[4], fields[6]


def complaints(library):
    exported = []
    for name, binding, section in symbols(library):
        if binding == "UNIQUE":
            yield f"{name} is shared by the whole process (STB_GNU_UNIQUE); compile with -fno-gnu-unique"
        if section == "UND":
            if "9backplane" in name or name.startswith("backplane_"):
                yield f"{name} is undefined; a plugin must carry whatever it uses of the SDK"
        elif binding != "LOCAL":
            exported.append(name)
    if exported != [ENTRY_POINT]:
        yield f"it exports {', '.join(exported) or 'nothing'}; it must export {ENTRY_POINT} alone"


def main(libraries):
    if not libraries:
        sys.exit(__doc__)
    failed = False
    for library in libraries:
        for complaint in complaints(library):
            print(f"{library}: {complaint}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
