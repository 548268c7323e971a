// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace kvpool::store {

/// On which of a machine's memory nodes the pages of a segment are to lie.
struct NumaPlacement {
  enum class Policy : uint8_t {
    Inherited,   // whatever holds for the process, as set by numactl
    Local,       // the node of the processor that makes the segment, others when it is full
    Interleave,  // page by page over all of them
    Node,        // this one and no other
  };
  Policy policy = Policy::Inherited;
  uint32_t node = 0;
  friend bool operator==(const NumaPlacement&, const NumaPlacement&) = default;
};

/// Nothing, "local", "interleave" or the number of a node.
Result<NumaPlacement> parseNumaPlacement(std::string_view text);

/// Nodes of a list as the kernel writes it, such as "0-3,8".
std::vector<uint32_t> parseNumaNodes(std::string_view text);

/// Bytes that a node can still give, free or taken by files on disk, from the text of its meminfo.
uint64_t numaRoomBytes(std::string_view meminfo);

/// A policy of the kernel and the nodes it is about, one bit for each.
struct NumaBinding {
  int mode = 0;
  std::vector<unsigned long> nodes;
};

/// What to ask of the kernel on a machine with memory on these nodes, from a processor of `localNode`. A node that is
/// not there gives a KV_INVALID_ARGUMENT that names those that are.
Result<NumaBinding> planNumaBinding(const NumaPlacement& placement, std::span<const uint32_t> nodesWithMemory,
                                    uint32_t localNode);

/// The directory where the kernel tells about one node.
std::string numaNodeDirectory(uint32_t node);

/// Places the pages of a mapping that are not there yet; for a shared mapping of a file it holds for whoever makes
/// them. With Inherited nothing is asked of the kernel.
Status bindMemory(std::span<uint8_t> mapping, const NumaPlacement& placement);

}  // namespace kvpool::store
