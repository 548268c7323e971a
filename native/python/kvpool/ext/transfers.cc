// SPDX-License-Identifier: Apache-2.0
#include "transfers.h"

#include <algorithm>
#include <utility>

#include "batch.h"

namespace kvpool::python {
namespace {

// How long a signal handler may have to wait for its turn.
constexpr uint32_t kSignalCheckMs = 100;

bool readText(PyObject* object, const char* what, std::string& out) {
  Py_ssize_t length = 0;
  if (PyUnicode_Check(object) == 0) {
    PyErr_Format(PyExc_TypeError, "%s must be str", what);
    return false;
  }
  const char* text = PyUnicode_AsUTF8AndSize(object, &length);
  if (text == nullptr) return false;
  out.assign(text, static_cast<size_t>(length));
  if (out.find('\0') == std::string::npos) return true;
  PyErr_Format(PyExc_ValueError, "%s holds a NUL character", what);
  return false;
}

bool readPeers(PyObject* peers, size_t count, std::vector<std::string>& out) {
  if (PyUnicode_Check(peers) != 0) {
    out.resize(1);
    return readText(peers, "a peer", out[0]);
  }
  Ref list(PySequence_List(peers));
  if (!list) return false;
  if (static_cast<size_t>(PyList_Size(list.get())) != count) {
    PyErr_Format(PyExc_ValueError, "%zd peers for %zd transfers: give one, or one for each", PyList_Size(list.get()),
                 static_cast<Py_ssize_t>(count));
    return false;
  }
  out.resize(count);
  for (size_t i = 0; i < count; ++i) {
    PyObject* item = PyList_GetItem(list.get(), static_cast<Py_ssize_t>(i));
    if (item == nullptr || !readText(item, "a peer", out[i])) return false;
  }
  return true;
}

}  // namespace

bool readNumbers(PyObject* sequence, std::vector<uint64_t>& out) {
  Ref list(PySequence_List(sequence));
  if (!list) return false;
  const Py_ssize_t count = PyList_Size(list.get());
  out.resize(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyList_GetItem(list.get(), i);
    if (item == nullptr || !readUnsigned(item, out[static_cast<size_t>(i)])) return false;
  }
  return true;
}

bool Transfers::read(PyObject* peers, PyObject* locals, PyObject* remotes, PyObject* lengths) {
  std::vector<uint64_t> local;
  std::vector<uint64_t> remote;
  std::vector<uint64_t> length;
  if (!readNumbers(locals, local) || !readNumbers(remotes, remote) || !readNumbers(lengths, length)) return false;
  if (local.size() != remote.size() || local.size() != length.size()) {
    PyErr_Format(PyExc_ValueError, "%zd local addresses, %zd remote ones and %zd lengths: one of each per transfer",
                 static_cast<Py_ssize_t>(local.size()), static_cast<Py_ssize_t>(remote.size()),
                 static_cast<Py_ssize_t>(length.size()));
    return false;
  }
  if (!readPeers(peers, local.size(), peers_)) return false;
  table_.resize(local.size());
  for (size_t i = 0; i < table_.size(); ++i) {
    const std::string& peer = peers_.size() == 1 ? peers_[0] : peers_[i];
    table_[i] = {peer.c_str(), pointerTo(local[i]), remote[i], length[i], KV_INTERNAL, 0};
  }
  return true;
}

bool Transfers::readNotify(PyObject* notify) {
  if (notify == Py_None) return true;
  PyObject* name = nullptr;
  const char* message = nullptr;
  Py_ssize_t length = 0;
  if (PyArg_ParseTuple(notify, "Oy#:notify", &name, &message, &length) == 0) return false;
  notifies_ = true;
  notifyMessage_.assign(message, static_cast<size_t>(length));
  return readText(name, "the name of a notification", notifyName_);
}

int32_t Transfers::submit(kv_engine* engine, int32_t op, uint32_t timeoutMs) {
  kv_transfer_options options{};
  options.struct_size = sizeof(options);
  options.timeout_ms = timeoutMs;
  options.notify_name = notifies_ ? notifyName_.c_str() : nullptr;
  options.notify_message = notifyMessage_.data();
  // What does not fit is refused by the library, with its bound.
  options.notify_length = static_cast<uint32_t>(std::min<size_t>(notifyMessage_.size(), UINT32_MAX));
  WithoutGil unlocked;
  return kv_engine_submit(engine, op, table_.data(), static_cast<uint32_t>(std::min<size_t>(table_.size(), UINT32_MAX)),
                          &options, &batch_);
}

bool Transfers::wait(kv_engine* engine) {
  Ref interrupt;
  for (;;) {
    int32_t waited = KV_OK;
    {
      WithoutGil unlocked;
      waited = poll(engine, kSignalCheckMs);
    }
    if (waited != KV_TIMEOUT) break;
    if (!interrupt) interrupt = pendingInterrupt();
  }
  if (!interrupt) return true;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(interrupt.get())), interrupt.get());
  return false;
}

void Transfers::end(int32_t status) {
  for (kv_transfer& line : table_)
    line.status = status;
}

Ref Transfers::statuses() const {
  Ref list(PyList_New(static_cast<Py_ssize_t>(table_.size())));
  if (!list) return Ref();
  for (size_t i = 0; i < table_.size(); ++i) {
    PyObject* number = PyLong_FromLong(table_[i].status);
    if (number == nullptr || PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), number) != 0) return Ref();
  }
  return list;
}

}  // namespace kvpool::python
