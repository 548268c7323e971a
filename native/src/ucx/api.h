// SPDX-License-Identifier: Apache-2.0
// The part of UCX's C interface (UCP) that kvpool calls, declared here so that neither building nor loading libkvpool
// needs UCX. As in UCX 1.13.1; a test compares every number and layout with the installed header. UCX keeps structs
// readable across versions by their masks of valid fields, so only the leading fields that are set here are named.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvpool::ucx {

// Opaque to us.
struct ContextHandle;
struct WorkerHandle;
struct EndpointHandle;
struct MemoryHandle;
struct KeyHandle;
struct AddressBytes;

using StatusCode = int8_t;    // ucs_status_t, packed into one byte
using StatusPointer = void*;  // null: done at once; near the end of the address space: a status; else a request

inline constexpr StatusCode kOk = 0;
inline constexpr StatusCode kInProgress = 1;
inline constexpr StatusCode kBusy = -15;
inline constexpr StatusCode kCanceled = -16;
inline constexpr StatusCode kLastStatus = -100;

inline bool isError(StatusPointer pointer) {
  return reinterpret_cast<uintptr_t>(pointer) >= static_cast<uintptr_t>(static_cast<intptr_t>(kLastStatus));
}

/// The version of the interface that is asked for: the first one with every function below.
inline constexpr unsigned kApiMajor = 1;
inline constexpr unsigned kApiMinor = 10;

inline constexpr uint64_t kParamFeatures = 1;
inline constexpr uint64_t kFeatureRemoteMemory = 1 << 1;
inline constexpr uint64_t kFeatureWakeup = 1 << 4;
struct ContextParams {  // begin of ucp_params_t
  uint64_t fieldMask = 0;
  uint64_t features = 0;
  uint8_t rest[64] = {};
};

inline constexpr uint64_t kWorkerThreadMode = 1;
inline constexpr int32_t kThreadsInTurn = 1;
struct WorkerParams {  // begin of ucp_worker_params_t
  uint64_t fieldMask = 0;
  int32_t threadMode = 0;
  uint8_t rest[188] = {};
};

inline constexpr uint64_t kMapAddress = 1;
inline constexpr uint64_t kMapLength = 1 << 1;
struct MapParams {  // begin of ucp_mem_map_params_t
  uint64_t fieldMask = 0;
  void* address = nullptr;
  size_t length = 0;
  uint8_t rest[16] = {};
};

inline constexpr uint64_t kEndpointAddress = 1;
inline constexpr uint64_t kEndpointErrorMode = 1 << 1;
inline constexpr uint64_t kEndpointErrorHandler = 1 << 2;
inline constexpr int32_t kErrorsOfPeer = 1;
struct EndpointParams {  // begin of ucp_ep_params_t
  uint64_t fieldMask = 0;
  const AddressBytes* address = nullptr;
  int32_t errorMode = 0;
  void (*errorHandler)(void* argument, EndpointHandle* endpoint, StatusCode status) = nullptr;
  void* errorArgument = nullptr;
  uint8_t rest[64] = {};
};

inline constexpr uint32_t kRequestCallback = 1 << 1;
inline constexpr uint32_t kRequestUserData = 1 << 2;
inline constexpr uint32_t kRequestFlags = 1 << 4;
inline constexpr uint32_t kCloseByForce = 1;
struct RequestParams {  // ucp_request_param_t
  uint32_t fieldMask = 0;
  uint32_t flags = 0;
  void* request = nullptr;
  void (*done)(void* request, StatusCode status, void* userData) = nullptr;
  uint64_t datatype = 0;
  void* userData = nullptr;
  uint8_t rest[32] = {};
};

/// The functions, under the names they have in UCX without their prefix. Tests put others in their place.
struct Api {
  // ucp_
  StatusCode (*init_version)(unsigned major, unsigned minor, const ContextParams*, const void* config, ContextHandle**);
  void (*cleanup)(ContextHandle*);
  StatusCode (*worker_create)(ContextHandle*, const WorkerParams*, WorkerHandle**);
  void (*worker_destroy)(WorkerHandle*);
  StatusCode (*worker_get_address)(WorkerHandle*, AddressBytes**, size_t*);
  void (*worker_release_address)(WorkerHandle*, AddressBytes*);
  StatusCode (*worker_get_efd)(WorkerHandle*, int*);
  StatusCode (*worker_arm)(WorkerHandle*);
  unsigned (*worker_progress)(WorkerHandle*);
  StatusCode (*mem_map)(ContextHandle*, const MapParams*, MemoryHandle**);
  StatusCode (*mem_unmap)(ContextHandle*, MemoryHandle*);
  StatusCode (*rkey_pack)(ContextHandle*, MemoryHandle*, void** buffer, size_t*);
  void (*rkey_buffer_release)(void* buffer);
  StatusCode (*ep_create)(WorkerHandle*, const EndpointParams*, EndpointHandle**);
  StatusPointer (*ep_close_nbx)(EndpointHandle*, const RequestParams*);
  StatusCode (*ep_rkey_unpack)(EndpointHandle*, const void* buffer, KeyHandle**);
  void (*rkey_destroy)(KeyHandle*);
  StatusPointer (*get_nbx)(EndpointHandle*, void* to, size_t, uint64_t remote, KeyHandle*, const RequestParams*);
  StatusPointer (*put_nbx)(EndpointHandle*, const void* from, size_t, uint64_t remote, KeyHandle*,
                           const RequestParams*);
  StatusPointer (*ep_flush_nbx)(EndpointHandle*, const RequestParams*);
  StatusCode (*request_check_status)(void* request);
  void (*request_free)(void* request);
  // ucs_
  const char* (*status_string)(StatusCode);
};

}  // namespace kvpool::ucx
