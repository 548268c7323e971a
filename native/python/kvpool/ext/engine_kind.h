// SPDX-License-Identifier: Apache-2.0
// What a transfer engine is as a handle; clients are told of one, too.
#pragma once

#include "handle.h"
#include "transfers.h"

namespace kvpool::python {

struct EngineKind {
  using Handle = kv_engine;
  struct Extra {
    Submitted submitted;
  };
  static void destroy(kv_engine* engine) { kv_engine_destroy(engine); }
  static constexpr const char* kClosed = "the transfer engine is closed";
  static constexpr const char* kForked =
      "this transfer engine was made before fork(); make a new one in the child process";
};

using EngineEntry = Entry<EngineKind>;

/// Whether the object is a `_kvpool.Engine`.
bool isEngine(PyObject* object);

}  // namespace kvpool::python
