"""The profile "Dashboard": app.py of the home folder, or how to begin one."""

import runpy
import sys
from pathlib import Path

import streamlit

HOME = Path.home()
APP = HOME / "app.py"
EXAMPLE = '''import streamlit as st
import swath

st.title("My processes")
st.table(swath.processes())
'''

if APP.exists():
    if str(HOME) not in sys.path:
        sys.path.insert(0, str(HOME))
    runpy.run_path(str(APP), run_name="__main__")
else:
    streamlit.title("No dashboard yet")
    streamlit.write(
        "This page shows the Streamlit application `app.py` of your home folder. "
        "Write one in a notebook or an editor, and load this page again."
    )
    streamlit.code(EXAMPLE, language="python")
