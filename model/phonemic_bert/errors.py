"""The package's own exception."""

from phonemic import PhonemicError


class CheckpointError(PhonemicError, ValueError):
    """A checkpoint or a configuration does not fit: its language, its vocabulary, its files."""
