// SPDX-License-Identifier: Apache-2.0
// How a status that is not an answer to one key becomes a Python exception.
#pragma once

#include <cstdint>

#include "python.h"

namespace kvpool::python {

/// Creates the exception type and adds it to the module as `Failure`. False with an error set.
bool addFailureType(PyObject* module);

/// Sets Failure(status, message). An empty message becomes the library's sentence for the status.
void raiseFailure(int32_t status, const char* message);

}  // namespace kvpool::python
