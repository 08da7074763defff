"""The registry of datasets, how a set is found and read, and what is wrong with one that cannot be."""

from __future__ import annotations

import contextlib
import csv
import json
import pickle
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phonemic import tasks
from phonemic.errors import InputError, PhonemicError
from phonemic.tasks import listing, records, squad, tagging
from phonemic.tasks.examples import TextExample

PAPER = [
    "TNEWS", "IFLYTEK", "THUCNews", "AFQMC", "BQ", "CSL", "OCNLI", "CLUEWSC", "C3", "CMRC", "CLUENER",
    "VSMEC", "ViHSD", "ViHOS", "UIT-ViSFD", "ViOCD", "ViCTSD", "UIT-VSFC", "NIIVTB-POS", "PhoNER", "VietMed",
    "ViNLI", "ViNewsQA",
]  # fmt: skip
DOCS = Path(__file__).parents[2] / "docs" / "reference" / "datasets.md"


def test_the_paper_s_sets_under_the_paper_s_names() -> None:
    titles = [tasks.get(name).title.replace(" ", "-") for name in tasks.names()]
    assert titles == PAPER
    assert list(tasks.names()) == [title.lower() for title in PAPER]


def test_reports_what_the_paper_reports() -> None:
    """Section 5.5: accuracy, exact match and entity F1 for Chinese; macro-F1, span F1 and answer F1 for Vietnamese."""
    metrics = {name: tasks.get(name).metric for name in tasks.names()}
    assert {metrics.pop(name) for name in ("cluener", "phoner", "vietmed")} == {"span-f1"}
    assert (metrics.pop("cmrc"), metrics.pop("vinewsqa")) == ("exact-match", "answer-f1")
    assert metrics.pop("vihos") == "token-macro-f1"
    for name, metric in metrics.items():
        assert metric == {"zh": "accuracy", "vi": "macro-f1"}[tasks.get(name).lang], name


def test_chinese_is_reported_on_dev_and_vietnamese_on_test() -> None:
    for name in tasks.names():
        dataset = tasks.get(name)
        expected = {"zh": ("dev", None), "vi": ("test", "dev")}[dataset.lang]
        assert (dataset.test, dataset.dev) == expected, name


def test_every_set_can_be_sent_to_another_process() -> None:
    for name in tasks.names():
        dataset = tasks.get(name)
        again = pickle.loads(pickle.dumps(dataset))
        assert (again.name, again.labels, again.layouts) == (dataset.name, dataset.labels, dataset.layouts)
        assert hash(dataset) == hash(tasks.get(name))


def test_unknown_name_names_those_that_are_close() -> None:
    with pytest.raises(ValueError, match="did you mean cluener"):
        tasks.get("clue-ner")
    with pytest.raises(ValueError, match="choose one of tnews, iflytek"):
        tasks.get("@@@")
    assert tasks.get("UIT-VSFC") is tasks.get("uit-vsfc")


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys; from phonemic import tasks; print([m for m in ('torch', 'pandas', 'pyarrow', 'openpyxl') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- a set of one's own


def lower_words(paths: Sequence[Path]) -> Iterator[TextExample]:
    for record in records.json_lines(paths[0]):
        yield TextExample(record.text("t"), record.labels({"label": ("y", records.same("a", "b"))}))


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> tasks.Dataset:
    from phonemic.tasks import registry

    monkeypatch.setattr(registry, "_SETS", dict(registry._SETS))
    return tasks.register(
        tasks.Dataset(
            name="own",
            title="Own",
            lang="zh",
            kind="classification",
            metric="accuracy",
            labels={"label": ("a", "b")},
            layouts=(tasks.layout("{}.json", dev="val"), tasks.layout("{}/x.json", "{}/y.json")),
            parse=lower_words,
            test="dev",
            dev=None,
            home="https://example.org/own",
            licence="MIT",
            note="Ask first.",
        )
    )


def write_own(folder: Path, **splits: list[dict[str, str]]) -> Path:
    for name, rows in splits.items():
        (folder / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


def test_a_set_of_one_s_own(own: tasks.Dataset, tmp_path: Path) -> None:
    assert tasks.names()[-1] == "own"
    assert tasks.get("own") is own
    with pytest.raises(ValueError, match="called 'own' already"):
        tasks.register(own)
    write_own(tmp_path, train=[{"t": "一", "y": "a"}, {"t": " ", "y": "b"}], val=[{"t": "二"}])
    assert own.present(tmp_path) == ("train", "dev")
    assert list(own.read(tmp_path, "train")) == [TextExample("一", {"label": "a"}), TextExample(" ", {"label": "b"})]
    assert list(own.read(tmp_path, "dev")) == [TextExample("二", {})]
    assert list(own.texts(tmp_path)) == ["一", "二"]
    assert list(own.texts(str(tmp_path), ["dev"])) == ["二"]


def test_names_of_splits_are_checked() -> None:
    with pytest.raises(ValueError, match="has no split 'final'"):
        tasks.Dataset(
            name="x", title="X", lang="vi", kind="classification", metric="accuracy", labels={}, layouts=(),
            parse=lower_words, test="final",
        )  # fmt: skip
    with pytest.raises(ValueError, match="lower case"):
        tasks.register(
            tasks.Dataset(
                name="X", title="X", lang="vi", kind="classification", metric="accuracy", labels={}, layouts=(),
                parse=lower_words,
            )
        )  # fmt: skip


def test_missing_files_are_named_at_once(own: tasks.Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        own.read(tmp_path, "dev")
    assert str(error.value) == (
        f"{tmp_path}: Own lacks its dev split here: no val.json or dev/x.json and dev/y.json. "
        "It is published at https://example.org/own (terms: MIT). Ask first."
    )
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / "x.json").touch()
    with pytest.raises(InputError, match=r"no dev/y\.json\."):
        own.texts(tmp_path, ["dev"])
    with pytest.raises(InputError, match="lacks its train split"):
        own.texts(tmp_path)
    with pytest.raises(InputError, match="has no split 'final': choose one of train, dev, test"):
        own.read(tmp_path, "final")
    with pytest.raises(InputError, match=r"nowhere: no such folder\. It is published at"):
        own.read(tmp_path / "nowhere", "train")
    with pytest.raises(TypeError, match="did you mean"):
        own.texts(tmp_path, "train")


def test_finds_the_folder_below_a_root(own: tasks.Dataset, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder zh/own or own for Own in it"):
        own.find(tmp_path)
    (tmp_path / "own").mkdir()
    assert own.find(tmp_path) == tmp_path / "own"
    (tmp_path / "zh" / "own").mkdir(parents=True)
    assert own.find(tmp_path) == tmp_path / "zh" / "own"
    assert f"own: {tmp_path / 'zh' / 'own'}: none of its files" in listing.present(tmp_path)
    write_own(tmp_path / "zh" / "own", train=[], val=[])

    assert "own: train, dev" in listing.present(tmp_path)


def test_folds_follow_the_paper_s_protocol(own: tasks.Dataset, tmp_path: Path) -> None:
    write_own(tmp_path, train=[{"t": str(n), "y": "a"} for n in range(50)], val=[{"t": "x"}])
    first, again, other = own.folds(tmp_path, 1), own.folds(tmp_path, 1), own.folds(tmp_path, 2)
    assert first == again != other
    assert len(first.dev) == 5
    assert [example.text for example in first.test] == ["x"]
    assert sorted((first.train + first.dev), key=lambda example: int(example.text)) == list(own.read(tmp_path, "train"))
    assert first.train == sorted(first.train, key=lambda example: int(example.text))


def test_official_splits_stay_as_they_are(tmp_path: Path) -> None:
    for name, text in (("train", "một"), ("dev", "hai"), ("test", "ba")):
        (tmp_path / f"{name}.csv").write_text(f"free_text,label_id\n{text},0\n", encoding="utf-8")
    folds = tasks.get("vihsd").folds(tmp_path, 7)
    assert [[example.text for example in fold] for fold in folds] == [["một"], ["hai"], ["ba"]]


# --- reading


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


DAMAGED: list[tuple[str, Callable[[Path], object], bytes, str]] = [
    ("a.json", records.json_lines, b'{"a": 1}\n{"a": \n', r"a\.json:2: is not JSON \("),
    ("a.json", records.json_lines, b"{}\n\n[1]\n", r"a\.json:3: a JSON object is expected, not of type list"),
    ("a.json", records.json_lines, b"{}\n\xff\n", r"a\.json:2: not UTF-8 \(invalid start byte at byte 0\)"),
    ("a.json", lambda path: [records.json_document(path)], b'{\n"a": [1,\n}', r"a\.json:3: is not JSON: "),
    (
        "a.csv",
        lambda path: records.table(path, ("a", "b")),
        b"a,c\n1,2\n",
        r"a\.csv:1: no column b; the columns are a, c",
    ),
    ("a.csv", lambda path: records.table(path, ("a",)), b"", r"a\.csv:1: no column a"),
    (
        "a.csv",
        lambda path: records.table(path, ("a",)),
        b'a,b\n"1\n",2\n3\n',
        r"a\.csv:4: 1 fields, but the header has 2",
    ),
    ("a.csv", lambda path: records.table(path, ("a",)), b'a,b\n1,2\n3,"4\n', r"a\.csv:3: is not CSV: "),
    ("a.xlsx", lambda path: records.table(path, ("a",)), b"no zip", r"a\.xlsx: is not a workbook: "),
]


@pytest.mark.parametrize(("name", "read", "content", "message"), DAMAGED)
def test_damage_is_named_with_its_line(
    name: str, read: Callable[[Path], Iterator[object]], content: bytes, message: str, tmp_path: Path
) -> None:
    if name.endswith(".xlsx"):
        pytest.importorskip("openpyxl", reason="reads workbooks")
    with pytest.raises(InputError, match=message):
        list(read(write(tmp_path / name, content)))


def test_a_damaged_sheet_of_a_workbook(tmp_path: Path) -> None:
    """The archive is whole, and what is in it is read only with the rows."""
    openpyxl = pytest.importorskip("openpyxl", reason="reads workbooks")
    book = openpyxl.Workbook()
    for number in range(50):
        book.active.append([f"câu {number}", number])
    book.save(tmp_path / "whole.xlsx")
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole:
        parts = {name: whole.read(name) for name in whole.namelist()}
    assert len(list(records.workbook_rows(tmp_path / "whole.xlsx"))) == 50
    for name, part in parts.items():
        for content in (b"", b"<", part[: len(part) // 2], part.replace(b"t=", b"t=9", 3)):
            with zipfile.ZipFile(tmp_path / "a.xlsx", "w") as made:
                for other, data in parts.items():
                    made.writestr(other, content if other == name else data)
            with contextlib.suppress(InputError):
                list(records.workbook_rows(tmp_path / "a.xlsx"))


def test_fields_are_checked() -> None:
    record = records.Record("f:3", {"text": 5, "y": "c", "n": True})
    for act, message in (
        (lambda: record.text("sentence"), "f:3: no field 'sentence'; the fields are text, y, n"),
        (lambda: record.text("text"), "f:3: 'text' is int, not str"),
        (lambda: record.get("n", int), "f:3: 'n' is bool, not int"),
        (lambda: record.label("y", records.same("a", "b")), "f:3: y 'c' is not a label of this set: a, b"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            act()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(PhonemicError, match=r'openpyxl: pip install "phonemic\[tasks\]"'):
        list(records.table(write(tmp_path / "a.xlsx", "x"), ()))


lines_of_text = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=20)


@given(st.lists(st.fixed_dictionaries({"t": lines_of_text}), min_size=1))
def test_json_lines_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]) -> None:
    path = tmp_path_factory.mktemp("json") / "a.json"
    write(path, "\ufeff" + "\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    assert [record.fields for record in records.json_lines(path)] == rows


@given(st.lists(st.fixed_dictionaries({"a": lines_of_text, "b": lines_of_text})))
def test_csv_comes_back_with_its_line(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with open(path, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, ("a", "b"))
        writer.writeheader()
        writer.writerows(rows)
    found = list(records.table(path, ("a",)))
    assert [record.fields for record in found] == rows
    numbers = [int(record.place.rpartition(":")[2]) for record in found]
    starts = [2 + sum(f"{row['a']}{row['b']}".count("\n") + 1 for row in rows[:at]) for at in range(len(rows))]
    assert numbers == starts


words_and_tags = st.lists(
    st.tuples(
        st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=5),
        st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]),
    ),
    min_size=1,
)


@given(words_and_tags)
def test_tokens_and_tags_come_back(rows: list[tuple[str, str]]) -> None:
    words, tags = [word for word, _ in rows], [tag for _, tag in rows]
    example = tagging.tagged_words(words, tags, ["f:1"], ("X", "Y"))
    assert [example.text[start:end] for start, end in example.tokens] == words
    assert example.text.split() == words
    assert example.tags == tuple(tags)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O B-X I-X O", [("b c", "X")]),
        ("B-X B-X I-X O", [("a", "X"), ("b c", "X")]),
        ("I-X I-X O I-Y", [("a b", "X"), ("d", "Y")]),
        ("B-X I-Y I-Y I-X", [("a", "X"), ("b c", "Y"), ("d", "X")]),
        ("O O O O", []),
    ],
)
def test_tags_become_spans(tags: str, expected: list[tuple[str, str]]) -> None:
    """As conlleval counts: a span begins at B, and at an I that continues none of its label."""
    example = tagging.tagged_words(list("abcd"), tags.split(), ["f:1"], ("X", "Y"))
    assert [(example.text[span.start : span.end], span.label) for span in example.spans or ()] == expected


def test_tags_become_the_spans_that_seqeval_sees() -> None:
    get_entities = pytest.importorskip("seqeval.metrics.sequence_labeling", reason="the measure of NER").get_entities

    @given(words_and_tags)
    def check(rows: list[tuple[str, str]]) -> None:
        tags = [tag for _, tag in rows]
        example = tagging.tagged_words([word for word, _ in rows], tags, ["f:1"], ("X", "Y"))
        starts, ends = zip(*example.tokens, strict=True)
        expected = [(label, starts[first], ends[last]) for label, first, last in get_entities(tags)]
        assert [(span.label, span.start, span.end) for span in example.spans or ()] == expected

    check()


@given(st.lists(st.text("aạ_b", min_size=1, max_size=6), min_size=1))
def test_joined_syllables_come_apart_and_offsets_stay(words: list[str]) -> None:
    text, tokens = tagging.join_words(words, ["f:1"], "_")
    plain, same = tagging.join_words(words, ["f:1"])
    assert tokens == same
    assert len(text) == len(plain)
    for (start, end), word in zip(tokens, words, strict=True):
        assert text[start:end].replace(" ", "_") == word
        assert (text[start], text[end - 1]) == (word[0], word[-1])
        assert "_" not in text[start + 1 : end - 1]


@given(st.text("ab", max_size=30), st.text("ab", min_size=1, max_size=3), st.integers(-1, 30))
def test_an_answer_is_found_where_it_is_nearest(context: str, answer: str, start: int) -> None:
    found = squad.place_of(answer, start, context)
    places = [at for at in range(len(context)) if context[at : at + len(answer)] == answer]
    if found is None:
        assert not places
    else:
        assert found in places
        assert abs(found - start) == min(abs(place - start) for place in places)


# --- the page


def test_the_page_holds_the_registry_s_tables() -> None:
    if not DOCS.exists():
        pytest.skip("docs/ is not here")
    page = DOCS.read_text(encoding="utf-8")
    for names in (None, tasks.beyond()):
        assert listing.overview(names) in page
        assert listing.files(names) in page


def test_the_page_is_written_by_the_module(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        command = [sys.executable, "-X", "utf8", "-m", "phonemic.tasks", *arguments]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode()

    assert run("--help").startswith("usage: python -m phonemic.tasks [-h] [FOLDER]")
    parts = (write(names) for names in (None, tasks.beyond()) for write in (listing.overview, listing.files))
    assert run().splitlines() == "\n\n".join(parts).splitlines()
    (tmp_path / "zh" / "tnews").mkdir(parents=True)
    (tmp_path / "zh" / "tnews" / "dev.json").touch()
    assert run(str(tmp_path)).splitlines()[:2] == [f"tnews: {tmp_path / 'zh' / 'tnews'}: dev", "iflytek: not there"]


def test_the_page_s_own_set_works(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from phonemic.tasks import registry

    page = DOCS.parents[1] / "how-to" / "own-data.md"
    if not page.exists():
        pytest.skip("docs/ is not here")
    monkeypatch.setattr(registry, "_SETS", dict(registry._SETS))
    code = page.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    exec(code, {})
    (tmp_path / "validation.csv").write_text("body,class\nchào,ham\n", encoding="utf-8")
    assert list(tasks.get("mail").read(tmp_path, "dev")) == [TextExample("chào", {"label": "ham"})]
