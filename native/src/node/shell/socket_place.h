// SPDX-License-Identifier: Apache-2.0
// Where the socket is by which clients on the same machine share a node's memory.
#pragma once

#include <string>

#include "base/status.h"
#include "node/shell/settings.h"

namespace kvpool::node {

/// Path of the node's socket: shm.sock beside the segment, or, in a directory for the sockets of many nodes, a name
/// that follows from the node's id. There it is ID.sock, and 16 digits made from the id where that would be longer than
/// the kernel takes or where the id is no name of a file.
Result<std::string> socketPath(const NodeSettings& settings);

/// Removes sockets of processes that ended without doing so themselves: those in the directory to which nobody listens,
/// and which were made at least a minute ago, because between its making and its listening nobody does either.
void removeDeadSockets(const std::string& directory);

}  // namespace kvpool::node
