// SPDX-License-Identifier: Apache-2.0
#include "secure/certificates.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <optional>
#include <utility>

#include "base/fd.h"
#include "base/log.h"

namespace kvpool::secure {
namespace {

constexpr size_t kFileBytesMax = size_t{256} << 10;
/// As in Java and Python: a pool has thousands of accounts at most.
constexpr size_t kNamesBytesMax = size_t{1} << 20;
constexpr const char* kTriple = "the directory must have tls.crt, tls.key and ca.crt that this process may read";
constexpr const char* kNames = "this process must be able to read the file, or there must be none";
constexpr int64_t kLookAgainMsMin = 100;

Status cannot(const std::string& doing, const std::string& path, const char* remedy) {
  const int errorNumber = errno;
  std::string what = doing;
  what.append(" ").append(path);
  return Status(KV_IO, systemError(what, errorNumber).text() + "; " + remedy);
}

Result<std::string> readFile(const std::string& path, size_t bytesMax, const char* remedy) {
  const auto failed = [&path, remedy](const std::string& doing) { return cannot(doing, path, remedy); };
  // Without waiting: it may be a fifo.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return failed("cannot open");
  std::string content;
  std::array<char, 4096> block;
  for (;;) {
    const ssize_t count = ::read(file.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("cannot read");
    if (count == 0) return content;
    content.append(block.data(), static_cast<size_t>(count));
    if (content.size() > bytesMax) {
      return Status(KV_INVALID_ARGUMENT,
                    path + " has more than " + std::to_string(bytesMax >> 10) + " KiB; is it what it should be?");
    }
  }
}

/// Leaves it empty where there is none. A file that cannot be looked at may say who has a part in the pool no more.
Status readNames(const std::string& path, std::optional<std::string>& names) {
  if (::access(path.c_str(), F_OK) != 0) return errno == ENOENT ? Status() : cannot("cannot look at", path, kNames);
  Result<std::string> content = readFile(path, kNamesBytesMax, kNames);
  if (!content.ok()) return content.status();
  names = std::move(content.value());
  return {};
}

}  // namespace

Result<std::unique_ptr<Certificates>> Certificates::open(const std::string& directory) {
  std::unique_ptr<Certificates> certificates(new Certificates(directory));
  if (Status read = certificates->read(); !read.ok()) return read;
  return certificates;
}

Status Certificates::read() {
  PemTriple triple;
  for (const auto& [name, into] : {std::pair{"tls.crt", &triple.certificates}, std::pair{"tls.key", &triple.key},
                                   std::pair{"ca.crt", &triple.roots}}) {
    Result<std::string> content = readFile(directory_ + "/" + name, kFileBytesMax, kTriple);
    if (!content.ok()) return content.status();
    *into = std::move(content.value());
  }
  if (Status read = readNames(namesFile(directory_), triple.names); !read.ok()) return read;
  if (current_ && triple == seen_) return {};
  auto parsed = Credentials::parse(triple, directory_);
  if (!parsed.ok()) return parsed.status();
  seen_ = std::move(triple);
  current_ = std::move(parsed.value());
  return {};
}

/// A twentieth of what is left of the certificate: its successor is found in time.
int64_t Certificates::lookAgainInMs() const {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t leftMs =
      current_->self().principal.notAfterMs - (int64_t{now.tv_sec} * 1000 + int64_t{now.tv_nsec} / 1'000'000);
  return std::clamp(leftMs / 20, kLookAgainMsMin, kLookEveryMs);
}

void Certificates::look(int64_t nowMs) {
  if (nowMs < nextLookMs_) return;
  const std::shared_ptr<const Credentials> before = current_;
  const Status outcome = read();
  if (current_ != before) {
    log(LogLevel::Info, "new connections use the certificate that is now in " + directory_);
  }
  if (!outcome.ok() && outcome.text() != problem_) {
    log(LogLevel::Warning, outcome.text() + "; the certificate from before stays in use");
  }
  problem_ = outcome.text();
  nextLookMs_ = nowMs + lookAgainInMs();
}

}  // namespace kvpool::secure
