"""Subclasses of str are read as the characters they hold, whatever they print as; any sequence of str is a batch."""

from collections import UserList, deque
from enum import Enum

import numpy as np
import pytest

from phonemic import Tokenizer
from phonemic.baselines.offsets import scalar
from phonemic.noise.homophones import Homophones
from phonemic.noise.misspellings import Misspellings


class Word(str, Enum):  # noqa: UP042, a StrEnum prints as its characters
    A = "giếng nước"
    VI = "vi"
    PACKED = "packed"
    JOINER = "_"
    ZH = "银行"


class Shouting(str):
    """Answers something else to everything that could be asked instead of its characters."""

    __slots__ = ()

    def __str__(self):
        return "SHOUTED"

    __repr__ = __str__

    def __format__(self, form):
        return "SHOUTED"

    def __getitem__(self, index):
        return "S"

    def __len__(self):
        return 1

    def __iter__(self):
        return iter("SHOUTED")


class Texts(list):
    pass


TEXTS = ["giếng nước", "", "Tôi yêu"]


@pytest.mark.parametrize("text", [Word.A, Shouting("giếng nước"), np.str_("giếng nước")])
def test_one_text(vi, text):
    plain = vi.encode("giếng nước")
    assert vi.encode(text).ids.tolist() == plain.ids.tolist()
    assert vi.encode(text).syllables == plain.syllables
    assert vi.encode(text) == plain
    assert vi.encode_batch([text], spans=True)[0].syllables == plain.syllables
    assert [row.syllables for row in vi.encode_batch([text], spans=True)[:1]] == [plain.syllables]
    assert vi(text)["input_ids"].tolist() == plain.pad()["input_ids"].tolist()
    assert type(scalar(text)) is str


@pytest.mark.parametrize("kind", [Texts, UserList, deque, tuple, np.array, dict.fromkeys, iter])
def test_sequences(vi, kind):
    batch = vi.encode_batch(kind(TEXTS), spans=True)
    assert [row.ids.tolist() for row in batch] == [vi.encode(text).ids.tolist() for text in TEXTS]
    assert [row.text for row in batch] == TEXTS
    assert vi.encode_batch(kind(TEXTS), num_threads=2).ids.tolist() == batch.ids.tolist()


def test_options():
    assert Tokenizer(Word.VI, word_joiner=Word.JOINER, fallback=Word.PACKED) == Tokenizer(
        "vi", word_joiner="_", fallback="packed"
    )
    assert Tokenizer(Word.VI).encode("ba").ids.tolist() == Tokenizer("vi").encode("ba").ids.tolist()
    assert repr(Tokenizer(Word.VI)) == "Tokenizer('vi')"
    zh = Tokenizer("zh", phrases={Word.ZH: Shouting("yin2 xing2")})
    assert zh.phrases == {"银行": "yin2 xing2"}


def test_noise():
    for maker, text in ((Misspellings(["typing"]), "giếng nước"), (Homophones(), "银行")):
        for key in ("", "k"):
            plain = maker.apply(text, 1, key)
            assert maker.apply(Shouting(text), 1, Shouting(key)) == plain
            assert plain.text != text


def test_nltk():
    nltk_phonemic = pytest.importorskip("nltk_phonemic", reason="needs the nltk extra")
    for text in (Word.A, Shouting("giếng nước")):
        made = nltk_phonemic.PhonemicTokenizer("vi")
        assert made.tokenize(text) == ["giếng", "nước"]
        assert made.tokenize_sents([text]) == [["giếng", "nước"]]
    assert nltk_phonemic.PhonemicTagger("vi").tag([Word.A]) == nltk_phonemic.PhonemicTagger("vi").tag(["giếng nước"])
