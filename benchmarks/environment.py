"""Where and with what a benchmark ran."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.other_tools import OTHER_TOOLS
from benchmarks.timing import ROOT

#: Packages whose version counts, next to the baselines'.
PACKAGES = (
    "numpy", "pyarrow", "phonemic", "opencc", "opencc-python-reimplemented", "pypinyin-dict", "torch", "transformers",
    "pyvi", "Pinyin2Hanzi",
)  # fmt: skip


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    except OSError:
        return ""
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else ""


def _processor() -> str:
    """The processor's name and, where its maker does not tell it, its family and model."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    pairs = (line.partition(":") for line in info.read_text().split("\n\n")[0].splitlines())
    facts = {key.strip(): value.strip() for key, _, value in pairs}
    family, model = facts.get("cpu family"), facts.get("model")
    return facts.get("model name", platform.machine()) + (f" (family {family}, model {model})" if family else "")


def environment() -> dict[str, Any]:
    """Processor, system, versions, commit and date."""
    packages = sorted({tool.package for tool in OTHER_TOOLS} | set(PACKAGES))
    versions = {}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = ""
    changed = _first_line("git", "--no-optional-locks", "status", "--porcelain", "--untracked-files=no")
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": _first_line("git", "rev-parse", "--short", "HEAD") + (" with changes" if changed else ""),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": _first_line("cc", "--version"),
        "versions": versions,
    }
