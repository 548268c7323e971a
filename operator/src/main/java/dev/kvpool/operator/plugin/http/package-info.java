// SPDX-License-Identifier: Apache-2.0
/** Java's HTTP client for commands, which end before it would end by itself. */
package dev.kvpool.operator.plugin.http;
