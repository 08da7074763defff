"""Small baseline tokenizers, made in the test, and texts for them."""

import string
from pathlib import Path

import sentencepiece
from hypothesis import strategies as st

from phonemic import baselines

CHINESE = [
    "今天天气很好，我们去公园散步。",
    "他在北京工作了3年！",
    "这本书很有意思，ABC 你看过吗？",
    "天上有云，地上有水。",
]
CODES = {
    "今": "jin❁0",
    "天": "tian❁0",
    "气": "qi❄1",
    "很": "hen❃0",
    "好": "hao❃0",
    "我": "wo❃0",
    "们": "men❅0",
    "他": "ta❁0",
}
SUBCHAR = ("Subword", "SubChar-Wubi", "SubChar-Pinyin", "SubChar-Pinyin-NoIndex")
SIZES = dict(zip(SUBCHAR, (49, 60, 60, 60), strict=True))
WORDS = [
    "Trời",
    "mưa",
    "to",
    "quá",
    ",",
    "đường",
    "trơn",
    "!",
    "covid",
    "19",
    "Đà",
    "Nẵng",
    "e\u0301",
    "🙂",
    "[SEP]",
    "_",
]
vietnamese = st.lists(
    st.one_of(st.sampled_from(WORDS), st.text(st.characters(max_codepoint=0x233), max_size=6)), max_size=8
).map(" ".join)
chinese = st.text(
    st.one_of(st.sampled_from("今天气很好我们他，。！？１ａ1aZ 北京龘\u3000"), st.characters()), max_size=20
)


def train_subchar(folder: Path) -> Path:
    """A folder of tokenizers: the SubChar paper's, trained on a few sentences with codes of a few characters."""
    (folder / "subchar").mkdir()
    for name, number in (("pinyin", str), ("wubi", lambda code: code.replace("❁", "x").replace("❃", "y"))):
        lines = [f"{char}\t{number(code)}\n" for char, code in CODES.items()]
        (folder / f"subchar/chinese_to_{name}.tsv").write_text("".join(lines), encoding="utf-8")
    baselines.train("Character", CHINESE, folder, 1_000)
    for name, size in SIZES.items():
        baselines.train(name, CHINESE * 20, folder, size)
    baselines.train("Byte-BPE", WORDS * 3, folder, 290)
    return folder


def write_bert(folder: Path) -> Path:
    """A vocabulary of BERT's kind: characters, their continuations and a few words."""
    letters = sorted({char for word in WORDS for char in word.lower()} | set(string.ascii_lowercase) | set("今天气"))
    entries = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *letters,
        *(f"##{char}" for char in letters),
        "mưa",
        "##ời",
        "co",
    ]
    (folder / "vocab.txt").write_text("".join(f"{entry}\n" for entry in entries), encoding="utf-8")
    return folder


def write_phobert(folder: Path) -> Path:
    """Codes and a vocabulary of PhoBERT's kind; "mưa" is merged but not an entry, as happens in the real files."""
    codes = ["t o</w>", "ư a</w>", "m ưa</w>", "t r", "ờ i</w>", "tr ời</w>", "đ ư", "c o", "co v", "i d</w>"]
    (folder / "bpe.codes").write_text("".join(f"{code} {9 - n}\n" for n, code in enumerate(codes)), encoding="utf-8")
    entries = [
        "to",
        "ưa",
        "trời",
        "đư@@",
        "co@@",
        "cov@@",
        "id",
        *"toưamrờiđcvd_",
        *(f"{char}@@" for char in "toưamrờiđcvd_"),
    ]
    (folder / "vocab.txt").write_text("".join(f"{entry} 7\n" for entry in entries), encoding="utf-8")
    return folder


def train_xlmr(folder: Path) -> Path:
    """A SentencePiece model of XLM-R's kind."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(WORDS * 30), model_prefix=str(folder / "sentencepiece.bpe"), vocab_size=41, minloglevel=2
    )
    return folder
