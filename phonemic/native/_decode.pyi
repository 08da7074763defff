import numpy as np
from numpy.typing import NDArray

from phonemic._core import Core

def decode_rows(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    keys: NDArray[np.uint32],
    cells: NDArray[np.uint16],
    forms: bool,
    core: Core | None,
    texts: list[str],
    waiting: NDArray[np.uint8],
) -> tuple[list[int], list[int], list[int]]: ...
def put_cell(keys: NDArray[np.uint32], cells: NDArray[np.uint16], packed: int, cell: NDArray[np.uint16]) -> bool: ...
def move_cells(
    keys: NDArray[np.uint32],
    cells: NDArray[np.uint16],
    to_keys: NDArray[np.uint32],
    to_cells: NDArray[np.uint16],
) -> None: ...
