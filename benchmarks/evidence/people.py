"""Compares automatic measures of summaries with the grades that people gave."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.evidence.page import interval
from dpplearn.rouge import Rouge
from dpplearn.summarize import Cluster, Summarizer, read_clusters
from dpplearn.summarize.experiments.evaluation import count_faults, run_experiment
from dpplearn.summarize.experiments.systems import rouge_options

CORPUS, PEERS = "multiling2011.jsonl", "multiling2011_peers.jsonl"
TOPLINE = "Topline (reads the references)"
MEASURES = ("ROUGE-1", "ROUGE-2", "ROUGE-SU4", "fewer faults", "fewer words")
OURS = {"dpp-consensus": "ours, consensus", "dpp-summarize": "ours, as `summarize` gives it"}
WORDS = 250


def automatic(text: str, cluster: Cluster) -> list[float]:
    """The measures of a summary, more is better."""
    options = rouge_options(WORDS, "words", cluster.language)
    names = ("rouge-1", "rouge-2", "rouge-su4")
    scores = Rouge([one or " " for one in cluster.references], names, **options).score(text or " ")
    return [*(scores[name].f for name in names), -float(sum(count_faults(text, cluster))), -len(text.split())]


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    a, b = rankdata(x), rankdata(y)
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else float("nan")


def agreement(values: np.ndarray, grades: np.ndarray) -> tuple[np.ndarray, float]:
    """Spearman over the systems, within each topic and of the means over topics; both arrays are topics x systems."""
    within = np.array([spearman(v, g) for v, g in zip(values, grades, strict=True)])
    return within[~np.isnan(within)], spearman(values.mean(axis=0), grades.mean(axis=0))


def summarized(clusters: list[Cluster], language: str) -> dict[str, dict[str, str]]:
    """Our summaries, each topic by a model of the others."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        summarizer = Summarizer(budget=WORDS, unit="words", language=language)
        run_experiment(summarizer, list(OURS), clusters, None, names={"train": CORPUS}, out=Path(folder), jobs=2)
        lines = (Path(folder) / "summaries.jsonl").read_text(encoding="utf-8").strip().split("\n")
    made: dict[str, dict[str, str]] = {}
    for record in map(json.loads, lines):
        made.setdefault(record["system"], {})[record["id"]] = record["summary"]
    return {system: made[system] for system in OURS}


def run(data: Path, pictures: Path, quick: bool = False) -> dict:
    clusters: dict[str, list[Cluster]] = {}
    for one in read_clusters(data / CORPUS):
        clusters.setdefault(str(one.language), []).append(one)
    peers = [json.loads(line) for line in (data / PEERS).read_text(encoding="utf-8").strip().split("\n")]
    agreements, ours, drawn = [], [], {}
    for language, there in sorted(clusters.items()):
        ids = {str(one.id): t for t, one in enumerate(there)}
        systems = sorted({peer["system"] for peer in peers if peer["id"] in ids} - {TOPLINE})
        if not systems:
            continue
        values, grades = (
            np.full((len(MEASURES), len(there), len(systems)), np.nan),
            np.full((len(there), len(systems)), np.nan),
        )
        for peer in peers:
            if peer["id"] in ids and peer["system"] != TOPLINE:
                t, s = ids[peer["id"]], systems.index(peer["system"])
                values[:, t, s], grades[t, s] = automatic(peer["summary"], there[t]), np.mean(peer["grades"])
        row: list[object] = [language, len(systems), float(np.nanmean(grades))]
        for m, name in enumerate(MEASURES):
            within, between = agreement(values[m], grades)
            mean, low, high, _ = interval(within) if within.size > 1 else (np.nan, np.nan, np.nan, np.nan)
            drawn[language, name] = mean, low, high
            row.append("none" if np.isnan(mean) else f"{mean:.2f} [{low:.2f}, {high:.2f}]; {between:.2f}")
        agreements.append(row)
        found = summarized(there, language) if not quick else {}
        mean_grades, means = grades.mean(axis=0), values.mean(axis=1)
        best = {"graded best": int(mean_grades.argmax()), "of most ROUGE-2": int(means[1].argmax())}
        shown = {f"{systems[s]}, {why}": (f"{mean_grades[s]:.2f}", means[:, s]) for why, s in best.items()}
        for system, name in OURS.items() if found else ():
            own = [automatic(found[system][i], there[t]) for i, t in ids.items()]
            shown[name] = "not graded", np.mean(own, axis=0)
        for name, (grade, (one, two, su4, faults, _)) in shown.items():
            rouge = f"{100 * one:.1f} / {100 * two:.1f} / {100 * su4:.1f}"
            ours.append([language, name, grade, rouge, f"{abs(faults):.1f}"])
        print(agreements[-1], flush=True)
    draw(drawn, pictures / "evidence_people.png")
    n_grades = sum(len(peer["grades"]) for peer in peers)
    columns = ["language", "systems", "mean grade", *(f"{name}: within a topic; of systems" for name in MEASURES)]
    return {
        "question": "Which automatic measure ranks summaries as people do, and what do our own scores mean then?",
        "data": f"MultiLing 2011 (CC BY 3.0): {len(peers)} summaries by systems in {len(agreements)} languages, "
        f"{n_grades:,} grades from 1 to 5. Our summaries come from models that have not seen the topic.",
        "protocol": f"The measures are ROUGE-1.5.5 F at {WORDS} words against three references, and the number of "
        "faults that `evaluate` counts (sentences that do not stand alone, openings that lean on something before "
        "them, repetitions, people without an introduction), where fewer is better. The table shows Spearman's rank "
        "correlation with the mean grade: over the systems within a topic (mean over topics, with a 95 % interval), "
        "and over the means of the systems. The system that reads the references is left out.",
        "answer": answer(drawn, ours),
        "picture": (
            "evidence_people.png",
            "Dots with intervals: the agreement of each measure with people, by language.",
        ),
        "tables": [
            {"title": "Agreement with people", "columns": columns, "rows": agreements},
            {
                "title": "The best of the others, and ours",
                "columns": ["language", "system", "grade", "ROUGE-1 / 2 / SU4", "faults"],
                "rows": ours,
            },
        ],
        "notes": [
            "Each language has 10 topics and 6 to 9 systems. An interval is therefore about 0.4 wide, and differences "
            "between measures are rarely larger than that.",
            "Blind readings by another protocol (English, not repeated here) agreed with people's grades of 100 "
            "summaries by Spearman 0.67 for content, 0.27 for readability and 0.52 for rank. "
            "[Evaluation](evaluation.md#what-readers-mind) reports how readers ranked our summaries.",
            "The column of fewer words shows whether the count of faults is only a count of words.",
            "Names of people are looked for in English only, and not every language has rules for what stands "
            "alone. Where all systems have the same number of faults, no agreement can be computed.",
        ],
    }


def answer(drawn: dict, ours: list[list]) -> str:
    """One sentence, from the figures."""
    languages = list(dict.fromkeys(language for language, _ in drawn))
    parts = []
    for name in ("ROUGE-2", "fewer faults"):
        sure = [language for language in languages if drawn[language, name][1] > 0]
        mean = np.nanmean([drawn[language, name][0] for language in languages])
        parts.append(
            f"{name} correlates with people's grades by {mean:.2f} within a topic, beyond chance in {len(sure)} of "
            f"{len(languages)} languages"
        )
    best = 0
    for language in languages:
        rouge = {row[1]: float(row[3].split(" / ")[1]) for row in ours if row[0] == language}
        best += OURS["dpp-consensus"] in rouge and rouge[OURS["dpp-consensus"]] >= max(
            value for name, value in rouge.items() if name not in OURS.values()
        )
    most = f"Ours has the highest ROUGE-2 in {best} of {len(languages)} languages"
    return f"{', and '.join(parts)}. {most}, which does not prove that people prefer it."


def draw(drawn: dict, path: Path) -> None:
    from dpplearn.plots.style import PALETTE, TWO_COLUMNS, new_figure, style

    languages = list(dict.fromkeys(language for language, _ in drawn))
    with style():
        figure, axes = new_figure(TWO_COLUMNS, 2.4)
        ax = np.ravel(axes)[0]
        for m, name in enumerate(MEASURES[:4]):
            for x, language in enumerate(languages):
                mean, low, high = drawn[language, name]
                at = x + (m - 1.5) * 0.17
                ax.plot([at, at], [low, high], color=PALETTE[m], linewidth=1)
                ax.plot([at], [mean], "o", color=PALETTE[m], markersize=3.5, label=name if x == 0 else None)
        ax.axhline(0, color="black", linewidth=0.6)
        ax.set(
            xticks=range(len(languages)),
            xticklabels=[one.capitalize() for one in languages],
            ylabel="agreement with grades",
        )
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncol=4)
        figure.savefig(path, dpi=160)
