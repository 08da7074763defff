from typing import Any

import numpy as np
from numpy.typing import NDArray

from phonemic._core import Core

class Work:
    def __init__(
        self, core: Core, texts: Any, offsets: NDArray[np.integer[Any]] | None, spans: bool, words: bool
    ) -> None: ...
    def run_alone(self) -> None: ...
    def share(self, threads: int) -> None: ...
    def run(self) -> None: ...
    def result(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32] | None, NDArray[np.int32] | None]: ...
