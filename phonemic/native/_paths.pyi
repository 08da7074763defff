import numpy as np
from numpy.typing import NDArray

def build(
    keys: NDArray[np.uint64],
    sizes: NDArray[np.uint8],
    probabilities: NDArray[np.uint8],
    weights: NDArray[np.uint8],
) -> NDArray[np.uint64]: ...
def paths(
    cells: NDArray[np.uint64],
    unigrams: NDArray[np.float32],
    weights: NDArray[np.float32],
    order: int,
    words: NDArray[np.int32],
    costs: NDArray[np.float32],
    bounds: NDArray[np.int64],
    rows: NDArray[np.int64],
    beam: int,
    judged: bool,
) -> tuple[NDArray[np.int32], NDArray[np.float32]]: ...
