// SPDX-License-Identifier: Apache-2.0
// The function of enrol.h.
#include "abi/border.h"
#include "kvpool/enrol.h"
#include "secure/enrolment.h"

int32_t kv_enrol_request(const char* token, char* private_key, uint32_t private_key_size, char* query,
                         uint32_t query_size, char* err, uint32_t err_size) {
  using namespace kvpool;
  return abi::guarded(err, err_size, [&]() -> int32_t {
    if (token == nullptr || private_key == nullptr || query == nullptr) {
      return abi::report({KV_INVALID_ARGUMENT, "token, private_key or query is NULL"}, err, err_size);
    }
    const Result<secure::EnrolmentRequest> request = secure::EnrolmentRequest::make(token);
    if (!request.ok()) return abi::report(request.status(), err, err_size);
    const secure::EnrolmentRequest& made = request.value();
    if (made.privateKey.size() >= private_key_size || made.query.size() >= query_size) {
      return abi::report({KV_BUFFER_TOO_SMALL, "give it KV_ENROL_KEY_BYTES and KV_ENROL_QUERY_BYTES"}, err, err_size);
    }
    abi::writeText(made.privateKey, private_key, private_key_size);
    abi::writeText(made.query, query, query_size);
    return KV_OK;
  });
}
