// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "acl_api.h"
#include "frames.h"

namespace fake_ascend {

// Memory that other machines of a fabric reach; the static methods of AdxlEngine. It consists of pages of 1 GiB, with
// no failover.
Status allocateFabric(Home home, size_t size, void** pointer);
Status freeFabric(void* pointer);
Status exportFabric(void* pointer, aclrtMemFabricHandle& handle);

}  // namespace fake_ascend
