import numpy as np
from numpy.typing import NDArray

Costs = NDArray[np.uint16]

def align(a: NDArray[np.uint8], b: NDArray[np.uint8], costs: tuple[Costs, Costs, Costs, Costs]) -> int: ...

class Names:
    def __init__(
        self,
        sounds: NDArray[np.uint8],
        symbols: NDArray[np.uint16],
        groups: NDArray[np.int64],
        rows: NDArray[np.uint32],
        order: NDArray[np.uint32],
        costs: tuple[Costs, Costs, Costs, Costs],
        syllable: int,
    ) -> None: ...
    def search(self, query: NDArray[np.uint8], limit: int, most: int) -> NDArray[np.int64]: ...
    def parts(
        self, text: NDArray[np.uint8], limit: int, starts: NDArray[np.int64], stops: NDArray[np.int64]
    ) -> list[tuple[int, NDArray[np.int64]]]: ...
