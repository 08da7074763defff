"""Pretraining on a corpus with forms: nothing that belongs together is cut, and what is masked is told by nothing."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("accelerate", reason="needs the model extra")
pytest.importorskip("pyarrow", reason="needs the pretrain extra")

from corpora import write_corpus
from pretraining_helpers import EXPECTED_WARNINGS, settings
from rich.console import Console

from phonemic import Tokenizer
from phonemic.corpus import open_corpus
from phonemic.corpus.options import describe
from phonemic.forms import ESCAPED, beginnings
from phonemic.inventory import FORM_SHIFT, TRIPLE, UNKNOWN_ID
from phonemic_bert import PhonemicBertTokenizer
from phonemic_bert.errors import CorpusError, SettingsError
from phonemic_bert.modeling import IGNORE
from phonemic_bert.pretraining.distillation import readings
from phonemic_bert.pretraining.flat import FlatCorpus
from phonemic_bert.pretraining.run import pretrain, split
from phonemic_bert.pretraining.sequences import pack
from phonemic_bert.tokenization.positions import SPECIAL_IDS

pytestmark = EXPECTED_WARNINGS


def corpus_of(folder, texts, form, **changed):
    tokenizer = Tokenizer("vi", form=form)
    ids = [one.ids for one in tokenizer.encode_batch(texts)]
    return write_corpus(folder, ids, [len(text) for text in texts], describe(tokenizer) | changed)


@pytest.fixture(scope="module")
def texts(vi_lines):
    chance = np.random.default_rng(0)
    words = [*" ".join(vi_lines).split(), "hÀ", "😀", " ", "x\u0301", "\n", "☃\ufe0f"]
    return [" ".join(chance.permutation(words)[: int(size)].tolist()) for size in chance.integers(20, 90, 60)]


@pytest.fixture(scope="module")
def corpora(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("forms")
    return [corpus_of(folder / str(form), texts, form) for form in (True, False)]


def flat(folder):
    return FlatCorpus(open_corpus(folder))


def test_sequences_cut_nothing_and_mask_whole_positions(corpora, texts):
    corpus = flat(corpora[0])
    train, held_out, held = split(corpus, settings())
    tokenizer = PhonemicBertTokenizer("vi", form=True)
    for start, stop in train.packed.tolist():
        for at in (start, stop):
            document = int(corpus.offsets.searchsorted(at, "right")) - 1
            begin = int(corpus.offsets[document])
            ids = corpus.ids[begin : corpus.offsets[min(document + 1, len(corpus))]]
            assert at == begin or at >= corpus.offsets[-1] or beginnings(ids)[at - begin]
    assert set(held.tolist()) | {
        int(corpus.offsets.searchsorted(start, "right")) - 1 for start, _ in train.packed.tolist()
    }
    chosen = 0
    for sequences in (train, held_out):
        for number in range(min(len(sequences), 40)):
            item = sequences[number]
            labels, ids = item["labels"], item["input_ids"]
            masked = labels != IGNORE
            chosen += int(masked.sum())
            assert (ids[masked] == SPECIAL_IDS["[MASK]"]).all()
            assert not ((labels[masked] & TRIPLE) == UNKNOWN_ID).any()
            assert not ((labels[masked] >> FORM_SHIFT) == ESCAPED).any()
    assert chosen > 100
    sequence = int(train.order(0)[0])
    whole, documents, _ = train.unmasked(sequence)
    parts = [
        tokenizer.decode(whole[documents == number], skip_special_tokens=True) for number in range(documents.max())
    ]
    assert all(any(part in text for text in texts) for part in parts)


def test_every_position_is_in_one_sequence(corpora):
    corpus = flat(corpora[0])
    for length in (8, 16, 48):
        found = pack(corpus.offsets, length, (), corpus.ids)
        assert found[0, 0] == 0
        assert found[-1, 1] == len(corpus.ids)
        assert (found[1:, 0] == found[:-1, 1]).all()
        assert (found[:, 1] > found[:, 0]).all()
        plain = pack(corpus.offsets, length)
        assert len(plain) <= len(found) <= 1.3 * len(plain)


def test_a_run_saves_a_tokenizer_with_forms(corpora, tmp_path):
    assert pretrain(settings(), corpora[0], tmp_path / "run", Console(quiet=True)) == 0
    tokenizer = PhonemicBertTokenizer.from_pretrained(tmp_path / "run" / "final")
    assert tokenizer.phonemic.form
    rows = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert all(np.isfinite(value) for row in rows for name, value in row.items() if name.endswith("loss"))
    with pytest.raises(SettingsError, match="ids of another tokenizer"):
        pretrain(
            settings(model__init_checkpoint=str(tmp_path / "run" / "final")),
            corpora[1],
            tmp_path / "more",
            Console(quiet=True),
        )


def test_other_forms_are_refused(tmp_path, texts):
    with pytest.raises(CorpusError, match="forms 00000000"):
        flat(corpus_of(tmp_path / "one", texts[:4], True, forms="00000000"))


@pytest.mark.parametrize("one", [-1, 1 << FORM_SHIFT, 0x02020202, 5 | 7 << 8 | 1 << 16 | 3 << FORM_SHIFT])
def test_ids_that_are_no_positions_are_refused(tmp_path, one):
    tokenizer = Tokenizer("vi", form=True)
    folder = write_corpus(tmp_path / "c", [np.array([one], np.int32)] * 2, [1, 1], describe(tokenizer))
    with pytest.raises(CorpusError, match="it holds"):
        flat(folder)


def test_forms_without_the_option_are_refused(tmp_path, texts):
    ids = [one.ids for one in Tokenizer("vi", form=True).encode_batch(texts[:2])]
    folder = write_corpus(tmp_path / "c", ids, [1, 1], describe(Tokenizer("vi")))
    with pytest.raises(CorpusError, match="it holds ids from"):
        flat(folder)


def test_a_teachers_tokens_are_read_without_forms():
    """A token is read as a triple, however its syllable is written."""
    tokenizer = Tokenizer("zh", form=True)
    texts = ["银行门口", "銀行門口", "银行门口", "长江长长"]
    batch = tokenizer.encode_batch(texts)
    chars = sorted(set("".join(texts)))
    other = SimpleNamespace(
        ids=np.array([chars.index(char) for char in "".join(texts)], np.int32),
        offsets=batch.offsets,
        symbols=SimpleNamespace(shift=4, special=(0, 1, 2, 3)),
        folder="there",
    )

    class Documents(SimpleNamespace):
        def __len__(self):
            return len(self.offsets) - 1

    own = Documents(ids=batch.ids, offsets=batch.offsets, folder="here")
    plain = Documents(ids=batch.ids & TRIPLE, offsets=batch.offsets, folder="here")
    found, want = readings(own, other), readings(plain, other)
    assert all(np.array_equal(one, two) for one, two in zip(found, want, strict=True))
    assert found[0].max() < len(chars) + 4
