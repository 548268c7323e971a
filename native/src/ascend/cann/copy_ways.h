// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>

#include "ascend/cann/acl.h"

namespace kvpool::ascend {

/// How many copies between host and NPU are made, the fastest way first.
enum class CopyWay {
  BatchOnStream,  ///< aclrtMemcpyBatchAsync: a call for many, with a timeout
  Batch,          ///< aclrtMemcpyBatch: a call for many, which has no timeout
  OneByOne        ///< aclrtMemcpyAsync: a call for each, with a timeout
};

/// The ways that CANN has here. One that it did not support is not tried again, and the log says so once. Any thread.
class CopyWays {
 public:
  /// `acl` must outlive it.
  explicit CopyWays(const Acl& acl) : acl_(acl) {}

  /// Of those that are left.
  CopyWay best();
  /// CANN did not support it, and said why. OneByOne is never left out.
  void leaveOut(CopyWay way, const std::string& why);
  /// CANN refused a call for many, and said why: those are copied one by one. The log says so once.
  void refused(const std::string& why);

 private:
  const Acl& acl_;
  std::atomic<CopyWay> best_ = CopyWay::BatchOnStream;
  std::atomic<bool> toldRefusal_ = false;
};

}  // namespace kvpool::ascend
