"""The site: plain pages of the repository become one searchable place, with sources, notebooks and live interactions in it.

Everything is read from the repository and from the library; nothing is asked of a network. The pages stay plain Markdown, so that they
read on a repository's page too: what only a site has (a contents tree, pages of source, a live interaction) is added to a copy.
"""
