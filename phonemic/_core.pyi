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
