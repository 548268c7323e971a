// SPDX-License-Identifier: Apache-2.0
// What src/ucx/api.h declares is what the installed UCX says.
#include <gtest/gtest.h>
#include <ucp/api/ucp.h>

#include "ucx/api.h"

namespace kvpool::ucx {
namespace {

#define SAME_PLACE(ours, field, theirs, name)                      \
  static_assert(offsetof(ours, field) == offsetof(theirs, name) && \
                sizeof(decltype(ours::field)) == sizeof(theirs::name))

static_assert(sizeof(StatusCode) == sizeof(ucs_status_t));
static_assert(kOk == UCS_OK && kInProgress == UCS_INPROGRESS && kBusy == UCS_ERR_BUSY);
static_assert(kCanceled == UCS_ERR_CANCELED && kLastStatus == UCS_ERR_LAST);
static_assert(kApiMajor == UCP_API_MAJOR && kApiMinor <= UCP_API_MINOR);

static_assert(sizeof(ContextParams) >= sizeof(ucp_params_t));
SAME_PLACE(ContextParams, fieldMask, ucp_params_t, field_mask);
SAME_PLACE(ContextParams, features, ucp_params_t, features);
static_assert(kParamFeatures == UCP_PARAM_FIELD_FEATURES);
static_assert(kFeatureRemoteMemory == UCP_FEATURE_RMA && kFeatureWakeup == UCP_FEATURE_WAKEUP);

static_assert(sizeof(WorkerParams) >= sizeof(ucp_worker_params_t));
SAME_PLACE(WorkerParams, fieldMask, ucp_worker_params_t, field_mask);
SAME_PLACE(WorkerParams, threadMode, ucp_worker_params_t, thread_mode);
static_assert(kWorkerThreadMode == UCP_WORKER_PARAM_FIELD_THREAD_MODE && kThreadsInTurn == UCS_THREAD_MODE_SERIALIZED);

static_assert(sizeof(MapParams) >= sizeof(ucp_mem_map_params_t));
SAME_PLACE(MapParams, fieldMask, ucp_mem_map_params_t, field_mask);
SAME_PLACE(MapParams, address, ucp_mem_map_params_t, address);
SAME_PLACE(MapParams, length, ucp_mem_map_params_t, length);
static_assert(kMapAddress == UCP_MEM_MAP_PARAM_FIELD_ADDRESS && kMapLength == UCP_MEM_MAP_PARAM_FIELD_LENGTH);

static_assert(sizeof(EndpointParams) >= sizeof(ucp_ep_params_t));
SAME_PLACE(EndpointParams, fieldMask, ucp_ep_params_t, field_mask);
SAME_PLACE(EndpointParams, address, ucp_ep_params_t, address);
SAME_PLACE(EndpointParams, errorMode, ucp_ep_params_t, err_mode);
SAME_PLACE(EndpointParams, errorHandler, ucp_ep_params_t, err_handler.cb);
SAME_PLACE(EndpointParams, errorArgument, ucp_ep_params_t, err_handler.arg);
static_assert(kEndpointAddress == UCP_EP_PARAM_FIELD_REMOTE_ADDRESS);
static_assert(kEndpointErrorMode == UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE);
static_assert(kEndpointErrorHandler == UCP_EP_PARAM_FIELD_ERR_HANDLER && kErrorsOfPeer == UCP_ERR_HANDLING_MODE_PEER);

static_assert(sizeof(RequestParams) >= sizeof(ucp_request_param_t));
SAME_PLACE(RequestParams, fieldMask, ucp_request_param_t, op_attr_mask);
SAME_PLACE(RequestParams, flags, ucp_request_param_t, flags);
SAME_PLACE(RequestParams, request, ucp_request_param_t, request);
SAME_PLACE(RequestParams, done, ucp_request_param_t, cb.send);
SAME_PLACE(RequestParams, datatype, ucp_request_param_t, datatype);
SAME_PLACE(RequestParams, userData, ucp_request_param_t, user_data);
static_assert(kRequestCallback == UCP_OP_ATTR_FIELD_CALLBACK && kRequestUserData == UCP_OP_ATTR_FIELD_USER_DATA);
static_assert(kRequestFlags == UCP_OP_ATTR_FIELD_FLAGS && kCloseByForce == UCP_EP_CLOSE_FLAG_FORCE);

TEST(Header, PointersThatAreStatusesAreReadAsUcxReadsThem) {
  for (const intptr_t code : {intptr_t{-1}, intptr_t{-6}, intptr_t{-99}, intptr_t{-100}, intptr_t{-101}, intptr_t{0}}) {
    void* pointer = reinterpret_cast<void*>(code);  // NOLINT(performance-no-int-to-ptr)
    EXPECT_EQ(isError(pointer), UCS_PTR_IS_ERR(pointer)) << code;
  }
  int request = 0;
  EXPECT_FALSE(isError(&request));
}

}  // namespace
}  // namespace kvpool::ucx
