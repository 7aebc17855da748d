"""The oracle, importable by its name whatever the import mode."""

import importlib.util
import sys
from pathlib import Path

_spec = importlib.util.spec_from_file_location("oracle", Path(__file__).with_name("oracle.py"))
_module = importlib.util.module_from_spec(_spec)
sys.modules["oracle"] = _module
_spec.loader.exec_module(_module)
