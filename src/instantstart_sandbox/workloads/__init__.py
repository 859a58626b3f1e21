"""What containers do: image and command to lines over time, an exit code, and files touched in mounted buckets.

A behaviour is asked for its next turn; between two turns it is nothing but the state it gave back, so that a restarted
sandbox goes on in the middle of a run. Later work adds behaviours with `Behaviours.add`.
"""

from instantstart_sandbox.workloads.behaviours import Behaviour, Behaviours, Call, Turn

__all__ = ["Behaviour", "Behaviours", "Call", "Turn"]
