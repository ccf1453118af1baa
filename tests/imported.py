"""All of the library, imported: a process that is forked from one that has this starts at once."""

from __future__ import annotations

import importlib
import pkgutil

import numpy
import psycopg
import sqlalchemy.dialects.postgresql.psycopg
import tokenizers

import engram

__all__ = ["numpy", "psycopg", "sqlalchemy", "tokenizers"]

for found in pkgutil.walk_packages(engram.__path__, "engram."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
