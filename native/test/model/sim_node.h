// SPDX-License-Identifier: Apache-2.0
// The real core of a storage node over real segment memory, in simulated time. A crash drops the core and keeps the
// bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/network.h"
#include "node/core/node_core.h"
#include "store/segment_file.h"

namespace kvpool::test {

class SimNode : public Endpoint, public Acceptor {
 public:
  SimNode(Network& network, Dice& dice, PoolId pool, std::string id, std::vector<std::string> masters);

  void start();
  void crash();
  [[nodiscard]] bool runs() const { return core_.has_value(); }
  [[nodiscard]] std::string address() const { return id_ + ":1"; }

  Endpoint& accept(uint64_t connection) override;
  void opened(uint64_t connection) override;
  void closed(uint64_t connection, const std::string& reason) override;
  void arrived(uint64_t connection, const Parcel& parcel) override;

 private:
  struct Expected {
    bool keeps = false;  // else drops
    uint64_t offset = 0;
    uint64_t length = 0;
    std::vector<store::Range> parts = {};  // of an object that comes in parts; none: the whole
  };

  void tick(uint64_t life);
  void storeParts(uint64_t connection, const std::vector<store::Range>& parts, const Parcel& parcel);
  void act();
  void perform(const node::SendFrames& action);
  void perform(const node::SendPayload& action);
  void perform(const node::ReceivePayload& action);
  void perform(const node::ReceiveParts& action);
  void perform(const node::DiscardPayload& action);
  void perform(const node::Close& action);
  void perform(const node::Dial& action);
  void perform(const node::DialSource& action);
  template <typename Other>
  void perform(const Other&) {}  // shared memory is not simulated; notes are for people
  [[nodiscard]] uint64_t now() const { return static_cast<uint64_t>(network_.now()); }

  Network& network_;
  Dice& dice_;
  PoolId pool_;
  std::string id_;
  std::vector<std::string> masters_;
  store::StoreGate gate_;
  store::SegmentFile segment_;
  std::optional<store::StatePages> state_;
  std::optional<store::Directory> directory_;
  std::optional<node::NodeCore> core_;
  uint64_t life_ = 0;
  uint64_t lastDial_ = 0;
  std::map<uint64_t, uint64_t> sources_;  // connection -> source
  std::map<uint64_t, size_t> dials_;      // connection -> master
  std::map<uint64_t, Expected> expected_;
};

}  // namespace kvpool::test
