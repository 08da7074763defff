"""The package's own exceptions."""

from phonemic import PhonemicError


class CheckpointError(PhonemicError, ValueError):
    """A checkpoint or a configuration does not fit: its language, its vocabulary, its files."""


class NoFolderError(CheckpointError, FileNotFoundError):
    """A checkpoint is given by a path where nothing is; transformers' own error is an OSError, too."""


class SettingsError(PhonemicError, ValueError):
    """A setting of a pretraining or fine-tuning run is unknown, missing or wrong."""


class CorpusError(PhonemicError, ValueError):
    """A prepared corpus is damaged, or does not fit the tokenizer or the settings."""


class RunError(PhonemicError, RuntimeError):
    """A pretraining or fine-tuning run cannot start, continue or save."""
