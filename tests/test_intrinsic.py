"""Intrinsic measures of any tokenizer: by hand, in tables and plots, as a stream, and against the paper's figures."""

from __future__ import annotations

import json
import math
import tracemalloc
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import Tokenizer, baselines, intrinsic, tasks
from phonemic.intrinsic import CorpusStatistics, TokenStatistics
from phonemic.intrinsic.tabulation import cells, latex, markdown, pivot
from phonemic.metrics import renyi_efficiency


class Letters(baselines.Baseline):
    """a, b and c have ids 1, 2 and 3; any other letter is unknown; a space is dropped."""

    name, langs, folder, vocab_size, unknown_id = "Letters", ("vi", "zh"), "letters", 8, 0

    def ids(self, texts):
        return [["?abc".find(char) * (char in "abc") for char in text if not char.isspace()] for text in texts]

    def unknown(self, texts):
        return Counter(char for text in texts for char in text if not char.isspace() and char not in "abc")


@pytest.fixture
def letters(tmp_path):
    return Letters(tmp_path)


def measured(tokenizer, lang, *texts, **options):
    (row,) = intrinsic.measure("text", lang, [list(texts)], {"it": tokenizer}, **options)
    return row


class TestByHand:
    def test_vietnamese(self, letters):
        row = measured(letters, "vi", "ab a xy", "A x.", "")
        # tokens a b a x y | A x . | : a 2, b 1, x 2, y 1, A 1, . 1
        assert (row["texts"], row["units"], row["positions"]) == (3, 5, 8)
        assert row["fertility"] == 8 / 5
        assert row["average_input_length"] == 5 / 3
        assert row["average_length"] == 8 / 3
        assert row["unknown_share"] == 5 / 8
        power = 2 * (2 / 8) ** 2.5 + 4 * (1 / 8) ** 2.5
        assert row["renyi_efficiency"] == pytest.approx(math.log(power) / -1.5 / math.log(8))
        assert row["renyi_efficiency_unk"] == pytest.approx(renyi_efficiency([2, 1, 5], 8))
        # written units: ab a xy a x .
        assert (row["occurrences"], row["types"]) == (6, 5)
        assert (row["token_coverage"], row["type_coverage"]) == (2 / 6, 1 / 5)

    def test_chinese(self, letters):
        row = measured(letters, "zh", "ab 天", "天天")
        assert (row["occurrences"], row["types"], row["average_input_length"]) == (5, 3, 5 / 2)
        assert (row["token_coverage"], row["type_coverage"]) == (2 / 5, 2 / 3)

    def test_more_kinds_of_token_than_entries(self, letters):
        row = measured(letters, "vi", "abcdefgh")
        assert row["renyi_efficiency"] is not None
        row = measured(letters, "vi", "abcdefghi")
        assert row["renyi_efficiency"] is None
        assert row["renyi_efficiency_unk"] == pytest.approx(renyi_efficiency([6, 1, 1, 1], 8))

    def test_nothing_is_none(self, letters):
        row = measured(letters, "vi")
        assert (row["texts"], row["fertility"], row["renyi_efficiency"], row["ranks"]) == (0, None, None, [])
        json.dumps(row, allow_nan=False)

    @given(st.lists(st.text("abcde .1", max_size=12), max_size=8), st.integers(1, 5))
    def test_parts_are_the_whole(self, texts, size):
        parts = [texts[start : start + size] for start in range(0, len(texts), size)]
        tokenizers = {"Letters": Letters(None), "Phonemic": Tokenizer("vi")}
        assert intrinsic.measure("x", "vi", parts, tokenizers) == intrinsic.measure("x", "vi", [texts], tokenizers)

    @given(st.lists(st.text("ab ", max_size=9), min_size=1, max_size=9))
    def test_plain_python_agrees(self, texts):
        corpus = CorpusStatistics("vi")
        found = TokenStatistics(Letters(None), corpus)
        for text in texts:
            corpus.update([text])
            found.update([text])
        tokens = [char for text in texts for char in text if char != " "]
        assert found.positions == len(tokens)
        assert found.frequencies.tolist() == sorted(filter(None, (tokens.count("a"), tokens.count("b"))), reverse=True)
        assert corpus.units == sum(len(text.split()) for text in texts)


def test_ours_is_what_statistics_says():
    from phonemic.metrics import Statistics

    texts = ["Trời mưa to, covid19!", "", "đường trơn"]
    statistics = Statistics(Tokenizer("vi"))
    statistics.update(texts)
    row = measured(Tokenizer("vi"), "vi", *texts, alpha=2)
    assert {key: row[key] for key in statistics.summary(2)} == statistics.summary(2)
    assert dict(map(tuple, row["renyi_curve"]))[2.5] == statistics.renyi_efficiency()
    assert [share for _, share in row["ranks"]] == sorted((share for _, share in row["ranks"]), reverse=True)
    assert row["ranks"][0] == [1, statistics.counts.max() / statistics.counts.sum()]


def test_normal_form():
    composed, apart = (measured(Letters(None), "vi", "bé ba", form=form) for form in ("NFC", "NFD"))
    assert (composed["positions"], apart["positions"]) == (4, 5)
    assert (composed["form"], apart["form"]) == ("NFC", "NFD")
    assert composed["types"] == apart["types"] == 2


def test_available(tmp_path):
    (tmp_path / "mbert").mkdir()
    (tmp_path / "mbert/vocab.txt").write_text("[UNK]\n")
    assert intrinsic.available("vi", tmp_path) == ["mBERT", "DistilBERT", "Phonemic", "Phonemic-packed"]


def test_packed_is_ours():
    names = intrinsic.tokenizers(["Phonemic", "Phonemic-packed"], "vi")
    assert [measured(tokenizer, "vi", "covid")["positions"] for tokenizer in names.values()] == [5, 2]


ROWS = [
    {"dataset": "A & B", "form": None, "lang": "vi", "tokenizer": name, "vocab_size": size, "fertility": fertility}
    | {"renyi_efficiency": 0.51234, "average_input_length": 3.0, "average_length": 4.567}
    | {"token_coverage": 0.5, "type_coverage": None, "unknown_share": 0.01}
    for name, size, fertility in (("x_y", 1234, 1.5), ("Phonemic", 256, None))
]


class TestTables:
    def test_cells(self):
        heading, first, second = cells(ROWS)
        assert dict(zip(heading, first, strict=True)) == {
            "dataset": "A & B",
            "tokenizer": "x_y",
            "entries": "1,234",
            "fertility": "1.5000",
            "Rényi": "0.5123",
            "input": "3.00",
            "length": "4.57",
            "token coverage": "50.0%",
            "type coverage": "-",
            "unknown": "1.00%",
        }
        assert second[3] == "-"

    def test_chinese_has_no_fertility(self):
        assert "fertility" not in cells([row | {"lang": "zh"} for row in ROWS])[0]

    def test_one_list_of_texts_is_refused(self):
        with pytest.raises(TypeError, match="texts are lists of str"):
            intrinsic.measure("x", "vi", ["Trời mưa to."], {"Phonemic": Tokenizer("vi")})

    def test_pivot(self):
        assert pivot(ROWS, "fertility", ["average_input_length"]) == [
            ["dataset", "input", "x_y", "Phonemic"],
            ["A & B", "3.00", "1.5000", "-"],
        ]
        assert pivot([*ROWS, ROWS[0] | {"dataset": "C"}], "fertility")[2] == ["C", "1.5000", "-"]

    def test_forms_are_lines_of_their_own(self):
        rows = [ROWS[0] | {"form": form, "fertility": value} for form, value in (("NFC", 1.5), ("NFD", 2.0))]
        assert pivot(rows, "fertility")[1:] == [["A & B NFC", "1.5000"], ["A & B NFD", "2.0000"]]

    def test_markdown(self):
        assert (
            markdown([["a|b", "n"], ["c", "1"], ["d", "-"]])
            == r"""| a\|b | n |
| --- | ---: |
| c | 1 |
| d | - |"""
        )

    def test_latex(self):
        assert (
            latex([["a_b", "50%"], ["c & d", "1"]])
            == r"""\begin{tabular}{lr}
\toprule
a\_b & 50\% \\
\midrule
c \& d & 1 \\
\bottomrule
\end{tabular}"""
        )

    def test_formats(self):
        assert json.loads(intrinsic.table(ROWS, "json")) == ROWS
        assert intrinsic.table(ROWS, "latex").count(r"\\") == 3
        assert intrinsic.table(ROWS, "markdown").count("\n") == 3
        with pytest.raises(ValueError, match="no format 'csv'"):
            intrinsic.table(ROWS, "csv")


class TestPlots:
    @pytest.fixture
    def rows(self):
        tokenizers = {"Letters": Letters(None), "Phonemic": Tokenizer("vi")}
        found = intrinsic.measure("one", "vi", [["ba bà", "ăn cơm"]], tokenizers)
        return found + intrinsic.measure("hai", "zh", [["今天", ""]], {"Phonemic": Tokenizer("zh")})

    def test_every_kind(self, rows, tmp_path):
        pytest.importorskip("matplotlib", reason="plots need matplotlib")
        from phonemic.intrinsic.plots import draw

        files = draw(rows, tmp_path / "new")
        kinds = [f"intrinsic-{kind}-{lang}.svg" for lang in ("vi", "zh") for kind in KINDS]
        assert [file.name for file in files] == [kind for kind in kinds if kind != "intrinsic-fertility-zh.svg"]
        before = [file.read_bytes() for file in files]
        assert all(picture.startswith(b"<?xml") and len(picture) > 5000 for picture in before)
        assert [file.read_bytes() for file in draw(rows, tmp_path / "new")] == before

    def test_colours_differ(self):
        pytest.importorskip("matplotlib", reason="plots need matplotlib")
        from phonemic.intrinsic.plots import _colours

        names = ["Phonemic-packed", "mBERT", "XLM-R", "Phonemic", "Letters"]
        colours = _colours(names)
        assert list(colours) == names
        assert len(set(colours.values())) == len(names)

    def test_only_some(self, rows, tmp_path):
        pytest.importorskip("matplotlib", reason="plots need matplotlib")
        from phonemic.intrinsic.plots import draw

        (file,) = draw(rows, tmp_path, "png", ["intrinsic-ranks-vi"])
        assert file.read_bytes().startswith(b"\x89PNG")

    def test_bars_have_the_measured_heights(self, rows, monkeypatch):
        figures = pytest.importorskip("matplotlib.figure", reason="plots need matplotlib")
        from phonemic.intrinsic.plots import _bars

        figure = figures.Figure()
        _bars(figure, rows[:2], "fertility", "fertility")
        (axes,) = figure.axes
        assert [bar.get_height() for bar in axes.patches] == [row["fertility"] for row in rows[:2]]
        assert [text.get_text() for text in figure.legends[0].get_texts()] == ["Letters", "Phonemic"]


KINDS = ("renyi", "length", "fertility", "ranks", "alpha")


def test_memory_does_not_grow_with_the_texts(letters):
    def peak(count):
        texts = ([f"bà con {number % 97} abc xyz"] * 20 for number in range(count))
        tokenizers = {"Letters": letters, "Phonemic": Tokenizer("vi")}
        tracemalloc.start()
        try:
            (row, _) = intrinsic.measure("long", "vi", texts, tokenizers)
            return row["texts"], tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    (few, low), (many, high) = peak(100), peak(800)
    assert many == 8 * few
    assert high < 1.1 * low + 50_000


def test_a_long_list_is_taken_in_parts():
    sizes = [len(part) for part in intrinsic.chunks(["abcd"] * 10, 12)]
    assert sizes == [3, 3, 3, 1]
    assert list(intrinsic.chunks([])) == []


# --- the paper's figures on real data


CLUENER = {  # the paper, sections 6.2.1 and 6.2.2
    "Character": (37.39, 0.4988),
    "Subword": (32.93, 0.5149),
    "SubChar-Wubi": (24.65, 0.5261),
    "SubChar-Pinyin": (25.02, 0.5351),
}

#: Average length and Rényi efficiency of the same four. The baselines' Rényi figures of TNEWS are the ones that the paper
#: prints in the row of IFLYTEK.
PAPER = {
    "afqmc": ((13.35, 12.51, 10.98, 10.53), (0.3741, 0.3667, 0.3256, 0.3482)),
    "tnews": ((22.24, 20.32, 15.96, 16.18), (0.5242, 0.5389, 0.5507, 0.5497)),
    "ocnli": ((17.82, 15.58, 12.03, 12.41), (0.4772, 0.4915, 0.5257, 0.5202)),
    "cmrc": ((262.02, 230.67, 170.38, 171.97), (0.4982, 0.5264, 0.5451, 0.5550)),
}


def on_data(data, name, names, splits=None, lang="zh"):
    for package in ("sentencepiece", "tokenizers"):
        pytest.importorskip(package, reason=f"the baselines need {package}")
    root = data("tokenizers").parent
    dataset = tasks.get(name)
    tokenizers = intrinsic.tokenizers(names, lang, data("tokenizers"))
    texts = dataset.texts(dataset.find(root), splits)
    rows = intrinsic.measure(dataset.title, lang, intrinsic.chunks(texts), tokenizers)
    return {row["tokenizer"]: row for row in rows}


def test_cluener_to_the_last_digit(data):
    data("zh/cluener/train.json")
    rows = on_data(data, "cluener", [*CLUENER, "Phonemic"], ("train", "dev"))
    for name, (length, efficiency) in CLUENER.items():
        assert (round(rows[name]["average_length"], 2), round(rows[name]["renyi_efficiency"], 4)) == (
            length,
            efficiency,
        )
    ours = rows["Phonemic"]
    assert round(ours["average_length"], 2) == round(ours["average_input_length"], 2) == 37.39
    assert ours["renyi_efficiency"] == pytest.approx(0.6970, abs=0.01)


@pytest.mark.parametrize("name", PAPER)
def test_near_the_paper_where_only_a_part_is_at_hand(data, name):
    lengths, efficiencies = PAPER[name]
    rows = on_data(data, name, list(CLUENER))
    for tokenizer, length, efficiency in zip(CLUENER, lengths, efficiencies, strict=True):
        row = rows[tokenizer]
        assert row["renyi_efficiency"] == pytest.approx(efficiency, rel=0.01)
        # OCNLI has 10,000 of its 50,000 training pairs here; CMRC has dev alone
        assert row["average_length"] == pytest.approx(length, rel=0.02)


@pytest.mark.parametrize(("name", "efficiency"), [("tnews", 0.6993), ("ocnli", 0.6651), ("cmrc", 0.7099)])
def test_ours_near_the_paper(data, name, efficiency):
    assert on_data(data, name, ["Phonemic"])["Phonemic"]["renyi_efficiency"] == pytest.approx(efficiency, rel=0.01)


def test_vsfc(data):
    pytest.importorskip("pyvi", reason="PhoBERT needs pyvi")
    names = ["PhoBERT-unsegmented", "mBERT", "XLM-R", "Phonemic"]
    rows = on_data(data, "uit-vsfc", names, lang="vi")
    ours = rows["Phonemic"]
    assert round(ours["average_input_length"], 2) == 14.23
    assert (ours["types"], ours["occurrences"]) == (2_451, 231_582)
    assert abs(ours["native_types"] - 2_019) <= 10
    assert abs(ours["native_occurrences"] - 200_519) <= 10
    assert round(ours["occurrences"] / ours["units"], 4) == 1.0062  # what the paper calls our fertility
    found = {name: tuple(round(rows[name][key], 4) for key in ("fertility", "renyi_efficiency")) for name in names[:3]}
    assert found == {"PhoBERT-unsegmented": (1.0208, 0.3701), "mBERT": (1.0842, 0.3572), "XLM-R": (1.1381, 0.2885)}


def test_nfd_breaks_the_baselines_and_not_ours(data):
    pytest.importorskip("tokenizers", reason="the baselines need tokenizers")
    lines = data("vi/vsfc/dev/sents.txt").read_text("utf-8").split("\n")
    tokenizers = intrinsic.tokenizers(["mBERT", "PhoBERT-unsegmented", "Phonemic"], "vi", data("tokenizers"))
    composed, apart = (
        {row["tokenizer"]: row["fertility"] for row in intrinsic.measure("x", "vi", [lines], tokenizers, form=form)}
        for form in ("NFC", "NFD")
    )
    assert composed["Phonemic"] == apart["Phonemic"]
    assert apart["PhoBERT-unsegmented"] > 2 * composed["PhoBERT-unsegmented"]
    assert apart["mBERT"] > 1.2 * composed["mBERT"]


def test_six_tones_bound_the_efficiency():
    """The 256 entries of docs/results/tokenizers.md: a third of the mass on six tones, the rest spread without end."""
    bound = math.log(6 * (1 / 18) ** 2.5) / -1.5 / math.log(256)
    assert round(bound, 3) == 0.653
    texts = [" ".join(unicodedata.normalize("NFC", "bà bá bả bã bạ ba".replace("b", onset)) for onset in "bmnltđ")]
    assert measured(Tokenizer("vi"), "vi", *texts)["renyi_efficiency"] < bound
