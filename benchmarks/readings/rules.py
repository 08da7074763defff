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
    子 zi3 乐 le4 切 qie1 挑 tiao1 发 fa1 了 le5 着 zhe5 给 gei3 降 jiang4 种 zhong3 差 cha4 重 zhong4
    空 kong1 中 zhong1 作 zuo4 要 yao4 的 de5 会 hui4 相 xiang1 觉 jue2 头 tou2 什 shi2 载 zai4
    折 zhe2 扎 zha1 数 shu4 正 zheng4 当 dang1 便 bian4 曲 qu3 转 zhuan3 传 chuan2 调 tiao2 量 liang4
    好 hao3 看 kan4 间 jian1 与 yu3 和 he2 那 na4 哪 na3 过 guo4 大 da4 上 shang4 难 nan2 几 ji3 似 si4
    只 zhi3 呢 ne5 吗 ma5 呗 bei5 脏 zang1 粘 zhan1 散 san4
    挣 zheng4 泡 pao4 扒 ba1 牟 mou2 莘 xin1 蔚 wei4 咋 za3
    累 lei4 藏 cang2 塞 sai1 卷 juan4 背 bei1 弄 nong4 薄 bao2 刹 sha1 晕 yun1 攒 zan3 汗 han4
    """.splitlines()
    for char, reading in zip(row.split()[::2], row.split()[1::2], strict=True)
}
#: Character -> reading -> the words behind it that tell of it, and those before it.
BEHIND = {
    "还": {"huan2": "款 钱 债 贷 贷款 清 给 本 息 账 债务 信用卡 房贷 利息"},
    "卷": {"juan3": "起 起来 入 走 成 着 进 饼 边 土重来"},
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
    "什": {"shen2": "么 麽 麼 幺"},
    "累": {"lei4": "得 了 死 坏 人 的 不 啊 倒 垮", "lei3": "迁 年 月 世 次 官 封 转 加 计 犯"},
    "塞": {"sai1": "进 到 入 满 住 给 了 在 不 得 上 车 回 下 个 几 一"},
    "藏": {
        "cang2": "在 着 了 有 起 身 匿 进 于 好 到 得 过 起来 不 书 污纳垢 品 宝",
        "zang4": "族 语 文 历 药 医 军 区 传 南 北 东 西 人 香 獒 红花 民 汉 蒙 戏 刀 袍 袄 式 羚羊 羚 兵 王 胞 学 "
        "语系",
    },
    "背": {
        "bei4": "单词 书 课文 诗 古诗 台词 公式 完 下来 熟",
        "bei1": "上 起 了 包 个 回 走 起来 过 不 在 负 债 黑锅 锅",
    },
    "弄": {
        "nong4": "得 了 成 好 清 清楚 错 坏 个 点 明白 懂 出 来 到 死 过 不 脏 丢 虚作假 小 大 上 进 走 干净 醒 湿 断 "
        "乱 一 些 几 这 那 什么 着 完 破 疼 反",
        "long4": "堂 口",
    },
    "薄": {"bao2": "的 一点 一些 了 点 到 得 片 层 皮 饼 膜 板 款 壁"},
    "刹": {"sha1": "车 住 不 得 停 闸 不住 了 一脚", "cha4": "座 柱 饰 塔 帝利 土 海"},
    "晕": {"yun1": "死 了 倒 过去 得 啊 乎乎 头转向 菜 过", "yun4": "轮 车 船 机 圈 针 血 染 光"},
    "扒": {"ba1": "开 下 出 光 掉 着 住 拉 皮 了 房 在 着看", "pa2": "鸡 鸭 羊肉 肘子 整 海参 熊掌 白菜 手"},
    "攒": {"zan3": "钱 够 下 了 机 台 着 起 人品", "cuan2": "尖 珠 簇 射 聚 眉 动 心 集"},
    "将": {"jiang4": "作 领 军衔 士 校 官 帅 才 门"},
    "都": {"du1": "指挥使 指挥 督 尉 察院 统制 护府 虞候 转运使"},
    "乐": {"yue4": "评 评人 队 团 手 章 谱 器 坛 府 师 理 迷 舞"},
    "挑": {"tiao3": "梁 衅 起 动 灯 逗 明 头 高"},
    "降": {"xiang2": "伏 服 魔 妖 将 卒 龙 虎"},
    "燕": {"yan1": "王 国 京 赵 昭王 军 都 地 人 山 太子 太子丹 云十六州"},
    "吧": {"ba1": "台 主 友"},
    "牟": {"mu4": "平 平区 平县"},
    "莘": {"shen1": "县 莘 莘学子 国 野 亭"},
    "蔚": {"yu4": "州 县 州市"},
}  # fmt: skip
BEFORE = {
    "了": {"liao3": "不 得"},
    "只": {"zhi1": "一 两 几 每 三 四 五 六 七 八 九 十 这 那 数 舰 船"},
    "累": {"lei4": "太 很 好 真 最 更 挺 有点 特别 非常 不 又 比较 好多 挺 较 越 身体 心 够 也 还 都"},
    "塞": {"sai1": "被 硬 乱 堵 瓶 耳 木 往"},
    "藏": {
        "cang2": "埋 暗 收 珍 馆 躲 隐 潜 窝 私 偷 所 能 可 深 储",
        "zang4": "川 驻 入 进 青 援 汉 满 回 在 滇 后 前 康 卫 西 中 印 新 赴 离",
    },
    "背": {"bei4": "栗 黑 白 红 灰 绿 橄榄 褐 蓝 黄 铁 靠 刀 椅 推", "bei1": "再 给 帮 自己 他 我"},
    "卷": {"juan4": "第 本 全 此 上 下 各 该 试 阅 答 考 交 案", "juan3": "蛋 春 花 豆皮 土豆 肘子 菜 内"},
    "弄": {
        "nong4": "再 没 怎么 你 我 他 她 把 别 不 乱 自己 来 去 要 能 会 想 难 可以 给",
        "long4": "里 堂",
    },
    "薄": {"bao2": "很 太 又 更 最 较 比较 非常 超 皮 挺 略 变 利润 轻 越 有点 不"},
    "刹": {"sha1": "急 重 点 猛 手 脚 乱 要 没 不"},
    "晕": {"yun1": "头 好 很 太 真 眼 有点 会 都 不 直接 彻底", "yun4": "日 月 红 光 星系 物质 轮 冰 电 北 南"},
    "扒": {"pa2": "猪 牛 羊 鸡 烧 熘 手 鱼"},
    "攒": {"zan3": "积 自己 慢慢 能 多 想"},
    "将": {"jiang4": "参 魏 蜀 骁 裨 偏 叛 敌 宿 猛 降 秦 楚 爱 贼 番 汉 守 牙 诸"},
    "降": {"xiang2": "乞 迎 请 受 诱 劝 招 诈 归 纳 乞求 出 逼"},
    "挑": {"tiao3": "出 悬"},
    "差": {
        "cha1": "高 像 温 时 色 视 落 误 价 级 逆 公 方 平方 标准 相 偏 反 利 位 电位 时间 水位",
        "chai1": "公 钦 邮 当 听 美 苦 专",
    },
    "燕": {"yan1": "后 前 南 北 西 北 诸 全 幽"},
    "吧": {"ba1": "酒 网 书 水 茶 贴 泡 氧 陶 清 慢摇 迪 杏 性 咖啡 吧"},
    "传": {"zhuan4": "左氏 列 本 外 别 正 评 水浒 氏 公羊 小 世家 儒林"},
    "牟": {"mu4": "中 弥"},
    "汗": {"han4": "出 冒 流 擦 大 满头 冷 狂 巨 瀑布 一身 的"},
    "中": {"zhong4": "看 相 猜 打 击 射 投 选 命 抽 砸 刺 踢 正 击打"},
    "行": {"hang2": "一 两 几 每 这 那 数 各 命令"},
    "处": {"chu3": "身 尚 正 仍"},
    "切": {"qie4": "贴 急"},
    "更": {"geng1": "三 五 二"},
    "茜": {
        "qian4": "王 李 张 刘 陈 杨 赵 黄 周 吴 徐 孙 胡 朱 高 林 何 郭 马 罗 宋 万 戴 郑 谢 韩 唐 冯 董 程 曹 袁 邓 "
        "许",
    },
}  # fmt: skip
#: Before 为 *wéi*; as a whole, or as the end of the text before it.
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
#: Endings of words that are something, and do nothing.
_ATTRIBUTES = frozenset(
    "的标务点容式件期率额量度价数称题号型色值长宽高重比费款限日时月年间址地因果质状况位置格级类料序则础源由例"
    "体面积线距温压速幅段距离段寸味义性径厚深模围责核象本金息资产品物法途向"
)
_OTHER_PRONOUNS = frozenset("本 该 此类 某 各 每 另 这样 怎样 如何".split())
#: Verbs whose action is then done for someone: 按照规定为居民办理.
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
    """Return the words that follow within the clause."""
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
    """地: the particle between what is said of a verb and the verb."""
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
        (
            behind.form
            in ("部", "队", "众", "军", "兵", "师", "团", "代表团", "先", "领", "机", "舰队", "舰", "残部", "其"),
            "shuai4",
        ),
        (behind.form[-1:] in tuple("军兵部师团骑队众") and behind.tag.startswith("n"), "shuai4"),
        (
            before.tag in ("n", "x", "ng", "nr")
            and len(before.form) == 1
            and behind.tag.startswith(("ns", "nr", "nt", "m")),
            "shuai4",
        ),
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
_SAID = {"哦": ("o5", "o4"), "哇": ("wa5", "wa1"), "啦": ("la5", "la1")}


def _exclaimed(words: Sequence[Word], at: int) -> str | None:
    """哦, 哇, 啦: the particle behind what is said, at its end, else an exclamation; nothing in names."""
    char, (before, behind) = words[at].form, _near(words, at)
    alone = not "一" <= before.form[-1:] <= "龥"
    if char == "哦":
        return None if before.form[-1:] == char else _SAID[char][alone]
    again = char in (before.form[-1:], behind.form[:1])
    named = before.tag in ("x", "zg", "g") or before.form in _ABROAD
    return _first(
        (again, "la1" if char == "啦" else None),
        (alone, _SAID[char][1]),
        (behind.tag != "x" or named, None),
        (True, _SAID[char][0]),
    )


def _qin(words: Sequence[Word], at: int) -> str:
    """覃: *qín* is a family, which begins a name; *tán* is in given names."""
    before, _ = _near(words, at)
    return "qin2" if not "一" <= before.form[-1:] <= "龥" or before.tag in ("p", "c", "v", "r", "u", "uj") else "tan2"


def _li(words: Sequence[Word], at: int) -> str:
    """哩: the particle ends a clause."""
    before, behind = _near(words, at)
    return "li5" if behind.tag == "x" and before.tag[:1] in ("v", "a", "d", "u", "r", "n") else "li3"


#: Characters that write the sounds of names from other languages.
_ABROAD = frozenset(
    "尔斯特克德勒莱拉里罗马诺维亚伊阿埃奥巴贝比博布达迪多弗格赫霍吉卡凯科库兰鲁米莫纳尼努帕佩皮普齐乔萨桑舒苏索塔汤"
    "图托瓦威韦沃希谢雅耶泽詹兹佐·西俄南露蜜莉梅杰"
)


def _abroad(reading: str) -> Callable[[Sequence[Word], int], str | None]:
    """塞, 茜: in a name from another language, between characters that write its sounds."""

    def rule(words: Sequence[Word], at: int) -> str | None:
        told = _listed(words, at)
        before, behind = _near(words, at)
        beside = before.form[-1:] in _ABROAD or behind.form[:1] in _ABROAD
        return told or (reading if beside else USUAL.get(words[at].form))

    return rule


#: Endings of words that no lexicon has.
ENDS = {"率": "lv4", "曲": "qu3", "长": "zhang3"}
#: In names of people, but not as the first character; in names from other languages.
GIVEN = {"燕": "yan4", "茜": "qian4"}
ABROAD = {"切": "qie4", "勒": "le4", "塞": "sai4", "耶": "ye1", "什": "shi2", "得": "de2", "都": "du1"}
RULES: dict[str, Callable[[Sequence[Word], int], str | None]] = {
    "为": _wei, "地": _di, "得": _de, "率": _lv, "长": _chang, "哦": _exclaimed, "哇": _exclaimed, "啦": _exclaimed,
    "覃": _qin, "哩": _li, "塞": _abroad("sai4"), "茜": _abroad("xi1"),
}  # fmt: skip
CHARS = frozenset("教弹").union(USUAL, RULES, GIVEN, ABROAD)

#: In names and old words they are read otherwise: where g2pM's network is sure of that, nothing is said.
DOUBTED = frozenset("累藏塞卷背弄薄刹晕攒汗什")


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
    if told := _listed(words, at):
        return told
    return None if char in ("应", "都", "少") and words[at].tag == "nr" else USUAL.get(char)


def doubted(words: Sequence[Word], at: int) -> bool:
    """Whether ``words[at]``, one of DOUBTED, is read as usual for want of anything better."""
    return words[at].form in DOUBTED and _listed(words, at) is None


def _listed(words: Sequence[Word], at: int) -> str | None:
    """Return the reading that BEHIND and BEFORE give."""
    char, (before, behind) = words[at].form, _near(words, at)
    for table, form in ((BEHIND, behind.form), (BEFORE, before.form)):
        for reading, forms in table.get(char, {}).items():
            if form and form in forms.split():
                return reading
    return None
