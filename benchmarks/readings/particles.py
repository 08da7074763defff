"""Labels 地 and 得 by jieba's tags: g2pM's network takes nearly every 地 for the noun."""

from __future__ import annotations

from pathlib import Path

import jieba.posseg
import numpy as np

from benchmarks.readings import features
from benchmarks.readings.features import Places
from benchmarks.readings.prepare import Setting
from benchmarks.readings.train import Examples

#: A word of its own with this tag is the particle.
PARTICLES = {"地": "uv", "得": "ud"}
#: Words that end in the particle.
NEUTRAL = frozenset("觉得 显得 使得 值得 懂得 记得 晓得 舍得 认得 免得 省得 变得 来得 不由得 怪不得".split())
NOUN_AFTER = frozenset("等之各此该某两多几")
WIDTH, MOST = 14, 3_000


def tagged(folder: Path, made: Setting) -> Examples:
    """Places of 地 and 得 in the labelled text, up to MOST of each: the particle, or the usual other reading."""
    numbers = {name: number for number, name in enumerate(made.names)}
    left = dict.fromkeys(PARTICLES, MOST)
    parts = []
    for file in sorted(folder.glob("general-*.npz")):
        with np.load(file) as loaded:
            where = features.spread(loaded["text"], loaded["starts"], loaded["places"])
        for char, tag in PARTICLES.items():
            at = where.at[where.points[where.at] == ord(char)][: left[char]]
            left[char] -= len(at)
            kept, readings = [], []
            for place in at.tolist():
                window = "".join(map(chr, where.points[place - WIDTH : place + WIDTH + 1]))
                place_of = 0
                for word, flag in jieba.posseg.cut(window):
                    if place_of <= WIDTH < place_of + len(word):
                        particle = word == char and flag == tag
                        if char == "地":  # which jieba tags so in 北京等地 and before a comma
                            particle &= window[WIDTH - 1] not in NOUN_AFTER and window[WIDTH + 1] >= "一"
                        if particle or char == "地":
                            kept.append(place)
                            readings.append(numbers["de5" if particle else "di4"])
                        elif word != char:
                            kept.append(place)
                            readings.append(numbers["de5" if word in NEUTRAL else "de2"])
                        break
                    place_of += len(word)
            spots = Places(where.points, np.array(kept, np.int64))
            rows = np.full((len(kept), 5), -1, np.int32)
            rows[:, 0] = readings
            shares = (rows >= 0).astype(np.float32)
            keys = features.keys(spots, made.voter, made.parts, made.classes)
            parts.append(Examples(np.full(len(kept), ord(char), np.uint32), keys, rows, shares))
        if not any(left.values()):
            break
    return Examples(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
