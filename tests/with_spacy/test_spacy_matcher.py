"""Entities of a list found though they were misheard: in real pipelines, saved and loaded, with what overlaps."""

import pickle

import pytest

spacy = pytest.importorskip("spacy")
from spacy.tokens import Doc, DocBin, Span  # noqa: E402

from phonemic import InputError, SavedIndexError, distance  # noqa: E402
from spacy_phonemic import PhonemicMatcher  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy")

PEOPLE = ["Trần Hưng Đạo", "Hồ Chí Minh", "Nguyễn Văn An"]


def vietnamese(**config):
    tokenizer = {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}
    nlp = spacy.blank("vi", config={"nlp": {"tokenizer": tokenizer}})
    matcher = nlp.add_pipe("phonemic_matcher", config=config)
    return nlp, matcher


def mandarin(**config):
    nlp = spacy.blank("zh")
    return nlp, nlp.add_pipe("phonemic_matcher", config=config)


def shown(spans):
    return [(span.text, span.label_, span._.phonemic_name, span._.phonemic_distance) for span in spans]


def heard(nlp, text):
    doc = nlp(text)
    return shown(doc.spans["heard"])


def test_misheard_names_become_entities():
    nlp, matcher = vietnamese()
    matcher.add("PER", PEOPLE, ids=["q1", "q2", "q3"])
    matcher.add("LOC", ["Hà Nội"])
    doc = nlp("Chần Hưng Đạo và hồ chí minh ở Hà Lội, không phải Nguyễn Văn Bình.")
    assert shown(doc.ents) == [
        ("Chần Hưng Đạo", "PER", "Trần Hưng Đạo", distance("Chần", "Trần", "vi")),
        ("hồ chí minh", "PER", "Hồ Chí Minh", 0.0),
        ("Hà Lội", "LOC", "Hà Nội", distance("Lội", "Nội", "vi")),
    ]
    assert [span.id_ for span in doc.ents] == ["q1", "q2", ""]
    assert matcher.labels == ("LOC", "PER")
    assert len(matcher) == 4


def test_mandarin_homophones():
    nlp, matcher = mandarin()
    matcher.add("ORG", ["阿里巴巴", "重庆银行"])
    doc = nlp("我在阿里爸爸和崇庆银杭上班")
    assert shown(doc.ents) == [
        ("阿里爸爸", "ORG", "阿里巴巴", distance("巴巴", "爸爸", "zh")),
        ("崇庆银杭", "ORG", "重庆银行", 0.0),
    ]
    nlp, matcher = mandarin(phrases={"朝阳": "zhao1 yang2"})
    matcher.add("LOC", ["朝阳区"])
    assert shown(nlp("在昭阳区").ents) == [("昭阳区", "LOC", "朝阳区", 0.0)]
    nlp, matcher = mandarin(readings="context")
    matcher.add("THING", ["老照片"])
    assert shown(nlp("看老兆骗").ents) == [("老兆骗", "THING", "老照片", 0.0)]
    assert nlp.from_bytes(nlp.to_bytes()).get_pipe("phonemic_matcher").tokenizer.readings == "context"


class TestBorders:
    def test_names_are_whole_tokens(self):
        nlp = spacy.blank("vi", config={"nlp": {"tokenizer": {"use_pyvi": False}}})
        matcher = nlp.add_pipe("phonemic_matcher")
        matcher.add("PER", PEOPLE)
        doc = nlp(Doc(nlp.vocab, words=["Ông", "Hồ_Chí_Minh", "Trần Hưng", "Đạo,", "Nguyễn Văn", "An Bình"]))
        assert [span.text for span in doc.ents] == ["Hồ_Chí_Minh", "Trần Hưng Đạo,"]
        assert doc.ents[0].start == 1
        assert (doc.ents[1].start, doc.ents[1].end) == (2, 4)

    def test_punctuation_ends_a_name_and_hyphens_do_not(self):
        nlp, matcher = vietnamese()
        matcher.add("PER", PEOPLE)
        assert not nlp("Trần, Hưng Đạo. Hồ (Chí Minh)").ents
        assert [span.text for span in nlp("Trần-Hưng-Đạo, Hồ\nChí  Minh").ents] == ["Trần-Hưng-Đạo", "Hồ\nChí  Minh"]

    @pytest.mark.parametrize("between", ["\n\n", "\r\n\r\n", " \n \n ", "\u2028\u2028", "\n\n\n"])
    def test_an_empty_line_ends_a_name(self, between):
        nlp, matcher = vietnamese()
        matcher.add("LOC", ["Hà Nội"])
        assert not nlp(f"Hà{between}Nội").ents
        assert [span.text for span in nlp(f"ở Hà{between}Hà Nội").ents] == ["Hà Nội"]

    @pytest.mark.parametrize("between", [" ", "  ", "\t", "\u00a0", "\u3000", "\n", "\r\n", " \n "])
    def test_other_white_space_does_not(self, between):
        nlp, matcher = vietnamese()
        matcher.add("LOC", ["Hà Nội"])
        assert [span.text for span in nlp(f"ở Hà{between}Nội").ents] == [f"Hà{between}Nội"]

    def test_unknown_characters_end_a_name(self):
        nlp, matcher = vietnamese()
        matcher.add("LOC", ["Hà Nội"])
        for between in ("Иван", "😀", "#", "漢"):
            assert not nlp(f"Hà {between} Nội").ents
        assert [span.text for span in nlp("😀 Hà Nội ~ Олег").ents] == ["Hà Nội"]
        assert not nlp("Иван Олег 😀😀😀😀").ents

    def test_names_of_firms(self):
        nlp, matcher = vietnamese()
        matcher.add("ORG", ["Procter & Gamble", "H&M Hà Nội", "Canal+ Việt Nam"])
        text = "Procter & Gamble, H&M Hà Lội và Canal+ Việt Nam"
        assert [span.text for span in nlp(text).ents] == ["Procter & Gamble", "H&M Hà Lội", "Canal+ Việt Nam"]
        nlp, matcher = mandarin()
        matcher.add("ORG", ["H&M北京"])
        assert [span.text for span in nlp("在H&M北京和H＆M背景").ents] == ["H&M北京", "H＆M背景"]

    def test_names_are_found_across_the_marks_that_they_are_written_with(self):
        nlp, matcher = vietnamese()
        names = ["TP. Hồ Chí Minh", "Tp.HCM", "Đại học Bách khoa (Hà Nội)", "Huế, Việt Nam", "Đà Nẵng"]
        matcher.add("LOC", names)
        for name in names[:-1]:
            [span] = nlp(f"Tôi ở {name}. Mưa").ents
            assert name.startswith(span.text)
            assert (span._.phonemic_name, span._.phonemic_distance) == (name, 0)
        [span] = nlp("Tôi ở TP. Hồ Trí Minh.").ents
        assert (span.text, span._.phonemic_name) == ("TP. Hồ Trí Minh", "TP. Hồ Chí Minh")
        assert [span.text for span in nlp("TP Hồ Chí Minh").ents] == ["TP Hồ Chí Minh"]
        for text in (
            "TP, Hồ Chí Minh",
            "TP.\n\nHồ Chí Minh",
            "TP.漢 Hồ Chí Minh",
            "Huế. Việt Nam",
            "Đà. Nẵng",
            "Đà, Nẵng",
        ):
            assert not nlp(text).ents
        nlp, matcher = vietnamese()
        matcher.add("LOC", ["T.P. Hồ Chí Minh (Việt Nam)"])
        [span] = nlp("Ở T.P. Hồ Chí Minh (Việt Nam) mưa").ents
        assert span.text == "T.P. Hồ Chí Minh (Việt Nam"
        assert not nlp("Ở T.P. Hồ Chí Minh, Việt Nam mưa").ents
        nlp, matcher = mandarin()
        matcher.add("PER", ["史蒂夫·乔布斯（苹果）"])
        assert [span.text for span in nlp("史蒂夫·乔布斯（苹果）说").ents] == ["史蒂夫·乔布斯（苹果"]

    @pytest.mark.parametrize("least", [-1, True, 1.5, "2", None])
    def test_least_is_a_number_of_syllables(self, least):
        with pytest.raises(ValueError, match="0 or more, not"):
            PhonemicMatcher(spacy.blank("vi").vocab, "vi", min_syllables=least)

    def test_an_empty_label_is_refused(self):
        _, matcher = vietnamese()
        with pytest.raises(InputError, match="pattern 1: the label of 'Huế' is empty"):
            matcher.add_patterns([{"label": "LOC", "pattern": "Hà Nội"}, {"label": "", "pattern": "Huế"}])
        assert len(matcher) == 0

    def test_empty_docs_and_lists(self):
        nlp, matcher = vietnamese()
        assert not nlp("Hồ Chí Minh").ents
        matcher.add("PER", PEOPLE)
        for text in ("", "...", " \n"):
            assert not nlp(text).ents


class TestOverlaps:
    NAMES = (("A", ["Hưng Đạo Vương", "Trần Hưng Đạo", "Hưng Yên"]), ("B", ["Trần Hưng Đạo", "Hương Đạo"]))
    TEXT = "Trần Hưng Đạo Vương ở Hưng Yên"

    def matched(self, text=TEXT, **config):
        nlp, matcher = vietnamese(**config)
        for label, names in self.NAMES:
            matcher.add(label, names)
        return nlp(text)

    def test_entities_do_not(self):
        assert [(span.text, span.label_) for span in self.matched().ents] == [("Trần Hưng Đạo", "A"), ("Hưng Yên", "A")]
        text = "Chần Hưng Đạo Vương"  # the nearest is taken, not the first
        assert [(span.text, span.label_) for span in self.matched(text).ents] == [("Hưng Đạo Vương", "A")]

    def test_spans_may(self):
        doc = self.matched(spans_key="heard")
        assert not doc.ents
        assert [(span.text, span.label_) for span in doc.spans["heard"]] == [
            ("Trần Hưng Đạo", "A"),
            ("Trần Hưng Đạo", "B"),
            ("Hưng Đạo", "B"),
            ("Hưng Đạo Vương", "A"),
            ("Hưng Yên", "A"),
        ]
        assert [span._.phonemic_distance for span in doc.spans["heard"]] == [
            0,
            0,
            distance("Hưng", "Hương", "vi"),
            0,
            0,
        ]

    def test_entities_that_are_there(self):
        for overwrite, expected in ((False, [("Hưng Yên", "OLD")]), (True, [("ở Hưng Yên", "NEW")])):
            nlp, matcher = vietnamese(overwrite=overwrite)
            matcher.add("NEW", ["ở Hưng Yên"])
            doc = nlp.make_doc("ông ở Hưng Yên")
            doc.ents = [Span(doc, 2, 4, "OLD")]
            assert [(span.text, span.label_) for span in matcher(doc).ents] == expected

    def test_of_names_at_one_place_the_nearest(self):
        nlp, matcher = vietnamese(spans_key="heard")
        matcher.add("PER", ["Lê Nan Anh", "Lê Lan Anh", "Lê Lang Anh"])
        assert heard(nlp, "lê lan anh") == [("lê lan anh", "PER", "Lê Lan Anh", 0.0)]


class TestOptions:
    def test_within(self):
        near = distance("Chần", "Trần", "vi")
        for within, count in ((0, 0), (near - 0.001, 0), (near, 1), (1, 1)):
            nlp, matcher = vietnamese(max_distance=within)
            matcher.add("PER", PEOPLE)
            assert len(nlp("ông Chần Hưng Đạo").ents) == count

    def test_labels(self):
        text = "Chần Hưng Đạo ở Hà Lội"
        for config, found in (
            ({"labels": ["LOC"]}, ["Hà Lội"]),
            ({"labels": []}, []),
            ({"max_distance": {"LOC": 0.2}}, ["Hà Lội"]),
            ({"max_distance": {"LOC": 0, "PER": 0.2}}, ["Chần Hưng Đạo"]),
        ):
            nlp, matcher = vietnamese(**config)
            matcher.add("PER", PEOPLE)
            matcher.add("LOC", ["Hà Nội"])
            assert [span.text for span in nlp(text).ents] == found

    def test_short_names_are_heard_exactly(self):
        nlp, matcher = vietnamese()
        matcher.add("PER", ["Lan"])
        assert [span.text for span in nlp("Nan gặp lan").ents] == ["lan"]
        nlp, matcher = vietnamese(min_syllables=1)
        matcher.add("PER", ["Lan"])
        assert [span.text for span in nlp("Nan gặp lan").ents] == ["Nan", "lan"]

    def test_what_does_not_fit(self):
        for within in (-1, float("nan"), {"PER": "near"}):
            with pytest.raises(ValueError, match="max_distance is a distance"):
                PhonemicMatcher(spacy.blank("vi").vocab, "vi", max_distance=within)
        with pytest.raises(ValueError, match="read as 'vi' or 'zh', not 'en'"):
            spacy.blank("en").add_pipe("phonemic_matcher")
        _, matcher = vietnamese()
        for pattern, message in (
            ({"label": "PER"}, r"""pattern 0: a pattern is {"label": "PER", .*, not {'label': 'PER'}"""),
            (
                {"label": "PER", "pattern": [{"LOWER": "an"}]},
                "text .str., not .*; patterns of tokens are for the entity_r",
            ),
            ({"label": "PER", "pattern": 1}, "pattern 0: a pattern must be a name as text .str., not 1$"),
            ({"label": 3, "pattern": "An"}, "its label must be text .str., not 3"),
            ({"label": "PER", "pattern": "An", "id": 3}, "its id must be text .str., not 3"),
            ({"label": "PER", "pattern": "..."}, "'...' has no sound"),
            ({"label": "PER", "pattern": "Олег"}, "'Олег' has no sound"),
            ("An", "a pattern is {.*, not 'An'"),
        ):
            with pytest.raises(InputError, match=message):
                matcher.add_patterns([pattern])
        with pytest.raises(TypeError, match="not one str"):
            matcher.add("PER", "An")
        with pytest.raises(InputError, match="phonemic_matcher, pattern 1: a pattern must be a name as text"):
            matcher.add("PER", ["An", 1])
        for names, ids in ((["An"], []), (["a", "b"], ["1"]), (["An"], ["1", "2"])):
            with pytest.raises(ValueError, match=f"{len(names)} names with {len(ids)} ids: give an id for each"):
                matcher.add("PER", names, ids=ids)
        assert not len(matcher)


class TestSaved:
    def trained(self):
        nlp, matcher = vietnamese(max_distance={"PER": 0.3, "LOC": 0.1}, spans_key="heard", min_syllables=1)
        matcher.add("PER", PEOPLE, ids=["a", "b", "c"])
        matcher.add("LOC", ["Hà Nội", "Huế"])
        return nlp

    TEXT = "Chần Hưng Đạo ở Hà Lội và Huế"

    def test_to_disk_and_back(self, tmp_path):
        nlp = self.trained()
        nlp.to_disk(tmp_path / "pipeline")
        again = spacy.load(tmp_path / "pipeline")
        assert again.get_pipe("phonemic_matcher").patterns == nlp.get_pipe("phonemic_matcher").patterns
        expected = heard(nlp, self.TEXT)
        assert len(expected) == 3
        assert heard(again, self.TEXT) == expected

    def test_to_bytes_and_pickle(self):
        nlp = self.trained()
        expected = heard(nlp, self.TEXT)
        fresh, matcher = vietnamese()
        matcher.from_bytes(nlp.get_pipe("phonemic_matcher").to_bytes())
        assert heard(fresh, self.TEXT) == expected
        again = pickle.loads(pickle.dumps(nlp))
        assert heard(again, self.TEXT) == expected

    def test_pipe(self):
        nlp = self.trained()
        texts = [self.TEXT, "Hồ Trí Minh", "", "không có ai"] * 20
        docs = list(nlp.pipe(texts, batch_size=7))
        assert [shown(doc.spans["heard"]) for doc in docs] == [heard(nlp, text) for text in texts]
        assert len(docs[1].spans["heard"]) == 1

    def test_several_processes(self):
        nlp = self.trained()
        docs = list(nlp.pipe([self.TEXT] * 4, n_process=2, batch_size=2))
        assert [shown(doc.spans["heard"]) for doc in docs] == [heard(nlp, self.TEXT)] * 4

    def test_distances_travel_with_docs(self):
        nlp, matcher = vietnamese()
        matcher.add("PER", PEOPLE)
        doc = nlp("ông Chần Hưng Đạo")
        stored = DocBin(store_user_data=True, docs=[doc]).to_bytes()
        (again,) = DocBin().from_bytes(stored).get_docs(nlp.vocab)
        assert shown(again.ents) == shown(doc.ents)
        assert again[0:1]._.phonemic_distance is None

    def test_initialize(self):
        nlp, matcher = vietnamese()
        matcher.add("OLD", ["Hà Nội"])
        nlp.config["initialize"]["components"]["phonemic_matcher"] = {
            "patterns": [{"label": "PER", "pattern": "Hồ Chí Minh"}]
        }
        nlp.initialize()
        assert matcher.patterns == [{"label": "PER", "pattern": "Hồ Chí Minh"}]

    def test_files_that_are_not_whole(self, tmp_path):
        nlp, matcher = vietnamese()
        matcher.add("PER", PEOPLE)
        path = tmp_path / "matcher"
        matcher.to_disk(path)
        whole = path.read_text("utf-8")
        for text, what in (
            (whole[:-9], "is not JSON"),
            ("[]", "object is expected"),
            (whole.replace('"min_syllables"', '"most"'), "min_syllables is missing"),
            (whole.replace('"max_distance": 0.3', '"max_distance": -1'), "max_distance is a distance"),
            (whole.replace("Hồ Chí Minh", "…"), "'…' has no sound"),
            (whole.replace('"lang": "vi"', '"lang": "en"'), "en"),
        ):
            assert text != whole
            path.write_text(text, "utf-8")
            with pytest.raises((SavedIndexError, ValueError), match=what):
                PhonemicMatcher(nlp.vocab, "vi").from_disk(path)
