"""Checkpoints by name, from a package that is built as model/checkpoints is; export in half precision; the commands."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the arrow extra")

from checkpoint_packages import make_package
from click.testing import CliRunner
from source_tree import needs
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForMaskedLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

import phonemic_bert
from phonemic.errors import OutputError
from phonemic.inventory import TRIPLE
from phonemic_bert import (
    CheckpointError,
    HolisticCollator,
    PhonemicBertConfig,
    PhonemicBertForMaskedLM,
    PhonemicBertForTokenClassification,
    PhonemicBertModel,
    PhonemicBertTokenizer,
    checkpoint_names,
    checkpoint_path,
)
from phonemic_bert.checkpoints import resolve
from phonemic_bert.cli import cli
from phonemic_bert.errors import RunError
from phonemic_bert.finetuning.settings import GRIDS
from phonemic_bert.origin import read_origin
from phonemic_bert.pretraining.finish import export
from phonemic_bert.pretraining.settings import PRESETS, preset_text

PACKAGE = Path(__file__).parents[2] / "model" / "checkpoints"
NAME = "phonemic-bert-mini-vi"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The package of checkpoints, built by its own pyproject.toml around a model made here, and installed."""
    pytest.importorskip("setuptools", minversion="77", reason="needs setuptools 77 to build a package")
    if not PACKAGE.exists():
        pytest.skip("needs the source tree's model/checkpoints")
    folder = tmp_path_factory.mktemp("package")
    source, target = folder / "source", folder / "installed"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("phonemic-bert-*", "phonemic-restorer-*"))
    torch.manual_seed(0)
    shape = {"num_hidden_layers": 1, "hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
    model = PhonemicBertForMaskedLM(PhonemicBertConfig("vi", **shape))
    model.save_pretrained(source / NAME)
    PhonemicBertTokenizer("vi", strict=True).save_pretrained(source / NAME)
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)]
    subprocess.run(command, check=True)
    sys.path.insert(0, str(target))
    yield model
    sys.path.remove(str(target))
    sys.modules.pop("phonemic_bert_checkpoints", None)


def test_loading_by_name(installed, tmp_path, monkeypatch):
    want = installed.state_dict()
    folder = checkpoint_path(NAME)
    assert NAME in checkpoint_names()
    for loaded in (PhonemicBertForMaskedLM.from_pretrained(NAME), AutoModelForMaskedLM.from_pretrained(folder)):
        assert all(torch.equal(value, want[name]) for name, value in loaded.state_dict().items())
    assert PhonemicBertConfig.from_pretrained(NAME).hidden_size == 24
    assert PhonemicBertTokenizer.from_pretrained(NAME).phonemic.strict
    assert AutoTokenizer.from_pretrained(folder).phonemic.strict
    tagger = PhonemicBertForTokenClassification.from_pretrained(NAME, num_labels=5)
    assert tagger.num_labels == 5
    assert torch.equal(tagger.bert.embeddings.projection.weight, want["bert.embeddings.projection.weight"])

    # A folder of that name comes first.
    monkeypatch.chdir(tmp_path)
    PhonemicBertForMaskedLM(PhonemicBertConfig("zh", num_hidden_layers=1, hidden_size=12)).save_pretrained(NAME)
    assert PhonemicBertConfig.from_pretrained(NAME).lang == "zh"


def test_spacy_takes_the_name(installed):
    spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
    nlp = spacy.blank("vi", config={"nlp": {"tokenizer": {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}}})
    nlp.add_pipe("phonemic_transformer", config={"model": {"checkpoint": NAME}})
    nlp.initialize()
    assert nlp("một hai ba").tensor.shape == (3, 24)
    weights = nlp.get_pipe("phonemic_transformer").model.shims[0]._model.bert.state_dict()
    want = installed.bert.state_dict()
    assert all(torch.equal(value, want[name]) for name, value in weights.items())


def test_names_that_are_not_there(installed, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # it would be asked again and again
    with pytest.raises(CheckpointError, match="its package phonemic_bert_checkpoints holds none; reinstall"):
        PhonemicBertForMaskedLM.from_pretrained("phonemic-bert-mini-zh")
    with pytest.raises(
        CheckpointError, match=r"neither a folder nor installed \(installed: .*mini-vi.*\): pip install"
    ):
        PhonemicBertTokenizer.from_pretrained("phonemic-bert-huge-vi")
    with pytest.raises(OSError, match=r"nothing|connect"):
        PhonemicBertConfig.from_pretrained("nothing/phonemic-bert-mini-vi")


TINY = "phonemic-bert-tiny-vi"


@pytest.fixture
def packaged(checkpoint, tmp_path, monkeypatch):
    """The folder of a package that brings two checkpoints, which can be imported."""
    package = make_package(tmp_path / "package", phonemic_bert_tiny_vi=checkpoint, other=checkpoint)
    monkeypatch.syspath_prepend(package)
    yield package
    sys.modules.pop("phonemic_checkpoints_of_tests", None)


class TestResolve:
    NEARLY = (
        "phonemic_bert_tiny_vi", "PhonemicBERT-tiny-vi", "phonemicbert-tiny-vi", "bert-tiny-vi", "Tiny-VI",
        "phonemic-bert-tiny-vn", "phonemic.bert", "Phonemic-BERT-Tiny-Vi",
    )  # fmt: skip

    @pytest.mark.parametrize("name", NEARLY)
    def test_nearly_a_name(self, packaged, name):
        with pytest.raises(CheckpointError) as found:
            resolve(name)
        assert re.match(
            rf"checkpoint '{re.escape(name)}' is neither a folder nor installed \(installed: .*{TINY}", str(found.value)
        )
        assert f"; did you mean '{TINY}'?): pip install" in str(found.value)

    def test_nearly_a_name_of_another_project(self, packaged):
        with pytest.raises(CheckpointError, match="did you mean 'other'"):
            resolve("Other")

    @pytest.mark.parametrize(
        "name",
        ["bert-base-chinese", "vinai/phobert-base", "org/phonemic-bert-x", "org/phonemic-bert-tiny-vi", "gpt2", "xlm-vi",
         "my-other", "no/such/folder", "", None],
    )  # fmt: skip
    def test_what_is_no_name_of_ours(self, packaged, name):
        assert resolve(name) == name

    def test_names_and_folders(self, packaged, tmp_path, monkeypatch):
        assert resolve(TINY) == str(checkpoint_path(TINY))
        assert resolve("other") == str(checkpoint_path("other"))
        monkeypatch.chdir(tmp_path)
        for name in ("bert-tiny-vi", TINY):
            (tmp_path / name).mkdir()
            assert resolve(name) == name
            assert resolve(f"./{name}") == f"./{name}"
        (tmp_path / "file.json").touch()
        assert resolve(str(tmp_path / "file.json")) == str(tmp_path / "file.json")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        assert resolve(f"~/{TINY}") == str(tmp_path / TINY)

    @pytest.mark.parametrize("path", ["/no/such", "./no", "../no/such", "~/no", "~", Path("/no/such")])
    def test_paths_where_nothing_is(self, path, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path / "no"))
        monkeypatch.setenv("USERPROFILE", str(tmp_path / "no"))
        for load in (resolve, *LOADERS):
            with pytest.raises(CheckpointError, match=f"there is no folder {re.escape(str(path))}$") as found:
                load(path)
            assert isinstance(found.value, OSError)  # as transformers' own error


LOADERS = [
    each.from_pretrained
    for each in (
        AutoConfig, AutoModel, AutoModelForMaskedLM, AutoTokenizer, PhonemicBertConfig, PhonemicBertForMaskedLM,
        PhonemicBertModel, PhonemicBertTokenizer,
    )
]  # fmt: skip


class TestTheNameIsKept:
    @pytest.mark.parametrize("load", LOADERS)
    def test_by_what_is_loaded(self, packaged, load, checkpoint, tmp_path):
        found = load(TINY)
        assert found.name_or_path == TINY
        for part in found.modules() if hasattr(found, "modules") else ():
            assert getattr(part, "name_or_path", TINY) == TINY
            assert getattr(getattr(part, "config", None), "name_or_path", TINY) == TINY
        assert load(str(checkpoint)).name_or_path in (str(checkpoint), "")  # as transformers has it
        found.save_pretrained(tmp_path / "again")
        for path in (tmp_path / "again").glob("*.json"):
            assert str(tmp_path) not in path.read_text("utf-8")

    def test_beside_other_results(self, packaged):
        model, info = PhonemicBertForMaskedLM.from_pretrained(TINY, output_loading_info=True)
        assert (model.name_or_path, model.config.name_or_path, model.bert.name_or_path) == (TINY, TINY, TINY)
        assert not info["missing_keys"]
        model, info = AutoModelForMaskedLM.from_pretrained(TINY, output_loading_info=True)
        assert model.name_or_path == TINY
        config, rest = AutoConfig.from_pretrained(TINY, return_unused_kwargs=True, unknown=1)
        assert (config.name_or_path, rest) == (TINY, {"unknown": 1})


def test_every_class_of_transformers_keeps_the_name(packaged):
    assert AutoModelForSequenceClassification.from_pretrained(TINY, num_labels=2).config.name_or_path == TINY


@pytest.mark.parametrize("folder", sorted(PACKAGE.glob("phonemic-bert-*")), ids=lambda folder: folder.name)
def test_a_shipped_checkpoint(folder):
    """Small files, a licence, no folder of the machine that made it; and it has learned something.

    It guesses masked syllables of our own sentences, one in seven at a time, better than by always guessing their most
    frequent one.
    """
    files = [path for path in folder.iterdir() if path.is_file()]
    assert max(path.stat().st_size for path in files) <= 20_000_000
    assert sum(path.stat().st_size for path in files) <= 25_000_000
    assert "## Licence" in (folder / "README.md").read_text("utf-8")
    assert not any(Path(one["path"]).is_absolute() for one in read_origin(folder)["corpus"]["sources"])

    tokenizer = PhonemicBertTokenizer.from_pretrained(folder)
    model = PhonemicBertForMaskedLM.from_pretrained(folder).eval()
    lines = (PACKAGE.parents[1] / "examples" / f"sentences-{folder.name[-2:]}.txt").read_text("utf-8").splitlines()
    rows = tokenizer(lines, padding=True, truncation=True, max_length=128, return_tensors="pt")
    text, heard = rows["input_ids"], rows["input_ids"] & TRIPLE
    inner = ~torch.isin(heard, torch.tensor(tokenizer.all_special_ids))
    right = total = 0
    for first in range(7):
        chosen = inner & (torch.arange(text.shape[1]) % 7 == first)
        with torch.no_grad():
            found = model(**{**rows, "input_ids": text.masked_fill(chosen, tokenizer.mask_token_id)}).logits
        onset, rime, tone = (part.argmax(-1)[chosen] for part in found)
        right += (onset | rime << 8 | tone << 16).eq(heard[chosen]).sum().item()
        total += chosen.sum().item()
    most = heard[inner].unique(return_counts=True)[1].max().item()
    assert right / total > 1.2 * most / total


@pytest.fixture
def checkpoint(tiny, tmp_path):
    """The files of a run's ``final``, of a model made here."""
    folder = tmp_path / "final"
    PhonemicBertForMaskedLM(tiny()).save_pretrained(folder)
    PhonemicBertTokenizer("vi").save_pretrained(folder)
    settings = phonemic_bert.pretraining.settings.Settings.load("paper-tiny").as_dict()
    log = [
        {"step": 1, "loss": 3.0},
        {"step": 1, "eval_loss": 2.5, "eval_bits_per_character": 1.25, "eval_accuracy": 0.5},
    ]
    corpus = {"manifest": "0" * 64, "tokenizer": {"name": "phonemic", "lang": "vi"}, "totals": {"rows": 1234}}
    corpus["sources"] = [{"path": "/somewhere/secret/news.txt"}]
    origin = {"settings": settings, "corpus": corpus, "versions": {"phonemic": "0"}, "step": 1, "log": log}
    (folder / "pretraining.json").write_text(json.dumps(origin))
    return folder


@pytest.mark.parametrize(("dtype", "bits"), [("float16", 11), ("bfloat16", 8), ("float32", 24)])
def test_export_in_small_files(checkpoint, tmp_path, dtype, bits):
    out, limit = tmp_path / "out", 30_000
    export(checkpoint, out, dtype, limit)
    weights = list(out.glob("*.safetensors"))
    sizes = [path.stat().st_size for path in weights]
    assert max(sizes) <= limit
    assert len(sizes) > 1
    before, after = (AutoModelForMaskedLM.from_pretrained(folder).state_dict() for folder in (checkpoint, out))
    for name, value in before.items():
        assert after[name].dtype == torch.float32
        torch.testing.assert_close(after[name], value, rtol=2.0**-bits, atol=1e-7)
    assert AutoTokenizer.from_pretrained(out)("tôi")["input_ids"]
    assert f"stored as {dtype}" in (out / "README.md").read_text()
    assert not list(tmp_path.glob("*partial*"))
    with pytest.raises(OutputError, match="out: already exists; give --force"):
        export(checkpoint, out)
    (out / "mine").write_text("")
    export(checkpoint, out, dtype, limit, overwrite=True)
    assert sorted(path.stat().st_size for path in out.glob("*.safetensors")) == sorted(sizes)
    assert not (out / "mine").exists()
    for holds in (checkpoint, tmp_path):
        with pytest.raises(OutputError, match="is also read"):
            export(checkpoint, holds, overwrite=True)


def test_export_refuses_what_does_not_fit(checkpoint, tmp_path):
    with pytest.raises(RunError, match=r"alone has [\d,]+ bytes, more than a file may have \(1,000\)"):
        export(checkpoint, tmp_path / "out", "float16", 1000)
    (checkpoint / "pretraining.json").unlink()
    with pytest.raises(RunError, match=r"no readable pretraining\.json"):
        export(checkpoint, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_commands(checkpoint, tmp_path):
    run = CliRunner().invoke
    for name in PRESETS:
        assert run(cli, ["init-config", "pretrain", name]).output == preset_text(name)
    assert run(cli, ["init-config", "pretrain", "huge"]).exit_code == 1
    listed = run(cli, ["init-config", "--help"]).output
    assert all(name in listed for name in (*PRESETS, *GRIDS))
    found = run(cli, ["model-card", str(checkpoint), "--licence", "cc-by-4.0", "--data", "Text of *news*."])
    assert found.exit_code == 0, found.output
    card = (checkpoint / "README.md").read_text()
    for part in (
        "license: cc-by-4.0",
        "language: vi",
        "Text of *news*.",
        "1,234 documents",
        "news.txt",
        "| 1 | 2.500 | 1.250 | 50.0% |",
    ):
        assert part in card
    assert "secret" not in card
    found = run(cli, ["export", str(checkpoint), str(tmp_path / "out"), "--shard-mb", "0.03"])
    assert found.exit_code == 0, found.output
    assert "Text of *news*." in (tmp_path / "out" / "README.md").read_text()
    found = run(
        cli, ["pretrain", "paper-tiny", str(tmp_path), str(tmp_path / "run"), "--set", "model.num_hidden_layer=2"]
    )
    assert found.exit_code == 1
    assert "unknown field 'num_hidden_layer': did you mean 'num_hidden_layers'?" in found.output
    found = run(cli, ["pretrain", "paper-tiny", str(tmp_path), str(tmp_path / "run")])
    assert "not a prepared corpus" in found.output
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("killed", range(4))
def test_what_a_card_says_stays(checkpoint, monkeypatch, killed):
    """Killed before any of the files is put in its place, or after all; then written again."""
    run, replace, done = CliRunner().invoke, os.replace, []

    def kill(*args):
        if len(done) == killed:
            raise KeyboardInterrupt
        done.append(replace(*args))

    monkeypatch.setattr(os, "replace", kill)
    run(cli, ["model-card", str(checkpoint), "--licence", "cc-by-4.0"])
    monkeypatch.undo()
    card = checkpoint / "README.md"
    said = card.exists() and "license: cc-by-4.0" in card.read_text()
    assert run(cli, ["model-card", str(checkpoint)]).exit_code == 0
    assert "license: cc-by-4.0" in card.read_text() or not said


def test_export_copies_no_file_from_elsewhere(checkpoint, tmp_path):
    """A link in a folder that somebody made could make it publish any file."""
    (tmp_path / "secret.txt").write_text("precious")
    (checkpoint / "notes.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(RunError, match=r"notes\.txt: is a link to .*secret\.txt"):
        export(checkpoint, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (checkpoint / "notes.txt").unlink()
    (checkpoint / "more").mkdir()
    export(checkpoint, tmp_path / "out")


@needs("model/checkpoints")
def test_the_page_shows_what_inspect_prints():
    """Each syllable of its sentence, and the likeliest in its place; probabilities may round otherwise elsewhere."""
    page = (PACKAGE.parents[1] / "docs" / "how-to" / "inspect.md").read_text("utf-8")
    command = re.search(r"^phonemic-bert (inspect .*)$", page, re.M)[1]
    words = [str(PACKAGE / word) if word.startswith("phonemic-bert-") else word for word in shlex.split(command)]
    shown = page.partition(command)[2].partition("```text\n")[2].partition("```")[0]
    printed = CliRunner(env={"COLUMNS": "200"}).invoke(cli, words, catch_exceptions=False).output
    assert likeliest(shown) == likeliest(printed)
    assert len(likeliest(shown)) == 9


def likeliest(table):
    """Each row that ``inspect`` prints: its number, its text, and the first of the best syllables."""
    rows = (re.match(r"\s*(\d+)  (\S+) .* #\d+ +(\S+)|\s*(\d+)  (\S+)", line) for line in table.splitlines())
    return [
        tuple(cell for cell in row.groups() if cell) for row in rows if row and re.search(r" (\.|1\.0)", row.string)
    ]


@needs("model/checkpoints")
def test_half_precision_keeps_the_gradients_of_what_thousands_of_triples_share():
    """Summed in bfloat16, those of a component's embedding are wrong by an eighth, and training comes to a halt."""
    folder = PACKAGE / "phonemic-bert-mini-vi"
    model = PhonemicBertForMaskedLM.from_pretrained(folder, attn_implementation="eager").train()
    model.bert.embeddings.forms.set_shares(0.0, 0.0)  # both passes read the same
    tokenizer = PhonemicBertTokenizer.from_pretrained(folder)
    lines = (
        (PACKAGE.parents[1] / "examples" / "cloze-vi.txt")
        .read_text("utf-8")
        .replace("[", "")
        .replace("]", "")
        .splitlines()[:24]
    )
    batch = HolisticCollator(tokenizer, mlm_probability=0.3)([tokenizer(line) for line in lines])

    def gradients(half):
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            model(**batch).loss.backward()
        return {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}

    whole, half = gradients(False), gradients(True)
    for name in ("bert.embeddings.word_embeddings.weight", "bert.embeddings.projection.weight"):
        assert (half[name] - whole[name]).norm() < 0.04 * whole[name].norm()
