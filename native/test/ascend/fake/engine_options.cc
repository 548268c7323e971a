// SPDX-License-Identifier: Apache-2.0
#include "engine_options.h"

#include <cstdlib>

namespace fake_ascend {
namespace {

std::string optionOf(const std::map<std::string, std::string>& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? std::string() : found->second;
}

bool isNumber(const std::string& text) {
  return !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == std::string::npos;
}

/// An absent number is fine; a given one must be in range.
bool isNumberUpTo(const std::string& text, int most, int multiple) {
  if (text.empty()) return true;
  return isNumber(text) && std::stoi(text) <= most && std::stoi(text) % multiple == 0;
}

bool isFlag(const std::string& text) {
  return text.empty() || text == "0" || text == "1";
}
bool isObject(const std::string& text) {
  return text.empty() || (text.front() == '{' && text.back() == '}');
}

/// "N:MB", of which "0:0" is no pool. Without the option, the engine has a pool of its own.
bool parseBufferPool(const std::string& text, bool& pool) {
  if (text.empty()) return true;
  const size_t colon = text.find(':');
  if (colon == std::string::npos || !isNumber(text.substr(0, colon)) || !isNumber(text.substr(colon + 1))) return false;
  pool = std::stoi(text.substr(0, colon)) != 0 && std::stoi(text.substr(colon + 1)) != 0;
  return pool || text == "0:0";
}

bool roceByEnvironment() {
  const char* value = std::getenv("HCCL_INTRA_ROCE_ENABLE");
  return value != nullptr && std::string(value) == "1";
}

}  // namespace

std::optional<EngineOptions> EngineOptions::parse(const std::map<std::string, std::string>& options,
                                                  const std::string& prefix) {
  constexpr int kMostTrafficClass = 255;
  constexpr int kMostServiceLevel = 7;
  EngineOptions parsed;
  const std::string resources = optionOf(options, "GlobalResourceConfig");
  const std::string communication = optionOf(options, prefix + "LocalCommRes");
  const std::string autoConnect = optionOf(options, "AutoConnect");
  const std::string fabric = optionOf(options, "EnableUseFabricMem");
  if (!isNumberUpTo(optionOf(options, prefix + "RdmaTrafficClass"), kMostTrafficClass, 4) ||
      !isNumberUpTo(optionOf(options, prefix + "RdmaServiceLevel"), kMostServiceLevel, 1) || !isFlag(autoConnect) ||
      !isFlag(fabric) || !isObject(resources) || !isObject(communication) ||
      !parseBufferPool(optionOf(options, prefix + "BufferPool"), parsed.bufferPool))
    return std::nullopt;
  if (fabric == "1" && parsed.bufferPool) return std::nullopt;
  parsed.autoConnect = autoConnect == "1";
  const bool chosenProtocol = resources.find("protocol_desc") != std::string::npos;
  if (fabric == "1")
    parsed.link = Link::kFabric;
  else if (roceByEnvironment() || (chosenProtocol && resources.find("roce:") != std::string::npos))
    parsed.link = Link::kRoce;
  // The newer way to communicate has less room for channels than one of HCCL for each pair.
  const bool isNewer = chosenProtocol || communication.find("1.3") != std::string::npos;
  if (parsed.link == Link::kFabric)
    parsed.links = UINT64_MAX;
  else if (isNewer)
    parsed.links = kLinksOfClientsAndServers;
  return parsed;
}

}  // namespace fake_ascend
