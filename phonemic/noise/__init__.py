"""Noise in texts: a share of a text's units is rewritten, reproducibly, and what was rewritten is returned."""

from phonemic.noise.base import DRAWS, SHARES, Change, Noise, Noisy, RewriteOptions, Unit, draws, uniform
from phonemic.noise.homophones import Homophones
from phonemic.noise.misspellings import Misspellings

__all__ = [
    "DRAWS",
    "SHARES",
    "Change",
    "Homophones",
    "Misspellings",
    "Noise",
    "Noisy",
    "RewriteOptions",
    "Unit",
    "draws",
    "uniform",
]
