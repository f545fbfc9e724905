"""The rule language: text to nodes, nodes to what counts for a file, and what is wrong on the way.

The runtime never imports this package; it works on compiled tables.
"""
