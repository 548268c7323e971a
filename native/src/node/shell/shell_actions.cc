// SPDX-License-Identifier: Apache-2.0
// What the core asks the shell to do.
#include "node/shell/shell.h"
#include "store/staging.h"

namespace kvpool::node {

void Shell::perform(const SendFrames& action) {
  Connection* connection = find(action.connection);
  if (connection == nullptr) return;
  connection->queueFrames(action.frames);
  touched_.insert(action.connection);
}

void Shell::perform(const SendSegments& action) {
  Connection* connection = find(action.connection);
  if (connection == nullptr) return;
  connection->queueSegments(action.frames, segment_.readOnly.get());
  touched_.insert(action.connection);
}

void Shell::perform(const SendPayload& action) {
  Connection* connection = find(action.connection);
  if (connection == nullptr) return;
  connection->queuePayload(action.offset, action.length, action.crc);
  touched_.insert(action.connection);
}

void Shell::perform(const ReceivePayload& action) {
  if (Connection* connection = find(action.connection)) connection->receivePayload(action.offset, action.length);
}

void Shell::perform(const DiscardPayload& action) {
  if (Connection* connection = find(action.connection)) connection->discard(action.length);
}

void Shell::perform(const CopyStaging& action) {
  if (Connection* connection = find(action.connection)) {
    connection->copyStaging(action.stagingOffset, action.offset, action.length, action.crc);
  }
}

void Shell::perform(const MapStaging& action) {
  Connection* connection = find(action.connection);
  if (connection == nullptr) return;
  Result<store::Mapping> mapped = store::mapStaging(connection->takeDescriptor(), action.bytes);
  if (mapped.ok()) connection->setStaging(std::move(mapped.value()));
  core_.stagingMapped(action.connection, mapped.status());
}

void Shell::perform(const Close& action) {
  log(action.level, "closing: " + action.reason);
  Connection* connection = find(action.connection);
  if (connection == nullptr) return;
  connection->closeAfterOutput();
  touched_.insert(action.connection);
}

void Shell::perform(const Dial& action) {
  masterDialer_.dial(action.master, masters_.at(action.master), nowMs_);
}

void Shell::perform(const DialSource& action) {
  const Result<HostPort> address = parseHostPort(action.address);
  if (!address.ok()) return core_.sourceDialFailed(action.source, address.status().text());
  sourceDialer_.dial(action.source, address.value(), nowMs_);
}

void Shell::perform(const Note& action) {
  log(action.level, action.text);
}

}  // namespace kvpool::node
