// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "ascend/cann/acl.h"

namespace kvpool::ascend {

/// aclrtMallocHost, which takes no NUMA node: the pages are those that this thread's policy of memory gives, so the
/// node is the preferred one for the time of the call. Others give some where it has none left, and where the kernel
/// does not let this process choose.
AclError mallocHost(const Acl& acl, std::optional<uint32_t> node, void** memory, uint64_t bytes);

}  // namespace kvpool::ascend
