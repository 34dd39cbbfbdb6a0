"""Use the estimators in a scikit-learn pipeline, and let a search choose the exponent.

Needs the extra sklearn: pip install 'imwk-sweep[sklearn]'
"""

from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from pipeline.estimators import FeatureRescaler, IMWKMeans


def main() -> None:
    """Cluster scikit-learn's wine data in three ways."""
    X, classes = load_wine(return_X_y=True)

    # imwk-means needs features of comparable range, so a scaler comes first.
    clusterer = make_pipeline(MinMaxScaler(), IMWKMeans(n_clusters=3, p=2.0))
    print(f"imwk-means, p = 2: ARI {adjusted_rand_score(classes, clusterer.fit_predict(X)):.3f}")

    # The rescaler finds feature weights and hands rescaled data to any other clusterer.
    rescaled = make_pipeline(
        MinMaxScaler(),
        FeatureRescaler(n_clusters=3, p=1.5),
        KMeans(n_clusters=3, n_init=10, random_state=0),
    )
    print(f"k-means, rescaled: ARI {adjusted_rand_score(classes, rescaled.fit_predict(X)):.3f}")

    # IMWKMeans.score is the silhouette of new rows, so the search does not see the classes.
    search = GridSearchCV(
        clusterer,
        {"imwkmeans__p": [1.2, 1.5, 2.0, 3.0]},
        cv=KFold(3, shuffle=True, random_state=0),
    ).fit(X)
    print(f"exponent with the best silhouette: {search.best_params_['imwkmeans__p']}")


if __name__ == "__main__":
    main()
