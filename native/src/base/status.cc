// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <array>
#include <system_error>

namespace kvpool {
namespace {

struct StatusEntry {
  int32_t code;
  const char* name;
  const char* text;
};

#define ENTRY(code, text) \
  StatusEntry {           \
    code, #code, text     \
  }
constexpr std::array kEntries = {
    ENTRY(KV_OK, "Done."),
    ENTRY(KV_NOT_FOUND, "No object has this key."),
    ENTRY(KV_EXISTS, "An object has this key already; objects are immutable."),
    ENTRY(KV_BUSY, "Another client is putting this key; try again when it is done."),
    ENTRY(KV_HAS_LEASE, "A reader may still use the object; try again after its lease, or force it."),
    ENTRY(KV_LEASE_EXPIRED, "The read outlived its lease and the object is gone; look it up again."),
    ENTRY(KV_UNAVAILABLE, "The object is known, but nodes that hold it, or most storage nodes, are away."),
    ENTRY(KV_INVALID_KEY, "A key is 1 to 4096 bytes of UTF-8, the first not zero, less the bytes of a tenant's name."),
    ENTRY(KV_TOO_LARGE, "The value is larger than any segment of the pool."),
    ENTRY(KV_CHECKSUM, "The bytes do not match their CRC-32C."),
    ENTRY(KV_BUFFER_TOO_SMALL, "The buffer is too small; result_length says what is needed."),
    ENTRY(KV_INVALID_ARGUMENT, "An argument is out of range."),
    ENTRY(KV_NOT_REGISTERED, "The buffer lies outside every registered region."),
    ENTRY(KV_TIMEOUT, "The time given for the call is over."),
    ENTRY(KV_CLOSED, "The handle is closed."),
    ENTRY(KV_QUEUE_FULL, "A bound was reached; try again later."),
    ENTRY(KV_TOO_OLD, "Library and caller do not fit; compare kv_abi_version with the header's."),
    ENTRY(KV_NO_SPACE, "The pool has no room for the value."),
    ENTRY(KV_QUOTA_EXCEEDED, "The tenant is at its ceiling and none of its objects may go, or it may pin no more."),
    ENTRY(KV_CONNECT_FAILED, "The peer could not be reached."),
    ENTRY(KV_TRANSFER_FAILED, "The connection broke or made no progress during a transfer."),
    ENTRY(KV_PROTOCOL, "The peer sent something that is not the kvpool protocol."),
    ENTRY(KV_IDENTITY_MISMATCH, "The peer is not the one that was meant, or belongs to another pool."),
    ENTRY(KV_VERSION_MISMATCH, "The two sides have no common version."),
    ENTRY(KV_NOT_PERMITTED, "The certificate of this process, or what the leader granted, does not allow it."),
    ENTRY(KV_NOT_LEADER, "This master does not lead; ask the leader."),
    ENTRY(KV_RECOVERING, "The leader is still collecting what the nodes hold; try again soon."),
    ENTRY(KV_STALE_EPOCH, "A newer leader has taken over; ask it for a new grant."),
    ENTRY(KV_NOT_FENCED, "The node has not met the leader of this epoch yet; try again soon."),
    ENTRY(KV_SEGMENT_IN_USE, "Another process uses this segment file."),
    ENTRY(KV_SEGMENT_FOREIGN, "The file is no segment, or belongs to another pool or node."),
    ENTRY(KV_SEGMENT_LAYOUT, "The segment file has a layout version this library does not know."),
    ENTRY(KV_OUT_OF_MEMORY, "There is not enough memory."),
    ENTRY(KV_IO, "The operating system refused an operation."),
    ENTRY(KV_INTERNAL, "A defect of kvpool; please report it."),
};
#undef ENTRY

const StatusEntry* find(int32_t code) {
  for (const StatusEntry& entry : kEntries) {
    if (entry.code == code) return &entry;
  }
  return nullptr;
}

}  // namespace

const char* statusName(int32_t code) {
  const StatusEntry* entry = find(code);
  return entry == nullptr ? "KV_UNKNOWN" : entry->name;
}

const char* statusText(int32_t code) {
  const StatusEntry* entry = find(code);
  return entry == nullptr ? "A status this library does not know." : entry->text;
}

Status systemError(const std::string& what, int errorNumber) {
  return {KV_IO, what + ": " + std::generic_category().message(errorNumber)};
}

}  // namespace kvpool
