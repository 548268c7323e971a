// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "adxl_channel.h"

namespace fake_ascend {

/// The channels of one engine to others, by their names. One that its peer cannot be told of stays.
class Channels {
 public:
  explicit Channels(uint64_t links) : links_(links) {}

  Status connect(const std::string& peer, Deadline deadline);
  Status disconnect(const std::string& peer, Deadline deadline);
  std::shared_ptr<Channel> find(const std::string& peer);
  std::vector<std::shared_ptr<Channel>> all();
  void closeAll();

 private:
  const uint64_t links_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Channel>> channels_;
  std::set<std::string> connecting_;
};

}  // namespace fake_ascend
