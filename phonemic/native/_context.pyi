from phonemic._core import Core

class ContextCore(Core):
    def leave_avx2(self) -> None: ...
