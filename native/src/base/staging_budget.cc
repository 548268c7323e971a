// SPDX-License-Identifier: Apache-2.0
#include "base/staging_budget.h"

namespace kvpool {

Status StagingBudget::take(uint64_t bytes) {
  const std::string asked = std::to_string(bytes) + " bytes of staging memory were asked for, ";
  const std::string remedy = "; ask for less, or start it with a larger --staging-size";
  if (bytes == 0) return {KV_INVALID_ARGUMENT, asked + "at least 1 is needed"};
  if (bytes > bytes_) {
    return {KV_TOO_LARGE, asked + "but " + owner_ + " shares at most " + std::to_string(bytes_) +
                              " with all its clients together" + remedy};
  }
  if (bytes > bytes_ - used_) {
    return {KV_NO_SPACE, asked + "but other clients hold " + std::to_string(used_) + " of the " +
                             std::to_string(bytes_) + " that " + owner_ + " shares" + remedy};
  }
  used_ += bytes;
  return {};
}

}  // namespace kvpool
