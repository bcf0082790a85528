"""The four networks that the device must train as the CPU does, with the data that they learn."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F


@dataclass
class Task:
    """A model, and the batch that a step's loss is computed from."""

    model: nn.Module
    batch: tuple[torch.Tensor, torch.Tensor]

    def to(self, device: str) -> "Task":
        return Task(self.model.to(device), tuple(tensor.to(device) for tensor in self.batch))

    def loss(self) -> torch.Tensor:
        inputs, targets = self.batch
        return F.cross_entropy(self.model(inputs).flatten(0, -2), targets.flatten())


def mlp(dropout: float = 0.0) -> Task:
    model = nn.Sequential(
        nn.Linear(16, 32), nn.ReLU(), nn.Dropout(dropout), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 5)
    )
    return Task(model, (torch.randn(24, 16), torch.randint(5, (24,))))


def cnn() -> Task:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False),  # batch norm leaves the gradient of a bias to rounding errors
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 5),
    )
    return Task(model, (torch.randn(8, 3, 12, 12), torch.randint(5, (8,))))


class _Block(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(self.before_attention(x)).view(batch, length, 3, self.heads, -1)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        dropout = self.dropout if self.training else 0.0
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=dropout)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.before_mlp(x))


class _Transformer(nn.Module):
    def __init__(self, vocabulary: int, width: int, heads: int, layers: int, length: int, dropout: float):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(_Block(width, heads, dropout) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def transformer(dropout: float = 0.0) -> Task:
    model = _Transformer(vocabulary=11, width=16, heads=2, layers=2, length=9, dropout=dropout)
    tokens = torch.randint(11, (4, 9))
    return Task(model, (tokens, tokens.roll(-1, 1)))


def wide_transformer() -> Task:
    """Four layers, 256 wide."""
    model = _Transformer(vocabulary=32, width=256, heads=4, layers=4, length=8, dropout=0.0)
    tokens = torch.randint(32, (2, 8))
    return Task(model, (tokens, tokens.roll(-1, 1)))


class _Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(6, 12, num_layers=2, batch_first=True), nn.Linear(12, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0][:, -1])


def lstm() -> Task:
    return Task(_Recurrent(), (torch.randn(6, 7, 6), torch.randint(5, (6,))))


TASKS: dict[str, Callable[[], Task]] = {"mlp": mlp, "cnn": cnn, "transformer": transformer, "lstm": lstm}
OPTIMIZERS: dict[str, Callable] = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=3e-3),
}
