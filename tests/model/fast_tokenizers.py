"""Our tokenizers next to transformers' fast ones."""

import pytest


def called_alike(ours, fast, *args, **options):
    """The results of both for one call; None where the fast one refuses it, and ours must too.

    The Rust library panics at some arguments, which is a BaseException.
    """
    try:
        want = fast(*args, **options)
    except BaseException as refusal:
        if isinstance(refusal, KeyboardInterrupt):
            raise
        if "tokenizer stride set to" not in str(refusal):  # it refuses that before it knows whether anything is cut
            with pytest.raises(ValueError, match=r".+"):
                ours(*args, **options)
        return None
    return ours(*args, **options), want
