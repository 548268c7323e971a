// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <memory>

#include "client/shell/frontend.h"

/// A fork copies the handle but not its I/O thread: in the child every call says KV_CLOSED and destroy only forgets.
struct kv_client {
  std::unique_ptr<kvpool::client::Frontend> client;
  pid_t owner = ::getpid();

  [[nodiscard]] bool isOurs() const { return owner == ::getpid(); }
};
