"""The readers of annotated corpora: what they read, what they report, and the real corpora."""

import json
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")

from spacy.tokens import DocBin  # noqa: E402

from spacy_phonemic import convert  # noqa: E402
from spacy_phonemic.__main__ import main  # noqa: E402
from spacy_phonemic.convert import read_cluener, read_conll, read_conllu, write  # noqa: E402

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


def reasons(read):
    return [(problem.line, problem.reason) for problem in read.problems]


class TestConllu:
    def test_a_tree(self, nlp, file):
        read = read_conllu(file(TREE), nlp["vi"])
        (doc,) = read.docs
        assert not read.problems
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
        assert read_conllu(file("\n".join(lines)), nlp["zh"]).docs[0].text == "学生học,rồivề."
        assert read_conllu(file("\n".join(lines)), nlp["vi"]).docs[0].text == "学生 học , rồi về ."

    def test_another_text(self, nlp, file):
        read = read_conllu(file(TREE.replace("# text = Sinh", "# text = sinh")), nlp["vi"])
        assert read.docs[0].text == "Sinh viên học, rồi về."
        assert reasons(read) == [(3, "the words are not those of the text comment; they lie as SpaceAfter says")]

    @pytest.mark.parametrize(
        ("old", "new", "line", "reason", "docs"),
        [
            ("1\tSinh viên", "1-2\tSinh viên", 3, "token of several words", 1),
            ("\tPUNCT\t,\t_\t2", "\tPUNCT\t,", 5, "columns, not 10", 1),
            ("\tADV\t_", "\tADVERB\t_", 6, "'ADVERB' is no universal part of speech", 2),
            ("\t5\tadvmod", "\t9\tadvmod", 6, "'9' is not the head of a word", 2),
            ("\t0\troot", "\t1\troot", 3, "in a circle", 2),
        ],
    )
    def test_problems(self, nlp, file, old, new, line, reason, docs):
        assert TREE.count(old) == 1
        read = read_conllu(file(TREE.replace(old, new) + "\n" + TREE), nlp["vi"])
        assert len(read.problems) == 1
        assert read.problems[0].line == line
        assert reason in read.problems[0].reason
        assert str(read.problems[0]).startswith(read.problems[0].path + f":{line}: ")
        assert read.docs[-1].text == "Sinh viên học, rồi về."
        assert len(read.docs) == docs


class TestConll:
    def test_iob2(self, nlp, file):
        read = read_conll(file("Tôi O\nở O\nHà B-LOC\nNội I-LOC\nHuế B-LOC\n\n\nAnh B-PER\n"), nlp["vi"])
        assert [doc.text for doc in read.docs] == ["Tôi ở Hà Nội Huế", "Anh"]
        assert [[(ent.text, ent.label_) for ent in doc.ents] for doc in read.docs] == [
            [("Hà Nội", "LOC"), ("Huế", "LOC")],
            [("Anh", "PER")],
        ]
        assert not read.problems

    def test_iob1(self, nlp, file):
        read = read_conll(file("Hà I-LOC\nNội I-LOC\nAnh I-PER\n, O\nHuế I-LOC"), nlp["vi"])
        assert [(ent.text, ent.label_) for ent in read.docs[0].ents] == [
            ("Hà Nội", "LOC"),
            ("Anh", "PER"),
            ("Huế", "LOC"),
        ]
        assert not read.problems

    @given(
        st.lists(st.tuples(st.sampled_from(["PER", "LOC", ""]), st.integers(1, 4)), min_size=1, max_size=8), st.data()
    )
    def test_every_scheme(self, nlp, tmp_path_factory, chunks, data):
        """Entities written in a scheme are read back, token for token."""
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
        read = read_conll(path, nlp["vi"])
        assert [(ent.start, ent.end, ent.label_) for ent in read.docs[0].ents] == want
        assert not read.problems

    def test_numbered_characters(self, nlp, file):
        read = read_conll(
            file("去0\tO\n北0\tB-GPE.NAM\n京1\tI-GPE.NAM\n10\tO\n02\tO\nab0\tO"), nlp["zh"], numbered=True
        )
        assert read.docs[0].text == "去北京10ab"
        assert [ent.text for ent in read.docs[0].ents] == ["北京"]
        assert reasons(read) == [(6, "'ab0' is not a character and a number; it is read as one token")]

    def test_problems(self, nlp, file):
        read = read_conll(file("Hà B-LOC\nNội\nvà X\n\nở O\nHuế I-LOC\nU20 B-ORG\n"), nlp["vi"])
        assert reasons(read)[:2] == [
            (2, "left out: 'Nội' is not a token and a tag"),
            (3, "'X' is not a tag; it is read as O"),
        ]
        assert reasons(read)[2] == (6, "I-LOC continues no entity; it is read as the beginning of one")
        assert [ent.text for doc in read.docs for ent in doc.ents] == ["Hà", "Huế", "U20"]

    def test_borders_where_the_tokenizer_does_not_cut(self, nlp, file):
        read = read_conll(file("看0\tO\nC0\tB-X\nS1\tO\n"), nlp["zh"], numbered=True)
        assert reasons(read) == [(2, "the pipeline's tokenizer does not cut at X 'C'")]


class TestCluener:
    def read(self, nlp, file, *records):
        return read_cluener(file("\n".join(json.dumps(record, ensure_ascii=False) for record in records)), nlp["zh"])

    def test_spans_are_inclusive(self, nlp, file):
        label = {"name": {"温格": [[0, 1]]}, "organization": {"曼联": [[4, 5], [7, 8]]}}
        read = self.read(nlp, file, {"text": "温格战胜曼联，曼联", "label": label})
        assert [(ent.text, ent.label_) for ent in read.docs[0].ents] == [
            ("温格", "name"),
            ("曼联", "organization"),
            ("曼联", "organization"),
        ]
        assert not read.problems

    def test_problems(self, nlp, file):
        read = self.read(
            nlp,
            file,
            {"text": "温格", "label": {"name": {"温": [[1, 1]]}}},
            {"text": "CSOL好", "label": {"game": {"CS": [[0, 1]]}}},
            {"text": "北京大学", "label": {"address": {"北京": [[0, 1]]}, "organization": {"北京大学": [[0, 3]]}}},
            {"id": 3, "text": "无标"},
        )
        assert [doc.text for doc in read.docs] == ["温格", "CSOL好", "北京大学"]
        assert [[ent.text for ent in doc.ents] for doc in read.docs] == [[], [], ["北京大学"]]
        assert [line for line, _ in reasons(read)] == [1, 2, 3, 4]
        patterns = ["characters 1 to 2 are '格'", "does not cut", "overlaps a longer", "no text with labels"]
        for (_, reason), pattern in zip(reasons(read), patterns, strict=True):
            assert pattern in reason


class TestCommand:
    def test_writes(self, nlp, file, tmp_path, capsys):
        assert main(["convert", "conllu", str(file(TREE)), str(tmp_path / "a" / "train.spacy"), "--lang", "vi"]) == 0
        (doc,) = DocBin().from_disk(tmp_path / "a" / "train.spacy").get_docs(nlp["vi"].vocab)
        assert doc[0].pos_ == "NOUN"
        assert "1 sentences, 6 tokens, 0 entities; 0 problems" in capsys.readouterr().out
        assert [path.name for path in (tmp_path / "a").iterdir()] == ["train.spacy"]

    def test_strict_writes_nothing(self, file, tmp_path, capsys):
        path, out = file("Hà X\n"), tmp_path / "train.spacy"
        assert main(["convert", "conll", str(path), str(out), "--lang", "vi", "--strict"]) == 1
        assert f"{path}:1: 'X' is not a tag" in capsys.readouterr().err
        assert not out.exists()

    def test_a_missing_file(self, tmp_path, capsys):
        assert main(["convert", "conll", str(tmp_path / "no"), str(tmp_path / "out"), "--lang", "vi"]) == 1
        assert "cannot be read" in capsys.readouterr().err

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
        read = read_conllu(path, nlp["vi"])
        assert not read.problems
        assert len(read.docs) == text.count("# sent_id") == 1123
        words = Counter(line.split("\t")[3] for line in text.splitlines() if re.match(r"\d", line))
        assert Counter(token.pos_ for doc in read.docs for token in doc) == words
        texts = [line.partition("=")[2].strip() for line in text.splitlines() if line.startswith("# text")]
        assert [doc.text for doc in read.docs] == [re.sub(r"\s+", " ", each) for each in texts]

    @pytest.mark.parametrize("name", ["zh/ud_gsdsimp/zh_gsdsimp-ud-dev.conllu", "zh/ud_gsd/zh_gsd-ud-test.conllu"])
    def test_gsd(self, nlp, data, name):
        text = data(name).read_text("utf-8")
        read = read_conllu(data(name), nlp["zh"])
        assert not read.problems
        texts = [line.partition("=")[2].strip() for line in text.splitlines() if line.startswith("# text =")]
        assert [doc.text for doc in read.docs] == texts

    def test_vietbioner(self, nlp, data):
        path = data("vi/vietbioner/data_supervised_learning/dev.txt")
        read = read_conll(path, nlp["vi"])
        assert not read.problems
        assert len(read.docs) == 300
        tags = Counter(line.split(" ")[1][2:] for line in path.read_text("utf-8").splitlines() if " " in line)
        assert Counter(token.ent_type_ for doc in read.docs for token in doc) == tags

    def test_weibo(self, nlp, data):
        path = data("zh/weibo_ner/weiboNER_2nd_conll.train")
        read = read_conll(path, nlp["zh"], numbered=True)
        lines = path.read_text("utf-8").split("\n")
        begins = sum("\tB-" in line for line in lines)
        repaired = sum("continues no entity" in problem.reason for problem in read.problems)
        assert sum(len(doc.ents) for doc in read.docs) == begins + repaired
        for problem in read.problems:
            assert lines[problem.line - 1].strip()
        assert len(read.problems) < 30

    def test_cluener(self, nlp, data):
        path = data("zh/cluener/dev.json")
        read = read_cluener(path, nlp["zh"])
        labels = [json.loads(line)["label"] for line in path.read_text("utf-8").splitlines()]
        spans = sum(len(places) for label in labels for names in label.values() for places in names.values())
        assert sum(len(doc.ents) for doc in read.docs) + len(read.problems) == spans
        assert len(read.problems) < 0.005 * spans


def test_too_little_memory_is_one_line(file, tmp_path, monkeypatch, capsys):
    def short(*given):
        raise MemoryError

    monkeypatch.setitem(convert.FORMATS, "conllu", short)
    assert main(["convert", "conllu", str(file(TREE)), str(tmp_path / "out.spacy"), "--lang", "vi"]) == 1
    assert capsys.readouterr().err == "not enough memory\n"
    assert not (tmp_path / "out.spacy").exists()
