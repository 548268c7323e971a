// SPDX-License-Identifier: Apache-2.0
#include "acl_call.h"

#include <chrono>
#include <thread>

#include "control.h"
#include "ledger.h"

namespace fake_ascend {
namespace {

thread_local std::string recentError;    // of the last call that failed
thread_local std::string handedOutText;  // what aclGetRecentErrMsg returned

}  // namespace

fake_ascend_order beginCall(const char* function) {
  const fake_ascend_order order = Control::instance().next(function);
  if (order.delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(order.delay_us));
  while (order.hang != 0 && Control::instance().hangs(order.hang))
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (order.status != 0) refuse(static_cast<aclError>(order.status), "a rule of the test lets this call fail");
  return order;
}

aclError endCall(const char* function, aclError status, const std::string& text) {
  if (status != acl::kSuccess)
    recentError = std::string(function) + " failed with " + std::to_string(status) + ": " + recentError;
  Ledger::instance().ended(function, static_cast<uint32_t>(status), text);
  return status;
}

aclError refuse(aclError status, const std::string& reason) {
  recentError = reason;
  return status;
}

std::string takeReason() {
  std::string reason = std::move(recentError);
  recentError.clear();
  return reason;
}

}  // namespace fake_ascend

const char* aclGetRecentErrMsg() {
  using fake_ascend::handedOutText;
  handedOutText = fake_ascend::takeReason();
  fake_ascend::Ledger::instance().ended("aclGetRecentErrMsg", 0, handedOutText);
  return handedOutText.empty() ? nullptr : handedOutText.c_str();
}
