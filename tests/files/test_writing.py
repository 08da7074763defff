"""Files and folders appear whole or not at all, under a name that nobody else writes to or has planted."""

import io
import json
import os
import stat
import threading
from pathlib import Path

import pytest

from phonemic.files import replacing, writing
from phonemic.files.writing import (
    Unfinished,
    clear_unfinished,
    new_folder,
    remove,
    replacing_folder,
    replacing_text,
    write_json,
    write_text,
)

pytestmark = pytest.mark.usefixtures("in_tmp_path")
posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and FIFOs of POSIX")


def write(path, content, **options):
    with replacing(path, **options) as file:
        file.write(content)


def fail_within(context, error):
    with context as made:
        if isinstance(made, Path):
            (made / "file").write_text("new")
        else:
            made.write("new" if isinstance(made, io.TextIOBase) else b"new")
        raise error


def mode(path):
    return stat.S_IMODE(Path(path).stat().st_mode)


class TestFiles:
    def test_nothing_is_there_before_the_end(self):
        with replacing("a.txt") as file:
            file.write(b"new")
            assert "a.txt" not in os.listdir()
            assert len(os.listdir()) == 1
        assert os.listdir() == ["a.txt"]
        assert Path("a.txt").read_bytes() == b"new"

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
    def test_an_error_leaves_what_was_there(self, error):
        Path("a.txt").write_text("old")
        with pytest.raises(error):
            fail_within(replacing("a.txt"), error)
        assert os.listdir() == ["a.txt"]
        assert Path("a.txt").read_text() == "old"

    @pytest.mark.parametrize("step", ["fdopen", "chown"])
    def test_a_signal_while_it_is_made_leaves_nothing(self, step, monkeypatch):
        def stop(*_, **__):
            raise SystemExit(143)

        old, before = Path("old"), {*Path().iterdir()}
        old.write_text("old")
        monkeypatch.setattr(os, step, stop)
        with pytest.raises(SystemExit), replacing(old):
            pytest.fail("it was made")
        assert {*Path().iterdir()} == before | {old}
        assert old.read_text() == "old"

    def test_two_at_once_are_both_whole(self):
        first, second = Unfinished("a.txt"), Unfinished("a.txt")
        first.open(), second.open()
        first.file.write(b"1" * 100_000)
        second.file.write(b"2" * 10)
        first.finish()
        assert Path("a.txt").read_bytes() == b"1" * 100_000
        second.finish()
        assert Path("a.txt").read_bytes() == b"2" * 10
        assert os.listdir() == ["a.txt"]

    def test_many_threads_to_one_path(self):
        threads = [threading.Thread(target=write, args=("a.txt", bytes([at]) * 50_000)) for at in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(Path("a.txt").read_bytes())) == 1
        assert os.listdir() == ["a.txt"]

    def test_a_partial_of_the_users_own_stays(self):
        Path("a.txt.partial").write_text("mine")
        write("a.txt", b"new")
        assert Path("a.txt.partial").read_text() == "mine"

    @posix
    def test_no_planted_link_is_followed(self, monkeypatch):
        """Even where its name is guessed: the file is made exclusively."""
        Path("victim").write_text("precious")
        monkeypatch.setattr(writing.os, "urandom", lambda count: b"\0" * count)
        Path(f"a.txt.{'00' * 6}.partial").symlink_to("victim")
        with pytest.raises(FileExistsError, match=r"a\.txt"):
            write("a.txt", b"new")
        assert Path("victim").read_text() == "precious"
        assert Path(f"a.txt.{'00' * 6}.partial").is_symlink()  # it is another's

    @posix
    def test_mode(self):
        before = os.umask(0o027)
        try:
            write("new.txt", b"")
            Path("old.txt").write_text("")
            Path("old.txt").chmod(0o604)
            write("old.txt", b"x")
        finally:
            os.umask(before)
        assert mode("new.txt") == 0o640
        assert mode("old.txt") == 0o604

    @posix
    def test_a_link_is_followed(self):
        Path("there").mkdir()
        Path("there/real.txt").write_text("old")
        Path("link.txt").symlink_to("there/real.txt")
        Path("dangling.txt").symlink_to("there/new.txt")
        for name, real in (("link.txt", "there/real.txt"), ("dangling.txt", "there/new.txt")):
            write(name, b"new")
            assert Path(name).is_symlink()
            assert Path(real).read_bytes() == b"new"
        assert sorted(os.listdir("there")) == ["new.txt", "real.txt"]

    @posix
    def test_a_fifo_and_a_device_are_written_to(self):
        os.mkfifo("pipe")
        read = []
        thread = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
        thread.start()
        write("pipe", b"through")
        thread.join()
        assert read == [b"through"]
        assert stat.S_ISFIFO(Path("pipe").stat().st_mode)
        write(os.devnull, b"nothing")
        assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)

    def test_what_is_there_is_kept_where_it_is_not_to_be_replaced(self):
        Path("a.txt").write_text("old")
        with pytest.raises(FileExistsError, match=r"a\.txt"):
            write("a.txt", b"new", overwrite=False)
        unfinished = Unfinished("b.txt", overwrite=False)
        unfinished.open()
        Path("b.txt").write_text("another's, made meanwhile")
        with pytest.raises(FileExistsError, match=r"b\.txt"):
            unfinished.finish()
        unfinished.discard()
        assert Path("b.txt").read_text() == "another's, made meanwhile"
        assert sorted(os.listdir()) == ["a.txt", "b.txt"]

    def test_without_links(self, monkeypatch):
        def none(*arguments):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(writing.os, "link", none)
        write("a.txt", b"new", overwrite=False)
        with pytest.raises(FileExistsError):
            write("a.txt", b"newer", overwrite=False)
        assert Path("a.txt").read_bytes() == b"new"

    def test_it_is_on_the_disk_before_it_has_its_name(self, monkeypatch):
        done = []
        for name in ("fsync", "replace"):
            real = getattr(os, name)
            monkeypatch.setattr(writing.os, name, lambda *a, name=name, real=real: (done.append(name), real(*a))[1])
        write("a.txt", b"new")
        assert done[:2] == ["fsync", "replace"]
        assert "fsync" in done[2:] or os.name == "nt"  # of the folder

    @pytest.mark.parametrize("path", ["none/a.txt", "folder", "x" * 300])
    def test_errors_name_the_path(self, path):
        Path("folder").mkdir()
        with pytest.raises(OSError) as raised:  # noqa: PT011, which one is the system's
            write(path, b"new")
        assert raised.value.filename == path
        assert os.listdir() == ["folder"]

    def test_an_error_within_names_the_path(self):
        with pytest.raises(OSError, match="full") as raised, replacing("a.txt"):
            raise OSError(28, "full")
        assert raised.value.filename == "a.txt"

    def test_text_and_json(self):
        with replacing_text("a.txt") as file:
            file.write("tiếng\r\nViệt\n")
        assert Path("a.txt").read_bytes() == "tiếng\r\nViệt\n".encode()
        with pytest.raises(ValueError, match="no"):
            fail_within(replacing_text("b.txt"), ValueError("no"))
        write_text("c.txt", "ả")
        write_json("d.json", {"ả": 1})
        assert Path("d.json").read_bytes() == '{\n  "ả": 1\n}\n'.encode()
        assert sorted(os.listdir()) == ["a.txt", "c.txt", "d.json"]
        write_json("d.json", {"name": "\udcff"})  # of a file whose name is not an UTF-8
        assert json.loads(Path("d.json").read_bytes()) == {"name": "\udcff"}

    def test_a_long_name(self):
        name = "ệ" * 80 + ".txt"
        write(name, b"new")
        assert os.listdir() == [name]


class TestFolders:
    def test_whole_or_not_at_all(self):
        with replacing_folder("up/a") as folder:
            (folder / "inner").mkdir()
            (folder / "inner/file").write_text("new")
            assert not Path("up/a").exists()
        assert Path("up/a/inner/file").read_text() == "new"
        with pytest.raises(KeyboardInterrupt):
            fail_within(replacing_folder("up/b"), KeyboardInterrupt)
        assert os.listdir("up") == ["a"]

    def test_an_older_one(self):
        Path("a").mkdir()
        Path("a/old").write_text("")
        with pytest.raises(FileExistsError, match="a"), replacing_folder("a") as folder:
            (folder / "new").write_text("")
        assert os.listdir("a") == ["old"]
        with pytest.raises(ValueError, match="no"), replacing_folder("a", overwrite=True):
            raise ValueError("no")
        assert os.listdir("a") == ["old"]
        with replacing_folder("a", overwrite=True) as folder:
            (folder / "new").write_text("")
        assert os.listdir("a") == ["new"]
        assert os.listdir() == ["a"]

    @pytest.mark.parametrize("swaps", [True, False])
    def test_an_older_one_is_there_until_the_new_one_is(self, swaps, monkeypatch):
        """Where the system swaps two names; elsewhere it has another name for a moment, and gets its own again."""
        Path("a").mkdir()
        Path("a/old").write_text("")
        if not swaps:
            monkeypatch.setattr(writing, "_swapped", lambda one, other: False)
        elif not writing.sys.platform.startswith("linux"):
            pytest.skip("needs Linux")
        seen = []
        rename = os.rename

        def watched(one, other):
            rename(one, other)
            seen.append(sorted(os.listdir()))

        monkeypatch.setattr(writing.os, "rename", watched)
        with replacing_folder("a", overwrite=True) as folder:
            (folder / "new").write_text("")
        assert os.listdir("a") == ["new"]
        assert os.listdir() == ["a"]
        assert (seen == []) == swaps
        for names in seen[:1]:
            assert sorted(name.rpartition(".")[2] for name in names) == ["old", "partial"]

    def test_what_a_kill_left_of_a_replacement(self):
        for name, there in (("a", False), ("b", True)):
            Path(f"{name}.0123456789ab.old").mkdir()
            Path(f"{name}.0123456789ab.old/old").write_text("")
            if there:
                Path(name).mkdir()
        Path("c.old").mkdir()
        Path("d.partial").write_text("")
        clear_unfinished(Path())
        assert sorted(os.listdir()) == ["a", "b", "c.old"]
        assert os.listdir("a") == ["old"]
        assert os.listdir("b") == []

    def test_a_rename_that_fails_leaves_the_older_one(self, monkeypatch):
        Path("a").mkdir()
        Path("a/old").write_text("")
        monkeypatch.setattr(writing, "_swapped", lambda one, other: False)
        rename = os.rename

        def failing(one, other):
            if str(one).endswith(".partial"):
                raise OSError(5, "a wire was cut")
            rename(one, other)

        monkeypatch.setattr(writing.os, "rename", failing)
        with pytest.raises(OSError, match="wire"), replacing_folder("a", overwrite=True) as folder:
            (folder / "new").write_text("")
        assert os.listdir() == ["a"]
        assert os.listdir("a") == ["old"]

    def test_an_empty_one_is_filled(self):
        Path("a").mkdir()
        with replacing_folder("a") as folder:
            (folder / "new").write_text("")
        assert os.listdir("a") == ["new"]

    @posix
    def test_modes_are_what_the_umask_leaves(self):
        before = os.umask(0o027)
        try:
            with replacing_folder("a") as folder:
                (folder / "file").write_text("")
                (folder / "file").chmod(0o600)
        finally:
            os.umask(before)
        assert (mode("a"), mode("a/file")) == (0o750, 0o640)

    @posix
    def test_no_link_is_followed_into_another_folder(self):
        Path("precious").mkdir()
        Path("precious/file").write_text("")
        Path("a.partial").symlink_to("precious")
        clear_unfinished(Path())
        Path("a.old").symlink_to("precious")
        remove(Path("a.old"))
        Path("stage").symlink_to("precious")
        new_folder(Path("stage"))
        assert os.listdir("stage") == []
        assert os.listdir("precious") == ["file"]
        assert sorted(os.listdir()) == ["precious", "stage"]


def test_two_encodes_to_one_output_both_leave_a_whole_file():
    """The issue's case: a fixed name next to made one file of two."""
    files, parquet = pytest.importorskip("phonemic.files"), pytest.importorskip("pyarrow.parquet")
    from phonemic import Tokenizer

    vi = Tokenizer("vi")
    with files.ids_writer("o.parquet", vi) as first:
        first(["ba"] * 5000)
        with files.ids_writer("o.parquet", vi) as second:
            second(["mẹ yêu"] * 3)
            first(["bốn"] * 5000)
        assert parquet.read_table("o.parquet").num_rows == 3
    assert parquet.read_table("o.parquet").num_rows == 10_000
