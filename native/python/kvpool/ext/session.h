// SPDX-License-Identifier: Apache-2.0
// The life of a library handle that many Python threads use: calls are counted, so that closing waits for them.
#pragma once

#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace kvpool::python {

template <typename Handle, void (*destroy)(Handle*)>
class Session {
 public:
  explicit Session(Handle* handle) : handle_(handle), process_(getpid()) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Must run without the GIL: it may wait for calls in other threads, each of which ends by its own timeout.
  ~Session() { close(); }

  /// After fork the child has the handle but none of the library's threads: a call would wait for ever.
  bool forked() const { return getpid() != process_; }

  /// Idempotent. Later calls see a closed session; running ones are waited for. Called from inside a call, by a signal
  /// handler, it does not wait for itself: the last call to end then closes.
  void close() {
    if (forked()) return;  // the handle is the parent's: the child lets it go without touching it
    std::unique_lock<std::mutex> lock(mutex_);
    closing_ = true;
    if (calls_ == 0) {
      destroyHandle(lock);
    } else if (callsOfThread_ == 0) {
      gone_.wait(lock, [this] { return handle_ == nullptr; });
    }
  }

  /// The right to use the handle; holds off close() while it lives.
  class Call {
   public:
    explicit Call(Session& session) : session_(session), handle_(session.enter()) {}
    ~Call() {
      if (handle_ != nullptr) session_.leave();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// NULL when the session is closed or belongs to the process this one was forked from.
    Handle* handle() const { return handle_; }

   private:
    Session& session_;
    Handle* handle_;
  };

 private:
  Handle* enter() {
    if (forked()) return nullptr;
    std::lock_guard<std::mutex> lock(mutex_);
    if (closing_) return nullptr;
    ++calls_;
    ++callsOfThread_;
    return handle_;
  }

  void leave() {
    std::unique_lock<std::mutex> lock(mutex_);
    --callsOfThread_;
    if (--calls_ == 0 && closing_) destroyHandle(lock);
  }

  // Nobody enters any more, so the lock need not be held while the library stops its threads.
  void destroyHandle(std::unique_lock<std::mutex>& lock) {
    Handle* last = std::exchange(handle_, nullptr);
    lock.unlock();
    if (last != nullptr) destroy(last);
    gone_.notify_all();
  }

  static inline thread_local uint64_t callsOfThread_ = 0;  // in sessions of this kind

  std::mutex mutex_;
  std::condition_variable gone_;
  Handle* handle_;
  const pid_t process_;
  uint64_t calls_ = 0;
  bool closing_ = false;
};

}  // namespace kvpool::python
