// SPDX-License-Identifier: Apache-2.0
#include "ssd/sealing.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "base/fd.h"
#include "ssd/layout.h"

namespace kvpool::ssd {
namespace {

constexpr size_t kHexDigits = 2 * std::tuple_size_v<SealKey>;

/// What the ciphers come from: apart from any OpenSSL that the process has besides, and without its configuration.
class Ciphers {
 public:
  Ciphers() {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    library_ = OSSL_LIB_CTX_new();
    xts_ = EVP_CIPHER_fetch(library_, "AES-256-XTS", nullptr);
    gcm_ = EVP_CIPHER_fetch(library_, "AES-256-GCM", nullptr);
    if (xts_ == nullptr || gcm_ == nullptr) throw std::runtime_error("OpenSSL has no AES-256");
  }
  [[nodiscard]] const EVP_CIPHER* xts() const { return xts_; }
  [[nodiscard]] const EVP_CIPHER* gcm() const { return gcm_; }

 private:
  OSSL_LIB_CTX* library_ = nullptr;
  EVP_CIPHER* xts_ = nullptr;
  EVP_CIPHER* gcm_ = nullptr;
};

/// Kept until the process ends: threads of ours may still use them when its destructors run.
const Ciphers& ciphers() {
  static const auto* const all = new Ciphers();
  return *all;
}

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

Context newContext() {
  Context context(EVP_CIPHER_CTX_new());
  if (!context) throw std::bad_alloc();
  return context;
}

/// Of calls that fail only where they are called wrongly, or without memory.
void must(int done) {
  if (done != 1) throw std::runtime_error("a cipher of OpenSSL failed");
}

enum class Direction : int { Open = 0, Seal = 1 };

void transform(Direction direction, const TierSecret& secret, uint64_t first, std::span<const uint8_t> from,
               std::span<uint8_t> to) {
  if (from.size() % kBlockBytes != 0 || to.size() != from.size()) throw std::logic_error("no whole blocks");
  const Context context = newContext();
  must(
      EVP_CipherInit_ex2(context.get(), ciphers().xts(), secret.data(), nullptr, static_cast<int>(direction), nullptr));
  for (size_t at = 0; at < from.size(); at += kBlockBytes) {
    std::array<uint8_t, 16> tweak{};
    uint64_t number = first + at / kBlockBytes;
    for (size_t i = 0; i < sizeof number; ++i, number >>= 8U)
      tweak[i] = static_cast<uint8_t>(number);
    must(EVP_CipherInit_ex2(context.get(), nullptr, nullptr, tweak.data(), -1, nullptr));
    int count = 0;
    must(EVP_CipherUpdate(context.get(), to.data() + at, &count, from.data() + at, static_cast<int>(kBlockBytes)));
  }
}

int hexValue(uint8_t digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

Status fillRandom(std::span<uint8_t> bytes) {
  // Up to 256 bytes come whole, once the kernel has any.
  ssize_t count = -1;
  do {
    count = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(bytes.size()) ? Status() : systemError("cannot have random numbers", errno);
}

const uint8_t* bytesOf(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

}  // namespace

Result<SealKey> parseSealKey(std::span<const uint8_t> content) {
  SealKey key{};
  if (content.size() == key.size()) {
    std::copy(content.begin(), content.end(), key.begin());
    return key;
  }
  const bool broken = content.size() == kHexDigits + 1 && content.back() == '\n';
  const std::span<const uint8_t> digits = broken ? content.first(kHexDigits) : content;
  if (digits.size() != kHexDigits ||
      std::any_of(digits.begin(), digits.end(), [](uint8_t digit) { return hexValue(digit) < 0; })) {
    return Status(KV_INVALID_ARGUMENT,
                  "a key has 32 bytes or 64 hexadecimal digits (openssl rand -hex 32); these are " +
                      std::to_string(content.size()) + " bytes and no such digits");
  }
  for (size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<uint8_t>(hexValue(digits[2 * i]) * 16 + hexValue(digits[2 * i + 1]));
  return key;
}

Result<SealKey> readSealKey(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return systemError("cannot open the key of the SSD tier, " + path, errno);
  std::array<uint8_t, kHexDigits + 2> content{};  // one more than a key can have
  size_t length = 0;
  while (length < content.size()) {
    const ssize_t count = ::read(file.get(), content.data() + length, content.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return systemError("cannot read the key of the SSD tier, " + path, errno);
    if (count == 0) break;
    length += static_cast<size_t>(count);
  }
  Result<SealKey> key = parseSealKey(std::span(content).first(length));
  OPENSSL_cleanse(content.data(), content.size());
  if (!key.ok()) return Status(key.status().code(), path + ": " + key.status().text());
  return key;
}

Result<TierSecret> randomSecret() {
  TierSecret secret{};
  if (Status filled = fillRandom(secret); !filled.ok()) return filled;
  return secret;
}

Result<WrappedSecret> wrap(const TierSecret& secret, const SealKey& key, std::string_view boundTo) {
  WrappedSecret wrapped{};
  if (Status filled = fillRandom(wrapped.nonce); !filled.ok()) return filled;
  const Context context = newContext();
  int count = 0;
  must(EVP_EncryptInit_ex2(context.get(), ciphers().gcm(), key.data(), wrapped.nonce.data(), nullptr));
  must(EVP_EncryptUpdate(context.get(), nullptr, &count, bytesOf(boundTo), static_cast<int>(boundTo.size())));
  must(EVP_EncryptUpdate(context.get(), wrapped.secret.data(), &count, secret.data(), static_cast<int>(secret.size())));
  must(EVP_EncryptFinal_ex(context.get(), nullptr, &count));
  must(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(wrapped.tag.size()),
                           wrapped.tag.data()));
  return wrapped;
}

std::optional<TierSecret> unwrap(const WrappedSecret& wrapped, const SealKey& key, std::string_view boundTo) {
  TierSecret secret{};
  std::array<uint8_t, 16> tag = wrapped.tag;
  const Context context = newContext();
  int count = 0;
  must(EVP_DecryptInit_ex2(context.get(), ciphers().gcm(), key.data(), wrapped.nonce.data(), nullptr));
  must(EVP_DecryptUpdate(context.get(), nullptr, &count, bytesOf(boundTo), static_cast<int>(boundTo.size())));
  must(EVP_DecryptUpdate(context.get(), secret.data(), &count, wrapped.secret.data(),
                         static_cast<int>(wrapped.secret.size())));
  must(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()), tag.data()));
  if (EVP_DecryptFinal_ex(context.get(), nullptr, &count) == 1) return secret;
  OPENSSL_cleanse(secret.data(), secret.size());
  return std::nullopt;
}

BlockCipher::BlockCipher(const TierSecret& secret) : secret_(secret) {}

void BlockCipher::seal(uint64_t first, std::span<const uint8_t> from, std::span<uint8_t> to) const {
  transform(Direction::Seal, secret_, first, from, to);
}

void BlockCipher::open(uint64_t first, std::span<const uint8_t> from, std::span<uint8_t> to) const {
  transform(Direction::Open, secret_, first, from, to);
}

}  // namespace kvpool::ssd
