// SPDX-License-Identifier: Apache-2.0
/** What a pool's certificates hang on: its certificate authority, the mode its next pods get, and which ServiceAccount is what. */
package dev.kvpool.operator.pool.security;
