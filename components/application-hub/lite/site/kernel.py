"""Runs cells in the browser: values, pictures and errors as Jupyter has them."""

import base64
import builtins
import inspect as _inspect
import json
import re
import rlcompleter
import sys
import traceback

import js
from pyodide.code import eval_code_async

_TEXT = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_", "text/markdown": "_repr_markdown_", "application/json": "_repr_json_"}
_BYTES = {"image/png": "_repr_png_", "image/jpeg": "_repr_jpeg_"}


def _bundle(value):
    data = {}
    method = getattr(value, "_repr_mimebundle_", None)
    if callable(method) and not _inspect.isclass(value):
        given = method()
        data = dict(given[0] if isinstance(given, tuple) else given)
    for mime, name in {**_TEXT, **_BYTES}.items():
        method = getattr(value, name, None)
        if mime in data or not callable(method) or _inspect.isclass(value):
            continue
        given = method()
        if given is not None:
            data[mime] = base64.b64encode(given).decode() if isinstance(given, (bytes, bytearray)) else given
    data.setdefault("text/plain", repr(value))
    return data


def display(*values):
    """Shows values below the cell."""
    for value in values:
        js.swathDisplay(json.dumps(_bundle(value)))


_cells = {"__name__": "__main__", "__builtins__": builtins, "display": display}
sys.modules["__main__"].__dict__.update({"display": display})


async def execute(code):
    # Magics are IPython's; what installs packages has nothing to install from here.
    if re.match(r"\s*[%!]", code):
        return json.dumps({"error": {"ename": "SyntaxError", "evalue": "magics and shell commands are not available in the browser", "traceback": ["Magics and shell commands are not available in the browser."]}})
    try:
        value = await eval_code_async(code, globals=_cells, filename="<cell>")
        if value is not None:
            _cells["_"] = value
        return json.dumps({"result": None if value is None else _bundle(value)})
    except BaseException as error:
        lines = traceback.format_exception(error)
        shown = [line for line in lines if "pyodide/_base.py" not in line and "swath_kernel.py" not in line]
        return json.dumps({"error": {"ename": type(error).__name__, "evalue": str(error), "traceback": "".join(shown).splitlines()}})


def complete(code, cursor):
    found = re.search(r"[\w.]*$", code[:cursor])
    word = found.group()
    completer = rlcompleter.Completer(_cells)
    matches = []
    for index in range(200):
        match = completer.complete(word, index)
        if match is None:
            break
        matches.append(match.rstrip("("))
    return json.dumps({"matches": matches, "start": cursor - len(word)})


def inspect(code, cursor):
    before = re.search(r"[\w.]*$", code[:cursor]).group()
    after = re.match(r"\w*", code[cursor:]).group()
    try:
        value = _cells
        for index, name in enumerate((before + after).split(".")):
            value = (_cells.get(name, getattr(builtins, name, None)) if index == 0 else getattr(value, name))
        return json.dumps({"text": "" if value is None else (_inspect.getdoc(value) or repr(value))})
    except Exception:
        # Nothing of this name.
        return json.dumps({"text": ""})
