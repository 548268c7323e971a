// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "scene.h"

namespace fake_ascend {
namespace {

class FakeAsync : public Scene {
 protected:
  FakeAsync() : own_(one_.device(kMega1)), remote_(other_.device(kMega1)) { EXPECT_EQ(one_.connect(other_), kOk); }

  adxl::Status submit(Node& node, const char* own, adxl::TransferReq& request) {
    return node.engine.TransferAsync(other_.name(), adxl::WRITE, {{addressOf(own), addressOf(remote_), kMega1}}, {},
                                     request);
  }
  adxl::Status submit(adxl::TransferReq& request) { return submit(one_, own_, request); }

  adxl::Status look(adxl::TransferReq request, adxl::TransferStatus& status) {
    return one_.engine.GetTransferStatus(request, status);
  }

  adxl::Status wait(Node& node, adxl::TransferReq request, adxl::TransferStatus& status) {
    while (true) {
      const adxl::Status result = node.engine.GetTransferStatus(request, status);
      if (result != kOk || status != adxl::TransferStatus::WAITING) return result;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  adxl::Status wait(adxl::TransferReq request, adxl::TransferStatus& status) { return wait(one_, request, status); }

  Node one_;
  Node other_;
  char* own_;
  char* remote_;
  adxl::TransferReq request_ = nullptr;
  adxl::TransferStatus status_ = adxl::TransferStatus::FAILED;
};

TEST_F(FakeAsync, WaitsThenCompletesThenIsConsumed) {
  std::memset(own_, 5, kMega1);
  control("hang transfer 1");
  ASSERT_EQ(submit(request_), kOk);
  EXPECT_EQ(look(request_, status_), kOk);
  EXPECT_EQ(status_, adxl::TransferStatus::WAITING);
  EXPECT_EQ(remote_[0], 0);
  control("");
  EXPECT_EQ(wait(request_, status_), kOk);
  EXPECT_EQ(status_, adxl::TransferStatus::COMPLETED);
  EXPECT_EQ(std::memcmp(own_, remote_, kMega1), 0);
  EXPECT_EQ(look(request_, status_), kParamInvalidStatus) << "seen before";
  EXPECT_EQ(fake_ascend_live("request"), 0U);
}

TEST_F(FakeAsync, AFailureIsSeenOnce) {
  control("fail transfer 1 503900");
  ASSERT_EQ(submit(request_), kOk) << "the submission is fine";
  EXPECT_EQ(wait(request_, status_), kFailedStatus);
  EXPECT_EQ(status_, adxl::TransferStatus::FAILED);
  EXPECT_EQ(look(request_, status_), kParamInvalidStatus);
}

TEST_F(FakeAsync, ASubmissionFailsByItself) {
  control("fail TransferAsync 1 203900");
  EXPECT_EQ(submit(request_), kResourceExhaustedStatus);
  EXPECT_EQ(submit(request_), kOk);
  EXPECT_EQ(wait(request_, status_), kOk);
}

TEST_F(FakeAsync, ATimeoutIsAStateOfItsOwn) {
  control("hang transfer 1\nset async_timeout_ms 30");
  ASSERT_EQ(submit(request_), kOk);
  EXPECT_EQ(wait(request_, status_), kTimeoutStatus);
  EXPECT_EQ(status_, adxl::TransferStatus::TIMEOUT);
}

TEST_F(FakeAsync, WithoutItsChannelARequestHasFailed) {
  control("hang transfer 1");
  ASSERT_EQ(submit(request_), kOk);
  EXPECT_EQ(one_.disconnect(other_), kOk);
  EXPECT_EQ(look(request_, status_), kNotConnectedStatus);
  EXPECT_EQ(status_, adxl::TransferStatus::FAILED);
  EXPECT_EQ(look(request_, status_), kParamInvalidStatus);
}

TEST_F(FakeAsync, FinalizeEndsWhatIsPending) {
  control("hang transfer *");
  ASSERT_EQ(submit(request_), kOk);
  one_.engine.Finalize();
  EXPECT_EQ(look(request_, status_), kFailedStatus);
  EXPECT_EQ(status_, adxl::TransferStatus::FAILED);
  EXPECT_EQ(fake_ascend_live("request"), 0U);
}

TEST_F(FakeAsync, ABufferPoolHasNoAsynchronousTransfers) {
  Node pool(Options{});
  const char* own = pool.device(kMega1);
  ASSERT_EQ(pool.connect(other_), kOk);
  EXPECT_EQ(submit(pool, own, request_), kUnsupportedStatus);
}

TEST_F(FakeAsync, AutoConnectConnectsAtSubmission) {
  Node automatic(autoConnect());
  const char* own = automatic.device(kMega1);
  ASSERT_EQ(submit(automatic, own, request_), kOk);
  EXPECT_EQ(wait(automatic, request_, status_), kOk);
  EXPECT_EQ(status_, adxl::TransferStatus::COMPLETED);
  control("fail transfer 1 503900");
  ASSERT_EQ(submit(automatic, own, request_), kOk);
  EXPECT_NE(wait(automatic, request_, status_), kOk);
  EXPECT_EQ(status_, adxl::TransferStatus::FAILED);
  while (automatic.disconnect(other_) != kNotConnectedStatus) {
  }
}

TEST_F(FakeAsync, AHundredAreUnderWayAtOnce) {
  constexpr size_t kPiece = 1000;
  std::vector<adxl::TransferReq> requests(100);
  std::memset(own_, 3, kMega1);
  control("hang transfer *");
  for (size_t i = 0; i < requests.size(); ++i)
    ASSERT_EQ(one_.engine.TransferAsync(other_.name(), adxl::WRITE,
                                        {{addressOf(own_), addressOf(remote_) + i * kPiece, kPiece}}, {}, requests[i]),
              kOk);
  EXPECT_EQ(fake_ascend_live("request"), 100U);
  control("");
  for (adxl::TransferReq request : requests) {
    EXPECT_EQ(wait(request, status_), kOk);
    EXPECT_EQ(status_, adxl::TransferStatus::COMPLETED);
  }
  EXPECT_EQ(std::memcmp(own_, remote_, 100 * kPiece), 0);
}

}  // namespace
}  // namespace fake_ascend
