"""Sound as an index: how far apart two texts sound, names found by how they sound, words that sound alike or rhyme."""

from phonemic.sound.distances import distance
from phonemic.sound.groups import Group, homophones, rhymes
from phonemic.sound.index import Index, Match
from phonemic.sound.sounds import matrix

__all__ = ["Group", "Index", "Match", "distance", "homophones", "matrix", "rhymes"]
