"""The neutral tones of listed words, as ``sandhi=True`` says them."""

import random
from pathlib import Path

import pytest

pytest.importorskip("pypinyin", reason="the reference needs pypinyin")

from phonemic import Tokenizer, mandarin
from phonemic.reading.models import reading_data
from phonemic.reading.speech import LINKED, NEUTRAL
from phonemic.reading.spoken import words

READINGS = ("pypinyin", "context")
SPOKEN = {readings: Tokenizer("zh", readings=readings, sandhi=True) for readings in READINGS}
PLAIN = {readings: Tokenizer("zh", readings=readings) for readings in READINGS}


def numbers(text, tokenizer):
    return tokenizer.decode(tokenizer.encode(text), to="numbers")


# One reader's judgement, by Xiandai Hanyu Cidian and the Putonghua test's list of words that must be neutral.
JUDGED = """
朋友 peng2 you5; 喜欢 xi3 huan5; 东西 dong1 xi5; 衣服 yi1 fu5; 漂亮 piao4 liang5; 告诉 gao4 su5; 认识 ren4 shi5
爸爸 ba4 ba5; 妈妈 ma1 ma5; 哥哥 ge1 ge5; 弟弟 di4 di5; 妹妹 mei4 mei5; 爷爷 ye2 ye5; 叔叔 shu1 shu5; 舅舅 jiu4 jiu5
姑姑 gu1 gu5; 伯伯 bo2 bo5; 婆婆 po2 po5; 公公 gong1 gong5; 太太 tai4 tai5; 宝宝 bao3 bao5; 星星 xing1 xing5
葡萄 pu2 tao5; 名字 ming2 zi5; 麻烦 ma2 fan5; 早上 zao3 shang5; 晚上 wan3 shang5; 先生 xian1 sheng5; 学生 xue2 sheng5
关系 guan1 xi5; 部分 bu4 fen5; 合同 he2 tong5; 知识 zhi1 shi5; 消息 xiao1 xi5; 休息 xiu1 xi5; 明白 ming2 bai5
清楚 qing1 chu5; 舒服 shu1 fu5; 聪明 cong1 ming5; 粮食 liang2 shi5; 故事 gu4 shi5; 事情 shi4 qing5; 时候 shi2 hou5
眼睛 yan3 jing5; 头发 tou2 fa5; 脑袋 nao3 dai5; 胳膊 ge1 bo5; 屁股 pi4 gu5; 指甲 zhi3 jia5; 月亮 yue4 liang5
窗户 chuang1 hu5; 玻璃 bo1 li5; 豆腐 dou4 fu5; 蘑菇 mo2 gu5; 棉花 mian2 hua5; 骆驼 luo4 tuo5; 苍蝇 cang1 ying5
队伍 dui4 wu5; 码头 ma3 tou5; 口袋 kou3 dai5; 行李 xing2 li5; 媳妇 xi2 fu5; 姑娘 gu1 niang5; 丈夫 zhang4 fu5
妻子 qi1 zi5; 老婆 lao3 po5; 亲戚 qin1 qi5; 护士 hu4 shi5; 和尚 he2 shang5; 师傅 shi1 fu5; 裁缝 cai2 feng5
商量 shang1 liang5; 打听 da3 ting5; 打扮 da3 ban5; 打算 da3 suan5; 收拾 shou1 shi5; 招呼 zhao1 hu5; 咳嗽 ke2 sou5
耽误 dan1 wu5; 欺负 qi1 fu5; 客气 ke4 qi5; 脾气 pi2 qi5; 运气 yun4 qi5; 力气 li4 qi5
凉快 liang2 kuai5; 厉害 li4 hai5; 热闹 re4 nao5; 结实 jie1 shi5; 糊涂 hu2 tu5; 委屈 wei3 qu5; 冤枉 yuan1 wang5
学问 xue2 wen5; 主意 zhu3 yi5; 意思 yi4 si5; 心思 xin1 si5; 官司 guan1 si5; 生意 sheng1 yi5; 规矩 gui1 ju5
地方 di4 fang5; 本事 ben3 shi5; 位置 wei4 zhi5; 应付 ying4 fu5; 怪不得 guai4 bu4 de5; 男朋友 nan2 peng2 you5
有时候 you3 shi2 hou5; 不好意思 bu4 hao3 yi4 si5; 知识分子 zhi1 shi5 fen4 zi3; 左边 zuo3 bian5; 心里 xin1 li5
""".replace("\n", ";").split(";")
JUDGED = [row.strip().split(" ", 1) for row in JUDGED if row.strip()]


def test_there_are_enough_of_them():
    assert len(JUDGED) > 100


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("琢磨", "zuo2 mo5"),
        ("大夫", "dai4 fu5"),
        ("石匠", "shi2 jiang5"),
        ("木匠", "mu4 jiang5"),
        ("利落", "li4 luo5"),
    ],
)
def test_readings_in_context_lose_the_same_tones(text, pinyin):
    assert numbers(text, SPOKEN["context"]) == pinyin
    assert numbers(f"那{text}的", SPOKEN["context"]).split()[1:-1] == pinyin.split()


@pytest.mark.parametrize("readings", READINGS)
@pytest.mark.parametrize(("text", "pinyin"), JUDGED)
def test_listed_words_have_neutral_tones(text, pinyin, readings):
    assert numbers(text, SPOKEN[readings]) == pinyin
    assert numbers(f"“{text}”", SPOKEN[readings]).strip('“” "') == pinyin
    assert numbers(f"那{text}的", SPOKEN[readings]).split()[1:-1] == pinyin.split()


@pytest.mark.parametrize("readings", READINGS)
@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        # Kin and things: the first stays a third tone.
        ("姐姐", "jie3 jie5"),
        ("奶奶", "nai3 nai5"),
        ("姥姥", "lao3 lao5"),
        ("婶婶", "shen3 shen5"),
        ("嫂嫂", "sao3 sao5"),
        ("椅子", "yi3 zi5"),
        ("耳朵", "er3 duo5"),
        ("马虎", "ma3 hu5"),
        # Linked words, and verbs that are doubled: it changes before the third tone that the second has alone.
        ("小姐", "xiao2 jie5"),
        ("大小姐", "da4 xiao2 jie5"),
        ("哪里", "na2 li5"),
        ("手里", "shou2 li5"),
        ("想想", "xiang2 xiang5"),
        ("走走", "zou2 zou5"),
        ("找找", "zhao2 zhao5"),
        ("再等等", "zai4 deng2 deng5"),
        ("等等", "deng2 deng3"),  # and so on
        # Before the word: what is said first counts.
        ("我姐姐", "wo2 jie3 jie5"),
        ("小姐姐", "xiao2 jie3 jie5"),
        # 一 and 不 before a neutral syllable, and before a listed word.
        ("一个", "yi2 ge4"),
        ("不认识", "bu2 ren4 shi5"),
        ("不清楚", "bu4 qing1 chu5"),
        ("一部分", "yi2 bu4 fen5"),
        ("一辈子", "yi2 bei4 zi5"),
        ("舍不得", "she3 bu4 de5"),
        # Behind it: a neutral tone changes nothing.
        ("好朋友", "hao3 peng2 you5"),
        ("耳朵好", "er3 duo5 hao3"),
        ("早上好", "zao3 shang5 hao3"),
        ("謝謝", "xie4 xie5"),
        ("認識朋友", "ren4 shi5 peng2 you5"),
    ],
)
def test_third_tones_and_neutral_tones(text, pinyin, readings):
    assert numbers(text, SPOKEN[readings]) == pinyin


# Longer words with full tones, other words at an edge, and what is neutral at choice only.
FULL = """
东西方;东西部;东西南北;地方政府;地方性法规;地方标准;中央和地方;大学生;中学生;小学生;大方向;大方便;
落落大方;学问题;爱人民;基本事实;民主意识;业主意见;卫生意识;发生意外;优先生产;科学生产;总结实践;
严实施;进行当中;执行当事人;变相公开;以上司法机关;残疾人家庭;军人家属;别人家;街头发生;内部分工;
外交部分别;交通事故事实;和尚未;上边界;内边缘;公路上海;最早上映;大大方方;清清楚楚;偷偷摸摸;打算盘;
小气候;有点心疼;自动弹出;处处;常常;仅仅;往往;星期天;里面;因为;知道;力量;态度
"""


@pytest.mark.parametrize("readings", READINGS)
@pytest.mark.parametrize("text", FULL.replace("\n", "").split(";"))
def test_words_that_only_look_like_it(text, readings):
    plain, spoken = (made[readings].encode(text) for made in (PLAIN, SPOKEN))
    assert [bool(one.tone) for one in spoken] == [bool(one.tone) for one in plain], numbers(text, SPOKEN[readings])


@pytest.mark.parametrize("readings", READINGS)
def test_nothing_changes_without_sandhi(readings):
    """Nor does erhua without it go by the words of neutral tones: the lists without them give the same."""
    assert numbers("我的朋友喜欢东西", Tokenizer("zh")) == "wo3 de5 peng2 you3 xi3 huan1 dong1 xi1"
    erhua, plain = Tokenizer("zh", readings=readings, erhua=True), PLAIN[readings]
    added = sorted(words().keys() - words(neutral=False).keys())
    choose = random.Random(3)
    for _ in range(300):
        text = "".join(choose.choices([*added, "儿", "花儿", "子"], k=4))
        read, merged = plain.encode(text), erhua.encode(text)
        kept = {start: packed for (start, _), packed in zip(read.spans.tolist(), read.ids.tolist(), strict=True)}
        assert [kept[start] for start in merged.spans[:, 0].tolist()] == merged.ids.tolist()


@pytest.mark.parametrize("readings", READINGS)
def test_a_users_phrases_win(readings):
    own = {"朋友": "peng2 you3", "姐姐": "jie2 jie3", "衣": "yi4"}
    made = Tokenizer("zh", readings=readings, phrases=own, sandhi=True)
    assert numbers("朋友姐姐妹妹", made) == "peng2 you3 jie2 jie3 mei4 mei5"


@pytest.mark.parametrize("readings", READINGS)
def test_only_tones_change(readings):
    text = "".join(word for word, _ in JUDGED)
    plain, spoken = (made[readings].encode(text) for made in (PLAIN, SPOKEN))
    assert spoken.spans.tolist() == plain.spans.tolist()
    assert spoken.word_ids.tolist() == plain.word_ids.tolist()
    assert [one[:2] for one in spoken.triples] == [one[:2] for one in plain.triples]
    assert not spoken[1].tone


def test_erhua_words_have_them_too():
    made = Tokenizer("zh", sandhi=True, erhua=True)
    for text, pinyin in (("名字儿", "ming2 zir5"), ("东边儿", "dong1 bianr5"), ("豆腐脑儿", "dou4 fu5 naor3")):
        assert numbers(text, made) == pinyin


def test_the_list_is_whole():
    simplified = reading_data().simplified
    text = (Path(mandarin.__file__).parent / "lexicon" / "speech-neutral.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    assert len({row[0] for row in rows}) == len(rows) > 1_400
    for word, marks, source in rows:
        assert len(marks) == len(word) > 1
        assert source
        assert word == "".join(simplified.get(char, char) for char in word)
        assert set(marks) <= set("-25")
        assert marks[0] != "5"
        assert "2" not in marks or marks[marks.index("2") + 1] == "5"
        for mark, action in zip(marks, words()[word], strict=True):
            assert mark != "5" or action & NEUTRAL
            assert mark != "2" or action & LINKED
        # Else the core would take the 儿 before it for the beginning of a word, without sandhi too.
        assert word[0] != "儿" or any(word.startswith(other) for other in words(neutral=False))


def test_linked_words_are_read_as_third_tones():
    """In a linked word the tone that the second syllable has alone counts, so neither reading may have a neutral one."""
    for word, actions in words().items():
        for at, action in enumerate(actions[:-1]):
            if action & LINKED and actions[at + 1] & NEUTRAL:
                for made in PLAIN.values():
                    assert [one.tone for one in made.encode(word)[at : at + 2]] == [mandarin.TONES[3]] * 2, word
