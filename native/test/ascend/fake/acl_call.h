// SPDX-License-Identifier: Apache-2.0
// The frame of each ACL function: rules, ledger and the thread's recent error.
#pragma once

#include <string>
#include <type_traits>

#include "acl_api.h"
#include "fake_api.h"

namespace fake_ascend {

/// Obeys the rules for this call, and says what they demand of its end.
fake_ascend_order beginCall(const char* function);
aclError endCall(const char* function, aclError status, const std::string& text);

/// Notes why the running call fails, for aclGetRecentErrMsg of this thread, and returns the status.
aclError refuse(aclError status, const std::string& reason);
/// The reason that was noted last, once; empty when there is none.
std::string takeReason();

/// Runs the body of an ACL function, unless a rule lets the call fail. `text` goes to the ledger. A body that takes the
/// rules' order runs also where the call shall do a part of its work and then fail.
template <typename Body>
aclError call(const char* function, const std::string& text, Body body) {
  const fake_ascend_order order = beginCall(function);
  auto status = static_cast<aclError>(order.status);
  if constexpr (std::is_invocable_v<Body, const fake_ascend_order&>) {
    if (status == acl::kSuccess || order.partial != 0) status = body(order);
  } else {
    if (status == acl::kSuccess) status = body();
  }
  return endCall(function, status, text);
}

/// The same for functions that need a current context.
template <typename Body>
aclError callInContext(const char* function, const std::string& text, Body body);

}  // namespace fake_ascend

#include "acl_device.h"

namespace fake_ascend {

template <typename Body>
aclError callInContext(const char* function, const std::string& text, Body body) {
  const auto inContext = [&](auto&&... order) -> aclError {
    if (!currentDevice()) return refuse(acl::kContextNull, "ctx is NULL: this thread has no current context");
    return body(order...);
  };
  if constexpr (std::is_invocable_v<Body, const fake_ascend_order&>) {
    return call(function, text, [&](const fake_ascend_order& order) { return inContext(order); });
  } else {
    return call(function, text, [&] { return inContext(); });
  }
}

}  // namespace fake_ascend
