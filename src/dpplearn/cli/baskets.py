"""dpplearn baskets: kernels from baskets, what goes with what, what comes next, and how good that is."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from dpplearn.baskets import KernelDPP
from dpplearn.baskets.completing import completion
from dpplearn.cli import check_out, print_json, say, visible
from dpplearn.cli.bars import bars
from dpplearn.cli.basket_files import read_baskets
from dpplearn.cli.options import AS_JSON, FILE, PATH, Command

Columns = tuple[str, str] | None
LONG = click.option(
    "--long",
    "columns",
    nargs=2,
    metavar="BASKET ITEM",
    help="FILE is a table with a row for each item: the columns that name the basket and the item.",
)


@click.group(name="baskets")
def command() -> None:
    """Learn which items come together, and which replace each other, from baskets.

    FILE has one basket a line, its items separated by tabs, commas, semicolons or blanks; or is JSON Lines with a list
    on each line, Parquet with a column "items", or with --long a table in CSV, TSV, JSON Lines or Parquet.
    """


@command.command(cls=Command)
@click.argument("file", type=PATH)
@click.option("--out", type=FILE, required=True, help="Model file to write, JSON.")
@click.option("--rank", type=click.IntRange(1), help="Of the kernel.  [default: all of it, up to 1500 items]")
@click.option("--symmetric", is_flag=True, help="A kernel that only repels.")
@click.option("--alpha", type=click.FloatRange(0), help="Strength of the prior.  [default: chosen on held-out baskets]")
@LONG
def fit(file: Path, out: Path, rank: int | None, symmetric: bool, alpha: float | None, columns: Columns) -> None:
    """Learn a kernel from the baskets of FILE."""
    check_out(out)
    baskets = read_baskets(file, columns or None)
    options: dict[str, Any] = {"alpha": "cv" if alpha is None else alpha, "random_state": 0, "n_jobs": -1}
    with bars() as show:
        model = KernelDPP(rank, not symmetric, progress=show, **options).fit(baskets)
    model.save(out)
    say(
        f"{len(baskets)} baskets ({model.n_empty_} empty) of {len(model.items_)} items: log-likelihood per basket "
        f"{model.log_likelihood_ / len(baskets):.4f} with alpha {model.alpha_:g}. Wrote {out}."
    )


@command.command(cls=Command)
@click.argument("model", type=PATH)
@click.argument("items", nargs=-1, metavar="ITEM...")
@click.option("-k", type=click.IntRange(1), default=10, show_default=True, help="Number of items.")
@click.option("--exclude", multiple=True, metavar="ITEM", help="Not this one; may be repeated.")
@click.option("--explain", is_flag=True, help="Say how each item of the basket changes the odds, on standard error.")
@AS_JSON
def recommend(model: Path, items: list[str], k: int, exclude: list[str], explain: bool, as_json: bool) -> None:
    """What comes next to a basket of ITEMs, with probabilities."""
    fitted = KernelDPP.load(model)
    basket, out = as_named(fitted, items), as_named(fitted, exclude)
    found: list[dict[str, Any]] = [one._asdict() for one in fitted.recommend(basket, k, out)]
    if explain:
        for one in found:
            one["why"] = [ratio._asdict() | {"words": ratio.words} for ratio in fitted.why(one["item"], basket)]
    if as_json:
        print_json({"basket": basket, "next": found})
        return
    for one in found:
        click.echo(visible(f"{one['probability']:.4f}  {one['item']}"))
        if explain and one["why"]:
            say(visible(f"        {'; '.join(ratio['words'] for ratio in one['why'])}"))


@command.command(cls=Command)
@click.argument("model", type=PATH)
@click.argument("item", required=False)
@click.option(
    "-k", type=click.IntRange(1), default=10, show_default=True, help="Number of items, or of pairs of each kind."
)
@AS_JSON
def together(model: Path, item: str | None, k: int, as_json: bool) -> None:
    """What attracts and what repels ITEM; without ITEM, the pairs of items that do so most.

    The correlation is that of being in a basket, by the model; the lift, how many times as many baskets had both as if
    the two were independent.
    """
    fitted = KernelDPP.load(model)
    if item is None:
        pairs = fitted.together(k=k)
        if as_json:
            kinds = {kind: [one._asdict() for one in getattr(pairs, kind)] for kind in ("attract", "repel", "missed")}
            print_json({**vars(pairs), **kinds})
        else:
            click.echo(visible(str(pairs)))
        return
    (name,) = as_named(fitted, (item,))
    attract, repel = fitted.together(name, k), fitted.alike(name, k)
    if as_json:
        print_json({"item": name, "attract": [x._asdict() for x in attract], "repel": [x._asdict() for x in repel]})
        return
    for one in [*attract, *repel]:
        click.echo(visible(f"{one.correlation:+.3f}  {one.item}"))
    for pair in fitted.pairs_.missed:
        if name in pair[:2]:
            say(
                visible(
                    f"The model misses {pair.first} + {pair.second}: {pair.baskets:g} baskets, lift {pair.lift:.2f}."
                )
            )


@command.command(cls=Command)
@click.argument("model", type=PATH)
@click.argument("file", type=PATH)
@click.option("--hold", type=click.Choice(["random", "last"]), default="random", show_default=True)
@LONG
@AS_JSON
def evaluate(model: Path, file: Path, hold: str, columns: Columns, as_json: bool) -> None:
    """Rank an item held out of each basket of FILE among all others."""
    fitted, baskets = KernelDPP.load(model), read_baskets(file, columns or None)
    found = completion(fitted, baskets, hold, rng=0)
    if as_json:
        print_json({"hold": hold, **asdict(found)})
        return
    click.echo(f"baskets                 {found.n_baskets} ({found.n_small} of fewer than two items left out)")
    click.echo(f"log-likelihood          {found.log_likelihood:.4f} per basket")
    click.echo(f"mean percentile rank    {found.mpr:.2f} +- {found.mpr_error:.2f}")
    for k, recall in found.recall.items():
        click.echo(f"among the first {k:<8d}{100 * recall:.1f} %")
    click.echo(f"AUC against random sets {found.auc:.4f}")
    if found.n_unseen:
        say(f"Left out {found.n_unseen} items that the model does not know.")


def as_named(model: Any, items: list[str] | tuple[str, ...]) -> list[Any]:
    """Items as the model names them: numbers, where it has numbers."""
    if model.items_.dtype.kind == "U":
        return list(items)
    bad = [item for item in items if not item.lstrip("-").isdigit()]
    if bad:
        raise ValueError(f"The items of this model are whole numbers, such as {model.items_[0]}; found {bad[0]!r}.")
    return [int(item) for item in items]
