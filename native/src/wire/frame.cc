// SPDX-License-Identifier: Apache-2.0
#include "wire/frame.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/certificate_settings.h"
#include "base/crc32c.h"
#include "base/utf8.h"

static_assert(std::endian::native == std::endian::little, "the wire and the segment file are little endian");

namespace kvpool::wire {
namespace {

/// Room a receive call finds at least; small enough for thousands of connections, large enough for batches.
constexpr size_t kReceiveBlockBytes = size_t{64} << 10;

uint32_t load32(const uint8_t* at) {
  uint32_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

uint16_t templateOf(Body body) {
  constexpr uint16_t kSchemaId = 7205;
  if (body.size() < sbe::MessageHeader::encodedLength()) throw Malformed("message header is cut off");
  auto* bytes = const_cast<char*>(reinterpret_cast<const char*>(body.data()));  // read only, see Reader
  const sbe::MessageHeader header(bytes, 0, body.size(), 0);
  if (header.schemaId() != kSchemaId) throw Malformed("message of another schema");
  return header.templateId();
}

std::string text(std::string_view bytes, const char* what) {
  if (!isUtf8(bytes)) throw Malformed(std::string(what) + " is not UTF-8");
  return std::string(bytes);
}

void sealFrame(Bytes& out, size_t start) {
  const size_t bodyBytes = out.size() - start - kFrameHeaderBytes;
  const auto length = static_cast<uint32_t>(bodyBytes);
  const uint32_t crc = crc32c(out.data() + start + kFrameHeaderBytes, bodyBytes);
  std::memcpy(out.data() + start, &length, sizeof length);
  std::memcpy(out.data() + start + sizeof length, &crc, sizeof crc);
}

std::span<uint8_t> FrameDecoder::writable() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  size_t wanted = end_ + kReceiveBlockBytes;
  if (end_ >= kFrameHeaderBytes) {
    // next() has refused lengths above the bound, so this is bounded too.
    wanted = std::max(wanted, kFrameHeaderBytes + load32(buffer_.data()));
  }
  if (buffer_.size() < wanted) buffer_.resize(wanted);
  return {buffer_.data() + end_, buffer_.size() - end_};
}

std::optional<Body> FrameDecoder::next() {
  const size_t available = end_ - begin_;
  if (available < kFrameHeaderBytes) return std::nullopt;
  const uint8_t* at = buffer_.data() + begin_;
  const size_t length = load32(at);
  if (length > bodyBytesMax_) {
    // As every connection of TLS begins, and no frame.
    if (at[0] == 0x16 && at[1] == 0x03 && at[2] >= 0x01 && at[2] <= 0x03) {
      throw Malformed("TLS where it is off; give this side a certificate " + kCertificateSettings +
                      ", or take TLS off there");
    }
    throw Malformed("frame of " + std::to_string(length) + " bytes; at most " + std::to_string(bodyBytesMax_) +
                    " are allowed here");
  }
  if (available - kFrameHeaderBytes < length) return std::nullopt;
  const Body body(at + kFrameHeaderBytes, length);
  if (crc32c(body.data(), body.size()) != load32(at + sizeof(uint32_t))) throw Malformed("frame with a wrong checksum");
  begin_ += kFrameHeaderBytes + length;
  return body;
}

std::span<const uint8_t> FrameDecoder::takeRaw(size_t countMax) {
  const size_t count = std::min(countMax, end_ - begin_);
  const std::span<const uint8_t> raw(buffer_.data() + begin_, count);
  begin_ += count;
  return raw;
}

}  // namespace kvpool::wire
