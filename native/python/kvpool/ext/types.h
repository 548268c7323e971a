// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "python.h"

namespace kvpool::python {

/// Adds `_kvpool.Client`, kv_client as a Python object. False with an error set.
bool addClientType(PyObject* module);

/// Adds `_kvpool.Node`, a transient kv_node as a Python object. False with an error set.
bool addNodeType(PyObject* module);

/// Adds `_kvpool.Engine`, kv_engine as a Python object. False with an error set.
bool addEngineType(PyObject* module);

}  // namespace kvpool::python
