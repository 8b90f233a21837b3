"""The directive `fold`, a <details> element whose summary and body can be translated.

:::{fold} Result
Folded paragraphs.
:::
"""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class details(nodes.General, nodes.Element):
    pass


class summary(nodes.General, nodes.TextElement):
    pass


class Fold(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self):
        heading = summary(self.arguments[0], "")
        heading.source, heading.line = self.get_source_info()
        inline, messages = self.state.inline_text(self.arguments[0], self.lineno)
        heading += inline
        folded = details("", heading)
        self.state.nested_parse(self.content, self.content_offset, folded)
        return [folded, *messages]


def tags(name):
    return (lambda writer, node: writer.body.append(f"<{name}>"), lambda writer, node: writer.body.append(f"</{name}>"))


def setup(app):
    app.add_node(details, html=tags("details"))
    app.add_node(summary, html=tags("summary"))
    app.add_directive("fold", Fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
