// SPDX-License-Identifier: Apache-2.0
#include "secure/proof_schedule.h"

#include <gtest/gtest.h>

#include <ctime>

#include "certificate_authority.h"

namespace kvpool::secure {
namespace {

using test::CertificateAuthority;

constexpr int64_t kHourMs = 3'600'000;

class ProofScheduleTest : public testing::Test {
 protected:
  [[nodiscard]] bool isDue(const std::shared_ptr<const Credentials>& own) {
    return schedule_.isDue(now_, unixMs_ + now_, own);
  }
  bool answered(bool taken) { return schedule_.answered(now_, unixMs_ + now_, taken); }
  /// In how many milliseconds a proof is due.
  int64_t dueIn(const std::shared_ptr<const Credentials>& own) {
    const int64_t from = now_;
    while (!isDue(own)) {
      if (now_ - from > kHourMs) return INT64_MAX;
      now_ += 10;
    }
    return now_ - from;
  }

  const CertificateAuthority authority_;
  const std::shared_ptr<const Credentials> first_ = authority_.credentials("node/a");
  const std::shared_ptr<const Credentials> second_ = authority_.credentials("node/a");
  const std::shared_ptr<const Credentials> third_ = authority_.credentials("node/a");
  const int64_t unixMs_ = int64_t{::time(nullptr)} * 1000;
  int64_t now_ = 1000;
  ProofSchedule schedule_{first_, 1};
};

TEST_F(ProofScheduleTest, WhatTheOtherEndKnowsIsNotProven) {
  EXPECT_EQ(dueIn(first_), INT64_MAX);
}

TEST_F(ProofScheduleTest, OtherRootsAloneAreNotProven) {
  PemTriple triple = authority_.issue("node/a");
  schedule_ = ProofSchedule(Credentials::parse(triple, "DIR").value(), 1);
  triple.roots += CertificateAuthority("next root").roots();
  EXPECT_EQ(dueIn(Credentials::parse(triple, "DIR").value()), INT64_MAX);
}

TEST_F(ProofScheduleTest, ANewerCertificateIsProvenOnceAndSoon) {
  EXPECT_LE(dueIn(second_), ProofSchedule::kSpreadMsMax);
  EXPECT_EQ(dueIn(second_), INT64_MAX) << "its answer has not come";
  EXPECT_TRUE(answered(true));
  EXPECT_EQ(dueIn(second_), INT64_MAX);
  EXPECT_FALSE(answered(true)) << "to no proof";
}

TEST_F(ProofScheduleTest, ManyProcessesDoNotProveInTheSameMoment) {
  int64_t least = INT64_MAX;
  int64_t most = 0;
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    schedule_ = ProofSchedule(first_, seed * 2'654'435'761U);
    const int64_t due = dueIn(second_);
    least = std::min(least, due);
    most = std::max(most, due);
  }
  EXPECT_GT(most - least, ProofSchedule::kSpreadMsMax * 3 / 4);
}

TEST_F(ProofScheduleTest, OneThatWasNotTakenIsProvenAgainBehindAPause) {
  ASSERT_LT(dueIn(second_), INT64_MAX);
  EXPECT_TRUE(answered(false));
  const int64_t due = dueIn(second_);
  EXPECT_GE(due, ProofSchedule::kPauseMsMax / 2);
  EXPECT_LE(due, ProofSchedule::kPauseMsMax);
}

TEST_F(ProofScheduleTest, ACertificateThatComesDuringAProofIsProvenBehindIt) {
  ASSERT_LT(dueIn(second_), INT64_MAX);
  EXPECT_EQ(dueIn(third_), INT64_MAX);
  EXPECT_TRUE(answered(true));
  EXPECT_LT(dueIn(third_), INT64_MAX);
  const int64_t sent = now_;
  EXPECT_TRUE(answered(true));
  const auto fourth = authority_.credentials("node/a");
  dueIn(fourth);
  EXPECT_GE(now_ - sent, ProofSchedule::kPauseMsMin);
}

/// The other end counts from when the proof before came, which may be long after it was sent.
TEST_F(ProofScheduleTest, TheNextProofIsAPauseBehindTheAnswer) {
  now_ += kHourMs - 4000;
  ASSERT_LE(dueIn(second_), 1000);
  now_ += 2000;
  EXPECT_TRUE(answered(true));
  EXPECT_EQ(dueIn(third_), ProofSchedule::kPauseMsMin);
}

TEST_F(ProofScheduleTest, ShortOfItsEndACertificateIsProvenInTime) {
  now_ += kHourMs - 4000;  // of an hour
  EXPECT_LE(dueIn(second_), 1000);
  EXPECT_TRUE(answered(false));
  EXPECT_LE(dueIn(second_), 1000);
}

}  // namespace
}  // namespace kvpool::secure
