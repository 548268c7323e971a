// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <variant>

#include "node/shell/ascend_links.h"
#include "node/shell/settings.h"
#include "node/shell/ucx_links.h"

namespace kvpool::node {

/// What a node has of the protocol by which clients may offer memory, before its shell is there.
using RemoteSource = std::variant<UcxSource, AscendSource>;

/// Of the protocol that the settings name. `withTier`: with staging memory for what an SSD reads. The reason why there
/// is none is a sentence for people.
Result<RemoteSource> openRemote(const NodeSettings& settings, std::span<uint8_t> segment, bool withTier);

/// Empty where what the SSD reads cannot be moved, or is not to be.
[[nodiscard]] std::span<uint8_t> tierStagingOf(const RemoteSource& source);

/// `wake` ends a wait of the loop, from any thread.
std::unique_ptr<RemoteLinks> linksOf(RemoteSource source, std::span<uint8_t> segment, RemoteEvents& events,
                                     uint64_t connectTimeoutMs, std::function<void()> wake);

}  // namespace kvpool::node
