// SPDX-License-Identifier: Apache-2.0
// A library handle as a Python object: how it is made, closed and freed is the same for every kind.
//
// A kind says what it is with a struct: `using Handle`, `static void destroy(Handle*)`, `struct Extra` (state of its
// own beside the handle, may be empty), and the sentences `kClosed` and `kForked` of the exception after close() and
// fork().
#pragma once

#include "failure.h"
#include "kvpool/kvpool.h"
#include "python.h"
#include "session.h"

namespace kvpool::python {

template <typename Kind>
struct HandleState {
  explicit HandleState(typename Kind::Handle* handle) : session(handle) {}
  Session<typename Kind::Handle, Kind::destroy> session;
  [[no_unique_address]] typename Kind::Extra extra;
};

template <typename Kind>
struct HandleObject {
  PyObject_HEAD HandleState<Kind>* state;
};

template <typename Kind>
HandleState<Kind>& stateOf(PyObject* self) {
  return *reinterpret_cast<HandleObject<Kind>*>(self)->state;
}

/// The right to call the library, or Python's error set.
template <typename Kind>
class Entry {
 public:
  explicit Entry(PyObject* self) : call_(stateOf<Kind>(self).session) {
    if (call_.handle() != nullptr) return;
    raiseFailure(KV_CLOSED, stateOf<Kind>(self).session.forked() ? Kind::kForked : Kind::kClosed);
  }
  explicit operator bool() const { return call_.handle() != nullptr; }
  typename Kind::Handle* handle() const { return call_.handle(); }

 private:
  typename Session<typename Kind::Handle, Kind::destroy>::Call call_;
};

/// A new object around what `start(Handle** out, char* error, uint32_t error_size)` makes; it runs without the GIL.
template <typename Kind, typename Start>
PyObject* makeHandle(PyTypeObject* type, Start start) {
  typename Kind::Handle* handle = nullptr;
  char error[4096] = "";
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;
    status = start(&handle, error, static_cast<uint32_t>(sizeof(error)));
  }
  if (status != KV_OK) {
    raiseFailure(status, error);
    return nullptr;
  }
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* self = allocate(type, 0);
  if (self == nullptr) {
    WithoutGil unlocked;
    Kind::destroy(handle);
    return nullptr;
  }
  reinterpret_cast<HandleObject<Kind>*>(self)->state = new HandleState<Kind>(handle);
  return self;
}

template <typename Kind>
void freeHandle(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  {
    WithoutGil unlocked;
    HandleState<Kind>* state = reinterpret_cast<HandleObject<Kind>*>(self)->state;
    state->session.close();  // the library may use what Extra holds until then
    delete state;
  }
  auto release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  Py_DECREF(type);
}

template <typename Kind>
PyObject* closeHandle(PyObject* self, PyObject*) {
  {
    WithoutGil unlocked;
    stateOf<Kind>(self).session.close();
  }
  Py_RETURN_NONE;
}

}  // namespace kvpool::python
