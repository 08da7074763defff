"""How one occurrence is read, stated on a span."""

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
