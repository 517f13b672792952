"""Kernel files to JSON: see tool.py, which also runs alone."""
from .tool import read_file, read_text, to_json

__all__ = ["read_file", "read_text", "to_json"]
