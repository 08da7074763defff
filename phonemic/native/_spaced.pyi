import numpy as np
from numpy.typing import NDArray

def space_rows(
    texts: list[str],
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    spans: NDArray[np.int32],
    keys: NDArray[np.uint32],
    cells: NDArray[np.uint16],
    forms: bool,
    cased: bool,
    merging: bool,
    parts: NDArray[np.uint8],
    written: list[str],
    waiting: NDArray[np.uint8],
) -> tuple[list[int], list[int], list[int]]: ...
