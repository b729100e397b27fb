"""The pictures of the lectures, in English and German.

Run it as ``python examples/lecture_pictures.py docs/lectures/pictures``: where to write.
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure
from numpy.typing import NDArray

import diskret as dk
from diskret.microdata.aggregation.nearby import mdav

lecture = dk.datasets.lecture

#: Okabe and Ito's colours, which those who cannot tell red from green can tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")
MARKERS = ("o", "s", "^", "D")
WORDS = {
    "en": {
        "shares": "Shares of the three firms",
        "percent": "percent of the turnover",
        "limit": "limit of ({n},{k})",
        "groups": "Groups of two by MDAV",
        "group": "group {n}",
        "mean": "mean of a group",
        "after groups": "{n} groups",
        "random": "random groups",
        "mdav": "MDAV",
        "pca": "first component",
        "clustered_projection": "direction in clusters",
        "before": "before",
        "after": "after SAFE",
        "town": "town {code}",
        "f": "women",
        "m": "men",
        "merged": "1 sorted and merged",
        "raised": "2 to 4 error admitted",
        "pass": "pass",
        "error": "largest error",
        "made": "result: 0, 3, 4, …",
    },
    "de": {
        "shares": "Anteile der drei Unternehmen",
        "percent": "Prozent des Umsatzes",
        "limit": "Grenze von ({n},{k})",
        "groups": "Zweiergruppen nach MDAV",
        "group": "Gruppe {n}",
        "mean": "Mittel einer Gruppe",
        "after groups": "{n} Gruppen",
        "random": "zufällige Gruppen",
        "mdav": "MDAV",
        "pca": "erste Hauptkomponente",
        "clustered_projection": "Richtung in Clustern",
        "before": "vorher",
        "after": "nach SAFE",
        "town": "Ort {code}",
        "f": "Frauen",
        "m": "Männer",
        "merged": "1 sortiert, zusammengefasst",
        "raised": "2 bis 4 zugelassener Fehler",
        "pass": "Durchgang",
        "error": "größter Fehler",
        "made": "Ergebnis: 0, 3, 4, …",
    },
}


def shares(language: str) -> Figure:
    """What the largest and the two largest contributions have of the total, and the limits."""
    words, firms = WORDS[language], lecture("heinzl.firms").sort_by([("turnover", "descending")])
    share = 100 * firms["turnover"].to_numpy() / firms["turnover"].to_numpy().sum()
    figure = Figure(figsize=(7, 2.4), layout="constrained")
    axes = figure.add_subplot()
    for row, n in enumerate((1, 2)):
        left = 0.0
        for firm, width, colour in zip(firms["firm"].to_pylist()[:n], share, COLOURS, strict=False):
            axes.barh(row, width, 0.6, left=left, color=colour, edgecolor="white", label=firm)
            left += width
        told = f"{left:.1f} %" if language == "en" else f"{left:.1f} %".replace(".", ",")
        axes.text(left + 1, row, told, ha="left", va="center")
    for row, (n, k) in enumerate(((1, 80), (2, 85))):
        axes.plot([k, k], [row - 0.32, row + 0.32], color="black", linestyle="--")
        limit = words["limit"].format(n=n, k=k)
        axes.text(k, row - 0.34, limit, ha="center", va="top", fontsize=8)
    axes.set_yticks([0, 1], ["x₁ (B)", "x₁ + x₂ (B + C)"])
    axes.set_xlim(0, 105)
    axes.set_ylim(-0.7, 1.4)
    axes.set_xlabel(words["percent"])
    axes.set_title(words["shares"])
    return figure


def groups(language: str) -> Figure:
    """The records of `francdat` and the means that replace them, on logarithmic axes."""
    words, numbers = WORDS[language], ["Num1", "Num2", "Num3"]
    md = dk.Microdata(lecture("meindl.francdat"), numeric=numbers)
    made = md.microaggregate(k=2, method="mdav", scale=False)
    before, after = (
        np.column_stack([data.frame[n].to_numpy() for n in numbers]) for data in (md, made)
    )
    means, group = np.unique(after, axis=0, return_inverse=True)
    figure = Figure(figsize=(6, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for n, (mean, colour, marker) in enumerate(zip(means, COLOURS, MARKERS, strict=True)):
        own = before[group.ravel() == n]
        for record in own:
            axes.plot([record[0], mean[0]], [record[2], mean[2]], color=colour, linewidth=1)
        label = words["group"].format(n=n + 1)
        axes.plot(own[:, 0], own[:, 2], marker, color=colour, label=label)
    label = words["mean"]
    axes.plot(means[:, 0], means[:, 2], "x", color="black", markersize=8, label=label)
    for number, record in enumerate(before, 1):
        aside = (6, 3) if number % 2 else (-12, 3)
        axes.annotate(str(number), record[[0, 2]], xytext=aside, textcoords="offset points")
    axes.set(xscale="log", yscale="log", xlabel="Num1", ylabel="Num3", title=words["groups"])
    axes.legend(fontsize=8)
    return figure


def made_up_cloud() -> NDArray[np.float64]:
    """Thirty points of two related numbers."""
    rng = np.random.default_rng(4)
    along = rng.normal(size=30)
    return np.column_stack((along, 0.5 * along + rng.normal(scale=0.4, size=30)))


def mdav_steps(language: str) -> Figure:
    """Two groups a step, of the point farthest from the mean and the one farthest from it."""
    cloud = made_up_cloud()
    group = mdav(cloud, 3)  # numbered in the order in which groups are made
    figure = Figure(figsize=(9, 2.8), layout="constrained")
    for axes, done in zip(figure.subplots(1, 4, sharey=True), (2, 4, 8, 10), strict=True):
        left = cloud[group >= done]
        axes.plot(*cloud.T, "o", color="lightgrey", markersize=4)
        if len(left):
            axes.plot(*left.mean(axis=0), "+", color="black", markersize=10)
        for number in range(done):
            own = cloud[group == number]
            mean = own.mean(axis=0)
            colour = COLOURS[1] if number >= done - 2 else COLOURS[0]
            for record in own:
                axes.plot(*np.column_stack((record, mean)), color=colour, linewidth=0.8)
            axes.plot(*own.T, "o", color=colour, markersize=4)
            axes.plot(*mean, "x", color="black")
        axes.set(title=WORDS[language]["after groups"].format(n=done), xticks=[], yticks=[])
    return figure


def methods(language: str) -> Figure:
    """Groups of three by four methods: a made-up cloud, each record joined to its mean."""
    cloud = made_up_cloud()
    md = dk.Microdata(pa.table({"x": cloud[:, 0], "y": cloud[:, 1]}), numeric=["x", "y"])
    options: dict[str, Any] = {"random": {"seed": 1}, "clustered_projection": {"clusters": 2}}
    figure = Figure(figsize=(9, 2.8), layout="constrained")
    names = ("random", "mdav", "pca", "clustered_projection")
    for axes, name in zip(figure.subplots(1, 4, sharey=True), names, strict=True):
        made = md.microaggregate(k=3, method=name, **options.get(name, {})).frame
        means = np.column_stack([made["x"].to_numpy(), made["y"].to_numpy()])
        for record, mean in zip(cloud, means, strict=True):
            axes.plot(*np.column_stack((record, mean)), color=COLOURS[0], linewidth=0.8)
        axes.plot(*cloud.T, "o", color=COLOURS[0], markersize=4)
        axes.plot(*means.T, "x", color="black")
        axes.set(title=WORDS[language][name], xticks=[], yticks=[])
    return figure


def triplets(language: str) -> Figure:
    """Nine persons by town and sex, before and after SAFE."""
    words = WORDS[language]
    persons = pa.table({"town": list("AAAABBBBB"), "sex": list("fffmffmmm")})
    made = dk.Microdata(persons).safe([("town", "sex")], method="exact").frame
    figure = Figure(figsize=(7, 2.8), layout="constrained")
    for axes, frame, title in zip(
        figure.subplots(1, 2, sharey=True), (persons, made), ("before", "after"), strict=True
    ):
        count = dk.tabulate(frame, by={"town": None, "sex": None}).cells.to_pylist()
        for cell in count:
            if "Total" in cell.values():
                continue
            across, upwards = "AB".index(cell["town"]), "fm".index(cell["sex"])
            at = across - 0.2 + 0.13 * np.arange(cell["count"])
            colour, marker = COLOURS[across], MARKERS[upwards]
            axes.plot(at, np.full(len(at), upwards), marker, color=colour, markersize=9)
        axes.set_xticks([0, 1], [words["town"].format(code=code) for code in "AB"])
        axes.set_yticks([0, 1], [words["f"], words["m"]])
        axes.set(title=words[title], xlim=(-0.5, 1.6), ylim=(-0.5, 1.5))
    return figure


def steps(language: str) -> Figure:
    """The four steps of Höhne: merged records, the error that rises, what comes out."""
    words = WORDS[language]
    codes = np.array([[a, b] for a in range(6) for b in range(6)])
    rows = np.repeat(codes, np.tile([1, 1, 2, 1, 5, 1], 6), axis=0).astype(str)
    file = dk.Microdata(pa.table({"region": rows[:, 0], "age": rows[:, 1]}))
    made = file.safe([("region",), ("age",)], method="hoehne", error=0)
    figure = Figure(figsize=(9, 3), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for axes, frame, title in ((left, file.frame, "merged"), (right, made.frame, "made")):
        count = np.zeros((6, 6), dtype=int)
        at = (frame["region"].to_numpy().astype(int), frame["age"].to_numpy().astype(int))
        np.add.at(count, at, 1)
        axes.imshow(count, cmap="cividis_r", vmin=0, vmax=7)
        for (row, column), n in np.ndenumerate(count):
            colour = "white" if n > 3 else "black"
            axes.text(column, row, str(n), ha="center", va="center", color=colour)
        axes.set(title=words[title], xticks=[], yticks=[])
    passes, error, _ = zip(*made.history[-1].found["trace"], strict=True)
    middle.step(passes, error, where="post", marker="o", color=COLOURS[0])
    middle.set(title=words["raised"], xlabel=words["pass"], ylabel=words["error"])
    middle.set_xticks(passes)
    middle.set_yticks(error)
    return figure


def matrix(language: str) -> Figure:
    """Figure 1 of the cell key paper: cumulative probabilities by noise."""
    rows = np.column_stack(lecture("simon.matrix").drop_columns(["count"]).columns)
    chances = np.diff(rows, axis=1, prepend=0).round(12)
    table = dk.PerturbationTable.from_matrix(chances.tolist(), noise=range(-4, 5))
    return table.heat_map(language, cumulative=True)


def safe(language: str) -> Figure:
    """Small cells before and after SAFE, of the made-up census of the page."""
    persons = dk.datasets.census(2_000, seed=1).persons
    md = dk.Microdata(persons, household="household", id="dwelling")
    tables = dk.tables_up_to(2, of=["age_group", "sex", "marital"], always=["district"])
    return md.safe(tables, seed=1, sweeps=20).deviations().plot(language)


PICTURES = {
    "shares": shares,
    "groups": groups,
    "mdav_steps": mdav_steps,
    "methods": methods,
    "matrix": matrix,
    "triplets": triplets,
    "steps": steps,
    "safe": safe,
}


def main(folder: Path) -> None:
    """Write every picture in both languages, the same bytes each time."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "diskret", "svg.fonttype": "none"}):
        for name, draw in PICTURES.items():
            for language in WORDS:
                path = folder / f"{name}.{language}.svg"
                draw(language).savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
