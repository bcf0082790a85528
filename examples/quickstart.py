"""Trains a small convolutional network on scikit-learn's handwritten digits on the tpu device, and again on the CPU.

    tools/run examples/quickstart.py
    tools/run examples/quickstart.py --epochs 12 --device cpu

The last line is one JSON object. `import torch` is all that the tpu device needs.
"""

import argparse
import json
import time
from dataclasses import dataclass

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn import functional as F

COMPARED_STEPS = 50


@dataclass
class Digits:
    """1,797 images of 8x8 pixels, a quarter of them kept for the test."""

    train_images: torch.Tensor
    test_images: torch.Tensor
    train_labels: torch.Tensor
    test_labels: torch.Tensor


def load() -> Digits:
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target, dtype=torch.int64)
    train, test = train_test_split(range(len(labels)), test_size=0.25, random_state=0, stratify=labels)
    return Digits(images[train], images[test], labels[train], labels[test])


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 16, kernel_size=3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, kernel_size=3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 2 * 2, 10),
    )


@dataclass
class Result:
    losses: list[float]
    accuracy: float
    step_ms: float  # the median, once everything is compiled
    recompiled: int  # programs that any epoch but the first compiled


def train(device: str, digits: Digits, epochs: int, batch_size: int) -> Result:
    """The ordinary training loop. Incomplete batches are dropped, so that every step has the same shapes."""
    model = network().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    images, labels = digits.train_images.to(device), digits.train_labels.to(device)
    order = torch.Generator().manual_seed(0)
    losses: list[float] = []
    times: list[float] = []
    recompiled = 0
    for epoch in range(epochs):
        programs_before = programs(device)
        model.train()
        batches = torch.randperm(len(labels), generator=order).split(batch_size)
        for batch in batches[: len(labels) // batch_size]:
            start = time.perf_counter()
            indices = batch.to(device)
            loss = F.cross_entropy(model(images[indices]), labels[indices])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            times.append(time.perf_counter() - start)
        accuracy = evaluate(model, digits, device)
        recompiled += programs(device) - programs_before if epoch else 0
        print(
            f"{device}  epoch {epoch + 1:2}/{epochs}  loss {losses[-1]:.4f}  test accuracy {accuracy:.4f}", flush=True
        )
    return Result(losses, accuracy, sorted(times)[len(times) // 2] * 1000, recompiled)


@torch.no_grad()
def evaluate(model: nn.Module, digits: Digits, device: str) -> float:
    model.eval()
    predicted = model(digits.test_images.to(device)).argmax(dim=1)
    return (predicted == digits.test_labels.to(device)).float().mean().item()


def programs(device: str) -> int:
    return torch.tpu.cache_stats()["programs"] if device == "tpu" else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="tpu")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    options = parser.parse_args()

    torch.set_num_threads(1)  # for so small a network the CPU's threads would only wait for each other
    digits = load()
    print(f"{len(digits.train_labels)} images to train on, {len(digits.test_labels)} to test on")
    ours = train(options.device, digits, options.epochs, options.batch_size)
    theirs = train("cpu", digits, options.epochs, options.batch_size)
    differences = [abs(left - right) for left, right in zip(ours.losses, theirs.losses)]
    on_tpu = options.device == "tpu"
    summary = {
        "device": torch.tpu.get_device_name() if on_tpu else options.device,
        "accuracy": round(ours.accuracy, 4),
        "cpu_accuracy": round(theirs.accuracy, 4),
        "max_loss_diff": max(differences[:COMPARED_STEPS]),
        "step_ms": round(ours.step_ms, 3),
        "cpu_step_ms": round(theirs.step_ms, 3),
        "programs": programs(options.device),
        "recompiled": ours.recompiled,
        "cache_hits": torch.tpu.cache_stats()["hits"] if on_tpu else 0,
        "fallbacks": sum(torch.tpu.fallback_counts().values()) if on_tpu else 0,
    }
    print()
    print(f"test accuracy           {ours.accuracy:.4f} ({theirs.accuracy:.4f} on the CPU)")
    print(f"largest loss difference {summary['max_loss_diff']:.1e} over the first {COMPARED_STEPS} steps")
    print(f"step                    {ours.step_ms:.2f} ms ({theirs.step_ms:.2f} ms on the CPU)")
    print(f"programs compiled       {summary['programs']}, after the first epoch {ours.recompiled}")
    print(f"cache hits              {summary['cache_hits']}")
    print(f"fallbacks to the CPU    {summary['fallbacks']}")
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
