// SPDX-License-Identifier: Apache-2.0
#include "client/core/descriptor_cache.h"

#include <utility>

namespace kvpool::client {

const Descriptor* DescriptorCache::find(std::string_view key, Time now) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return nullptr;
  const Descriptor& descriptor = found->second->descriptor;
  return now < descriptor.leasedUntil ? &descriptor : nullptr;
}

void DescriptorCache::put(std::string_view key, Descriptor descriptor, Time now) {
  drop(key);
  order_.push_back({std::string(key), std::move(descriptor)});
  const auto entry = std::prev(order_.end());
  entries_.emplace(entry->key, entry);
  // Two a put: what is over goes faster than new ones come, and no put takes long.
  for (int i = 0; i < 2 && !order_.empty(); ++i) {
    if (order_.front().descriptor.leasedUntil <= now || entries_.size() > entriesMax_) remove(order_.begin());
  }
}

void DescriptorCache::drop(std::string_view key) {
  const auto found = entries_.find(key);
  if (found != entries_.end()) remove(found->second);
}

void DescriptorCache::remove(Order::iterator entry) {
  entries_.erase(entry->key);
  order_.erase(entry);
}

void DescriptorCache::clear() {
  entries_.clear();
  order_.clear();
}

}  // namespace kvpool::client
