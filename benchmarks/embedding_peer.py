"""The row of ONNX Runtime of `benchmarks.embedding`, in an environment of its own: THREADS FOLDER.

torch and transformers of the project's environment export the model once; only ONNX Runtime and the tokenizer
are measured.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

_BATCH = 32
_EXPORT = """
import sys
sys.path.append(sys.argv[1])
import torch
from transformers import AutoModel
model = AutoModel.from_pretrained(sys.argv[2], attn_implementation="eager").eval()
class Hidden(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = model
    def forward(self, ids, mask):
        return self.model(input_ids=ids, attention_mask=mask).last_hidden_state
size = {0: torch.export.Dim("texts", min=2, max=4096), 1: torch.export.Dim("tokens", min=2, max=512)}
given = (torch.ones(4, 16, dtype=torch.long), torch.ones(4, 16, dtype=torch.long))
torch.onnx.export(Hidden(), given, sys.argv[3], input_names=["ids", "mask"], output_names=["hidden"],
                  dynamic_shapes=(size, size), dynamo=True)
"""


def main(threads: str, folder: str, packages: str, source: str) -> None:
    """Export where it was not done, measure, save the vectors, and print the numbers as JSON."""
    model = Path(sys.executable).parents[1] / "model.onnx"
    if not model.exists():
        subprocess.run([sys.executable, "-c", _EXPORT, packages, source, str(model)], check=True)
    began = time.process_time()
    import numpy as np
    import onnxruntime

    sys.path.append(packages)
    from tokenizers import Tokenizer

    imported = time.process_time()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(str(model), options)
    tokenizer = Tokenizer.from_file(str(Path(source) / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    loaded = time.process_time()

    def embed(texts: list[str]) -> "np.ndarray":
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        rows = np.zeros((len(texts), 384), np.float32)
        for start in range(0, len(texts), _BATCH):
            part = order[start : start + _BATCH]
            encoded = tokenizer.encode_batch([texts[i] for i in part])
            ids = np.array([text.ids for text in encoded], np.int64)
            mask = np.array([text.attention_mask for text in encoded], np.int64)
            (hidden,) = session.run(None, {"ids": ids, "mask": mask})
            mean = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
            rows[part] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return rows

    result: dict[str, object] = {"import_s": imported - began, "load_s": loaded - imported}
    texts = json.loads((Path(folder) / "texts.json").read_text(encoding="utf-8"))
    rows = []
    for kind, given in texts.items():
        began, cpu = time.perf_counter(), time.process_time()
        rows.append(embed(given))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        result[kind] = {"per_s": len(given) / seconds, "cpu_ms": 1000 * cpu / len(given)}
    np.save(Path(folder) / "rows.npy", np.concatenate(rows))
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
