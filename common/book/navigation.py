"""The navigation beside a quoted file. No table of contents names these 200 pages, so theirs is the same but for the way to the root: it is
rendered once. Rendered for each of them, it would take half of the time that the book takes."""

import re

from sphinx.environment.adapters.toctree import TocTree

LINK = re.compile(r'(<a\b[^>]*\bhref=")(?![#/]|\w+:)')


def setup(app):
    rendered = []

    def share(app, page, template, context, doctree):
        if "orphan" not in app.env.metadata.get(page, {}):
            return

        def toctree(**options):
            if not rendered:
                tree = TocTree(app.env).get_toctree_for(app.config.root_doc, app.builder, **options)
                rendered.append(app.builder.render_partial(tree)["fragment"])
            return LINK.sub(rf"\g<1>{'../' * page.count('/')}", rendered[0])

        context["toctree"] = toctree

    app.connect("html-page-context", share, priority=400)  # before the theme asks for it
    return {"parallel_read_safe": True, "parallel_write_safe": True}
