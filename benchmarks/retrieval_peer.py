"""Plain faiss or lancedb on the vectors of the benchmark; runs in an environment of its own."""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def memory_mb() -> float:
    """Memory of this process in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def with_faiss(kind, vectors):
    import faiss

    begun = time.perf_counter()
    if kind == "faiss flat":
        index = faiss.IndexFlatIP(vectors.shape[1])
    else:
        index = faiss.IndexHNSWFlat(vectors.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction, index.hnsw.efSearch = 100, 256
    index.add(vectors)
    added = time.perf_counter() - begun
    return {"add_s": added}, lambda query: index.search(query.reshape(1, -1), 50)[1][0]


def with_lancedb(vectors, folder):
    import lancedb
    import pyarrow as pa

    begun = time.perf_counter()
    flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    rows = pa.table({"id": pa.array(np.arange(len(vectors))), "vector": flat})
    table = lancedb.connect(folder).create_table("chunks", rows)
    added = time.perf_counter() - begun
    begun = time.perf_counter()
    table.create_index(metric="dot", index_type="IVF_HNSW_SQ", num_partitions=1)
    built = time.perf_counter() - begun

    def search(query):
        found = table.search(query).distance_type("dot").ef(256).refine_factor(4).limit(50)
        return found.select(["id"]).to_arrow()["id"].to_numpy()

    return {"add_s": added, "build_s": built}, search


def main():
    kind, data = sys.argv[1], Path(sys.argv[2])
    vectors, queries = np.load(data / "vectors.npy"), np.load(data / "queries.npy")
    nearest, before = np.load(data / "nearest.npy"), memory_mb()
    with tempfile.TemporaryDirectory() as folder:
        result, search = with_lancedb(vectors, folder) if kind == "lancedb" else with_faiss(kind, vectors)
        result["memory_mb"] = memory_mb() - before
        search(queries[0])
        times, found = [], []
        for query in queries:
            begun = time.perf_counter()
            found.append(search(query))
            times.append(1000 * (time.perf_counter() - begun))
    shares = [len(set(map(int, a)) & set(map(int, b))) / 50 for a, b in zip(found, nearest, strict=True)]
    result |= {"vector_p50": np.percentile(times, 50), "vector_p99": np.percentile(times, 99)}
    print(json.dumps({key: float(value) for key, value in (result | {"recall": np.mean(shares)}).items()}))


if __name__ == "__main__":
    main()
