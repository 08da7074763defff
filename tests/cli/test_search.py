"""``phonemic search``, ``homophones`` and ``rhymes``: what they find, in each form, and what they refuse."""

import csv
import io
import json

import pytest
from cli_helpers import process, run

from phonemic import Index, distance

NAMES = ["Nguyễn Văn An", "", "Trần Hưng Đạo", "Hồ Chí Minh ", "lan", "lang", "nan"]

pytestmark = pytest.mark.usefixtures("in_tmp_path")


@pytest.fixture
def names(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\n".join(NAMES) + "\n", "utf-8")
    return path


class TestSearch:
    def test_text(self, names):
        found = run("search", names, "Chần", "Hưng", "Đạo", "--lang", "vi").stdout
        assert found == f"{distance('trần', 'chần', 'vi'):.3f}  Trần Hưng Đạo\n"

    def test_the_nearest_and_all(self, names):
        found = json.loads(run("search", names, "lan", "--lang", "vi", "--format", "json", "-k", "2").stdout)
        rows = [match.name for match in Index([name.strip() for name in NAMES if name], "vi").search("lan", limit=2)]
        assert found["query"] == "lan"
        assert [match["name"] for match in found["matches"]] == rows == ["lan", "lang"]
        assert [match["index"] for match in found["matches"]] == [3, 4]  # blank lines do not count
        near = run("search", names, "lan", "--lang", "vi", "--max-distance", "0.06", "--all").stdout
        assert [line.split()[1] for line in near.splitlines()] == ["lan", "lang", "nan"]
        assert (
            len(run("search", names, "lan", "--lang", "vi", "--max-distance", "inf", "--all").stdout.splitlines()) == 6
        )

    def test_names_typed_without_diacritics(self, names):
        nothing = run("search", names, "nguyen van an", "--lang", "vi", status=1)
        assert (nothing.stdout, nothing.stderr) == ("", "no name within 1 of nguyen van an\n")
        assert (
            run("search", names, "nguyen van an", "--lang", "vi", "--ignore-diacritics", "-k", "1").stdout
            == "0.000  Nguyễn Văn An\n"
        )
        run("search", names, "--lang", "vi", "--ignore-diacritics", "--save", "names.index")
        for options in ((), ("--ignore-diacritics",)):
            assert run("search", "names.index", "ho chi minh", "-k", "1", *options).stdout == "0.000  Hồ Chí Minh\n"
        run("search", names, "--lang", "vi", "--save", "names.index", "--force")
        assert "with its own options" in run("search", "names.index", "lan", "--ignore-diacritics", status=2).stderr
        assert (
            "--ignore-diacritics is for Vietnamese"
            in run("search", names, "x", "--lang", "zh", "--ignore-diacritics", status=2).stderr
        )

    def test_an_index_that_was_saved(self, names):
        assert run("search", names, "--lang", "vi", "--save", "names.index").stdout == ""
        assert run("search", "names.index", "lan").stdout == run("search", names, "lan", "--lang", "vi").stdout
        names.unlink()
        assert run("search", "names.index", "lan", "--lang", "vi", "-k", "1").stdout == "0.000  lan\n"
        assert "leave -k out" in run("search", "names.index", "lan", "--all", "-k", "1", status=2).stderr
        assert "is an index for vi" in run("search", "names.index", "lan", "--lang", "zh", status=2).stderr

    def test_standard_input(self, names):
        queries = "lan\n\nChần Hưng Đạo\n...\n"
        options = ("--lang", "vi", "--max-distance", "0.05")
        found = run("search", names, "-", *options, "--format", "tsv", stdin=queries).stdout
        rows = list(csv.DictReader(io.StringIO(found), delimiter="\t"))
        assert [(row["query"], row["name"]) for row in rows] == [
            ("lan", "lan"),
            ("lan", "lang"),
            ("lan", "nan"),
            ("Chần Hưng Đạo", "Trần Hưng Đạo"),
        ]
        lines = run("search", names, "-", *options, stdin=queries).stdout.splitlines()
        assert lines[:2] == ["lan", "  0.000  lan"]
        assert lines[-1] == "..."
        found = run("search", names, "-", *options, "--format", "json", stdin=queries).stdout.splitlines()
        shown = [(one["query"], len(one["matches"])) for one in map(json.loads, found)]
        assert shown == [("lan", 3), ("", 0), ("Chần Hưng Đạo", 1), ("...", 0)]
        piped = run("search", "-", "lan", *options, stdin=names.read_text("utf-8")).stdout
        assert piped == run("search", names, "lan", *options).stdout

    def test_mandarin_with_own_readings(self, tmp_path):
        (tmp_path / "places.txt").write_text("朝阳区\n海淀区\n", "utf-8")
        (tmp_path / "own.tsv").write_text("朝阳\tchao2 yang2\n", "utf-8")
        own = run("search", "places.txt", "潮阳区", "--lang", "zh", "--phrases", "own.tsv", "-k", "1").stdout
        assert own == "0.000  朝阳区\n"
        run("search", "places.txt", "--lang", "zh", "--phrases", "own.tsv", "--save", "places.index")
        assert run("search", "places.index", "潮阳区", "-k", "1").stdout == own

    def test_names_read_by_context(self, tmp_path):
        """*Zhào piàn*, and not *piān*; an index keeps how its names are read."""
        (tmp_path / "words.txt").write_text("照片\n招牌\n", "utf-8")
        options = ("--lang", "zh", "--max-distance", "0")
        assert not run("search", "words.txt", "兆骗", *options, status=1).stdout
        assert "照片" in run("search", "words.txt", "兆骗", *options, "--readings", "context").stdout
        run("search", "words.txt", "--lang", "zh", "--readings", "context", "--save", "words.index")
        assert "照片" in run("search", "words.index", "兆骗", "--max-distance", "0").stdout
        assert "照片" in run("search", "words.index", "兆骗", "--max-distance", "0", "--readings", "context").stdout
        refused = run("search", "words.index", "兆骗", "--readings", "pypinyin", status=2).stderr
        assert "with its own options" in refused

    def test_what_is_refused(self, names, tmp_path):
        assert "give a QUERY, or --save FILE" in run("search", names, "--lang", "vi", status=2).stderr
        assert "a list of names needs" in run("search", "--help").stdout
        assert "give its language with --lang" in run("search", names, "lan", status=2).stderr
        assert "No such file" in run("search", "none.txt", "lan", "--lang", "vi", status=1).stderr
        assert "cannot both be" in run("search", "-", "-", "--lang", "vi", status=2).stderr
        assert "x>=0" in run("search", names, "lan", "--lang", "vi", "--max-distance", "-1", status=2).stderr
        assert (
            "max_distance must be 0"
            in run("search", names, "lan", "--lang", "vi", "--max-distance", "nan", status=1).stderr
        )
        for query in ("", " ", "...", "(!)", "Олег", "😀 ~"):
            refused = run("search", names, query, "--lang", "vi", "--save", "names.index", status=1)
            assert refused.stdout == ""
            assert (
                refused.stderr
                == f"Error: {query.strip()!r} has no sound: give a QUERY with a syllable, a letter or a digit\n"
            )
        assert not (tmp_path / "names.index").exists()
        (tmp_path / "old").write_text("kept")
        assert "--force" in run("search", names, "--lang", "vi", "--save", "old", status=1).stderr
        assert "is also read" in run("search", names, "--lang", "vi", "--save", names, "--force", status=1).stderr
        assert (tmp_path / "old").read_text() == "kept"
        run("search", names, "--lang", "vi", "--save", "old", "--force")
        data = (tmp_path / "old").read_bytes()
        (tmp_path / "old").write_bytes(data[:-3])
        assert "checksum" in run("search", "old", "lan", status=1).stderr
        (tmp_path / "long.txt").write_text("lan\n" + "lan " * 1001, "utf-8")
        assert "name 1 has 1,001 positions" in run("search", "long.txt", "lan", "--lang", "vi", status=1).stderr
        assert "the query has" in run("search", names, "lan " * 1001, "--lang", "vi", status=1).stderr
        (tmp_path / "bad.txt").write_bytes(b"lan\n\xff\n")
        assert "bad.txt, line 2" in run("search", "bad.txt", "lan", "--lang", "vi", status=1).stderr
        assert "is the text Mandarin?" in process("search", names, "lan", "--lang", "zh").stderr.decode()


WORDS = ["hoa", "nhà", "má", "qua", "lan", "lang", "Hoa", "kĩ", "kỹ", "dâu", "nhau", "hoa", "hello", "!"]


class TestGroups:
    @pytest.fixture
    def words(self, tmp_path):
        (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n", "utf-8")

    @pytest.mark.usefixtures("words")
    def test_homophones(self):
        assert run("homophones", "words.txt", "--lang", "vi").stdout == "hoa, Hoa\nkĩ, kỹ\n"
        saigon = run("homophones", "words.txt", "--lang", "vi", "--dialect", "saigon").stdout
        assert saigon == "hoa, qua, Hoa\nlan, lang\nkĩ, kỹ\n"
        assert run("homophones", "words.txt", "--lang", "vi", "--of", "kỷ", "--dialect", "hue").stdout == "kĩ, kỹ\n"
        assert run("homophones", "words.txt", "--lang", "vi", "--of", "bò").stdout == ""
        run("homophones", "words.txt", "--lang", "vi", "--format", "tsv", "-o", "out.tsv")
        with open("out.tsv", encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file, delimiter="\t"))
        assert rows == [["sound", "word"], ["hu̯a˧˧", "hoa"], ["hu̯a˧˧", "Hoa"], ["ki˧ˀ˥", "kĩ"], ["ki˧ˀ˥", "kỹ"]]

    @pytest.mark.usefixtures("words")
    def test_rhymes(self):
        assert run("rhymes", "words.txt", "--lang", "vi").stdout.splitlines() == [
            "hoa, nhà, qua, Hoa",
            "kĩ, kỹ",
        ]
        near = run("rhymes", "words.txt", "--lang", "vi", "--near", "--of", "bầu").stdout
        assert near == "dâu, nhau\n"
        found = run("rhymes", "words.txt", "--lang", "vi", "--of", "nhà", "--format", "json").stdout
        assert json.loads(found) == {"sound": "a level", "words": ["hoa", "nhà", "qua", "Hoa"]}

    def test_words_read_by_context(self, tmp_path):
        (tmp_path / "words.txt").write_text("照片\n兆骗\n", "utf-8")
        assert not run("homophones", "words.txt", "--lang", "zh").stdout
        assert run("homophones", "words.txt", "--lang", "zh", "--readings", "context").stdout == "照片, 兆骗\n"
        assert run("rhymes", "words.txt", "--lang", "zh", "--readings", "context").stdout == "照片, 兆骗\n"

    def test_mandarin(self, tmp_path):
        (tmp_path / "words.txt").write_text("事实\n逝时\n光\n乡\n流\n的\n哥\n热\n", "utf-8")
        assert run("homophones", "words.txt", "--lang", "zh").stdout == "事实, 逝时\n"
        assert run("rhymes", "words.txt", "--lang", "zh").stdout.splitlines() == [
            "事实, 逝时",
            "光, 乡",
            "的, 哥",
            "的, 热",
        ]

    def test_what_is_refused(self, tmp_path):
        (tmp_path / "words.txt").write_text("事实\n", "utf-8")
        assert "for Vietnamese" in run("homophones", "words.txt", "--lang", "zh", "--dialect", "hue", status=2).stderr
        assert "for Vietnamese" in run("rhymes", "words.txt", "--lang", "zh", "--near", status=2).stderr
        assert "Missing option '--lang'" in run("rhymes", "words.txt", status=2).stderr
        for command, word in (("homophones", ""), ("homophones", "..."), ("rhymes", "Олег")):
            refused = run(command, "words.txt", "--lang", "zh", "--of", word, "-o", "out.txt", status=1)
            assert refused.stderr == f"Error: {word!r} has no sound: give a WORD with a syllable, a letter or a digit\n"
        run("rhymes", "words.txt", "--lang", "zh", "-o", "out.txt")
        assert "--force" in run("rhymes", "words.txt", "--lang", "zh", "-o", "out.txt", status=1).stderr
