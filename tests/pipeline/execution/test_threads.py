from threadpoolctl import threadpool_info, threadpool_limits

from pipeline.execution.threads import one_blas_thread


def widths() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info()}


def test_the_last_one_out_lifts_the_limit() -> None:
    with threadpool_limits(limits=2):
        before = widths()
        assert before != {1}, "BLAS takes no second thread here; the test shows nothing"
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)  # not the order of a stack, as with threads
        assert widths() == {1}
        second.__exit__(None, None, None)
        assert widths() == before
