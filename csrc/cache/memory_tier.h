// The compile cache's tier in memory: key -> program. When there are too many programs, those not used for longest are unloaded.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "cache/key.h"
#include "cache/mappings.h"
#include "cache/program.h"

namespace torchtpu::cache {

// Readers take no lock: entries never move, only the executable of an entry goes, and a table that has grown too small stays
// readable. The slot of an entry whose program is gone goes to the next one that meets it, so that chains stay short.
class MemoryTier {
 public:
  static MemoryTier& get();

  const Program* find(const Key& key, uint64_t hash) const;
  // Keeps the first program when two threads compiled the same key.
  const Program* insert(const Key& key, uint64_t hash, Program program);

  struct Stats {
    int64_t programs, hits, misses, evictions;
    double compile_seconds;
  };
  Stats stats() const;
  void count_hit() { hits_.fetch_add(1, std::memory_order_relaxed); }
  void count_miss() { misses_.fetch_add(1, std::memory_order_relaxed); }
  void count_compilation(double seconds);

 private:
  struct Entry {
    uint64_t hash;
    std::vector<uint64_t> words;
    Program program;
    mutable std::atomic<int64_t> last_used{0};  // in insertions
  };
  struct Table {
    explicit Table(size_t capacity) : slots(capacity) {}
    std::vector<std::atomic<const Entry*>> slots;  // a power of two, at most half full
    size_t taken = 0;
  };

  MemoryTier();
  static const Entry* find_in(const Table& table, const Key& key, uint64_t hash);
  static void place(Table& table, const Entry* entry);
  void make_room();
  void unload(int64_t count);

  mutable std::mutex writers_;
  std::vector<std::unique_ptr<Table>> tables_;  // the last one is current
  std::vector<std::unique_ptr<Entry>> entries_;
  std::atomic<const Table*> current_;
  const int64_t most_programs_;
  Mappings mappings_;
  std::atomic<int64_t> clock_{0};  // insertions
  std::atomic<int64_t> programs_{0}, hits_{0}, misses_{0};
  int64_t evictions_ = 0;
  double compile_seconds_ = 0;
};

}  // namespace torchtpu::cache
