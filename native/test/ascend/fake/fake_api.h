// SPDX-License-Identifier: Apache-2.0
// How tests steer the fake of CANN and look into it. These functions are in libascendcl.so; its other libraries use
// them too.
//
// The fake obeys rules and settings from three places: the text given to fake_ascend_control(), the file that the
// environment variable FAKE_ASCEND_CONTROL names, and the environment. The file is read again at each call, so that a
// test changes what a running process meets. Of a setting that is given in several places, the first place in this
// order wins; rules add up.
//
// One statement a line (in FAKE_ASCEND_RULES: separated by ';'):
//
//   set NAME VALUE                     a setting; also FAKE_ASCEND_NAME=VALUE in the environment (name in capitals)
//   fail FUNCTION NTH STATUS           the call does nothing and returns STATUS
//   partial FUNCTION NTH BYTES STATUS  moves the first BYTES bytes, then returns STATUS (only: transfer); of
//                                      aclrtMemcpyBatch and aclrtMemcpyBatchAsync the first BYTES copies, and names the
//                                      one after them
//   delay FUNCTION NTH MICROSECONDS    the call takes that much longer
//   hang FUNCTION NTH                  the call waits for as long as the rule stands, or until its timeout
//   # remark                           to the end of the line
//
// NTH is a number (that call, counted from when the rule appeared), a number with '+' (that call and all later ones) or
// '*'. A rule is known by its line, remark included: a line that disappears and comes back, or comes with another
// remark, counts from 1.
//
// FUNCTION is the name of an ACL function, of a method of AdxlEngine or Hixl (Connect, TransferSync...), or one of
//   stream     a copy as the worker of a stream executes it
//   transfer   the movement of bytes of a TransferSync or of an asynchronous request
//   listener   a request that another engine sent, as this engine serves it
// Counted besides, but not subject to rules: heartbeat, one that another engine sent.
//
// Settings, with what holds without them:
//   devices 1                      devices of the machine; ASCEND_RT_VISIBLE_DEVICES chooses among them
//   physical_ids 0,1...            physical id of each device of the machine
//   closed_devices (none)          devices that cannot be opened (507033)
//   soc Ascend910B3                also says whether the chip copies in batches: Ascend910B, Ascend910_93, Ascend950
//   hdk 26.0                       driver: below 25.5 it maps 20 GiB of the host, and has no fabric
//   memcpy_batch 1                 0: aclrtMemcpyBatch and aclrtMemcpyBatchAsync return 207000
//   unknown_pointer unregistered   error: aclrtPointerGetAttributes returns 107000 for memory it does not know
//   device_memory 64 GiB           bytes of each device
//   hidden_memory 0                1: aclrtMalloc gives memory that the processor cannot read, as NPUs do; only ACL's
//                                  copies reach it, and no engine
//   free_host (no limit)           bytes that aclrtMallocHost finds
//   free_1g, free_2m (no limit)    bytes that aclrtMallocPhysical finds in pages of 1 GiB, of 2 MiB
//   auto_connect_capability 1, client_server_capability 1     answers of GetCapability
//   regions 256, links 512         registered regions and channels of one engine
//   device_bytes 50 GiB, host_bytes 1 TiB (20 GiB with an old driver)      registered bytes of one engine
//   strict_memory 1                0: RegisterMem does not compare the type with what ACL knows of the address
//   unknown_memory_status 503900   of a transfer that touches memory outside what was registered at Connect
//   hccs_host_status 503900        of a transfer that touches host memory of a remote engine by HCCS
//   bandwidth (no limit)           bytes per second of each transfer
//   unreachable (none)             addresses ip:port of engines that no connection reaches
//   heartbeat_ms 10000, silent_ms 120000     client's heartbeat, and when a server drops a silent channel
//   async_timeout_ms (none)        after which an asynchronous request ends with TIMEOUT
//
// GetTransferStatus of a request that still waits is neither counted nor written.
//
// FAKE_ASCEND_LEDGER names a file to which each call appends a line when it ends: "PID TID FUNCTION STATUS TEXT";
// aclFinalize adds "PID TID leak COUNT KIND" for each kind of object that is still there.
//
// Where the facts about CANN do not say what happens, the fake does this, which hardware may contradict:
// - More regions, bytes or links than the limits: RESOURCE_EXHAUSTED (203900). An engine initialized twice, used before
//   or after that, or on a thread without a context: FAILED (503900).
// - An asynchronous transfer of an engine with a buffer pool: UNSUPPORTED (103905). One that failed: GetTransferStatus
//   returns the status of the transfer, with FAILED, or with TIMEOUT for 103901.
// - Descriptions of memory name a device by the driver's number, which aclrtGetLogicDevIdByUserDevId tells;
//   attributes of batches by ACL's number. Copies of memory of another device than that of the context, and access of
//   one: 107000.
// - A device that is not visible: 107000. Every ACL function that takes memory or a stream needs a context.
// - Alignment: by HCCS the address of device memory to 2 MiB; by fabric address and size of host memory to 1 GiB,
//   and it must have been mapped (aclrtMapMem or MallocMem). An engine with a buffer pool and fabric: PARAM_INVALID.
// - Physical memory is not freed, and addresses are not released, while they are mapped: 107000.
// - The pages of aclrtMallocHost are taken by the policy of memory of the calling thread (fake_ascend_numa).
// - A set without copies in batches and without the driver's numbers (cann-8.3): from which version on CANN has them is
//   not known.
// - aclrtMemcpyBatchAsync reads its arguments before it returns. That and aclrtMemcpyAsync take any memory of the host,
//   and return only after the copy where it is not ACL's.
// - After aclrtStreamAbort a stream has no error, and can be used.
// Not there: SendNotify and GetNotifies, the further methods of Hixl, the C interface of libcann_hixl.so. Which process
// may import a key is not enforced, and handles of fabric memory reach processes of the same machine only.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// What the rules say about one call.
struct fake_ascend_order {
  uint64_t delay_us;
  uint64_t hang;  ///< 0, or for fake_ascend_hangs()
  uint64_t partial_bytes;
  uint32_t partial;  ///< 1: move partial_bytes before failing with status
  uint32_t status;   ///< 0, or what the call returns
};

#define FAKE_ASCEND_API __attribute__((visibility("default")))

// For tests.
/// Replaces the rules and settings given in this process; each rule counts from 1.
FAKE_ASCEND_API void fake_ascend_control(const char* text);
/// Calls of a function that ended, since the process began or since fake_ascend_reset().
FAKE_ASCEND_API uint64_t fake_ascend_calls(const char* function);
FAKE_ASCEND_API uint64_t fake_ascend_failures(const char* function);
/// Objects of a kind that exist: context, stream, device_memory, host_memory, host_registration, physical, reservation,
/// mapping, import, engine, channel, region, request.
FAKE_ASCEND_API uint64_t fake_ascend_live(const char* kind);
/// Objects of all kinds that existed when aclFinalize was last called.
FAKE_ASCEND_API uint64_t fake_ascend_leaks();
/// The NUMA node that memory of aclrtMallocHost was asked for of the kernel; -1: none.
FAKE_ASCEND_API int fake_ascend_numa(const void* pointer);
/// Forgets counts of calls and what fake_ascend_control() said. Objects stay.
FAKE_ASCEND_API void fake_ascend_reset();

// For the fake's other libraries.
FAKE_ASCEND_API void fake_ascend_begin(const char* function, struct fake_ascend_order* order);
FAKE_ASCEND_API void fake_ascend_end(const char* function, uint32_t status, const char* text);
FAKE_ASCEND_API int fake_ascend_hangs(uint64_t hang);
FAKE_ASCEND_API uint64_t fake_ascend_number(const char* setting, uint64_t otherwise);
/// Copies the value with its zero; returns 0 if it is not set or too long.
FAKE_ASCEND_API size_t fake_ascend_text(const char* setting, char* buffer, size_t size);
FAKE_ASCEND_API void fake_ascend_count(const char* kind, int64_t change);
FAKE_ASCEND_API int fake_ascend_has_context();
/// What ACL knows of a range: 0 host, 1 device, 2 unknown, 3 crosses the end of an allocation; 4 more when it is
/// physical memory that aclrtMapMem put there.
FAKE_ASCEND_API int fake_ascend_locate(const void* pointer, size_t size);

}  // extern "C"
