"""The README and the guides are true: their Python runs and gives what the comments say, and their commands succeed."""

import ast
import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import forking
import pytest

ROOT = Path(__file__).parent.parent
on_posix = pytest.mark.skipif(not forking.AVAILABLE, reason="forks")
MODULES = {"phonemic": "phonemic.cli", "phonemic-bert": "phonemic_bert.cli"}


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)


def commands(page):
    """The command lines of a page as words; what is installed, made or of a checkout that is not here is left out."""
    lines = [line for block in blocks(page, "sh") for line in block.replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.partition(" ")[0] in MODULES]


def run(words, folder):
    import obstacles  # POSIX only

    words = [word.replace("examples/", f"{ROOT}/examples/") for word in words]
    done = forking.Process(obstacles.run_module, MODULES[words[0]], words[1:], folder=folder).finished()
    assert done.returncode == 0, (done.stdout + done.stderr).decode()
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("page", "least"),
    [("README.md", 3), ("docs/index.md", 1), ("docs/quickstart.md", 10), ("docs/concepts/syllables.md", 10)],
)
def test_python_gives_what_the_comments_say(page, least):
    names, compared = {}, 0
    for block in blocks(page, "python"):
        for statement in ast.parse(block).body:
            source = ast.unparse(statement)
            line = block.splitlines()[statement.end_lineno - 1]
            shown = re.search(r"#\s+(['\[].*?['\]])(?:;.*)?$", line)
            if not shown:
                following = block.splitlines()[statement.end_lineno : statement.end_lineno + 1]
                shown = re.match(r"# (\[.*\])$", following[0]) if following else None
            if isinstance(statement, ast.Expr) and shown:
                assert repr(eval(source, names)) == shown[1]
                compared += 1
            else:
                exec(source, names)
    assert compared >= least


@pytest.mark.parametrize(
    ("page", "needs", "least"),
    [
        ("docs/how-to/phonetic-search.md", "spacy", 25),
        ("docs/how-to/teachers.md", "spacy", 13),
        ("docs/how-to/encode-files.md", "pyarrow", 6),
        ("docs/reference/dialects.md", "phonemic", 4),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")
def test_what_is_typed_gives_what_is_shown(page, needs, least):
    pytest.importorskip(needs)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks(page, "pycon")), {}, page, page, 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted >= least
    assert not result.failed


@on_posix
@pytest.mark.parametrize(
    "page",
    [
        "docs/quickstart.md",
        "docs/concepts/syllables.md",
        "docs/how-to/encode-files.md",
        "docs/how-to/phonetic-search.md",
        "docs/how-to/teachers.md",
    ],
)
def test_commands(page, tmp_path):
    pytest.importorskip("click")
    pytest.importorskip("transformers", reason="phonemic-bert needs the model extra")
    found = commands(page)
    assert found
    for words in found:
        before = set(tmp_path.iterdir())
        assert run(words, tmp_path) or set(tmp_path.iterdir()) > before


@on_posix
def test_the_researchers_guide_from_text_to_a_model(tmp_path, vi):
    """Its commands in turn, on a small text and with fewer steps; what needs data sets is only looked up."""
    pytest.importorskip("accelerate", reason="needs the model extra")
    lines = (ROOT / "examples" / "sentences-vi.txt").read_text("utf-8")
    (tmp_path / "news.txt").write_text(lines * 10, "utf-8")
    small = ["optimization.steps=2", "evaluation.held_out_documents=5", "output.tensorboard=false"]
    ran = []
    for words in commands("docs/tutorials/pretrain-a-small-model.md"):
        if "--data" in words or "--tokenizers" in words or words[1] == "results":
            continue
        if words[1] == "pretrain":
            words += [word for setting in small for word in ("--set", setting)]
        shown = run(words, tmp_path)
        ran.append(words[1])
    assert ran == ["stats", "prepare", "pretrain", "inspect", "noise"]
    assert len(shown.splitlines()) == 200
    assert (tmp_path / "run" / "final" / "model.safetensors").exists()


def test_every_command_is_in_the_reference():
    pytest.importorskip("click")
    pytest.importorskip("transformers", reason="phonemic-bert needs the model extra")
    from phonemic.cli import cli
    from phonemic_bert.cli import cli as bert

    text = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    for name, group in (("phonemic", cli), ("phonemic-bert", bert)):
        section = text.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert set(re.findall(rf"`{name} ([a-z-]+)`", section)) == set(group.list_commands(None))


def test_every_command_of_spacy_is_in_the_reference(capsys):
    pytest.importorskip("spacy", reason="needs the spacy extra")
    from spacy_phonemic.__main__ import main

    with pytest.raises(SystemExit):
        main(["--help"])
    names = re.search(r"\{(.*?)\}", capsys.readouterr().out)[1].split(",")
    section = (
        (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8").partition("## python -m spacy_phonemic\n")[2]
    )
    assert len(names) == 3
    assert re.findall(r"`python -m spacy_phonemic ([a-z-]+)`", section) == names


def test_the_picture_is_what_the_script_draws(tmp_path):
    drawn = tmp_path / "picture.svg"
    subprocess.run([sys.executable, ROOT / "examples" / "picture.py", drawn], check=True)
    assert drawn.read_text("utf-8") == (ROOT / "docs" / "images" / "picture.svg").read_text("utf-8")


def test_extras_of_the_page_on_installing_are_those_of_the_package():
    import tomllib

    named = {name for line in (ROOT / "docs/install.md").read_text("utf-8").splitlines() if line.startswith("| `")
             for name in re.findall(r"`(\w+)`", line.split("|")[1])}  # fmt: skip
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert named | {"bench"} == set(project["optional-dependencies"])
