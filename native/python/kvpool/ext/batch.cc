// SPDX-License-Identifier: Apache-2.0
#include "batch.h"

#include <algorithm>

namespace kvpool::python {
namespace {

// How long a signal handler may have to wait for its turn.
constexpr uint32_t kSignalCheckMs = 100;

// A sequence of single things was meant; a str is one too, of its letters.
Ref listOf(PyObject* sequence, const char* what) {
  if (PyUnicode_Check(sequence) || PyBytes_Check(sequence)) {
    PyErr_Format(PyExc_TypeError, "%s must be a sequence with one item per key, not a single str or bytes", what);
    return Ref();
  }
  return Ref(PySequence_List(sequence));
}

bool readKey(PyObject* key, kv_op& op) {
  Py_ssize_t length = 0;
  if (PyUnicode_Check(key)) {
    op.key = PyUnicode_AsUTF8AndSize(key, &length);
    if (op.key == nullptr) {
      if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) return false;
      PyErr_Clear();
      op.key = "";
      length = 0;
    }
  } else if (PyBytes_Check(key)) {
    op.key = PyBytes_AsString(key);
    length = PyBytes_Size(key);
  } else {
    PyErr_SetString(PyExc_TypeError, "a key must be str or bytes");
    return false;
  }
  // A key too long for the field is too long for the pool as well.
  op.key_length = static_cast<uint32_t>(std::min<Py_ssize_t>(length, UINT32_MAX));
  return true;
}

bool readItem(PyObject* list, size_t index, uint64_t& out) {
  PyObject* item = PyList_GetItem(list, static_cast<Py_ssize_t>(index));
  return item != nullptr && readUnsigned(item, out);
}

}  // namespace

bool readUnsigned(PyObject* object, uint64_t& out) {
  Ref number(PyNumber_Index(object));
  if (!number) return false;
  out = PyLong_AsUnsignedLongLong(number.get());
  return PyErr_Occurred() == nullptr;
}

bool BatchOptions::read(PyObject* tuple, size_t count) {
  if (tuple == Py_None) return true;
  uint32_t given = 0;
  PyObject* names = nullptr;
  if (PyArg_ParseTuple(tuple, "IIzIIO|I:options", &given, &replicas, &nodes, &pins, &softPinMs, &names, &retainMs) ==
      0) {
    return false;
  }
  flags |= given;
  if (names == Py_None) return true;
  Ref list = listOf(names, "groups");
  if (!list) return false;
  if (static_cast<size_t>(PyList_Size(list.get())) != count) {
    PyErr_Format(PyExc_ValueError, "%zd keys but %zd groups: one is needed for each key",
                 static_cast<Py_ssize_t>(count), PyList_Size(list.get()));
    return false;
  }
  groups.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    PyObject* name = PyList_GetItem(list.get(), static_cast<Py_ssize_t>(i));
    Py_ssize_t length = 0;
    const char* text = name == nullptr || name == Py_None ? nullptr : PyUnicode_AsUTF8AndSize(name, &length);
    if (PyErr_Occurred() != nullptr) return false;
    groups.push_back(text == nullptr ? 0 : kv_group_id(text, static_cast<uint32_t>(length)));
  }
  return true;
}

Batch::~Batch() {
  for (Py_buffer& buffer : buffers_)
    PyBuffer_Release(&buffer);
}

bool Batch::expectSize(PyObject* list, const char* what) const {
  if (static_cast<size_t>(PyList_Size(list)) == table_.size()) return true;
  PyErr_Format(PyExc_ValueError, "%zd keys but %zd %s: one is needed for each key",
               static_cast<Py_ssize_t>(table_.size()), PyList_Size(list), what);
  return false;
}

bool Batch::addKeys(PyObject* keys) {
  keys_ = listOf(keys, "keys");
  if (!keys_) return false;
  table_.resize(static_cast<size_t>(PyList_Size(keys_.get())));
  for (size_t i = 0; i < table_.size(); ++i) {
    table_[i].status = KV_INTERNAL;  // a line that was never answered must not look like a success
    PyObject* key = PyList_GetItem(keys_.get(), static_cast<Py_ssize_t>(i));
    if (key == nullptr || !readKey(key, table_[i])) return false;
  }
  return true;
}

bool Batch::addBuffers(PyObject* buffers, int flags) {
  Ref list = listOf(buffers, "values");
  if (!list || !expectSize(list.get(), "values")) return false;
  buffers_.reserve(table_.size());
  for (size_t i = 0; i < table_.size(); ++i) {
    PyObject* object = PyList_GetItem(list.get(), static_cast<Py_ssize_t>(i));
    Py_buffer buffer{};
    if (object == nullptr || PyObject_GetBuffer(object, &buffer, flags) != 0) return false;
    buffers_.push_back(buffer);
    table_[i].data = buffer.buf;
    table_[i].length = static_cast<uint64_t>(buffer.len);
  }
  return true;
}

bool Batch::addAddresses(PyObject* addresses, PyObject* sizes) {
  Ref addressList = listOf(addresses, "addresses");
  if (!addressList || !expectSize(addressList.get(), "addresses")) return false;
  Ref sizeList = listOf(sizes, "sizes");
  if (!sizeList || !expectSize(sizeList.get(), "sizes")) return false;
  for (size_t i = 0; i < table_.size(); ++i) {
    uint64_t address = 0;
    if (!readItem(addressList.get(), i, address)) return false;
    if (!readItem(sizeList.get(), i, table_[i].length)) return false;
    table_[i].data = pointerTo(address);
  }
  return true;
}

bool Batch::addPiecesOf(size_t line, PyObject* addresses, PyObject* sizes) {
  Ref addressList = listOf(addresses, "the addresses of a key");
  if (!addressList) return false;
  Ref sizeList = listOf(sizes, "the sizes of a key");
  if (!sizeList) return false;
  const Py_ssize_t count = PyList_Size(addressList.get());
  if (PyList_Size(sizeList.get()) != count) {
    PyErr_Format(PyExc_ValueError, "key %zu has %zd addresses but %zd sizes", line, count, PyList_Size(sizeList.get()));
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    uint64_t address = 0;
    kv_piece piece{};
    if (!readItem(addressList.get(), static_cast<size_t>(i), address)) return false;
    if (!readItem(sizeList.get(), static_cast<size_t>(i), piece.length)) return false;
    piece.data = pointerTo(address);
    pieces_.push_back(piece);
  }
  table_[line].length = static_cast<uint64_t>(count);
  return true;
}

bool Batch::addPieces(PyObject* addresses, PyObject* sizes) {
  Ref addressLists = listOf(addresses, "addresses");
  if (!addressLists || !expectSize(addressLists.get(), "lists of addresses")) return false;
  Ref sizeLists = listOf(sizes, "sizes");
  if (!sizeLists || !expectSize(sizeLists.get(), "lists of sizes")) return false;
  for (size_t i = 0; i < table_.size(); ++i) {
    PyObject* addressesOf = PyList_GetItem(addressLists.get(), static_cast<Py_ssize_t>(i));
    PyObject* sizesOf = PyList_GetItem(sizeLists.get(), static_cast<Py_ssize_t>(i));
    if (addressesOf == nullptr || sizesOf == nullptr || !addPiecesOf(i, addressesOf, sizesOf)) return false;
  }
  size_t first = 0;
  for (kv_op& op : table_) {  // not earlier: the pieces moved while they were added
    op.data = pieces_.data() + first;
    first += op.length;
  }
  return true;
}

/// For pieces that are there already.
bool Batch::addOffsets(PyObject* offsets) {
  Ref lists = listOf(offsets, "offsets");
  if (!lists || !expectSize(lists.get(), "lists of offsets")) return false;
  offsets_.resize(pieces_.size() + 1);  // a line without pieces has an address too
  size_t first = 0;
  for (size_t line = 0; line < table_.size(); ++line) {
    PyObject* offsetsOf = PyList_GetItem(lists.get(), static_cast<Py_ssize_t>(line));
    Ref list = offsetsOf == nullptr ? Ref() : listOf(offsetsOf, "the offsets of a key");
    if (!list) return false;
    const size_t count = table_[line].length;
    if (static_cast<size_t>(PyList_Size(list.get())) != count) {
      PyErr_Format(PyExc_ValueError, "key %zu has %zu addresses but %zd offsets", line, count, PyList_Size(list.get()));
      return false;
    }
    partsOf_.push_back(offsets_.data() + first);
    for (size_t i = 0; i < count; ++i) {
      if (!readItem(list.get(), i, offsets_[first++])) return false;
    }
  }
  return true;
}

bool Batch::addObjects(PyObject* objects) {
  if (objects == Py_None) return true;
  Py_buffer buffer{};
  if (PyObject_GetBuffer(objects, &buffer, PyBUF_WRITABLE) != 0) return false;
  buffers_.push_back(buffer);
  const auto wanted = static_cast<Py_ssize_t>(table_.size() * sizeof(kv_object_id));
  if (buffer.len != wanted || reinterpret_cast<uintptr_t>(buffer.buf) % alignof(kv_object_id) != 0) {
    PyErr_Format(PyExc_ValueError, "objects has %zd bytes, or is not aligned: %zu keys need %zd", buffer.len,
                 table_.size(), wanted);
    return false;
  }
  objects_ = static_cast<kv_object_id*>(buffer.buf);
  return true;
}

bool Batch::addLengths(PyObject* lengths) {
  Ref list = listOf(lengths, "lengths");
  if (!list || !expectSize(list.get(), "lengths")) return false;
  for (size_t i = 0; i < table_.size(); ++i) {
    if (!readItem(list.get(), i, table_[i].length)) return false;
  }
  return true;
}

bool Batch::addMemory(PyObject* memory, Memory kind, BatchOptions& options) {
  switch (kind) {
    case Memory::None:
      return true;
    case Memory::Readable:
      return addBuffers(memory, PyBUF_SIMPLE);
    case Memory::Writable:
      return addBuffers(memory, PyBUF_WRITABLE);
    case Memory::Objects:
      return addObjects(memory);
    case Memory::Lengths:
    case Memory::Registered:
    case Memory::RegisteredPieces:
    case Memory::RegisteredParts:
      break;
  }
  PyObject* addresses = nullptr;
  PyObject* sizes = nullptr;
  PyObject* offsets = nullptr;
  PyObject* objects = nullptr;
  const char* format = kind == Memory::RegisteredParts ? "OOOO:memory" : "OO:memory";
  if (PyArg_ParseTuple(memory, format, &addresses, &sizes, &offsets, &objects) == 0) return false;
  if (kind == Memory::Lengths) return addLengths(addresses) && addObjects(sizes);
  options.flags |= KV_BATCH_REGISTERED;
  if (kind == Memory::Registered) return addAddresses(addresses, sizes);
  options.flags |= KV_BATCH_PIECES;
  return addPieces(addresses, sizes) &&
         (kind == Memory::RegisteredPieces || (addOffsets(offsets) && addObjects(objects)));
}

bool Batch::run(kv_client* client, int32_t opCode, const BatchOptions& options, const Deadline& deadline) {
  kv_batch_options cOptions{};
  cOptions.struct_size = sizeof(cOptions);
  cOptions.flags = options.flags | KV_BATCH_WAIT;
  cOptions.replicas = options.replicas;
  cOptions.nodes = options.nodes;
  cOptions.pins = options.pins;
  cOptions.soft_pin_ms = options.softPinMs;
  cOptions.retain_ms = options.retainMs;
  for (size_t begin = 0; begin < table_.size() && !interrupt_; begin += KV_BATCH_MAX) {
    cOptions.timeout_ms = deadline.remainingMs();
    cOptions.offsets = partsOf_.empty() ? nullptr : &partsOf_[begin];
    cOptions.objects = objects_ == nullptr ? nullptr : objects_ + begin;
    cOptions.groups = options.groups.empty() ? nullptr : &options.groups[begin];
    const size_t count = std::min<size_t>(table_.size() - begin, KV_BATCH_MAX);
    runSlice(client, opCode, cOptions, begin, static_cast<uint32_t>(count));
  }
  if (!interrupt_) return true;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(interrupt_.get())), interrupt_.get());
  return false;
}

void Batch::runSlice(kv_client* client, int32_t opCode, const kv_batch_options& options, size_t begin, uint32_t count) {
  uint64_t id = 0;
  int32_t submitted = KV_OK;
  int32_t waited = KV_TIMEOUT;
  {
    WithoutGil unlocked;
    submitted = kv_client_submit(client, opCode, &table_[begin], count, &options, &id);
    if (submitted == KV_OK) waited = kv_client_wait(client, id, kSignalCheckMs);
  }
  if (submitted != KV_OK) {  // nothing was queued
    for (size_t i = begin; i < begin + count; ++i)
      table_[i].status = submitted;
    return;
  }
  while (waited == KV_TIMEOUT) {
    letSignalsRun();
    WithoutGil unlocked;
    waited = kv_client_wait(client, id, kSignalCheckMs);
  }
}

// The library writes into our memory until the batch ends, which its own timeout guarantees. So what a handler
// raises, KeyboardInterrupt say, is kept until then.
void Batch::letSignalsRun() {
  if (!interrupt_) interrupt_ = pendingInterrupt();
}

Ref pendingInterrupt() {
  if (PyErr_CheckSignals() == 0) return Ref();
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return Ref(value);
}

Ref Batch::results(bool lengths) const {
  Ref list(PyList_New(static_cast<Py_ssize_t>(table_.size())));
  if (!list) return Ref();
  for (size_t i = 0; i < table_.size(); ++i) {
    const kv_op& op = table_[i];
    PyObject* number =
        op.status == KV_OK && lengths ? PyLong_FromUnsignedLongLong(op.result_length) : PyLong_FromLong(op.status);
    if (number == nullptr || PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), number) != 0) return Ref();
  }
  return list;
}

}  // namespace kvpool::python
