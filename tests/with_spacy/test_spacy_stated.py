"""How one occurrence is read, stated on a span."""

import warnings

import pytest

spacy = pytest.importorskip("spacy")
from spacy.matcher import Matcher  # noqa: E402
from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy_helpers import NLP  # noqa: E402

from phonemic import PinyinError  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy")


def test_a_span_is_read_as_stated():
    doc = NLP["zh"]("他行，我不行")
    doc[1:2]._.reading = "háng"
    assert doc[1:2]._.reading == "háng"
    assert doc[0:2]._.reading == "tā háng"
    assert doc[1]._.ipa == "xaŋ˧˥"
    assert doc[5:6]._.reading == "xíng"
    doc[0:2]._.reading = "ta1 xing2"
    assert doc[0:2]._.reading == "tā xíng"


def test_it_travels_with_the_doc():
    doc = NLP["zh"]("他行")
    doc[1:2]._.reading = "háng"
    copies = [Doc(doc.vocab).from_bytes(doc.to_bytes()), *DocBin(docs=[doc], store_user_data=True).get_docs(doc.vocab)]
    assert [copy[0:2]._.reading for copy in copies] == ["tā háng"] * 2
    assert NLP["zh"]("他行")[0:2]._.reading == "tā xíng"


def test_what_is_not_its_reading_is_refused():
    doc = NLP["zh"]("他行")
    with pytest.raises(ValueError, match="not the 1 syllables of 'háng'"):
        doc[0:2]._.reading = "háng"
    with pytest.raises(PinyinError):
        doc[1:2]._.reading = "hxng"
    assert doc[0:2]._.reading == "tā xíng"
    vietnamese = NLP["vi"]("xin chào")
    assert vietnamese[0:2]._.reading == "xin chào"
    with pytest.raises(ValueError, match="for Mandarin only"):
        vietnamese[0:1]._.reading = "xin1"


@pytest.mark.parametrize("name", ["onset", "rime", "tone", "ipa", "syllables", "is_syllable"])
def test_what_is_read_from_the_text_is_not_set_in_silence(name):
    doc = NLP["zh"]("他行")
    before = getattr(doc[1]._, name)
    with pytest.raises(AttributeError, match=rf"token\._\.{name} is read from the text.*span\._\.reading"):
        setattr(doc[1]._, name, "z")
    with pytest.raises(AttributeError, match=r"doc\._\.ipa"):
        doc._.ipa = "z"
    with pytest.raises(AttributeError, match=r"span\._\.syllables"):
        doc[0:1]._.syllables = []
    assert getattr(doc[1]._, name) == before


def test_matcher_patterns_state_readings():
    nlp = NLP["zh"]
    matcher = Matcher(nlp.vocab)
    patterns = {"háng": [{"ORTH": "排"}, {"ORTH": "行"}], "zhǎng": [{"ORTH": "行"}, {"ORTH": "长"}]}
    for pinyin, pattern in patterns.items():
        matcher.add(pinyin, [pattern])
    doc = nlp("他排行老三，行长不行")
    for span in matcher(doc, as_spans=True):
        span[-1:]._.reading = span.label_
    assert doc[2:3]._.reading == "háng"
    assert doc[7:8]._.reading == "zhǎng"
    assert doc[-1:]._.reading == "xíng"


def test_entity_ruler_patterns_state_readings():
    nlp = spacy.blank("zh")
    nlp.add_pipe("phonemic")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": "单雄信", "id": "shàn xióng xìn"}])
    doc = nlp("单雄信来了")
    for entity in doc.ents:
        entity._.reading = entity.ent_id_
    assert doc.ents[0]._.reading == "shàn xióng xìn"
    assert doc[0]._.onset == "ʂ"
    [copy] = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    assert copy[0]._.ipa == doc[0]._.ipa


@pytest.mark.parametrize("config", [{"store": True}, {"store": True, "readings": "context", "form": True}, {}])
def test_a_component_leaves_stated_readings(config):
    nlp = spacy.blank("zh")
    nlp.add_pipe("phonemic", config=config)
    doc = nlp("他行了")
    doc[1:2]._.reading = "háng"
    [saved] = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    for each in (nlp(doc), next(nlp.pipe([doc])), nlp(saved), next(nlp.pipe([saved])), doc.copy(), saved.copy()):
        assert each[:]._.reading == "tā háng le"
    assert nlp("他行了")[:]._.reading == "tā xíng le"


def test_a_stored_reading_is_made_anew_by_another_component():
    nlp, other = spacy.blank("zh"), spacy.blank("zh")
    nlp.add_pipe("phonemic", config={"store": True})
    other.add_pipe("phonemic", config={"store": True, "phrases": {"他行": "ta1 hang2"}})
    doc = nlp("他行")
    assert doc[:]._.reading == "tā xíng"
    assert other(doc)[:]._.reading == "tā háng"
    assert doc.copy()[:]._.reading == "tā háng"


def test_a_component_with_other_options_leaves_them_too():
    doc = NLP["zh"]("他行，银行行长")
    doc[1:2]._.reading = "háng"
    other = spacy.blank("zh")
    other.add_pipe("phonemic", config={"phrases": {"行长": "xing2 chang2"}})
    assert other(doc)[:]._.reading == "tā háng , yín háng xíng cháng"


def test_parts_and_joined_docs_keep_them():
    doc = NLP["zh"]("他行，我不行，排行")
    doc[1:2]._.reading = "háng"
    doc[5:6]._.reading = "hàng"
    assert doc[3:7].as_doc(copy_user_data=True)[:]._.reading == "wǒ bù hàng ,"
    assert doc[2:5].as_doc(copy_user_data=True)[:]._.reading == ", wǒ bù"
    assert doc[3:7].as_doc()[:]._.reading == "wǒ bù xíng ,"
    both = Doc.from_docs([NLP["zh"]("好"), doc])
    assert both[:]._.reading == "hǎo tā háng , wǒ bù hàng , pái háng"


def test_a_reading_that_does_not_fit_is_left_out_with_a_warning():
    doc = NLP["zh"]("他行，花儿")
    doc[1:2]._.reading = "háng"
    doc[4:5]._.reading = "ěr"
    nlp = spacy.blank("zh")
    nlp.add_pipe("phonemic", config={"erhua": True})
    with pytest.warns(UserWarning, match="stated reading of this Doc is left out: characters 4 to 5, '儿'"):
        assert nlp(doc)[:]._.reading == "tā háng , huār"


@pytest.mark.parametrize("value", [3, None, "", "x"])
def test_what_another_program_writes_there_does_no_harm(value):
    doc = NLP["zh"]("他行")
    doc.user_data["._.", "phonemic_reading", 1, 2] = value
    doc.user_data["._.", "phonemic_reading", -1, 1] = "tā"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert doc[:]._.reading == "tā xíng"


def test_the_matcher_hears_them():
    nlp = spacy.blank("zh")
    nlp.add_pipe("phonemic")
    matcher = nlp.add_pipe("phonemic_matcher", config={"max_distance": 0.0})
    matcher.add("PER", ["善雄信"])
    doc = nlp("单雄信来了")
    assert not doc.ents
    doc[0:3]._.reading = "shàn xióng xìn"
    assert [entity.text for entity in nlp(doc).ents] == ["单雄信"]
