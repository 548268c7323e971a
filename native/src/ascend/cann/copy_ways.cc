// SPDX-License-Identifier: Apache-2.0
#include "ascend/cann/copy_ways.h"

#include "base/log.h"

namespace kvpool::ascend {
namespace {

CopyWay after(CopyWay way) {
  return way == CopyWay::BatchOnStream ? CopyWay::Batch : CopyWay::OneByOne;
}

const char* instead(CopyWay way) {
  return way == CopyWay::Batch ? "aclrtMemcpyBatch, which has no timeout"
                               : "aclrtMemcpyAsync one by one, which is slower";
}

}  // namespace

CopyWay CopyWays::best() {
  if (best_ == CopyWay::BatchOnStream && acl_.memcpyBatchAsync == nullptr)
    leaveOut(CopyWay::BatchOnStream, "this CANN has no aclrtMemcpyBatchAsync");
  if (best_ == CopyWay::Batch && acl_.memcpyBatch == nullptr)
    leaveOut(CopyWay::Batch, "this CANN has no aclrtMemcpyBatch");
  return best_;
}

void CopyWays::leaveOut(CopyWay way, const std::string& why) {
  CopyWay left = way;
  // Another thread may have left it out already.
  if (way == CopyWay::OneByOne || !best_.compare_exchange_strong(left, after(way))) return;
  log(LogLevel::Warning,
      "ascend: " + why + ": copies between host and NPU are made by " + instead(after(way)) + " from now on");
}

void CopyWays::refused(const std::string& why) {
  if (toldRefusal_.exchange(true)) return;
  log(LogLevel::Warning, "ascend: " + why +
                             ": copies that CANN refuses together are made by aclrtMemcpyAsync one by one, which is "
                             "slower; later ones are not told");
}

}  // namespace kvpool::ascend
