"""Windows, batches and pooling as plain arithmetic."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy", reason="needs the spacy extra")
torch = pytest.importorskip("torch", reason="needs the model extra")
pytest.importorskip("transformers", reason="needs the model extra")


from phonemic.encoding import PACKED_CLS, PACKED_SEP  # noqa: E402
from spacy_phonemic import windows  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:spacy", "ignore::DeprecationWarning:weasel")


class TestWindows:
    @given(st.integers(0, 3000), st.integers(1, 600), st.data())
    def test_every_position_is_in_a_window(self, length, window, data):
        stride = data.draw(st.integers(1, window))
        length = min(length, 200 * stride)
        starts = windows.window_starts(length, window, stride)
        covered = np.zeros(length, int)
        for start in starts:
            assert start >= 0
            assert start + min(window, length) <= length
            covered[start : start + window] += 1
        assert (covered > 0).all()
        assert starts == sorted(set(starts))
        assert all(after - before <= stride for before, after in pairwise(starts))

    @given(st.data(), st.sampled_from(["mean", "first"]))
    def test_pooling_is_the_mean_of_the_tokens_positions(self, data, pooling):
        """With an "encoder" that returns the id at each place, pooling must give the mean of the token's ids."""
        window = data.draw(st.integers(1, 12))
        stride = data.draw(st.integers(1, window))
        size = data.draw(st.integers(1, 60))
        docs = []
        for number in range(data.draw(st.integers(0, 4))):
            length = data.draw(st.integers(0, 40))
            ids = np.arange(1, length + 1, dtype=np.int32) + 1000 * number
            tokens = data.draw(st.lists(st.tuples(st.integers(0, length), st.integers(0, 5)), max_size=8))
            first = np.array([first for first, _ in tokens], np.int64)
            last = np.minimum(first + np.array([more for _, more in tokens], np.int64), length)
            docs.append(windows.Aligned(ids, first, last))
        docs += data.draw(st.lists(st.sampled_from(docs), max_size=3)) if docs else []
        distinct, call = data.draw(st.booleans()), data.draw(st.integers(0, 100))
        plan = windows.plan(docs, window, stride, pooling, size, call, distinct)
        for ids, mask in plan.batches:
            assert ids.shape == mask.shape
            assert len(ids) == 1 or ids.size <= size
            assert (ids[:, 0] == PACKED_CLS).all()
            assert (np.where(mask, ids, 0) == ids).all()
            assert (np.where(mask, ids, -1) == PACKED_SEP).sum(axis=1).tolist() == [1] * len(ids)
        if distinct:
            rows = [ids[at][mask[at]].tobytes() for ids, mask in plan.batches for at in range(len(ids))]
            assert len(set(rows)) == len(rows)
        hidden = np.concatenate([np.zeros(0), *[ids.ravel() for ids, _ in plan.batches]]).astype(float)
        got = [
            float((hidden[plan.rows[low:high]] * plan.weights[low:high]).sum()) for low, high in pairwise(plan.offsets)
        ]
        want = [
            float(doc.ids[first : first + 1 if pooling == "first" else last].mean()) if last > first else 0.0
            for doc in docs
            for first, last in zip(doc.first, doc.last, strict=True)
        ]
        assert np.allclose(got, want, rtol=1e-5)

    def test_a_token_shares_characters_with_its_positions(self):
        spans = np.array([[0, 3], [4, 6], [6, 9]], np.int32)
        first, last = windows.align(spans, np.array([0, 1, 3, 4, 5, 9]), np.array([1, 3, 4, 9, 7, 9]))
        assert list(zip(first.tolist(), last.tolist(), strict=True)) == [(0, 1), (0, 1), (1, 1), (1, 3), (1, 3), (3, 3)]

    def test_batches_hold_windows_of_like_length(self):
        docs = _without_tokens([3, 90, 4, 88, 5])
        assert _shapes(docs, 190, call=1000) == [(3, 7), (2, 92)]
        assert _shapes(docs, 10_000, call=1000) == [(5, 92)]
        assert _shapes(docs, 10_000, call=20) == [(3, 7), (2, 92)]
        assert _shapes(docs, 10_000, call=0) == [(1, 5), (1, 6), (1, 7), (1, 90), (1, 92)]

    @given(st.lists(st.integers(1, 40), max_size=7), st.integers(0, 60))
    def test_no_other_way_to_group_windows_costs_less(self, lengths, call):
        """Against every way to cut the ordered windows into groups."""
        shapes = _shapes(_without_tokens(lengths), 10_000, call)
        ordered = sorted(lengths)
        assert sum(rows for rows, _ in shapes) == len(lengths)
        costs = [
            sum((high - low) * (ordered[high - 1] + 2) + call for low, high in pairwise((0, *cuts, len(ordered))))
            for count in range(len(ordered))
            for cuts in combinations(range(1, len(ordered)), count)
        ]
        assert sum(rows * width + call for rows, width in shapes) == min(costs, default=0)


def _without_tokens(lengths):
    return [windows.Aligned(np.ones(n, np.int32), *np.zeros((2, 0), np.int64)) for n in lengths]


def _shapes(docs, size, call):
    return [ids.shape for ids, _ in windows.plan(docs, 100, 50, "mean", size, call).batches]
