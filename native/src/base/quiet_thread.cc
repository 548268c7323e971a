// SPDX-License-Identifier: Apache-2.0
#include "base/quiet_thread.h"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace kvpool {
namespace {

/// A new thread has the mask of the one that starts it.
class Quiet {
 public:
  Quiet() {
    sigset_t signals;
    sigfillset(&signals);
    for (const int ownFault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL})
      sigdelset(&signals, ownFault);
    pthread_sigmask(SIG_SETMASK, &signals, &before_);
  }
  ~Quiet() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

std::thread startQuietThread(const char* name, std::function<void()> body) {
  const Quiet quiet;
  std::thread thread(std::move(body));
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace kvpool
