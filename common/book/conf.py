# Sphinx's settings for the book. common/course/book.py writes the pages and calls Sphinx.
import functools
import os
import pathlib
import sys

from sphinx.search.en import SearchEnglish
from sphinx.search.zh import SearchChinese

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

project = "CUDA from the Driver Up"
author = "the authors of CUDA from the Driver Up"
html_title = project
language = os.environ.get("BOOK_LANGUAGE", "en")
locale_dirs = [os.environ.get("BOOK_LOCALE", "locale")]
gettext_compact = False  # one catalog per page
gettext_location = False
gettext_uuid = False

extensions = ["myst_parser", "sphinx_copybutton", "fold", "navigation"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3  # headings can be linked as on a Git host
source_suffix = {".md": "markdown"}
nitpicky = True
# The lexers do not know nvcc's extensions everywhere, nor shell prompts with a comment.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_js_files = [("progress.js", {"defer": "defer"}), ("solved.js", {"defer": "defer"})]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "xcode"
pygments_dark_style = "monokai"

# The copy button of a console block copies the commands, without the prompt and the output.
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_copy_empty_lines = False  # the last one would end the command, and run it where it is pasted


# Sphinx looks for each word of a Chinese book in a list of all words before it, which takes longer than everything else. This is a set instead.
class Words(set):
    extend = set.update


SearchChinese.latin_terms = Words()
# It also computes the stem of a word wherever the word occurs.
SearchEnglish.stem = functools.cache(SearchEnglish.stem)
SearchChinese.stem = functools.cache(SearchChinese.stem)
