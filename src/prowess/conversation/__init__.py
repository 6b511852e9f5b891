"""One conversation of an agent: the skills loaded into it, typed in it and woken in it.

`Conversation` is the surface. It passes two things down: `Services`, the ports and rules, which
stay the same, and a `SnapshotView` of the skills as they are now. `activation` reads in the order
of events: find the skill, authorize it, plan its body, run its commands, wrap and record it.
Everything that may need a person's answer happens before anything runs, because such a call is
repeated from its beginning once there is an answer (`async_calls`).
"""
