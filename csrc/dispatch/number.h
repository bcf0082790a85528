// Traced numbers as words of the operand buffer.
#pragma once

#include "cache/operand_cache.h"
#include "cache/program.h"
#include "dispatch/call.h"

namespace torchtpu::dispatch {

// Appends the number in the format that the program expects.
void append_number(cache::Words& words, const TracedNumber& number, cache::Format format);

inline void append_word64(cache::Words& words, uint64_t value) {
  words.push_back(static_cast<uint32_t>(value));
  words.push_back(static_cast<uint32_t>(value >> 32));
}

}  // namespace torchtpu::dispatch
