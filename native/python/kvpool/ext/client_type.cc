// SPDX-License-Identifier: Apache-2.0
#include "batch.h"
#include "failure.h"
#include "fetch.h"
#include "session.h"
#include "types.h"

namespace kvpool::python {
namespace {

using ClientSession = Session<kv_client, kv_client_destroy>;

struct ClientState {
  explicit ClientState(kv_client* client) : session(client) {}
  ClientSession session;
  SizeGuess guess;
};

struct ClientObject {
  PyObject_HEAD ClientState* state;
};

ClientState& stateOf(PyObject* self) {
  return *reinterpret_cast<ClientObject*>(self)->state;
}

// The right to call the library, or Python's error set.
class Entry {
 public:
  explicit Entry(PyObject* self) : call_(stateOf(self).session) {
    if (call_.handle() != nullptr) return;
    const bool forked = stateOf(self).session.forked();
    raiseFailure(KV_CLOSED, forked ? "this client was made before fork(); make a new one in the child process"
                                   : "the client is closed");
  }
  explicit operator bool() const { return call_.handle() != nullptr; }
  kv_client* client() const { return call_.handle(); }

 private:
  ClientSession::Call call_;
};

PyObject* clientNew(PyTypeObject* type, PyObject* arguments, PyObject*) {
  kv_client_params params{};
  params.struct_size = sizeof(params);
  if (PyArg_ParseTuple(arguments, "szIIII:Client", &params.masters, &params.name, &params.protocols,
                       &params.connect_timeout_ms, &params.transfer_timeout_ms, &params.ready_timeout_ms) == 0) {
    return nullptr;
  }
  kv_client* client = nullptr;
  char error[1024] = "";
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;
    status = kv_client_create(&params, &client, error, sizeof(error));
  }
  if (status != KV_OK) {
    raiseFailure(status, error);
    return nullptr;
  }
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* self = allocate(type, 0);
  if (self == nullptr) {
    WithoutGil unlocked;
    kv_client_destroy(client);
    return nullptr;
  }
  reinterpret_cast<ClientObject*>(self)->state = new ClientState(client);
  return self;
}

void clientDealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  {
    WithoutGil unlocked;
    delete reinterpret_cast<ClientObject*>(self)->state;
  }
  auto release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  Py_DECREF(type);
}

PyObject* clientClose(PyObject* self, PyObject*) {
  {
    WithoutGil unlocked;
    stateOf(self).session.close();
  }
  Py_RETURN_NONE;
}

PyObject* clientPut(PyObject* self, PyObject* arguments) {
  PyObject* keys = nullptr;
  PyObject* values = nullptr;
  BatchOptions options;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OOIzI:put", &keys, &values, &options.replicas, &options.preferredNode, &timeoutMs) ==
      0) {
    return nullptr;
  }
  Entry entry(self);
  Batch batch;
  if (!entry || !batch.addKeys(keys) || !batch.addBuffers(values, PyBUF_SIMPLE)) return nullptr;
  if (!batch.run(entry.client(), KV_OP_PUT, options, Deadline(timeoutMs))) return nullptr;
  return batch.results(false).release();
}

PyObject* clientPutFrom(PyObject* self, PyObject* arguments) {
  PyObject* keys = nullptr;
  PyObject* addresses = nullptr;
  PyObject* sizes = nullptr;
  BatchOptions options;
  options.flags = KV_BATCH_REGISTERED;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OOOIzI:put_from", &keys, &addresses, &sizes, &options.replicas,
                       &options.preferredNode, &timeoutMs) == 0) {
    return nullptr;
  }
  Entry entry(self);
  Batch batch;
  if (!entry || !batch.addKeys(keys) || !batch.addAddresses(addresses, sizes)) return nullptr;
  if (!batch.run(entry.client(), KV_OP_PUT, options, Deadline(timeoutMs))) return nullptr;
  return batch.results(false).release();
}

PyObject* clientGet(PyObject* self, PyObject* arguments) {
  PyObject* keys = nullptr;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OI:get", &keys, &timeoutMs) == 0) return nullptr;
  Entry entry(self);
  if (!entry) return nullptr;
  return fetch(entry.client(), keys, Deadline(timeoutMs), stateOf(self).guess).release();
}

PyObject* clientGetIntoBuffers(PyObject* self, PyObject* arguments) {
  PyObject* keys = nullptr;
  PyObject* buffers = nullptr;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OOI:get_into_buffers", &keys, &buffers, &timeoutMs) == 0) return nullptr;
  Entry entry(self);
  Batch batch;
  if (!entry || !batch.addKeys(keys) || !batch.addBuffers(buffers, PyBUF_WRITABLE)) return nullptr;
  if (!batch.run(entry.client(), KV_OP_GET, BatchOptions{}, Deadline(timeoutMs))) return nullptr;
  return batch.results(true).release();
}

PyObject* clientGetInto(PyObject* self, PyObject* arguments) {
  PyObject* keys = nullptr;
  PyObject* addresses = nullptr;
  PyObject* sizes = nullptr;
  BatchOptions options;
  options.flags = KV_BATCH_REGISTERED;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OOOI:get_into", &keys, &addresses, &sizes, &timeoutMs) == 0) return nullptr;
  Entry entry(self);
  Batch batch;
  if (!entry || !batch.addKeys(keys) || !batch.addAddresses(addresses, sizes)) return nullptr;
  if (!batch.run(entry.client(), KV_OP_GET, options, Deadline(timeoutMs))) return nullptr;
  return batch.results(true).release();
}

PyObject* clientExists(PyObject* self, PyObject* arguments) {
  PyObject* keys = nullptr;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OI:exists", &keys, &timeoutMs) == 0) return nullptr;
  Entry entry(self);
  Batch batch;
  if (!entry || !batch.addKeys(keys)) return nullptr;
  if (!batch.run(entry.client(), KV_OP_EXISTS, BatchOptions{}, Deadline(timeoutMs))) return nullptr;
  return batch.results(true).release();
}

PyObject* clientRemove(PyObject* self, PyObject* arguments) {
  PyObject* keys = nullptr;
  int force = 0;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "OpI:remove", &keys, &force, &timeoutMs) == 0) return nullptr;
  BatchOptions options;
  options.flags = force != 0 ? KV_BATCH_FORCE : 0;
  Entry entry(self);
  Batch batch;
  if (!entry || !batch.addKeys(keys)) return nullptr;
  if (!batch.run(entry.client(), KV_OP_REMOVE, options, Deadline(timeoutMs))) return nullptr;
  return batch.results(false).release();
}

PyObject* clientRemoveAll(PyObject* self, PyObject* arguments) {
  int force = 0;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "pI:remove_all", &force, &timeoutMs) == 0) return nullptr;
  Entry entry(self);
  if (!entry) return nullptr;
  uint64_t removed = 0;
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;
    status = kv_client_remove_all(entry.client(), force != 0 ? 1 : 0, timeoutMs, &removed);
  }
  return status == KV_OK ? PyLong_FromUnsignedLongLong(removed) : PyLong_FromLong(status);
}

PyObject* clientRegister(PyObject* self, PyObject* arguments) {
  PyObject* addressObject = nullptr;
  PyObject* lengthObject = nullptr;
  if (PyArg_ParseTuple(arguments, "OO:register", &addressObject, &lengthObject) == 0) return nullptr;
  uint64_t address = 0;
  uint64_t length = 0;
  if (!readUnsigned(addressObject, address) || !readUnsigned(lengthObject, length)) return nullptr;
  Entry entry(self);
  if (!entry) return nullptr;
  return PyLong_FromLong(kv_client_register(entry.client(), pointerTo(address), length));
}

PyObject* clientUnregister(PyObject* self, PyObject* arguments) {
  PyObject* addressObject = nullptr;
  if (PyArg_ParseTuple(arguments, "O:unregister", &addressObject) == 0) return nullptr;
  uint64_t address = 0;
  if (!readUnsigned(addressObject, address)) return nullptr;
  Entry entry(self);
  if (!entry) return nullptr;
  return PyLong_FromLong(kv_client_unregister(entry.client(), pointerTo(address)));
}

PyObject* clientExplain(PyObject* self, PyObject*) {
  Entry entry(self);
  if (!entry) return nullptr;
  char text[1024] = "";
  kv_client_explain(entry.client(), text, sizeof(text));
  return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(__builtin_strlen(text)), "replace");
}

PyObject* clientStats(PyObject* self, PyObject*) {
  Entry entry(self);
  if (!entry) return nullptr;
  kv_client_stats stats{};
  stats.struct_size = sizeof(stats);
  const int32_t status = kv_client_get_stats(entry.client(), &stats);
  if (status != KV_OK) {
    raiseFailure(status, nullptr);
    return nullptr;
  }
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  return Py_BuildValue("{s:O,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "leader_known",
                       stats.leader_known != 0 ? Py_True : Py_False, "epoch", number(stats.epoch), "puts",
                       number(stats.puts), "gets", number(stats.gets), "hits", number(stats.hits), "misses",
                       number(stats.misses), "put_bytes", number(stats.put_bytes), "get_bytes", number(stats.get_bytes),
                       "shm_bytes", number(stats.shm_bytes), "retries", number(stats.retries), "checksum_failures",
                       number(stats.checksum_failures), "leader_changes", number(stats.leader_changes));
}

PyMethodDef clientMethods[] = {
    {"close", guarded<clientClose>, METH_NOARGS, "close(): waits for running calls, then disconnects"},
    {"put", guarded<clientPut>, METH_VARARGS, "put(keys, values, replicas, preferred_node, timeout_ms) -> [status]"},
    {"put_from", guarded<clientPutFrom>, METH_VARARGS,
     "put_from(keys, addresses, sizes, replicas, preferred_node, timeout_ms) -> [status]"},
    {"get", guarded<clientGet>, METH_VARARGS, "get(keys, timeout_ms) -> [bytes or status]"},
    {"get_into_buffers", guarded<clientGetIntoBuffers>, METH_VARARGS,
     "get_into_buffers(keys, buffers, timeout_ms) -> [length or status]"},
    {"get_into", guarded<clientGetInto>, METH_VARARGS,
     "get_into(keys, addresses, sizes, timeout_ms) -> [length or status]"},
    {"exists", guarded<clientExists>, METH_VARARGS, "exists(keys, timeout_ms) -> [length or status]"},
    {"remove", guarded<clientRemove>, METH_VARARGS, "remove(keys, force, timeout_ms) -> [status]"},
    {"remove_all", guarded<clientRemoveAll>, METH_VARARGS, "remove_all(force, timeout_ms) -> count or status"},
    {"register", guarded<clientRegister>, METH_VARARGS, "register(address, length) -> status"},
    {"unregister", guarded<clientUnregister>, METH_VARARGS, "unregister(address) -> status"},
    {"explain", guarded<clientExplain>, METH_NOARGS, "explain() -> the sentence behind the latest failure"},
    {"stats", guarded<clientStats>, METH_NOARGS, "stats() -> counters as a dict"},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot clientSlots[] = {
    {Py_tp_new, reinterpret_cast<void*>(clientNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(clientDealloc)},
    {Py_tp_methods, clientMethods},
    {Py_tp_doc, const_cast<char*>("Client(masters, name, protocols, connect_ms, transfer_ms, ready_ms)")},
    {0, nullptr},
};

PyType_Spec clientSpec = {"kvpool._kvpool.Client", sizeof(ClientObject), 0, Py_TPFLAGS_DEFAULT, clientSlots};

}  // namespace

bool addClientType(PyObject* module) {
  Ref type(PyType_FromSpec(&clientSpec));
  return type && PyModule_AddObjectRef(module, "Client", type.get()) == 0;
}

}  // namespace kvpool::python
