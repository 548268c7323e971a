// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/statuses.h"

namespace kvpool::ascend {
namespace {

const char* words(TransportStatus status) {
  switch (status) {
    case kTransportOk:
      return "success";
    case kParamInvalid:
      return "invalid parameter";
    case kTransportTimeout:
      return "timeout";
    case kNotConnected:
      return "not connected";
    case kAlreadyConnected:
      return "already connected";
    case kNotifyFailed:
      return "notification failed";
    case kUnsupported:
      return "unsupported";
    case kResourceExhausted:
      return "resources exhausted";
    case kTransportFailed:
      return "failed";
    // Of ACL, handed through.
    case kAclFeatureNotSupported:
      return "not supported by the driver";
    case kAclMemoryAllocation:
      return "no memory";
    default:
      return "unknown";
  }
}

}  // namespace

std::string toString(TransportStatus status) {
  return std::to_string(status) + " (" + words(status) + ")";
}

bool breaksChannel(TransportStatus status) {
  return status != kTransportOk && !isRefusal(status) && status != kResourceExhausted;
}

bool isRefusal(TransportStatus status) {
  return status == kParamInvalid || status == kUnsupported;
}

}  // namespace kvpool::ascend
