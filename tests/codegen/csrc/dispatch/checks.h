#pragma once
namespace torchtpu::dispatch::checks {
using Args = c10::ArrayRef<c10::IValue>;
void alpha_matches_dtype(Args args);
// void commented_out(Args args);
}  // namespace torchtpu::dispatch::checks
