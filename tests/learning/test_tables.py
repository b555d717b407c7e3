"""Tables as people have them: categories, booleans, missing values, new data, pandas and polars."""

import json

import numpy as np
import pytest

from dpplearn import ConditionalDPP, ItemSet
from dpplearn.learning import load_shard, save_shard
from playlists import GENRES, playlists

pd = pytest.importorskip("pandas")
FEATURES = ["genre", "tempo", "explicit"]


def frame(**options):
    return pd.DataFrame(playlists(**options))


def read(table, **options):
    settings = {"features": FEATURES, "phi": ["genre"], "chosen": "kept", **options}
    return ItemSet.from_long(table, group="playlist", **settings)


def test_pandas_polars_and_dicts_give_the_same():
    pl = pytest.importorskip("polars")
    plain = playlists(20)
    data = pd.DataFrame(plain)
    data["genre"] = data["genre"].astype("category")
    lazy = pl.DataFrame(plain).with_columns(pl.col("genre").cast(pl.Categorical))
    other = pl.DataFrame(plain).with_columns(pl.col("genre").cast(pl.Enum(sorted(GENRES))))
    nullable = data.astype({"tempo": "Float64", "explicit": "boolean", "kept": "boolean"})
    (X, y), *others = (read(table) for table in (data, lazy, other, nullable, plain))
    for other, chosen in others:
        assert other[0].encoding == X[0].encoding
        for a, b in zip(X, other, strict=True):
            np.testing.assert_array_equal(a.features, b.features)
            np.testing.assert_array_equal(a.phi, b.phi)
        assert [Y.tolist() for Y in chosen] == [Y.tolist() for Y in y]
    with pytest.raises(KeyError, match="no column 'tune'; it has"):
        read(lazy, features=["tune"])


def test_what_says_which_items_were_chosen():
    """Booleans of any library, 0 and 1; what is missing or a text is told with its row."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = {"group": [1, 1, 2], "x": [0.1, 0.2, 0.3], "kept": [True, False, True]}
    wanted = {"group": "group", "features": ["x"], "phi": ["x"], "chosen": "kept"}
    for flags in ([1, 0, 1], [1.0, 0.0, 1.0], pd.array([True, False, True], "boolean"), pl.Series([True, False, True])):
        _, y = ItemSet.from_long(table | {"kept": flags}, **wanted)
        assert [Y.tolist() for Y in y] == [[0], [0]]
    for flags in ([1.0, np.nan, 0.0], pd.array([True, None, False], "boolean"), pl.Series([True, None, True])):
        with pytest.raises(ValueError, match=r"found nothing in row 1 \(1 such"):
            ItemSet.from_long(table | {"kept": flags}, **wanted)
    with pytest.raises(ValueError, match=r"found 'no' in row 0 \(3 such"):
        ItemSet.from_long(table | {"kept": ["no", "yes", "no"]}, **wanted)


def test_a_model_refuses_tables_that_were_read_in_another_way(tmp_path):
    """Levels, averages and scales of other data are not those that the weights are of."""
    table = frame(n_lists=20)
    X, y = read(table)
    model = ConditionalDPP(nugget=0.3).fit(X, y)
    fewer = table[table["playlist"].isin(table["playlist"].unique()[:4])]
    folk = table[table["genre"] != "pop"]
    for part in (fewer, folk):
        other, chosen = read(part)
        for use in (
            lambda x: model.predict(x),
            lambda x: model.dpp(x[0]),
            lambda x, y=chosen: model.score(x, y),
        ):
            with pytest.raises(ValueError, match=r"way than before: .*model\.encoding_"):
                use(other)
        right = ItemSet.from_long(part, group="playlist", encoding=model.encoding_)
        assert len(model.predict(right)) == len(right)
    other, chosen = read(fewer)
    by_hand = [ItemSet(x.features, phi=x.phi, names=x.names) for x in X]
    np.testing.assert_array_equal(model.predict(by_hand)[0], model.predict(X)[0])
    with pytest.raises(ValueError, match=r"X\[20\] was read .* than before: .*X\[0\]\.encoding"):
        ConditionalDPP(nugget=0.3).fit(X + other, y + chosen)
    with pytest.raises(ValueError, match=r"X\[20\] has 7 features, and 8 were.*encoding=model"):
        ConditionalDPP(nugget=0.3).fit(X + read(folk)[0], y + read(folk)[1])
    save_shard(tmp_path / "0.npz", X, y)
    save_shard(tmp_path / "1.npz", other, chosen)
    with pytest.raises(ValueError, match="Shard 1 was read"):
        ConditionalDPP(nugget=0.3).fit([tmp_path / "0.npz", tmp_path / "1.npz"])
    assert len(model.predict(load_shard(tmp_path / "0.npz").item_sets)) == 20  # equal is enough


def test_quality_columns():
    table = {"size": ["s", "m", None, "m", "l"], "x": [1.0, None, 3.0, 5.0, 3.0], "b": [True, False, None, True, False]}
    [x] = ItemSet.from_long(table, group=None, features=["size", "x", "b"], phi=["size"])
    known = [x.names.index(name) for name in ("size=l", "size=s", "size is unknown")]  # m is the most frequent
    np.testing.assert_allclose(x.features[:, known], [[0, 1, 0], [0, 0, 0], [0.25, 0.25, 1], [0, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(x.features[:, x.names.index("x")], [1, 3, 3, 5, 3])  # the mean, where it is missing
    np.testing.assert_allclose(x.features[:, x.names.index("x is unknown")], [0, 1, 0, 0, 0])
    np.testing.assert_allclose(x.features[:, x.names.index("b")], [1, 0, 0.5, 1, 0])


def test_similarity_columns():
    """The same category is alike, unknown is a category, all false too."""
    table = pd.DataFrame({"one": 1, "g": ["a", "b", "a", None], "t": [False, True, False, True]})

    def cosines(*phi):
        return ItemSet.from_long(table, group=None, features=["one"], phi=phi)[0].similarity_matrix()

    np.testing.assert_allclose(cosines("g"), [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]])
    np.testing.assert_allclose(cosines("t")[0], [1, 0, 1, 0])
    np.testing.assert_allclose(cosines("g", "t")[0], [1, 0, 1, 0], atol=1e-7)
    table["loud"] = [1000.0, 2000.0, 3000.0, np.nan]  # by distance, sigma 816.5; unknown is like unknown alone
    near = np.exp(-(np.array([0.0, 1.0, 2.0]) ** 2) * 0.75)
    np.testing.assert_allclose(cosines("loud")[0], [*near, 0.0], atol=1e-7)
    np.testing.assert_allclose(cosines("g", "loud")[0], (np.array([1, 0, 1, 0]) + np.append(near, 0.0)) / 2, atol=1e-7)


def test_new_data_are_read_as_training_was():
    X, y = read(frame())
    model = ConditionalDPP(nugget=0.3).fit(X, y)
    new = frame(n_lists=4, seed=1)
    [first, *_] = ItemSet.from_long(new, group="playlist", encoding=model.encoding_)
    assert first.names == X[0].names
    new.loc[0, "genre"] = "zydeco"
    new.loc[1, "genre"] = None
    with pytest.warns(UserWarning, match=r"1 row has a 'genre' that training had not \('zydeco'"):
        [odd, *_] = ItemSet.from_long(new, group="playlist", encoding=model.encoding_)
    np.testing.assert_array_equal(odd.features[0, :5], odd.features[1, :5])  # unknown, as one that is missing
    np.testing.assert_array_equal(odd.phi[0], odd.phi[1])
    sure, _ = read(frame(holes=0.0))  # nothing was unknown in training: the average item
    assert sure[0].encoding is not None
    with pytest.warns(UserWarning, match="zydeco"):
        [odd, *_] = ItemSet.from_long(new, group="playlist", encoding=sure[0].encoding)
    average = np.concatenate([x.features for x in sure]).mean(axis=0)
    np.testing.assert_allclose(odd.features[0, :4], average[:4])
    with pytest.raises(TypeError, match="leave features and phi out"):
        read(new, encoding=model.encoding_)
    with pytest.raises(TypeError, match=r"Pass model\.encoding_"):
        ItemSet.from_long(new, group="playlist", encoding=model)
    new["tempo"], new["genre"] = "fast", None
    with pytest.raises(ValueError, match=r"'tempo' holds numbers, and tempo\[0\] is 'fast'"):
        ItemSet.from_long(new, group="playlist", encoding=sure[0].encoding)


def test_the_encoding_is_in_the_model_file_and_in_shards(tmp_path):
    X, y = read(frame(n_lists=20))
    model = ConditionalDPP(nugget=0.3).fit(X, y)
    model.save(tmp_path / "m.json")
    assert ConditionalDPP.load(tmp_path / "m.json").encoding_ == model.encoding_ == X[0].encoding
    save_shard(tmp_path / "s.npz", X, y)
    again = load_shard(tmp_path / "s.npz").item_sets
    assert again[3].encoding == X[3].encoding
    assert ConditionalDPP(nugget=0.3).fit([tmp_path / "s.npz"]).encoding_ == model.encoding_
    data = json.loads((tmp_path / "m.json").read_text())
    for change in (
        {"features": []},
        {"phi": None},
        {"features": [{**data["encoding"]["features"][0], "shares": [0.5]}]},
        {"features": [{**data["encoding"]["features"][0], "kind": "colour"}]},
        {"features": [{**data["encoding"]["features"][0], "base": 99}]},
        {"features": [{**data["encoding"]["features"][0], "more": 1}]},
        {"features": data["encoding"]["features"][1:]},
    ):
        (tmp_path / "bad.json").write_text(json.dumps({**data, "encoding": {**data["encoding"], **change}}))
        with pytest.raises(ValueError, match="encoding"):
            ConditionalDPP.load(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (["1.5", "2.5", "3"], TypeError, "holds numbers as texts, such as '1.5'"),
        (["a", 1.0, "b"], TypeError, r"values of one kind, found category \('a' in row 0\), number \(1.0 in row 1\)"),
        (np.array(["2020-01-01"] * 3, "M8[D]"), TypeError, r"v\[0\] is datetime.date.* a date for instance to days"),
        ([[1], [2], [3]], ValueError, "one value per row"),
        ([None, None, None], ValueError, "no value in any row"),
        ([np.nan] * 3, ValueError, "no value in any row"),
        ([1.0, np.inf, 2.0], ValueError, r"v\[1\] is inf"),
        ([1j, 2j, 3j], TypeError, "complex"),
    ],
)
def test_columns_that_are_none(values, error, message):
    with pytest.raises(error, match=message):
        ItemSet.from_long({"v": values, "g": ["a", "b", "c"]}, group=None, features=["v"], phi=["g"])
