"""The closed lists that rules are written in: types and cases, actions, filters, merges, repairs.

Nothing here knows a vendor or a rule file. Each entry has a sentence of documentation, from which the reference in
`docs/` is made, and is tested by itself.
"""
