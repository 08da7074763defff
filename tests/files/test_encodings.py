"""Text in other encodings: the same texts as in UTF-8, whatever reads them, and errors that name the way out."""

import codecs
import gzip
import json
from pathlib import Path

import pytest
from cli_helpers import run

from phonemic import InputError, Tokenizer
from phonemic.corpus import Options, Threads, open_corpus, prepare
from phonemic.files import read_texts
from phonemic.files.encodings import ENCODINGS, in_utf8

pytestmark = pytest.mark.usefixtures("in_tmp_path", "empty_figures")

CHINESE = ["银行行长重视工作。", "", "我们都是中国人", "北京 2008"] * 40
TAIWANESE = ["銀行行長", "臺灣大學", "重慶"]
VIETNAMESE = ["Tôi yêu tiếng Việt.", "Đường phố Hà Nội"]


def texts_of(path, **options):
    return [text for texts in read_texts(path, **options) for text in texts]


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    ("encoding", "codec", "texts"),
    [
        ("gb18030", "gb18030", [*CHINESE, "🎉😀"]), ("gbk", "gbk", CHINESE), ("gb2312", "gb2312", CHINESE), ("big5", "big5", TAIWANESE),
        ("utf-16", "utf-16", CHINESE), ("utf-16-le", "utf-16-le", VIETNAMESE), ("utf-16-be", "utf-16-be", VIETNAMESE),
        ("windows-1258", "cp1258", ["Vi\u1ec7t".replace("\u1ec7", "ê\u0323"), "đường".replace("ờ", "ơ\u0300")]),
    ],
)  # fmt: skip
def test_texts_are_those_of_utf8(encoding, codec, texts, chunk):
    data = "".join(f"{text}\r\n" for text in texts).encode(codec)
    Path("in.txt").write_bytes(data)
    assert texts_of("in.txt", encoding=encoding, chunk=chunk) == texts
    Path("in.jsonl.gz").write_bytes(
        gzip.compress("".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts).encode(codec))
    )
    assert texts_of("in.jsonl.gz", encoding=encoding, chunk=chunk) == texts
    blocks = [data[at : at + chunk] for at in range(0, len(data), chunk)]
    assert b"".join(in_utf8(blocks, "x", encoding)) == b"".join(in_utf8([data], "x", encoding))


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE])
def test_a_mark_tells_utf16(mark):
    codec = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF32_LE: "utf-32-le"}.get(
        mark, "utf-32-be"
    )
    Path("in.txt").write_bytes(mark + "\n".join(VIETNAMESE).encode(codec))
    assert texts_of("in.txt") == VIETNAMESE
    manifest = prepare(["in.txt"], "corpus", Options(Tokenizer("vi")), Threads(1))
    assert manifest["totals"]["lines_kept"] == 2


def test_prepare_gives_the_corpus_of_utf8():
    texts = [text for text in CHINESE if text]
    Path("a.txt").write_text("\n".join(texts), "utf-8")
    Path("b.txt").write_bytes("\n".join(texts).encode("gb18030"))
    corpora = []
    for name, options in (("a.txt", {}), ("b.txt", {"encoding": "gbk"})):
        prepare([name], f"{name}-corpus", Options(Tokenizer("zh"), **options), Threads(1))
        corpora.append([shard.ids.tolist() for shard in open_corpus(f"{name}-corpus")])
    assert corpora[0] == corpora[1]
    assert json.loads(Path("b.txt-corpus/manifest.json").read_text())["options"]["encoding"] == "gbk"
    assert "encoding" not in json.loads(Path("a.txt-corpus/manifest.json").read_text())["options"]


@pytest.mark.parametrize(
    "words",
    ["encode in.txt out.parquet", "stats in.txt", "show in.txt", "transcribe in.txt", "search in.txt 我们都是中国人", "homophones in.txt", "prepare in.txt corpus",
     "noise in.txt --ratio 0.1 -o out.txt"],
)  # fmt: skip
def test_every_command_names_the_option_and_takes_it(words):
    Path("in.txt").write_bytes("\n".join(text for text in CHINESE if text).encode("gbk"))
    told = run(*words.split(), "--lang", "zh", status=1).stderr
    assert "in.txt" in told
    assert "it is in GB 18030 (GBK): read it with --encoding gb18030" in told
    run(*words.replace("corpus", "other").split(), "--lang", "zh", "--encoding", "gb18030")


def test_other_text_is_not_taken_for_chinese():
    for data in (
        b"T\xf4i y\xeau ti\xean",
        b"Tr\xad\xeang \xae\xb9i h\xe4c \xae\xad\xeec",
        "銀行行長臺灣".encode("big5"),
        b"\xff\xfea\xff",
    ):
        Path("in.txt").write_bytes(b"a\n" + data + b"\n")
        with pytest.raises(InputError, match=r"--encoding names another|not utf") as error:
            texts_of("in.txt")
        assert "GB 18030" not in str(error.value)


def test_invalid_bytes_are_named():
    Path("in.txt").write_bytes("你好\n".encode("gbk") + b"ab\xffc\n")
    with pytest.raises(InputError, match=r"in\.txt, byte 7 of the file: not gbk"):
        texts_of("in.txt", encoding="gbk")
    assert texts_of("in.txt", encoding="gbk", errors="replace") == ["你好", "ab\ufffdc"]
    with pytest.raises(InputError, match="unknown encoding 'x'"):
        texts_of("in.txt", encoding="x")
    assert all("x".encode(codec) for codec in ENCODINGS.values())
