"""Datasets and files as Docs: what a Doc gets, what is reported, what is refused, and the real corpora."""

import json
import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")

from spacy.tokens import DocBin  # noqa: E402

from phonemic import InputError, tasks  # noqa: E402
from phonemic.tasks import AspectExample, PairExample, Span, TaggedExample, TextExample, custom, docbin  # noqa: E402
from spacy_phonemic.__main__ import main  # noqa: E402
from spacy_phonemic.convert import read, read_split, to_docs, write  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")

TREE = """# sent_id = 1
# text = Sinh viên học, rồi về.
1\tSinh viên\tsinh viên\tNOUN\tN\t_\t2\tnsubj\t_\t_
2\thọc\thọc\tVERB\tV\tVerbForm=Fin\t0\troot\t_\tSpaceAfter=No
3\t,\t,\tPUNCT\t,\t_\t2\tpunct\t_\t_
4\trồi\trồi\tADV\t_\t_\t5\tadvmod\t_\t_
4.1\tem\tem\tPRON\tP\t_\t_\t_\t_\t_
5\tvề\t_\tVERB\tV\t_\t2\tconj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_
"""


@pytest.fixture(scope="module")
def nlp():
    tokenizer = {"@tokenizers": "spacy_phonemic.SyllableTokenizer.v1"}
    return {lang: spacy.blank(lang, config={"nlp": {"tokenizer": tokenizer}}) for lang in ("vi", "zh")}


@pytest.fixture
def file(tmp_path):
    def make(text):
        path = tmp_path / "corpus.txt"
        path.write_text(text, encoding="utf-8")
        return path

    return make


def reasons(found):
    return [(int(problem.place.rpartition(":")[2]), problem.reason) for problem in found.problems]


def entities(found):
    return [[(ent.text, ent.label_) for ent in doc.ents] for doc in found.docs]


class TestConllu:
    def test_a_tree(self, nlp, file):
        found = read("conllu", file(TREE), nlp["vi"])
        (doc,) = found.docs
        assert not found.problems
        assert doc.text == "Sinh viên học, rồi về."
        assert [token.text for token in doc] == ["Sinh viên", "học", ",", "rồi", "về", "."]
        assert [token.pos_ for token in doc] == ["NOUN", "VERB", "PUNCT", "ADV", "VERB", "PUNCT"]
        assert [token.tag_ for token in doc] == ["N", "V", ",", "ADV", "V", "."]
        assert str(doc[1].morph) == "VerbForm=Fin"
        assert [token.lemma_ for token in doc][0::4] == ["sinh viên", "về"]
        assert [token.head.i for token in doc] == [1, 1, 1, 4, 1, 1]
        assert [token.dep_ for token in doc] == ["nsubj", "ROOT", "punct", "advmod", "conj", "punct"]
        assert len(list(doc.sents)) == 1

    def test_chinese_without_text_and_without_spaceafter(self, nlp, file):
        lines = TREE.replace("SpaceAfter=No", "_").replace("Sinh viên", "学生").splitlines()[2:]
        assert read("conllu", file("\n".join(lines)), nlp["zh"]).docs[0].text == "学生học,rồivề."
        assert read("conllu", file("\n".join(lines)), nlp["vi"]).docs[0].text == "学生 học , rồi về ."

    def test_another_text(self, nlp, file):
        """The words lie as SpaceAfter says."""
        found = read("conllu", file(TREE.replace("# text = Sinh", "# text = sinh")), nlp["vi"])
        assert found.docs[0].text == "Sinh viên học, rồi về."

    @pytest.mark.parametrize(
        ("old", "new", "reason"),
        [
            ("\tADV\t_", "\tADVERB\t_", "'ADVERB' is not a universal part of speech; left empty"),
            ("\t5\tadvmod", "\t9\tadvmod", "the tree is left out: word 4 (rồi) has no head in the sentence"),
            ("\t0\troot", "\t1\troot", "the tree is left out: above word 1 (Sinh viên) the heads go in a circle"),
        ],
    )
    def test_problems(self, nlp, file, old, new, reason):
        """The sentence is kept without it, and the one after it whole."""
        assert TREE.count(old) == 1
        path = file(TREE.replace(old, new) + "\n" + TREE)
        found = read("conllu", path, nlp["vi"])
        assert list(map(str, found.problems)) == [f"{path}:1: {reason}"]
        assert [doc.text for doc in found.docs] == ["Sinh viên học, rồi về."] * 2
        assert [doc.has_annotation("DEP") for doc in found.docs] == ["tree" not in reason, True]

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("1\tSinh viên", "1-2\tSinh viên", ":3: 1-2 is no"),
            ("\tPUNCT\t,\t_\t2", "\tPUNCT\t,", ":5: 8 columns, not 10"),
        ],
    )
    def test_damage_is_the_readers_error(self, nlp, file, old, new, message):
        with pytest.raises(InputError, match=message):
            read("conllu", file(TREE.replace(old, new)), nlp["vi"])


class TestConll:
    def test_iob2(self, nlp, file):
        found = read("conll", file("Tôi O\nở O\nHà B-LOC\nNội I-LOC\nHuế B-LOC\n\n\nAnh B-PER\n"), nlp["vi"])
        assert [doc.text for doc in found.docs] == ["Tôi ở Hà Nội Huế", "Anh"]
        assert entities(found) == [[("Hà Nội", "LOC"), ("Huế", "LOC")], [("Anh", "PER")]]
        assert not found.problems

    def test_iob1(self, nlp, file):
        found = read("conll", file("Hà I-LOC\nNội I-LOC\nAnh I-PER\n, O\nHuế I-LOC"), nlp["vi"])
        assert entities(found) == [[("Hà Nội", "LOC"), ("Anh", "PER"), ("Huế", "LOC")]]

    def test_words_with_spaces_between_tabs(self, nlp, file):
        found = read("conll", file("Tôi\tO\nở\tO\nHà Nội \tB-LOC\n"), nlp["vi"])
        assert [token.text for token in found.docs[0]] == ["Tôi", "ở", "Hà Nội"]
        assert entities(found) == [[("Hà Nội", "LOC")]]

    def test_a_word_joiner_and_other_columns(self, nlp, file):
        path = file("# doc\nB-LOC x Hà_Nội\nO y đẹp\n")
        found = read("conll", path, nlp["vi"], word=2, tag=0, joiner="_", comment="#")
        assert (found.docs[0].text, entities(found)) == ("Hà Nội đẹp", [[("Hà Nội", "LOC")]])

    def test_parts_of_speech(self, nlp, file):
        found = read("conll", file("Tôi PRON\nở V\n"), nlp["vi"], entities=False)
        assert [(token.tag_, token.pos_) for token in found.docs[0]] == [("PRON", "PRON"), ("V", "")]
        assert not found.problems

    @given(
        st.lists(st.tuples(st.sampled_from(["PER", "LOC", ""]), st.integers(1, 4)), min_size=1, max_size=8), st.data()
    )
    def test_every_scheme(self, nlp, tmp_path_factory, chunks, data):
        """Entities written in a scheme are read back, token for token; so they are out of the DocBin."""
        begin, inside, end, single = data.draw(st.sampled_from(["BIII", "BIIB", "BIES", "BMES", "BILU"]))
        if end == "I":
            single = "B"
        tags, want = [], []
        for kind, length in chunks:
            if kind:
                want.append((len(tags), len(tags) + length, kind))
                marks = [single] if length == 1 else [begin, *[inside] * (length - 2), end]
                tags += [f"{mark}-{kind}" for mark in marks]
            else:
                tags += ["O"] * length
        path = tmp_path_factory.mktemp("scheme") / "corpus.txt"
        path.write_text("".join(f"ba\t{tag}\n" for tag in tags), encoding="utf-8")
        found = read("conll", path, nlp["vi"])
        assert [(ent.start, ent.end, ent.label_) for ent in found.docs[0].ents] == want
        assert not found.problems
        write(found.docs, path.with_suffix(".spacy"))
        assert list(docbin.tagged(path.with_suffix(".spacy"), "ents", None)) == [
            *custom.read("sequence-labelling", path, lang="vi", file_format="conll")
        ]

    def test_numbered_characters(self, nlp, file):
        found = read("weibo", file("去0\tO\n北0\tB-GPE.NAM\n京1\tI-GPE.NAM\n10\tO\n02\tO\n"), nlp["zh"])
        assert (found.docs[0].text, entities(found)) == ("去北京10", [[("北京", "GPE.NAM")]])

    def test_borders_where_the_tokenizer_does_not_cut(self, nlp, file):
        found = read("weibo", file("好0\tO\n\n看0\tO\nC0\tB-PER.NAM\nS1\tO\n"), nlp["zh"])
        assert reasons(found) == [(3, "the pipeline's tokenizer does not cut at PER.NAM 'C'")]
        assert entities(found) == [[], [("C", "PER.NAM")]]

    @pytest.mark.parametrize(("text", "message"), [("Hà X\n", r":1: 'X' is no"), ("Hà B-X\nNội\n", ":2: 1 columns")])
    def test_damage_is_the_readers_error(self, nlp, file, text, message):
        with pytest.raises(InputError, match=message):
            read("conll", file(text), nlp["vi"])


class TestSpans:
    """Files that have no tokens, or whose tokens do not have the spans' borders."""

    def lines(self, file, *records):
        return file("\n".join(json.dumps(record, ensure_ascii=False) for record in records))

    def test_cluener(self, nlp, file):
        label = {"name": {"温格": [[0, 1]]}, "organization": {"曼联": [[4, 5], [7, 8]]}}
        found = read("cluener", self.lines(file, {"text": "温格战胜曼联，曼联", "label": label}), nlp["zh"])
        assert entities(found) == [[("温格", "name"), ("曼联", "organization"), ("曼联", "organization")]]
        assert not found.problems

    def test_problems(self, nlp, file):
        path = self.lines(
            file,
            {"text": "CSOL好", "label": {"game": {"CS": [[0, 1]]}}},
            {"text": "北京大学", "label": {"address": {"北京": [[0, 1]]}, "organization": {"北京大学": [[0, 3]]}}},
            {"id": 3, "text": "无标"},
            {"id": 4, "text": "无标"},
        )
        found = read("cluener", path, nlp["zh"])
        assert [doc.text for doc in found.docs] == ["CSOL好", "北京大学"]
        assert entities(found) == [[], [("北京大学", "organization")]]
        patterns = [
            "does not cut at its borders",
            "address '北京' is left out: it overlaps a longer",
            "2 examples have none",
        ]
        assert [line for line, _ in reasons(found)] == [1, 2, 3]
        for (_, reason), pattern in zip(reasons(found), patterns, strict=True):
            assert pattern in reason

    def test_json_lines_of_ones_own(self, nlp, file):
        path = self.lines(file, {"text": "Tôi ở Huế.", "label": [[6, 9, "LOC"]]})
        assert entities(read("jsonl", path, nlp["vi"], kind="sequence-labelling")) == [[("Huế", "LOC")]]
        with pytest.raises(InputError, match="jsonl may hold several kinds"):
            read("jsonl", path, nlp["vi"])

    def test_spans_within_the_files_tokens(self, nlp):
        example = TaggedExample("quá, đi", (Span(0, 3, "T"),), ((0, 4), (5, 7)), ("B-T", "O"))
        found = to_docs([example], nlp["vi"])
        assert entities(found) == [[("quá", "T")]]
        assert [token.text for token in found.docs[0]] == ["quá", ",", "đi"]


class TestCategories:
    def test_one_target(self, nlp, file):
        path = file("text,label\nhay,good\ndở,bad\n")
        found = read("csv", path, nlp["vi"])
        assert [doc.cats for doc in found.docs] == [{"bad": 0.0, "good": 1.0}, {"bad": 1.0, "good": 0.0}]
        write(found.docs, path.with_suffix(".spacy"))
        assert list(docbin.classes(path.with_suffix(".spacy"), None)) == [
            TextExample("hay", {"label": "good"}),
            TextExample("dở", {"label": "bad"}),
        ]

    def test_all_labels_of_the_set(self, nlp):
        dataset = tasks.get("vihsd")
        found = to_docs([TextExample("hay", {"label": dataset.labels["label"][0]})], nlp["vi"], labels=dataset.labels)
        assert found.docs[0].cats.keys() == set(dataset.labels["label"])
        assert sum(found.docs[0].cats.values()) == 1

    def test_several_targets(self, nlp, file):
        found = read("tsv", file("text\ta\tb\nhay\t1\tx\ndở\t2\tx\n"), nlp["vi"], label=("a", "b"))
        assert [doc.cats for doc in found.docs] == [{"a=1": 1, "a=2": 0, "b=x": 1}, {"a=1": 0, "a=2": 1, "b=x": 1}]

    def test_a_target_that_is_not_told(self, nlp):
        found = to_docs([TextExample("a", {"x": "1"}), TextExample("b", {"x": "2", "y": "3"})], nlp["vi"])
        assert [doc.cats for doc in found.docs] == [{"x=1": 1, "x=2": 0}, {"x=1": 0, "x=2": 1, "y=3": 1}]

    def test_aspects(self, nlp):
        dataset = tasks.get("uit-visfd")
        examples = [AspectExample("pin tốt", (("BATTERY", "Positive"), ("OTHERS", None))), AspectExample("ờ", ())]
        found = to_docs(examples, nlp["vi"], labels=dataset.labels)
        assert [{name for name, value in doc.cats.items() if value} for doc in found.docs] == [
            {"BATTERY=Positive", "OTHERS"},
            set(),
        ]
        assert all(len(doc.cats) == 31 for doc in found.docs)

    def test_what_is_left_out(self, nlp):
        found = to_docs(
            [TextExample("", {"label": "a"}), TextExample("không"), TextExample("có", {"label": "a"})], nlp["vi"]
        )
        assert [doc.text for doc in found.docs] == ["có"]
        assert list(map(str, found.problems)) == [
            "example 1: left out: its text is empty",
            "example 2: left out: it has no label; 1 examples have none, this is the first",
        ]


class TestRefused:
    @pytest.mark.parametrize("name", [*tasks.names(), *tasks.beyond()])
    def test_each_set_is_read_or_refused(self, nlp, name, tmp_path):
        """The file is absent: a set that can become Docs fails only when it is opened."""
        dataset = tasks.get(name)
        path = tmp_path / "absent"
        if name in ("uit-vsfc", "c3"):
            error, message = InputError, "is several files: give the folder and the split"
        elif dataset.kind in ("classification", "aspect-sentiment", "sequence-labelling"):
            error, message = FileNotFoundError, "absent"
        else:
            error, message = InputError, rf"\({dataset.kind}\) cannot become Docs: its examples"
        with pytest.raises(error, match=message):
            read(name, path, nlp[dataset.lang])

    def test_an_example_of_another_kind(self, nlp):
        with pytest.raises(InputError, match="a PairExample is not one text with labels"):
            to_docs([PairExample("a", "b", "c")], nlp["vi"])

    def test_what_does_not_fit(self, nlp, tmp_path):
        for arguments, message in (
            (("cluner", tmp_path, nlp["zh"]), "did you mean cluener"),
            (("cluener", tmp_path, nlp["zh"]), "a folder: choose a split of CLUENER: train, dev, test"),
            (("cluener", tmp_path / "dev.json", nlp["vi"]), "CLUENER is in the language 'zh', the pipeline in 'vi'"),
        ):
            with pytest.raises(InputError, match=message):
                read(*arguments)
        with pytest.raises(InputError, match="conll is the format of a single file"):
            read("conll", tmp_path, nlp["vi"], split="train")


class TestCustomDatasets:
    def test_a_split(self, nlp, tmp_path):
        for part, rows in (("train", "a,x\nb,y\n"), ("dev", "c,y\n")):
            (tmp_path / f"{part}.csv").write_text(f"text,label\n{rows}")
        dataset = custom.dataset("classification", lang="vi", train=tmp_path / "train.csv", dev=tmp_path / "dev.csv")
        found = read_split(dataset, ".", "test", nlp["vi"])
        assert [doc.cats for doc in found.docs] == [{"x": 0, "y": 1}]


class TestCommand:
    def test_writes(self, nlp, file, tmp_path, capsys):
        assert main(["convert", "conllu", str(file(TREE)), str(tmp_path / "a" / "train.spacy"), "--lang", "vi"]) == 0
        (doc,) = DocBin().from_disk(tmp_path / "a" / "train.spacy").get_docs(nlp["vi"].vocab)
        assert doc[0].pos_ == "NOUN"
        assert "1 sentences, 6 tokens, 0 entities; 0 problems" in capsys.readouterr().out
        assert [path.name for path in (tmp_path / "a").iterdir()] == ["train.spacy"]

    def run(self, capsys, *arguments):
        status = main(["convert", *map(str, arguments)])
        out, err = capsys.readouterr()
        return status, out + err

    def test_a_dataset_brings_its_language(self, nlp, tmp_path, capsys):
        (tmp_path / "sents.txt").write_text("hay\ndở\n")
        for name, rows in (("sentiments", "2\n0\n"), ("topics", "1\n1\n"), ("sents", "hay\ndở\n")):
            (tmp_path / "train").mkdir(exist_ok=True)
            (tmp_path / "train" / f"{name}.txt").write_text(rows)
        out = tmp_path / "o.spacy"
        status, said = self.run(capsys, "uit-vsfc", tmp_path, out, "--split", "train")
        assert (status, "2 sentences" in said) == (0, True)
        first, _ = DocBin().from_disk(out).get_docs(nlp["vi"].vocab)
        assert {name for name, value in first.cats.items() if value} == {"sentiment=positive", "topic=training_program"}
        assert self.run(capsys, "uit-vsfc", tmp_path, out, "--split", "train", "--text", "a", "--force")[0] == 1

    def test_fields_of_a_file_of_ones_own(self, nlp, file, tmp_path, capsys):
        out = tmp_path / "o.spacy"
        path = file("body,class\nmột hai,ham\nba,spam\n")
        assert self.run(capsys, "csv", path, out, "--lang", "vi", "--text", "body", "--label", "class")[0] == 0
        assert [doc.text for doc in DocBin().from_disk(out).get_docs(nlp["vi"].vocab)] == ["một hai", "ba"]
        status, said = self.run(capsys, "csv", path, out, "--text", "body", "--force")
        assert (status, "csv does not imply a language: give --lang vi" in said) == (1, True)

    def test_strict_writes_nothing(self, file, tmp_path, capsys):
        path, out = file("中 M-ORG\n国 E-ORG\n"), tmp_path / "train.spacy"
        arguments = "conll", path, out, "--lang", "zh"
        status, said = self.run(capsys, *arguments, "--strict")
        assert (status, f"{path}:1: 'M-ORG' continues with no ORG before it" in said) == (1, True)
        assert not out.exists()
        status, said = self.run(capsys, *arguments)
        assert (status, "1 entities; 1 problems" in said, "begins one instead" in said) == (0, True, True)

    def test_strict_refuses_what_is_left_out(self, file, tmp_path, capsys):
        path, out = file('{"text": "CSOL好", "label": {"game": {"CS": [[0, 1]]}}}'), tmp_path / "train.spacy"
        status, said = self.run(capsys, "cluener", path, out, "--strict")
        assert (status, "nothing written" in said, out.exists()) == (1, True, False)

    def test_a_missing_file(self, tmp_path, capsys):
        status, said = self.run(capsys, "conll", tmp_path / "no", tmp_path / "out", "--lang", "vi")
        assert (status, said) == (1, f"{tmp_path / 'no'}: No such file or directory\n")

    @pytest.mark.parametrize("limit", ["-3", "two", "1.5"])
    def test_a_limit_that_is_none(self, tmp_path, capsys, limit):
        with pytest.raises(SystemExit) as ended:
            main(["convert", "conll", "in.txt", str(tmp_path / "out.spacy"), "--lang", "vi", f"--limit={limit}"])
        assert ended.value.code == 2
        assert f"--limit: '{limit}': give how many sentences, or 0 for all" in capsys.readouterr().err

    def test_write_leaves_nothing_half_written(self, nlp, tmp_path):
        def broken():
            yield nlp["vi"].make_doc("a")
            raise RuntimeError

        with pytest.raises(RuntimeError):
            write(broken(), tmp_path / "train.spacy")
        assert not list(tmp_path.glob("*.spacy"))


class TestRealCorpora:
    """The counts are the files' own, counted without the readers."""

    def test_vtb(self, nlp, data):
        path = data("vi/ud_vtb/vi_vtb-ud-dev.conllu")
        text = path.read_text("utf-8")
        found = read("conllu", path, nlp["vi"])
        assert not found.problems
        assert len(found.docs) == text.count("# sent_id") == 1123
        words = Counter(line.split("\t")[3] for line in text.splitlines() if re.match(r"\d", line))
        assert Counter(token.pos_ for doc in found.docs for token in doc) == words
        texts = [line.partition("=")[2].strip() for line in text.splitlines() if line.startswith("# text")]
        assert [doc.text for doc in found.docs] == [re.sub(r"\s+", " ", each) for each in texts]

    @pytest.mark.parametrize("name", ["zh/ud_gsdsimp/zh_gsdsimp-ud-dev.conllu", "zh/ud_gsd/zh_gsd-ud-test.conllu"])
    def test_gsd(self, nlp, data, name):
        text = data(name).read_text("utf-8")
        found = read("conllu", data(name), nlp["zh"])
        assert not found.problems
        texts = [line.partition("=")[2].strip() for line in text.splitlines() if line.startswith("# text =")]
        assert [doc.text for doc in found.docs] == texts

    def test_vietbioner(self, nlp, data):
        path = data("vi/vietbioner/data_supervised_learning/dev.txt")
        found = read("conll", path, nlp["vi"])
        assert not found.problems
        assert len(found.docs) == 300
        tags = Counter(line.split(" ")[1][2:] for line in path.read_text("utf-8").splitlines() if " " in line)
        assert Counter(token.ent_type_ for doc in found.docs for token in doc) == tags

    def test_weibo(self, nlp, data):
        path = data("zh/weibo_ner/weiboNER_2nd_conll.train")
        found = read("weibo", path, nlp["zh"])
        tags = [line.partition("\t")[2] or "O" for line in path.read_text("utf-8").split("\n")]
        begins = sum(  # some begin with I-
            tag[0] == "B" or (tag[0] == "I" and tag[2:] != before[2:]) for before, tag in pairwise(["O", *tags])
        )
        assert sum(len(doc.ents) for doc in found.docs) == begins
        assert len(found.problems) == 2

    def test_cluener(self, nlp, data):
        path = data("zh/cluener/dev.json")
        found = read("cluener", path, nlp["zh"])
        labels = [json.loads(line)["label"] for line in path.read_text("utf-8").splitlines()]
        spans = sum(len(places) for label in labels for names in label.values() for places in names.values())
        assert sum(len(doc.ents) for doc in found.docs) + len(found.problems) == spans
        assert len(found.problems) < 0.005 * spans


def test_too_little_memory_is_one_line(file, tmp_path, monkeypatch, capsys):
    def short(*given, **options):
        raise MemoryError

    monkeypatch.setattr("spacy_phonemic.convert.to_docs", short)
    assert main(["convert", "conll", str(file("Hà B-LOC\n")), str(tmp_path / "out.spacy"), "--lang", "vi"]) == 1
    assert capsys.readouterr().err == "not enough memory\n"
    assert not (tmp_path / "out.spacy").exists()
