"""Text in other encodings than UTF-8, as UTF-8: everything behind this reads UTF-8 alone."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

from phonemic.errors import InputError

#: The names that are taken, and Python's codec of each: GB 18030 holds GBK and GB 2312, and Big5-HKSCS holds Big5.
ENCODINGS = {
    "utf-8": "utf-8", "gb18030": "gb18030", "gbk": "gb18030", "gb2312": "gb18030", "big5": "big5hkscs",
    "utf-16": "utf-16", "utf-16-le": "utf-16-le", "utf-16-be": "utf-16-be", "windows-1258": "cp1258",
}  # fmt: skip

#: What a file in UTF-16 or UTF-32 may begin with; the longer first.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip

#: Bytes that are looked at to say in which encoding text is.
_SAMPLE = 1 << 16

#: The share of its characters beyond ASCII that are in GB 2312, from which on text is said to be in GB 18030.
_CHINESE = 0.9


def in_utf8(blocks: Iterable[bytes], name: str, encoding: str = "utf-8", errors: str = "strict") -> Iterator[bytes]:
    """The bytes of a text as UTF-8; what is said to be UTF-8 and has no mark of another encoding as it is.

    Arguments:
        blocks: the bytes.
        name: what messages call the file.
        encoding: one of ``ENCODINGS``.
        errors: "strict" or "replace", what to do about invalid bytes.

    Raises:
        InputError: bytes are not of the encoding, and ``errors`` is "strict"; or there is no such encoding.
    """
    if encoding not in ENCODINGS:
        raise InputError(f"unknown encoding {encoding!r}: choose one of {', '.join(ENCODINGS)}")
    stream = iter(blocks)
    head = b""
    while len(head) < 4 and (block := next(stream, b"")):
        head += block
    codec = _marked(head) if encoding.startswith("utf") else ""
    codec = codec or ENCODINGS[encoding]
    if codec == "utf-8":
        yield from chain([head] if head else [], stream)
        return
    decoder, read = codecs.getincrementaldecoder(codec)(errors), 0
    for block in chain([head], stream, [b""]):
        read += len(block)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            at = read - len(error.object) + error.start
            raise InputError(f"{name}, byte {at} of the file: not {encoding} ({error.reason})") from error
        if text:
            yield text.encode()


def _marked(head: bytes) -> str:
    return next((codec for mark, codec in _MARKS.items() if head.startswith(mark)), "")


def is_utf8(path: str, encoding: str = "utf-8") -> bool:
    """Whether :func:`in_utf8` leaves the bytes of a file as they are.

    Arguments:
        path: a file that is not compressed.
        encoding: what its text is said to be in.

    Raises:
        OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        return encoding == "utf-8" and not _marked(file.read(4))


def not_utf8(data: bytes, reason: str) -> str:
    """The message about text that is not UTF-8.

    Arguments:
        data: the text, or the lines around the wrong byte.
        reason: what is wrong.
    """
    if _is_chinese(data):
        return f"not UTF-8 ({reason}); it is in GB 18030 (GBK): read it with --encoding gb18030"
    return f"not UTF-8 ({reason}); --encoding names another encoding, or --errors replace puts U+FFFD for what is wrong"


def _is_chinese(data: bytes) -> bool:
    sample = data[:_SAMPLE]
    if len(data) > _SAMPLE:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    try:
        text = sample.decode("gb18030")
    except UnicodeDecodeError:
        return False
    wide = "".join(char for char in text if not char.isascii())
    return bool(wide) and len(wide.encode("gb2312", "ignore")) >= 2 * _CHINESE * len(wide)
