"""The first steps of a newcomer: the demonstration, and sources that were never built."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import phonemic

ROOT = Path(__file__).parent.parent
SENTENCES = {"vi": ["Cái giếng cổ.", "", "Hoà bình là điều ai cũng muốn."], "zh": ["银行行长。", "重庆很重要。"]}


def demo(*arguments):
    command = [sys.executable, "-X", "utf8", ROOT / "examples" / "demo.py", *arguments]
    environment = {**os.environ, "COLUMNS": "60"}
    return subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8", env=environment).stdout


def test_the_demonstration_shows_both_pages(tmp_path):
    cell_len = pytest.importorskip("rich.cells").cell_len
    shown = demo("--html", tmp_path / "made" / "demo.html")
    page = (tmp_path / "made" / "demo.html").read_text("utf-8")
    assert max(cell_len(line) for line in shown.splitlines() if line[:5] in ("onset", "rime ", "tone ")) <= 60
    for lang in ("vi", "zh"):
        tokenizer = phonemic.Tokenizer(lang, **({"readings": "context"} if lang == "zh" else {}))
        sentences = (ROOT / "examples" / f"sentences-{lang}.txt").read_text("utf-8").splitlines()
        for syllable in (each for text in sentences for each in tokenizer.encode(text) if each.is_native):
            assert syllable.text in page
            assert syllable.ipa in page
    assert "yín háng háng zhǎng zài chóng qìng" in shown
    assert "wǒ xìng zēng , céng jīng zài xī ān" in shown
    assert "cái giếng cổ ở đầu làng" in shown


@pytest.mark.parametrize("lang", ["vi", "zh"])
@pytest.mark.parametrize("name", ["text.txt", "bank.conllu"])
def test_the_demonstration_takes_a_file(tmp_path, lang, name):
    pytest.importorskip("rich")
    prefix = "# text = " if name.endswith("conllu") else ""
    (tmp_path / name).write_text("\r\n".join(f"{prefix}{text}" for text in SENTENCES[lang]), "utf-8", newline="")
    shown = demo(tmp_path / name, "--lang", lang)
    tokenizer, texts = phonemic.Tokenizer(lang), [text for text in SENTENCES[lang] if text]
    assert f"{len(texts)} sentences, {sum(len(tokenizer.encode(text)) for text in texts)} positions" in " ".join(
        shown.split()
    )
    assert tokenizer.decode(tokenizer.encode(texts[0])) in shown


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.txt", None, "No such file or directory"),
        ("text.txt", b"m\xff", "not UTF-8 at byte 1; save the file as UTF-8"),
        ("text.txt", b"", "holds no text"),
        ("text.txt", "\u200b\n".encode(), "holds no text"),
        ("bank.conllu", b"1\ta\n", "holds no text in lines '# text = '"),
    ],
)
def test_the_demonstration_says_what_is_wrong_with_a_file(tmp_path, name, content, said):
    pytest.importorskip("rich")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(subprocess.CalledProcessError) as error:
        demo(tmp_path / name)
    assert (error.value.stdout, error.value.stderr) == ("", f"{tmp_path / name}: {said}\n")


@pytest.mark.skipif(not (shutil.which("make") and (ROOT / "Makefile").is_file()), reason="needs make and its file")
@pytest.mark.parametrize(("name", "words"), [("my file.txt", ["my file.txt"]), ("", [])])
def test_make_demo_takes_a_name_with_spaces(name, words):
    command = ["make", "--dry-run", "demo", f"FILE={name}", "LANG=vi"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    line = next(line for line in done.stdout.splitlines() if "examples/demo.py" in line)
    given = shlex.split(line)
    assert given[given.index("examples/demo.py") + 1 :] == [*words, "--lang", "vi", "--html", "build/demo.html"]


@pytest.mark.skipif(not (shutil.which("make") and (ROOT / "Makefile").is_file()), reason="needs make and its file")
def test_make_demo_builds_all_that_the_demonstration_needs(tmp_path):
    command = ["make", "--dry-run", "--always-make", "demo"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    [built] = re.findall(r'PHONEMIC_ONLY="(.*?)"', done.stdout)
    others = {f"phonemic.{name}" for name in re.findall(r'"phonemic\.(.*?)"', (ROOT / "setup.py").read_text("utf-8"))}
    others -= set(built.split())
    assert others
    script = (
        f"import runpy, sys; sys.modules.update(dict.fromkeys({sorted(others)})); "
        f"sys.argv = ['demo', '--html', 'demo.html']; runpy.run_path({str(ROOT / 'examples' / 'demo.py')!r}, run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True, capture_output=True)


def import_of_copy(folder, *left_out):
    """The last line of what Python says when it imports a copy of the package that lacks some files."""
    shutil.copytree(Path(phonemic.__file__).parent, folder / "phonemic", ignore=shutil.ignore_patterns(*left_out))
    environment = {**os.environ, "PYTHONPATH": str(Path(np.__file__).parents[1])}
    # -S: an editable install would find the parts that the copy lacks
    command = [sys.executable, "-S", "-c", "import phonemic"]
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    return done.stderr.strip().splitlines()[-1]


def test_sources_that_were_not_built_say_what_to_do(tmp_path):
    said = import_of_copy(tmp_path, "*.so", "*.pyd", "*.bin", "__pycache__")
    assert said.startswith("ModuleNotFoundError: No module named 'phonemic.")
    assert str(tmp_path / "phonemic") in said
    assert "pip install -e ." in said


def test_other_modules_that_are_missing_are_named_as_they_are(tmp_path):
    said = import_of_copy(tmp_path, "errors.py", "__pycache__")
    assert said == "ModuleNotFoundError: No module named 'phonemic.errors'"
