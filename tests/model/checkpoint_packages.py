"""Packages that bring checkpoints, as pip would leave them; no pip is needed."""

from __future__ import annotations

from pathlib import Path

PACKAGE = "phonemic_checkpoints_of_tests"


def make_package(folder: Path, group: str = "phonemic_bert.checkpoints", **checkpoints: Path | str) -> Path:
    """Makes a folder for ``sys.path`` with a package that declares checkpoints and holds links to their folders.

    Arguments:
        folder: does not exist.
        group: that of the entry points.
        checkpoints: their folders by name, with ``_`` for ``-``.
    """
    names = {name.replace("_", "-"): where for name, where in checkpoints.items()}
    info = folder / f"{PACKAGE}-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 0\n", "utf-8")
    lines = [f"[{group}]", *(f"{name} = {PACKAGE}" for name in names)]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / PACKAGE).mkdir()
    (folder / PACKAGE / "__init__.py").touch()
    for name, where in names.items():
        (folder / PACKAGE / name).symlink_to(where, target_is_directory=True)
    return folder
