// SPDX-License-Identifier: Apache-2.0
#include "ascend/core/settings.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/crc32c.h"

namespace kvpool::ascend {
namespace {

constexpr uint32_t kPortsPerDevice = 100;
/// Four devices have their memory at every second NUMA node, as CANN itself counts.
constexpr int32_t kDevicesOfNode = 4;
constexpr int32_t kNodesApart = 2;
constexpr uint32_t kNodeMax = 1023;
constexpr const char* kNoBufferPool = "0:0";

template <typename Number>
std::optional<Number> numberIn(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Reads variables until one of them is wrong.
class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  template <typename Number>
  void number(Number& into, std::initializer_list<const char*> names, Number least, Number most, Number step = 1) {
    for (const char* name : names) {
      const auto text = environment_(name);
      if (!text) continue;
      const auto number = numberIn<Number>(*text);
      const bool fits = number && *number >= least && *number <= most && *number % step == 0;
      if (fits) {
        into = *number;
      } else {
        refuse(name, *text,
               "a number from " + std::to_string(least) + " to " + std::to_string(most) +
                   (step == 1 ? "" : ", a multiple of " + std::to_string(step)));
      }
      return;
    }
  }
  void flag(bool& into, const char* name) {
    std::optional<bool> given;
    flag(given, name);
    into = given.value_or(into);
  }
  void flag(std::optional<bool>& into, const char* name) {
    const auto text = environment_(name);
    if (!text) return;
    if (*text != "0" && *text != "1") return refuse(name, *text, "0 or 1");
    into = *text == "1";
  }
  void text(std::string& into, const char* name) { into = environment_(name).value_or(into); }
  void bufferPool(std::string& into, const char* name) {
    const auto text = environment_(name);
    if (!text) return;
    const size_t colon = text->find(':');
    const bool good = colon != std::string::npos && numberIn<uint32_t>(text->substr(0, colon)) &&
                      numberIn<uint32_t>(text->substr(colon + 1));
    if (!good) return refuse(name, *text, "COUNT:MIB, such as 4:8, or 0:0 for none");
    into = *text;
  }
  void hostNuma(HostNuma& into, const char* name) {
    const auto text = environment_(name);
    if (!text || *text == "device") return;
    const auto node = numberIn<uint32_t>(*text);
    if (*text == "any") {
      into.kind = HostNuma::Kind::Any;
    } else if (node && *node <= kNodeMax) {
      into = {HostNuma::Kind::Node, *node};
    } else {
      refuse(name, *text, "device, any, or the number of a NUMA node");
    }
  }
  void isSet(bool& into, const char* name) { into = environment_(name).has_value(); }

  [[nodiscard]] const Status& problem() const { return problem_; }

 private:
  void refuse(const std::string& name, const std::string& text, const std::string& wanted) {
    if (problem_.ok())
      problem_ = {KV_INVALID_ARGUMENT, name + " is '" + text.substr(0, 100) + "'; it must be " + wanted};
  }

  const Environment& environment_;
  Status problem_;
};

Status judge(const Settings& settings) {
  if (settings.hasBufferPool() && settings.async)
    return {KV_INVALID_ARGUMENT,
            "ASCEND_BUFFER_POOL=" + settings.bufferPool +
                " and ASCEND_USE_ASYNC_TRANSFER exclude each other: CANN's buffers are for synchronous transfers"};
  if (settings.hasBufferPool() && settings.fabric)
    return {KV_INVALID_ARGUMENT,
            "ASCEND_BUFFER_POOL=" + settings.bufferPool +
                " and ASCEND_ENABLE_USE_FABRIC_MEM=1 exclude each other: set ASCEND_BUFFER_POOL=0:0"};
  if (settings.async && settings.fabric)
    return {KV_INVALID_ARGUMENT,
            "ASCEND_USE_ASYNC_TRANSFER and ASCEND_ENABLE_USE_FABRIC_MEM=1 exclude each other: unset "
            "ASCEND_USE_ASYNC_TRANSFER"};
  return {};
}

}  // namespace

std::optional<uint32_t> HostNuma::nodeFor(int32_t physicalDevice) const {
  if (kind == Kind::Any) return std::nullopt;
  return kind == Kind::Node ? node : static_cast<uint32_t>(physicalDevice / kDevicesOfNode * kNodesApart);
}

Result<Settings> Settings::of(const Environment& environment) {
  constexpr int32_t kHourMs = 3600000;
  Settings settings;
  Reader reader(environment);
  reader.number(settings.connectTimeoutMs, {"ASCEND_CONNECT_TIMEOUT"}, 1, kHourMs);
  reader.number(settings.transferTimeoutMs, {"ASCEND_TRANSFER_TIMEOUT"}, 1, kHourMs);
  reader.isSet(settings.async, "ASCEND_USE_ASYNC_TRANSFER");
  reader.flag(settings.shortConnections, "ASCEND_USE_SHORT_CONNECTION");
  reader.flag(settings.autoConnect, "ASCEND_AUTO_CONNECT");
  reader.bufferPool(settings.bufferPool, "ASCEND_BUFFER_POOL");
  reader.number(settings.threads, {"ASCEND_THREAD_POOL_SIZE"}, 1U, 16U);
  reader.number<uint16_t>(settings.basePort, {"ASCEND_BASE_PORT"}, 1024, 65436);
  reader.flag(settings.roce, "HCCL_INTRA_ROCE_ENABLE");
  uint32_t timeout = 20;
  uint32_t tries = 7;
  reader.number(timeout, {"HCCL_RDMA_TIMEOUT"}, 0U, 24U);
  reader.number(tries, {"HCCL_RDMA_RETRY_CNT"}, 1U, 7U);
  settings.cardRepeatsMs = static_cast<int32_t>(uint64_t{4096} * tries * (uint64_t{1} << timeout) / 1000000);
  reader.number(settings.trafficClass, {"ASCEND_RDMA_TC", "HCCL_RDMA_TC"}, 0U, 252U, 4U);
  reader.number(settings.serviceLevel, {"ASCEND_RDMA_SL", "HCCL_RDMA_SL"}, 0U, 7U);
  reader.text(settings.localCommRes, "ASCEND_LOCAL_COMM_RES");
  reader.text(settings.globalResources, "ASCEND_GLOBAL_RESOURCE_CONFIG");
  reader.flag(settings.fabric, "ASCEND_ENABLE_USE_FABRIC_MEM");
  reader.hostNuma(settings.hostNuma, "ASCEND_HOST_NUMA");
  reader.number(settings.stagingMib, {"ASCEND_STAGING_MIB"}, 128U, 65536U);
  if (!reader.problem().ok()) return reader.problem();
  if (const Status combination = judge(settings); !combination.ok()) return combination;
  // CANN's buffers are used by one transfer after the other.
  if (settings.hasBufferPool()) settings.threads = 1;
  return settings;
}

size_t channelsMax(const Settings& settings, const Capabilities& capabilities) {
  constexpr size_t kOfHccl = 512;
  constexpr size_t kOfClientsAndServers = 128;
  const bool isNewer = settings.localCommRes.empty() ? capabilities.clientServerComm
                                                     : settings.localCommRes.find("\"1.3\"") != std::string::npos;
  const bool isChosen = settings.globalResources.find("protocol_desc") != std::string::npos;
  const size_t otherwise = isNewer || isChosen ? kOfClientsAndServers : kOfHccl;
  const std::string& json = settings.globalResources;
  constexpr std::string_view kName = "\"max_active_channels\"";
  const size_t name = json.find(kName);
  if (name == std::string::npos) return otherwise;
  // CANN judges the text: what is no number to us is left to it. A number may stand in quotation marks.
  const size_t first = json.find_first_not_of(" \t\r\n:\"", name + kName.size());
  if (first == std::string::npos) return otherwise;
  const size_t end = std::min(json.find_first_not_of("0123456789", first), json.size());
  const auto number = numberIn<size_t>(json.substr(first, end - first));
  if (!number || *number == 0) return otherwise;
  return isNewer || isChosen ? *number : std::min(*number, kOfHccl);
}

Result<bool> connectsByItself(const Settings& settings, const Capabilities& capabilities) {
  if (settings.autoConnect.value_or(false) && !capabilities.autoConnect)
    return {KV_INVALID_ARGUMENT,
            "ASCEND_AUTO_CONNECT=1 needs a CANN that connects by itself, which this one does not: unset it"};
  return settings.autoConnect.value_or(capabilities.autoConnect);
}

std::map<std::string, std::string> optionsOf(const Settings& settings, const Capabilities& capabilities,
                                             const std::string& prefix) {
  std::map<std::string, std::string> options;
  options[prefix + "BufferPool"] = settings.bufferPool;
  options[prefix + "RdmaTrafficClass"] = std::to_string(settings.trafficClass);
  options[prefix + "RdmaServiceLevel"] = std::to_string(settings.serviceLevel);
  if (!settings.localCommRes.empty()) {
    options[prefix + "LocalCommRes"] = settings.localCommRes;
  } else if (capabilities.clientServerComm) {
    options[prefix + "LocalCommRes"] = R"({"version":"1.3"})";
  }
  if (capabilities.autoConnect) options["AutoConnect"] = settings.autoConnect.value_or(true) ? "1" : "0";
  if (!settings.globalResources.empty()) options["GlobalResourceConfig"] = settings.globalResources;
  if (settings.fabric) options["EnableUseFabricMem"] = "1";
  return options;
}

Result<PortSlot> portSlot(uint16_t basePort, int32_t physicalDevice) {
  const int64_t first = basePort + int64_t{kPortsPerDevice} * physicalDevice;
  const int64_t last = first + kPortsPerDevice - 1;
  if (physicalDevice < 0 || last > 65535)
    return {KV_INVALID_ARGUMENT, "device " + std::to_string(physicalDevice) + " has the ports from " +
                                     std::to_string(first) + " with ASCEND_BASE_PORT=" + std::to_string(basePort) +
                                     ", and 65535 is the last one"};
  return PortSlot{static_cast<uint16_t>(first), static_cast<uint16_t>(last)};
}

uint16_t preferredPort(const PortSlot& slot, const std::string& owner) {
  const uint32_t ports = static_cast<uint32_t>(slot.last - slot.first) + 1;
  return static_cast<uint16_t>(slot.first + crc32c(owner.data(), owner.size()) % ports);
}

}  // namespace kvpool::ascend
