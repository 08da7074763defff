"""Damaged and forged folders: checkpoints, runs, corpora, saved tokenizers. A seed says a case again."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Where forged files point: :func:`plant` puts a secret there, and a program that leaves a mark.
OUTSIDE = Path("outside")
SECRET, PROGRAM, MARK = OUTSIDE / "secret.json", OUTSIDE / "program.py", OUTSIDE / "mark"
TOLD = "the secret was read"

_DEEP = 20_000


class _Call:
    """Leaves the mark when it is unpickled."""

    def __reduce__(self) -> Any:
        return Path.touch, (MARK.absolute(),)


def plant(folder: Path) -> None:
    """Puts the secret and the program next to a folder's working directory."""
    for path in (SECRET, PROGRAM):
        (folder / path).parent.mkdir(exist_ok=True)
    (folder / SECRET).write_text(json.dumps({TOLD: TOLD}))
    (folder / PROGRAM).write_text(f"open({os.fspath((folder / MARK).absolute())!r}, 'w').close()\n")


def _elsewhere(dice: random.Random) -> str:
    path = dice.choice([SECRET, PROGRAM])
    return dice.choice(
        [f"../{path}", f"../../{path}", str(path.absolute()), path.name, "..", "/", "/dev/zero", "nobody/nothing"]
    )


def _value(dice: random.Random) -> Any:
    """A value that a field may not expect."""
    kind = dice.random()
    if kind < 0.2:
        return _elsewhere(dice)
    if kind < 0.3:
        deep: Any = 1
        for _ in range(dice.choice([3, 100])):
            deep = dice.choice([[deep], {"a": deep}])
        return deep
    return dice.choice([
        None, True, False, 0, -1, 1, 3, 7, 255, 256, 2**31 - 1, 2**31, 2**63, 10**30, 10**400, -(10**9), 10**9, 0.5, -0.5,
        1e-300, 1e308, float("nan"), float("inf"), "", "x", "0", "\0", "\x1b]0;x\x07", "\ud800", "vi", "zh", "phonemic",
        "a" * 100_000, [], {}, [[]], [0], ["x"], {"": ""}, {"a": [1]}, {"__class__": "x"}, "[MASK]", "float16", "none",
    ])  # fmt: skip


#: Fields that name files or programs to transformers, torch or this project.
_FORGED = [
    "auto_map", "attn_implementation", "_attn_implementation", "experts_implementation", "transformers_weights",
    "quantization_config", "_name_or_path", "base_model_name_or_path", "tokenizer_class", "tokenizer_file", "vocab_file",
    "phrases", "name", "file", "path", "architectures", "model_type", "dtype", "torch_dtype", "id2label", "num_labels",
    "is_decoder", "add_cross_attention", "pruned_heads", "problem_type", "output_attentions", "return_dict",
    "chat_template", "extra_special_tokens", "added_tokens_decoder", "fast_tokenizer_files", "processor_class",
    "num_hidden_layers", "hidden_size", "max_position_embeddings", "model_max_length", "padding_side", "lang",
]  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _places(inner, (*path, key))


def forged(dice: random.Random, value: Any) -> Any:
    """A JSON value with one to three of its parts dropped, added, swapped or of another kind."""
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        places = list(_places(value))
        *above, last = dice.choice(places) or (None,)
        if last is None:
            if dice.random() < 0.3:
                return _value(dice)
            if isinstance(value, dict):
                name = dice.choice(_FORGED)
                value[name] = {"AutoModel": f"{PROGRAM.stem}.Model"} if name == "auto_map" else _value(dice)
            continue
        holder = value
        for key in above:
            holder = holder[key]
        kind = dice.random()
        if kind < 0.25:
            del holder[last]
        elif kind < 0.35 and isinstance(holder, dict):
            holder[dice.choice(_FORGED)] = _value(dice)
        elif kind < 0.45 and isinstance(holder[last], int) and not isinstance(holder[last], bool):
            holder[last] += dice.choice([-1, 1, 1000, -holder[last]])
        elif kind < 0.55:
            other = value
            for key in dice.choice(places):
                try:
                    other = other[key]
                except (KeyError, IndexError, TypeError):
                    break
            holder[last] = json.loads(json.dumps(other))
        else:
            holder[last] = _value(dice)
    return value


def _as_json(dice: random.Random, value: Any) -> bytes:
    text = json.dumps(value)
    if dice.random() < 0.03:
        text = "[" * _DEEP + text + "]" * _DEEP
    return text.encode("utf-8", "surrogatepass")


def _header(dice: random.Random, data: bytes) -> bytes:
    """A safetensors file whose header says something else."""
    size = struct.unpack("<Q", data[:8])[0]
    header = json.dumps(forged(dice, json.loads(data[8 : 8 + size]))).encode()
    size = dice.choice([len(header), len(header), len(header), 0, 2**63, len(data)])
    return struct.pack("<Q", size) + header + data[8 + struct.unpack("<Q", data[:8])[0] :]


def _cut(dice: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    kind = dice.random()
    at = dice.randrange(len(data) + 1)
    if kind < 0.4 or not data:
        return data[:at]
    if kind < 0.8:
        for _ in range(dice.choice([1, 1, 2, 8])):
            changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    elif kind < 0.9:
        changed[at:at] = dice.randbytes(dice.choice([1, 8, 1000]))
    else:
        del changed[at : at + dice.choice([1, 8, 1000])]
    return bytes(changed)


def _planted(dice: random.Random, folder: Path) -> str:
    """Adds a file that transformers, torch or this project would look for."""
    secret = str(SECRET.absolute())
    name = dice.choice([
        "adapter_config.json", "model.safetensors.index.json", "pytorch_model.bin.index.json", "pytorch_model.bin",
        "training_args.bin", "added_tokens.json", "special_tokens_map.json", "tokenizer.json", "generation_config.json",
        "chat_template.jinja", "baseline.json", "phonemic.json", "modeling.py", "config.json", "optimizer.pt", "scaler.pt",
        "processor_config.json", "finish.json", "manifest.json", "plan.json", "quantize_config.json", "hf_quant_config.json",
    ])  # fmt: skip
    values = {
        "adapter_config.json": {"base_model_name_or_path": secret, "peft_type": "LORA"},
        "model.safetensors.index.json": {"metadata": {}, "weight_map": {"bert.x": f"../{SECRET}", "y": secret}},
        "baseline.json": {"name": str(PROGRAM.absolute()), "lang": "vi"},
        "phonemic.json": {"format": "phonemic tokenizer 1", "lang": "zh", "phrases": secret},
        "chat_template.jinja": "{{ ''.__class__ }}",
    }
    if name.endswith((".bin", ".pt")):
        content = pickle.dumps(_Call())
    elif name.endswith(".py"):
        content = PROGRAM.read_bytes()
    else:
        content = json.dumps(values.get(name, {"a": secret, "0": _value(dice)})).encode("utf-8", "surrogatepass")
    if name.endswith("index.json") and dice.random() < 0.7:
        (folder / "model.safetensors").unlink(missing_ok=True)
    (folder / name).write_bytes(content)
    return f"planted {name}"


def _forged_shard(dice: random.Random, path: Path) -> str:
    """Another table in a shard's place, which the manifest vouches for."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = dice.choice([0, 1, 3])
    lists = [
        [dice.choice([0, 1, 261, -1, 2**24, 2**31 - 1]) for _ in range(dice.choice([0, 1, 4]))] for _ in range(rows)
    ]
    kind = dice.choice([pa.list_(pa.int32()), pa.list_(pa.int32()), pa.list_(pa.int64()), pa.large_list(pa.int32()), pa.int32(), pa.string()])  # fmt: skip
    column: list[Any] = lists if pa.types.is_list(kind) or pa.types.is_large_list(kind) else [None] * rows
    if rows and dice.random() < 0.3:
        column[0] = dice.choice([None, [None]]) if isinstance(column[0], list) else None
    count = [dice.choice([0, 5, -1, None]) for _ in range(rows)]
    table = pa.table(
        {
            "ids": pa.array(column, kind),
            "characters": pa.array(count, dice.choice([pa.int32(), pa.int64(), pa.float64()])),
        }
    )
    if dice.random() < 0.2:
        table = table.rename_columns(dice.choice([["ids", "ids"], ["ids", "x"], ["x", "characters"]]))
    pq.write_table(table, path)
    _vouch(path, rows, sum(len(one or ()) for one in lists))
    return f"another table in {path.name}"


def _vouch(path: Path, rows: int, positions: int) -> None:
    """Makes the manifest, or the record, of a shard say what is there."""
    said = {"rows": rows, "positions": positions, "bytes": path.stat().st_size,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}  # fmt: skip
    manifest, record = path.with_name("manifest.json"), path.with_suffix(".json")
    if manifest.exists():
        value = json.loads(manifest.read_text())
        for shard in value["shards"]:
            if shard["file"] == path.name:
                shard.update(said)
        manifest.write_text(json.dumps(value))
    elif record.exists():
        value = json.loads(record.read_text())
        value |= {name: said[name] for name in ("rows", "bytes", "sha256")}
        record.write_text(json.dumps(value))


def _vouched(folder: Path) -> None:
    """Makes the checksums of folders say what is there."""
    for path in folder.rglob("checksums.json"):
        if path.is_file():
            found = {
                one.name: zlib.crc32(one.read_bytes()) for one in path.parent.iterdir() if one.is_file() and one != path
            }
            path.write_text(json.dumps(found))


def damage(dice: random.Random, folder: Path) -> str:
    """Damages or forges one file of a folder, at times with checksums that fit; returns what was done."""
    done = _damage(dice, folder)
    if dice.random() < 0.5:
        _vouched(folder)
        return f"{done}, with checksums"
    return done


def _damage(dice: random.Random, folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".png", ".md"))
    path = dice.choice(files)
    if dice.random() < 0.15:
        return _planted(dice, path.parent)
    if path.suffix == ".parquet" and dice.random() < 0.6:
        return _forged_shard(dice, path)
    named, kind, data = str(path.relative_to(folder)), dice.random(), path.read_bytes()
    if kind < 0.04:
        path.unlink()
        if dice.random() < 0.3:
            path.mkdir()
        return f"removed {named}"
    if kind < 0.75 and path.suffix in (".json", ".jsonl", ".safetensors"):
        if path.suffix == ".safetensors":
            path.write_bytes(_header(dice, data))
        elif path.suffix == ".jsonl":
            lines = data.splitlines()
            at = dice.randrange(len(lines))
            lines[at] = _as_json(dice, forged(dice, json.loads(lines[at])))
            path.write_bytes(b"\n".join(lines) + b"\n")
        else:
            path.write_bytes(_as_json(dice, forged(dice, json.loads(data))))
        return f"forged {named}"
    path.write_bytes(_cut(dice, data))
    return f"damaged {named}"
