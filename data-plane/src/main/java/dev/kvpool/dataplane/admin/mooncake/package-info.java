// SPDX-License-Identifier: Apache-2.0
/**
 * The paths that a master of Mooncake has, for scripts, probes and programs that know its names: views of what {@link
 * dev.kvpool.dataplane.admin.MasterAdmin} tells and does anyway. It keeps nothing of its own. What each path answers, and how that differs from
 * Mooncake's, is in docs/reference/mooncake-http.md.
 */
package dev.kvpool.dataplane.admin.mooncake;
