"""Saying why: what a rule, an event or a cell of the table does, and what happened to a stream, event by event.

Nothing here takes part in rebuilding a message. A stream is watched by running it with a runtime that asks every
question of every event, so that what is told is what the table was asked, and not an account made up afterwards.
"""
