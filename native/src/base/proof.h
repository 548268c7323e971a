// SPDX-License-Identifier: Apache-2.0
// A place in our memory where another process of this machine looks, through the kernel: that it reads the memory which
// it means to, and that what it reads is still offered.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace kvpool {

/// Random, of one end of one connection.
using Challenge = std::array<uint64_t, 2>;

/// What a reader finds at the address of a proof. Whatever was copied before it, in one call of the kernel, was of the
/// process that shows it, and was offered until then.
struct ShownProof {
  Challenge challenge{};
  uint64_t withdrawn = 0;
  friend bool operator==(const ShownProof&, const ShownProof&) = default;
};

/// It never shows the challenge after its end. Stores are sequentially consistent: what the application does with its
/// memory afterwards is not seen before them.
class Proof {
 public:
  Proof() = default;
  ~Proof();
  Proof(const Proof&) = delete;
  Proof& operator=(const Proof&) = delete;

  [[nodiscard]] uint64_t address() const { return reinterpret_cast<uintptr_t>(words_.data()); }
  void show(const Challenge& challenge) {
    words_[0].store(challenge[0]);
    words_[1].store(challenge[1]);
  }
  /// What was offered until now is not to be taken any more: a copy that ends after this is worth nothing.
  void withdraw() { words_[2].fetch_add(1); }
  [[nodiscard]] uint64_t withdrawn() const { return words_[2].load(); }

 private:
  std::array<std::atomic<uint64_t>, 3> words_{};
};
static_assert(sizeof(ShownProof) == sizeof(Proof));

}  // namespace kvpool
