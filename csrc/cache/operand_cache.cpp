#include "cache/operand_cache.h"

#include <cstring>
#include <mutex>
#include <unordered_map>

#include "pjrt/client.h"
#include "runtime/errors.h"

namespace torchtpu::cache {
namespace {

constexpr size_t kCapacity = 2048;    // entries a generation
constexpr size_t kMaxWords = 64;      // larger ones are no repeated scalars: not worth keeping

// Least recently used, in two generations: when the young one is full it becomes the old one, and what the old one held and
// nobody asked for since goes. A hit costs one look-up and no list to maintain.
class OperandCache {
 public:
  pjrt::BufferRef find(std::string_view content) {
    std::lock_guard lock(mutex_);
    if (auto it = young_.find(content); it != young_.end()) return it->second;
    auto it = old_.find(content);
    if (it == old_.end()) return {};
    auto buffer = it->second;
    add_locked(content, buffer);
    return buffer;
  }

  void add(std::string_view content, pjrt::BufferRef buffer) {
    std::lock_guard lock(mutex_);
    add_locked(content, std::move(buffer));
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Generation = std::unordered_map<std::string, pjrt::BufferRef, Hash, std::equal_to<>>;

  void add_locked(std::string_view content, pjrt::BufferRef buffer) {
    if (young_.size() >= kCapacity) {
      old_ = std::move(young_);
      young_.clear();
    }
    young_.insert_or_assign(std::string(content), std::move(buffer));
  }

  std::mutex mutex_;
  Generation young_, old_;
};

OperandCache& cache_of(c10::DeviceIndex device) {
  static auto* caches = new OperandCache[64];  // one a device; outlives every thread
  return caches[device];
}

}  // namespace

pjrt::BufferRef upload_words(const Words& words, c10::DeviceIndex device) {
  auto size = static_cast<int64_t>(words.size());
  return runtime::guarded("upload of scalars", device, [&] {
    return pjrt::BufferRef(pjrt::Client::get().from_host(words.data(), words.size() * sizeof(uint32_t), PJRT_Buffer_Type_U32,
                                                         &size, 1, static_cast<size_t>(device),
                                                         pjrt::Holder::Runtime));
  });
}

pjrt::BufferRef LastOperands::find(const Words& words, c10::DeviceIndex device) {
  std::lock_guard lock(lock_);
  return device == device_ && words == words_ ? buffer_ : pjrt::BufferRef();
}

void LastOperands::remember(const Words& words, c10::DeviceIndex device, pjrt::BufferRef buffer) {
  std::lock_guard lock(lock_);
  words_ = words;
  device_ = device;
  std::swap(buffer_, buffer);  // the old one is destroyed after the lock is released
}

pjrt::BufferRef operand_buffer(const Words& words, c10::DeviceIndex device, LastOperands& last) {
  if (auto buffer = last.find(words, device)) return buffer;
  std::string_view content(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t));
  auto& cache = cache_of(device);
  auto buffer = words.size() <= kMaxWords ? cache.find(content) : pjrt::BufferRef();
  if (!buffer) {
    buffer = upload_words(words, device);
    if (words.size() <= kMaxWords) cache.add(content, buffer);
  }
  last.remember(words, device, buffer);
  return buffer;
}

}  // namespace torchtpu::cache
