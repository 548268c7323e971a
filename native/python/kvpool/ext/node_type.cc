// SPDX-License-Identifier: Apache-2.0
#include "failure.h"
#include "kvpool/kvpool.h"
#include "session.h"
#include "types.h"

namespace kvpool::python {
namespace {

using NodeSession = Session<kv_node, kv_node_destroy>;

struct NodeObject {
  PyObject_HEAD NodeSession* session;
};

NodeSession& sessionOf(PyObject* self) {
  return *reinterpret_cast<NodeObject*>(self)->session;
}

bool readParams(PyObject* arguments, kv_node_params& params) {
  unsigned long long segmentBytes = 0;
  if (PyArg_ParseTuple(arguments, "sszzzKIIII:Node", &params.masters, &params.advertise_host, &params.listen_host,
                       &params.node_id, &params.pool_id, &segmentBytes, &params.listen_port, &params.protocols,
                       &params.connect_timeout_ms, &params.transfer_timeout_ms) == 0) {
    return false;
  }
  params.segment_bytes = segmentBytes;
  return true;
}

PyObject* nodeNew(PyTypeObject* type, PyObject* arguments, PyObject*) {
  kv_node_params params{};
  params.struct_size = sizeof(params);
  params.flags = KV_NODE_TRANSIENT;
  if (!readParams(arguments, params)) return nullptr;
  kv_node* node = nullptr;
  char error[1024] = "";
  int32_t status = KV_OK;
  {
    WithoutGil unlocked;
    status = kv_node_start(&params, &node, error, sizeof(error));
  }
  if (status != KV_OK) {
    raiseFailure(status, error);
    return nullptr;
  }
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* self = allocate(type, 0);
  if (self == nullptr) {
    WithoutGil unlocked;
    kv_node_destroy(node);
    return nullptr;
  }
  reinterpret_cast<NodeObject*>(self)->session = new NodeSession(node);
  return self;
}

void nodeDealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  {
    WithoutGil unlocked;
    delete reinterpret_cast<NodeObject*>(self)->session;
  }
  auto release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  Py_DECREF(type);
}

PyObject* nodeClose(PyObject* self, PyObject*) {
  {
    WithoutGil unlocked;
    sessionOf(self).close();
  }
  Py_RETURN_NONE;
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
  const NodeSession::Call call(sessionOf(self));
  if (call.handle() == nullptr) {
    raiseFailure(KV_CLOSED, sessionOf(self).forked() ? "this storage node runs in the process before fork()"
                                                     : "the storage node is closed");
    return nullptr;
  }
  kv_node_stats stats{};
  stats.struct_size = sizeof(stats);
  const int32_t status = kv_node_get_stats(call.handle(), &stats);
  if (status == KV_OK) return asDict(stats);
  raiseFailure(status, nullptr);
  return nullptr;
}

PyMethodDef nodeMethods[] = {
    {"close", guarded<nodeClose>, METH_NOARGS, "close(): stops the node; its memory leaves the pool"},
    {"stats", guarded<nodeStats>, METH_NOARGS, "stats() -> counters as a dict"},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot nodeSlots[] = {
    {Py_tp_new, reinterpret_cast<void*>(nodeNew)},
    {Py_tp_dealloc, reinterpret_cast<void*>(nodeDealloc)},
    {Py_tp_methods, nodeMethods},
    {Py_tp_doc, const_cast<char*>("Node(masters, advertise_host, listen_host, node_id, pool_id, segment_bytes, "
                                  "listen_port, protocols, connect_ms, transfer_ms)")},
    {0, nullptr},
};

PyType_Spec nodeSpec = {"kvpool._kvpool.Node", sizeof(NodeObject), 0, Py_TPFLAGS_DEFAULT, nodeSlots};

}  // namespace

bool addNodeType(PyObject* module) {
  Ref type(PyType_FromSpec(&nodeSpec));
  return type && PyModule_AddObjectRef(module, "Node", type.get()) == 0;
}

}  // namespace kvpool::python
