"""Module paths of earlier versions: each gives what is at the new one, and nothing stands there twice."""

import importlib
import pickle
import subprocess
import sys
from importlib.machinery import PathFinder
from textwrap import dedent

import pytest

from phonemic import Tokenizer, moved
from phonemic.noise import Change, Homophones, Misspellings

#: Path -> names that documentation, examples, saved files or scripts imported from it.
NAMES = {
    "phonemic._core": ("Core",),
    "phonemic.cli": ("cli", "main"),
    "phonemic.cli_common": ("input_texts", "print_figures"),
    "phonemic.cli_stats": ("stats",),
    "phonemic.entries": ("entry", "with_entries"),
    "phonemic.files": ("read_texts", "read_ids", "ids_writer", "ids_tokenizer", "replacing", "require", "MAX_LINE"),
    "phonemic.homophones": ("Homophones", "count_characters", "characters", "frequent", "POOLS"),
    "phonemic.intrinsic": ("Corpus",),
    "phonemic.intrinsic.tables": ("table", "pivot", "markdown", "latex"),
    "phonemic.misspellings": ("Misspellings", "GROUPS"),
    "phonemic.noise": ("Noise", "Noisy", "Change", "Unit", "Options", "SHARES", "DRAWS"),
    "phonemic.phrases": ("phrases_of", "PhraseTable"),
    "phonemic.respelling": ("KINDS",),
    "phonemic.tables": ("read_tables", "tables_of", "tables_path", "write_tables"),
    "phonemic.tasks.own": ("data_set", "OwnDataSet"),
    "phonemic.tasks.reading": ("Record", "json_lines", "table", "same"),
    "phonemic.userphrases": ("read_phrases", "with_phrases", "LONGEST_PHRASE"),
    "phonemic_bert.baseline_tokenization": ("BaselineTokenizer",),
    "phonemic_bert.cli": ("cli", "main"),
    "phonemic_bert.composition": ("components", "pack"),
    "phonemic_bert.configuration": ("PhonemicBertConfig", "PRESETS"),
    "phonemic_bert.corpus": ("Corpus", "Shard", "open_corpus"),
    "phonemic_bert.finetuning.tables": ("score_tables", "markdown"),
    "phonemic_bert.heads": ("IndependentHeads", "JointHead", "Predicted"),
    "phonemic_bert.inspection": ("Neighbours", "Record"),
    "phonemic_bert.modeling": (
        "IGNORE",
        "HolisticMaskedLMOutput",
        "PhonemicBertEmbeddings",
        "PhonemicBertForMaskedLM",
        "PhonemicBertForMultipleChoice",
        "PhonemicBertForQuestionAnswering",
        "PhonemicBertForSequenceClassification",
        "PhonemicBertForTokenClassification",
        "PhonemicBertModel",
        "PhonemicBertPreTrainedModel",
        "PhonemicModernBertModel",
    ),
    "phonemic_bert.modern": ("modern_config", "ModernEncoder"),
    "phonemic_bert.plain": ("PlainModernBertConfig", "PlainModernBertForMaskedLM"),
    "phonemic_bert.positions": ("SPECIAL_IDS", "Positions"),
    "phonemic_bert.prepare": ("prepare",),
    "phonemic_bert.rows": ("Row", "Rows"),
    "phonemic_bert.tokenization": ("PhonemicBertTokenizer", "FILE"),
    "phonemic_bert.tokenization_base": ("RowsTokenizer",),
    "phonemic_bert.truncation": ("windows",),
}


def needs(path: str) -> None:
    if path.startswith("phonemic_bert") or "cli" in path:
        pytest.importorskip("click", reason="needs the cli extra")
    if path.startswith("phonemic_bert"):
        pytest.importorskip("torch", reason="needs the model extra")
    if path == "phonemic_bert.corpus":
        pytest.importorskip("pyarrow", reason="needs the arrow extra")


def test_every_moved_path_is_tried():
    assert set(moved.MOVED) <= set(NAMES)


@pytest.mark.parametrize("path", NAMES)
def test_old_paths_have_their_names(path):
    needs(path)
    module = importlib.import_module(path)
    assert [name for name in NAMES[path] if not hasattr(module, name)] == []
    assert module.__name__ == moved.MOVED.get(path, path)


@pytest.mark.parametrize(("old", "new"), moved.MOVED.items())
def test_they_are_the_new_modules(old, new):
    needs(old)
    module = importlib.import_module(old)
    package, _, name = old.rpartition(".")
    assert module is importlib.import_module(new) is sys.modules[old]
    assert getattr(importlib.import_module(package), name) is module
    assert module.__spec__ is not None
    assert module.__spec__.name == new


def test_an_old_path_first(tmp_path):
    """In a fresh process, each spelling of an import; the module is made once."""
    code = """
    import phonemic.homophones
    from phonemic import misspellings, respelling
    from phonemic.tasks.own import data_set
    import phonemic.noise.homophones, phonemic.tasks.custom
    assert phonemic.homophones is phonemic.noise.homophones
    assert misspellings.KINDS is respelling.KINDS
    assert data_set is phonemic.tasks.custom.data_set
    try:
        import phonemic.no_such_module
    except ModuleNotFoundError as error:
        print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "No module named 'phonemic.no_such_module'\n"


def test_pickles_that_name_old_paths():
    """As an earlier version wrote them: the same classes under the names of their modules then."""
    change = Change(0, 1, "a", "b", "kind", None)
    for made, new, old in (
        (change, b"phonemic.noise.base", b"phonemic.noise"),
        (Homophones(seed=3), b"phonemic.noise.homophones", b"phonemic.homophones"),
        (Misspellings(["typing"], seed=3), b"phonemic.noise.misspellings", b"phonemic.misspellings"),
    ):
        pickled = pickle.dumps(made, protocol=0)
        assert new in pickled
        again = pickle.loads(pickled.replace(new, old))
        assert type(again) is type(made)
    assert again.apply("hoàng hôn", 1.0).text == Misspellings(["typing"], seed=3).apply("hoàng hôn", 1.0).text


def test_a_pickled_tokenizer_names_no_module_that_could_move():
    pickled = pickle.dumps(Tokenizer("zh", phrases={"行长": "hang2 zhang3"}), protocol=0)
    assert b"phonemic.tokenizer" in pickled
    assert not any(name in pickled for name in (b"lexicon", b"native", b"_core"))


@pytest.mark.parametrize("old", moved.MOVED)
def test_no_file_is_at_an_old_path(old):
    """It would be found first, and the row would never be used."""
    needs(old)
    package = importlib.import_module(old.rpartition(".")[0])
    assert PathFinder.find_spec(old, package.__path__) is None
