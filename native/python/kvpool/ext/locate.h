// SPDX-License-Identifier: Apache-2.0
// Where copies of objects are, as tuples.
#pragma once

#include "batch.h"

namespace kvpool::python {

/// For each key a list of (node, address, medium, length, offset), one for each copy, or its negative status; empty
/// with Python's error set.
Ref locate(kv_client* client, PyObject* keys, const Deadline& deadline);

}  // namespace kvpool::python
