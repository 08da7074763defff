"""From text files to a corpus: plan, make what is missing, and finish."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from phonemic.corpus import duplicates
from phonemic.corpus.counts import KEPT, STATUSES, Counts
from phonemic.corpus.engines import Engine
from phonemic.corpus.inputs import Piece, Source, cut, find_sources
from phonemic.corpus.manifest import FORMAT, MANIFEST, TOTALS, check_manifest, check_name, open_corpus, sha256
from phonemic.corpus.options import Options
from phonemic.corpus.report import write_report
from phonemic.corpus.segments import SegmentJob, records
from phonemic.errors import InputError
from phonemic.files import replacing, require
from phonemic.files.jsons import checked, damaged, read_object
from phonemic.files.locking import LOCK, locked
from phonemic.files.outputs import check_own
from phonemic.files.writing import clear_unfinished, to_disk, write_json

#: How the corpus is finished, in the folder of partial work.
_FINISH = "finish.json"

#: Lines whose keys are compared at a time; one takes about 50 bytes then.
_KEYS_AT_A_TIME = 20_000_000

#: Is called with the name of a phase, the bytes of the sources dealt with since the last call, and all of them.
Progress = Callable[[str, float, float], object]

Parts = list[tuple[int, list[Piece]]]

#: Files of the lines to drop, for the exact and for the near duplicates.
Drops = tuple[tuple[Path, ...], tuple[Path, ...]]


def prepare(
    inputs: Iterable[str],
    out: str | Path,
    options: Options,
    engine: Engine,
    progress: Progress = lambda phase, read, total: None,
) -> dict[str, Any]:
    """Prepares a corpus, or continues where an earlier call with the same arguments was stopped.

    Arguments:
        inputs: files, folders and globs, see :func:`phonemic.corpus.inputs.find_sources`.
        out: the folder of the corpus; new, empty, or an unfinished corpus of the same inputs and options.
        options: how.
        engine: where. It does not change a byte of the corpus, and another may finish it.
        progress: is called with how far it is.

    Returns:
        The manifest.

    Raises:
        InputError: a source is missing or damaged, or the folder holds something else; the message names it.
        LockedError: another process works in the folder.
        OutputError: there are links in it.
        OSError: a file cannot be read or written; what was finished is kept.
    """
    out = Path(out)
    require("matplotlib", "corpus")  # before hours of work, not after
    if options.near is not None:
        require("rensa", "corpus")
    sources = find_sources(inputs, but=out)
    plan = {
        "format": FORMAT,
        "tokenizer": options.describe_tokenizer(),
        "options": options.describe(),
        "sources": [list(source) for source in sources],
    }
    with locked(out):
        check_own(out)
        return _prepared(out, plan, sources, options, engine, progress)


def _prepared(
    out: Path, plan: dict[str, Any], sources: list[Source], options: Options, engine: Engine, progress: Progress
) -> dict[str, Any]:
    """The manifest of the folder, which this process holds."""
    folder = out / "partial"
    if (out / MANIFEST).exists():
        with _reading(out / MANIFEST):
            return _finished(out, plan, sources, engine, progress)
    _claim(out, folder, plan)
    if not (folder / _FINISH).exists():
        parts = list(enumerate(cut(sources, options)))
        _forget_unsound(folder, engine)
        work = partial(_make, engine=engine, parts=parts, progress=progress)
        drops: Drops = ((), ())
        if options.drops_duplicates:
            work(SegmentJob(folder, "keys", options, sources), phase="comparing")
            drops = _find_drops(folder, options, engine)
        work(SegmentJob(folder, "shard", options, sources, drops), phase="tokenizing")
        checksums = _checksums(sources, engine, progress)
        with _reading(folder):
            _finish(folder, plan, checksums)
    with _reading(folder):
        return _complete(out, folder)


def _reading(folder: Path) -> AbstractContextManager[None]:
    """Makes one error of whatever comes of records that somebody changed."""
    return damaged(folder, hint="remove it, and the corpus is made again")


def _claim(out: Path, folder: Path, plan: dict[str, Any]) -> None:
    """Makes the folder of this plan, or finds it there."""
    path = folder / "plan.json"
    if path.exists():
        found = checked(read_object(path), {"tokenizer": dict, "options": dict, "sources": list}, path)
        _same(found, plan, out, path)
    else:
        others = sorted(entry.name for entry in out.iterdir() if entry not in (folder, out / LOCK))
        if others:
            raise InputError(f"{out}: holds other files ({', '.join(others[:3])}); give a new or an empty folder")
        folder.mkdir(parents=True, exist_ok=True)
        write_json(path, plan, indent=1)
    clear_unfinished(folder)
    clear_unfinished(out)


def _same(found: dict[str, Any], plan: dict[str, Any], out: Path, where: Path) -> None:
    """Compares what a folder was begun with and what is requested now.

    Raises:
        InputError: something differs; the message names it.
    """
    for section, other in (("tokenizer", "another tokenizer"), ("options", "other options")):
        before, now = found[section], plan[section]
        differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        if differing:
            name = differing[0]
            was, now_is = (repr(one[name]) if name in one else "the default" for one in (before, now))
            raise InputError(
                f"{out}: was started with {other} ({name} was {was}, now {now_is}); use that again, or an empty folder"
            )
    if not all(isinstance(source, list) and source and isinstance(source[0], str) for source in found["sources"]):
        raise InputError(f"{where}: damaged (sources)")
    before, now = ({path: rest for path, *rest in one["sources"]} for one in (found, plan))
    changed = [path for path in {**before, **now} if before.get(path) != now.get(path)]
    if changed or found["sources"] != plan["sources"]:
        what = f"{changed[0]} is new, changed or gone" if changed else "their order"
        raise InputError(f"{out}: was started with other sources ({what}); use those again, or an empty folder")


def _finished(
    out: Path, plan: dict[str, Any], sources: list[Source], engine: Engine, progress: Progress
) -> dict[str, Any]:
    """The manifest of a folder that is complete already, if the sources still hold what it was made from."""
    manifest = open_corpus(out).manifest
    checked(manifest["totals"], TOTALS, f"{out / MANIFEST}, totals")
    made_from = [[source["path"], source["bytes"]] for source in manifest["sources"]]
    asked = {**plan, "sources": [source[:2] for source in plan["sources"]]}
    _same({**manifest, "sources": made_from}, asked, out, out / MANIFEST)
    # Times say nothing here: mv, cp -p and unpacking put other files in their places with old ones.
    for source, digest in zip(manifest["sources"], _checksums(sources, engine, progress), strict=True):
        if digest != source["sha256"]:
            path = source["path"]
            raise InputError(f"{out}: was made from other sources ({path} has changed since); use an empty folder")
    shutil.rmtree(out / "partial", ignore_errors=True)
    clear_unfinished(out)
    return manifest


def _forget_unsound(folder: Path, engine: Engine) -> None:
    """Removes the records of shards whose file is not what they say, and of those behind: they are made again."""
    found = records(folder, "shard")
    files = [str(folder / (record["file"] or "")) for record in found]
    digests = list(engine.each(_digest, files))
    unsound: set[int] = set()
    for record, digest in zip(found, digests, strict=True):
        if record["file"] and record["sha256"] != digest:
            unsound.add(record["part"])
        if record["part"] in unsound:
            (folder / f"{SegmentJob.name_of('shard', record['part'], record['index'])}.json").unlink()


def _digest(path: str) -> str:
    return sha256(path) if Path(path).is_file() else ""


def _make(job: SegmentJob, phase: str, engine: Engine, parts: Parts, progress: Progress) -> None:
    """Makes what is missing of the segments of one kind."""
    done = {record["part"] for record in records(job.folder, job.kind) if record["last"]}
    missing = [part for part in parts if part[0] not in done]
    total = sum(piece.bytes for _, pieces in missing for piece in pieces)
    for read in engine.segments(job, missing):
        progress(phase, read, total)


def _find_drops(folder: Path, options: Options, engine: Engine) -> Drops:
    """Files of the lines to drop, for the exact and for the near duplicates; a file a column and range of keys."""
    found = [record for record in records(folder, "keys") if record["file"]]
    ranges = max(1, -(-sum(record["rows"] for record in found) // _KEYS_AT_A_TIME))
    columns = options.exact + (0 if options.near is None else duplicates.bands(options.near)[0])
    bounds = [(1 << 64) * at // ranges for at in range(ranges + 1)]
    tasks = [(column, bounds[at], bounds[at + 1] - 1) for column in range(columns) for at in range(ranges)]
    parts, paths = [record["part"] for record in found], [folder / record["file"] for record in found]
    names = list(engine.each(partial(_save_drops, folder, parts, paths), tasks))
    files = sorted(folder / name for name in names)
    exact = tuple(files[:ranges]) if options.exact else ()
    return exact, tuple(files[len(exact) :])


def _save_drops(folder: Path, parts: list[int], paths: list[Path], task: tuple[int, int, int]) -> str:
    column, low, high = task
    path = folder / f"drops-{column:03d}-{low:020d}.npy"
    if not path.exists():
        with replacing(path) as file:
            np.save(file, duplicates.find_drops(parts, paths, column, low, high))
    return path.name


def _checksums(sources: list[Source], engine: Engine, progress: Progress) -> list[str]:
    """SHA-256 of the sources, which must be what they were at the start."""
    total = sum(source.bytes for source in sources)
    digests = []
    for source, digest in zip(sources, engine.each(sha256, [source.path for source in sources]), strict=True):
        digests.append(digest)
        progress("checksums", source.bytes, total)
    for source in sources:
        state = Path(source.path).stat()
        if (state.st_size, state.st_mtime_ns) != source[1:]:
            raise InputError(
                f"{source.path}: changed while it was being read; prepare the corpus again in another folder"
            )
    return digests


def _finish(folder: Path, plan: dict[str, Any], checksums: list[str]) -> None:
    """Writes down how the corpus is finished: the names of the shards, and the manifest."""
    made = records(folder, "shard")
    counts = Counts()
    by_source: dict[int, Counts] = {}
    damaged: dict[int, list[str]] = {}
    names: dict[str, str] = {}
    shards: list[dict[str, Any]] = []
    for record in made:
        counts.add(record["counts"])
        for source, found in record["sources"].items():
            by_source.setdefault(int(source), Counts()).add(found)
        if record["last"]:
            for source, message in record["damaged"].values():
                damaged.setdefault(source, []).append(message)
        if record["file"]:
            name = f"shard-{len(shards):05d}.parquet"
            names[record["file"]] = name
            own = record["counts"]
            shards.append(
                {
                    "file": name,
                    "rows": record["rows"],
                    "positions": own["positions"][0],
                    "characters": own["characters"][0],
                    "bytes": record["bytes"],
                    "sha256": record["sha256"],
                }
            )
    sources = [
        {
            "path": path,
            "bytes": size,
            "sha256": digest,
            **_lines(by_source.get(index, Counts())),
            **({"damaged": damaged[index]} if index in damaged else {}),
        }
        for index, ((path, size, _), digest) in enumerate(zip(plan["sources"], checksums, strict=True))
    ]
    manifest = {
        "format": FORMAT,
        "tokenizer": plan["tokenizer"],
        "options": plan["options"],
        "totals": {
            **_lines(counts),
            "shards": len(shards),
            **{name: sum(shard[name] for shard in shards) for name in ("rows", "positions", "characters", "bytes")},
        },
        "shards": shards,
        "sources": sources,
    }
    write_json(folder / _FINISH, {"names": names, "manifest": manifest, "counts": counts.to_json()}, indent=1)


def _lines(counts: Counts) -> dict[str, Any]:
    """Lines and bytes kept, and dropped by what became of them."""
    none = [0] * len(STATUSES)
    found = {}
    for name in ("lines", "bytes"):
        by_status = dict(zip(STATUSES, counts.to_json().get(name, none), strict=True))
        found[f"{name}_kept"] = by_status.pop(STATUSES[KEPT])
        found[f"{name}_dropped"] = by_status
    return found


def _complete(out: Path, folder: Path) -> dict[str, Any]:
    """Gives the shards their names and writes the report and, last, the manifest."""
    path = folder / _FINISH
    plan = checked(read_object(path), {"manifest": dict, "names": dict, "counts": dict}, path)
    manifest: dict[str, Any] = plan["manifest"]
    check_manifest(manifest, path)
    for name, final in plan["names"].items():
        if (folder / check_name(name, path)).exists():
            os.replace(folder / name, out / check_name(final, path))
    to_disk(out)
    write_report(out, manifest, Counts({name: np.array(values, np.int64) for name, values in plan["counts"].items()}))
    write_json(out / MANIFEST, manifest, indent=1)
    open_corpus(out)
    shutil.rmtree(folder)
    return manifest
