"""The error family of models_prm: every message says what is wrong and how to cure it."""

from __future__ import annotations


class PrmError(Exception):
    """Base of every error that this library raises on purpose."""


class DataError(PrmError):
    """A data file or record cannot be used; the message names file, line, field and cure."""


class RecipeError(PrmError):
    """A recipe or configuration is wrong; the message names the key and what is allowed."""


class LeakError(PrmError):
    """Training data and held-out or test data share problems."""


class MarkerError(PrmError):
    """The number of step markers differs from the number of steps: nothing may be trained or scored."""


class ModelError(PrmError):
    """A model directory cannot be loaded as a process reward model."""


class Cancelled(PrmError):
    """The caller asked to stop; a checkpoint was written, and the same call goes on from it."""


class SamplingError(PrmError):
    """A generator cannot be used: a server that refuses, or answers what cannot be read."""


class SearchError(PrmError):
    """A search cannot be run or drawn; the message names the setting or the record's field."""
