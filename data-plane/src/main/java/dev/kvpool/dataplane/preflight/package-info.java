// SPDX-License-Identifier: Apache-2.0
/** {@code kvpool preflight}: whether a running pool can be upgraded or rolled back to this build. A decision on what the pool tells. */
package dev.kvpool.dataplane.preflight;
