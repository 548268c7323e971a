// SPDX-License-Identifier: Apache-2.0
#include "handle.h"
#include "types.h"

namespace kvpool::python {
namespace {

struct NodeKind {
  using Handle = kv_node;
  struct Extra {};
  static void destroy(kv_node* node) { kv_node_destroy(node); }
  static constexpr const char* kClosed = "the storage node is closed";
  static constexpr const char* kForked = "this storage node runs in the process before fork()";
};

bool readParams(PyObject* arguments, kv_node_params& params) {
  unsigned long long segmentBytes = 0;
  unsigned long long memoryOffset = 0;
  int trustedFabric = 0;
  if (PyArg_ParseTuple(arguments, "sszzzKIIIIIzKzp:Node", &params.masters, &params.advertise_host, &params.listen_host,
                       &params.node_id, &params.pool_id, &segmentBytes, &params.listen_port, &params.protocols,
                       &params.connect_timeout_ms, &params.transfer_timeout_ms, &params.idle_timeout_ms,
                       &params.memory_path, &memoryOffset, &params.tls_dir, &trustedFabric) == 0) {
    return false;
  }
  params.segment_bytes = segmentBytes;
  params.memory_offset = memoryOffset;
  params.flags = KV_NODE_TRANSIENT | (trustedFabric != 0 ? KV_NODE_TRUSTED_FABRIC : 0);
  return true;
}

PyObject* nodeNew(PyTypeObject* type, PyObject* arguments, PyObject*) {
  kv_node_params params{};
  params.struct_size = sizeof(params);
  if (!readParams(arguments, params)) return nullptr;
  return makeHandle<NodeKind>(
      type, [&](kv_node** out, char* error, uint32_t size) { return kv_node_start(&params, out, error, size); });
}

PyObject* asDict(const kv_node_stats& stats) {
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  return Py_BuildValue(
      "{s:I,s:K,s:K,s:K,s:K,s:K,s:I,s:I,s:I,s:O,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "listen_port", stats.listen_port,
      "incarnation", number(stats.incarnation), "capacity_bytes", number(stats.capacity_bytes), "used_bytes",
      number(stats.used_bytes), "objects", number(stats.objects), "epoch", number(stats.epoch), "masters_connected",
      stats.masters_connected, "masters_total", stats.masters_total, "clients_connected", stats.clients_connected,
      "fenced", stats.fenced != 0 ? Py_True : Py_False, "writes", number(stats.writes), "write_bytes",
      number(stats.write_bytes), "write_failures", number(stats.write_failures), "reads", number(stats.reads),
      "read_bytes", number(stats.read_bytes), "read_misses", number(stats.read_misses), "checksum_failures",
      number(stats.checksum_failures), "protocol_errors", number(stats.protocol_errors));
}

PyObject* nodeStats(PyObject* self, PyObject*) {
  const Entry<NodeKind> entry(self);
  if (!entry) return nullptr;
  kv_node_stats stats{};
  stats.struct_size = sizeof(stats);
  const int32_t status = kv_node_get_stats(entry.handle(), &stats);
  if (status == KV_OK) return asDict(stats);
  raiseFailure(status, nullptr);
  return nullptr;
}

PyMethodDef nodeMethods[] = {
    {"close", guarded<closeHandle<NodeKind>>, METH_NOARGS, "close(): stops the node; its memory leaves the pool"},
    {"stats", guarded<nodeStats>, METH_NOARGS, "stats() -> counters as a dict"},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot nodeSlots[] = {
    {Py_tp_new, reinterpret_cast<void*>(nodeNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(freeHandle<NodeKind>)},
    {Py_tp_methods, nodeMethods},
    {Py_tp_doc,
     const_cast<char*>("Node(masters, advertise_host, listen_host, node_id, pool_id, segment_bytes, "
                       "listen_port, protocols, connect_ms, transfer_ms, idle_ms, memory_path, memory_offset, tls_dir, "
                       "trusted_fabric)")},
    {0, nullptr},
};

PyType_Spec nodeSpec = {"kvpool._kvpool.Node", sizeof(HandleObject<NodeKind>), 0, Py_TPFLAGS_DEFAULT, nodeSlots};

}  // namespace

bool addNodeType(PyObject* module) {
  Ref type(PyType_FromSpec(&nodeSpec));
  return type && PyModule_AddObjectRef(module, "Node", type.get()) == 0;
}

}  // namespace kvpool::python
