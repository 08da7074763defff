"""The learned onsets, rimes and tones as vectors, their places on a plane, and how far phonology shows in them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from phonemic.files import require
from phonemic.inventory import EMPTY, vocabulary
from phonemic_bert.configuration import COMPONENTS
from phonemic_bert.inspection.phonology import groupings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from phonemic_bert.modeling import PhonemicBertModel

METHODS = ("pca", "tsne")

#: Two axes show little of more symbols than this, and t-SNE has too few neighbours of fewer.
_MANY = 30

#: How far apart t-SNE's places are when it starts, as its authors have them.
_START = 1e-4


@dataclass(frozen=True)
class Separation:
    """How far the symbols of one class are from one another, against those of different classes.

    Attributes:
        classes: the name of the grouping ("place").
        ratio: mean cosine distance within classes divided by that between classes: below 1, a class is together.
        chance: the mean ratio over shuffled classes.
        deviation: the standard deviation of that.
        p: the share of shuffles, this arrangement among them, whose ratio is not larger. With several groupings tried,
            a small p or two is to be expected.
    """

    classes: str
    ratio: float
    chance: float
    deviation: float
    p: float


@dataclass(frozen=True)
class Panel:
    """One component's symbols on a plane.

    Attributes:
        lang: ``"vi"`` or ``"zh"``.
        component: "onset", "rime" or "tone".
        symbols: what is placed, IPA; "[EMPTY]" where a syllable may lack the component.
        classes: grouping to the class of each symbol.
        vectors: float64 (S, d).
        places: float64 (S, 2).
        method: one of METHODS.
        quality: of pca, the share of the variance that is on the plane; of tsne, the share of each symbol's five
            nearest (by cosine) that are among its five nearest on the plane.
        separations: of each grouping in which some class has two symbols, and some symbols differ.
    """

    lang: str
    component: str
    symbols: tuple[str, ...]
    classes: dict[str, tuple[str, ...]]
    vectors: NDArray[np.float64]
    places: NDArray[np.float64]
    method: str
    quality: float
    separations: tuple[Separation, ...]

    def as_dict(self) -> dict[str, Any]:
        """The part that JSON can hold: all but the vectors."""
        rows = [
            {"symbol": symbol, "x": x, "y": y, **{name: group[at] for name, group in self.classes.items()}}
            for at, (symbol, (x, y)) in enumerate(zip(self.symbols, self.places.tolist(), strict=True))
        ]
        separations = [asdict(one) for one in self.separations]
        return {
            "component": self.component,
            "method": self.method,
            "quality": self.quality,
            "separations": separations,
            "symbols": rows,
        }


def component_vectors(model: PhonemicBertModel, component: str, symbols: tuple[str, ...]) -> NDArray[np.float64]:
    r"""The vectors that symbols add to a position's embedding in one slot: float64 (S, d).

    The three components share one table E, so that one row may serve in two slots (*k* is an onset and a letter). Only
    the projection tells the slots apart: it maps three concatenated rows to W (E[o] ; E[r] ; E[t]) + b, which is
    W_1 E[o] + W_2 E[r] + W_3 E[t] + b with the blocks of columns W = (W_1 W_2 W_3). So W_i E[x] is all that symbol x
    does in slot i, and the sum of the three (and b) is the projected embedding. The part that ``composition`` adds
    beyond the paper depends on all three symbols and is not in it.

    Arguments:
        model: the encoder.
        component: "onset", "rime" or "tone".
        symbols: of the model's vocabulary.

    Raises:
        KeyError: there is no such symbol.
        ValueError: no such component.
    """
    embeddings: Any = model.embeddings
    symbol_id = vocabulary(model.config.lang).id
    table = embeddings.word_embeddings.weight.detach().double().cpu().numpy()
    slot, size = COMPONENTS.index(component), table.shape[1]
    block = embeddings.projection.weight.detach().double().cpu().numpy()[:, slot * size : (slot + 1) * size]
    vectors: NDArray[np.float64] = table[[symbol_id(symbol) for symbol in symbols]] @ block.T
    return vectors


def panels(model: PhonemicBertModel, method: str | None = None, seed: int = 0, shuffles: int = 1999) -> list[Panel]:
    """Places the onsets, the rimes and the tones of a model, and measures how far their classes lie apart.

    Arguments:
        model: the encoder.
        method: "pca" of the centred vectors, or "tsne" of the cosine distances between them; None is "tsne" where there
            are more than 30 symbols, the rimes, and "pca" elsewhere.
        seed: of the shuffles and of "tsne".
        shuffles: random arrangements of the classes that each ratio is compared with.

    Raises:
        ValueError: an unknown method.
        PhonemicError: "tsne" without scikit-learn.
    """
    if method not in (None, *METHODS):
        raise ValueError(f"unknown method {method!r}: choose one of {', '.join(METHODS)}")
    found = []
    for component, groups in groupings(model.config.lang).items():
        symbols = tuple(next(iter(groups.values())))
        classes = {name: tuple(group[symbol] for symbol in symbols) for name, group in groups.items()}
        vectors = component_vectors(model, component, symbols)
        distances = cosine_distances(vectors - vectors.mean(0))
        chosen = method or ("tsne" if len(symbols) > _MANY else "pca")
        places, quality = place(vectors, distances, chosen, seed)
        # "No onset" is not a class of its own: it says nothing about place or manner.
        voiced = np.array([symbol != EMPTY for symbol in symbols])
        measured = (
            separation(name, np.array(group)[voiced], distances[np.ix_(voiced, voiced)], seed, shuffles)
            for name, group in classes.items()
        )
        separations = tuple(one for one in measured if one is not None)
        of_symbols = symbols, classes, vectors, places, chosen, quality, separations
        found.append(Panel(model.config.lang, component, *of_symbols))
    return found


def cosine_distances(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - cosine of every two vectors: (S, d) to (S, S), 0 on the diagonal; a zero vector is 1 from all others."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1)
    distances: NDArray[np.float64] = np.clip(1 - unit @ unit.T, 0, 2)
    np.fill_diagonal(distances, 0)
    return distances


def separation(
    name: str, classes: NDArray[np.str_], distances: NDArray[np.float64], seed: int = 0, shuffles: int = 1999
) -> Separation | None:
    """The ratio of within-class to between-class distance, against shuffled classes.

    Arguments:
        name: of the grouping.
        classes: of each symbol, (S,).
        distances: (S, S), symmetric, 0 on the diagonal.
        seed: of the shuffles.
        shuffles: how many.

    Returns:
        None where no two symbols share a class or all do: there is nothing to compare.
    """
    names, codes = np.unique(classes, return_inverse=True)
    member = np.eye(len(names))[codes]
    sizes = member.sum(0)
    # Ordered pairs of different symbols; their numbers and the sum of all distances are those of every arrangement.
    within, pairs = float((sizes * (sizes - 1)).sum()), len(classes) * (len(classes) - 1)
    total = float(distances.sum())
    if within in (0, pairs):
        return None

    def ratios(orders: NDArray[np.int64]) -> NDArray[np.float64]:
        members = member[orders.T]  # (S, orders, classes): one product for all
        sums = (distances @ members.reshape(len(classes), -1)).reshape(members.shape)
        inside = np.einsum("soc,soc->o", sums, members)
        between = (total - inside) / (pairs - within)
        found: NDArray[np.float64] = np.divide(inside / within, between, out=np.ones_like(inside), where=between > 0)
        return found

    random = np.random.default_rng(seed)
    observed = float(ratios(np.arange(len(classes))[None])[0])
    chance = ratios(np.array([random.permutation(len(classes)) for _ in range(shuffles)]))
    p = (1 + np.count_nonzero(chance <= observed + 1e-12)) / (shuffles + 1)
    return Separation(name, observed, float(chance.mean()), float(chance.std()), float(p))


def place(
    vectors: NDArray[np.float64], distances: NDArray[np.float64], method: str, seed: int = 0
) -> tuple[NDArray[np.float64], float]:
    """Places symbols on a plane.

    Arguments:
        vectors: (S, d), for "pca".
        distances: (S, S), for "tsne".
        method: one of METHODS.
        seed: of "tsne".

    Returns:
        Places (S, 2), and the quality that :class:`Panel` describes.
    """
    plane, share = _principal(vectors)
    if method == "pca":
        return plane, share
    manifold = require("sklearn.manifold", "finetune")
    perplexity = min(30.0, (len(distances) - 1) / 3)
    fitted = manifold.TSNE(
        metric="precomputed", init=_START * plane / max(plane.std(), 1e-12), perplexity=perplexity, random_state=seed
    ).fit(distances)
    plane = fitted.embedding_.astype(np.float64)
    return plane, _kept_neighbours(distances, plane)


def _principal(vectors: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """The first two principal components, and their share of the variance."""
    left, scales, _ = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    total = float((scales**2).sum())
    plane = (left * scales)[:, :2]
    # The sign of an axis is arbitrary: the largest place on it is positive.
    plane = plane * np.sign(plane[np.abs(plane).argmax(0), np.arange(2)])
    return plane, float((scales[:2] ** 2).sum()) / total if total else 1.0


def _kept_neighbours(distances: NDArray[np.float64], plane: NDArray[np.float64], k: int = 5) -> float:
    """The share of each symbol's k nearest that are among its k nearest on the plane."""
    k = min(k, len(distances) - 1)
    away = np.linalg.norm(plane[:, None] - plane, axis=-1)

    def nearest(matrix: NDArray[np.float64]) -> NDArray[np.intp]:
        own = matrix + np.diag(np.full(len(matrix), np.inf))
        return own.argsort(axis=1, kind="stable")[:, :k]

    kept = [len({*one} & {*other}) for one, other in zip(nearest(distances), nearest(away), strict=True)]
    return sum(kept) / (k * len(kept))
