"""PhonemicHashEmbed: its columns against the slow way, what it learns, what it refuses, saving."""

import subprocess
import sys
import unicodedata

import numpy as np
import pytest

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")

from spacy.strings import get_string_id  # noqa: E402
from spacy.tokens import Doc  # noqa: E402
from spacy.training import Example  # noqa: E402
from spacy.util import fix_random_seed, registry  # noqa: E402
from spacy_helpers import PLAIN_VI, SYLLABLES, VI, ZH  # noqa: E402

from phonemic import Tokenizer  # noqa: E402
from phonemic.noise import Misspellings  # noqa: E402
from spacy_phonemic.columns import MASKS, ROWS, token_columns  # noqa: E402
from spacy_phonemic.hash_embed import phonemic_hash_embed  # noqa: E402
from spacy_phonemic.noise import changed_words  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

SPELLING = {"attrs": ["NORM", "SHAPE"], "rows": [100, 50]}


def docs_of(lang, texts, config=SYLLABLES):
    nlp = spacy.blank(lang, config=config)
    return [nlp.make_doc(text) for text in texts]


def expected(doc, lang, components):
    """For each token the parts of its first and last position, 0 where it has none."""
    encoding = Tokenizer(lang).encode(doc.text)
    vocab = encoding.vocabulary
    for token in doc:
        own = [
            vocab.unpack(packed)
            for packed, (start, end) in zip(encoding.ids.tolist(), encoding.spans.tolist(), strict=True)
            if start < token.idx + len(token.text) and end > token.idx
        ]
        for name in components:
            for place in (0, -1):
                if not own:
                    yield None
                    continue
                onset, rime, tone = own[place]
                yield {
                    "onset": (name, onset),
                    "rime": (name, rime),
                    "tone": (name, tone),
                    "toneless": (name, onset, rime),
                    "syllable": (name, onset, rime, tone),
                }[name]


@pytest.mark.parametrize(
    ("lang", "text", "config"),
    [
        ("vi", VI, SYLLABLES),
        ("vi", VI, PLAIN_VI),
        ("vi", "sinh_viên Hà Nội  2024 😅", {}),
        ("zh", ZH, SYLLABLES),
        ("zh", ZH, {"nlp": {"tokenizer": {"segmenter": "char"}}}),
        ("zh", " \n ", SYLLABLES),
    ],
)
def test_columns_are_the_first_and_the_last_position(lang, text, config):
    [doc] = docs_of(lang, [text], config)
    names = tuple(MASKS)
    found = token_columns(doc, ["NORM"], names)
    assert found.dtype == np.uint64
    assert found[:, 0].tolist() == [token.norm for token in doc]
    wanted = list(expected(doc, lang, names))
    # As many different values in a component as there are different sounds, and 0 for none.
    seen = {}
    for value, sound in zip(found[:, 1:].ravel().tolist(), wanted, strict=True):
        assert (value == 0) == (sound is None)
        if sound:
            assert seen.setdefault(sound, value) == value
    for name in names:
        of_name = [value for sound, value in seen.items() if sound[0] == name]
        assert len(set(of_name)) == len(of_name)


def beside(own):
    """The first and last part of each token, each with the one next to it outside; None where there is nothing."""
    there = [number for number, sounds in enumerate(own) if sounds[0] is not None]
    for number, (first, last) in enumerate(own):
        if number in there:
            at = there.index(number)
            before = own[there[at - 1]][1] if at else None
            after = own[there[at + 1]][0] if at + 1 < len(there) else None
            yield from ((before, first), (after, last))
        else:
            yield from (None, None)


@pytest.mark.parametrize(
    ("lang", "text", "config"),
    [
        ("vi", VI, SYLLABLES),
        ("vi", "  sinh_viên Hà Nội  2024 😅 sinh_viên Hà", PLAIN_VI),
        ("zh", ZH, SYLLABLES),
        ("zh", "银行 \n 银行行长,银行行长", {"nlp": {"tokenizer": {"segmenter": "jieba"}}}),
        ("zh", " \n ", SYLLABLES),
        ("zh", "行", SYLLABLES),
        ("vi", "", SYLLABLES),
    ],
)
def test_bigrams_are_of_the_syllables_beside_a_token(lang, text, config):
    [doc] = docs_of(lang, [text], config)
    found = token_columns(doc, [], ["bigram", "syllable"])
    own = [tuple(value or None for value in row[2:]) for row in found.tolist()]
    wanted = list(beside(own))
    values = found[:, :2].ravel().tolist()
    assert [value == 0 for value in values] == [pair is None for pair in wanted]
    # As many different values as there are different pairs, and the same value wherever a pair is.
    for column in (0, 1):
        seen = {(pair, value) for pair, value in zip(wanted[column::2], values[column::2], strict=True) if pair}
        assert len(seen) == len({pair for pair, _ in seen}) == len({value for _, value in seen})


def test_homophones_of_a_word_share_its_bigram():
    docs = docs_of("zh", ["银行", "吟航", "银河"])
    bank, misheard, river = (token_columns(doc, ["NORM"], ["bigram"]) for doc in docs)
    assert np.array_equal(bank[:, 1:], misheard[:, 1:])
    assert not (bank[:, 0] == misheard[:, 0]).any()
    assert bank[0, 1] == river[0, 1]  # nothing before either
    assert bank[0, 2] != river[0, 2]


def test_words_of_several_syllables():
    doc = Doc(spacy.blank("vi").vocab, words=["Hà Nội", "nội", "hà"])
    first, last = token_columns(doc, [], ["syllable"]).T.tolist()
    assert first[0] == first[2]
    assert last[0] == first[1]
    assert first[0] != last[0]


def test_readings_depend_on_what_stands_beside():
    doc = Doc(spacy.blank("zh").vocab, words=["银", "行", "行", "走"], spaces=[False] * 4)
    bank, walk = token_columns(doc, [], ["syllable"])[1:3, 0].tolist()
    assert bank != walk


class TestDecomposedText:
    """Text in NFD is the same words: the same columns, and so the same vectors."""

    ATTRS = ("NORM", "PREFIX", "SUFFIX", "SHAPE", "LOWER", "ORTH", "LENGTH", "IS_ALPHA", "IS_TITLE", "TAG")

    @pytest.mark.parametrize("config", [SYLLABLES, PLAIN_VI])
    @pytest.mark.parametrize("components", [(), ("undiacritized",), tuple(ROWS)])
    def test_columns(self, config, components):
        docs = docs_of("vi", [unicodedata.normalize(form, VI) for form in ("NFC", "NFD")], config)
        assert docs[0].text != docs[1].text
        for doc in docs:
            for token in doc:
                token.tag_ = f"T{token.i}"
        composed, decomposed = (token_columns(doc, self.ATTRS, components) for doc in docs)
        assert composed.shape[1] == len(self.ATTRS) + 2 * len(components)
        assert np.array_equal(composed, decomposed)

    def test_of_other_words_nothing_changes(self):
        doc = Doc(spacy.blank("vi").vocab, words=["Hà", unicodedata.normalize("NFD", "Nội")])
        doc[0].norm_, doc[1].norm_ = "one", "other"
        found = token_columns(doc, ["NORM"], [])[:, 0].tolist()
        assert found == [get_string_id("one"), get_string_id("nội")]

    def test_vectors(self):
        components = [*ROWS]
        model = phonemic_hash_embed(16, ["NORM", "PREFIX", "SUFFIX", "SHAPE"], [50] * 4, components=components)
        docs = docs_of("vi", [unicodedata.normalize(form, VI) for form in ("NFC", "NFD")])
        model.initialize(X=docs)
        composed, decomposed = model.predict(docs)
        assert np.array_equal(composed, decomposed)


def test_no_torch_is_needed():
    code = (
        "import sys\n"
        "sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "import spacy\n"
        "from spacy_phonemic.configs import config_text\n"
        "from thinc.api import Config\n"
        "config = Config().from_str(config_text('ner', 'vi', 'hash'))\n"
        "assert config['training']['gpu_allocator'] is config['system']['gpu_allocator'] is None\n"
        "nlp = spacy.util.load_model_from_config(config, auto_fill=True)\n"
        "nlp.get_pipe('ner').add_label('A')\n"
        "nlp.initialize()\n"
        "print(len(nlp('Hà Nội')), *nlp.pipe_names)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["2", "tok2vec", "ner"], done.stderr


def tagger(lang, embed):
    nlp = spacy.blank(lang, config=SYLLABLES)
    encode = {
        "@architectures": "spacy.MaxoutWindowEncoder.v2",
        "width": 16,
        "depth": 1,
        "window_size": 1,
        "maxout_pieces": 2,
    }
    tok2vec = {"@architectures": "spacy.Tok2Vec.v2", "embed": embed, "encode": encode}
    nlp.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": tok2vec}})
    return nlp


OURS = {
    "@architectures": "spacy_phonemic.PhonemicHashEmbed.v1",
    "width": 16,
    "attrs": ["NORM"],
    "rows": [500],
    "include_static_vectors": False,
    "homophone_noise": 0.5,
}
THEIRS = {
    "@architectures": "spacy.MultiHashEmbed.v2",
    "width": 16,
    "attrs": ["NORM"],
    "rows": [500],
    "include_static_vectors": False,
}
#: A Vietnamese word of each class to learn from, and the same with marks lost, which is never seen in training.
MARKED = {"A": ("tiếng", ("tiêng", "tieng")), "B": ("đường", ("đương", "duong")), "C": ("nước", ("nươc", "nuoc"))}
#: A character of each class to learn from, and others of the same sound that are never seen in training.
HEARD = {"A": ("银", "吟淫"), "B": ("马", "码玛"), "C": ("书", "叔舒"), "D": ("天", "添")}


def trained(embed, lang="zh", classes=HEARD):
    fix_random_seed(1)
    nlp = tagger(lang, embed)
    examples = [Example.from_dict(nlp.make_doc(known), {"tags": [tag]}) for tag, (known, _) in classes.items()]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(150):
        nlp.update(examples, sgd=optimizer)
    return nlp


def test_what_sounds_alike_is_tagged_alike():
    nlp = trained(OURS)
    for tag, (known, others) in HEARD.items():
        assert [nlp(char)[0].tag_ for char in known + others] == [tag] * (1 + len(others))
    spelt = trained(THEIRS)
    right = [spelt(char)[0].tag_ == tag for tag, (_, others) in HEARD.items() for char in others]
    assert not all(right), "the test is too easy"


def test_what_lost_its_marks_is_tagged_alike():
    found = {}
    for component in ("undiacritized", "syllable"):
        nlp = trained({**OURS, "components": [component]}, "vi", MARKED)
        found[component] = [nlp(word)[0].tag_ == tag for tag, (_, lost) in MARKED.items() for word in lost]
    assert all(found["undiacritized"])
    assert not all(found["syllable"]), "the test is too easy"


def test_letters_without_marks():
    """The letters of the first and of the last syllable, whatever the case and the normal form."""
    texts = ["Đường_phố tiếng", "duong_pho tieng", unicodedata.normalize("NFD", "ĐƯỜNG_PHỐ TIẾNG"), "tieng 😅 15 %"]
    vocab = spacy.blank("vi").vocab
    docs = [Doc(vocab, words=text.split()) for text in texts]
    rows = [token_columns(doc, [], ["undiacritized"]).tolist() for doc in docs]
    assert rows[0] == rows[1] == rows[2]
    assert rows[0] == [[get_string_id("duong"), get_string_id("pho")], [get_string_id("tieng")] * 2]
    assert rows[3][1:] == [[get_string_id(word)] * 2 for word in ("😅", "15", "%")]


def test_saving(tmp_path):
    nlp = trained(OURS)
    texts = [ZH, "", "马书天"]
    before = [[token.tag_ for token in doc] for doc in nlp.pipe(texts)]
    vectors = [nlp.get_pipe("tagger").model.get_ref("tok2vec").predict([nlp.make_doc(text)])[0] for text in texts]
    nlp.to_disk(tmp_path / "saved")
    again = spacy.load(tmp_path / "saved")
    assert [[token.tag_ for token in doc] for doc in again.pipe(texts)] == before
    for text, vector in zip(texts, vectors, strict=True):
        assert np.array_equal(
            again.get_pipe("tagger").model.get_ref("tok2vec").predict([again.make_doc(text)])[0], vector
        )


def test_static_vectors_are_a_column():
    docs = docs_of("vi", ["Hà Nội mưa", "", " "])
    docs[0].vocab.set_vector("Hà", np.ones(5, np.float32))
    for doc in docs:
        doc.vocab.vectors = docs[0].vocab.vectors
    model = phonemic_hash_embed(12, **SPELLING, include_static_vectors=True)
    model.initialize(X=docs[:1])
    assert [vector.shape for vector in model.predict(docs)] == [(len(doc), 12) for doc in docs]


def test_static_vectors_are_those_of_the_words_in_nfc():
    (doc,) = docs_of("vi", ["Hà Nội mưa"])
    decomposed = Doc(doc.vocab, [unicodedata.normalize("NFD", token.text) for token in doc])
    for number, word in enumerate(("Hà", "Nội", "mưa")):
        doc.vocab.set_vector(word, np.eye(5, dtype=np.float32)[number])
    model = phonemic_hash_embed(12, **SPELLING, include_static_vectors=True)
    model.initialize(X=[doc])
    for node in model.walk():
        if node.name == "static_vectors":
            node.set_param("W", np.random.default_rng(0).standard_normal(node.get_param("W").shape).astype(np.float32))
    written, other = model.predict([doc, decomposed])
    assert np.array_equal(written, other)
    doc.vocab.set_vector("Hà", np.zeros(5, np.float32))
    assert not np.array_equal(model.predict([doc])[0][0], written[0])


def test_mishearing_is_for_training_only():
    docs = docs_of("vi", [VI, "Tôi yêu tiếng Việt", ""])
    features = phonemic_hash_embed(12, **SPELLING, homophone_noise=0.3).layers[0].layers[0]
    clean = [token_columns(doc, features.attrs["attrs"], features.attrs["components"]) for doc in docs]
    for plain, found in zip(clean, features.predict(docs), strict=True):
        assert np.array_equal(plain, found)
    fix_random_seed(0)
    values = [set(column) for column in np.concatenate(clean).T.tolist()]
    changed = []
    for _ in range(200):
        found, backprop = features.begin_update(docs)
        assert backprop(found) == []
        for plain, mixed in zip(clean, found, strict=True):
            assert plain.shape == mixed.shape
            assert all(set(column) <= known for column, known in zip(mixed.T.tolist(), values, strict=True))
        changed.append(clean[0] != found[0])
    misheard = [each for each in changed if each.any()]
    assert 70 < len(misheard) < 130  # half of the Docs
    spelling, sounds = (
        np.concatenate([each[:, own].ravel() for each in misheard]) for own in (slice(2), slice(2, None))
    )
    assert 0.15 < spelling.mean() <= 0.31  # another token's value is often the same one
    assert 0.02 < sounds.mean() < 0.1


def test_mark_errors_are_for_training_only():
    """Then half of the Docs have words of the same letters instead, whose every column is what the Doc would have."""
    docs = docs_of("vi", [VI, "Tôi yêu tiếng Việt", ""])
    features = phonemic_hash_embed(12, **SPELLING, homophone_noise=0, diacritic_noise=0.5).layers[0].layers[0]
    read = features.attrs["attrs"], [*features.attrs["components"], "undiacritized"]
    features.attrs["components"] = read[1]
    clean = [token_columns(doc, *read) for doc in docs]
    for plain, found in zip(clean, features.predict(docs), strict=True):
        assert np.array_equal(plain, found)
    fix_random_seed(0)
    errors = Misspellings(["missing-diacritics", "wrong-tone"])
    spellings = {
        number: {changed_words(docs[number], errors.apply(docs[number].text, share, key).changes)[at]
                 for share in (0, 1) for key in range(40)}
        for number, at in ((1, 2),)
    }  # fmt: skip
    assert {"tiếng", "tiêng", "tieng", "tiềng"} <= spellings[1]
    known = {docs[1].vocab[word].norm for word in spellings[1]}
    changed, seen = 0, set()
    for _ in range(200):
        found, _ = features.begin_update(docs)
        changed += not np.array_equal(clean[1], found[1])
        assert all(np.array_equal(one[:, -2:], other[:, -2:]) for one, other in zip(clean, found, strict=True))
        seen.add(found[1][2, 0])
    assert 70 < changed < 130
    assert seen == known


def test_mark_errors_are_vietnamese():
    features = phonemic_hash_embed(12, **SPELLING, diacritic_noise=0.5).layers[0].layers[0]
    with pytest.raises(ValueError, match="diacritic_noise is for Vietnamese: set it to 0"):
        features.begin_update(docs_of("zh", [ZH] * 30))
    with pytest.raises(ValueError, match="diacritic_noise is for Vietnamese: set it to 0"):
        phonemic_hash_embed(12, **SPELLING, diacritic_noise=0.5).initialize(docs_of("zh", [ZH]))


def test_words_with_changes_stay_words():
    doc = docs_of("vi", ["sinh_viên Hà Nội, 5km!"], {})[0]
    noise = Misspellings(["without-diacritics"])
    assert changed_words(doc, []) == [token.text for token in doc]
    bare = [unicodedata.normalize("NFD", token.text).encode("ascii", "ignore").decode() for token in doc]
    assert changed_words(doc, noise.apply(doc.text, 1).changes) == bare


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": [5]}, "each of the 2 attrs"),
        ({"rows": [5, 0]}, r"rows=\[5, 0\]: give one number, 1 or more"),
        ({"width": 0}, "width=0: must be at least 1"),
        ({"attrs": ["NORM", "LOOKS"]}, "'LOOKS' is not an attribute"),
        ({"components": ["coda"]}, "choose some of onset"),
        ({"components": ["onset", "onset"]}, "each once"),
        ({"attrs": [], "rows": [], "components": []}, "there are no columns"),
        ({"homophone_noise": 1}, "below 1"),
        ({"homophone_noise": -0.1}, "at least 0"),
        ({"diacritic_noise": 1}, "diacritic_noise=1: .*below 1"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        phonemic_hash_embed(**{"width": 8, **SPELLING, **options})


def test_one_column_suffices():
    docs = docs_of("vi", [VI])
    for options in (
        {"attrs": ["NORM"], "rows": [50], "components": []},
        {"attrs": [], "rows": [], "components": ["tone"]},
    ):
        model = phonemic_hash_embed(8, **options)
        model.initialize(X=docs)
        assert model.predict(docs)[0].shape == (len(docs[0]), 8)


def test_it_is_found_by_its_name():
    assert registry.architectures.get("spacy_phonemic.PhonemicHashEmbed.v1") is phonemic_hash_embed
