// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "batch.h"
#include "engine_kind.h"
#include "types.h"

namespace kvpool::python {
namespace {

PyObject* engineNew(PyTypeObject* type, PyObject* arguments, PyObject*) {
  kv_engine_params params{};
  params.struct_size = sizeof(params);
  if (PyArg_ParseTuple(arguments, "zzzzIIIIIzzIII:Engine", &params.name, &params.metadata, &params.protocols,
                       &params.listen_host, &params.port_min, &params.port_max, &params.connect_timeout_ms,
                       &params.transfer_timeout_ms, &params.idle_timeout_ms, &params.ascend_host, &params.tls_dir,
                       &params.payloads, &params.trusted_fabric, &params.sockets_only) == 0) {
    return nullptr;
  }
  return makeHandle<EngineKind>(
      type, [&](kv_engine** out, char* error, uint32_t size) { return kv_engine_create(&params, out, error, size); });
}

using RegionsCall = int32_t (*)(kv_engine*, const kv_region*, uint32_t, const char*);

int32_t unregister(kv_engine* engine, const kv_region* regions, uint32_t count, const char*) {
  return kv_engine_unregister(engine, regions, count);
}

/// (addresses, lengths, location) for both calls: lengths are not looked at when regions are taken back.
template <RegionsCall call>
PyObject* engineRegions(PyObject* self, PyObject* arguments) {
  PyObject* addresses = nullptr;
  PyObject* lengths = nullptr;
  const char* location = nullptr;
  if (PyArg_ParseTuple(arguments, "OOz:regions", &addresses, &lengths, &location) == 0) return nullptr;
  std::vector<uint64_t> begins;
  std::vector<uint64_t> sizes;
  if (!readNumbers(addresses, begins) || !readNumbers(lengths, sizes)) return nullptr;
  if (begins.size() != sizes.size()) {
    PyErr_Format(PyExc_ValueError, "%zd addresses but %zd lengths", static_cast<Py_ssize_t>(begins.size()),
                 static_cast<Py_ssize_t>(sizes.size()));
    return nullptr;
  }
  std::vector<kv_region> regions(begins.size());
  for (size_t i = 0; i < regions.size(); ++i)
    regions[i] = {begins[i], sizes[i]};
  const EngineEntry entry(self);
  if (!entry) return nullptr;
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;
    status = call(entry.handle(), regions.data(), static_cast<uint32_t>(regions.size()), location);
  }
  return PyLong_FromLong(status);
}

std::unique_ptr<Transfers> readTransfers(PyObject* arguments, int& op, uint32_t& timeoutMs) {
  PyObject* peers = nullptr;
  PyObject* locals = nullptr;
  PyObject* remotes = nullptr;
  PyObject* lengths = nullptr;
  PyObject* notify = nullptr;
  if (PyArg_ParseTuple(arguments, "iOOOOOI:transfer", &op, &peers, &locals, &remotes, &lengths, &notify, &timeoutMs) ==
      0) {
    return nullptr;
  }
  auto transfers = std::make_unique<Transfers>();
  if (!transfers->read(peers, locals, remotes, lengths) || !transfers->readNotify(notify)) return nullptr;
  return transfers;
}

PyObject* engineTransfer(PyObject* self, PyObject* arguments) {
  int op = 0;
  uint32_t timeoutMs = 0;
  const EngineEntry entry(self);
  if (!entry) return nullptr;
  const std::unique_ptr<Transfers> transfers = readTransfers(arguments, op, timeoutMs);
  if (!transfers) return nullptr;
  const int32_t submitted = transfers->submit(entry.handle(), op, timeoutMs);
  if (submitted != KV_OK) {
    transfers->end(submitted);
  } else if (!transfers->wait(entry.handle())) {
    return nullptr;
  }
  return transfers->statuses().release();
}

PyObject* engineSubmit(PyObject* self, PyObject* arguments) {
  int op = 0;
  uint32_t timeoutMs = 0;
  const EngineEntry entry(self);
  if (!entry) return nullptr;
  std::unique_ptr<Transfers> transfers = readTransfers(arguments, op, timeoutMs);
  if (!transfers) return nullptr;
  const int32_t submitted = transfers->submit(entry.handle(), op, timeoutMs);
  if (submitted != KV_OK) return PyLong_FromLong(submitted);
  const uint64_t batch = transfers->batch();
  stateOf<EngineKind>(self).extra.submitted.add(std::move(transfers));
  return PyLong_FromUnsignedLongLong(batch);
}

PyObject* enginePoll(PyObject* self, PyObject* arguments) {
  unsigned long long batch = 0;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "KI:poll", &batch, &timeoutMs) == 0) return nullptr;
  const EngineEntry entry(self);
  if (!entry) return nullptr;
  Submitted& submitted = stateOf<EngineKind>(self).extra.submitted;
  std::unique_ptr<Transfers> transfers;
  Submitted::Outcome outcome{};
  {
    const Deadline deadline(timeoutMs);
    WithoutGil unlocked;
    outcome = submitted.take(batch, timeoutMs, transfers);
    const uint32_t restMs = timeoutMs == 0 ? 0 : deadline.remainingMs();
    if (transfers && transfers->poll(entry.handle(), restMs) == KV_TIMEOUT) {
      submitted.add(std::move(transfers));
    } else if (transfers) {
      submitted.forget(batch);
    }
  }
  if (outcome == Submitted::Outcome::Unknown) {
    raiseFailure(KV_INVALID_ARGUMENT, "no such batch: it was never submitted, or its end was told already");
    return nullptr;
  }
  if (transfers) return transfers->statuses().release();
  Py_RETURN_NONE;
}

PyObject* engineDescribe(PyObject* self, PyObject* arguments) {
  const char* peer = nullptr;
  uint32_t timeoutMs = 0;
  if (PyArg_ParseTuple(arguments, "sI:describe", &peer, &timeoutMs) == 0) return nullptr;
  const EngineEntry entry(self);
  if (!entry) return nullptr;
  std::vector<kv_region> regions(KV_ENGINE_REGIONS_MAX);
  uint32_t count = 0;
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;
    status = kv_engine_describe(entry.handle(), peer, regions.data(), static_cast<uint32_t>(regions.size()), &count,
                                timeoutMs);
  }
  if (status != KV_OK) return PyLong_FromLong(status);
  Ref list(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list) return nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    PyObject* pair = Py_BuildValue("(KK)", static_cast<unsigned long long>(regions[i].address),
                                   static_cast<unsigned long long>(regions[i].length));
    if (pair == nullptr || PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), pair) != 0) return nullptr;
  }
  return list.release();
}

PyObject* engineNextNotify(PyObject* self, PyObject*) {
  const EngineEntry entry(self);
  if (!entry) return nullptr;
  std::array<char, KV_NOTIFY_NAME_BYTES_MAX + 1> name{};
  std::array<char, KV_NOTIFY_BYTES_MAX> message{};
  uint32_t length = 0;
  const int32_t status =
      kv_engine_next_notify(entry.handle(), name.data(), name.size(), message.data(), message.size(), &length);
  if (status == KV_NOT_FOUND) Py_RETURN_NONE;
  if (status == KV_OK) return Py_BuildValue("(sy#)", name.data(), message.data(), static_cast<Py_ssize_t>(length));
  raiseFailure(status, nullptr);
  return nullptr;
}

using TextCall = int32_t (*)(kv_engine*, char*, uint32_t);

template <TextCall call>
PyObject* engineText(PyObject* self, PyObject*) {
  const EngineEntry entry(self);
  if (!entry) return nullptr;
  std::array<char, 1024> text{};
  call(entry.handle(), text.data(), text.size());
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(__builtin_strlen(text.data())), "replace");
}

PyObject* engineStats(PyObject* self, PyObject*) {
  const EngineEntry entry(self);
  if (!entry) return nullptr;
  kv_engine_stats s{};
  s.struct_size = sizeof(s);
  const int32_t status = kv_engine_get_stats(entry.handle(), &s);
  if (status != KV_OK) {
    raiseFailure(status, nullptr);
    return nullptr;
  }
  Ref dict(PyDict_New());
#define STAT(name) put(dict.get(), #name, s.name)
  const bool whole =
      dict && STAT(listen_port) && STAT(incarnation) && STAT(regions) && STAT(region_bytes) && STAT(peers_connected) &&
      STAT(clients_connected) && STAT(batches) && STAT(write_bytes) && STAT(read_bytes) && STAT(failed_lines) &&
      STAT(timed_out_lines) && STAT(retries) && STAT(peer_restarts) && STAT(served_writes) &&
      STAT(served_write_bytes) && STAT(served_reads) && STAT(served_read_bytes) && STAT(refused_requests) &&
      STAT(checksum_failures) && STAT(protocol_errors) && STAT(peers_refused) && STAT(notifies_sent) &&
      STAT(notifies_received) && STAT(batch_us) && STAT(batches_in_100us) && STAT(batches_in_1ms) &&
      STAT(batches_in_10ms) && STAT(batches_in_100ms) && STAT(batches_in_1s) && STAT(batches_longer) &&
      STAT(ascend_transfers) && STAT(ascend_transfer_failures) && STAT(ascend_transfer_us) &&
      STAT(ascend_transfer_timeouts) && STAT(ascend_retries) && STAT(ascend_connects) && STAT(ascend_renewals) &&
      STAT(ascend_disconnects) && STAT(ascend_room_made) && STAT(ascend_channels) && STAT(ascend_channels_kept) &&
      STAT(ascend_channels_max) && STAT(same_machine_requests) && STAT(same_machine_bytes) &&
      STAT(same_machine_refusals) && STAT(ascend_transfers_in_100us) && STAT(ascend_transfers_in_1ms) &&
      STAT(ascend_transfers_in_10ms) && STAT(ascend_transfers_in_100ms) && STAT(ascend_transfers_in_1s) &&
      STAT(ascend_transfers_longer) && STAT(ascend_connect_us) && STAT(ascend_connects_in_100us) &&
      STAT(ascend_connects_in_1ms) && STAT(ascend_connects_in_10ms) && STAT(ascend_connects_in_100ms) &&
      STAT(ascend_connects_in_1s) && STAT(ascend_connects_longer);
#undef STAT
  return whole ? dict.release() : nullptr;
}

PyMethodDef engineMethods[] = {
    {"close", guarded<closeHandle<EngineKind>>, METH_NOARGS, "close(): ends every batch, then disconnects"},
    {"register", guarded<engineRegions<kv_engine_register>>, METH_VARARGS,
     "register(addresses, lengths, location) -> status"},
    {"unregister", guarded<engineRegions<unregister>>, METH_VARARGS, "unregister(addresses, lengths, None) -> status"},
    {"transfer", guarded<engineTransfer>, METH_VARARGS,
     "transfer(op, peers, locals, remotes, lengths, (name, bytes) or None, timeout_ms) -> [status]"},
    {"submit", guarded<engineSubmit>, METH_VARARGS, "submit(as transfer) -> number of the batch, or a status below 0"},
    {"poll", guarded<enginePoll>, METH_VARARGS, "poll(batch, timeout_ms) -> [status], or None while it runs"},
    {"describe", guarded<engineDescribe>, METH_VARARGS, "describe(peer, timeout_ms) -> [(address, length)] or status"},
    {"next_notify", guarded<engineNextNotify>, METH_NOARGS, "next_notify() -> (name, bytes) or None"},
    {"transports", guarded<engineText<kv_engine_transports>>, METH_NOARGS, "transports() -> what became of each"},
    {"explain", guarded<engineText<kv_engine_explain>>, METH_NOARGS,
     "explain() -> the sentence behind the latest failure"},
    {"stats", guarded<engineStats>, METH_NOARGS, "stats() -> counters as a dict"},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot engineSlots[] = {
    {Py_tp_new, reinterpret_cast<void*>(engineNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(freeHandle<EngineKind>)},
    {Py_tp_methods, engineMethods},
    {Py_tp_doc,
     const_cast<char*>("Engine(name, metadata, protocols, listen_host, port_min, port_max, connect_ms, "
                       "transfer_ms, idle_ms, ascend_host, tls_dir, payloads, trusted_fabric, sockets_only)")},
    {0, nullptr},
};

PyType_Spec engineSpec = {"kvpool._kvpool.Engine", sizeof(HandleObject<EngineKind>), 0, Py_TPFLAGS_DEFAULT,
                          engineSlots};

PyObject* engineType = nullptr;  // the module's, which is never unloaded

}  // namespace

bool isEngine(PyObject* object) {
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject*>(engineType)) != 0;
}

bool addEngineType(PyObject* module) {
  Ref type(PyType_FromSpec(&engineSpec));
  engineType = type.get();
  return type && PyModule_AddObjectRef(module, "Engine", type.get()) == 0 &&
         PyModule_AddIntMacro(module, KV_TRANSFER_WRITE) == 0 && PyModule_AddIntMacro(module, KV_TRANSFER_READ) == 0 &&
         PyModule_AddIntMacro(module, KV_TRANSFER_PROBE) == 0 &&
         PyModule_AddIntMacro(module, KV_TRANSFER_CONNECT) == 0 &&
         PyModule_AddIntMacro(module, KV_ENGINE_PORT_MIN) == 0 &&
         PyModule_AddIntMacro(module, KV_ENGINE_PORT_MAX) == 0 &&
         PyModule_AddIntMacro(module, KV_NOTIFY_BYTES_MAX) == 0;
}

}  // namespace kvpool::python
