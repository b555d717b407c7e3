"""KernelDPP: kernels from baskets, against enumeration, finite differences and other solvers."""

import itertools
import signal
import warnings

import numpy as np
import pytest
from scipy import sparse

from dpplearn import DPP, KernelDPP, LowRankDPP, NonsymmetricDPP, Subsets
from dpplearn._run.progress import Progress
from dpplearn.learning import Baskets, completion, split_baskets
from dpplearn.learning.baskets import likelihood
from dpplearn.learning.baskets.likelihood import log_likelihood
from dpplearn.learning.baskets.start import start_factors

NAMES = ["bib", "bottle", "cot", "nappy", "pram", "towel"]


def all_sets(n):
    return [Y for k in range(n + 1) for Y in itertools.combinations(range(n), k)]


def made_up(n=6, size=3000, seed=0):
    """Baskets drawn from a kernel that attracts within pairs (0, 1), (2, 3) and repels between 4 and 5."""
    L = np.diag(np.full(n, 0.35))
    L[0, 1], L[1, 0], L[2, 3], L[3, 2] = 0.7, -0.7, 0.5, -0.5
    L[4, 5] = L[5, 4] = 0.3
    return NonsymmetricDPP.from_kernel(L), NonsymmetricDPP.from_kernel(L).sample(size, rng=seed)


def at_most_five(draws):
    return Subsets.from_lists([Y for Y in draws if Y.size <= 5], 6)


@pytest.fixture(scope="module")
def draws():
    return made_up()[1]


@pytest.fixture(scope="module")
def fitted(draws):
    return KernelDPP(nonsymmetric=True, alpha=0.1).fit(draws)


def called(draws):
    return [[NAMES[i] for i in Y] for Y in draws]


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("attracting", [0, 4])
@pytest.mark.parametrize(("own", "rows"), [(False, False), (False, True), (True, False)])
def test_gradients_are_those_of_finite_differences(own, rows, attracting, features, monkeypatch):
    rng = np.random.default_rng(0)
    if rows:
        monkeypatch.setattr(likelihood, "DENSE", 0)
    shard = Baskets.read([rng.choice(7, rng.integers(0, 5), replace=False) for _ in range(40)]).distinct(np.ones(40))
    phi = np.column_stack([np.ones(7), rng.normal(size=(7, 2))]) if features else None
    factors = start_factors(shard, 7, 5, attracting, own, phi, 0)

    def objective(x):
        at = factors.with_parameters(x)
        kernel = at.kernel()
        value, *slopes = log_likelihood(lambda q: q.total([(1.0, shard.evaluate(q))]), shard.weights.sum(), kernel)
        penalty, drag = at.penalty(0.7)
        return value - penalty, at.pull_back(kernel, *slopes) - drag

    x = factors.parameters + 0.1 * rng.normal(size=factors.parameters.size)
    steps = 1e-6 * np.eye(x.size)
    numeric = [(objective(x + e)[0] - objective(x - e)[0]) / 2e-6 for e in steps]
    assert objective(x)[1] == pytest.approx(numeric, rel=1e-5, abs=1e-5)
    dpp = factors.with_parameters(x).distribution()
    known = sum(
        w * dpp.log_prob(Y) for w, Y in zip(shard.weights, Subsets(shard.indptr, shard.indices, 7), strict=True)
    )
    assert objective(x)[0] == pytest.approx(known - factors.with_parameters(x).penalty(0.7)[0], rel=1e-10)


def test_a_fit_finds_the_probabilities_that_baskets_were_drawn_from():
    true, draws = made_up(size=20_000)
    fitted = KernelDPP(nonsymmetric=True, alpha=0.1).fit(draws)
    sets = Subsets.from_lists(all_sets(6), 6)
    gap = np.exp(true.log_prob(sets)) - np.exp(fitted.dpp_.log_prob(sets))
    assert np.abs(gap).sum() / 2 < 0.03  # total variation
    assert fitted.log_likelihood_ >= true.log_prob(draws).sum()
    assert np.exp(fitted.dpp_.log_prob(sets)).sum() == pytest.approx(1.0)
    assert isinstance(fitted.dpp_, NonsymmetricDPP)


def test_attraction_is_what_a_symmetric_kernel_cannot_say(draws, fitted):
    held_out = made_up(seed=1)[1]
    symmetric = KernelDPP(alpha=0.1).fit(draws)
    assert fitted.score(held_out) > symmetric.score(held_out) + 0.05
    assert fitted.together(0, 1)[0].item == 1
    assert fitted.together(0, 1)[0].correlation > 0.3
    assert fitted.alike(4, 1)[0].item == 5
    assert fitted.alike(4, 1)[0].correlation < -0.1
    assert symmetric.together(0) == []
    assert symmetric.alike(4, 1)[0].item == 5
    assert fitted.correlations_with(2) == pytest.approx(fitted.dpp_.correlations()[2], abs=1e-9)


@pytest.mark.parametrize("solver", ["em", "fixed-point"])
def test_solvers_of_whole_kernels_rise_and_meet_lbfgs(solver):
    baskets = DPP([[1.0, 0.7, 0.0], [0.7, 0.8, 0.3], [0.0, 0.3, 0.5]]).sample(2000, rng=0)
    best = KernelDPP(alpha=0.0, tol=1e-9).fit(baskets)
    found = KernelDPP(solver=solver, tol=1e-9, max_iter=3000).fit(baskets)
    values = [step.objective for step in found.history_]
    assert np.diff(values).min() > -1e-12
    assert found.log_likelihood_ == pytest.approx(best.log_likelihood_, abs=0.02)
    assert found.alpha_ == 0.0
    assert isinstance(found.dpp_, DPP)
    assert found.log_likelihood_ / 2000 == pytest.approx(values[-1], abs=1e-8)


def test_batches_come_near_lbfgs(draws):
    draws = at_most_five(draws)
    exact = KernelDPP(rank=5, nonsymmetric=True, alpha=1.0).fit(draws)
    batches = KernelDPP(rank=5, nonsymmetric=True, alpha=1.0, solver="stochastic", batch_size=8, max_iter=80).fit(draws)
    assert batches.score(draws) > exact.score(draws) - 0.02
    assert batches.n_iter_ == 80
    again = KernelDPP(rank=5, nonsymmetric=True, alpha=1.0, solver="stochastic", batch_size=8, max_iter=80).fit(draws)
    assert np.array_equal(again.factors_.W, batches.factors_.W)


def test_large_catalogues_never_form_the_kernel(draws, monkeypatch):
    draws = at_most_five(draws)
    small = KernelDPP(rank=5, nonsymmetric=True, alpha=1.0).fit(draws)
    monkeypatch.setattr(likelihood, "DENSE", 3)
    monkeypatch.setattr(likelihood.Kernel, "L", property(lambda _: pytest.fail("formed")))
    rows = KernelDPP(rank=5, nonsymmetric=True, alpha=1.0).fit(draws)
    assert rows.score(draws) == pytest.approx(small.score(draws), abs=5e-3)


def test_ranks_and_kinds(draws):
    draws = at_most_five(draws)
    assert isinstance(KernelDPP(rank=5, alpha=0.1).fit(draws).dpp_, LowRankDPP)
    assert isinstance(KernelDPP(rank=6, alpha=0.1).fit(draws).dpp_, DPP)
    low = KernelDPP(rank=5, nonsymmetric=True, alpha=0.1).fit(draws).dpp_
    assert isinstance(low, NonsymmetricDPP)
    assert low.V.shape == (6, 5)


def test_baskets_in_all_their_forms_are_the_same(draws, fitted):
    X = draws.to_sparse()
    rows = np.repeat(np.arange(len(draws)), draws.sizes)
    filled = [Y.tolist() for Y in draws if Y.size]
    long = KernelDPP.from_long({"order": rows, "what": draws.indices}, basket="order", item="what")
    assert fitted.score(list(draws)) == fitted.score(X) == fitted.score(draws)
    assert fitted.score(long) == pytest.approx(fitted.score(filled))
    for form in (list(map(set, draws)), sparse.coo_matrix(X), [Y.tolist() for Y in draws]):
        again = KernelDPP(nonsymmetric=True, alpha=0.1).fit(form)
        assert np.array_equal(again.factors_.W, fitted.factors_.W)
    assert fitted.n_empty_ == (draws.sizes == 0).sum() > 0
    named = KernelDPP(nonsymmetric=True, alpha=0.1).fit(called(draws))
    assert named.items_.tolist() == NAMES
    assert named.score(called(draws)) == fitted.score(draws)


def test_a_catalogue_names_the_columns_of_tables(draws, fitted):
    named = KernelDPP(nonsymmetric=True, alpha=0.1).fit(draws.to_sparse(), items=NAMES)
    assert named.items_.tolist() == NAMES
    assert np.array_equal(named.factors_.W, fitted.factors_.W)
    assert named.score(draws) == named.score(draws.to_sparse()) == named.score(called(draws))
    with pytest.raises(ValueError, match="column for each of 5 items, found 6"):
        KernelDPP(alpha=1.0).fit(draws, items=NAMES[:5])
    with pytest.raises(ValueError, match="different, found 'bib'"):
        KernelDPP(alpha=1.0).fit([["bib"]], items=["bib", "bib"])
    for items in (["a", 1], [1.0, 2.0], []):
        with pytest.raises(TypeError, match=r"texts"):
            KernelDPP(alpha=1.0).fit([["a"]], items=items)


@pytest.mark.parametrize("symmetric", [False, True])
def test_large_baskets_are_inverted_like_small_ones(symmetric):
    rng = np.random.default_rng(0)
    M = rng.normal(size=(80, 80)) / 9
    L = M @ M.T + 0.5 * np.eye(80) + (0.0 if symmetric else 1.0) * (M - M.T)
    baskets = [rng.choice(80, k, replace=False) for k in (31, 32, 33, 60, 1)]
    shard = Baskets.read(baskets, range(80)).distinct(np.ones(5))
    value, (G,) = shard.evaluate(likelihood.Question((L,)))
    known, sum_of = 0.0, np.zeros_like(L)
    for Y in Subsets(shard.indptr, shard.indices, 80):
        known += np.linalg.slogdet(L[np.ix_(Y, Y)])[1]
        sum_of[np.ix_(Y, Y)] += np.linalg.inv(L[np.ix_(Y, Y)]).T
    assert value == pytest.approx(known)
    assert pytest.approx(sum_of, abs=1e-9) == G
    for bad in (np.zeros((80, 80)), np.diag(np.append(-1.0, np.ones(79)))):  # no minor, and one below 0
        large = Baskets.read([range(40)], range(80)).distinct(np.ones(1))
        assert large.evaluate(likelihood.Question((bad,))).value == -np.inf


def test_weights_count_like_repetitions(draws):
    some, weights = draws[:200], np.arange(200) % 3
    repeated = [Y for Y, w in zip(some, weights, strict=True) for _ in range(w)]
    one = KernelDPP(nonsymmetric=True, alpha=1.0).fit(some, sample_weight=weights)
    two = KernelDPP(nonsymmetric=True, alpha=1.0).fit(Subsets.from_lists(repeated, 6))
    assert np.array_equal(one.factors_.W, two.factors_.W)
    assert one.score(some, weights) == pytest.approx(two.score(repeated))


def test_alpha_is_chosen_on_held_out_baskets(draws):
    model = KernelDPP(nonsymmetric=True).fit(draws[:300])
    best = max(model.alphas_.values())
    assert model.alpha_ in model.alphas_
    assert model.alphas_[model.alpha_] > best - 0.05
    alone = DPP(np.diag([0.3, 0.4, 0.5, 0.6, 0.2, 0.3])).sample(400, rng=0)
    assert KernelDPP(nonsymmetric=True).fit(alone).alpha_ >= 4 > model.alpha_  # nothing to learn but the items
    given = KernelDPP(nonsymmetric=True, alpha=model.alpha_).fit(draws[:300])
    assert np.array_equal(given.factors_.W, model.factors_.W)
    independent = KernelDPP(nonsymmetric=True, alpha=1e6).fit(draws[:300])
    assert independent.dpp_.marginals == pytest.approx(draws[:300].inclusion_counts() / 300, abs=2e-3)
    assert np.abs(independent.dpp_.correlations() - np.eye(6)).max() < 1e-3


def test_processes_give_the_same_kernel(draws, monkeypatch):
    monkeypatch.setattr("dpplearn.learning.baskets.counted.SMALL", 4)
    one = KernelDPP(nonsymmetric=True, alpha=1.0, max_iter=12, tol=1.0).fit(draws)
    two = KernelDPP(nonsymmetric=True, alpha=1.0, max_iter=12, tol=1.0, n_jobs=2).fit(draws)
    assert np.array_equal(one.factors_.W, two.factors_.W)


class Stops(Progress):
    """Ctrl-C after the fourth iteration."""

    def finish(self, iteration, log_likelihood, gradient):
        super().finish(iteration, log_likelihood, gradient)
        if iteration == 4:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("solver", ["lbfgs", "em", "fixed-point", "stochastic"])
def test_a_stopped_fit_goes_on(solver, draws, tmp_path):
    path = tmp_path / "state.json"
    options = {"nonsymmetric": solver in ("lbfgs", "stochastic"), "alpha": 0.0, "solver": solver}
    options |= {"max_iter": 8 if solver == "stochastic" else 1000, "batch_size": 8, "tol": 1e-6}
    whole = KernelDPP(**options).fit(draws)
    options["checkpoint"] = path
    with pytest.raises(KeyboardInterrupt, match=r"state\.json holds"):
        KernelDPP(**options, verbose=Stops(False)).fit(draws)
    model = KernelDPP(**options).fit(draws)
    assert model.history_[0].iteration == 5
    near = 6.0 if solver == "lbfgs" else 0.5  # of 3000 baskets; what L-BFGS knew of the curvature is not in the file
    assert model.log_likelihood_ == pytest.approx(whole.log_likelihood_, abs=near)
    if solver == "stochastic":  # nothing but its moments to remember
        assert np.array_equal(model.factors_.W, whole.factors_.W)
        assert model.history_ == whole.history_[4:]
    with pytest.raises(ValueError, match="another fit: its items"):
        KernelDPP(**options).fit(draws, items=range(7))
    path.write_text(path.read_text()[:-40])
    with pytest.raises(ValueError, match="cut short"):
        KernelDPP(**options).fit(draws)


def test_ctrl_c_in_the_middle_of_a_pass_keeps_the_last_whole_one(draws, tmp_path, monkeypatch):
    options = {"nonsymmetric": True, "alpha": 1.0, "solver": "stochastic", "batch_size": 8, "max_iter": 6}
    whole = KernelDPP(**options).fit(draws)
    steps, evaluate = itertools.count(1), likelihood.BasketShard.evaluate

    def stops(shard, question):
        if next(steps) == 30:  # 8 batches in a pass
            raise KeyboardInterrupt
        return evaluate(shard, question)

    monkeypatch.setattr(likelihood.BasketShard, "evaluate", stops)
    with pytest.raises(KeyboardInterrupt, match=r"iteration 4.* holds"):
        KernelDPP(**options, checkpoint=tmp_path / "state.json").fit(draws)
    again = KernelDPP(**options, checkpoint=tmp_path / "state.json").fit(draws)
    assert np.array_equal(again.factors_.W, whole.factors_.W)


def test_a_checkpoint_that_is_not_there_is_not_promised(draws, tmp_path, monkeypatch):
    def stops(*_):
        raise KeyboardInterrupt

    with pytest.raises(FileNotFoundError, match="no folder"):
        KernelDPP(checkpoint=tmp_path / "none" / "state.json").fit(draws)
    monkeypatch.setattr("dpplearn.learning.baskets.fit.choose_alpha", stops)
    with pytest.raises(KeyboardInterrupt) as stopped:
        KernelDPP(checkpoint=tmp_path / "state.json").fit(draws)
    assert "holds" not in str(stopped.value)


def test_a_seed_gives_the_kernel(draws):
    one, two, other = (KernelDPP(nonsymmetric=True, alpha=1.0, random_state=seed).fit(draws) for seed in (3, 3, 9))
    assert np.array_equal(one.factors_.W, two.factors_.W)
    assert not np.array_equal(one.factors_.W, other.factors_.W)
    assert other.score(draws) == pytest.approx(one.score(draws), abs=0.01)


def test_features_give_new_items_a_place(draws):
    features = {0: [1.0, 0.0], 1: [1.0, 0.1], 2: [0.0, 1.0], 3: [0.1, 1.0], 4: [-1.0, 0.0], 5: [-1.0, 0.2]}
    model = KernelDPP(nonsymmetric=True, alpha=0.3).fit(draws, features=features)
    assert model.score(draws) > KernelDPP(alpha=0.1).fit(draws).score(draws)
    more = model.with_items({6: [1.0, 0.05]})
    assert more.dpp_.n == 7
    assert model.dpp_.n == 6
    A, phi = more.factors_.A, more.factors_.phi
    assert more.factors_.W[6] == pytest.approx(phi[6] @ A)
    assert 0.05 < more.dpp_.marginals[6] < 0.9
    assert more.next_scores(np.array([0])).shape == (7,)
    with pytest.raises(ValueError, match="knows no features"):
        KernelDPP(alpha=1.0).fit(draws).with_items({6: [1.0]})
    with pytest.raises(ValueError, match="new items"):
        model.with_items({3: [1.0, 0.0]})
    with pytest.raises(ValueError, match="must have 2 features"):
        model.with_items({9: [1.0]})
    with pytest.raises(ValueError, match="unequal length"):
        model.with_items({8: [1.0, 2.0], 9: [1.0]})
    with pytest.raises(TypeError, match="called as the others are, such as 0"):
        model.with_items({"6": [1.0, 2.0]})
    named = KernelDPP(alpha=1.0).fit(called(draws), features=dict(zip(NAMES, features.values(), strict=True)))
    with pytest.raises(TypeError, match="such as 'bib'"):
        named.with_items({3: [1.0, 2.0]})
    with pytest.raises(ValueError, match="every item; 5 has none"):
        KernelDPP(alpha=1.0).fit(draws, features={k: v for k, v in features.items() if k < 5})


def test_a_new_item_goes_with_what_its_likes_go_with():
    rng = np.random.default_rng(0)
    kinds = {"a": ["a1", "a2", "a3"], "b": ["b1", "b2", "b3"], "c": ["c1", "c2"]}
    baskets = []
    for u, v in rng.random((1500, 2)):  # an a comes with a b, and a c alone
        wanted = ["a", "b"] * bool(u < 0.4) + ["c"] * bool(v < 0.3)
        baskets.append([str(rng.choice(kinds[kind])) for kind in wanted])
    features = {name: [float(kind == other) for other in kinds] for kind in kinds for name in kinds[kind]}
    model = KernelDPP(nonsymmetric=True, alpha=0.3).fit(baskets, features=features).with_items({"a4": [1.0, 0.0, 0.0]})
    assert {item for item, _ in model.together("a4", 3)} == {"b1", "b2", "b3"}
    assert {item for item, _ in model.alike("a4", 3)} == {"a1", "a2", "a3"}
    assert abs(model.correlations_with("c1")[-1]) < 0.02
    assert model.dpp_.marginals[-1] == pytest.approx(model.dpp_.marginals[:3].mean(), abs=0.03)


# Questions


def test_next_items_have_their_conditional_probabilities(fitted):
    L = fitted.dpp_.L
    for basket in ([], [0], [4, 2]):
        minors = {i: np.linalg.det(L[np.ix_([*basket, i], [*basket, i])]) for i in range(6) if i not in basket}
        found = fitted.recommend(basket, k=6)
        assert [item for item, _ in found] == sorted(minors, key=minors.get, reverse=True)
        assert dict(found) == pytest.approx({i: m / sum(minors.values()) for i, m in minors.items()})
    without = fitted.recommend([0], k=6, exclude=[1])
    assert 1 not in dict(without)
    assert sum(dict(without).values()) == pytest.approx(1.0)


def test_sets_are_completed_to_the_most_probable(fitted):
    for basket, k in (([0], 1), ([0, 4], 2), ([], 3)):
        sets = [Y for Y in all_sets(6) if set(basket) <= set(Y) and len(Y) == len(basket) + k]
        best = max(sets, key=fitted.dpp_.log_prob)
        assert set(fitted.complete(basket, k)) == set(best) - set(basket)
    assert 1 not in fitted.complete([0], 2, exclude=[1])


@pytest.mark.parametrize("hold", ["random", "last"])
def test_completion_is_what_its_definition_says(hold, fitted, draws):
    baskets = [Y[::-1].tolist() for Y in draws[:300]]
    found = completion(fitted, baskets, hold, k=(1, 2), rng=5)
    rng, ranks, hits = np.random.default_rng(5), [], []
    large = [Y for Y in baskets if len(Y) > 1]
    held = rng.integers(0, [len(Y) for Y in large]) if hold == "random" else [len(Y) - 1 for Y in large]
    for Y, at in zip(large, held, strict=True):
        rest = Y[:at] + Y[at + 1 :]
        scores = {i: fitted.dpp_.log_prob([*rest, i]) for i in range(6) if i not in rest}
        ranks.append(100 * np.mean([scores[Y[at]] >= s for s in scores.values()]))
        hits.append(sorted(scores, key=scores.get)[-1] == Y[at])
    assert found.mpr == pytest.approx(np.mean(ranks))
    assert found.recall[1] == pytest.approx(np.mean(hits))
    assert found.precision[2] == found.recall[2] / 2
    assert found.n_baskets + found.n_small == 300
    assert found.mpr_error == pytest.approx(np.std(ranks, ddof=1) / np.sqrt(len(ranks)))
    real = fitted.dpp_.log_prob(Subsets.from_lists(large, 6))
    made = np.array([fitted.dpp_.log_prob(rng.choice(6, len(Y), replace=False)) for Y in large])
    larger, equal = real[:, None] > made + 1e-9, np.abs(real[:, None] - made) <= 1e-9
    assert found.auc == pytest.approx((larger + equal / 2).mean(), abs=0.02)  # which are equal is rounding's to say


def test_models_without_probabilities_can_be_compared(draws):
    class Popular:
        items_ = np.arange(6)

        def next_scores(self, basket):
            return np.ones(6) * (basket.size > 0)

    found = completion(Popular(), draws)
    assert np.isnan(found.auc)
    assert 50 < found.mpr < 65


def test_a_split_can_be_repeated(draws):
    train, validation, test = split_baskets(draws, 100, 50, seed=3)
    assert [len(part) for part in (train, validation, test)] == [2850, 50, 100]
    order = np.random.default_rng(3).permutation(3000)
    assert np.array_equal(test[7], draws[int(order[7])])
    with pytest.raises(ValueError, match="leave none of 3"):
        split_baskets([[1], [2], [3]], 2, 1)


# Bad input


def test_odd_baskets_are_counted_and_told():
    with pytest.warns(UserWarning, match="2 baskets hold an item more than once"):
        model = KernelDPP(alpha=1.0).fit([[1, 1, 2], [2, 2], [], [1]])
    assert model.n_empty_ == 1
    assert model.score([[1, 2]]) > -np.inf
    for nonsymmetric in (False, True):
        for baskets in ([["a", "b"]], 5 * [["a", "b"]], [["a"]], [["a", "b"], []]):
            model = KernelDPP(nonsymmetric=nonsymmetric).fit(baskets)
            assert np.isfinite(model.score(baskets))
            assert model.alpha_ == 1.0
            assert model.dpp_.n == len(model.items_)


@pytest.mark.parametrize(
    ("options", "baskets", "message"),
    [
        ({"rank": 2}, [[0, 1, 2], [3]], "rank=3"),
        ({}, [], "No basket"),
        ({}, [[], []], "No basket holds"),
        ({"alpha": -1.0}, [[0]], "not negative"),
        ({"alpha": "best"}, [[0]], '"cv" or a number'),
        ({"solver": "adam"}, [[0]], "'lbfgs'"),
        ({"solver": "em", "nonsymmetric": True}, [[0], [1]], "nonsymmetric=False"),
        ({"solver": "em", "alpha": 1.0}, [[0], [1]], "no prior"),
        ({"rank": 0}, [[0]], "at least 1"),
        ({}, sparse.csr_array([[2, 0], [1, 1]]), "0 and 1"),
        ({"tol": -1.0}, [["a", "b"], ["c"]], "tol must be"),
        ({"tol": "small"}, [[0]], "tol must be"),
    ],
)
def test_what_cannot_be_is_told(options, baskets, message):
    with pytest.raises(ValueError, match=message):
        KernelDPP(**options).fit(baskets)


@pytest.mark.parametrize(
    "baskets", ["file.csv", ["a b"], [1, 2], [["a", 1]], [[1.5]], [[None]], [[True]], 7, np.eye(3, dtype=np.int64)]
)
def test_what_are_no_baskets_is_told(baskets):
    with pytest.raises(TypeError, match=r"basket|Basket|Items"):
        KernelDPP().fit(baskets)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"nonsymmetric": "no"}, "True or False"),
        ({"nonsymmetric": 1}, "True or False"),
        ({"random_state": None}, "whole"),
    ],
)
def test_settings_of_another_kind_are_told(options, word):
    with pytest.raises(TypeError, match=word):
        KernelDPP(alpha=1.0, **options).fit([["a"], ["b"]])


@pytest.mark.parametrize("large", [2**63, 2**70, -(2**64)])
def test_numbers_that_no_array_holds_are_told(large):
    with pytest.raises(ValueError, match=f"64 bits, found {large}"):
        KernelDPP(alpha=1.0).fit([[1, large], [1]])


def test_an_impossible_basket_of_weight_0_is_no_matter():
    model = KernelDPP(rank=2, alpha=1.0).fit([["a", "b"], ["c"], ["b", "c"]])
    assert model.score([["a", "b", "c"]]) == -np.inf
    assert model.score([["a", "b", "c"], ["a"]], [0.0, 2.0]) == model.score([["a"]])


def test_a_table_is_told_from_baskets():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="from_long"):
        KernelDPP().fit(pandas.DataFrame({"order": [1, 1], "item": ["a", "b"]}))


def test_a_rank_that_memory_cannot_hold_is_told_before_it_is_tried():
    subsets = Subsets.from_lists([[0, 999_999]], 1_000_000)
    with pytest.raises(ValueError, match=r"rank=900000 for 1,000,000 items takes about \d+ GB.*Pass rank=\d+"):
        KernelDPP(rank=900_000).fit(subsets)


def test_items_never_seen_are_named_with_the_nearest(draws):
    model = KernelDPP(alpha=1.0).fit(called(draws))
    with pytest.raises(ValueError, match=r"no item 'botle'.*'bottle'"):
        model.recommend(["botle"])
    with pytest.raises(ValueError, match="no item"):
        model.score([["bib", "sink"]])
    with pytest.raises(TypeError, match="found the text 'bib'"):
        model.recommend("bib")
    found = completion(model, [["bib", "sink", "cot"], ["sink", "bib"]])
    assert (found.n_unseen, found.n_baskets, found.n_small) == (2, 1, 1)
    with pytest.raises(AttributeError, match="call fit first"):
        KernelDPP().recommend(["bib"])
    with pytest.raises(AttributeError, match="call fit first"):
        KernelDPP().save("model.json")
    low = KernelDPP(rank=3, alpha=0.1).fit([["a", "b", "c"], ["c", "d"], ["d"], ["e", "a"]])
    with pytest.raises(ValueError, match="larger rank"):
        low.recommend(["a", "b", "c"])


def test_a_fit_that_stops_early_says_so(draws):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="Raise max_iter"):
            KernelDPP(nonsymmetric=True, alpha=0.1, max_iter=3).fit(draws)


@pytest.mark.parametrize("nonsymmetric", [False, True])
def test_low_ranks_start_where_every_basket_is_possible(nonsymmetric):
    rng = np.random.default_rng(0)
    draws = Subsets.from_lists([rng.choice(5, rng.integers(0, 4), replace=False) for _ in range(200)], 8)
    model = KernelDPP(rank=4, nonsymmetric=nonsymmetric, alpha=1.0).fit(draws)
    assert model.dpp_.marginals == pytest.approx(draws.inclusion_counts() / 200, abs=5e-3)  # 3 items are in none
