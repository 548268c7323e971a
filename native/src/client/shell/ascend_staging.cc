// SPDX-License-Identifier: Apache-2.0
#include "client/shell/ascend_staging.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "net/address.h"
#include "net/clock.h"

namespace kvpool::client {
namespace {

/// Where nodes reach our engine of CANN: one address, as CANN wants it.
Result<std::string> ownHost(const std::vector<std::string>& masters) {
  if (const char* named = std::getenv("HCCL_IF_IP"); named != nullptr && *named != '\0') return std::string(named);
  std::string problems;
  for (const std::string& master : masters) {
    const Result<HostPort> address = parseHostPort(master);
    Result<std::string> own =
        address.ok() ? net::ownAddressTowards(address.value()) : Result<std::string>(address.status());
    if (own.ok()) return own;
    problems += "; " + own.status().text();
  }
  return {
      KV_CONNECT_FAILED,
      "ascend needs the IP at which storage nodes reach this machine, and the masters do not tell it; set HCCL_IF_IP" +
          problems};
}

}  // namespace

class AscendStaging::Lent final : public OfferedMemory {
 public:
  Lent(AscendStaging& owner, const RestingBlocks::Block& block, uint64_t registrations)
      : owner_(owner), block_(block), registrations_(registrations) {}
  ~Lent() override { owner_.resting_.rest(block_, net::steadyMs()); }

  [[nodiscard]] uint8_t* at(uint64_t offset) const override { return block_.at + offset; }
  [[nodiscard]] StagingOffer offer() const override {
    return {
        block_.bytes,  reinterpret_cast<uintptr_t>(block_.at), owner_.station_->endpoint(), {}, RemoteProtocol::Ascend,
        registrations_};
  }

 private:
  AscendStaging& owner_;
  RestingBlocks::Block block_;
  uint64_t registrations_;
};

/// Of an earlier process at the same port nodes may have channels, which do not know our memory: the number begins
/// above all of its numbers.
AscendStaging::AscendStaging(std::unique_ptr<ascend::Station> station)
    : station_(std::move(station)),
      registrations_(static_cast<uint64_t>(
          std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
              .count())),
      resting_(station_->patienceMs(), station_->cardRepeatsMs()) {}

Result<std::unique_ptr<AscendStaging>> AscendStaging::open(const std::vector<std::string>& masters,
                                                           const std::string& name) {
  const Result<std::string> host = ownHost(masters);
  if (!host.ok()) return host.status();
  auto station = ascend::Station::open({host.value(), name});
  if (!station.ok()) return station.status();
  if (Status prepared = station.value()->prepareHostMemory(); !prepared.ok()) return prepared;
  return std::unique_ptr<AscendStaging>(new AscendStaging(std::move(station.value())));
}

Result<std::unique_ptr<OfferedMemory>> AscendStaging::lend(uint64_t bytes, Time now) {
  if (const auto block = resting_.take(bytes, now)) {
    return std::unique_ptr<OfferedMemory>(std::make_unique<Lent>(*this, *block, registrations_ + station_->regions()));
  }
  if (blocks_ == kBlocksMax) {
    return {KV_NO_SPACE, "the memory that is registered with CANN, for " + std::to_string(kBlocksMax) +
                             " connections to storage nodes, is lent, or rests after its last use"};
  }
  if (now < refusedUntil_) return refusal_;
  const auto made = station_->hostMemory(bytes);
  if (!made.ok()) {
    refusal_ = made.status();
    refusedUntil_ = now + kRefusedMs;
    return refusal_;
  }
  ++blocks_;
  return std::unique_ptr<OfferedMemory>(std::make_unique<Lent>(*this, RestingBlocks::Block{made.value().data(), bytes},
                                                               registrations_ + station_->regions()));
}

}  // namespace kvpool::client
