#include "cache/memory_tier.h"

#include <algorithm>

namespace torchtpu::cache {

MemoryTier& MemoryTier::get() {
  static auto* tier = new MemoryTier;  // executables must not be destroyed after the plugin's own globals
  return *tier;
}

MemoryTier::MemoryTier() {
  tables_.push_back(std::make_unique<Table>(1024));
  current_.store(tables_.back().get());
}

const MemoryTier::Entry* MemoryTier::find_in(const Table& table, const Key& key, uint64_t hash) {
  size_t mask = table.slots.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const Entry* entry = table.slots[i].load(std::memory_order_acquire);
    if (!entry) return nullptr;
    if (entry->hash == hash && key.words().equals(entry->words) && !entry->program.failed()) return entry;
  }
}

void MemoryTier::place(Table& table, const Entry* entry) {
  size_t mask = table.slots.size() - 1;
  size_t i = entry->hash & mask;
  while (table.slots[i].load(std::memory_order_relaxed)) i = (i + 1) & mask;
  table.slots[i].store(entry, std::memory_order_release);
}

const Program* MemoryTier::find(const Key& key, uint64_t hash) const {
  const Entry* entry = find_in(*current_.load(std::memory_order_acquire), key, hash);
  return entry ? &entry->program : nullptr;
}

const Program* MemoryTier::insert(const Key& key, uint64_t hash, Program program) {
  std::lock_guard lock(writers_);
  if (const Program* existing = find(key, hash)) return existing;
  if (!program.redirect) programs_.fetch_add(1, std::memory_order_relaxed);
  entries_.push_back(std::make_unique<Entry>(Entry{hash, key.words().vec(), std::move(program)}));
  if (entries_.size() * 2 > tables_.back()->slots.size()) {
    auto larger = std::make_unique<Table>(tables_.back()->slots.size() * 2);
    for (auto& entry : entries_) place(*larger, entry.get());
    tables_.push_back(std::move(larger));
    current_.store(tables_.back().get(), std::memory_order_release);
  } else {
    place(*tables_.back(), entries_.back().get());
  }
  return &entries_.back()->program;
}

MemoryTier::Stats MemoryTier::stats() const {
  std::lock_guard lock(writers_);
  return {programs_.load(), hits_.load(), misses_.load(), compile_seconds_};
}

void MemoryTier::count_compilation(double seconds) {
  std::lock_guard lock(writers_);
  compile_seconds_ += seconds;
}

}  // namespace torchtpu::cache
