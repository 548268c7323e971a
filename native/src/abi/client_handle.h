// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "abi/border.h"
#include "client/shell/frontend.h"

struct kv_client : kvpool::abi::Owned<kvpool::client::Frontend> {};
