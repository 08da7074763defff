"""Imports before a command works: of each start-up, the modules that must not be loaded; no seconds."""

import subprocess
import sys

import pytest
from forking import environment

#: Packages that take long to import. Nothing that only answers may load one.
HEAVY = {
    "accelerate", "datasets", "matplotlib", "nltk", "openpyxl", "pandas", "peft", "polars", "pyarrow", "pypinyin", "ray",
    "rensa", "safetensors", "scipy", "sentencepiece", "seqeval", "sklearn", "spacy", "tensorboard", "tokenizers", "torch",
    "transformers", "zstandard",
}  # fmt: skip
#: Modules of light packages that only a command needs.
WORK = {
    "rich.progress",
    "phonemic.sound",
    "phonemic.corpus",
    "phonemic.noise",
    "phonemic.intrinsic",
    "phonemic.baselines",
}

MISTYPED = "[model] unknown field 'num_hidden_layer': did you mean 'num_hidden_layers'?"
#: Code or a module's command -> other modules that must not be loaded, and a part of the output.
STARTS = {
    "import phonemic": (WORK | {"click", "rich", "phonemic.tasks", "phonemic.files"}, ""),
    "import phonemic; print(phonemic.sound.rhymes, phonemic.Index)": (WORK - {"phonemic.sound"}, "<function rhymes"),
    "phonemic.cli --help": (WORK | {"rich.console", "rich.table", "phonemic.files"}, "Lists the vocabulary"),
    "phonemic.cli encode --help": (WORK | {"rich.table"}, "Encodes texts to packed ids"),
    "phonemic.cli vocab --lang vi --json": (WORK | {"rich.table"}, '"symbol": "[PAD]"'),
    "phonemic.cli vocab --lang vi": (WORK, "[PAD]"),
    "phonemic.cli search --help": (WORK | {"rich.table"}, "Finds the names that sound like"),
    "phonemic.cli rhymes --help": (WORK | {"rich.table"}, "by their last syllables"),
    "phonemic.cli homophones no.txt --lang en": (WORK | {"rich.table"}, "'en' is not one of 'vi', 'zh'"),
    "phonemic.cli encode --treads 2": (WORK | {"rich.table"}, "No such option"),
    "phonemic.cli encode no.txt --lang en": (WORK | {"rich.table"}, "'en' is not one of 'vi', 'zh'"),
    "phonemic.cli noise --lang vi": ({"phonemic.corpus"}, "Usage"),
    "import phonemic, spacy_phonemic": (WORK | {"click", "rich"}, ""),
    "spacy_phonemic.__main__ --help": (WORK | {"click", "rich"}, "Print a training config"),
    "spacy_phonemic.__main__ convert conll in out --column 1": (WORK | {"click", "rich"}, "unrecognized arguments"),
    "import phonemic_bert": (WORK | {"click", "rich", "phonemic.tasks", "phonemic.files.parquet"}, ""),
    "import phonemic_bert; phonemic_bert.fill_mask, phonemic_bert.PRESETS": (WORK | {"click", "rich"}, ""),
    "phonemic_bert.cli --help": (WORK | {"rich.console", "rich.table"}, "Counts the parameters"),
    "phonemic_bert.cli pretrain --help": (WORK | {"rich.table"}, "--set SECTION.FIELD=VALUE"),
    "phonemic_bert.cli init-config pretrain mini-sound": (WORK | {"rich.table"}, "[optimization]"),
    "phonemic_bert.cli init-config pretrain mini": (WORK | {"rich.table"}, "mini-sound"),
    "phonemic_bert.cli init-config finetune base": (WORK | {"rich.table"}, "learning_rate"),
    "phonemic_bert.cli pretrain mini-sound in out --set model.num_hidden_layer=3": (WORK | {"rich.table"}, MISTYPED),
    "phonemic_bert.cli pretrain mini-sound in out --sett model.num_hidden_layers=3": (WORK | {"rich.table"}, "No such option"),
    "phonemic_bert.cli finetune tnews --data in --encoder e --results r --set text.len=3": (
        WORK | {"rich.table"},
        "[text] unknown field 'len'",
    ),
    "phonemic_bert.cli finetune tnews --data in --encoder e --results r --seeds 1,a": (
        WORK | {"rich.table"},
        "numbers separated by commas",
    ),
    "phonemic_bert.cli inspect": (WORK | {"rich.table"}, "give one of TEXT, --input and --predictions"),
    "phonemic_bert.cli embeddings": (WORK | {"rich.table"}, "Missing argument 'CHECKPOINT'"),
    "phonemic_bert.cli inspect none tôi": (WORK | {"rich.table"}, "'none' is neither a folder nor installed"),
    "phonemic_bert.cli embeddings ./none --out x.svg": (WORK | {"rich.table"}, "'./none' is neither a folder nor installed"),
    "phonemic_bert.cli export none out": (WORK | {"rich.table"}, "no readable pretraining.json in it"),
    "phonemic_bert.cli model-card none": (WORK | {"rich.table"}, "no readable pretraining.json in it"),
    "phonemic_bert.cli finetune tnews --data in --encoder a=none --results r": (WORK | {"rich.table"}, "'none' is neither"),
    "phonemic_bert.cli report --format html": (WORK | {"rich.table"}, "'html' is not one of"),
    "phonemic_bert.cli summary --preset big": (WORK, "'big' is not one of"),
}  # fmt: skip


@pytest.mark.parametrize("start", STARTS)
def test_nothing_heavy_is_imported(start, tmp_path):
    command = not start.startswith("import ")
    module, *words = start.split()
    if command:
        pytest.importorskip("click", reason="needs the cli extra")
        pytest.importorskip("rich", reason="needs the cli extra")
    code = f"from {module} import main; raise SystemExit(main())" if command else start
    told = "import atexit, sys; atexit.register(lambda: print('LOADED', *sys.modules, file=sys.stderr)); "
    done = subprocess.run(
        [sys.executable, "-c", told + code, *(words if command else ())],
        capture_output=True, text=True, check=False, cwd=tmp_path, env=environment(),
    )  # fmt: skip
    said, _, loaded = done.stderr.rpartition("LOADED ")
    unwanted, part = STARTS[start]
    assert part in " ".join((done.stdout + said).replace("│", " ").split())
    loaded = set(loaded.split())
    assert "phonemic.errors" in loaded
    assert not {name.partition(".")[0] for name in loaded} & HEAVY
    assert not loaded & unwanted


def test_the_list_can_fail():
    """A package of the list is seen where it is loaded."""
    pytest.importorskip("pyarrow", reason="needs the arrow extra")
    told = "import sys, pyarrow; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, env=environment())
    assert "pyarrow" in {name.partition(".")[0] for name in done.stdout.split()} & HEAVY
