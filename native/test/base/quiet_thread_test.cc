// SPDX-License-Identifier: Apache-2.0
#include "base/quiet_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <csignal>
#include <string>

namespace kvpool {
namespace {

sigset_t maskOfThisThread() {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return mask;
}

TEST(QuietThreadTest, TakesItsOwnFaultsAndNoOtherSignal) {
  sigset_t mask{};
  startQuietThread("kvpool-test", [&mask] { mask = maskOfThisThread(); }).join();

  for (const int others : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD, SIGPROF})
    EXPECT_EQ(sigismember(&mask, others), 1) << others;
  for (const int ownFault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL})
    EXPECT_EQ(sigismember(&mask, ownFault), 0) << ownFault;
}

TEST(QuietThreadTest, LeavesWhoStartsItAsItWas) {
  const sigset_t before = maskOfThisThread();
  startQuietThread("kvpool-test", [] {}).join();
  const sigset_t after = maskOfThisThread();

  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGBUS})
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
}

TEST(QuietThreadTest, ToolsSeeItsName) {
  std::array<char, 16> name{};
  startQuietThread("kvpool-test", [&name] {
    // The starter names it when it runs already.
    while (std::string(name.data()) != "kvpool-test")
      pthread_getname_np(pthread_self(), name.data(), name.size());
  }).join();
  EXPECT_STREQ(name.data(), "kvpool-test");
}

}  // namespace
}  // namespace kvpool
