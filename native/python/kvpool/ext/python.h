// SPDX-License-Identifier: Apache-2.0
// CPython's limited API as of 3.11 (the first with the buffer protocol), and what makes its references safe in C++.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#if !defined(Py_LIMITED_API) || Py_LIMITED_API != 0x030B0000
#error "build with -DPy_LIMITED_API=0x030B0000: one wheel serves python 3.11 and every later one"
#endif

namespace kvpool::python {

/// An owned reference. Empty means that Python's error indicator is set.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }

  static Ref borrow(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  /// For C functions that replace the object they are given.
  PyObject** address() { return &object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// dict[name] = value. False with an error set.
inline bool put(PyObject* dict, const char* name, uint64_t value) {
  const Ref number(PyLong_FromUnsignedLongLong(value));
  return number && PyDict_SetItemString(dict, name, number.get()) == 0;
}

/// Lets other Python threads run while this one is in libkvpool.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}

  // Up to 3.13 Python ends a daemon thread that wants the GIL back while the interpreter shuts down, by unwinding
  // its stack: that would run destructors which touch Python objects. Such a thread rests here until the process is
  // gone, which is what later versions do themselves.
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (abi::__forced_unwind&) {
      for (;;)
        pause();
    }
  }

  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// A method of a type or module: no C++ exception leaves it.
template <PyObject* (*body)(PyObject*, PyObject*)>
PyObject* guarded(PyObject* self, PyObject* arguments) {
  try {
    return body(self, arguments);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& defect) {
    PyErr_SetString(PyExc_SystemError, defect.what());
    return nullptr;
  }
}

}  // namespace kvpool::python
