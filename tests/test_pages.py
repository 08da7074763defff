"""The README and the guides are true: their Python runs and gives what the comments say, and their commands succeed."""

import ast
import doctest
import importlib.util
import re
import shlex
import subprocess
import sys

import forking
import pytest
from source_tree import ROOT, needs

on_posix = pytest.mark.skipif(not forking.AVAILABLE, reason="forks")
MODULES = {"phonemic": "phonemic.cli", "phonemic-bert": "phonemic_bert.cli"}


@pytest.fixture
def registries(monkeypatch):
    """Has what a page registers forgotten afterwards."""
    from phonemic.baselines import base
    from phonemic.tasks import registry

    monkeypatch.setattr(registry, "_SETS", dict(registry._SETS))
    monkeypatch.setattr(base, "REGISTRY", dict(base.REGISTRY))


@pytest.fixture
def restorers(tmp_path_factory, monkeypatch):
    """Has the restorers and checkpoints of the source tree installed."""
    folder, checkpoints = tmp_path_factory.mktemp("package"), ROOT / "model" / "checkpoints"
    names, pretrained = (
        [path.name for path in checkpoints.glob(f"phonemic-{kind}-*")] for kind in ("restorer", "bert")
    )
    if not names:
        pytest.skip("needs the source tree's model/checkpoints")
    (folder / "restorers-0.dist-info").mkdir()
    (folder / "restorers-0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: restorers\nVersion: 0\n")
    lines = ["[phonemic_bert.restorers]", *(f"{name} = restorers_of_pages" for name in names)]
    lines += ["[phonemic_bert.checkpoints]", *(f"{name} = restorers_of_pages" for name in pretrained)]
    (folder / "restorers-0.dist-info" / "entry_points.txt").write_text("\n".join(lines))
    (folder / "restorers_of_pages").symlink_to(ROOT / "model" / "checkpoints", target_is_directory=True)
    monkeypatch.syspath_prepend(folder)


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
    [
        ("README.md", 2),
        ("docs/index.md", 1),
        ("docs/quickstart.md", 13),
        ("docs/concepts/syllables.md", 8),
        ("docs/how-to/mandarin-readings.md", 14),
        ("docs/how-to/own-data.md", 0),
        ("docs/reference/datasets.md", 0),
    ],
)
def test_python_gives_what_the_comments_say(page, least, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    if page.endswith("own-data.md"):
        request.getfixturevalue("registries")
    names, compared = {}, 0
    for block in blocks(page, "python"):
        for statement in ast.parse(block).body:
            source = ast.unparse(statement)
            line = block.splitlines()[statement.end_lineno - 1]
            shown = re.search(r"#\s+(['\[].*?['\]]|True)(?:;.*)?$", line)
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
        ("docs/tutorials/misheard-names.md", "spacy", 20),
        ("docs/how-to/phonetic-search.md", "phonemic", 19),
        ("docs/how-to/teachers.md", "spacy", 13),
        ("docs/how-to/encode-files.md", "pyarrow", 6),
        ("docs/how-to/vietnamese-dialects.md", "phonemic", 4),
        ("docs/concepts/distance.md", "phonemic", 8),
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
        "docs/tutorials/misheard-names.md",
        "docs/how-to/encode-files.md",
        "docs/how-to/mandarin-readings.md",
        "docs/how-to/vietnamese-dialects.md",
        "docs/how-to/phonetic-search.md",
        "docs/how-to/restore.md",
        "docs/how-to/teachers.md",
    ],
)
def test_commands(page, tmp_path, request):
    pytest.importorskip("click")
    pytest.importorskip("transformers", reason="phonemic-bert needs the model extra")
    if page.endswith("restore.md"):
        request.getfixturevalue("restorers")
        lines = (ROOT / "examples" / "sentences-vi.txt").read_text("utf-8")
        (tmp_path / "news.txt").write_text(lines * 30, "utf-8")
    found = commands(page)
    assert found
    for given in found:
        words = ["3" if word == "1000" else word for word in given]
        before = set(tmp_path.iterdir())
        assert run(words, tmp_path) or set(tmp_path.iterdir()) > before


@on_posix
def test_the_tutorial_from_text_to_a_model(tmp_path, vi):
    """Its commands in turn, on a small text and with fewer steps."""
    pytest.importorskip("accelerate", reason="needs the model extra")
    lines = (ROOT / "examples" / "sentences-vi.txt").read_text("utf-8")
    (tmp_path / "news.txt").write_text(lines * 10, "utf-8")
    small = ["optimization.max_steps=2", "evaluation.held_out_documents=5", "output.tensorboard=false"]
    ran = []
    for words in commands("docs/tutorials/pretrain-a-small-model.md"):
        if "phonemic-bert-mini-vi" in words:  # an installed checkpoint
            continue
        if words[1] == "pretrain":
            words += [word for setting in small for word in ("--set", setting)]
        shown = run(words, tmp_path)
        ran.append(words[1])
    assert ran == ["stats", "prepare", "pretrain", "inspect", "noise"]
    assert len(shown.splitlines()) == 200
    assert (tmp_path / "run" / "final" / "model.safetensors").exists()


def test_every_command_of_the_pages_has_its_options():
    """In blocks of all pages, also the ones that are not run here."""
    pytest.importorskip("click")
    pytest.importorskip("transformers", reason="phonemic-bert needs the model extra")
    from phonemic.cli import cli
    from phonemic_bert.cli import cli as bert

    groups, checked = {"phonemic": cli, "phonemic-bert": bert}, 0
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("[!e]*/*.md"))):
        for found in commands(page):
            words = found[: found.index("|")] if "|" in found else found
            command = groups[words[0]].get_command(None, words[1])
            assert command, (page, words)
            known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
            used = {word.partition("=")[0] for word in words[2:] if re.match(r"--?[a-z]", word)}
            assert used <= known, (page, words)
            checked += 1
    assert checked > 50


def test_the_page_of_commands_explains_every_option():
    """In a sentence of its own, except for what it says of defaults."""
    page = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    rows = re.findall(r"^\| (`-.*|[A-Z]+ .*) \| .*? \| ?(.*) \|$", page, re.MULTILINE)
    assert len(rows) > 200
    assert [option for option, effect in rows if not re.fullmatch(r"[A-Z].*\.", effect)] == []


def test_the_page_of_commands_names_commands():
    """Outside its generated parts; the ones that take texts are named without exception."""
    pytest.importorskip("click")
    pytest.importorskip("transformers", reason="phonemic-bert needs the model extra")
    from phonemic.cli import cli
    from phonemic_bert.cli import cli as bert

    commands = {name: group.get_command(None, name) for group in (cli, bert) for name in group.list_commands(None)}
    page = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    written = re.sub(r"<!-- generated: (.*?) -->.*?<!-- end of \1 -->", "", page, flags=re.DOTALL)
    assert set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", written)) <= set(commands)
    taking = {name for name, command in commands.items() if {"text", "texts", "query"} & {each.name for each in command.params
              if each.param_type_name == "argument"}}  # fmt: skip
    [listed] = re.findall(r"Commands that take texts \((.*?)\)", written)
    assert set(re.findall(r"`(.*?)`", listed)) == taking


def test_the_reference_is_generated_from_the_code():
    """Options of all commands, TOML fields, presets and datasets."""
    pytest.importorskip("click")
    pytest.importorskip("spacy", reason="needs the spacy extra")
    pytest.importorskip("transformers", reason="phonemic-bert needs the model extra")
    generate = script("generate")
    made = generate.generated()
    found = set()
    for page in (ROOT / "docs" / "reference").glob("*.md"):
        text = page.read_text("utf-8")
        assert generate.filled(text, made) == text, page
        found |= {name for name in made if f"<!-- generated: {name} -->" in text}
    assert found == set(made)


def test_the_page_of_the_tour_is_the_notebook():
    """tests/test_notebook.py runs it."""
    generate = script("generate")
    assert generate.TOUR.read_text("utf-8") == generate.tour()


def script(name):
    """A script of docs/."""
    specification = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_pages_keep_the_rules():
    rules = script("rules")
    found = [
        problem
        for page in rules.pages()
        for problem in rules.problems(page.relative_to(ROOT).as_posix(), page.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("A model is level with another.", "'level with'"),
        ("It was measured at commit 1b604b1.", "a commit"),
        ("word " * 36 + "end.", "a sentence of 37 words"),
        ("x" * 141, "141 characters"),
        ("# One\n\n# One", "repeats"),
        ("Word. " * 700, "700 words"),
        ("What it does.", "'What'"),
        ("![Loss against updates](loss.svg)", "'updates'"),
        ("```text\nrivals of 1b604b1\n```", None),
        ("<!-- table: any -->\n\n| rivals |\n\n<!-- end of table -->", None),
        ("A plain sentence with `updates` in code.", None),
    ],
)
def test_the_rules_tell(text, told):
    found = [*script("rules").problems("docs/how-to/page.md", text)]
    assert (len(found) >= 1 and any(told in problem for problem in found)) if told else not found


@pytest.mark.parametrize(
    ("name", "source", "told"),
    [
        ("phonemic/x.py", '"""What it does."""', "1: 'What'"),
        ("phonemic/x.py", '"""A table.\n\n    It is level\n    with another.\n    """', "3: 'level with'"),
        ("phonemic/x.py", '"""Of a text the ids."""', "begin with a verb"),
        ("phonemic/x.py", "x = 1  # what rivals\n# take", "1: 'rivals'"),
        ("phonemic/x.py", 'raise ValueError(f"{name} stands "\n    "beside {other}")', "2: 'beside'"),
        ("phonemic/x.py", "message = 'no updates'", "'updates'"),
        ("phonemic/x.pyx", "cdef int x   # where it lies", "'lies'"),
        ("phonemic/x.pxd", '"""A byte that is no UTF-8."""', "'is no'"),
        ("tests/test_x.py", '    """Those of no text."""', "begin with a verb"),
        ("examples/x.cfg", "[nlp]\n# 10 MB a second", "2: 'MB a second'"),
        ("benchmarks/x.toml", 'title = "Seconds by the clock"', "'by the clock'"),
        ("Makefile", "# The rivals", "'rivals'"),
        ("phonemic/x.py", '"""Return where `rivals` stands for ``updates``; there is no other."""', None),
        ("phonemic/x.py", 'updates = {"beside": rivals}  # words that sound alike', None),
        ("phonemic/x.py", 'f"{x.updates} of {beside}"', None),
        ("phonemic/x.py", 'print("#", beside)', None),
        ("tests/test_x.py", 'assert told("the rivals")', None),
        ("Makefile", "bench: rivals", None),
    ],
)
def test_the_rules_tell_of_sources(name, source, told):
    found = [*script("rules").source_problems(name, source)]
    assert (len(found) >= 1 and any(told in problem for problem in found)) if told else not found


@needs("docs/images")
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
