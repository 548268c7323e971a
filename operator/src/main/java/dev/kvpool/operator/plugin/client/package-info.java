// SPDX-License-Identifier: Apache-2.0
/** What engines need to use a pool ({@code client-config}). */
package dev.kvpool.operator.plugin.client;
