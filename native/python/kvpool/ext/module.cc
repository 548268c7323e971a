// SPDX-License-Identifier: Apache-2.0
// The module kvpool._kvpool: libkvpool's client, transient node and transfer engine, without policy. The package kvpool
// is the API.
#include <dlfcn.h>

#include "failure.h"
#include "kvpool/enrol.h"
#include "kvpool/kvpool.h"
#include "kvpool/sbom.h"
#include "types.h"

namespace kvpool::python {
namespace {

constexpr uint32_t kAbi = 1;  // what this module was written against

const char* libraryPath() {
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(&kv_abi_version), &info) != 0;
  return found && info.dli_fname != nullptr ? info.dli_fname : "libkvpool.so";
}

// Going on with another ABI would read wrong fields, so the import itself fails.
bool checkAbi() {
  const uint32_t found = kv_abi_version();
  if (found == kAbi) return true;
  PyErr_Format(PyExc_ImportError,
               "kvpool was built for C ABI %u of libkvpool, but %s speaks %u; reinstall the wheel: "
               "pip install --force-reinstall kvpool",
               kAbi, libraryPath(), found);
  return false;
}

PyObject* moduleVersions(PyObject*, PyObject*) {
  kv_versions versions{};
  versions.struct_size = sizeof(versions);
  const int32_t status = kv_get_versions(&versions);
  if (status != KV_OK) {
    raiseFailure(status, nullptr);
    return nullptr;
  }
  return Py_BuildValue("{s:(II),s:(II),s:(II)}", "wire", versions.wire_min, versions.wire_max, "layout",
                       versions.layout_min, versions.layout_max, "abi", versions.abi_min, versions.abi_max);
}

PyObject* moduleSbom(PyObject*, PyObject*) {
  return PyUnicode_FromString(kv_sbom());
}

PyObject* moduleStatusName(PyObject*, PyObject* arguments) {
  int status = 0;
  if (PyArg_ParseTuple(arguments, "i:status_name", &status) == 0) return nullptr;
  return PyUnicode_FromString(kv_status_name(status));
}

PyObject* moduleStatusText(PyObject*, PyObject* arguments) {
  int status = 0;
  if (PyArg_ParseTuple(arguments, "i:status_text", &status) == 0) return nullptr;
  return PyUnicode_FromString(kv_status_text(status));
}

PyObject* moduleLogLevel(PyObject*, PyObject* arguments) {
  int level = 0;
  if (PyArg_ParseTuple(arguments, "i:log_level", &level) == 0) return nullptr;
  const int32_t status = kv_log_level(level);
  if (status == KV_OK) Py_RETURN_NONE;
  raiseFailure(status, nullptr);
  return nullptr;
}

PyObject* moduleEnrolRequest(PyObject*, PyObject* arguments) {
  const char* token = nullptr;
  if (PyArg_ParseTuple(arguments, "s:enrol_request", &token) == 0) return nullptr;
  char key[KV_ENROL_KEY_BYTES] = "";
  char query[KV_ENROL_QUERY_BYTES] = "";
  char error[512] = "";
  const int32_t status = kv_enrol_request(token, key, sizeof(key), query, sizeof(query), error, sizeof(error));
  if (status == KV_OK) return Py_BuildValue("(ss)", key, query);
  raiseFailure(status, error);
  return nullptr;
}

PyMethodDef moduleMethods[] = {
    {"sbom", guarded<moduleSbom>, METH_NOARGS, "sbom() -> CycloneDX JSON"},
    {"versions", guarded<moduleVersions>, METH_NOARGS, "versions() -> {'wire': (min, max), 'layout': ..., 'abi': ...}"},
    {"status_name", guarded<moduleStatusName>, METH_VARARGS, "status_name(status) -> 'KV_NOT_FOUND'"},
    {"status_text", guarded<moduleStatusText>, METH_VARARGS, "status_text(status) -> a sentence"},
    {"log_level", guarded<moduleLogLevel>, METH_VARARGS, "log_level(0 off .. 4 debug): what goes to stderr"},
    {"enrol_request", guarded<moduleEnrolRequest>, METH_VARARGS,
     "enrol_request(token) -> (a new private key in PEM, the query of POST /api/v1/enrol)"},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "kvpool._kvpool",
                          "libkvpool for Python.",
                          -1,
                          moduleMethods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

bool fill(PyObject* module) {
  return addFailureType(module) && addClientType(module) && addNodeType(module) && addEngineType(module) &&
         PyModule_AddStringConstant(module, "library_path", libraryPath()) == 0 &&
         PyModule_AddIntMacro(module, KV_BATCH_FORCE) == 0 && PyModule_AddIntMacro(module, KV_BATCH_UPSERT) == 0 &&
         PyModule_AddIntMacro(module, KV_BATCH_REUSE) == 0 && PyModule_AddIntMacro(module, KV_BATCH_GROUPS) == 0 &&
         PyModule_AddIntMacro(module, KV_RETAIN_MS_MAX) == 0 && PyModule_AddIntMacro(module, KV_PIN_SOFT) == 0 &&
         PyModule_AddIntMacro(module, KV_PIN_HARD) == 0 && PyModule_AddIntMacro(module, KV_PIN_KEEP_SOFT) == 0 &&
         PyModule_AddIntMacro(module, KV_SOFT_PIN_MS_MAX) == 0 && PyModule_AddIntMacro(module, KV_KEY_BYTES_MAX) == 0 &&
         PyModule_AddIntMacro(module, KV_PARTS_MAX) == 0 && PyModule_AddIntMacro(module, KV_PROTOCOL_TCP) == 0 &&
         PyModule_AddIntMacro(module, KV_PROTOCOL_SHM) == 0 && PyModule_AddIntMacro(module, KV_PROTOCOL_UCX) == 0 &&
         PyModule_AddIntMacro(module, KV_PROTOCOL_ASCEND) == 0;
}

}  // namespace

static PyObject* makeModule() {
  if (!checkAbi()) return nullptr;
  Ref module(PyModule_Create(&definition));
  return module && fill(module.get()) ? module.release() : nullptr;
}

}  // namespace kvpool::python

// Python looks for this name.  NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" __attribute__((visibility("default"))) PyObject* PyInit__kvpool() {
  return kvpool::python::makeModule();
}
