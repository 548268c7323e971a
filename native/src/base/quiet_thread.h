// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace kvpool {

/// Starts a thread of the library in somebody else's process. That process' signals are for its own threads, above all
/// when it is a JVM or a Python interpreter, so this one takes none. Its own faults it does take: blocked, they would
/// end the process past every handler.
///
/// `name`: shown by tools, at most 15 bytes.
std::thread startQuietThread(const char* name, std::function<void()> body);

}  // namespace kvpool
