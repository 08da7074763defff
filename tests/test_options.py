"""The options of a tokenizer, and all that is derived from them."""

import copy
import dataclasses
import inspect
import json
import pickle
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nltk_phonemic
from phonemic import PhraseError, SavedTokenizerError, Tokenizer, TokenizerOptions
from phonemic.cli.common import tokenizer_options
from phonemic.options import OptionArguments, option_defaults, option_names

PHRASES = {"行长": "hang2 zhang3", "重": "zhong4"}

vietnamese = st.builds(
    TokenizerOptions,
    st.just("vi"),
    strict=st.booleans(),
    word_joiner=st.sampled_from([None, "", "_", "·", "😀"]),
    fallback=st.sampled_from(["character", "packed"]),
)
mandarin = st.builds(
    TokenizerOptions,
    st.just("zh"),
    word_joiner=st.sampled_from([None, "_", "-"]),
    phrases=st.dictionaries(st.sampled_from(["行长", "银行", "重"]), st.just("a1")).map(
        lambda chosen: {phrase: " ".join(["xing2"] * len(phrase)) for phrase in chosen}
    ),
    fallback=st.sampled_from(["character", "packed"]),
    readings=st.sampled_from(["pypinyin", "context"]),
    sandhi=st.booleans(),
    erhua=st.booleans(),
)


@given(st.one_of(vietnamese, mandarin))
def test_one_form_in_json(options):
    written = json.loads(json.dumps(options.to_json()))
    assert TokenizerOptions.from_json(written, "here") == options
    assert pickle.loads(pickle.dumps(options)) == copy.deepcopy(options) == options
    assert hash(pickle.loads(pickle.dumps(options))) == hash(options)
    every = {"lang": options.lang} | {name: getattr(options, name) for name in option_names()}
    assert TokenizerOptions.from_json(every | {"phrases": dict(options.phrases)}, "here") == options
    tokenizer = Tokenizer.from_options(options)
    assert pickle.loads(pickle.dumps(tokenizer)).options == tokenizer.options == options


@given(st.one_of(vietnamese, mandarin), st.one_of(vietnamese, mandarin))
def test_equal_where_they_read_alike(one, other):
    assert (one == other) == (one.to_json() == other.to_json())
    assert one != other or hash(one) == hash(other)


def test_nothing_of_a_tokenizer_can_be_changed():
    tokenizer = Tokenizer("zh", phrases=PHRASES)
    for name in ("options", "lang", "vocabulary", "vocab", "core", *option_names()):
        with pytest.raises(AttributeError):
            setattr(tokenizer, name, getattr(tokenizer, name))
    with pytest.raises(TypeError):
        tokenizer.phrases["行"] = "hang2"
    with pytest.raises(dataclasses.FrozenInstanceError):
        tokenizer.options.lang = "vi"
    given_phrases = dict(PHRASES)
    tokenizer = Tokenizer("zh", phrases=given_phrases)
    given_phrases.clear()
    assert tokenizer.phrases == PHRASES


def test_options_go_by_name_and_have_their_type():
    for wrong in ((True,), ("no",), (False, "_")):
        with pytest.raises(TypeError):
            Tokenizer("vi", *wrong)
    with pytest.raises(TypeError, match="strict must be True or False, not 'no'"):
        Tokenizer("vi", strict="no")
    with pytest.raises(TypeError, match="strikt"):
        Tokenizer("vi", strikt=True)
    with pytest.raises(PhraseError, match="phrase 2"):
        TokenizerOptions("zh", phrases={"行": "hang2", "行长": "hang2"})


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ([], "a JSON object is expected"),
        ({}, "lang is missing"),
        ({"lang": "fr"}, "unknown language 'fr'"),
        ({"lang": "vi", "strict": "no"}, "strict is of type str"),
        ({"lang": "zh", "phrases": "/etc/passwd"}, "phrases is of type str"),
        ({"lang": "zh", "phrases": {"行": 3}}, "phrase 1"),
        ({"lang": "vi", "fallback": "byte"}, "unknown fallback 'byte'"),
        ({"lang": "zh", "readings": "best"}, "unknown readings 'best'"),
        ({"lang": "vi", "readings": "context"}, "readings are for Mandarin"),
        ({"lang": "vi", "sandhi": True}, "sandhi is for Mandarin"),
        ({"lang": "zh", "strict": True}, "strict is for Vietnamese"),
        ({"lang": "zh", "erhua": "no"}, "erhua is of type str"),
    ],
)
def test_what_a_file_may_not_say(state, told):
    with pytest.raises(SavedTokenizerError, match=f"^here: .*{told}"):
        TokenizerOptions.from_json(state, "here")


class TestDerived:
    """Whatever takes the options of a tokenizer takes all of them, with the same defaults."""

    def test_the_arguments_are_the_fields(self):
        assert tuple(get_type_hints(OptionArguments)) == option_names()

    @pytest.mark.parametrize("name", ["PhonemicTokenizer", "OnsetRimeTokenizer", "PhonemicTagger"])
    def test_nltk(self, name):
        made = getattr(nltk_phonemic, name)(
            "zh", phrases=PHRASES, word_joiner="_", fallback="packed", readings="context", sandhi=True, erhua=True
        )
        assert made.tokenizer == Tokenizer(
            "zh", phrases=PHRASES, word_joiner="_", fallback="packed", readings="context", sandhi=True, erhua=True
        )

    def test_spacy(self):
        pytest.importorskip("spacy")
        from spacy_phonemic import component, tokenizer

        for function in (component.make_phonemic, tokenizer.make_syllable_tokenizer):
            found = inspect.signature(function).parameters
            assert {name: found[name].default for name in option_names()} == option_defaults()

    def test_transformers(self):
        pytest.importorskip("transformers", reason="needs the model extra")
        transformers = pytest.importorskip("phonemic_bert")
        made = transformers.PhonemicBertTokenizer(
            "zh", phrases=PHRASES, word_joiner="_", fallback="packed", readings="context", sandhi=True, erhua=True
        )
        assert made.phonemic == Tokenizer(
            "zh", phrases=PHRASES, word_joiner="_", fallback="packed", readings="context", sandhi=True, erhua=True
        )

    def test_commands(self):
        import click

        taken = {}
        command = click.command()(tokenizer_options(lambda **options: taken.update(options)))
        command.main(["--lang", "vi", "--strict", "--word-joiner", "_", "--fallback", "packed"], standalone_mode=False)
        assert taken == {"tokenizer": Tokenizer("vi", strict=True, word_joiner="_", fallback="packed")}
        assert {parameter.name for parameter in command.params} == {"lang", *option_names()}
