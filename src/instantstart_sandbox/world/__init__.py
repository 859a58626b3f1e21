"""The world behind the simulated endpoints: one clock, one document store, timers, faults, request log.

Everything that changes the world is synchronous and runs on one event loop; only the network faces are
asynchronous. A state transition is a timer or a unit of work, never a sleeping task, so that a killed
process goes on from the state folder where it stopped.
"""

from instantstart_sandbox.world.world import World

__all__ = ["World"]
