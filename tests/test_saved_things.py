"""Saved things whose bytes are damaged anywhere: one of the project's errors or none; and no reader is overlooked."""

import ast
import contextlib
import hashlib
import random
import re
from pathlib import Path

import pytest
from saved_things import ELSEWHERE, SAVED

from phonemic import PhonemicError

pytestmark = pytest.mark.filterwarnings("ignore::phonemic.OtherTablesWarning")  # of damaged digests
ROOT = Path(__file__).parents[1]
READERS = ("load", "restore", "open_corpus", "from_bytes", "from_disk", "from_pretrained", "from_json", "decode_json_obj",
           "load_registered", "load_encoder", "load_given")  # fmt: skip


@pytest.mark.parametrize("saved", SAVED, ids=lambda saved: saved.reader)
def test_damaged_bytes(saved, tmp_path):
    if saved.missing:
        pytest.skip(f"needs {saved.missing}")
    whole, dice, path = saved.make(), random.Random(7), tmp_path / "saved"
    saved.read(whole, path)
    places = dice.sample(range(len(whole)), min(len(whole), saved.most))
    for at in places:
        for data in (
            whole[:at],
            whole[:at] + bytes([dice.randrange(256)]) + whole[at + 1 :],
            whole[:at] + whole[at + 1 :],
        ):
            with contextlib.suppress(PhonemicError):
                saved.read(data, path)
    for data in (
        b"\xff\xfe",
        b"null",
        b"[]",
        b"5",
        b"{}",
        b"[" * 100_000,
        b'{"options":5}',
        b"\x80",
        b"\x93\x01\x02\x03",
    ):
        with pytest.raises(PhonemicError):
            saved.read(data, path)


@pytest.mark.parametrize(
    "saved",
    [saved for saved in SAVED if "network" not in saved.reader and "restor" not in saved.reader],
    ids=lambda saved: saved.reader,
)
def test_what_is_saved_names_its_lexicon(saved):
    if saved.missing:
        pytest.skip(f"needs {saved.missing}")
    files = [ROOT / "phonemic" / "lexicon" / f"tables-{lang}.bin" for lang in ("vi", "zh")]
    assert any(hashlib.sha256(file.read_bytes()).hexdigest().encode() in saved.make() for file in files)


def test_every_reader_is_in_the_table():
    found = set()
    for package in ("phonemic", "spacy_phonemic", "nltk_phonemic", "model/phonemic_bert"):
        for path in sorted((ROOT / package).rglob("*.py")):
            module = (
                ".".join(path.relative_to(ROOT).with_suffix("").parts).removeprefix("model.").removesuffix(".__init__")
            )
            tree = ast.parse(path.read_text("utf-8"))
            scopes = [("", tree), *((f"{node.name}.", node) for node in tree.body if isinstance(node, ast.ClassDef))]
            found |= {
                f"{module}:{scope}{node.name}"
                for scope, body in scopes
                for node in body.body
                if isinstance(node, ast.FunctionDef) and node.name in READERS
            }
    found.discard("spacy_phonemic.reading:restore")  # of a vocab's lookups: the saved forms of the components
    of_texts = {each for each in found if re.fullmatch(r"phonemic_bert\.restoration\..*\brestore", each)}
    found -= of_texts
    assert found == {saved.reader for saved in SAVED} | ELSEWHERE
