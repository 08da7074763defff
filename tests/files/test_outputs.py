"""How the commands treat existing files: they do nothing without --force, and never change their inputs."""

import os
import stat
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

import forking
from writing_commands import COMMANDS

from phonemic import Index, PhonemicError, Tokenizer
from phonemic.corpus.inputs import find_sources
from phonemic.errors import OutputError
from phonemic.files.jsons import read_json
from phonemic.files.outputs import claim
from phonemic.files.writing import replacing, replacing_folder
from phonemic.tasks import docbin

pytestmark = pytest.mark.usefixtures("in_tmp_path", "empty_figures")


def with_command(*commands):
    return pytest.mark.parametrize("command", commands, ids=[command.name for command in commands])


@pytest.fixture
def ready(command):
    """The command with what it reads, where it can be run."""
    if command.missing:
        pytest.skip(f"needs {command.missing}")
    command.prepare()
    return command


def contents():
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.skipif(not forking.AVAILABLE, reason="forks")
class TestCommands:
    @with_command(*(command for command in COMMANDS if not command.resumes))
    def test_an_output_that_is_there(self, ready):
        for name in ready.writes:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text("mine")
        before = contents()
        refused = ready.run()
        assert refused.returncode == 1, refused.stderr
        assert f"{ready.taken or ready.writes[0]}: already exists" in refused.stderr.decode()
        assert "--force" in refused.stderr.decode()
        assert len(refused.stderr.splitlines()) == 1
        assert contents() == before
        replaced = ready.run("--force")
        assert replaced.returncode == 0, replaced.stderr
        assert all(Path(name).read_bytes() != b"mine" for name in ready.writes)

    @with_command(*(command for command in COMMANDS if command.resumes))
    def test_what_goes_on_needs_no_force(self, ready):
        assert ready.run().returncode == 0
        before = contents()
        assert ready.run().returncode == 0
        assert contents() == before


class TestClaim:
    def test_what_is_read_is_never_written_to(self):
        Path("in.txt").write_text("text")
        Path("folder").mkdir()
        for same in ("in.txt", "./in.txt", "folder/../in.txt", os.path.abspath("in.txt")):
            for force in (False, True):
                with pytest.raises(OutputError, match=r"in\.txt: is also read"):
                    claim([same], force, ["-", "in.txt"])
        assert Path("in.txt").read_text() == "text"

    @pytest.mark.skipif(os.name != "posix", reason="needs links")
    def test_links_to_what_is_read(self):
        Path("in.txt").write_text("text")
        Path("link.txt").symlink_to("in.txt")
        Path("hard.txt").hardlink_to("in.txt")
        for output, read in (("link.txt", "in.txt"), ("in.txt", "link.txt"), ("hard.txt", "in.txt")):
            with pytest.raises(OutputError, match="is also read"):
                claim([output], True, [read])

    def test_two_outputs_of_one_name(self):
        with pytest.raises(OutputError, match="two outputs have this name"):
            claim(["a.txt", "./a.txt"], False)

    def test_a_dash_is_no_name_of_a_file(self):
        with pytest.raises(OutputError, match="-: this is written to a file; name one"):
            claim([None, "-"], True)

    def test_a_folder(self):
        Path("a").mkdir()
        with pytest.raises(OutputError, match="is a folder"):
            claim(["a"], True)

    @pytest.mark.skipif(os.name != "posix", reason="needs devices")
    def test_devices_pipes_and_none(self):
        os.mkfifo("pipe")
        claim([None, os.devnull, "pipe", "pipe", "new"], False, ["-", os.devnull])
        assert stat.S_ISFIFO(Path("pipe").stat().st_mode)

    @pytest.mark.skipif(os.name != "posix", reason="needs links")
    def test_a_link_that_leads_nowhere_is_there(self):
        """Else what is written comes to lie where somebody else wanted it."""
        Path("link").symlink_to("elsewhere")
        with pytest.raises(OutputError, match="link: already exists"):
            claim(["link"], False)
        with pytest.raises(FileExistsError, match="link"), replacing("link", overwrite=False):
            pytest.fail("written through")
        with pytest.raises(FileExistsError, match="link"), replacing_folder("link"):
            pytest.fail("written through")
        assert not os.path.lexists("elsewhere")
        claim(["link"], True)
        with replacing("link") as file:
            file.write(b"mine")
        assert Path("elsewhere").read_bytes() == b"mine"


@pytest.mark.skipif(os.name != "posix", reason="needs FIFOs")
@pytest.mark.parametrize(
    "load",
    [
        Tokenizer.load,
        Index.load,
        read_json,
        lambda path: find_sources([path]),
        pytest.param(
            lambda path: list(docbin.classes(Path(path), None)),
            marks=pytest.mark.skipif(find_spec("spacy") is None, reason="needs the spacy extra"),
        ),
    ],
    ids=["tokenizer", "index", "JSON", "prepare", "DocBin"],
)
def test_a_fifo_is_not_waited_for(load):
    os.mkfifo("pipe")
    with pytest.raises(PhonemicError, match="pipe: is a device or a FIFO"):
        load("pipe")
