"""Finds Node, and the npm package of this Python package."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


class StartError(Exception):
    """The error that prevents startup, in one line."""


def command() -> list[str]:
    """The command that starts Waymark in Node."""
    return [find_node(), find_launcher()]


def find_node() -> str:
    """``WAYMARK_NODE``, then ``node_modules/.bin/node`` upward, then ``node`` on the PATH."""
    asked = os.environ.get("WAYMARK_NODE")
    if asked:
        found = shutil.which(asked)
        if found is None:
            raise StartError(f"WAYMARK_NODE={asked} is not an executable program")
        return found
    for folder in _upward():
        local = folder / "node_modules" / ".bin" / "node"
        if os.access(local, os.X_OK) and local.is_file():
            return str(local)
    found = shutil.which("node")
    if found is None:
        raise StartError("cannot find Node: install Node 24 or later, or set WAYMARK_NODE")
    return found


def find_launcher() -> str:
    """Beside this package in the npm package. For a wheel, in ``node_modules`` upward."""
    beside = Path(__file__).resolve().parents[2] / "bin" / "waymark.mjs"
    if beside.is_file():
        return str(beside)
    for folder in _upward():
        installed = folder / "node_modules" / "@tollway" / "waymark" / "bin" / "waymark.mjs"
        if installed.is_file():
            return str(installed)
    raise StartError(
        f"cannot find node_modules/@tollway/waymark in {Path.cwd()} or above it: "
        "npm install @tollway/waymark"
    )


def _upward() -> list[Path]:
    here = Path.cwd()
    return [here, *here.parents]
