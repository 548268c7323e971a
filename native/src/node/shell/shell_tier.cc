// SPDX-License-Identifier: Apache-2.0
// The part of Shell that has the SSD work.
#include <utility>

#include "node/shell/shell.h"

namespace kvpool::node {

void Shell::takeTierDone() {
  if (!workers_) return;
  for (ssd::Done& done : workers_->takeDone()) {
    if (const auto* write = std::get_if<ssd::WritePayload>(&done.job)) {
      core_.tierWritten(write->op, done.status);
    } else if (const auto* read = std::get_if<ssd::ReadPayload>(&done.job)) {
      if (done.status.ok()) tierPayloads_.emplace(read->op, std::move(done.payload));
      core_.tierRead(read->op, done.status);
    } else {
      core_.tierStored(done.status);
    }
    act();
  }
}

void Shell::perform(const TierWrite& action) {
  workers_->submit(ssd::WritePayload{action.op, segment_.mapping.bytes().subspan(action.offset, action.length),
                                     action.to, action.crc});
}

void Shell::perform(const TierStore& action) {
  workers_->submit(ssd::StoreBlocks{action.batch});
}

void Shell::perform(const TierRead& action) {
  workers_->submit(ssd::ReadPayload{action.op, action.from, action.length, action.crc});
}

void Shell::perform(const CancelTierRead& action) {
  workers_->cancelRead(action.op);
}

void Shell::perform(const SendTierPayload& action) {
  const auto payload = tierPayloads_.find(action.op);
  if (Connection* connection = find(action.connection)) {
    connection->queueBuffer(std::move(payload->second), action.length, action.crc);
    touched_.insert(action.connection);
  }
  tierPayloads_.erase(payload);
}

void Shell::perform(const DropTierPayload& action) {
  tierPayloads_.erase(action.op);
}

}  // namespace kvpool::node
