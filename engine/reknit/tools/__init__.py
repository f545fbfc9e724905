"""Tools: what there is to call, and what a call may do. Running calls comes on top of this and is not here yet."""
