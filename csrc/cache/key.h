// Everything that selects a program, as words. Two calls with equal keys run the same program; a hash alone never decides.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <cstdint>
#include <cstring>

namespace torchtpu::cache {

class Key {
 public:
  void push(uint64_t word) { words_.push_back(word); }
  void push(c10::ArrayRef<int64_t> values) {
    for (int64_t value : values) words_.push_back(static_cast<uint64_t>(value));
  }
  size_t size() const { return words_.size(); }
  uint64_t& operator[](size_t i) { return words_[i]; }
  c10::ArrayRef<uint64_t> words() const { return words_; }

  uint64_t hash() const {
    uint64_t h = 0x9e3779b97f4a7c15u ^ words_.size();
    for (uint64_t word : words_) {
      // The 128-bit product's halves folded together: one multiplication mixes every bit of a word.
      auto product = static_cast<unsigned __int128>(h ^ word) * 0xd6e8feb86659fd93u;
      h = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    }
    return h;
  }

 private:
  c10::SmallVector<uint64_t, 48> words_;
};

}  // namespace torchtpu::cache
