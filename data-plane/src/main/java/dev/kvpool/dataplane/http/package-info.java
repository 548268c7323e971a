// SPDX-License-Identifier: Apache-2.0
/** The admin server of masters, storage nodes and agents: routes, who calls, what they may do, and streams that are bounded. */
package dev.kvpool.dataplane.http;
