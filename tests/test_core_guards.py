"""Whatever the core is called with must not end the interpreter, run for ever or be read as something else."""

import _thread
import operator
import signal

import numpy as np
import pytest

from phonemic import InputError, PhraseError, Tokenizer
from phonemic._core import Core
from phonemic.lexicon.entries import entry
from phonemic.lexicon.tables import tables_of
from phonemic.lexicon.user_phrases import LONGEST_PHRASE
from phonemic.native._batch import Work
from phonemic.tokenizer import MAX_THREADS, encode_rows


def rows_of(core, texts):
    work = Work(core, texts, None, False, False)
    work.run_alone()
    return work.result()[0].tolist()


class TestConstruction:
    @pytest.mark.parametrize("arguments", [(), (None,), ({},), ({"bmp": np.zeros(3)},)])
    def test_a_core_has_its_tables(self, arguments):
        for make in (Core, lambda *given: Core.__new__(Core, *given)):
            with pytest.raises((TypeError, KeyError)):
                make(*arguments)

    def test_no_core_without_construction(self):
        with pytest.raises(TypeError):
            Core.__new__(Core).encode("a")
        with pytest.raises(TypeError):
            Work.__new__(Work).run_alone()

    @pytest.mark.parametrize("lang", ["vi", "zh"])
    def test_the_arrays_are_held_and_not_their_dictionary(self, lang):
        import gc

        tables = {name: array.copy() for name, array in tables_of(lang).items()}
        core, expected = Core(tables), Tokenizer(lang).encode("giếng 银行 a").ids.tolist()
        tables.clear()
        gc.collect()
        filled = [np.full(1 << 20, 0xFFFFFFFF, np.uint32) for _ in range(8)]  # where the arrays would have lain
        found = core.encode("giếng 银行 a")
        assert found[: len(found) // 4].tolist() == expected
        assert rows_of(core, ["giếng 银行 a"]) == expected
        assert len(filled) == 8

    def test_results_are_taken_once(self, vi):
        work = Work(vi.core, ["ba", "mẹ"], None, True, True)
        work.run_alone()
        first = [array.tolist() for array in work.result()]
        again = work.result()
        assert len(first[0]) == 2
        assert [len(array) for array in (again[0], again[2], again[3])] == [0, 0, 0]

    def test_no_offsets(self, vi):
        with pytest.raises(InputError, match="offsets"):
            encode_rows(vi.core, np.zeros(0, np.uint8), np.zeros(0, np.int64), 1, False, False)


class TestThreads:
    @pytest.mark.parametrize("threads", [0, -1, -(2**40)])
    def test_too_few(self, vi, threads):
        with pytest.raises(ValueError, match="num_threads must be at least 1"):
            vi.encode_batch(["a", "b"], num_threads=threads)
        arrow = pytest.importorskip("phonemic.arrow", reason="needs the arrow extra", exc_type=Exception)
        with pytest.raises(ValueError, match="num_threads must be at least 1"):
            arrow.encode(arrow.pa.array(["a"]), vi, num_threads=threads)

    @pytest.mark.parametrize("threads", [MAX_THREADS + 1, 2**30, 2**31, 2**62])
    def test_more_than_there_is_work_for(self, vi, threads):
        texts = ["giếng", "nước"] * 400
        assert vi.encode_batch(texts, num_threads=threads).ids.tolist() == vi.encode_batch(texts).ids.tolist()
        assert vi.encode_batch([], num_threads=threads).ids.tolist() == []

    @pytest.mark.parametrize("threads", [0, -1, 2**30])
    def test_work_is_shared_by_as_many_as_there_can_be(self, vi, threads):
        work = Work(vi.core, ["a"], None, False, False)
        with pytest.raises(ValueError, match="threads cannot share"):
            work.share(threads)
        work.share(2)
        with pytest.raises(ValueError, match="once"):
            work.share(2)
        work.run()
        assert len(work.result()[0]) == 1


@pytest.fixture
def interruptible():
    """Python's own handler of SIGINT, which a program that was started in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("shared", [False, True])
def test_a_signal_is_looked_for_between_pieces(vi, shared, interruptible):
    """Both calls are made by map itself: the interpreter looks for signals only when no byte code is left to run."""
    work = Work(vi.core, ["giếng nước " * 20] * 20_000, None, False, False)
    if shared:
        work.share(1)
    calls = [_thread.interrupt_main, work.run if shared else work.run_alone]
    with pytest.raises(KeyboardInterrupt):
        list(map(operator.call, calls))
    if not shared:
        assert len(work.result()[0]) < 20_000 * 40


def test_a_phrase_of_ones_own_is_not_too_long():
    """Each character of a text may be the first of it: to look for one of 3,000 cost 14 microseconds a character."""
    longest = "一" * (LONGEST_PHRASE - 1) + "行"
    made = Tokenizer("zh", phrases={longest: ["yi1"] * (LONGEST_PHRASE - 1) + ["xing2"]})
    tones = [syllable.tone for syllable in made.encode(longest + "了" + longest)]
    assert tones == ["˥˥"] * (LONGEST_PHRASE - 1) + ["˧˥", ""] + ["˥˥"] * (LONGEST_PHRASE - 1) + ["˧˥"]
    with pytest.raises(
        PhraseError, match=r"phrase 1: '一一一一一一一一'\.\.\. has 65 characters; a phrase has at most 64"
    ):
        Tokenizer("zh", phrases={"一" + longest: ["yi1"] * LONGEST_PHRASE + ["xing2"]})


def test_a_letter_under_marks_without_end(vi):
    """At 36 each, so many marks have a sum that in 32 bits is that of no mark."""
    mark = next(mark for mark in "\u0300\u0301\u0303\u0309\u0323" if entry(tables_of("vi"), mark) >> 24 == 36)
    text = "a" + mark * 119_304_648
    assert vi.encode_batch([text]).ids.tolist() == vi.encode("a" + mark * 2).ids.tolist()
