"""Stand-in charts for a simulated cluster, served on loopback in the way in which the real ones are fetched.

They have the names, workloads and values that matter of the real charts, and nothing copied from them.
"""

from instantstart_sandbox.charts.serving import charts_app
from instantstart_sandbox.charts.table import chart_rows, chart_table

__all__ = ["chart_rows", "chart_table", "charts_app"]
