from threadpoolctl import threadpool_info, threadpool_limits

from pipeline.execution.threads import one_blas_thread


def widths() -> set[int]:
    pools = threadpool_info()  # other tests may have loaded a BLAS of scikit-learn
    return {pool["num_threads"] for pool in pools if "numpy" in pool["filepath"]}


def test_the_limit_lasts_until_the_last_user_leaves() -> None:
    with threadpool_limits(limits=2):
        before = widths()
        assert before != {1}, "BLAS has one thread on this machine, so the test shows nothing"
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)  # threads do not leave in the order of a stack
        assert widths() == {1}
        second.__exit__(None, None, None)
        assert widths() == before
