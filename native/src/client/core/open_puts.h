// SPDX-License-Identifier: Apache-2.0
// Values that this client writes part by part: where there is room for them, until they are ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "client/core/actions.h"

namespace kvpool::client {

struct OpenPut {
  /// Room at a storage node. It belongs to the connection on which it was asked for.
  struct Place {
    uint64_t node = 0;  ///< incarnation
    ConnectionId connection = 0;
    ExtentRef extent;
  };
  uint64_t length = 0;
  Time until = 0;
  std::vector<Place> places;  ///< that have taken every part so far
};

class OpenPuts {
 public:
  [[nodiscard]] size_t count() const { return puts_.size(); }
  void add(const ObjectId& object, OpenPut put) { puts_[object] = std::move(put); }
  /// Null when it is not open, or not any more.
  OpenPut* find(const ObjectId& object, Time now) {
    const auto found = puts_.find(object);
    return found == puts_.end() || found->second.until <= now ? nullptr : &found->second;
  }
  void erase(const ObjectId& object) { puts_.erase(object); }
  /// Takes out what is over.
  std::vector<std::pair<ObjectId, OpenPut>> takeExpired(Time now) {
    std::vector<std::pair<ObjectId, OpenPut>> expired;
    for (auto put = puts_.begin(); put != puts_.end();) {
      const auto next = std::next(put);
      if (put->second.until <= now) {
        expired.emplace_back(put->first, std::move(put->second));
        puts_.erase(put);
      }
      put = next;
    }
    return expired;
  }

 private:
  std::map<ObjectId, OpenPut> puts_;
};

}  // namespace kvpool::client
