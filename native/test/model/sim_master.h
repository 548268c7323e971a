// SPDX-License-Identifier: Apache-2.0
// The test master in simulated time.
#pragma once

#include <string>

#include "master/master_model.h"
#include "model/network.h"

namespace kvpool::test {

class SimMaster : public Endpoint, public Acceptor {
 public:
  SimMaster(Network& network, MasterModel::Settings settings, MasterRole role)
      : network_(network), address_(settings.name + ":1"), model_(settings) {
    model_.setRole(role);
    network_.listen(address_, this);
    tick();
  }

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] const MasterModel& model() const { return model_; }
  void setRole(MasterRole role) {
    model_.setRole(role);
    act();
  }

  Endpoint& accept(uint64_t) override { return *this; }
  void opened(uint64_t) override {}
  void closed(uint64_t connection, const std::string&) override {
    model_.closed(connection);
    act();
  }
  void arrived(uint64_t connection, const Parcel& parcel) override {
    model_.frame(network_.now(), connection, parcel.bytes);
    act();
  }

 private:
  void tick() {
    model_.tick(network_.now());
    act();
    network_.after(20, [this] { tick(); });
  }
  void act() {
    for (const MasterModel::Outgoing& outgoing : model_.takeOutgoing()) {
      if (!outgoing.frame.empty()) network_.sendFrames(*this, outgoing.connection, outgoing.frame);
      if (outgoing.close) network_.close(*this, outgoing.connection);
    }
  }

  Network& network_;
  std::string address_;
  MasterModel model_;
};

}  // namespace kvpool::test
