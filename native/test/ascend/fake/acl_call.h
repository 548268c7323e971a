// SPDX-License-Identifier: Apache-2.0
// The frame of each ACL function: rules, ledger and the thread's recent error.
#pragma once

#include <string>

#include "acl_api.h"

namespace fake_ascend {

/// Obeys the rules for this call; returns the status that a rule demands, or 0.
aclError beginCall(const char* function);
aclError endCall(const char* function, aclError status, const std::string& text);

/// Notes why the running call fails, for aclGetRecentErrMsg of this thread, and returns the status.
aclError refuse(aclError status, const std::string& reason);
/// The reason that was noted last, once; empty when there is none.
std::string takeReason();

/// Runs the body of an ACL function, unless a rule lets the call fail. `text` goes to the ledger.
template <typename Body>
aclError call(const char* function, const std::string& text, Body body) {
  aclError status = beginCall(function);
  if (status == acl::kSuccess) status = body();
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
  return call(function, text, [&]() -> aclError {
    if (!currentDevice()) return refuse(acl::kContextNull, "ctx is NULL: this thread has no current context");
    return body();
  });
}

}  // namespace fake_ascend
