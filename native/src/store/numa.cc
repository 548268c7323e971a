// SPDX-License-Identifier: Apache-2.0
#include "store/numa.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>

namespace kvpool::store {
namespace {

constexpr const char* kNodes = "/sys/devices/system/node";
/// Nodes a kernel can be built for.
constexpr uint32_t kNodesMax = 1024;
constexpr uint32_t kWordBits = 8 * sizeof(unsigned long);

template <typename Number>
bool parseNumber(std::string_view text, Number* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

std::string textOf(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string listText(std::span<const uint32_t> nodes) {
  std::string text;
  for (const uint32_t node : nodes)
    text += (text.empty() ? "" : ", ") + std::to_string(node);
  return text.empty() ? "none" : text;
}

Status refused(const NumaPlacement& placement, int error) {
  std::string why = "cannot place the segment's memory on NUMA nodes";
  if (placement.policy == NumaPlacement::Policy::Node) why += " (node " + std::to_string(placement.node) + ")";
  if (error == EPERM) {
    why += "; a container needs the capability SYS_NICE for it, or a seccomp profile that allows mbind";
  } else if (error == ENOSYS) {
    why += "; this kernel has no NUMA support: leave the NUMA setting out";
  } else if (error == EINVAL) {
    why += "; this process may not use that node's memory (cpuset.mems)";
  }
  return systemError(why, error);
}

}  // namespace

Result<NumaPlacement> parseNumaPlacement(std::string_view text) {
  using Policy = NumaPlacement::Policy;
  if (text.empty()) return NumaPlacement{};
  if (text == "local") return NumaPlacement{Policy::Local, 0};
  if (text == "interleave") return NumaPlacement{Policy::Interleave, 0};
  NumaPlacement placement{Policy::Node, 0};
  if (parseNumber(text, &placement.node) && placement.node < kNodesMax) return placement;
  return {KV_INVALID_ARGUMENT,
          "numa '" + std::string(text) + "' is neither local, interleave nor the number of a node"};
}

std::vector<uint32_t> parseNumaNodes(std::string_view text) {
  std::vector<uint32_t> nodes;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const size_t dash = item.find('-');
    uint32_t first = 0;
    uint32_t last = 0;
    if (!parseNumber(item.substr(0, dash), &first)) continue;
    if (dash == std::string_view::npos) {
      last = first;
    } else if (!parseNumber(item.substr(dash + 1), &last)) {
      continue;
    }
    for (uint32_t node = first; node <= last && node < kNodesMax; ++node)
      nodes.push_back(node);
  }
  return nodes;
}

uint64_t numaRoomBytes(std::string_view meminfo) {
  uint64_t kibibytes = 0;
  std::istringstream lines{std::string(meminfo)};
  std::string word;
  std::string node;
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    uint64_t amount = 0;
    words >> word >> node >> name >> amount;
    if (words && (name == "MemFree:" || name == "Active(file):" || name == "Inactive(file):")) kibibytes += amount;
  }
  return kibibytes << 10;
}

Result<NumaBinding> planNumaBinding(const NumaPlacement& placement, std::span<const uint32_t> nodesWithMemory,
                                    uint32_t localNode) {
  using Policy = NumaPlacement::Policy;
  NumaBinding binding;
  const auto add = [&binding](uint32_t node) {
    if (binding.nodes.size() <= node / kWordBits) binding.nodes.resize(node / kWordBits + 1);
    binding.nodes[node / kWordBits] |= 1UL << (node % kWordBits);
  };
  switch (placement.policy) {
    case Policy::Inherited:
      binding.mode = MPOL_DEFAULT;
      break;
    case Policy::Local:
      binding.mode = MPOL_PREFERRED;
      add(localNode);
      break;
    case Policy::Interleave:
      binding.mode = MPOL_INTERLEAVE;
      for (const uint32_t node : nodesWithMemory)
        add(node);
      break;
    case Policy::Node:
      if (std::find(nodesWithMemory.begin(), nodesWithMemory.end(), placement.node) == nodesWithMemory.end()) {
        return {KV_INVALID_ARGUMENT, "this machine has no memory on NUMA node " + std::to_string(placement.node) +
                                         "; nodes with memory: " + listText(nodesWithMemory)};
      }
      binding.mode = MPOL_BIND;
      add(placement.node);
      break;
  }
  return binding;
}

std::string numaNodeDirectory(uint32_t node) {
  return std::string(kNodes) + "/node" + std::to_string(node);
}

Status bindMemory(std::span<uint8_t> mapping, const NumaPlacement& placement) {
  if (placement.policy == NumaPlacement::Policy::Inherited) return {};
  unsigned processor = 0;
  unsigned localNode = 0;
  if (::syscall(SYS_getcpu, &processor, &localNode, nullptr) != 0) return refused(placement, errno);
  const std::vector<uint32_t> nodes = parseNumaNodes(textOf(std::string(kNodes) + "/has_memory"));
  const Result<NumaBinding> binding = planNumaBinding(placement, nodes, localNode);
  if (!binding.ok()) return binding.status();
  // The kernel counts one bit less than it is told.
  const unsigned long bits = binding.value().nodes.size() * kWordBits + 1;
  const long outcome = ::syscall(SYS_mbind, mapping.data(), mapping.size(), binding.value().mode,
                                 binding.value().nodes.data(), bits, 0U);
  return outcome == 0 ? Status() : refused(placement, errno);
}

}  // namespace kvpool::store
