#include "cache/memory_tier.h"

#include <algorithm>

#include "cache/setting.h"

namespace torchtpu::cache {
namespace {

int64_t most_programs() { return setting("TORCHTPU_CACHE_PROGRAMS", INT64_MAX, 1, INT64_MAX); }

}  // namespace

MemoryTier& MemoryTier::get() {
  static auto* tier = new MemoryTier;  // executables must not be destroyed after the plugin's own globals
  return *tier;
}

MemoryTier::MemoryTier() : most_programs_(most_programs()) {
  tables_.push_back(std::make_unique<Table>(1024));
  current_.store(tables_.back().get());
}

const MemoryTier::Entry* MemoryTier::find_in(const Table& table, const Key& key, uint64_t hash) {
  size_t mask = table.slots.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const Entry* entry = table.slots[i].load(std::memory_order_acquire);
    if (!entry) return nullptr;
    if (entry->hash == hash && key.words().equals(entry->words) && !entry->program.gone()) return entry;
  }
}

void MemoryTier::place(Table& table, const Entry* entry) {
  size_t mask = table.slots.size() - 1;
  size_t i = entry->hash & mask;
  for (; const Entry* other = table.slots[i].load(std::memory_order_relaxed); i = (i + 1) & mask) {
    if (other->program.gone()) break;
  }
  if (!table.slots[i].load(std::memory_order_relaxed)) ++table.taken;
  table.slots[i].store(entry, std::memory_order_release);
}

const Program* MemoryTier::find(const Key& key, uint64_t hash) const {
  const Entry* entry = find_in(*current_.load(std::memory_order_acquire), key, hash);
  if (!entry) return nullptr;
  int64_t now = clock_.load(std::memory_order_relaxed);
  if (entry->last_used.load(std::memory_order_relaxed) != now) entry->last_used.store(now, std::memory_order_relaxed);
  return &entry->program;
}

const Program* MemoryTier::insert(const Key& key, uint64_t hash, Program program) {
  std::lock_guard lock(writers_);
  if (const Program* existing = find(key, hash)) return existing;
  if (!program.redirect) {
    make_room();
    programs_.fetch_add(1, std::memory_order_relaxed);
  }
  int64_t now = clock_.fetch_add(1, std::memory_order_relaxed);
  entries_.push_back(std::make_unique<Entry>(hash, key.words().vec(), std::move(program), now));
  if ((tables_.back()->taken + 1) * 2 > tables_.back()->slots.size()) {
    auto larger = std::make_unique<Table>(tables_.back()->slots.size() * 2);
    for (auto& entry : entries_) {
      if (!entry->program.gone()) place(*larger, entry.get());
    }
    tables_.push_back(std::move(larger));
    current_.store(tables_.back().get(), std::memory_order_release);
  } else {
    place(*tables_.back(), entries_.back().get());
  }
  return &entries_.back()->program;
}

void MemoryTier::make_room() {
  int64_t programs = programs_.load(std::memory_order_relaxed);
  if (programs >= most_programs_) unload(programs - most_programs_ + 1 + most_programs_ / 8);  // not one by one
  if (mappings_.scarce()) unload(programs / 2);
}

// The entries themselves stay, as readers may hold them: some hundred bytes each.
void MemoryTier::unload(int64_t count) {
  std::vector<std::pair<int64_t, const Entry*>> loaded;
  for (const auto& entry : entries_) {
    if (entry->program.redirect || entry->program.gone()) continue;
    loaded.emplace_back(entry->last_used.load(std::memory_order_relaxed), entry.get());
  }
  count = std::min<int64_t>(count, loaded.size());
  std::nth_element(loaded.begin(), loaded.begin() + count, loaded.end());
  for (int64_t i = 0; i < count; ++i) {
    if (!loaded[i].second->program.compilation->unload()) continue;
    programs_.fetch_sub(1, std::memory_order_relaxed);
    ++evictions_;
  }
}

MemoryTier::Stats MemoryTier::stats() const {
  std::lock_guard lock(writers_);
  return {programs_.load(), hits_.load(), misses_.load(), evictions_, compile_seconds_};
}

void MemoryTier::count_compilation(double seconds) {
  std::lock_guard lock(writers_);
  compile_seconds_ += seconds;
}

}  // namespace torchtpu::cache
