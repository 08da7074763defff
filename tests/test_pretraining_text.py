"""Text for checkpoints: nothing of evaluation or held-out text is in it, by a slow comparison of strings."""

import json
import lzma
import random
import unicodedata

import pytest

from benchmarks import pretraining_text
from benchmarks.pretraining_text import HELD_OUT, RUN, compose

pytestmark = pytest.mark.benchmarks

VI = "anh em bạn cây nhà đường phố sông núi trời đất mưa gió sách vở trường lớp hoa quả chim cá chó mèo"
ZH = "天地人山水火木金土日月星风云雨雪春夏秋冬东西南北上下左右大小多少来去开关高低长短"


def units(text, lang):
    """The syllables of a text, without anything between them."""
    text = unicodedata.normalize("NFC", text)
    if lang == "zh":
        return [char for char in text if char in ZH]
    return [word for word in "".join(char if char.isalpha() else " " for char in text).split() if word in VI.split()]


def shares(one, other, lang):
    """Whether two lists of syllables have a run of RUN in common."""
    runs = {tuple(one[at : at + RUN[lang]]) for at in range(len(one) - RUN[lang] + 1)}
    return any(tuple(other[at : at + RUN[lang]]) in runs for at in range(len(other) - RUN[lang] + 1))


def sentences(lang, count, dice):
    alphabet = VI.split() if lang == "vi" else list(ZH)
    made = ([dice.choice(alphabet) for _ in range(dice.randint(20, 40))] for _ in range(count))
    return [(" " if lang == "vi" else "").join(words) for words in made]


@pytest.fixture(params=["vi", "zh"])
def composed(request, tmp_path, monkeypatch):
    """Text that is composed of raw lines, of which some hold a part of an evaluation text of each format."""
    lang, dice = request.param, random.Random(1)
    data, join = tmp_path / "data", "" if request.param == "zh" else " "
    evaluation = sentences(lang, 4, dice)
    folder = data / lang / "task"
    folder.mkdir(parents=True)
    (folder / "lines.txt").write_text(f"label\t{evaluation[0]}\n", "utf-8")
    (folder / "lines.json").write_text(json.dumps({"text": evaluation[1]}) + "\n" + json.dumps({"label": 1}), "utf-8")
    words = evaluation[2].split() if lang == "vi" else list(evaluation[2])
    (folder / "tags.txt").write_text("".join(f"{word}\tO\n" for word in words), "utf-8")
    (folder / "tags.csv").write_text("".join(f"1,2,{word},O\n" for word in evaluation[3].split() or [""]), "utf-8")
    raw = sentences(lang, 3000, dice)
    for number, text in enumerate(evaluation[:3]):
        parts = text.split() if lang == "vi" else list(text)
        raw.insert(100 * number, f"{join.join(parts[2 : 2 + RUN[lang]])}，{raw[number]}")
        raw.insert(100 * number + 1, f"{join.join(parts[2 : 1 + RUN[lang]])}. {raw[number]}")
    raw += raw[:50]
    (data / lang / "raw").mkdir()
    with lzma.open(data / lang / "raw" / "one.txt.xz", "wt", encoding="utf-8") as file:
        file.write("\n".join(raw) + "\n")
    table = tmp_path / "shares.toml"
    table.write_text(f'[{lang}]\n"{lang}/raw/one" = 0.5\n', "utf-8")
    monkeypatch.setattr(pretraining_text, "SHARES", table)
    counts = compose(lang, data, tmp_path / "out")
    parts = {
        part: (tmp_path / "out" / part / "one.txt").read_text("utf-8").splitlines() for part in ("text", "held-out")
    }
    return lang, evaluation, raw, parts, counts[f"{lang}/raw/one"]


def test_nothing_of_evaluation_or_held_out_text_is_read(composed):
    lang, evaluation, _, parts, counts = composed
    judged = [units(text, lang) for text in (*evaluation[:3], *parts["held-out"])]
    assert parts["held-out"]
    assert counts["dropped"] >= 1
    for line in parts["text"]:
        read = units(line, lang)
        assert not any(shares(text, read, lang) for text in judged), line
    assert not any(
        shares(units(text, lang), units(line, lang), lang) for text in evaluation[:3] for line in parts["held-out"]
    )


def test_only_what_shares_a_run_is_dropped_and_the_share_is_met(composed):
    lang, evaluation, raw, parts, counts = composed
    read = set(parts["text"])
    assert read <= set(raw)
    assert counts["lines"] == len(parts["text"])
    assert 0.42 < (counts["lines"] + counts["dropped"]) / len(raw) < 0.58
    judged = [units(text, lang) for text in (*evaluation[:3], *parts["held-out"])]
    gone = counts["dropped"]
    assert gone <= sum(any(shares(text, units(line, lang), lang) for text in judged) for line in raw)
    assert abs(len(parts["held-out"]) - len(raw) / HELD_OUT) < 12


@pytest.mark.parametrize("lang", ["vi", "zh"])
def test_no_sentence_that_checkpoints_are_tested_with_is_read(lang, tmp_path):
    """However short it is; a part of it may be read."""
    asked = [
        line.replace("[", "").replace("]", "").rstrip(".。！？")
        for kind in ("cloze", "sentences")
        for line in (pretraining_text.EXAMPLES / f"{kind}-{lang}.txt").read_text("utf-8").splitlines()
    ]
    assert min(len(line.split() if lang == "vi" else line) for line in asked) < RUN[lang]
    before, after = ("Hôm qua ", " thì phải.") if lang == "vi" else ("昨天他说", "就是这样。")
    half = [line[: len(line) // 3] for line in asked]
    lines = [f"{before}{line}{after}" for line in (*asked, *half)]
    folder = tmp_path / lang / "raw"
    folder.mkdir(parents=True)
    with lzma.open(folder / "one.txt.xz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    counts = compose(lang, tmp_path, tmp_path / "out", {f"{lang}/raw/one": 1.0})
    read = (tmp_path / "out" / "text" / "one.txt").read_text("utf-8").splitlines()
    assert counts[f"{lang}/raw/one"]["dropped"] >= len(asked) - 2
    assert set(read) <= set(lines[len(asked) :])
    assert len(read) >= len(half) - 2
