# SPDX-License-Identifier: Apache-2.0
"""Draws what scaling.py measured, as SVG that changes only where the figures do."""

from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("svg")
# Text stays text, and names of elements do not change from run to run.
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "kvpool", "font.size": 9})

from matplotlib import pyplot  # noqa: E402

COLOURS = {"kvpool tcp": "#1f6fb4", "kvpool shm": "#2a9d4a", "reference": "#b0492b"}


@dataclass(frozen=True)
class Chart:
    """`lines` is {(side, verb): a value for each label}."""

    name: str
    axis: str
    unit: str
    labels: list
    lines: dict


def draw(chart: Chart, directory: Path) -> Path:
    """Puts and gets beside each other, with one scale."""
    figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
    for panel, verb in zip(panels, ("put", "get"), strict=True):
        for (side, of), values in chart.lines.items():
            if of == verb:
                panel.plot(chart.labels, values, marker="o", markersize=4, label=side, color=COLOURS[side])
        panel.set_title(verb)
        panel.set_xlabel(chart.axis)
        panel.set_ylim(bottom=0)
        if len(chart.labels) > 6:
            panel.tick_params(axis="x", labelrotation=45)
        panel.grid(axis="y", alpha=0.3)
    panels[0].set_ylabel(chart.unit)
    panels[0].legend(frameon=False)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{chart.name}.svg"
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path
