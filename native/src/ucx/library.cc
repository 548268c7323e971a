// SPDX-License-Identifier: Apache-2.0
#include "ucx/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "base/symbols.h"

namespace kvpool::ucx {
namespace {

constexpr const char* kLibrary = "libucp.so.0";

/// The first function that it lacks.
std::string takeAll(void* library, Api& api) {
  Symbols symbols(library);
  symbols.take(api.init_version, "ucp_init_version");
  symbols.take(api.cleanup, "ucp_cleanup");
  symbols.take(api.worker_create, "ucp_worker_create");
  symbols.take(api.worker_destroy, "ucp_worker_destroy");
  symbols.take(api.worker_get_address, "ucp_worker_get_address");
  symbols.take(api.worker_release_address, "ucp_worker_release_address");
  symbols.take(api.worker_get_efd, "ucp_worker_get_efd");
  symbols.take(api.worker_arm, "ucp_worker_arm");
  symbols.take(api.worker_progress, "ucp_worker_progress");
  symbols.take(api.mem_map, "ucp_mem_map");
  symbols.take(api.mem_unmap, "ucp_mem_unmap");
  symbols.take(api.rkey_pack, "ucp_rkey_pack");
  symbols.take(api.rkey_buffer_release, "ucp_rkey_buffer_release");
  symbols.take(api.ep_create, "ucp_ep_create");
  symbols.take(api.ep_close_nbx, "ucp_ep_close_nbx");
  symbols.take(api.ep_rkey_unpack, "ucp_ep_rkey_unpack");
  symbols.take(api.rkey_destroy, "ucp_rkey_destroy");
  symbols.take(api.get_nbx, "ucp_get_nbx");
  symbols.take(api.put_nbx, "ucp_put_nbx");
  symbols.take(api.ep_flush_nbx, "ucp_ep_flush_nbx");
  symbols.take(api.request_check_status, "ucp_request_check_status");
  symbols.take(api.request_free, "ucp_request_free");
  symbols.take(api.status_string, "ucs_status_string");
  return symbols.missing().empty() ? std::string() : symbols.missing().front();
}

Status absent(const std::string& file, const std::string& why) {
  return {KV_IO, file + " cannot be used: " + why +
                     "; install UCX 1.10 or newer (Debian: apt-get install libucx0), or " + kLibraryVariable +
                     " names the file"};
}

}  // namespace

Result<const Api*> load() {
  static std::mutex mutex;
  static std::map<std::string, Api> loaded;
  const std::lock_guard lock(mutex);
  const char* named = std::getenv(kLibraryVariable);
  const std::string file = named == nullptr || *named == '\0' ? kLibrary : named;
  if (const auto known = loaded.find(file); known != loaded.end()) return &known->second;

  // UCX catches signals of faults as soon as it is loaded. They belong to the JVM, and to the guard of the segment.
  ::setenv("UCX_ERROR_SIGNALS", "", 0);
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return absent(file, why == nullptr ? "no reason was given" : why);
  }
  Api api{};
  if (const std::string missing = takeAll(library, api); !missing.empty()) {
    ::dlclose(library);
    return absent(file, "it has no function " + missing);
  }
  return &loaded.emplace(file, api).first->second;
}

}  // namespace kvpool::ucx
