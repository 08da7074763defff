"""The commands lie in modules of their own, which are imported when they are called."""

import pkgutil
import subprocess
import sys

import pytest

pytest.importorskip("click", reason="needs the cli extra")
pytest.importorskip("rich", reason="needs the cli extra")

from cli_helpers import environment
from click.testing import CliRunner

import phonemic.cli
from phonemic.cli import COMMANDS, cli

#: Modules of :mod:`phonemic.cli` that are no commands.
SHARED = {"__main__", "common", "group", "progress", "wordlists"}


def modules_after(*arguments):
    """The modules that a call leaves loaded, as a set of dotted names."""
    code = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    code += "from phonemic.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment(), check=False
    )
    return set(done.stderr.splitlines()[-1].split())


def test_every_module_is_a_command():
    found = {module.name for module in pkgutil.iter_modules(phonemic.cli.__path__)} - SHARED
    assert {name.replace("-", "_") for name in COMMANDS} == found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_is_the_first_sentence_of_its_help(name):
    command = cli.get_command(None, name)
    assert command.name == name
    text = " ".join(command.help.split())
    assert text == COMMANDS[name] or text.startswith(f"{COMMANDS[name]} ")


def test_the_help_names_all_of_them():
    shown = CliRunner().invoke(cli, ["--help"], terminal_width=200, max_content_width=200).output
    for name, summary in COMMANDS.items():
        assert f"  {name} " in shown
        assert summary in shown


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("shwo",), ()])
def test_what_runs_no_command_imports_none(arguments):
    loaded = modules_after(*arguments)
    assert "phonemic.cli.group" in loaded
    assert {name for name in loaded if name.startswith("phonemic.cli.")} == {"phonemic.cli.group"}
    assert (
        not {"pyarrow", "zstandard", "matplotlib", "torch", "rich.console", "phonemic.files", "phonemic.corpus"}
        & loaded
    )


def test_a_command_imports_no_other():
    loaded = modules_after("vocab", "--lang", "vi", "--json")
    assert {name for name in loaded if name.startswith("phonemic.cli.")} == {
        f"phonemic.cli.{name}" for name in ("common", "group", "progress", "vocab")
    }
    assert not {"pyarrow", "matplotlib", "torch", "phonemic.corpus", "phonemic.intrinsic", "phonemic.noise"} & loaded


@pytest.mark.parametrize("module", ["phonemic", "phonemic.cli", "phonemic_bert"])
def test_python_m(module):
    if module == "phonemic_bert":
        pytest.importorskip("torch", reason="needs the model extra")
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"], capture_output=True, text=True, env=environment(), check=True
    )
    name = module.partition(".")[0].replace("_", "-")
    assert done.stdout == f"{name}, version {phonemic.__version__}\n"
