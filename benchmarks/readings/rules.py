"""How a word of one character is read, by the words around it and jieba's tags of them; where it is not sure, nothing.

Tables first, then a rule each for 为, 地, 得, 率, 长, and one for 哦 and 哇.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Word(NamedTuple):
    """A word, where it begins, and jieba's tag of it."""

    at: int
    form: str
    tag: str


#: Before and behind all words.
NOTHING = Word(-1, "", "x")

#: Character -> its reading as a word of its own, where nothing below says otherwise.
USUAL = {
    char: reading
    for row in """
    应 ying1 吧 ba5 更 geng4 还 hai2 都 dou1 少 shao3 没 mei2 倒 dao4 将 jiang1 长 chang2 行 xing2 分 fen1 处 chu4
    子 zi3 乐 le4 切 qie1 挑 tiao1 发 fa1 了 le5 着 zhe5 给 gei3 降 jiang4 种 zhong3 差 cha4 累 lei4 重 zhong4
    空 kong1 中 zhong1 作 zuo4 要 yao4 的 de5 会 hui4 相 xiang1 卷 juan4 觉 jue2 头 tou2 什 shen2 载 zai4 藏 cang2
    塞 sai1 折 zhe2 扎 zha1 数 shu4 正 zheng4 当 dang1 便 bian4 曲 qu3 转 zhuan3 传 chuan2 调 tiao2 量 liang4
    好 hao3 看 kan4 间 jian1 与 yu3 和 he2 那 na4 哪 na3 过 guo4 大 da4 上 shang4 难 nan2 几 ji3 背 bei1 似 si4
    只 zhi3 啦 la5 呢 ne5 吗 ma5 呗 bei5 弄 nong4 薄 bao2 脏 zang1 粘 zhan1 刹 sha1 晕 yun1 散 san4
    挣 zheng4 扒 ba1 攒 zan3 泡 pao4 汗 han4
    """.splitlines()
    for char, reading in zip(row.split()[::2], row.split()[1::2], strict=True)
}
#: Character -> reading -> the words behind it that tell of it, and those before it.
BEHIND = {
    "还": {"huan2": "款 钱 债 贷 贷款 清 给 本 息 账 债务 信用卡 房贷 利息"},
    "卷": {"juan3": "起 起来 入 走 成 着 进 饼 边 土重来"},
    "背": {"bei4": "单词 书 课文 诗 古诗 台词 公式 完 下来 熟"},
    "处": {"chu3": "在 以 罚 于 警告 罚款 拘役 管制 有期徒刑"},
    "调": {"diao4": "到 入 出 往 走 任 离 兵 水 岗 派 回 来 取 用"},
    "着": {"zhao2": "火 凉"},
    "了": {"liao3": "无 却 如指掌"},
    "中": {"zhong4": "奖 毒 招 标 弹 暑 计 枪"},
    "弹": {"tan2": "吉他 琴 钢琴 古筝 出 跳 回 开 起 奏 唱 窗"},
    "重": {
        "chong2": "回 建 写 制 做 启 塑 现 生 来 新 排 组 置 访 返 登 温 拍 演 播 修 开 拾 振 构 整 译 印 逢 聚 归 获 "
        "游",
    },
    "发": {"fa4": "廊 质 际线 梢 胶"},
    "应": {"ying4": "邀 聘"},
    "当": {"dang4": "成 作 真 做"},
    "教": {"jiao1": "你 我 他 她 它 您 我们 你们 他们 大家 孩子 学生 会 书 人 给 得 过 了 完"},
    "丧": {"sang4": "尸"},
}  # fmt: skip
BEFORE = {
    "了": {"liao3": "不 得"},
    "只": {"zhi1": "一 两 几 每 三 四 五 六 七 八 九 十 这 那 数"},
    "中": {"zhong4": "看 相 猜 打 击 射 投 选 命 抽 砸 刺 踢 正 击打"},
    "行": {"hang2": "一 两 几 每 这 那 数 各 命令"},
    "处": {"chu3": "身 尚 正 仍"},
    "切": {"qie4": "贴 急"},
    "卷": {"juan3": "蛋 春 花 豆皮 土豆 肘子 菜 内"},
    "弄": {"long4": "里 堂"},
    "更": {"geng1": "三 五 二"},
    "茜": {
        "qian4": "王 李 张 刘 陈 杨 赵 黄 周 吴 徐 孙 胡 朱 高 林 何 郭 马 罗 宋 万 戴 郑 谢 韩 唐 冯 董 程 曹 袁 邓 "
        "许",
    },
}  # fmt: skip
#: Before 为 *wéi*; as a whole, or as the end of what stands before it.
_BECOME = frozenset(
    """视 列 称 改 定 评 聘 任 选 变 成 分 化 转 设 作 译 折 换 升 降 增 减 判 认 误认 公认 命名 认定 评定 确定 指定
    任命 更名 改名 取名 定名 题名 定义 划分 分解 修改 修订 调整 转变 转化 转换 转型 转为 缩短 延长 提高 增加 增至
    减少 设置 设定 配置 规定 约定 评估 晋升 升级 提升 选举 推选 当选 聘请 聘任 评选 估计 视作 变更 改造 改编 折合
    换算 统一 定位 定性 归结 概括 总结 培养 演变 发展 沦落 沦 升格 降 降低 降级 扩大 合并 简称 统称 合称 俗称 誉
    解释 理解 表现 体现 表述 标注 标记 标识 显示 登记 注册 记录 存储 保存 翻译 推定 认作 追认 授予 评 最 较 更 颇
    极 尤 广 大 稍 略 甚 成 平均 均 仅 约 则 即 多 皆 本 共 现 实 原 系 分别 依次 通常 一般 主要 一律
    应当认定""".split()
)
_MODAL = frozenset(
    "应当 可以 能 能够 会 要 来 可 需要 必须 应该 想 愿意 不得 有意 继续 开始 决定 努力 专门 愿 肯 敢 值得 "
    "前来 用来 准备 希望 打算 只能 不能 不会 将 无法".split()
)
#: What the words end in that are something, and do nothing.
_ATTRIBUTES = frozenset(
    "的标务点容式件期率额量度价数称题号型色值长宽高重比费款限日时月年间址地因果质状况位置格级类料序则础源由例"
    "体面积线距温压速幅段距离段寸味义性径厚深模围责核象本金息资产品物法途向"
)
_OTHER_PRONOUNS = frozenset("本 该 此类 某 各 每 另 这样 怎样 如何".split())
#: What is done by one of these is then done for someone: 按照规定为居民办理.
_BY = frozenset("按照 根据 依照 依据 按 通过 利用 采取".split())
_RULES = frozenset("规定 要求 约定 需要 程序 方式 职务".split())
_CLAUSE = 6
_BREAKS = frozenset("，。；：！？,;!?:")


def _near(words: Sequence[Word], at: int) -> tuple[Word, Word]:
    """The word before and the one behind."""
    return words[at - 1] if at else NOTHING, words[at + 1] if at + 1 < len(words) else NOTHING


def _first(*cases: tuple[object, str | None]) -> str | None:
    """The reading of the first case that holds."""
    return next((reading for holds, reading in cases if holds), None)


def _clause(words: Sequence[Word], at: int) -> list[Word]:
    """What follows within the clause."""
    found = []
    for word in words[at + 1 : at + 1 + _CLAUSE]:
        if word.form in _BREAKS:
            break
        if word.form.strip() and word.form != "、":
            found.append(word)
    return found


def _wei(words: Sequence[Word], at: int) -> str | None:
    """为: *wèi* before what something is done for, *wéi* before what something is or becomes."""
    (before, _), rest = _near(words, at), _clause(words, at)
    since = [word.form for word in words[max(0, at - 8) : at]]
    marks = [number for number, form in enumerate(since) if form in _BREAKS]
    since = since[marks[-1] + 1 :] if marks else since
    forms, behind = [word.form for word in rest], rest[0] if rest else NOTHING
    verbs = [number for number, word in enumerate(rest) if word.tag in ("v", "vd")]
    acts = bool(verbs) and "的" not in forms[: verbs[0]] and forms[-1] != "的"
    served = acts and before.form in _RULES and not _BY.isdisjoint(since)
    becomes = not rest or before.form in _BECOME or before.form[-1:] == "华" or "以" in since or "所" in forms[1:]
    doer = before.tag.startswith(("n", "r", "d", "c", "x", "t", "i", "l", "ad", "vd", "eng"))
    pronoun = behind.form in ("了", "何", "此", "之") or (behind.tag == "r" and behind.form not in _OTHER_PRONOUNS)
    attribute = before.form[-1:] in _ATTRIBUTES or (behind.tag == "m" and not acts)
    return _first(
        (served, "wei4"),
        (becomes, "wei2"),
        (pronoun or before.form in _MODAL, "wei4"),
        (before.tag.startswith("v"), None),
        (attribute, None if verbs and behind.tag != "m" else "wei2"),
        (before.tag in ("x", "c") and not verbs, None),
        (acts and doer, "wei4"),
        (not verbs, "wei2"),
    )


def _again(form: str) -> bool:
    """慢慢, 高高兴兴."""
    return len(form) > 1 and (form[0] == form[1] or form[-1] == form[-2])


def _di(words: Sequence[Word], at: int) -> str | None:
    """地: the particle stands between what is said of a verb and the verb."""
    before, behind = _near(words, at)
    again = _again(before.form)
    adverbial = before.tag in ("d", "z", "ad", "a", "i", "l", "o", "vd") or again
    named = behind.tag in ("n", "ns", "nt", "uj", "f", "c", "ng", "s", "zg", "m") or behind.form in ("至", "所")
    acts = behind.tag in ("v", "d", "a", "vd", "ad") and behind.form not in ("为", "是", "在", "有")
    mark = behind.tag == "x"
    return _first(
        (before.tag in ("p", "ns", "uj", "ul", "f") and not again, "di4"),
        (before.tag in ("x", "c", "q", "t", "m"), None),
        (before.form in tuple("这那该此各某本两多几等之何属原当每"), "di4"),
        (named and adverbial, "de5" if behind.tag == "zg" else None),
        (named, "di4"),
        (mark and again, "de5"),
        (mark, "di4" if before.tag in ("v", "vn") and behind.form not in "，" else None),
        (adverbial, "de5"),
        (acts, "de5" if before.tag in ("n", "v", "vn", "an", "m", "r", "b") else None),
        (behind.tag == "p" and before.tag in ("n", "an"), "de5"),
    )


#: 不得, 所得, 始得举行, 竞得.
_GAINED = frozenset("不 所 取 获 始 方 即 未 另 竞 夺 录 拍 换".split())
_EVALUATES = ("a", "d", "z", "i", "l", "ad", "y", "zg")


def _de(words: Sequence[Word], at: int) -> str | None:
    """得: behind verbs and adjectives the particle, behind others *děi* before verbs, *dé* before nouns."""
    before, behind = _near(words, at)
    whole = before.form[-1:] == "得"
    acts = behind.tag in ("v", "p", "vd") or behind.form in ("把", "被", "让", "给", "先", "好好", "再")
    counts = behind.form[:1] in tuple("一两三四五六七八九") or behind.form[:1].isdigit()
    other = before.tag in ("r", "d", "t", "c") or (before.tag.startswith("n") and len(before.form) > 1)
    gains = behind.tag in ("n", "m") and before.tag != "r"
    return _first(
        (before.form in _GAINED, "de2"),
        (before.form == "必须" and acts, "dei3"),
        (before.form in ("能", "会", "想", "要", "可", "必须", "没", "没有"), None),
        (
            before.tag in ("v", "a", "vg", "zg", "i", "z") and not whole,
            None if counts and before.form not in ("变", "显") else "de5",
        ),
        (whole or other, "dei3" if acts else "de2" if gains else None),
        (before.tag == "n" and behind.tag in _EVALUATES, "de5"),
        (before.tag == "x" and behind.tag in ("n", "m", "nz"), "de2"),
    )


def _lv(words: Sequence[Word], at: int) -> str | None:
    """率: *shuài* where someone leads, *lǜ* at the end of what is measured."""
    before, behind = _near(words, at)
    return _first(
        (behind.form in ("部", "队", "众", "军", "兵", "师", "团", "代表团", "先", "领"), "shuai4"),
        (before.tag in ("n", "v", "vn", "a", "j", "l", "b", "z", "nz", "eng"), "lv4"),
        (before.tag in ("nr", "nrt", "r", "p", "d") and behind.tag.startswith(("n", "m")), "shuai4"),
    )


_UNITS = frozenset("关车防社厅局处科部所站段河湖车机旅团营连排班组园院校镇乡县区州省市村馆厂庭队")
_GROWN = frozenset(
    """出 出来 包 得 成 满 大 着 霉 毛 痘 痘痘 肉 草 牙 胖 虫 斑 脑子 眼睛 皱纹 心眼 心眼儿 见识 知识 啥 什么 这样 那样
    啥样 点心 这么大 那么大 这么 那么 霉斑 包 颗 个子 高 势 辈 相 虱子 蛆""".split()
)
_COUNTS = tuple("一两几三四五六七八九十好很")
_VERY = frozenset("很 太 更 最 较 越 多 这么 那么 全 时间 比较 非常 十分 周 身 总 漫 超 好".split())


def _chang(words: Sequence[Word], at: int) -> str | None:
    """长: *zhǎng* of what grows, and at the end of titles."""
    before, behind = _near(words, at)
    further = words[at + 2].form if at + 2 < len(words) else ""
    return _first(
        (before.form in _VERY or behind.tag == "m" or (behind.form == "得" and further == "多"), "chang2"),
        (before.form in _UNITS or behind.form in _GROWN, "zhang3"),
        (behind.form == "了" and further[:1] in _COUNTS, "zhang3"),
        (behind.form not in ("了", "头发", "过"), "chang2"),
    )


#: As a particle, and as an exclamation.
_SAID = {"哦": ("o5", "o4"), "哇": ("wa5", "wa1")}


def _exclaimed(words: Sequence[Word], at: int) -> str | None:
    """哦, 哇: the particle behind what is said, else an exclamation."""
    char, before = words[at].form, words[at - 1].form[-1:] if at else ""
    return None if before == char else _SAID[char][not "一" <= before <= "龥"]


#: What words end in that no lexicon has.
ENDS = {"率": "lv4", "曲": "qu3", "长": "zhang3"}
#: In names of people, but not as the first character; in names from other languages.
GIVEN = {"燕": "yan4", "茜": "qian4"}
ABROAD = {"切": "qie4", "勒": "le4", "塞": "sai4", "耶": "ye1", "什": "shi2", "得": "de2", "都": "du1"}
RULES: dict[str, Callable[[Sequence[Word], int], str | None]] = {
    "为": _wei, "地": _di, "得": _de, "率": _lv, "长": _chang, "哦": _exclaimed, "哇": _exclaimed,
}  # fmt: skip
CHARS = frozenset(USUAL) | frozenset(RULES) | frozenset(GIVEN) | frozenset(ABROAD)


def inside(word: Word, place: int) -> str | None:
    """How a character of a word is read that no lexicon has, numbered pinyin, or None."""
    char = word.form[place]
    if word.tag in ("nrt", "nrfg"):
        return ABROAD.get(char)
    if word.tag == "nr" and place:
        return GIVEN.get(char)
    ends = place == len(word.form) - 1 > 1 and word.tag in ("n", "nz", "nr", "v", "vn")
    return ENDS.get(char) if ends else None


def said(words: Sequence[Word], at: int) -> str | None:
    """How ``words[at]`` is read, a word of one of CHARS.

    Arguments:
        words: those of a text, in order.
        at: the number of the word.

    Returns:
        Numbered pinyin, or None where the rules are not sure.
    """
    char = words[at].form
    if char in RULES:
        return RULES[char](words, at)
    behind = words[at + 1].form if at + 1 < len(words) else ""
    for reading, forms in BEHIND.get(char, {}).items():
        if behind in forms.split():
            return reading
    before = words[at - 1].form if at else ""
    for reading, forms in BEFORE.get(char, {}).items():
        if before in forms.split():
            return reading
    return None if char in ("应", "都", "少") and words[at].tag == "nr" else USUAL.get(char)
