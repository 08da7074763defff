from typing import Any

import numpy as np
from numpy.typing import NDArray

class Core:
    def __init__(
        self,
        sections: dict[str, NDArray[Any]],
        strict: bool = False,
    ) -> None: ...
    def encode(self, text: str) -> NDArray[np.int32]: ...
    def encode_utf8(
        self, data: Any, offsets: NDArray[np.int64], start: int, stop: int, spans: bool, words: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32] | None, NDArray[np.int32] | None]: ...
    def encode_range(
        self, texts: list[str], start: int, stop: int, spans: bool, words: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32] | None, NDArray[np.int32] | None]: ...

def cut(texts: list[str], parts: int) -> list[int]: ...
