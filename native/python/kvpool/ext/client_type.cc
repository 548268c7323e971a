// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "batch.h"
#include "engine_kind.h"
#include "failure.h"
#include "fetch.h"
#include "handle.h"
#include "kvpool/agent.h"
#include "locate.h"
#include "types.h"

namespace kvpool::python {
namespace {

struct ClientKind {
  using Handle = kv_client;
  struct Extra {
    SizeGuess guess;
  };
  static void destroy(kv_client* client) { kv_client_destroy(client); }
  static constexpr const char* kClosed = "the client is closed";
  static constexpr const char* kForked = "this client was made before fork(); make a new one in the child process";
};

using ClientEntry = Entry<ClientKind>;

PyObject* clientThroughAgent(PyTypeObject* type, PyObject* arguments) {
  kv_attach_params params{};
  params.struct_size = sizeof(params);
  unsigned long long stagingBytes = 0;
  if (PyArg_ParseTuple(arguments, "szKI:Client", &params.socket_path, &params.name, &stagingBytes,
                       &params.ready_timeout_ms) == 0) {
    return nullptr;
  }
  params.staging_bytes = stagingBytes;
  return makeHandle<ClientKind>(
      type, [&](kv_client** out, char* error, uint32_t size) { return kv_client_attach(&params, out, error, size); });
}

PyObject* clientNew(PyTypeObject* type, PyObject* arguments, PyObject*) {
  if (PyTuple_Size(arguments) == 4) return clientThroughAgent(type, arguments);
  kv_client_params params{};
  params.struct_size = sizeof(params);
  int busyWait = 1;
  if (PyArg_ParseTuple(arguments, "szIIIIpIzI:Client", &params.masters, &params.name, &params.protocols,
                       &params.connect_timeout_ms, &params.transfer_timeout_ms, &params.ready_timeout_ms, &busyWait,
                       &params.idle_timeout_ms, &params.tls_dir, &params.payloads) == 0) {
    return nullptr;
  }
  if (busyWait == 0) params.busy_wait_us = KV_BUSY_WAIT_NEVER;
  return makeHandle<ClientKind>(
      type, [&](kv_client** out, char* error, uint32_t size) { return kv_client_create(&params, out, error, size); });
}

/// What sets one batch method apart from the others. All take (keys, memory, options, timeout_ms).
struct BatchMethod {
  int32_t opCode;
  Memory memory;
  bool lengths;  // of the values, or numbers of objects, for lines that are KV_OK
};

constexpr BatchMethod kPut{KV_OP_PUT, Memory::Readable, false};
constexpr BatchMethod kPutFrom{KV_OP_PUT, Memory::Registered, false};
constexpr BatchMethod kPutFromPieces{KV_OP_PUT, Memory::RegisteredPieces, false};
constexpr BatchMethod kGetIntoPieces{KV_OP_GET, Memory::RegisteredPieces, true};
constexpr BatchMethod kGetIntoParts{KV_OP_GET, Memory::RegisteredParts, true};
constexpr BatchMethod kGetIntoBuffers{KV_OP_GET, Memory::Writable, true};
constexpr BatchMethod kGetInto{KV_OP_GET, Memory::Registered, true};
constexpr BatchMethod kPutStart{KV_OP_PUT_START, Memory::Lengths, false};
constexpr BatchMethod kPutParts{KV_OP_PUT_PARTS, Memory::RegisteredParts, true};
constexpr BatchMethod kPutEnd{KV_OP_PUT_END, Memory::Objects, false};
constexpr BatchMethod kPutRevoke{KV_OP_PUT_REVOKE, Memory::Objects, false};
constexpr BatchMethod kExists{KV_OP_EXISTS, Memory::None, true};
constexpr BatchMethod kRemove{KV_OP_REMOVE, Memory::None, false};
constexpr BatchMethod kRetain{KV_OP_RETAIN, Memory::None, true};
constexpr BatchMethod kRelease{KV_OP_RELEASE, Memory::None, true};
constexpr BatchMethod kPrefetch{KV_OP_PREFETCH, Memory::None, true};

template <const BatchMethod& method>
PyObject* clientBatch(PyObject* self, PyObject* arguments) {
  PyObject* keys = nullptr;
  PyObject* memory = nullptr;
  PyObject* how = nullptr;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OOOI", &keys, &memory, &how, &timeoutMs) == 0) return nullptr;
  const ClientEntry entry(self);
  Batch batch;
  BatchOptions options;
  if (!entry || !batch.addKeys(keys) || !batch.addMemory(memory, method.memory, options)) return nullptr;
  if (!options.read(how, batch.size())) return nullptr;
  if (!batch.run(entry.handle(), method.opCode, options, Deadline(timeoutMs))) return nullptr;
  return batch.results(method.lengths).release();
}

PyObject* clientGet(PyObject* self, PyObject* arguments) {
  PyObject* keys = nullptr;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OI:get", &keys, &timeoutMs) == 0) return nullptr;
  const ClientEntry entry(self);
  if (!entry) return nullptr;
  return fetch(entry.handle(), keys, Deadline(timeoutMs), stateOf<ClientKind>(self).extra.guess).release();
}

PyObject* clientLocate(PyObject* self, PyObject* arguments) {
  PyObject* keys = nullptr;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OI:locate", &keys, &timeoutMs) == 0) return nullptr;
  const ClientEntry entry(self);
  if (!entry) return nullptr;
  return locate(entry.handle(), keys, Deadline(timeoutMs)).release();
}

PyObject* clientRemoveAll(PyObject* self, PyObject* arguments) {
  const char* pattern = nullptr;
  Py_ssize_t length = 0;
  int force = 0;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "s#pI:remove_all", &pattern, &length, &force, &timeoutMs) == 0) return nullptr;
  const auto patternLength = static_cast<uint32_t>(std::min<Py_ssize_t>(length, UINT32_MAX));
  const ClientEntry entry(self);
  if (!entry) return nullptr;
  uint64_t removed = 0;
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;
    status = kv_client_remove_matching(entry.handle(), pattern, patternLength, force != 0 ? 1 : 0, timeoutMs, &removed);
  }
  return status == KV_OK ? PyLong_FromUnsignedLongLong(removed) : PyLong_FromLong(status);
}

PyObject* clientCopy(PyObject* self, PyObject* arguments) {
  const char* key = nullptr;
  Py_ssize_t keyLength = 0;
  const char* source = nullptr;
  PyObject* names = nullptr;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "s#zOI:copy", &key, &keyLength, &source, &names, &timeoutMs) == 0) return nullptr;
  const Ref list(PySequence_List(names));
  if (!list) return nullptr;
  std::vector<const char*> targets;
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    targets.push_back(PyUnicode_AsUTF8AndSize(PyList_GetItem(list.get(), i), nullptr));
    if (targets.back() == nullptr) return nullptr;
  }
  const ClientEntry entry(self);
  if (!entry) return nullptr;
  uint64_t task = 0;
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;
    const auto length = static_cast<uint32_t>(std::min<Py_ssize_t>(keyLength, UINT32_MAX));
    const auto count = static_cast<uint32_t>(std::min<size_t>(targets.size(), UINT32_MAX));
    status = kv_client_copy(entry.handle(), key, length, source, targets.data(), count, timeoutMs, &task);
  }
  return status == KV_OK ? PyLong_FromUnsignedLongLong(task) : PyLong_FromLong(status);
}

PyObject* clientTask(PyObject* self, PyObject* arguments) {
  PyObject* number = nullptr;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OI:task", &number, &timeoutMs) == 0) return nullptr;
  uint64_t task = 0;
  const ClientEntry entry(self);
  if (!entry || !readUnsigned(number, task)) return nullptr;
  kv_task told{};
  told.struct_size = sizeof(told);
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;
    status = kv_client_task(entry.handle(), task, timeoutMs, &told);
  }
  if (status != KV_OK) return PyLong_FromLong(status);
  return Py_BuildValue("(iiiKK)", told.state, told.why, static_cast<int>(told.moves),
                       static_cast<unsigned long long>(told.age_ms), static_cast<unsigned long long>(told.rest_ms));
}

PyObject* clientRegister(PyObject* self, PyObject* arguments) {
  PyObject* addressObject = nullptr;
  PyObject* lengthObject = nullptr;
  if (PyArg_ParseTuple(arguments, "OO:register", &addressObject, &lengthObject) == 0) return nullptr;
  uint64_t address = 0;
  uint64_t length = 0;
  if (!readUnsigned(addressObject, address) || !readUnsigned(lengthObject, length)) return nullptr;
  const ClientEntry entry(self);
  if (!entry) return nullptr;
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;  // for memory of an NPU it may load CANN and open that
    status = kv_client_register(entry.handle(), pointerTo(address), length);
  }
  return PyLong_FromLong(status);
}

PyObject* clientUnregister(PyObject* self, PyObject* arguments) {
  PyObject* addressObject = nullptr;
  if (PyArg_ParseTuple(arguments, "O:unregister", &addressObject) == 0) return nullptr;
  uint64_t address = 0;
  if (!readUnsigned(addressObject, address)) return nullptr;
  const ClientEntry entry(self);
  if (!entry) return nullptr;
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;  // it waits for batches, which may need Python to go on
    status = kv_client_unregister(entry.handle(), pointerTo(address));
  }
  return PyLong_FromLong(status);
}

PyObject* clientUseEngineMemory(PyObject* self, PyObject* engine) {
  if (!isEngine(engine)) {
    PyErr_SetString(PyExc_TypeError, "not a kvpool._kvpool.Engine");
    return nullptr;
  }
  const ClientEntry entry(self);
  if (!entry) return nullptr;
  const EngineEntry lender(engine);
  if (!lender) return nullptr;
  return PyLong_FromLong(kv_client_use_engine_memory(entry.handle(), lender.handle()));
}

PyObject* clientCopyMemory(PyObject* self, PyObject* copies) {
  const Ref list(PySequence_List(copies));
  if (!list) return nullptr;
  std::vector<kv_memory_copy> table;
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    const Ref one(PySequence_Tuple(PyList_GetItem(list.get(), i)));
    PyObject* toObject = nullptr;
    PyObject* fromObject = nullptr;
    PyObject* lengthObject = nullptr;
    if (!one || PyArg_ParseTuple(one.get(), "OOO:copy_memory", &toObject, &fromObject, &lengthObject) == 0)
      return nullptr;
    uint64_t to = 0;
    uint64_t from = 0;
    kv_memory_copy copy{};
    if (!readUnsigned(toObject, to) || !readUnsigned(fromObject, from) || !readUnsigned(lengthObject, copy.length))
      return nullptr;
    copy.to = pointerTo(to);
    copy.from = pointerTo(from);
    table.push_back(copy);
  }
  const ClientEntry entry(self);
  if (!entry) return nullptr;
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;
    status = kv_client_copy_memory(entry.handle(), table.data(), static_cast<uint32_t>(table.size()));
  }
  return PyLong_FromLong(status);
}

PyObject* clientExplain(PyObject* self, PyObject*) {
  const ClientEntry entry(self);
  if (!entry) return nullptr;
  char text[4096] = "";  // room for all paths at which a library was looked for
  kv_client_explain(entry.handle(), text, sizeof(text));
  return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(__builtin_strlen(text)), "replace");
}

/// False with Python's error set.
bool readStats(PyObject* self, kv_client_stats& stats) {
  const ClientEntry entry(self);
  if (!entry) return false;
  stats.struct_size = sizeof(stats);
  const int32_t status = kv_client_get_stats(entry.handle(), &stats);
  if (status != KV_OK) raiseFailure(status, nullptr);
  return status == KV_OK;
}

bool putDurations(PyObject* dict, const char* name, const kv_durations& d) {
  const Ref tuple(Py_BuildValue("(KKKKKKK)", static_cast<unsigned long long>(d.us),
                                static_cast<unsigned long long>(d.in_100us), static_cast<unsigned long long>(d.in_1ms),
                                static_cast<unsigned long long>(d.in_10ms), static_cast<unsigned long long>(d.in_100ms),
                                static_cast<unsigned long long>(d.in_1s), static_cast<unsigned long long>(d.longer)));
  return tuple && PyDict_SetItemString(dict, name, tuple.get()) == 0;
}

PyObject* clientDurations(PyObject* self, PyObject*) {
  kv_client_stats stats{};
  if (!readStats(self, stats)) return nullptr;
  Ref dict(PyDict_New());
  if (!dict || !putDurations(dict.get(), "single_put", stats.single_puts) ||
      !putDurations(dict.get(), "single_get", stats.single_gets)) {
    return nullptr;
  }
  constexpr std::array<const char*, KV_REQUESTS> kNames{"grant",      "publish", "lookup", "exists", "remove",
                                                        "remove_all", "copy",    "task",   "hint"};
  for (size_t kind = 0; kind < kNames.size(); ++kind) {
    if (!putDurations(dict.get(), kNames[kind], stats.requests[kind])) return nullptr;
  }
  return dict.release();
}

PyObject* clientStats(PyObject* self, PyObject*) {
  kv_client_stats stats{};
  if (!readStats(self, stats)) return nullptr;
  Ref dict(PyDict_New());
  if (!dict) return nullptr;
  if (PyDict_SetItemString(dict.get(), "leader_known", stats.leader_known != 0 ? Py_True : Py_False) != 0)
    return nullptr;
#define STAT(name) put(dict.get(), #name, stats.name)
  const bool whole =
      STAT(epoch) && STAT(puts) && STAT(gets) && STAT(hits) && STAT(misses) && STAT(put_bytes) && STAT(get_bytes) &&
      STAT(shm_bytes) && STAT(retries) && STAT(checksum_failures) && STAT(leader_changes) && STAT(ucx_bytes) &&
      STAT(ucx_lanes) && STAT(ucx_refusals) && STAT(ascend_bytes) && STAT(ascend_lanes) && STAT(ascend_refusals) &&
      STAT(shm_refusals) && STAT(put_batch_us) && STAT(put_batches_in_100us) && STAT(put_batches_in_1ms) &&
      STAT(put_batches_in_10ms) && STAT(put_batches_in_100ms) && STAT(put_batches_in_1s) && STAT(put_batches_longer) &&
      STAT(get_batch_us) && STAT(get_batches_in_100us) && STAT(get_batches_in_1ms) && STAT(get_batches_in_10ms) &&
      STAT(get_batches_in_100ms) && STAT(get_batches_in_1s) && STAT(get_batches_longer);
#undef STAT
  return whole ? dict.release() : nullptr;
}

PyMethodDef clientMethods[] = {
    {"close", guarded<closeHandle<ClientKind>>, METH_NOARGS, "close(): waits for running calls, then disconnects"},
    {"get", guarded<clientGet>, METH_VARARGS, "get(keys, timeout_ms) -> [bytes or status]"},
    {"put", guarded<clientBatch<kPut>>, METH_VARARGS, "put(keys, buffers, options, timeout_ms) -> [status]"},
    {"put_from", guarded<clientBatch<kPutFrom>>, METH_VARARGS,
     "put_from(keys, (addresses, sizes), options, timeout_ms) -> [status]"},
    {"get_into_buffers", guarded<clientBatch<kGetIntoBuffers>>, METH_VARARGS,
     "get_into_buffers(keys, buffers, None, timeout_ms) -> [length or status]"},
    {"get_into", guarded<clientBatch<kGetInto>>, METH_VARARGS,
     "get_into(keys, (addresses, sizes), None, timeout_ms) -> [length or status]"},
    {"put_from_pieces", guarded<clientBatch<kPutFromPieces>>, METH_VARARGS,
     "put_from_pieces(keys, (lists of addresses, lists of sizes), options, timeout_ms) -> [status]"},
    {"get_into_pieces", guarded<clientBatch<kGetIntoPieces>>, METH_VARARGS,
     "get_into_pieces(keys, (lists of addresses, lists of sizes), None, timeout_ms) -> [length or status]"},
    {"get_into_parts", guarded<clientBatch<kGetIntoParts>>, METH_VARARGS,
     "get_into_parts(keys, (lists of addresses, of sizes, of offsets, objects), None, timeout_ms) -> [length or "
     "status]"},
    {"put_start", guarded<clientBatch<kPutStart>>, METH_VARARGS,
     "put_start(keys, (lengths, objects), options, timeout_ms) -> [status]"},
    {"put_parts", guarded<clientBatch<kPutParts>>, METH_VARARGS,
     "put_parts(keys, (lists of addresses, of sizes, of offsets, objects), None, timeout_ms) -> [bytes or status]"},
    {"put_end", guarded<clientBatch<kPutEnd>>, METH_VARARGS, "put_end(keys, objects, None, timeout_ms) -> [status]"},
    {"put_revoke", guarded<clientBatch<kPutRevoke>>, METH_VARARGS,
     "put_revoke(keys, objects, None, timeout_ms) -> [status]"},
    {"exists", guarded<clientBatch<kExists>>, METH_VARARGS,
     "exists(keys, None, None, timeout_ms) -> [length or status]"},
    {"locate", guarded<clientLocate>, METH_VARARGS,
     "locate(keys, timeout_ms) -> [[(node, address, medium, length, offset)] or status]"},
    {"remove", guarded<clientBatch<kRemove>>, METH_VARARGS, "remove(keys, None, options, timeout_ms) -> [status]"},
    {"retain", guarded<clientBatch<kRetain>>, METH_VARARGS,
     "retain(keys, None, options, timeout_ms) -> [count or status]"},
    {"release", guarded<clientBatch<kRelease>>, METH_VARARGS,
     "release(keys, None, options, timeout_ms) -> [count or status]"},
    {"prefetch", guarded<clientBatch<kPrefetch>>, METH_VARARGS,
     "prefetch(keys, None, options, timeout_ms) -> [count or status]"},
    {"remove_all", guarded<clientRemoveAll>, METH_VARARGS, "remove_all(pattern, force, timeout_ms) -> count or status"},
    {"copy", guarded<clientCopy>, METH_VARARGS, "copy(key, source, targets, timeout_ms) -> task or status"},
    {"task", guarded<clientTask>, METH_VARARGS,
     "task(number, timeout_ms) -> (state, why, moves, age_ms, rest_ms) or status"},
    {"register", guarded<clientRegister>, METH_VARARGS, "register(address, length) -> status"},
    {"unregister", guarded<clientUnregister>, METH_VARARGS, "unregister(address) -> status"},
    {"use_engine_memory", guarded<clientUseEngineMemory>, METH_O, "use_engine_memory(engine) -> status"},
    {"copy_memory", guarded<clientCopyMemory>, METH_O, "copy_memory([(to, from, length)]) -> status"},
    {"explain", guarded<clientExplain>, METH_NOARGS, "explain() -> the sentence behind the latest failure"},
    {"stats", guarded<clientStats>, METH_NOARGS, "stats() -> counters as a dict"},
    {"durations", guarded<clientDurations>, METH_NOARGS,
     "durations() -> (us, how many in each step) by what took them"},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot clientSlots[] = {
    {Py_tp_new, reinterpret_cast<void*>(clientNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(freeHandle<ClientKind>)},
    {Py_tp_methods, clientMethods},
    {Py_tp_doc, const_cast<char*>("Client(masters, name, protocols, connect_ms, transfer_ms, ready_ms, busy_wait, "
                                  "idle_ms), or through an agent: "
                                  "Client(socket_path, name, staging_bytes, ready_ms)")},
    {0, nullptr},
};

PyType_Spec clientSpec = {"kvpool._kvpool.Client", sizeof(HandleObject<ClientKind>), 0, Py_TPFLAGS_DEFAULT,
                          clientSlots};

}  // namespace

bool addClientType(PyObject* module) {
  Ref type(PyType_FromSpec(&clientSpec));
  return type && PyModule_AddObjectRef(module, "Client", type.get()) == 0;
}

}  // namespace kvpool::python
