"""The lines below the tables of results: where their parts come from, and that their commands exist."""

import ast
import re
import shlex

import pytest
from source_tree import ROOT, needs

needs("benchmarks/results", whole_module=True)

from benchmarks import report, tables  # noqa: E402

SOURCES = tables.sources()


def environments(name):
    """Return the environments of a file of results: its own, or those of its parts."""
    found = tables.load(name) if (tables.RESULTS / f"{name}.json").exists() else []
    parts = [found, *found.values()] if isinstance(found, dict) else []
    return [part["environment"] for part in parts if isinstance(part, dict) and "environment" in part]


def script(words):
    """Return the file that a command runs, and its arguments."""
    python, *rest = words
    assert python == "python"
    if rest[0] == "-m":
        return ROOT / f"{rest[1].replace('.', '/')}.py", rest[2:]
    return ROOT / rest[0], rest[1:]


def declared(path):
    """Return the options of a script that take a value, its flags, and the number of its arguments, without running it."""
    options, flags, arguments = set(), set(), 0
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        names = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        keywords = {one.arg: one.value.value for one in call.keywords if isinstance(one.value, ast.Constant)}
        if call.func.attr in ("option", "add_argument") and names[0].startswith("-"):
            one_word = keywords.get("is_flag") or keywords.get("action") == "store_true" or "/" in names[0]
            (flags if one_word else options).update(names[0].split("/"))
        elif call.func.attr in ("argument", "add_argument"):
            arguments += 1
    return options, flags, arguments


def problems(words):
    """Return what is wrong with a command."""
    path, rest = script(words)
    if not path.exists():
        return [f"no {path.name}"]
    options, flags, arguments = declared(path)
    found, given = [], []
    while rest:
        word, *rest = rest
        if not word.startswith("-"):
            given.append(word)
        elif word in options:
            rest = rest[1:]
        elif word not in flags:
            found.append(f"no option {word}")
    return found if len(given) == arguments else [*found, f"{arguments} arguments, not {given}"]


@pytest.mark.parametrize("name", SOURCES)
def test_commands_exist(name):
    assert problems(shlex.split(SOURCES[name]["command"])) == []


def test_wrong_commands_are_noticed():
    assert problems(["python", "benchmarks/gone.py"]) == ["no gone.py"]
    assert problems(["python", "benchmarks/twin.py", "--data", "DATA", "--preset", "tiny"]) == [
        "no option --preset",
        "0 arguments, not ['tiny']",
    ]
    assert problems(["python", "-m", "benchmarks.readings.judge", "DATA"]) == ["2 arguments, not ['DATA']"]


@pytest.mark.parametrize("name", SOURCES)
def test_what_the_results_know_is_not_written_again(name):
    """Date and processor always, and the version of a package that was installed."""
    source, known = SOURCES[name], environments(name)
    assert ("date" in source) == (not known)
    assert ("{processor}" in source["hardware"]) == bool(known)
    for where in known:
        installed = {package.lower() for package, version in where["versions"].items() if version}
        assert not [one for one in source["versions"] if " " in one and one.split()[0].lower() in installed]


@pytest.mark.parametrize("name", SOURCES)
def test_footers_are_on_a_page(name):
    pages = "\n".join(page.read_text("utf-8") for page in report.pages())
    assert f"`{SOURCES[name]['command']}`.*" in pages


def test_every_footer_has_date_versions_and_processor():
    pages = "\n".join(page.read_text("utf-8") for page in report.pages())
    footers = re.findall(r"^\*(20.*`)\.\*$", pages, re.MULTILINE)
    assert len(footers) >= len(SOURCES)
    for line in footers:
        assert re.match(r"20\d\d-\d\d-\d\d, phonemic \d\S+(, \S+ \d\S*)+.*(AMD|Intel|H100).*: `", line), line


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("AMD EPYC (family 25, model 1)", "AMD EPYC, family 25 (Zen 3)"),
        ("Intel(R) Xeon(R) Processor (family 6, model 167)", "Intel Xeon, family 6 (Rocket Lake)"),
        ("arm", "arm"),
    ],
)
def test_processors_have_their_generation(name, shown):
    assert tables.processor(name) == shown


def test_names_of_files_are_those_of_results():
    assert all(list(tables.RESULTS.glob(f"{name}.*")) for name in SOURCES)
