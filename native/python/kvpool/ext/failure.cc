// SPDX-License-Identifier: Apache-2.0
#include "failure.h"

#include "kvpool/kvpool.h"

namespace kvpool::python {
namespace {

// One per process: the module has single-phase initialisation, so it exists once.
PyObject* failureType = nullptr;

}  // namespace

bool addFailureType(PyObject* module) {
  failureType = PyErr_NewExceptionWithDoc("kvpool._kvpool.Failure", "A call failed as a whole: (status, message).",
                                          nullptr, nullptr);
  return failureType != nullptr && PyModule_AddObjectRef(module, "Failure", failureType) == 0;
}

void raiseFailure(int32_t status, const char* message) {
  const char* text = message != nullptr && message[0] != '\0' ? message : kv_status_text(status);
  // "replace": a sentence may quote what a peer sent.
  Ref sentence(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(__builtin_strlen(text)), "replace"));
  if (!sentence) return;
  Ref arguments(Py_BuildValue("(iO)", static_cast<int>(status), sentence.get()));
  if (arguments) PyErr_SetObject(failureType, arguments.get());
}

}  // namespace kvpool::python
