// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ascend/core/abi.h"
#include "base/symbols.h"

namespace kvpool::ascend {

/// The text that CANN takes: made, ordered and read by CANN's own functions.
class Text;

/// Orders texts as CANN does, since CANN looks into maps that are made here.
struct TextOrder {
  bool operator()(const Text& a, const Text& b) const;
};
using Options = std::map<Text, Text, TextOrder>;

/// The class adxl::AdxlEngine, or hixl::Hixl of the same shape, by the mangled names of its methods: it has no other
/// interface, and its names do not depend on the C++ library's ABI. Each method's first parameter is the engine itself.
struct Adxl {
  /// Which class this is.
  std::string name;
  /// What its options begin with: "adxl." or nothing.
  std::string optionPrefix;

  void (*textCreate)(TextRoom* room, const char* bytes) = nullptr;
  bool (*textLess)(const TextRoom* a, const TextRoom* b) = nullptr;

  void (*create)(EngineRoom* engine) = nullptr;
  void (*destroy)(EngineRoom* engine) = nullptr;
  TransportStatus (*initialize)(EngineRoom* engine, const Text& name, const Options& options) = nullptr;
  void (*finalize)(EngineRoom* engine) = nullptr;
  TransportStatus (*registerMemory)(EngineRoom* engine, const MemoryDescription& memory, MemoryType type,
                                    MemoryHandle& handle) = nullptr;
  TransportStatus (*deregisterMemory)(EngineRoom* engine, MemoryHandle handle) = nullptr;
  TransportStatus (*connect)(EngineRoom* engine, const Text& peer, int32_t timeoutMs) = nullptr;
  TransportStatus (*disconnect)(EngineRoom* engine, const Text& peer, int32_t timeoutMs) = nullptr;
  TransportStatus (*transfer)(EngineRoom* engine, const Text& peer, Direction direction,
                              const std::vector<Piece>& pieces, int32_t timeoutMs) = nullptr;

  // Null where the version has none.
  TransportStatus (*transferAsync)(EngineRoom* engine, const Text& peer, Direction direction,
                                   const std::vector<Piece>& pieces, const TransferArguments& arguments,
                                   TransferRequest& request) = nullptr;
  TransportStatus (*progress)(EngineRoom* engine, const TransferRequest& request, Progress& progress) = nullptr;
  TransportStatus (*mallocMemory)(MemoryType type, size_t bytes, void** memory) = nullptr;
  TransportStatus (*freeMemory)(void* memory) = nullptr;
  TransportStatus (*capability)(Feature feature, int32_t& value) = nullptr;

  /// The methods, and of `texts` what text needs.
  static Adxl of(Symbols& methods, Symbols& texts, const std::string& scope);
  /// Whether a library has the class at all.
  static bool isIn(void* library);
  /// Whether a library has the class as CANN 8.2 had it, which took its name when it was made.
  static bool isOfCann82(const Symbols& methods);
  /// Whether the version has it; versions that cannot be asked have none.
  [[nodiscard]] bool has(Feature feature) const;
};

/// The scopes of the class, as names of C++ are mangled.
inline constexpr const char* kAdxlScope = "4adxl10AdxlEngine";
inline constexpr const char* kHixlScope = "4hixl4Hixl";

class Text {
 public:
  /// Bytes behind a NUL are not taken: CANN reads as far as that.
  Text(const Adxl& adxl, const std::string& bytes) { adxl.textCreate(&room_, bytes.c_str()); }

 private:
  friend struct TextOrder;
  TextRoom room_;
};
static_assert(sizeof(Text) == sizeof(TextRoom));

}  // namespace kvpool::ascend
