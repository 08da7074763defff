"""No control character of anybody's text reaches a terminal: every command that shows text of others, on a terminal."""

import ast
import importlib.util
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pty", reason="needs terminals of POSIX")

import forking
import obstacles
from made import BERT, PHONEMIC, SPACY, put

from phonemic.errors import printable
from phonemic.terminal import console, json_text

pytestmark = pytest.mark.usefixtures("in_tmp_path")

#: Sets a terminal's title, colours by a C1 control, turns the direction, goes back, and begins the line anew.
EVIL = "x\x1b]0;owned\x07\x9b31m\u202eabc\b\b\rz"
SHOWN = r"x\x1b]0;owned\x07\x9b31m\u202eabc\x08\x08\rz"

#: Control sequences that rich itself sends to a terminal.
RICH = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def shown(module, *words, stdin=""):
    """The output of a command on a terminal, without rich's colours."""
    call = forking.Process(obstacles.run, module, list(words), stdin=stdin.encode(), terminal=True)
    done = call.finished()
    assert b"Traceback" not in done.stdout, done.stdout.decode()
    return RICH.sub("", done.stdout.decode()).replace("\r\n", "\n")


def checked(text):
    """The text, if there is nothing in it that a terminal would obey, and the evil is there to be seen."""
    for char in "\x1b\x07\x9b\u202e\b":  # a bar of rich's begins lines anew by itself
        assert char not in text, ascii(text)
    assert SHOWN in text, ascii(text)
    return text


needs_model = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs the model extra")
on_terminal = pytest.mark.skipif(not forking.AVAILABLE, reason="forks")


def parquet(path, column="text", **metadata):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    schema = pa.schema([(column, pa.string())], {f"phonemic.{name}": value for name, value in metadata.items()})
    pq.write_table(pa.table({column: [f"bé {EVIL}"]}, schema), path)


@on_terminal
class TestCommands:
    def test_text_from_standard_input(self):
        found = shown(PHONEMIC, "show", "-", "--lang", "vi", stdin=f"bé {EVIL} ăn\n")
        for char in "\x1b\x07\x9b\u202e\b\r":
            assert char not in found
        assert r" \x1b " in found

    @pytest.mark.parametrize("options", [(), ("--json",)])
    def test_noise(self, options):
        Path("in.txt").write_text(f"bé {EVIL}\n", newline="")
        checked(shown(PHONEMIC, "noise", "in.txt", "--lang", "vi", "--kind", "typing", "--ratio", "0", *options))

    @pytest.mark.parametrize("options", [(), ("--latex",), ("--markdown",), ("--tokenizer", "Phonemic")])
    def test_names_of_files(self, options):
        Path(EVIL).write_text("bé ăn xôi\n")
        found = shown(PHONEMIC, "stats", EVIL, "--lang", "vi", *options)
        if "--latex" in options:
            assert "\x1b" not in found
            assert r"x1b]0;owned" in found
        elif options:
            checked(found)
        checked(shown(PHONEMIC, "stats", f"{EVIL}.txt", "--lang", "vi"))

    def test_names_of_columns(self):
        parquet("in.parquet", EVIL)
        checked(shown(PHONEMIC, "stats", "in.parquet", "--lang", "vi"))

    def test_metadata(self):
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        schema = pa.schema([("ids", pa.list_(pa.int32()))], {"phonemic.lang": "vi", "phonemic.version": EVIL,
                                                             "phonemic.vocabulary_checksum": "0"})  # fmt: skip
        pq.write_table(pa.table({"ids": [[1]]}, schema), "in.parquet")
        checked(shown(PHONEMIC, "decode", "in.parquet"))

    def test_words_of_the_command_line(self):
        """They may come from a shell's glob."""
        checked(shown(PHONEMIC, "vocab", "--lang", "vi", EVIL))

    def test_spacy(self):
        pytest.importorskip("spacy", reason="needs the spacy extra")
        Path("in.conll").write_text(f"bé\t{EVIL}\n")
        found = shown(SPACY, "convert", "conll", "in.conll", "out.spacy", "--lang", "vi")
        assert "\x1b" not in found
        assert r"\x1b]0;owned" in found

    @needs_model
    def test_results(self):
        put("results")
        [path] = Path("results").rglob("*-seed-1.json")
        found = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps(found | {"title": f"t{EVIL}", "encoder": f"e{EVIL}"}))
        for form in ("screen", "markdown", "csv", "latex"):
            assert r"\x1b]0;owned" in shown(BERT, "report", "results", "--format", form) or form == "latex"
            assert "\x1b" not in shown(BERT, "report", "results", "--format", form)
        (path.parent / f"{EVIL}.json").write_text("{")
        checked(shown(BERT, "report", "results"))

    @needs_model
    def test_inspect(self):
        put("run")
        checked(shown(BERT, "inspect", "run/final", f"bé {EVIL}"))
        record = {"text": f"bé {EVIL}", "gold": [[0, 2, EVIL]], "predicted": [], "question": EVIL}
        Path("in.jsonl").write_text(json.dumps(record))
        checked(shown(BERT, "inspect", "--predictions", "in.jsonl", "--lang", "vi"))
        found = shown(BERT, "inspect", "--predictions", "in.jsonl", "--lang", "vi", "--json")
        found = found[found.index("{") :]
        assert json.loads(found)["examples"][0]["notes"]["question"] == EVIL
        assert "\x1b" not in found
        assert "\u202e" not in found

    @needs_model
    def test_checkpoints(self):
        """Also messages of transformers itself about a checkpoint."""
        put("run")
        Path("run/final").rename(EVIL)
        checked(shown(BERT, "inspect", f"{EVIL}x", "bé"))
        config = json.loads(Path(EVIL, "config.json").read_text())
        for field in ("model_type", "lang", "composition", "backbone", "hidden_size", "dtype", "architectures"):
            Path(EVIL, "config.json").write_text(json.dumps(config | {field: EVIL}))
            for words in (
                ("summary", "--checkpoint", EVIL),
                ("inspect", EVIL, "bé"),
                ("export", EVIL, "out", "--force"),
            ):
                found = shown(BERT, *words)
                for char in "\x1b\x07\x9b\u202e\b":
                    assert char not in found, (field, words, ascii(found))

    @needs_model
    def test_a_run(self):
        put("corpus")
        found = shown(BERT, "pretrain", "paper-tiny", "corpus", EVIL, "--set", "optimization.max_steps=1", "--set",
                      "model.hidden_size=24", "--set", "model.num_attention_heads=3", "--set", "machine.device=cpu")  # fmt: skip
        checked(found)

    @needs_model
    def test_a_name_that_is_markup(self):
        """rich's markup in the name of a folder is neither obeyed nor an error."""
        put("corpus")
        for name in ("[red]run", "run[/x]"):
            found = shown(BERT, "pretrain", "paper-tiny", "corpus", name, "--set", "optimization.max_steps=1", "--set",
                          "model.hidden_size=24", "--set", "model.num_attention_heads=3", "--set", "machine.device=cpu")  # fmt: skip
            assert f"{name}/final: the model of step 1" in found


@on_terminal
def test_a_pipe_gets_what_is_there():
    Path("in.txt").write_bytes(f"bé {EVIL}\n".encode())
    done = forking.Process(
        obstacles.run, PHONEMIC, ["noise", "in.txt", "--lang", "vi", "--kind", "typing", "--ratio", "0"]
    ).finished()
    assert done.stdout == Path("in.txt").read_bytes()


def test_written_out():
    assert printable(EVIL) == SHOWN
    assert printable(SHOWN) == SHOWN
    assert printable("a\tb\nc") == "a\tb\nc"
    assert printable("a\tb\nc", keep="") == r"a\tb\nc"
    assert printable("tiếng Việt 银行\u3000\xa0ok") == "tiếng Việt 银行\u3000\xa0ok"
    assert printable("\u2028\ud800\U000e0041\xad") == r"\u2028\ud800\U000e0041\xad"


def test_json_stays_json():
    value = {EVIL: [EVIL, "\U000e0041 银\n"]}
    assert json.loads(json_text(value)) == value
    assert json_text(value).isascii() is False
    assert not set(json_text(value)) & set("\x1b\x07\x9b\u202e\b\r\U000e0041")


def test_a_console_takes_text_as_it_is(capsys):
    console(wide=200).print(f"[red]{EVIL}[/x] :smile:")
    assert capsys.readouterr().out == f"[red]{SHOWN}[/x] :smile:\n"


#: Calls that write to a standard stream or make a console.
WRITES = {"print", "echo", "click.echo", "secho", "click.secho", "Console"}


def calls(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in WRITES:
            yield f"{path.name}:{node.lineno}: {ast.unparse(node)}"


def test_all_goes_through_one_module():
    """A command that writes to a standard stream another way is seen here."""
    packages = ("phonemic", "spacy_phonemic", "nltk_phonemic", "phonemic_bert")
    folders = [Path(find_spec(name).submodule_search_locations[0]) for name in packages]
    sources = [path for folder in folders for path in folder.rglob("*.py") if path.name != "terminal.py"]
    assert len(sources) > 150
    assert [call for path in sources for call in calls(path)] == []
