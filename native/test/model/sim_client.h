// SPDX-License-Identifier: Apache-2.0
// The real client core in simulated time, with a caller that checks what it is given and spoils its memory the moment a
// batch is done.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "client/core/client_core.h"
#include "model/network.h"
#include "store/allocator.h"

namespace kvpool::test {

/// What every client of a run knows together.
struct Ledger {
  std::map<std::string, std::set<std::string>> offered;  // every value anyone tried to put
  std::set<std::string> acknowledged;                    // keys with a put that was KV_OK
  std::map<std::string, std::string> firstRead;          // the first value read under a key
  bool valuesNeverChange = false;                        // no node is ever away, so nothing is superseded
  std::map<int32_t, uint64_t> statuses;                  // how lines ended
  uint64_t reads = 0;
};

class SimClient : public Endpoint {
 public:
  SimClient(Network& network, Dice& dice, Ledger& ledger, std::string name, std::vector<std::string> masters);

  void put(const std::vector<std::string>& keys, Time timeoutMs);
  void get(const std::vector<std::string>& keys, Time timeoutMs);
  /// In many calls, of which each has this time.
  void putInParts(const std::string& key, Time timeoutMs);
  [[nodiscard]] size_t running() const { return batches_.size(); }
  [[nodiscard]] const client::ClientCore& core() const { return core_; }

  void opened(uint64_t connection) override;
  void closed(uint64_t connection, const std::string& reason) override;
  void arrived(uint64_t connection, const Parcel& parcel) override;

 private:
  /// A value that is put in many calls.
  struct Session {
    std::string key;
    std::string value;
    Time timeoutMs = 0;
    ObjectId object;
    std::vector<store::Range> left;  // parts that are not written
  };
  struct Caller {
    client::OpCode op;
    std::vector<std::string> keys;
    std::vector<std::string> memory;
    std::vector<std::string> values;  // Put
    std::shared_ptr<Session> session;
    std::vector<kv_piece> pieces;  // PutParts: of the first memory
    std::vector<uint64_t> offsets;
    Time deadline = 0;
  };
  using Outgoing = std::variant<client::SendFrame, client::SendPayload>;
  struct Receiving {
    client::TransferId transfer = 0;
    void* destination = nullptr;
    uint64_t length = 0;
  };

  void submit(client::OpCode op, std::unique_ptr<Caller> caller, Time timeoutMs);
  void finish(const client::FinishBatch& finished);
  void goOn(const std::shared_ptr<Session>& session);
  void step(client::OpCode op, const std::shared_ptr<Session>& session, std::unique_ptr<Caller> caller);
  void stepEnded(const Caller& caller, const client::LineResult& line);
  void checkRead(const std::string& key, const std::string& value);
  void tick();
  void act();
  void perform(const client::Dial& action);
  void perform(const client::SendFrame& action);
  void perform(const client::SendPayload& action);
  void perform(const client::ReceivePayload& action);
  void perform(const client::Close& action);
  void perform(const client::FinishBatch& action) { finish(action); }
  template <typename Other>
  void perform(const Other&) {}  // shared memory is not simulated
  void queueOut(uint64_t connection, Outgoing outgoing);
  void sendNext(uint64_t connection);
  void sendPayload(uint64_t connection);

  Network& network_;
  Dice& dice_;
  Ledger& ledger_;
  std::string name_;
  client::ClientCore core_;
  uint64_t lastBatch_ = 0;
  uint64_t lastValue_ = 0;
  std::map<uint64_t, std::unique_ptr<Caller>> batches_;
  std::map<uint64_t, Receiving> receiving_;
  // Frames and payloads of a connection leave in order; a payload leaves later than it was asked for.
  std::map<uint64_t, std::deque<Outgoing>> outgoing_;
  std::set<uint64_t> sending_;
};

}  // namespace kvpool::test
