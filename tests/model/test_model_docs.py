"""docs/concepts/phonemic-bert.md is true: its code runs, and gives what the comments say."""

import ast
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "concepts" / "phonemic-bert.md").read_text("utf-8")

#: The pages whose code is run, what they need next to the model's extra, and how many comments say what comes out.
PAGES = {
    "concepts/phonemic-bert.md": ((), 6),
    "how-to/pretrain.md": ((), 0),
    "tutorials/transformers.md": (("datasets", "peft"), 6),
}


@pytest.mark.filterwarnings("ignore:.*pin_memory.*:UserWarning")  # Trainer's default, on a machine without a GPU
@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")  # peft calls it
@pytest.mark.parametrize("page", PAGES)
def test_python_gives_what_the_comments_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    needed, comments = PAGES[page]
    for package in needed:
        pytest.importorskip(package, reason=f"the page needs {package}")
    names, compared = {}, 0
    for block in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL):
        for statement in ast.parse(block).body:
            source = ast.unparse(statement)
            shown = re.search(
                r"#\s+(\[.*\]|'.*'|torch\.Size.*|True|\d\.\d)$", block.splitlines()[statement.end_lineno - 1]
            )
            if shown and isinstance(statement, ast.Expr):
                assert repr(eval(source, names)) == shown[1]
                compared += 1
            else:
                exec(source, names)
    assert compared == comments


def test_parameter_counts_are_those_of_the_command():
    from phonemic_bert import PhonemicBertConfig
    from phonemic_bert.parameters import count_parameters, totals

    parts = count_parameters(PhonemicBertConfig())
    sums = totals(parts)
    shown = [sums["encoder"], sums["encoder with heads (for pretraining)"], *list(parts.values())[:3], parts["pooler"]]
    for count in [*shown, parts["encoder layers"]]:
        assert f"{count / 1e6:.2f}M" in PAGE
    rest, width = sums["encoder"] - parts["component embeddings (V x d)"], 768
    fitting = [size for size in range(300) if round((rest + size * width + 3 * size * (width + 1)) / 1e6, 2) == 87.94]
    assert fitting == [233, 234, 235]
