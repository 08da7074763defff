"""Gold labels to positions and back: by hand, against slow references, and on every annotated set at hand."""

import unicodedata
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")

from phonemic import Tokenizer, tasks
from phonemic.tasks import Span, TaggedExample
from phonemic_bert import PhonemicBertTokenizer
from phonemic_bert.finetuning.alignment import (
    LabelSet,
    bare,
    labels_of,
    lost,
    own,
    spans_of,
    text_offsets,
    word_labels,
    word_tags_of,
)

LABELS = ("name", "book", "a b", "B-x", "7")


def offsets_of(text, lang="vi", **options):
    return [tuple(span) for span in Tokenizer(lang, **options).encode(text).spans.tolist()]


def spans_in(text, *marked):
    return [Span(text.index(piece), text.index(piece) + len(piece), label) for piece, label in marked]


class TestByHand:
    def test_words_of_several_syllables(self):
        text = "Ông Nguyễn Văn An ở Hà Nội."
        spans = spans_in(text, ("Nguyễn Văn An", "PER"), ("Hà Nội", "LOC"))
        offsets = offsets_of(text)
        assert labels_of(spans, offsets) == ["O", "B-PER", "I-PER", "I-PER", "O", "B-LOC", "I-LOC", "O"]
        assert spans_of(labels_of(spans, offsets), offsets) == tuple(spans)

    def test_several_positions_a_syllable(self):
        """A foreign word is a position a letter; a special symbol stands for nothing."""
        text = "bệnh COVID-19 ở"
        offsets = [(0, 0), *offsets_of(text), (0, 0)]
        labels = labels_of(spans_in(text, ("COVID-19", "D")), offsets)
        assert labels == [None, "O", "B-D", *["I-D"] * 7, "O", None]
        assert spans_of(labels, offsets) == (Span(5, 13, "D"),)

    def test_entities_that_touch(self):
        offsets = [(0, 1), (1, 2), (2, 3)]
        spans = (Span(0, 1, "x"), Span(1, 3, "x"))
        assert labels_of(spans, offsets) == ["B-x", "B-x", "I-x"]
        assert spans_of(["B-x", "B-x", "I-x"], offsets) == spans

    def test_an_entity_within_another(self):
        """As 《招商银行：…》 in CLUENER."""
        text = "《招商银行》"
        spans = (Span(0, 6, "book"), Span(1, 5, "company"))
        labels = labels_of(spans, offsets_of(text, "zh"))
        inner = "I-book + I-company"
        assert labels == ["B-book", "I-book + B-company", inner, inner, inner, "I-book"]
        assert spans_of(labels, offsets_of(text, "zh")) == spans

    def test_a_boundary_within_a_position(self):
        """As many as three letters share a position: vsac|米兰."""
        text = "都灵vsac米兰"
        offsets = offsets_of(text, "zh", fallback="packed")
        assert offsets == [(0, 1), (1, 2), (2, 5), (5, 6), (6, 7), (7, 8)]
        spans = (Span(0, 2, "org"), Span(4, 8, "org"))
        labels = labels_of(spans, offsets)
        assert labels == ["B-org", "I-org", "B-org@2:3", "I-org", "I-org", "I-org"]
        assert spans_of(labels, offsets) == spans
        assert labels_of([Span(2, 3, "a"), Span(3, 5, "b")], offsets)[2] == "B-a@0:1 + B-b@1:3"

    def test_nfd(self):
        text = unicodedata.normalize("NFD", "ở Đà Nẵng đó")
        place = unicodedata.normalize("NFD", "Đà Nẵng")
        offsets = offsets_of(text)
        labels = labels_of(spans_in(text, (place, "LOC")), offsets)
        assert labels == ["O", "B-LOC", "I-LOC", "O"]
        assert spans_of(labels, offsets) == tuple(spans_in(text, (place, "LOC")))

    def test_bytes_of_a_character(self):
        """Only the first position of a character counts; the others are ignored, whatever is predicted there."""
        offsets = [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]
        assert own(offsets) == [(0, 1), (1, 2), (2, 2), (2, 2), (2, 3)]
        labels = labels_of([Span(1, 3, "x")], offsets)
        assert labels == ["O", "B-x", None, None, "I-x"]
        assert spans_of(["O", "B-x", "B-x", "O", "I-x"], offsets) == (Span(1, 3, "x"),)

    def test_predictions_that_do_not_fit(self):
        offsets = [(0, 1), (1, 2), (2, 3), (4, 5)]
        assert spans_of(["I-x", "I-y", "O", "I-y"], offsets) == (
            Span(0, 1, "x"),
            Span(1, 2, "y"),
            Span(4, 5, "y"),
        )
        # parts of a position that is shorter
        assert spans_of(["B-x@0:3", "I-x@2:3", "O", "O"], offsets) == (Span(0, 1, "x"),)
        with pytest.raises(ValueError, match=r"'x' is not a label of a position"):
            spans_of(["x"], [(0, 1)])

    def test_a_tokenizer_that_counts_white_space_in(self):
        tokenizers = pytest.importorskip("tokenizers")
        library = tokenizers.Tokenizer(tokenizers.models.WordLevel({"▁ở": 0, "▁Huế": 1, "?": 2}, unk_token="?"))
        library.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        text = "ở Huế"
        offsets = library.encode(text).offsets
        assert offsets == [(0, 1), (1, 5)]
        assert labels_of([Span(2, 5, "LOC")], offsets) == ["O", "B-LOC@1:4"]
        assert bare(offsets, text) == [(0, 1), (2, 5)]
        assert labels_of([Span(2, 5, "LOC")], bare(offsets, text)) == ["O", "B-LOC"]

    def test_what_cannot_be_told(self):
        for label in ("a + b", "a@1:2"):
            with pytest.raises(ValueError, match=r"cannot be the name of a label"):
                labels_of([Span(0, 1, label)], [(0, 1)])
        with pytest.raises(ValueError, match=r"'a \+ b' cannot be the name of a tag"):
            word_labels(["a + b"], [(0, 1)], [(0, 1)])

    def test_what_is_lost(self):
        """White space at the end of a span is in no position; an entity of it alone is lost as a whole."""
        offsets = [(0, 1), (2, 3)]
        spans = [Span(0, 1, "x"), Span(2, 4, "x"), Span(1, 2, "x")]
        labels = labels_of(spans, offsets)
        assert labels == ["B-x", "B-x"]
        assert lost(spans, labels, offsets) == 2
        assert lost([Span(0, 1, "x")] * 2, labels_of([Span(0, 1, "x")] * 2, offsets), offsets) == 0


class TestWords:
    def test_first_positions(self):
        text = "sinh viên học COVID"
        words, offsets = [(0, 9), (10, 13), (14, 19)], offsets_of(text)
        labels = word_labels(["N", "V", "Np"], words, offsets)
        assert labels == ["N", None, "V", "Np", None, None, None, None]
        assert word_tags_of(labels, words, offsets) == ["N", "V", "Np"]
        # what is predicted elsewhere is not read
        assert word_tags_of(["N", "X", "V", "Np", "X", "X", "X", "X"], words, offsets) == ["N", "V", "Np"]

    def test_two_words_in_a_position(self):
        words, offsets = [(0, 1), (1, 2), (2, 3)], [(0, 2), (2, 3)]
        labels = word_labels(["a", "b", "c"], words, offsets)
        assert labels == ["a + b", "c"]
        assert word_tags_of(labels, words, offsets) == ["a", "b", "c"]
        assert word_tags_of(["a", "c"], words, offsets) == ["a", "a", "c"]

    def test_words_without_positions(self):
        """A mark in a token of its own goes with the position behind it, the last one with the one before."""
        words, offsets = [(0, 1), (1, 2), (2, 3), (3, 4)], [(0, 1), (2, 3), (0, 0)]
        labels = word_labels(["a", "m", "b", "n"], words, offsets)
        assert labels == ["a", "m + b + n", None]
        assert word_tags_of(labels, words, offsets) == ["a", "m", "b", "n"]
        assert word_labels(["a"], [(0, 1)], []) == []
        assert word_tags_of([], [(0, 1)], [], missing="x") == ["x"]

    def test_given_words(self):
        words = [(0, 2), (3, 8)]
        assert text_offsets([(0, 0), (0, 2), (0, 2), (3, 5), (0, 0)], [None, 0, 1, 1, None], words) == [
            (0, 0),
            (0, 2),
            (3, 5),
            (6, 8),
            (0, 0),
        ]

    @given(st.data())
    def test_come_back(self, data):
        offsets, size = data.draw(positions())
        cuts = sorted(data.draw(st.sets(st.integers(0, size), max_size=8)))
        words = list(pairwise(cuts))
        tags = [data.draw(st.sampled_from("NVAX")) for _ in words]
        labels = word_labels(tags, words, offsets)
        assert len(labels) == len(offsets)
        if any(end > start for start, end in offsets):
            assert word_tags_of(labels, words, offsets) == tags


class TestLabelSet:
    ROWS = (["O", "B-x", "I-x", None], ["B-x@0:1 + B-y@1:2", "I-y + B-z", "O"], ["I-y + B-z"])

    def test_rare_ones_are_simplified(self):
        labels = LabelSet(self.ROWS, min_count=2)
        assert labels.labels == ("B-x", "I-x", "I-y", "I-y + B-z", "O")
        assert len(labels) == 5
        assert labels.simplify("B-x@0:1 + B-y@1:2") == "B-x"
        assert labels.simplify("I-y + B-z") == "I-y + B-z"
        assert labels.simplify("B-new") == "O"
        assert labels.simplify(None) is None
        assert (labels.number("O"), labels.number("B-x@1:2"), labels.number(None)) == (4, 0, -100)

    def test_plain_ones_are_kept_however_rare(self):
        assert LabelSet([["N", "V", "N + V"]], min_count=9).labels == ("N", "V")
        assert LabelSet([["N", "V", "N + V"]]).labels == ("N", "N + V", "V")
        assert LabelSet([["N"]]).number("V") == -100

    def test_what_is_lost_by_it_is_counted(self):
        offsets = [(0, 2), (2, 4)]
        spans = [Span(0, 1, "x"), Span(2, 4, "y")]
        learned = LabelSet([["O", "B-x", "B-y"]])
        labels = [learned.simplify(label) for label in labels_of(spans, offsets)]
        assert labels == ["B-x", "B-y"]
        assert lost(spans, labels, offsets) == 1


@st.composite
def positions(draw, gaps=True, overlaps=True):
    """Positions with gaps, empty ones, and several for one character; and the length of the text."""
    found, at = [], 0
    for _ in range(draw(st.integers(0, 8))):
        at += draw(st.integers(0, 2)) if gaps else 0
        back = draw(st.integers(0, 1)) if overlaps and found else 0
        start = max(at - back, found[-1][0] if found else 0)
        end = max(start + draw(st.integers(0 if gaps else 1, 3)), found[-1][1] if found else 0)
        found.append((start, end))
        at = end
    return found, at + (draw(st.integers(0, 2)) if gaps else 0)


@st.composite
def annotated(draw, **options):
    """Positions, and spans of which those of one label do not overlap."""
    offsets, size = draw(positions(**options))
    spans = []
    for label in LABELS[: draw(st.integers(0, 3))]:
        cuts = sorted(draw(st.sets(st.integers(0, size), max_size=6)))
        pairs = list(pairwise(cuts))
        spans += [Span(start, end, label) for start, end in pairs if draw(st.booleans())]
    return offsets, draw(st.permutations(spans))


def by_character(spans, offsets):
    """A slow reference: the characters of each position, each with the spans it is in and whether it begins there."""
    taken, labels = set(), []
    order = sorted(spans, key=lambda span: (span.start, -span.end, span.label))
    begun = set()
    for start, end in offsets:
        chars = [char for char in range(start, end) if char not in taken]
        taken |= set(range(end))
        parts = []
        for number, span in enumerate(order):
            inside = [at for at, char in enumerate(chars) if span.start <= char < span.end]
            if inside:
                part = ("I-" if number in begun else "B-") + span.label
                begun.add(number)
                parts.append(part if len(inside) == len(chars) else f"{part}@{inside[0]}:{inside[-1] + 1}")
        labels.append(" + ".join(parts) or "O" if chars else None)
    return labels


class TestAgainstReferences:
    @given(annotated())
    def test_labels(self, sample):
        offsets, spans = sample
        assert labels_of(spans, offsets) == by_character(spans, offsets)

    @given(annotated())
    def test_spans_come_back_as_far_as_positions_reach(self, sample):
        offsets, spans = sample
        covered = {char for start, end in offsets for char in range(start, end)}
        expected = []
        for span in spans:
            inside = [char for char in range(span.start, span.end) if char in covered]
            if inside:
                expected.append(Span(inside[0], inside[-1] + 1, span.label))
        found = spans_of(labels_of(spans, offsets), offsets)
        assert sorted(found, key=repr) == sorted(expected, key=repr)
        kept = [one for one in spans if one in expected]
        assert lost(spans, labels_of(spans, offsets), offsets) == len(spans) - len(kept)

    @given(annotated(gaps=False))
    def test_nothing_is_lost_where_every_character_has_a_position(self, sample):
        offsets, spans = sample
        assert lost(spans, labels_of(spans, offsets), offsets) == 0

    @given(annotated(gaps=False, overlaps=False), st.data())
    def test_seqeval_reads_plain_labels_the_same(self, sample, data):
        entities = pytest.importorskip("seqeval.metrics.sequence_labeling", reason="needs seqeval").get_entities
        offsets, _ = sample
        labels = data.draw(
            st.lists(st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"]), min_size=len(offsets), max_size=len(offsets))
        )
        expected = {(label, offsets[first][0], offsets[last][1]) for label, first, last in entities(labels)}
        assert {(span.label, span.start, span.end) for span in spans_of(labels, offsets)} == expected


# --- every annotated set at hand


def columns(path):
    """``token tag`` lines, an empty line after a sentence."""
    rows = []
    for line in [*path.read_text("utf-8").split("\n"), ""]:
        if line.strip():
            rows.append(line.rsplit("\t" if "\t" in line else None, 1))
        elif rows:
            yield [word for word, _ in rows], [tag.strip() for _, tag in rows]
            rows = []


def treebank(path):
    """Words and universal parts of speech of CoNLL-U."""
    rows = []
    for line in [*path.read_text("utf-8").split("\n"), ""]:
        cells = line.split("\t")
        if cells[0].isdigit():
            rows.append((cells[1], cells[3]))
        elif not line.strip() and rows:
            yield [word for word, _ in rows], [tag for _, tag in rows]
            rows = []


def example(words, tags, joiner, entities):
    tokens, at = [], 0
    for word in words:
        tokens.append((at, at + len(word)))
        at += len(word) + len(joiner)
    spans = []
    for (start, end), tag in zip(tokens, tags, strict=True):
        if not entities:
            spans.append(Span(start, end, tag))
        elif tag[:2] == "I-" and spans and spans[-1].end + len(joiner) == start and spans[-1].label == tag[2:]:
            spans[-1] = Span(spans[-1].start, end, tag[2:])
        elif tag != "O":
            spans.append(Span(start, end, tag[2:]))
    return TaggedExample(joiner.join(words), tuple(spans), tuple(tokens), tuple(tags))


def read(name, folder):
    """Language and examples of a set."""
    if name in tasks.names():
        dataset = tasks.get(name)
        found = [one for split in dataset.present(folder) for one in dataset.read(folder, split)]
        return dataset.lang, [one for one in found if one.spans is not None]
    if name == "weibo":
        paths = sorted(folder.glob("*conll*"))
        rows = [([word[:-1] for word in words], tags) for path in paths for words, tags in columns(path)]
        return "zh", [example(words, tags, "", True) for words, tags in rows]
    if name == "vietbioner":
        rows = [row for path in sorted(folder.rglob("*.txt")) for row in columns(path)]
        return "vi", [example(words, tags, " ", True) for words, tags in rows]
    lang = "vi" if "vtb" in name else "zh"
    rows = [row for path in sorted(folder.glob("*.conllu")) for row in treebank(path)]
    return lang, [example(words, tags, " " if lang == "vi" else "", False) for words, tags in rows]


#: Where they lie, and how many annotated spans they hold.
SETS = {
    "cluener": ("zh/cluener", 27_043),
    "vihos": ("vi/vihos", 12_669),
    "weibo": ("zh/weibo_ner", 2_702),
    "vietbioner": ("vi/vietbioner", 3_334),
    "vtb": ("vi/ud_vtb", 58_069),
    "gsd": ("zh/ud_gsd", 123_283),
    "gsdsimp": ("zh/ud_gsdsimp", 24_675),
}


PACKED, FORM = {"fallback": "packed"}, {"form": True}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in SETS),
        *(("cluener", PACKED), ("gsdsimp", PACKED)),
        *(("cluener", FORM), ("vihos", FORM)),
    ],
)
def test_gold_labels_survive(data, name, options):
    """Gold to positions and back, 100 %: spans of characters, and tags of words; every fourth example."""
    folder, count = SETS[name]
    lang, examples = read(name, data(folder))
    assert sum(len(one.spans) for one in examples) == count
    examples = examples[::4]
    batch = Tokenizer(lang, **options).encode_batch([one.text for one in examples], spans=True)
    for one, encoding in zip(examples, batch, strict=True):
        offsets = [tuple(span) for span in encoding.spans.tolist()]
        labels = labels_of(one.spans, offsets)
        assert Counter(spans_of(labels, offsets)) == Counter(one.spans)
        if one.tokens:
            tags = word_labels(one.tags, one.tokens, offsets)
            assert word_tags_of(tags, one.tokens, offsets) == list(one.tags)


@pytest.mark.parametrize("name", ["Subword", "SubChar-Pinyin", "SubChar-Wubi"])
def test_joined_labels_express_what_other_tokenizers_cut_elsewhere(data, name):
    """All comes back while every label may be had; with plain ones alone some does not, and is counted."""
    pytest.importorskip("sentencepiece", reason="the baselines need sentencepiece")
    from phonemic import baselines

    tokenizer = baselines.load(name, data("tokenizers"))
    _, examples = read("cluener", data("zh/cluener"))
    examples = examples[:400]
    rows = [spans for _, spans in tokenizer.encode_batch_with_spans([one.text for one in examples])]
    labelled = [labels_of(one.spans, offsets) for one, offsets in zip(examples, rows, strict=True)]
    every, plain = LabelSet(labelled), LabelSet(labelled, min_count=10**9)
    counts = []
    for labels in (every, plain):
        counts.append(0)
        for one, offsets, row in zip(examples, rows, labelled, strict=True):
            counts[-1] += lost(one.spans, [labels.simplify(label) for label in row], offsets)
    assert counts[0] == 0
    assert counts[1] > 0
    assert not any("@" in label or " + " in label for label in plain.labels)


def test_bytes_and_white_space_of_forms_lose_nothing():
    """A character's first byte has its label; white space in an entity continues with it."""
    text = "Ông  Nguyễn  Văn A ở hÀ Nội 😀\nx\u0301"
    spans = (Span(5, 18, "PER"), Span(21, 27, "LOC"), Span(28, 29, "EMO"))
    tokenizer = PhonemicBertTokenizer("vi", form=True)
    offsets = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)["offset_mapping"]
    labels = labels_of(spans, offsets)
    assert spans_of(labels, offsets) == spans
    plain = PhonemicBertTokenizer("vi")(text, return_offsets_mapping=True, add_special_tokens=False)["offset_mapping"]
    named = dict(zip(own(offsets), labels, strict=True))
    assert [named[span] for span in plain] == labels_of(spans, plain)
